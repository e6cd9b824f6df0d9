// From an invitation to an enrolled browser: each step waits for a tap, because the browser asks its person for each key.
import { hasPlatformAuthenticator } from '../../../sdk/browser.ts';
import { isRefusal } from '../../../sdk/device.ts';
import type { Draft } from '../../../sdk/state.ts';
import { baseUrl, choose, phone, say, show, tenantName, texts } from './context.ts';
import { found, h } from './dom.ts';
import { linkBox, type Wish } from './links.ts';

const pollMs = 3000;
const deviceNameCharsMax = 100;

/** Asks for an invitation, or offers the one that was scanned, pasted or opened. */
export async function showInvitation(token: string | undefined, done: (wish?: Wish) => void): Promise<void> {
  if (!(await hasPlatformAuthenticator())) {
    show(h('h1', {}, texts.setUp), h('p', { role: 'alert' }, texts.noAuthenticator));
    return;
  }
  if (isTabOfIos()) return showHomeScreen(token);
  if (token === undefined) {
    show(h('h1', {}, texts.setUp), h('p', { class: 'lead' }, texts.invitationLead), linkBox(done, true));
    return;
  }
  const go = h('button', { click: () => void redeem(token, () => done()) }, texts.createKey);
  show(h('h1', {}, texts.setUp), h('p', { class: 'lead' }, texts.setUpLead(tenantName)), go);
}

// iOS keeps the storage of an installed app apart from Safari's, and clears that of pages nobody visits.
const isTabOfIos = (): boolean => (navigator as { readonly standalone?: boolean }).standalone === false;

function showHomeScreen(token: string | undefined): void {
  const copy = (): void =>
    void attempt(async () => {
      await navigator.clipboard.writeText(`${baseUrl}/enroll#v=1&t=${token}`);
      say(texts.copied);
    });
  const invitation = token === undefined ? [] : [h('button', { click: copy }, texts.copy)];
  show(h('h1', {}, texts.homeScreen), h('p', { class: 'lead' }, texts.homeScreenLead), ...invitation);
}

/** The screen of an enrolment on its way. */
export function showDraft(draft: Draft, done: () => void): void {
  const cancel = h('button', { class: 'plain', click: () => void phone().cancelEnrollment().then(done) }, texts.cancel);
  if (draft.status === 'unverified') showPin(cancel, done);
  else if (draft.status === 'pending_approval') showNumber(draft.number ?? '', cancel, done);
  else showProof(cancel, done);
}

function showProof(cancel: HTMLElement, done: () => void): void {
  const prove = h('button', { click: () => void attempt(() => finish(done)) }, texts.proveKey);
  show(h('h1', {}, texts.almost), h('p', { class: 'lead' }, texts.almostLead), prove, cancel);
}

async function redeem(token: string, done: () => void): Promise<void> {
  await attempt(async () => {
    const name = navigator.userAgent.includes('Mobile') ? texts.mobileBrowser : texts.browser;
    await phone().redeemEnrollment(token, { platform: 'web', name: name.slice(0, deviceNameCharsMax) });
    history.replaceState(null, '', location.pathname);
    done();
  });
}

async function finish(done: () => void): Promise<void> {
  const outcome = await phone().enroll();
  if (outcome.status === 'enrolled') {
    choose(outcome.deviceId);
    await navigator.storage.persist();
  }
  done();
}

function showPin(cancel: HTMLElement, done: () => void): void {
  const verify = (event: Event): void => {
    event.preventDefault();
    const pin = found<HTMLInputElement>(document, '#pin').value.trim();
    void attempt(() => phone().verifyPin(pin).then(done));
  };
  const input = h('input', { id: 'pin', inputmode: 'numeric', autocomplete: 'one-time-code', required: true });
  const form = h('form', { submit: verify }, h('label', { for: 'pin' }, texts.pin), input, h('button', {}, texts.next));
  show(h('h1', {}, texts.pinTitle), form, cancel);
}

function showNumber(number: string, cancel: HTMLElement, done: () => void): void {
  const shown = h('p', { class: 'number' }, number);
  show(h('h1', {}, texts.otherDevice), h('p', { class: 'lead' }, texts.otherDeviceLead), shown, cancel);
  setTimeout(() => void (shown.isConnected && attempt(() => finish(done))), pollMs);
}

/** Runs what a tap asked for and says what went wrong. */
export async function attempt(work: () => Promise<void>): Promise<void> {
  say('');
  try {
    await work();
  } catch (error) {
    say(reasonOf(error));
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DOMException) return texts.notVerified;
  if (isRefusal(error, 'token_invalid', 'token_expired')) return texts.linkDead;
  if (isRefusal(error, 'web_phone_disabled')) return texts.disabled;
  if (isRefusal(error, 'pin_invalid', 'pin_locked', 'pin_expired')) return texts.wrongPin;
  if (isRefusal(error, 'device_denied')) return texts.deviceDenied;
  if (isRefusal(error, 'match_failed')) return texts.wrongNumber;
  if (isRefusal(error, 'approval_not_pending', 'approval_expired', 'not_found')) return texts.over;
  if (isRefusal(error, 'device_key_revoked')) return texts.revoked;
  return texts.noAnswer;
}

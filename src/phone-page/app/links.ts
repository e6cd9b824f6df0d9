// What a scanned, pasted or opened link asks for: to enrol, or to look at a sign-in. Links of other sites are opened there, after
// a tap. Nothing is sent before one either.
import { type Approval, isRefusal, parseEnrollmentLink, parseSignInLink } from '../../../sdk/device.ts';
import { scanCode } from './camera.ts';
import { baseUrl, choose, persons, phone, say, show, texts } from './context.ts';
import { found, h } from './dom.ts';

export type Wish = { readonly kind: 'enrol'; readonly token: string } | { readonly kind: 'sign-in'; readonly code: string };

/** What the page's own address asks for. */
export function wishOfAddress(): Wish | undefined {
  const [, kind, value] = /^#v=1&([tc])=([\w.-]+)$/.exec(location.hash) ?? [];
  if (value === undefined) return undefined;
  return kind === 't' ? { kind: 'enrol', token: value } : { kind: 'sign-in', code: value };
}

/** A button for the camera and a place to paste a link. */
export function linkBox(done: (wish?: Wish) => void, isMain: boolean): HTMLElement {
  const input = h('input', { id: 'link', required: true, autocomplete: 'off', inputmode: 'url' }) as HTMLInputElement;
  const paste = (event: Event): void => {
    event.preventDefault();
    follow(input.value, done);
  };
  const form = h('form', { submit: paste }, h('label', { for: 'link' }, texts.link), input, h('button', { class: 'plain' }, texts.open));
  const scan = h('button', { click: () => void scanned(done), ...(isMain ? {} : { class: 'plain' }) }, texts.scan);
  return h('div', { id: 'scan' }, scan, h('details', { open: isMain }, h('summary', {}, texts.paste), form));
}

async function scanned(done: (wish?: Wish) => void): Promise<void> {
  say('');
  try {
    const text = await scanCode();
    if (text === undefined) done();
    else follow(text, done);
  } catch {
    done();
    say(texts.noCamera);
  }
}

function follow(text: string, done: (wish?: Wish) => void): void {
  const enrolment = parseEnrollmentLink(text.trim());
  const signIn = parseSignInLink(text.trim());
  const site = (enrolment ?? signIn)?.baseUrl;
  if (site === undefined) {
    done();
    say(texts.notALink);
  } else if (site !== baseUrl) {
    const fragment = enrolment === undefined ? `c=${signIn?.code}` : `t=${enrolment.token}`;
    showElsewhere(`${site}/phone#v=1&${fragment}`, done);
  } else if (enrolment !== undefined) done({ kind: 'enrol', token: enrolment.token });
  else if (signIn !== undefined) done({ kind: 'sign-in', code: signIn.code });
}

function showElsewhere(address: string, done: (wish?: Wish) => void): void {
  const { host } = new URL(address);
  show(
    h('h1', {}, texts.elsewhere(host)),
    h('p', { class: 'lead' }, texts.elsewhereLead),
    h('a', { class: 'button', href: address }, texts.open),
    h('button', { class: 'plain', click: () => done() }, texts.cancel),
  );
}

/** Asks before the sign-in of a code is looked at; `done` gets it, and the person it is for is chosen. */
export function showSignIn(code: string, done: (approval?: Approval) => void): void {
  const look = async (): Promise<void> => {
    const approval = await claimForAnyone(code).catch(() => undefined);
    done(approval);
    say(approval === undefined ? texts.codeDead : '');
  };
  show(
    h('h1', {}, texts.signIn),
    h('p', { class: 'lead' }, texts.signInLead),
    h('button', { id: 'look', click: () => void look() }, texts.show),
    h('button', { class: 'plain', click: () => done() }, texts.cancel),
  );
  found<HTMLElement>(document, '#look').focus();
}

// A code does not say whose sign-in it is of: the persons of this browser are tried, the chosen one first.
async function claimForAnyone(code: string): Promise<Approval> {
  const link = `${baseUrl}/scan#v=1&c=${code}`;
  const { account } = await phone().state();
  const others = (await persons()).filter((person) => person.phase === 'enrolled' && person.deviceId !== account?.deviceId);
  for (const person of [account, ...others.toReversed()]) {
    if (person?.phase !== 'enrolled') continue;
    choose(person.deviceId);
    try {
      return await phone().claim(link);
    } catch (error) {
      if (!isRefusal(error, 'not_found')) throw error;
    }
  }
  choose(account?.deviceId);
  throw new Error('expected a sign-in of somebody here');
}

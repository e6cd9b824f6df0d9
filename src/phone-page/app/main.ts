// The web phone: finishes what an earlier page was in the middle of, then shows the one screen the state asks for. Loading it
// decides nothing; every decision is a tap.
import type { Account } from '../../../sdk/state.ts';
import { approvalList, requesterOf } from './approvals.ts';
import { choose, nameOf, persons, phone, say, show, texts } from './context.ts';
import { found, h } from './dom.ts';
import { attempt, showDraft, showInvitation } from './enrolment.ts';
import { installButton } from './install.ts';
import { linkBox, showSignIn, type Wish, wishOfAddress } from './links.ts';
import { keepSubscribed, notificationsButton } from './notifications.ts';
import { renewKey, renewOldKey } from './renewal.ts';
import { registerServiceWorker } from './trusted.ts';

await attempt(async () => void (await phone().resume()));
await showCurrent(wishOfAddress());
addEventListener('hashchange', () => location.reload());
void registerServiceWorker();

function again(wish?: Wish): void {
  void showCurrent(wish);
}

/** The one screen the state asks for; `claimed` is a sign-in that was just looked at. */
async function showCurrent(wish?: Wish, claimed?: string): Promise<void> {
  const { draft, account } = await phone().state();
  if (draft !== undefined) return showDraft(draft, () => again());
  if (wish?.kind === 'enrol' || account === undefined) return showInvitation(wish?.kind === 'enrol' ? wish.token : undefined, again);
  if (account.phase === 'revoked') return showRevoked();
  if (wish?.kind === 'sign-in') {
    window.history.replaceState(null, '', location.pathname);
    return showSignIn(wish.code, (approval) => void showCurrent(undefined, approval?.id));
  }
  void renewOldKey(phone()).then(() => keepSubscribed(phone()));
  show(
    h('h1', {}, nameOf(account)),
    ...[notificationsButton(phone())].filter((button) => button !== undefined),
    approvalList(() => again(), claimed),
    linkBox(again, false),
    await history(),
    await ownPhone(account),
  );
}

async function ownPhone(account: Account): Promise<HTMLElement> {
  const all = (await persons()).filter((person) => person.phase === 'enrolled');
  const others = all.filter((person) => person.deviceId !== account.deviceId);
  const change = (deviceId: string) => (): void => {
    choose(deviceId);
    again();
  };
  return h(
    'details',
    {},
    h('summary', {}, texts.thisPhone),
    nameForm(),
    installButton(),
    h('button', { class: 'plain', click: () => void letIn() }, texts.letIn),
    h('button', { class: 'plain', click: () => void attempt(() => renewKey(phone())) }, texts.renewKey),
    h('button', { class: 'danger', click: askToRemove }, texts.remove),
    h('button', { class: 'plain', click: () => void showInvitation(undefined, again) }, texts.addPerson),
    ...others.map((person) => h('button', { class: 'plain', click: change(person.deviceId) }, nameOf(person))),
  );
}

const letIn = (): Promise<void> =>
  attempt(async () => {
    await phone().letInSomewhereNew();
    say(texts.letInNow);
  });

async function history(): Promise<HTMLElement> {
  const items = await phone()
    .activity(10)
    .catch(() => []);
  const lines = items.map((item) =>
    h(
      'li',
      {},
      `${new Date(item.at).toLocaleString()} · ${requesterOf(item)} · ${item.state === 'approved' ? texts.approved : texts.denied}`,
    ),
  );
  return h('details', {}, h('summary', {}, texts.activity), h('ul', {}, ...lines));
}

function nameForm(): HTMLElement {
  const rename = (event: Event): void => {
    event.preventDefault();
    const name = found<HTMLInputElement>(document, '#name').value.trim();
    void attempt(async () => {
      await phone().rename(name);
      say(texts.renamed);
    });
  };
  const input = h('input', { id: 'name', required: true, maxlength: '100', autocomplete: 'off' });
  return h('form', { submit: rename }, h('label', { for: 'name' }, texts.name), input, h('button', { class: 'plain' }, texts.rename));
}

function askToRemove(): void {
  const back = h('button', { class: 'plain', click: () => void showCurrent() }, texts.cancel);
  show(h('h1', {}, texts.removeQuestion), h('button', { class: 'danger', click: () => void remove() }, texts.remove), back);
}

async function remove(): Promise<void> {
  await attempt(async () => {
    await phone().revokeSelf();
    await phone().forget();
  });
  choose(undefined);
  await showCurrent();
}

function showRevoked(): void {
  const forget = (): void => void attempt(() => phone().forget()).then(() => showCurrent());
  show(h('h1', {}, texts.setUp), h('p', { role: 'alert' }, texts.revoked), h('button', { click: forget }, texts.next));
}

// The web phone: finishes what an earlier page was in the middle of, then shows the one screen the state asks for. Loading it
// decides nothing; every decision is a tap.
import type { Account } from '../../../sdk/state.ts';
import { approvalList, requesterOf } from './approvals.ts';
import { choose, nameOf, persons, phone, say, show, texts, timeOf } from './context.ts';
import { type Child, found, h } from './dom.ts';
import { attempt, showDraft, showInvitation } from './enrolment.ts';
import { installButton } from './install.ts';
import { linkBox, showSignIn, type Wish, wishOfAddress } from './links.ts';
import { keepSubscribed, notificationsState } from './notifications.ts';
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
    approvalList(() => again(), home, claimed),
    linkBox(again, false),
    history(),
    await ownPhone(account),
  );
}

/** While nothing waits: that all is well, when this phone was last used, and whether it is told of what comes. */
function home(): HTMLElement {
  const used = h('li', {}, '…');
  const tell = async (): Promise<void> => {
    const [last] = (await phone().activity(10)).filter((item) => item.by_this_device);
    used.textContent = last === undefined ? texts.notUsed : texts.lastUsed(timeOf(last.at));
  };
  void tell().catch(() => used.remove());
  return h(
    'div',
    {},
    h('h2', { id: 'ready' }, texts.ready),
    h('p', { class: 'muted' }, texts.nothingWaits),
    h('ul', {}, used, ...notificationsState(phone())),
  );
}

async function ownPhone(account: Account): Promise<HTMLElement> {
  const all = (await persons()).filter((person) => person.phase === 'enrolled');
  const others = all.filter((person) => person.deviceId !== account.deviceId);
  const change = (deviceId: string) => (): void => {
    choose(deviceId);
    again();
  };
  const own = h('div', {});
  return foldedUntilOpened(
    texts.thisPhone,
    () => own.replaceChildren(nameForm()),
    own,
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

/** Asked for whenever it is opened. */
function history(): HTMLElement {
  const list = h('ul', {});
  const load = async (): Promise<void> => {
    const lines = (await phone().activity(10)).map((item) =>
      h('li', {}, `${timeOf(item.at)} · ${requesterOf(item)} · ${item.state === 'approved' ? texts.approved : texts.denied}`),
    );
    list.replaceChildren(...lines);
  };
  return foldedUntilOpened(texts.activity, () => void load().catch(() => undefined), list);
}

/** A part of the home that asks for what it shows whenever it is opened. */
function foldedUntilOpened(title: string, opened: () => void, ...children: readonly Child[]): HTMLElement {
  const details = h('details', {}, h('summary', {}, title), ...children) as HTMLDetailsElement;
  details.addEventListener('toggle', () => void (details.open && opened()));
  return details;
}

function nameForm(): HTMLElement {
  const rename = (event: Event): void => {
    event.preventDefault();
    const given = found<HTMLInputElement>(document, '#name').value.trim();
    void attempt(async () => {
      await phone().rename(given);
      say(texts.renamed);
    });
  };
  const input = h('input', { id: 'name', required: true, maxlength: '100', autocomplete: 'off' }) as HTMLInputElement;
  void phone()
    .self()
    .then(({ name }) => {
      if (input.value === '') input.value = String(name ?? '');
    })
    .catch(() => undefined); // without a connection
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

// What waits for the person, asked for while somebody looks: who asks, from where, and a tap for yes or no. Nothing is approved
// without one, and approving has the browser verify its person.
import type { Approval, DenyReason } from '../../../sdk/device.ts';
import { browserNames } from '../../pages/browser-words.ts';
import { baseUrl, phone, say, scopesInWords, showRequestsAlone, tenantName, texts, timeOf } from './context.ts';
import { type Child, h } from './dom.ts';
import { attempt } from './enrolment.ts';

const waitSeconds = 25;
const retryMs = 5000;

let polling: AbortController | undefined;

/**
 * The list, kept up to date until it leaves the page. `claimed`: the one whose page is another tab of this browser. `home` is what
 * stands there while nothing waits, made anew after each decision.
 */
export function approvalList(onRevoked: () => void, home: () => HTMLElement, claimed?: string): HTMLElement {
  const list = h('section', { id: 'requests', 'aria-live': 'polite' }, home());
  polling?.abort();
  polling = new AbortController();
  void follow(list, polling.signal, { onRevoked, home, claimed });
  return list;
}

interface Around {
  readonly onRevoked: () => void;
  readonly home: () => HTMLElement;
  readonly claimed: string | undefined;
}

/** What became of a request stays until somebody has read it: its card, told apart from those that wait. */
const isDecided = (box: HTMLElement): boolean => box.dataset['decided'] === 'yes';

async function follow(list: HTMLElement, signal: AbortSignal, { onRevoked, home, claimed }: Around): Promise<void> {
  let cards = new Map<string, HTMLElement>();
  let first = true;
  const render = (next: Map<string, HTMLElement>): void => {
    if ([...next.keys()].join() !== [...cards.keys()].join()) list.replaceChildren(...(next.size === 0 ? [home()] : next.values()));
    // Another screen may have taken its place while it was asked for.
    if (list.isConnected) showRequestsAlone(next.size > 0);
    cards = next;
  };
  // A list that was asked for before one of these was decided may have it still.
  const dismissed = new Set<string>();
  const dismiss = (box: HTMLElement): void => {
    for (const [key, one] of cards) if (one === box) dismissed.add(key);
    render(new Map([...cards].filter(([key]) => !dismissed.has(key))));
  };
  watchConnection(signal);
  while (!signal.aborted) {
    try {
      await visible();
      const items = await phone().listApprovals(first || waiting(cards) > 0 ? undefined : waitSeconds, signal);
      first = false;
      // What is being typed into stays: an approval keeps its card while it is the same. Newest first, below what was decided.
      const newest = items.toSorted((left, right) => startedAt(right).localeCompare(startedAt(left)));
      const before = waiting(cards);
      const decided = [...cards].filter(([, box]) => isDecided(box));
      const asked = newest.filter(({ context_sha256: key }) => !dismissed.has(key) && !decided.some(([known]) => known === key));
      render(
        new Map([
          ...decided,
          ...asked.map(
            (item) => [item.context_sha256, cards.get(item.context_sha256) ?? card(item, item.id === claimed, dismiss)] as const,
          ),
        ]),
      );
      // Whoever types elsewhere goes on there.
      if (before === 0 && document.activeElement === document.body) list.querySelector<HTMLInputElement>('input')?.focus();
      if (waiting(cards) > 0) await pause(retryMs);
    } catch {
      if (signal.aborted) return;
      if ((await phone().state()).status === 'revoked') return onRevoked();
      say(texts.offline);
      await pause(retryMs);
      say('');
    }
  }
}

const waiting = (cards: Map<string, HTMLElement>): number => [...cards.values()].filter((box) => !isDecided(box)).length;
const startedAt = ({ initiated }: Approval): string => String(initiated.at ?? '');

/** The browser knows at once that there is no connection; a request would take a while to find out. */
function watchConnection(signal: AbortSignal): void {
  addEventListener('offline', () => say(texts.offline), { signal });
  addEventListener('online', () => say(''), { signal });
}

function card(approval: Approval, isClaimed: boolean, dismiss: (box: HTMLElement) => void): HTMLElement {
  const numberId = `number-${approval.id}`;
  const number = h('input', {
    id: numberId,
    inputmode: 'numeric',
    maxlength: '2',
    autocomplete: 'off',
    required: true,
  }) as HTMLInputElement;
  const box: HTMLElement = h('article', { class: 'card' });
  const gone = (text: string): void => {
    box.dataset['decided'] = 'yes';
    const read = h('button', { class: 'plain', type: 'button', click: () => dismiss(box) }, texts.next);
    box.replaceChildren(askerOf(approval), h('p', { role: 'status' }, text), read);
    read.focus();
  };
  const approve = (event: Event): void => {
    event.preventDefault();
    void attempt(async () => {
      await phone().approve(approval, approval.match.required ? number.value.trim() : undefined);
      gone(texts.approved);
      if (isClaimed && !approval.match.required) say(texts.back);
    });
  };
  const asked: readonly Child[] = approval.match.required ? [h('label', { for: numberId }, texts.number), number] : [];
  const why = denial(approval, gone, () => why.replaceWith(form));
  const deny = h('button', { class: 'choice', type: 'button', click: () => form.replaceWith(why) }, texts.deny);
  const form: HTMLElement = h(
    'form',
    { submit: approve },
    ...asked,
    h('div', { class: 'row' }, h('button', { class: 'choice' }, texts.approve), deny),
  );
  box.append(
    askerOf(approval),
    ...(approval.binding_message === null ? [] : [h('p', { class: 'lead' }, approval.binding_message)]),
    factsOf(approval),
    ...scopesOf(approval),
    form,
  );
  return box;
}

const asks: Readonly<Record<Approval['type'], string>> = {
  oidc_login: texts.asksSignIn,
  saml_login: texts.asksSignIn,
  ciba: texts.asksApproval,
  device_add: texts.asksDevice,
};

/** Who asks, with their picture, and for what. */
function askerOf(approval: Approval): HTMLElement {
  const name = requesterOf(approval);
  const logo = String(approval.client?.['logo_uri'] ?? '');
  // Pictures that were uploaded here; nothing is loaded from elsewhere.
  const picture = logo.startsWith(`${baseUrl}/assets/`)
    ? h('img', { src: logo, alt: '' })
    : h('span', { class: 'mark', 'aria-hidden': 'true' }, [...name][0]?.toUpperCase());
  return h('div', { class: 'asker' }, picture, h('div', {}, h('h1', {}, name), h('p', { class: 'muted' }, asks[approval.type])));
}

/** What was asked with, from where, when, and what is to be added. */
function factsOf({ initiated: { at, ip, user_agent: agent }, device }: Approval): HTMLElement {
  const added = [...new Set([device?.name, device?.model])].filter((part) => part).join(' · ');
  const facts: readonly (readonly [string, string | undefined])[] = [
    [texts.factDevice, added],
    [texts.factBrowser, typeof agent === 'string' ? browserOf(agent) : undefined],
    [texts.factAddress, typeof ip === 'string' ? ip : undefined],
    [texts.factTime, timeOf(String(at))],
  ];
  const rows = facts.filter(([, value]) => value).map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, ...rows);
}

function browserOf(agent: string): string {
  const names = browserNames(agent);
  if (names === undefined) return texts.unknownBrowser;
  return names.system === undefined ? names.browser : texts.browserOn(names.browser, names.system);
}

/** What the application gets, in words; what everybody who signs in gives is not said. */
function scopesOf({ scopes }: Approval): readonly HTMLElement[] {
  const told = scopes.filter((scope) => scope !== 'openid');
  if (told.length === 0) return [];
  return [h('p', { class: 'muted' }, texts.scopes), h('ul', { class: 'scopes' }, ...told.map((scope) => h('li', {}, wordsOf(scope))))];
}

const wordsOf = (scope: string): string => (Object.hasOwn(scopesInWords, scope) ? scopesInWords[scope]! : scope);

const reasons: readonly (readonly [DenyReason, string])[] = [
  ['not_me', texts.notMe],
  ['mistake', texts.mistake],
  ['other', texts.other],
];

/** The second step of denying asks why, and says what comes of it: what was not the person is reported, a slip is not. */
function denial(approval: Approval, gone: (text: string) => void, back: () => void): HTMLElement {
  const deny = (reason: DenyReason): void =>
    void attempt(async () => {
      await phone().deny(approval, reason);
      gone(texts.denied);
    });
  const buttons = reasons.map(([reason, text]) => {
    const style = reason === 'not_me' ? 'danger' : 'plain';
    return h('button', { class: style, type: 'button', click: () => deny(reason) }, text);
  });
  const cancel = h('button', { class: 'plain', type: 'button', click: back }, texts.cancel);
  return h('div', { class: 'deny' }, h('p', {}, texts.notMeNext), ...buttons, cancel);
}

/** Who asks, as the person knows them. */
export function requesterOf(request: { readonly type: string; readonly client: Readonly<Record<string, unknown>> | null }): string {
  if (request.type === 'device_add') return texts.newDevice;
  return String(request.client?.['name'] ?? tenantName);
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

function visible(): Promise<void> {
  if (document.visibilityState === 'visible') return Promise.resolve();
  return new Promise((done) => document.addEventListener('visibilitychange', () => done(), { once: true }));
}

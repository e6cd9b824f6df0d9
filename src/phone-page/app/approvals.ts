// What waits for the person, asked for while somebody looks: who asks, from where, and a tap for yes or no. Nothing is approved
// without one, and approving has the browser verify its person.
import type { Approval, DenyReason } from '../../../sdk/device.ts';
import { phone, say, tenantName, texts } from './context.ts';
import { type Child, found, h } from './dom.ts';
import { attempt } from './enrolment.ts';

const waitSeconds = 25;
const retryMs = 5000;

let polling: AbortController | undefined;

/** The list, kept up to date until it leaves the page. `claimed`: the one whose page is another tab of this browser. */
export function approvalList(onRevoked: () => void, claimed?: string): HTMLElement {
  const list = h(
    'section',
    { 'aria-labelledby': 'waiting' },
    h('h2', { id: 'waiting' }, texts.waiting),
    h('p', { class: 'muted' }, texts.nothingWaits),
  );
  polling?.abort();
  polling = new AbortController();
  void follow(list, polling.signal, onRevoked, claimed);
  return list;
}

async function follow(list: HTMLElement, signal: AbortSignal, onRevoked: () => void, claimed: string | undefined): Promise<void> {
  let cards = new Map<string, HTMLElement>();
  let first = true;
  while (!signal.aborted) {
    try {
      await visible();
      const items = await phone().listApprovals(first || cards.size > 0 ? undefined : waitSeconds, signal);
      first = false;
      // What is being typed into stays: an approval keeps its card while it is the same.
      const next = new Map(items.map((item) => [item.context_sha256, cards.get(item.context_sha256) ?? card(item, item.id === claimed)]));
      if ([...next.keys()].join() !== [...cards.keys()].join())
        list.replaceChildren(found(list, 'h2'), ...(next.size === 0 ? [h('p', { class: 'muted' }, texts.nothingWaits)] : next.values()));
      cards = next;
      if (cards.size > 0) await pause(retryMs);
    } catch {
      if (signal.aborted) return;
      if ((await phone().state()).status === 'revoked') return onRevoked();
      say(texts.offline);
      await pause(retryMs);
      say('');
    }
  }
}

function card(approval: Approval, isClaimed: boolean): HTMLElement {
  const { at, ip, user_agent: agent } = approval.initiated;
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
    box.replaceChildren(h('p', { role: 'status' }, text));
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
  box.append(
    h('h3', {}, requesterOf(approval)),
    h('p', {}, approval.binding_message ?? ''),
    h('p', { class: 'muted' }, [new Date(String(at)).toLocaleTimeString(), ip, agent].filter((part) => part).join(' · ')),
    h('form', { submit: approve }, ...asked, h('button', {}, texts.approve)),
    denial(approval, gone),
  );
  return box;
}

const reasons: readonly (readonly [DenyReason, string])[] = [
  ['not_me', texts.notMe],
  ['mistake', texts.mistake],
  ['other', texts.other],
];

/** Denying asks why: what was not the person is reported, a slip is not. */
function denial(approval: Approval, gone: (text: string) => void): HTMLElement {
  const deny = (reason: DenyReason): void =>
    void attempt(async () => {
      await phone().deny(approval, reason);
      gone(texts.denied);
    });
  const buttons = reasons.map(([reason, text]) => {
    const style = reason === 'not_me' ? 'danger' : 'plain';
    return h('button', { class: style, type: 'button', click: () => deny(reason) }, text);
  });
  return h('details', { class: 'deny' }, h('summary', {}, texts.deny), ...buttons);
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

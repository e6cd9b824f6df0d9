// What a page says after a post: what was done, on the next page alone; and secrets that were made, for ten minutes on their own page, so that
// a reload shows them again. Both are cookies sealed under the master key, for the session that made them.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppSession, clearCookie, openNote, sealNote } from '../../first-party/app-session.ts';
import { consoleApp } from '../../first-party/console-client.ts';
import type { Parts } from '../../http/services.ts';
import { type Html, html } from '../../platform/html.ts';

/** One secret: what it is called on the page, and itself. */
type SecretItem = readonly [name: string, value: string];

export interface Secret {
  /** What it is of, for pages that show it in a way of their own. */
  readonly kind: string;
  readonly items: readonly SecretItem[];
}

interface KeptSecret extends Secret {
  /** Path of the page below /console. */
  readonly at: string;
  readonly untilMs: number;
}

interface Note<Content> {
  readonly sid: string;
  readonly content: Content;
}

interface Flash {
  readonly text: string;
  readonly kind: 'good' | 'partly' | 'bad';
}

interface FlashVisit {
  readonly services: Parts<'clock' | 'encryption'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: AppSession;
  readonly at: string;
}

const flashSeconds = 60;
const secretSeconds = 600;
/** A cookie holds 4,096 characters, a third of which goes to its encoding. */
const secretsCharsMax = 2_400;

/** Lets the next page say it. */
export function setFlash(visit: FlashVisit, flash: Flash): void {
  seal(visit, 'flash', flash, flashSeconds);
}

/** What the post before left to say; said once. */
export function takeFlash(visit: FlashVisit): Flash | undefined {
  const flash = open<Flash>(visit, 'flash');
  if (flash !== undefined) visit.reply.header('set-cookie', clearCookie(consoleApp, visit.request.tenant, 'flash'));
  return flash;
}

/** Keeps a secret for its page; the oldest go when there is no room in a cookie. */
export function keepSecret(visit: FlashVisit, path: string, secret: Secret): void {
  const untilMs = visit.services.clock.nowMs() + secretSeconds * 1000;
  const kept = [{ ...secret, at: pathnameOf(path), untilMs }, ...keptSecrets(visit)];
  while (kept.length > 1 && JSON.stringify(kept).length > secretsCharsMax) kept.pop();
  seal(visit, 'secrets', kept, secretSeconds);
}

/** The secret of a kind that this page still shows. */
export const secretOf = (visit: FlashVisit, kind: string): Secret | undefined =>
  keptSecrets(visit).find((secret) => secret.kind === kind && secret.at === pathnameOf(visit.at));

/** What leaves the browser with the session. */
export function clearNotes({ request, reply }: Pick<FlashVisit, 'request' | 'reply'>): void {
  for (const kind of ['flash', 'secrets'] as const) reply.header('set-cookie', clearCookie(consoleApp, request.tenant, kind));
}

/** The panel of a secret. */
export const secretPanel = (secret: Secret | undefined, text = 'Copy it now: this page shows it for ten minutes.'): Html | undefined =>
  secret &&
  html`<section class="panel" id="secret" aria-label="Shown once"><p>${text}</p><dl>${secret.items.map(
    ([name, value]) => html`<dt>${name}</dt><dd><code class="copy" id="secret-${name}">${value}</code></dd>`,
  )}</dl></section>`;

/** The value of that name. */
export const itemOf = ({ items }: Secret, name: string): string => items.find(([known]) => known === name)?.[1] ?? '';

function keptSecrets(visit: FlashVisit): readonly KeptSecret[] {
  const nowMs = visit.services.clock.nowMs();
  return (open<readonly KeptSecret[]>(visit, 'secrets') ?? []).filter(({ untilMs }) => untilMs > nowMs);
}

function seal({ services, request, reply, session }: FlashVisit, kind: 'flash' | 'secrets', content: unknown, seconds: number): void {
  const to = { encryption: services.encryption, app: consoleApp, tenant: request.tenant };
  reply.header('set-cookie', sealNote(to, kind, { sid: session.grantId, content }, seconds));
}

function open<Content>({ services, request, session }: FlashVisit, kind: 'flash' | 'secrets'): Content | undefined {
  const note = openNote(services.encryption, consoleApp, request, kind) as Note<Content> | undefined; // sealed above
  return note?.sid === session.grantId ? note.content : undefined;
}

/** As the browser will ask for it. */
const pathnameOf = (path: string): string => new URL(path.split(/[?#]/, 1)[0]!, 'http://console.invalid').pathname;

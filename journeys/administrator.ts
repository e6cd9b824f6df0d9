// The administrator of a tenant: signed in to its console, with what happens beside the pages: calls of the Management API, the mailbox,
// somebody else at a browser.
import type { Browser } from 'playwright-core';
import { type FirstPaints, firstPaints } from './first-paints.ts';
import { hasScripts, openWalker, type SignedIn, type Walker, type Way } from './walker.ts';

export type Json = Readonly<Record<string, unknown>>;

export interface Administrator {
  /** Of the server. */
  readonly origin: string;
  /** Of the tenant; applications begin there. */
  readonly baseUrl: string;
  /** The overview. */
  readonly console: string;
  readonly signedIn: () => SignedIn;
  /** What the last browser was left with: a session is renewed every quarter of an hour, and its older copies end. */
  readonly keepSignedIn: (signedIn: SignedIn) => void;
  /** For files that a task gives to a page. */
  readonly folder: string;
  /** A call of the tenant's Management API; gives its answer. @throws when it is refused */
  readonly call: (method: string, path: string, body?: object) => Promise<Json>;
  /** The link of the newest invitation to that address. */
  readonly mailedLink: (email: string) => Promise<string>;
  /** The code in the newest mail to that address. */
  readonly mailedCode: (email: string) => Promise<string>;
  /** Has a request refused, and gives the id that its answer carries. */
  readonly refusedRequest: () => Promise<string>;
  /** Somebody who is not signed in, at a screen as this way has it, with scripts. Whoever opens it closes it. */
  readonly openGuest: (way: Way) => Promise<Walker>;
  /** How soon pages showed something, to whoever walked. */
  readonly paints: FirstPaints;
  /** Servers of others that a task began: they end when all tasks are done. */
  readonly atEnd: (close: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
}

interface Tenant {
  readonly baseUrl: string;
  readonly call: Administrator['call'];
  readonly signedIn: SignedIn;
  readonly folder: string;
}

const mailWaitMs = 15_000;
const pauseMs = 100;

export function administratorOf(browser: Browser, { baseUrl, call, signedIn: first, folder }: Tenant): Administrator {
  const { origin } = new URL(baseUrl);
  const closing: (() => Promise<unknown>)[] = [];
  const paints = firstPaints();
  let signedIn = first;
  const mailed = async (email: string, part: RegExp): Promise<string> => {
    const untilMs = performance.now() + mailWaitMs;
    for (;;) {
      const mails = await (await fetch(`${origin}/dev/mail`)).text();
      const [, newest = ''] = mails.split(`<dd>${email}</dd>`, 2);
      const [, found] = part.exec(newest.split('</article>', 1)[0]!) ?? [];
      if (found !== undefined) return found;
      if (performance.now() > untilMs) throw new Error(`expected a mail to ${email} with ${part}, found none`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  return {
    origin,
    baseUrl,
    console: `${baseUrl}/console`,
    signedIn: () => signedIn,
    keepSignedIn: (kept) => {
      // Not what a page shows for ten minutes: each way begins as the first did.
      const ofSession = new Set(first.cookies.map(({ name }) => name));
      signedIn = { ...kept, cookies: kept.cookies.filter(({ name }) => ofSession.has(name)) };
    },
    folder,
    call,
    mailedLink: (email) => mailed(email, /href="([^"]+\/welcome#[^"]+)"/),
    mailedCode: (email) => mailed(email, /\b(\d{6})\b/),
    refusedRequest: async () => {
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const answer = await fetch(`${baseUrl}/v1/idp/oidc/token`, { method: 'POST', body });
      return answer.headers.get('x-request-id')!;
    },
    openGuest: (way) => openWalker(browser, hasScripts(way) ? way : 'mouse', { origin, paints }),
    paints,
    atEnd: (close) => void closing.push(close),
    close: async () => {
      for (const close of closing.splice(0)) await close();
    },
  };
}

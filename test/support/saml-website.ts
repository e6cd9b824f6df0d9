// Service providers that are websites of their own, walked through as a browser would: the page that asks for a sign-in, the
// request by Redirect or by a form, our answer posted to them, the page that says who came.
import assert from 'node:assert/strict';
import { openBrowser, type TestBrowser } from './browser.ts';

export type Binding = 'redirect' | 'post';

export interface SamlWebsite {
  /** Where it publishes its own metadata. */
  readonly metadataUrl: string;
  /** The address that starts a sign-in; who has signed in there sees a page that names them. */
  readonly startUrl: (binding: Binding) => string | Promise<string>;
  /** Where it takes answers nobody asked for, when not at the address of its metadata. */
  readonly unsolicitedAcsUrl?: string;
  /** Takes the identity provider's metadata, and nothing else of it. */
  readonly trust: (metadata: string) => Promise<void>;
}

/** One program with two providers: one signs its requests, one does not. */
export interface Websites {
  readonly signed: SamlWebsite;
  readonly unsigned: SamlWebsite;
  readonly close: () => Promise<void>;
}

/** What a website sent the browser to our address with. */
export interface WebsiteRequest {
  readonly binding: Binding;
  /** The query of the Redirect binding, without its question mark. */
  readonly query: string;
  /** The fields of the POST binding. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A browser that follows redirects and submits forms, as a person's does. */
export interface Visitor {
  /** Goes there and on, up to the request to the address of sign-ins. */
  readonly ask: (url: string, ssoUrl: string) => Promise<WebsiteRequest>;
  /** Goes there and on to a page; gives its text. */
  readonly go: (url: string) => Promise<string>;
  /** Posts an answer and goes on to a page; gives its text. */
  readonly deliver: (acsUrl: string, samlResponse: string, relayState: string | null) => Promise<string>;
}

export function openVisitor(): Visitor {
  const browser = openBrowser();
  return {
    ask: async (url, ssoUrl) => {
      for (let next = url, steps = 0; ; steps += 1) {
        assert.ok(steps < 10, `still not at ${ssoUrl}: ${next}`);
        const response = await browser.send(next, page);
        const location = response.headers.get('location');
        const text = await response.text();
        if (location === null) {
          const form = readForm(text);
          assert.equal(form?.action, ssoUrl, `${response.status} ${next}: ${text.slice(0, 2000)}`);
          return { binding: 'post', query: '', fields: form.fields };
        }
        next = new URL(location, next).href;
        if (next.startsWith(`${ssoUrl}?`)) return { binding: 'redirect', query: next.slice(ssoUrl.length + 1), fields: {} };
      }
    },
    go: async (url) => arrive(browser, url, await browser.send(url, page)),
    deliver: async (acsUrl, samlResponse, relayState) => {
      const body = new URLSearchParams({ SAMLResponse: samlResponse, ...(relayState === null ? {} : { RelayState: relayState }) });
      return arrive(browser, acsUrl, await browser.send(acsUrl, { ...page, method: 'POST', body }));
    },
  };
}

const page = { headers: { accept: 'text/html' } };

async function arrive(browser: TestBrowser, url: string, first: Response): Promise<string> {
  let response = first;
  for (let at = url, steps = 0; steps < 10; steps += 1) {
    const location = response.headers.get('location');
    const text = await response.text();
    const form = location === null ? readForm(text) : undefined;
    if (location === null && form?.fields['SAMLResponse'] === undefined) return text;
    at = new URL(location ?? form?.action ?? '', at).href;
    response = await browser.send(at, location === null ? { ...page, method: 'POST', body: new URLSearchParams(form?.fields) } : page);
  }
  return assert.fail(`${url} leads nowhere`);
}

/** The first form of a page: where it goes and its fields. */
export function readForm(html: string): { readonly action: string; readonly fields: Readonly<Record<string, string>> } | undefined {
  const action = /<form[^>]*\saction="([^"]*)"/i.exec(html)?.[1];
  if (action === undefined) return undefined;
  const fields: Record<string, string> = {};
  for (const [tag] of html.matchAll(/<input[^>]*>/gi)) {
    const name = /\sname="([^"]*)"/i.exec(tag)?.[1];
    const value = /\svalue="([^"]*)"/i.exec(tag)?.[1];
    if (name !== undefined && value !== undefined) fields[unescapeHtml(name)] = unescapeHtml(value);
  }
  return { action: unescapeHtml(action), fields };
}

const unescapeHtml = (text: string): string =>
  text
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll(/&#(\d+);/g, (_, decimal: string) => String.fromCodePoint(Number(decimal)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

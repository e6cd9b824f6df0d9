// A person at one of our first-party applications (console, account page), without a browser: cookies, forms and the sign-in, by the
// PIN of the mail unless told otherwise.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { loginAt, signInByPin, type TestLogin } from './login.ts';
import type { Managed } from './management.ts';
import type { TestServer } from './server.ts';

export interface AppVisitor {
  readonly tenant: Managed;
  readonly cookie: () => string;
  /** The token its forms carry, without the id of one form. */
  readonly csrf: string;
  /** GET of a page below the application. */
  readonly page: (path: string, headers?: Readonly<Record<string, string>>) => Promise<Response>;
  /** POST of a form with the session's token, or another one, and an id of its own. */
  readonly submit: (
    path: string,
    fields: Readonly<Record<string, string>>,
    changes?: { readonly csrf?: string; readonly origin?: string; readonly id?: string },
  ) => Promise<Response>;
  /** Keeps the cookies of an answer to a request made another way. */
  readonly keep: (response: Response) => Response;
  /** The same for a form that must do something: the page its redirect leads to. */
  readonly act: (path: string, fields: Readonly<Record<string, string>>) => Promise<string>;
}

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';

/** Signs a person in to that application of the tenant; gives how they go on, and the answer of the callback. */
export async function openApp(
  server: TestServer,
  name: 'console' | 'account',
  tenant: Managed,
  email: string,
  signIn: (login: TestLogin) => Promise<URL> = (login) => signInByPin(server, login, email),
): Promise<{
  readonly visitor: AppVisitor;
  readonly callback: Response;
  readonly first: { readonly status: number; readonly text: string };
}> {
  const jar = new Map<string, string>();
  const keep = (response: Response): Response => {
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = line.split(';', 1)[0]!.split('=', 2) as [string, string]; // a Set-Cookie line has both
      if (/Max-Age=0\b/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  };
  const cookie = (): string => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const get = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    keep(await fetch(url, { redirect: 'manual', headers: { accept: html, cookie: cookie(), ...headers } }));
  const home = `${tenant.baseUrl}/${name}`;
  const authorize = locationOf(await get(home));
  const started = await fetch(authorize, { redirect: 'manual' });
  const finished = await signIn(loginAt(locationOf(started), started.headers.get('set-cookie') ?? ''));
  const callback = await get(finished.href);
  const page = await get(home);
  const first = { status: page.status, text: await page.text() };
  const csrf = /name="csrf" value="([^".]+)/.exec(first.text)?.[1] ?? '';
  const submit: AppVisitor['submit'] = async (path, fields, changes = {}) =>
    keep(
      await fetch(`${home}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: html, cookie: cookie(), origin: changes.origin ?? new URL(home).origin },
        body: new URLSearchParams({ csrf: `${changes.csrf ?? csrf}.${changes.id ?? randomUUID()}`, ...fields }),
      }),
    );
  return {
    callback,
    first,
    visitor: {
      tenant,
      cookie,
      csrf,
      page: (path, headers) => get(`${home}${path}`, headers),
      submit,
      keep,
      act: async (path, fields) => {
        const response = await submit(path, fields);
        const text = await response.text();
        assert.equal(response.status, 303, text.slice(0, 800));
        const shown = await get(new URL(locationOf(response), home).href);
        assert.equal(shown.status, 200);
        return shown.text();
      },
    },
  };
}

function locationOf(response: Response): string {
  const location = response.headers.get('location');
  assert.ok(location, `expected a redirect, found ${response.status}`);
  return location;
}

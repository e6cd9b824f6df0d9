// Customers' own setting up by a link: a browser that opened one, and what its steps take.
import assert from 'node:assert/strict';
import { textOf } from './account.ts';
import { openBrowser, type TestBrowser } from './browser.ts';
import type { databases } from './databases.ts';
import { startDns, type TestDns } from './dns-server.ts';
import { openExternalWorld } from './external.ts';
import type { Json } from './management.ts';

export const upstreamSecret = 'secret-of-gatehouse-at-acme-0123456789';

export async function openSetupWorld(database: (typeof databases)[number]) {
  const dns: TestDns = await startDns();
  const world = await openExternalWorld(database, { dns_servers: dns.address });
  const { server, managed: tenant, upstream } = world;
  const base = `${tenant.baseUrl}/organization-setup`;
  let made = 0;
  const organization = async (fields: Json = {}): Promise<string> => {
    made += 1;
    return String((await tenant.make('POST', '/organizations', { name: `org-${made}`, display_name: `Org ${made}`, ...fields }))['id']);
  };
  const linkFor = (id: string): Promise<Json> => tenant.make('POST', `/organizations/${id}/setup-links`);
  const tokenOf = ({ setup_url: url }: Json): string => String(url).split('#')[1]!;
  const open = (browser: TestBrowser, token: string): Promise<Response> =>
    browser.send(base, { method: 'POST', body: new URLSearchParams({ token }) });
  /** A browser that opened a link for the organisation. */
  const opened = async (id: string): Promise<TestBrowser> => {
    const browser = openBrowser();
    const answer = await open(browser, tokenOf(await linkFor(id)));
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${new URL(base).pathname}/steps`]);
    return browser;
  };
  const page = async (browser: TestBrowser, status = 200): Promise<string> => textOf(await browser.send(`${base}/steps`), status);
  const act = async (browser: TestBrowser, path: string, fields: Record<string, string> = {}): Promise<Response> => {
    const csrf = /name="csrf" value="([^"]+)"/.exec(await page(browser))?.[1] ?? '';
    return browser.send(`${base}/steps${path}`, { method: 'POST', body: new URLSearchParams({ csrf, ...fields }) });
  };
  const acts = async (browser: TestBrowser, path: string, fields: Record<string, string> = {}): Promise<void> => {
    const answer = await act(browser, path, fields);
    assert.equal(answer.status, 303, `${path}: ${(await answer.text()).slice(0, 2500)}`);
  };
  const connect = (browser: TestBrowser, at = upstream): Promise<void> =>
    acts(browser, '/provider', { kind: 'oidc', issuer: at.issuer, client_id: 'gatehouse', client_secret: upstreamSecret });
  /** Where the page sends the browser to try it. */
  const goToTry = async (browser: TestBrowser): Promise<string> => {
    const between = await textOf(await act(browser, '/provider/try'), 200);
    const there = /id="go-on" href="([^"]+)"/.exec(between)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#38;', '&');
    assert.ok(there);
    return there;
  };
  /** A real sign-in there, as the page begins it. */
  const trial = async (browser: TestBrowser, claims: Json, at = upstream): Promise<Response> => {
    const there = await goToTry(browser);
    const kept = await browser.send(at.signIn(there, claims).href);
    assert.equal(kept.status, 303, await kept.text());
    return browser.send(String(kept.headers.get('location')));
  };
  const close = async (): Promise<void> => {
    await upstream.close();
    await dns.close();
    await server.close();
  };
  return { ...world, tenant, dns, base, organization, linkFor, tokenOf, open, opened, page, act, acts, connect, goToTry, trial, close };
}

// The account page over HTTP: who gets in and for how long, what no page does for a stranger, language and activity.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { accountFreshSeconds, accountListRows, accountSessionSeconds } from '../../src/contract/limits.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createAccountTenant, createPerson, openAccount, phoneOf, textOf } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import type { Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const pages = ['', '/devices', '/passkeys', '/sessions', '/sessions/end-all', '/activity', '/language'];
const forms = [
  '/sign-out',
  '/devices/add',
  '/devices/x',
  '/devices/x/remove',
  '/passkeys',
  '/passkeys/x/rename',
  '/passkeys/x/revoke',
  '/sessions/x/end',
  '/sessions/end-all',
  '/language',
];

for (const database of databases) {
  describe(`account on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let person: TestUser;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server);
      ({ visitor, person } = await openAccount(server, tenant));
    });
    after(() => server.close());

    it('nobody is signed in: every page leads to the sign-in, every form too', async () => {
      for (const path of [...pages, ...forms]) {
        const init = forms.includes(path) ? { method: 'POST', body: new URLSearchParams({ csrf: '' }) } : {};
        const response = await fetch(`${tenant.baseUrl}/account${path}`, { redirect: 'manual', ...init });
        assert.equal(response.status, 303, path);
        const location = new URL(response.headers.get('location') ?? '');
        assert.equal(location.origin + location.pathname, `${tenant.baseUrl}/v1/idp/oidc/authorize`, path);
        assert.equal(location.searchParams.get('client_id'), 'gatehouse-account');
        assert.equal(location.searchParams.get('code_challenge_method'), 'S256');
        assert.match(
          response.headers.get('set-cookie') ?? '',
          /^gh-account-sign-in-[^=]+=[^;]+; Path=\/; Max-Age=900; HttpOnly; SameSite=Lax$/,
        );
      }
    });

    it('every page answers a person who is no administrator, with a policy and their name, under 60 kB', async () => {
      for (const path of pages) {
        const response = await visitor.page(path);
        const text = await textOf(response, 200);
        assert.match(text, /Ada Lovelace/, path);
        const policy = response.headers.get('content-security-policy') ?? '';
        assert.match(
          policy,
          /^default-src 'none'; style-src 'nonce-[^']+'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
          path,
        );
        assert.equal(response.headers.get('x-frame-options'), 'DENY', path);
        assert.equal(response.headers.get('cache-control'), 'no-store', path);
        assert.ok(Buffer.byteLength(text) < 60_000, `${path}: ${Buffer.byteLength(text)} bytes`);
        assert.doesNotMatch(text, /<script| on[a-z]+=|style="/, path);
      }
    });

    it('forged posts change nothing: a wrong token, none, a foreign origin', async () => {
      for (const path of forms)
        for (const changes of [{ csrf: 'wrong' }, { csrf: '' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
          const response = await visitor.submit(path, { language: 'de', name: 'forged' }, changes);
          assert.equal(response.status, 403, `${path} ${JSON.stringify(changes)}`);
          assert.equal(response.headers.get('set-cookie'), null);
        }
      assert.match(await textOf(await visitor.page(''), 200), /<html lang="en">/);
    });

    it('a form is read as text without NUL', async () => {
      assert.equal((await visitor.submit('/language', { language: 'd\0e' })).status, 400);
    });

    it('a callback nobody asked for signs nobody in, and says so in the language of the browser', async () => {
      const response = await fetch(`${tenant.baseUrl}/account/callback?code=x&state=y&iss=${tenant.baseUrl}`, {
        headers: { 'accept-language': 'fr' },
      });
      assert.match(await textOf(response, 400), /<html lang="fr">[\s\S]*n’a pas été commencée dans ce navigateur/);
      assert.equal(response.headers.get('set-cookie'), null);
    });

    it('signing out revokes the grant and forgets the session', async () => {
      const { visitor: leaving } = await openAccount(server, tenant);
      const stolen = leaving.cookie();
      assert.match(await textOf(await leaving.submit('/sign-out', {}), 200), /Signed out/);
      const replayed = await fetch(`${tenant.baseUrl}/account`, { redirect: 'manual', headers: { cookie: stolen } });
      assert.equal(replayed.status, 303);
    });

    it('a suspended person is signed out at once; a session of another tenant or of the console opens nothing', async () => {
      const { visitor: suspended, person: who } = await openAccount(server, tenant);
      await tenant.make('POST', `/users/${who.id}/suspend`);
      assert.equal((await suspended.page('')).status, 303);
      const other = await createAccountTenant(server);
      const cookie = visitor.cookie();
      for (const [base, foreign] of [
        [`${other.baseUrl}/account`, cookie.replaceAll(tenant.slug, other.slug)],
        [`${tenant.baseUrl}/console`, cookie.replaceAll('gh-account', 'gh-console')],
      ] as const) {
        const response = await fetch(base, { redirect: 'manual', headers: { cookie: foreign } });
        assert.match(response.headers.get('location') ?? '', /\/authorize\?/);
      }
    });

    it('the language: chosen for pages and mails, over what the browser asks for; automatic again; nonsense is refused', async () => {
      const { visitor: reader, person: who } = await openAccount(server, tenant);
      const titles = { en: 'Language', de: 'Sprache', fr: 'Langue', ja: '言語' };
      for (const [language, title] of Object.entries(titles)) {
        const saved = await reader.submit('/language', { language });
        assert.deepEqual(
          [saved.status, saved.headers.get('location')],
          [303, `${new URL(tenant.baseUrl).pathname}/account/language?done=doneSaved`],
        );
        const text = await textOf(await reader.page('/language', { 'accept-language': 'es' }), 200);
        assert.ok(text.includes(`<html lang="${language}">`) && text.includes(`<h1>${title}</h1>`), text.slice(0, 200));
        assert.match(text, new RegExp(`value="${language}" checked`));
        assert.equal((await tenant.make('GET', `/users/${who.id}`))['preferred_language'], language);
        const missing = await reader.page('/devices/none/remove', { 'accept-language': 'es' });
        assert.match(await textOf(missing, 404), new RegExp(`<html lang="${language}">`));
      }
      assert.equal((await reader.submit('/language', { language: 'auto' })).status, 303);
      assert.match(await textOf(await reader.page('/language', { 'accept-language': 'fr' }), 200), /<html lang="fr">/);
      assert.match(
        await textOf(await reader.submit('/language', { language: 'tlh' }), 400),
        /role="alert"[^>]*>Choose one of the languages/,
      );
      assert.equal((await tenant.make('GET', `/users/${who.id}`))['preferred_language'], undefined);
    });

    it('activity: own events in plain words, newest first, by pages; nobody else’s', async () => {
      const { visitor: reader, person: who } = await openAccount(server, tenant);
      const { database: store, clock } = server.gatehouse.services;
      await server.clock.advance(1000); // the list goes by time
      await phoneOf(server, tenant, who);
      await server.clock.advance(1000);
      await tenant.make('POST', `/users/${who.id}/enrollments`);
      await server.clock.advance(1000);
      await store.write(who.tenant, async (queries) => {
        for (let number = 0; number < accountListRows; number += 1)
          await insertAuditEvent(queries, who.tenant, clock.nowMs(), {
            type: 'pin.failed',
            actor: `user:${who.id}`,
            data: { ip: '192.0.2.7' },
          });
        await insertAuditEvent(queries, who.tenant, clock.nowMs(), { type: 'pin.locked', actor: `user:${person.id}` });
        await insertAuditEvent(queries, who.tenant, clock.nowMs(), { type: 'client.assigned', actor: `user:${who.id}` });
      });
      const first = await textOf(await reader.page('/activity'), 200);
      assert.equal(first.match(/A wrong code was entered\./g)?.length, accountListRows);
      assert.match(first, /192\.0\.2\.7/);
      assert.doesNotMatch(first, /locked|a\.type/);
      const next = /id="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&#38;', '&') ?? '';
      const second = await textOf(await reader.page(next.split('/account')[1]!), 200);
      assert.match(
        second,
        /A code to add a phone was made\. <span class="muted">\(by the administration\)[\s\S]*A phone was added\.[\s\S]*Signed in to [\s\S]*The account was made\./,
      );
      assert.doesNotMatch(second, /wrong code|id="next"/);
      assert.doesNotMatch(await textOf(await visitor.page('/activity'), 200), /wrong code|A phone was added/);
    });

    it('markup in the name of a person stays text on every page', async () => {
      for (const text of xssCorpus) {
        const { visitor: reader } = await openAccount(server, tenant, { display_name: text });
        for (const path of pages) assertEscaped(await textOf(await reader.page(path), 200), text);
      }
    });

    it('a query is only ever a query', async () => {
      for (const value of xssCorpus.map(encodeURIComponent))
        for (const path of ['/devices?page=', '/sessions?before=', '/activity?before=', '/language?done=', '/devices/add?enrollment='])
          assert.doesNotMatch(await (await visitor.page(`${path}${value}`)).text(), /pwned/, `${path}${value}`);
    });
  });
}

describe('account over time on sqlite', () => {
  it('tokens renew within the session; after its length one signs in again', async () => {
    const server = await startTestServer('sqlite');
    try {
      const tenant = await createAccountTenant(server, { refresh_token_idle_seconds: 2 * accountSessionSeconds });
      const person = await createPerson(tenant);
      const { visitor } = await openApp(server, 'account', tenant, person.email);
      const cookie = visitor.cookie();
      const renewedSeconds = 900; // an access token lives no longer
      assert.ok(renewedSeconds > accountFreshSeconds);
      await server.clock.advance(1000 * renewedSeconds);
      assert.equal((await visitor.page('')).status, 200);
      assert.notEqual(visitor.cookie(), cookie);
      const stale = await visitor.submit('/devices/add', {});
      assert.match(stale.headers.get('location') ?? '', /\/authorize\?/);
      await server.clock.advance(1000 * (accountSessionSeconds - renewedSeconds - 120));
      assert.equal((await visitor.page('')).status, 200);
      await server.clock.advance(1000 * 240);
      assert.match((await visitor.page('')).headers.get('location') ?? '', /\/authorize\?/);
    } finally {
      await server.close();
    }
  });
});

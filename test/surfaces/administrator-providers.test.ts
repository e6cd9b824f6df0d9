// Providers that administrators may come by (design 17, 2.2): `administrator_providers` of the settings. Owners name them, owners change the
// providers they name, and each call asks again whether the way somebody came is named yet.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { providerAliasCharsMax, providersPerTenantMax } from '../../src/contract/limits.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone } from '../support/enrolled-phone.ts';
import { type ExternalWorld, openExternalWorld } from '../support/external.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { callJson, type Json, jsonOf, type Managed } from '../support/management.ts';
import { challenge, exchange, redirectUri, tokensOf } from '../support/oidc.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';

const everything = capabilities.filter((one) => !one.startsWith('tenants:'));
const lacks = { text: 'The token lacks the capability administrators:write.' };

for (const database of databases)
  describe(`providers of administrators on ${database}`, () => {
    let world: ExternalWorld;
    let owner: TestUser;
    let app: TestClient;
    /** A program with every capability but the one that gives roles. */
    let almost: Managed;
    let providerId: string;
    const scopes = ['openid', 'offline_access', 'users:read'];
    const claims = () => ({ sub: 'owner-there', email: owner.email, email_verified: true });
    before(async () => {
      world = await openExternalWorld(database);
      const { server, managed, tenant, register } = world;
      ({ id: providerId } = await register());
      owner = await createUser(server.gatehouse.services, tenant, 'owner@acme.example');
      await managed.make('PUT', `/users/${owner.id}/roles`, { roles: ['owner'] });
      await link();
      await enrolledPhone(
        server,
        { tenant: tenant.id, id: owner.id, email: owner.email },
        createPhone(managed.baseUrl, server.clock.nowMs),
      );
      app = await createClient(server.gatehouse.services, tenant, { scopes, resources: [managed.managementApi] });
      almost = await machineWith(
        managed,
        everything.filter((one) => one !== 'administrators:write'),
      );
    });
    after(async () => {
      await world.upstream.close();
      await world.server.close();
    });
    /** As if they had linked it themselves. */
    const link = async (): Promise<void> => {
      const { server, tenant, upstream } = world;
      const { id: userId, email } = owner;
      const identity = { id: randomUUID(), providerId, issuer: upstream.issuer, subject: 'owner-there', userId, email };
      await server.gatehouse.services.database.write(tenant.id, (queries) => insertExternalIdentity(queries, tenant.id, identity as never)); // ids the server gave
    };
    const asked = () => ({ client_id: app.clientId, scope: scopes.join(' '), resource: world.managed.managementApi });
    const name = (...aliases: readonly string[]): Promise<Json> =>
      world.managed.make('PATCH', '/settings', { administrator_providers: aliases });
    /** Comes by the provider; gives the tokens. */
    const comeBy = async () => {
      const { begin, visit, post, jsonOf: answerOf, tenant } = world;
      const at = await begin(asked());
      assert.deepEqual(await answerOf(await visit(at, claims())), { state: 'approved' });
      const to = new URL(String((await answerOf(await post(at.browser, `${at.login}/finish`)))['redirect_to']));
      return { at, tokens: await tokensOf(await exchange(tenant, app, to.searchParams.get('code') ?? '')) };
    };
    const call = async ({ access_token: token }: { readonly access_token: string }): Promise<number> =>
      (await callJson(`${world.managed.managementApi}/users`, token, 'GET')).status;
    const opensConsole = async (): Promise<boolean> => {
      const { server, managed, upstream } = world;
      const { callback, first } = await openApp(server, 'console', managed, owner.email, async (login) => {
        const to = await jsonOf(await login.post('external', { alias: 'acme' }), 200);
        const back = await fetch(upstream.signIn(String(to['redirect_to']), claims()), { headers: { cookie: login.cookie } });
        assert.equal(back.status, 200, await back.text());
        return new URL(String((await jsonOf(await login.post('finish'), 200))['redirect_to']));
      });
      assert.deepEqual([callback.status, first.status], first.status === 200 ? [303, 200] : [403, 303]);
      return first.status === 200;
    };

    it('none is named: whoever has a phone comes in by it alone', async () => {
      assert.deepEqual((await world.managed.make('GET', '/settings'))['administrator_providers'], []);
      assert.equal(await call((await comeBy()).tokens), 401);
      assert.equal(await opensConsole(), false);
    });

    it('by one that is named they come in, until it is not any more', async () => {
      await name('acme');
      const { tokens } = await comeBy();
      assert.equal(await call(tokens), 200);
      assert.equal(await opensConsole(), true);
      await name('other');
      assert.equal(await call(tokens), 401);
      await name('other', 'acme');
      assert.equal(await call(tokens), 200);
      await world.managed.make('PATCH', `/identity-providers/${providerId}`, { enabled: false });
      assert.equal(await call(tokens), 401);
      await world.managed.make('PATCH', `/identity-providers/${providerId}`, { enabled: true });
      assert.equal(await call(tokens), 200);
    });

    it('what a session of the browser answers is judged by how the session began', async () => {
      await name('acme');
      await world.managed.make('PATCH', '/settings', { sso_session: 'browser' });
      const { at } = await comeBy();
      const query = new URLSearchParams({
        ...{ response_type: 'code', redirect_uri: redirectUri, state: 's', nonce: 'n' },
        ...{ code_challenge: challenge, code_challenge_method: 'S256', ...asked() },
      });
      const answer = await at.browser.send(`${world.tenant.baseUrl}/v1/idp/oidc/authorize?${query}`);
      const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
      const tokens = await tokensOf(await exchange(world.tenant, app, code));
      assert.equal(await call(tokens), 200);
      await name();
      assert.equal(await call(tokens), 401);
      await world.managed.make('PATCH', '/settings', { sso_session: 'off' });
    });

    it('a link that is gone opens nothing', async () => {
      await name('acme');
      const { tokens } = await comeBy();
      const { items } = await world.managed.make<{ items: readonly { readonly id: string }[] }>(
        'GET',
        `/users/${owner.id}/external-identities`,
      );
      await world.managed.make('DELETE', `/users/${owner.id}/external-identities/${items[0]!.id}`);
      assert.equal(await call(tokens), 401);
      await link();
      assert.equal(await call(tokens), 401, 'another link is another');
    });

    it('is named by whoever may do everything, and one that is named is changed by them alone', async () => {
      const forbidden = async (by: Managed, method: string, path: string, body: Json, told: Json): Promise<void> =>
        void (await assertRefusal(await by.call(method, path, body), 'management.forbidden', told));
      await name();
      await forbidden(almost, 'PATCH', '/settings', { administrator_providers: ['acme'] }, lacks);
      const narrow = await machineWith(world.managed, ['sign-in:write', 'sign-in:read', 'administrators:write']);
      await forbidden(
        narrow,
        'PATCH',
        '/settings',
        { administrator_providers: ['acme'] },
        {
          text: 'The token lacks the capability clients:read.',
        },
      );
      await name('acme', 'later');
      await narrow.make('PATCH', '/settings', { administrator_providers: ['acme', 'later'], recovery_codes: true }); // it stays as it was
      const provider = `/identity-providers/${providerId}`;
      for (const body of [
        { name: 'Other' },
        { issuer: 'https://elsewhere.example', client_secret: 'x'.repeat(40) },
        { trust_email: false },
      ])
        await forbidden(almost, 'PATCH', provider, body, lacks);
      const later = {
        ...{ alias: 'later', kind: 'oidc', name: 'Later', issuer: 'https://later.example' },
        ...{ client_id: 'x', client_secret: 'y'.repeat(40) },
      };
      await forbidden(almost, 'POST', '/identity-providers', later, lacks);
      await almost.make('POST', '/identity-providers', { ...later, alias: 'another' });
      await world.managed.make('POST', '/identity-providers', later);
      await world.managed.make('PATCH', provider, { name: 'Acme again' });
      await name();
      await almost.make('PATCH', provider, { name: 'Acme' });
    });

    it('names so many, and no longer ones', async () => {
      const many = Array.from({ length: providersPerTenantMax + 1 }, (_, at) => `p${at}`);
      assert.equal((await world.managed.call('PATCH', '/settings', { administrator_providers: many })).status, 400);
      await name(...many.slice(1));
      assert.equal(
        (await world.managed.call('PATCH', '/settings', { administrator_providers: ['a'.repeat(providerAliasCharsMax + 1)] })).status,
        400,
      );
      await name('a'.repeat(providerAliasCharsMax));
      await name();
    });
  });

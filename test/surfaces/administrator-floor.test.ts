// The floor under whoever administers (design 17, 2.2): a person who holds a role and has a passkey or phone enters the console and the
// Management API by it, whatever the tenant signs people in by; a mailed code, or another provider's word, opens neither.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { insertExternalIdentity } from '../../src/storage/sign-in/external-identities.ts';
import { createPerson, openAccount } from '../support/account.ts';
import { createConsoleTenant } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone, redeemedPhone } from '../support/enrolled-phone.ts';
import { openExternalWorld } from '../support/external.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestClient } from '../support/fixtures.ts';
import { openLogin, signInByPin, type TestLogin } from '../support/login.ts';
import { callJson, jsonOf, type Managed } from '../support/management.ts';
import { challenge, exchange, postAs, redirectUri, tokensOf } from '../support/oidc.ts';
import { givePasskey, signInByPasskey, signInByPhone } from '../support/passkeys.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { registered } from '../support/registered-phone.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Owner {
  readonly managed: Managed;
  readonly tenant: Tenant;
  readonly email: string;
  readonly id: UserId;
}

for (const database of databases) {
  describe(`the floor under administrators on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    /** An owner of a tenant that takes mailed codes alone. */
    async function newOwner(): Promise<Owner> {
      const { tenant: managed, email } = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      const { items } = await managed.make<{ items: readonly { readonly id: UserId }[] }>('GET', `/users?search=${email}`);
      return { managed, email, id: items[0]!.id, tenant: (await server.gatehouse.services.tenants.bySlug(managed.slug))! };
    }
    const subjectOf = ({ tenant, id, email }: Owner) => ({ tenant: tenant.id, id, email });
    const byPin =
      ({ email }: Owner) =>
      (login: TestLogin) =>
        signInByPin(server, login, email);
    const openConsole = ({ managed, email }: Owner, signIn?: (login: TestLogin) => Promise<URL>) =>
      openApp(server, 'console', managed, email, signIn);
    const newPhone = (owner: Owner) => enrolledPhone(server, subjectOf(owner), createPhone(owner.managed.baseUrl, server.clock.nowMs));

    /** An application with capability scopes: a sign-in for the Management API, as far as the tokens. */
    async function tokensBy(owner: Owner, signIn: (login: TestLogin) => Promise<URL>) {
      const { tenant, managed } = owner;
      const scopes = ['openid', 'offline_access', 'users:read'];
      const client: TestClient = await createClient(server.gatehouse.services, tenant, {
        scopes,
        resources: [managed.managementApi],
      });
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, scope: scopes.join(' ') },
        ...{ state: 's', code_challenge: challenge, code_challenge_method: 'S256', resource: managed.managementApi },
      });
      const started = await fetch(`${managed.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      const back = await signIn(openLogin(started));
      const tokens = await tokensOf(await exchange(tenant, client, back.searchParams.get('code') ?? ''));
      const users = (token: string): Promise<Response> => callJson(`${managed.managementApi}/users`, token, 'GET');
      const refreshed = async (): Promise<string> => {
        const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
        return String((await jsonOf(await postAs(tenant, client, 'token', form), 200))['access_token']);
      };
      return { token: tokens.access_token, users, refreshed };
    }

    it('an owner who has only a mailed code, as before an upgrade, gets in by it: console, Management API, and a refresh', async () => {
      const owner = await newOwner();
      assert.equal((await openConsole(owner)).first.status, 200);
      await server.clock.advance(60_000);
      const { token, users, refreshed } = await tokensBy(owner, byPin(owner));
      assert.equal((await users(token)).status, 200);
      assert.equal((await users(await refreshed())).status, 200);
    });

    it('hole 1a: guessing codes as owner is hopeless: six digits, ten attempts whatever the tenant says', async () => {
      const owner = await newOwner();
      await assertRefusal(await owner.managed.call('PATCH', '/settings', { pin: { length: 4 } }), 'management.invalid_request', {
        kind: 'pin.length',
        text: /./,
      });
      await owner.managed.make('PATCH', '/settings', { pin: { length: 6, attempts_max: 10, failures_per_day_max: 100 } });
      const guessed = openConsole(owner, async (login) => {
        await login.post('identify', { identifier: owner.email });
        await login.post('method', { method: 'email_pin' });
        const statuses: number[] = [];
        for (let guess = 0; guess < 12; guess += 1) statuses.push((await login.post('pin', { pin: `guess${guess}` })).status);
        assert.deepEqual(
          statuses.filter((status) => status === 200),
          [],
        );
        assert.equal((await login.post('finish')).status >= 400, true);
        throw new Error('no way in');
      });
      await assert.rejects(guessed, /no way in/);
    });

    for (const key of ['passkey', 'phone'] as const) {
      it(`hole 1a: with a ${key}, the mailed code opens no console though the tenant takes mailed codes alone; the ${key} does`, async () => {
        const owner = await newOwner();
        const passkey = key === 'passkey' ? await givePasskey(server, owner.tenant, subjectOf(owner)) : undefined;
        if (passkey === undefined) await newPhone(owner);
        const { callback } = await openConsole(owner, async (login) => {
          const { methods } = (await (await login.get()).json()) as { readonly methods: readonly string[] };
          assert.deepEqual([...methods].sort(), ['email_pin', 'passkey', 'phone']);
          return signInByPin(server, login, owner.email);
        });
        assert.equal(callback.status, 403);
        assert.match(await callback.text(), /Use your passkey or phone/);
        const strong = await openConsole(owner, (login) =>
          passkey === undefined ? signInByPhone(server, owner.tenant, login, owner.email) : signInByPasskey(login, owner.email, passkey),
        );
        assert.equal(strong.first.status, 200);
      });

      it(`hole 12: with a ${key}, tokens of a mailed code open no Management API, nor do refreshed ones; those of the ${key} do`, async () => {
        const owner = await newOwner();
        const passkey = key === 'passkey' ? await givePasskey(server, owner.tenant, subjectOf(owner)) : undefined;
        if (passkey === undefined) await newPhone(owner);
        const weak = await tokensBy(owner, byPin(owner));
        await assertRefusal(await weak.users(weak.token), 'management.unauthorized');
        await assertRefusal(await weak.users(await weak.refreshed()), 'management.unauthorized');
        const strong = await tokensBy(owner, (login) =>
          passkey === undefined ? signInByPhone(server, owner.tenant, login, owner.email) : signInByPasskey(login, owner.email, passkey),
        );
        assert.equal((await strong.users(strong.token)).status, 200);
        assert.equal((await strong.users(await strong.refreshed())).status, 200);
      });
    }

    it('a session that a mailed code opened ends when its person gets a passkey', async () => {
      const owner = await newOwner();
      const { visitor, first } = await openConsole(owner);
      assert.equal(first.status, 200);
      await givePasskey(server, owner.tenant, subjectOf(owner));
      assert.equal((await visitor.page('/users')).status, 403);
    });

    it('a mailed code takes no phone away on the account page, whatever the tenant takes', async () => {
      const owner = await newOwner();
      const phone = await newPhone(owner);
      const { visitor } = await openApp(server, 'account', owner.managed, owner.email);
      await visitor.submit(`/devices/${phone.deviceId}/remove`, {});
      assert.equal((await owner.managed.make('GET', `/devices/${phone.deviceId}`))['state'], 'active');
    });

    it('hole 1c: with additional_device email_pin, a second phone of an owner waits for the first; anybody else adds it as before', async () => {
      const owner = await newOwner();
      await owner.managed.make('PATCH', '/settings', { device: { additional_device: 'email_pin' } });
      await newPhone(owner);
      const enrol = async (user: ReturnType<typeof subjectOf>): Promise<Response> => {
        const { phone, redeemed } = await redeemedPhone(server, user, createPhone(owner.managed.baseUrl, server.clock.nowMs));
        const proofs = phone.proofs(redeemed.attestation.challenge);
        return phone.post('/enroll', { registration_token: redeemed.registration_token, proofs });
      };
      const second = await enrol(subjectOf(owner));
      assert.equal(second.status, 202, await second.clone().text());
      const { items } = await owner.managed.make<{ items: readonly { readonly state: string }[] }>('GET', `/users/${owner.id}/devices`);
      assert.equal(items.filter(({ state }) => state === 'active').length, 1);
      const { person } = await openAccount(server, owner.managed);
      assert.equal((await enrol(person)).status, 201);
      assert.equal((await enrol(person)).status, 201);
    });

    it('a mailbox adds no phone to an owner who has a passkey, whatever the tenant takes; a link they make by the passkey does', async () => {
      for (const additional_device of ['existing_device', 'email_pin', 'admin']) {
        const owner = await newOwner();
        await owner.managed.make('PATCH', '/settings', { device: { additional_device } });
        await givePasskey(server, owner.tenant, subjectOf(owner));
        const { newcomer, send } = await registered(server, owner, owner.managed.baseUrl);
        await assertRefusal(await send(), 'device.admin_enrollment_required');
        await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
        assert.equal((await newPhone(owner).then((phone) => phone.get('/self'))).status, 200);
      }
    });

    it('a mailbox adds no first phone to an owner where mailed codes let nobody in; an invitation does, and to anybody else mail does', async () => {
      const owner = await newOwner();
      await owner.managed.make('PATCH', '/settings', { login_methods: ['passkey', 'phone'] });
      const { newcomer, send } = await registered(server, owner, owner.managed.baseUrl);
      await assertRefusal(await send(), 'device.admin_enrollment_required');
      await assertRefusal(await newcomer.get('/self'), 'device.key_revoked');
      const person = await createPerson(owner.managed);
      assert.equal((await (await registered(server, person, owner.managed.baseUrl)).send()).status, 201);
      await newPhone(owner);
      const { first } = await openConsole(owner, (login) => signInByPhone(server, owner.tenant, login, owner.email));
      assert.equal(first.status, 200);
    });
  });

  describe(`another provider's word about an administrator on ${database}`, () => {
    it('hole 1b: acr_map lifts nobody above the floor: an owner with a phone comes in by the phone alone', async () => {
      const world = await openExternalWorld(database);
      try {
        const { server, managed, tenant, begin, visit, post, jsonOf: answerOf, register } = world;
        const { id: providerId } = await register({ acr_map: { strong: 'phr' } });
        const owner = await createUser(server.gatehouse.services, tenant, 'owner@acme.example');
        await managed.make('PUT', `/users/${owner.id}/roles`, { roles: ['owner'] });
        const identity = {
          id: randomUUID(),
          providerId,
          issuer: world.upstream.issuer,
          subject: 'owner-there',
          userId: owner.id,
          email: owner.email,
        };
        await server.gatehouse.services.database.write(tenant.id, (queries) =>
          insertExternalIdentity(queries, tenant.id, identity as never),
        ); // ids the server gave
        const scopes = ['openid', 'users:read'];
        const client = await createClient(server.gatehouse.services, tenant, { scopes, resources: [managed.managementApi] });
        const status = async (): Promise<number> => {
          const at = await begin({ client_id: client.clientId, scope: scopes.join(' '), resource: managed.managementApi });
          const claims = { sub: 'owner-there', email: owner.email, email_verified: true, acr: 'strong' };
          assert.deepEqual(await answerOf(await visit(at, claims)), { state: 'approved' });
          const to = new URL(String((await answerOf(await post(at.browser, `${at.login}/finish`)))['redirect_to']));
          const tokens = await tokensOf(await exchange(tenant, client, to.searchParams.get('code') ?? ''));
          return (await callJson(`${managed.managementApi}/users`, tokens.access_token, 'GET')).status;
        };
        assert.equal(await status(), 200); // who has nothing better, as before
        const others = capabilities.filter((one) => one !== 'administrators:write' && !one.startsWith('tenants:'));
        const almost = await machineWith(managed, others);
        const lacks = { text: 'The token lacks the capability administrators:write.' };
        for (const [method, body] of [
          ['PATCH', { acr_map: {} }],
          ['DELETE', undefined],
        ] as const)
          await assertRefusal(await almost.call(method, `/identity-providers/${providerId}`, body), 'management.forbidden', lacks);
        await managed.make('PATCH', `/identity-providers/${providerId}`, { name: 'Acme again' });
        await enrolledPhone(
          server,
          { tenant: tenant.id, id: owner.id, email: owner.email },
          createPhone(managed.baseUrl, server.clock.nowMs),
        );
        assert.equal(await status(), 401);
        await almost.make('PATCH', `/identity-providers/${providerId}`, { name: 'Acme' });
      } finally {
        await world.upstream.close();
        await world.server.close();
      }
    });
  });
}

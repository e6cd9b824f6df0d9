// Sign-in by passkey over JSON (design 04): the options, the response, and everything that must not be accepted.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { deletePasskey } from '../../src/storage/sign-in/passkeys.ts';
import { type AssertionJson, createPasskey, flags, type Lies, type RequestOptions } from '../support/authenticator.ts';
import { databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { jsonOf } from '../support/management.ts';
import { decodeJwt, exchange, tokensOf } from '../support/oidc.ts';
import { askForPasskey, givePasskey, stateOf } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const unlimited = { rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate } };

for (const database of databases) {
  describe(`Sign-in by passkey on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createOtherTenant(server.gatehouse.services, 'acme', { login_lifetime_seconds: 900, ...unlimited });
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    const begin = (changes = {}): Promise<TestLogin> => beginLogin(server, tenant, client, changes);
    const reasonsOf = async (user: TestUser): Promise<readonly (string | null)[]> => {
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('reason')
          .where('type', '=', 'passkey.failed')
          .where('actor', '=', `user:${user.id}`)
          .execute(),
      );
      return rows.map((row) => row.reason);
    };

    it('identify, method, response, finish: amr hwk and user, acr phr', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      assert.deepEqual(await jsonOf(await login.post('identify', { identifier: user.email }), 200), {
        state: 'choose',
        methods: ['phone', 'passkey', 'email_pin'],
      });
      const { state, options } = await jsonOf<{ state: string; options: RequestOptions }>(
        await login.post('method', { method: 'passkey' }),
        200,
      );
      assert.equal(state, 'passkey');
      assert.deepEqual(Object.keys(options), ['challenge', 'timeout', 'rpId', 'allowCredentials', 'userVerification']);
      assert.equal(Buffer.from(options.challenge, 'base64url').length, 32);
      assert.equal(options.rpId, new URL(tenant.baseUrl).hostname);
      assert.equal(options.userVerification, 'required');
      assert.ok(options.allowCredentials.some(({ id }) => id === passkey.credentialId));
      assert.deepEqual(await jsonOf(await login.get('/status'), 200), { state: 'choose' });
      assert.deepEqual(await jsonOf(await login.post('passkey', { response: passkey.sign(options) }), 200), { state: 'approved' });
      const { redirect_to: to } = await jsonOf<{ redirect_to: string }>(await login.post('finish'), 200);
      const tokens = await tokensOf(await exchange(tenant, client, new URL(to).searchParams.get('code') ?? ''));
      const { claims } = decodeJwt(tokens.id_token ?? '');
      assert.deepEqual([claims['sub'], claims['amr'], claims['acr']], [user.id, ['hwk', 'user'], 'phr']);
    });

    it('acr_values=phr leaves the passkey alone, which is chosen at once', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin({ acrValues: 'phr' });
      assert.deepEqual((await jsonOf(await login.get(), 200))['methods'], ['passkey']);
      const answer = await jsonOf<{ state: string; options: RequestOptions }>(
        await login.post('identify', { identifier: user.email }),
        200,
      );
      assert.equal(answer.state, 'passkey');
      assert.deepEqual(await jsonOf(await login.post('passkey', { response: passkey.sign(answer.options) }), 200), { state: 'approved' });
    });

    it('where the tenant has no passkeys it is not offered', async () => {
      const phoneOnly = await createOtherTenant(server.gatehouse.services, 'phones', { login_methods: ['phone', 'email_pin'] });
      const login = await beginLogin(server, phoneOnly, await createClient(server.gatehouse.services, phoneOnly));
      const user = await createUser(server.gatehouse.services, phoneOnly);
      assert.deepEqual((await jsonOf(await login.post('identify', { identifier: user.email }), 200))['methods'], ['phone', 'email_pin']);
      await assertRefusal(await login.post('method', { method: 'passkey' }), 'login.invalid_request', { kind: 'method', text: /./ });
    });

    it('a response as text of a form field, answered by 303 as every step', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const options = await askForPasskey(login, user.email);
      const wrong = await login.submit('passkey', {
        response: JSON.stringify(passkey.sign(options, { counter: 0, origin: 'https://evil.example' })),
      });
      assert.equal(wrong.status, 401);
      assert.match(await wrong.text(), /role="alert">That passkey was not accepted[\s\S]*id="use-passkey"/);
      const right = await login.submit('passkey', { response: JSON.stringify(passkey.sign(options)) });
      assert.equal(right.status, 303);
      assert.equal(right.headers.get('location'), login.location);
      assert.equal(await stateOf(login), 'approved');
    });

    it('an authenticator that names no user handle', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      for (const userHandle of [null, undefined]) {
        const login = await begin();
        const signed = passkey.sign(await askForPasskey(login, user.email));
        const response = { ...signed, response: { ...signed.response, userHandle } };
        assert.deepEqual(await jsonOf(await login.post('passkey', { response }), 200), { state: 'approved' });
      }
    });

    it('users without a passkey, suspended users and nobody get the same: eight ids, the same each time', async () => {
      const has = await createUser(server.gatehouse.services, tenant);
      await givePasskey(server, tenant, has);
      await givePasskey(server, tenant, has);
      const without = await createUser(server.gatehouse.services, tenant);
      const idsOf = async (identifier: string): Promise<readonly string[]> => {
        const { allowCredentials, challenge, ...rest } = await askForPasskey(await begin(), identifier);
        assert.equal(challenge.length, 43);
        assert.deepEqual(rest, { timeout: 300_000, rpId: new URL(tenant.baseUrl).hostname, userVerification: 'required' });
        for (const credential of allowCredentials) assert.deepEqual(Object.keys(credential), ['id', 'type']);
        return allowCredentials.map(({ id }) => id);
      };
      const suspended = await createUser(server.gatehouse.services, tenant);
      await givePasskey(server, tenant, suspended);
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state: 'suspended' }).where('id', '=', suspended.id).execute(),
      );
      for (const identifier of [has.email, without.email, suspended.email, 'nobody@people.example']) {
        const ids = await idsOf(identifier);
        assert.equal(new Set(ids).size, 8);
        assert.deepEqual(await idsOf(identifier), ids);
        for (const id of ids) assert.ok([16, 20, 32, 48, 64].includes(Buffer.from(id, 'base64url').length));
      }
      assert.notDeepEqual(await idsOf('nobody@people.example'), await idsOf('noone@people.example'));
    });

    const lies: Readonly<Record<string, [Lies, string]>> = {
      'another challenge': [{ challenge: Buffer.alloc(32, 1).toString('base64url') }, 'challenge'],
      'another origin': [{ origin: 'https://evil.example' }, 'origin'],
      'a subdomain as origin': [{ origin: 'http://sub.127.0.0.1' }, 'origin'],
      'another type': [{ type: 'webauthn.create' }, 'type'],
      'from a frame of another origin': [{ crossOrigin: true }, 'cross_origin'],
      'another rpId': [{ rpId: 'evil.example' }, 'rp_id'],
      'without user verification': [{ flags: flags.userPresent }, 'user_verification'],
      'without user presence': [{ flags: flags.userVerified }, 'user_verification'],
      'backed up without being eligible': [{ flags: flags.userPresent | flags.userVerified | flags.backedUp }, 'backup_flags'],
      'another key': [{ key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }, 'signature'],
      'another user handle': [{ userHandle: Buffer.from('somebody').toString('base64url') }, 'user_handle'],
      'an unknown credential': [{ credentialId: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'unknown'],
    };
    it('login.passkey_refused: one answer for every wrong response, the reason in the audit record', async () => {
      const bodies = new Set<string>();
      for (const [name, [lie, reason]] of Object.entries(lies)) {
        const user = await createUser(server.gatehouse.services, tenant);
        const passkey = await givePasskey(server, tenant, user);
        const login = await begin();
        const options = await askForPasskey(login, user.email);
        bodies.add(await assertRefusal(await login.post('passkey', { response: passkey.sign(options, lie) }), 'login.passkey_refused'));
        assert.deepEqual(await reasonsOf(user), [reason], name);
        assert.equal(await stateOf(login), 'choose', name);
        assert.equal((await login.post('passkey', { response: passkey.sign(options) })).status, 200, name); // the challenge was not spent
      }
      assert.equal(bodies.size, 1);
    });

    it("login.passkey_refused: another user's passkey, another tenant's, a revoked one, and nobody", async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const thief = await createUser(server.gatehouse.services, tenant);
      const theirs = await givePasskey(server, tenant, thief);
      const root = await rootTenant(server.gatehouse.services);
      const foreign = await givePasskey(server, root, await createUser(server.gatehouse.services, root));
      const login = await begin();
      const options = await askForPasskey(login, user.email);
      for (const [wrong, handle] of [
        [theirs, userHandleOf(user.id)],
        [foreign, userHandleOf(user.id)],
      ] as const)
        await assertRefusal(
          await login.post('passkey', { response: wrong.sign(options, { userHandle: handle }) }),
          'login.passkey_refused',
        );
      await server.gatehouse.services.database.write(tenant.id, (queries) => deletePasskey(queries, tenant.id, user.id, passkey.id));
      await assertRefusal(await login.post('passkey', { response: passkey.sign(options) }), 'login.passkey_refused');
      assert.deepEqual(await reasonsOf(user), ['unknown', 'unknown', 'unknown']);
      const nobody = await begin();
      const decoys = await askForPasskey(nobody, 'nobody@people.example');
      const made = createPasskey(new URL(tenant.baseUrl).origin, userHandleOf(user.id));
      const lie = { credentialId: decoys.allowCredentials[0]!.id };
      await assertRefusal(await nobody.post('passkey', { response: made.sign(decoys, lie) }), 'login.passkey_refused');
    });

    it('login.passkey_refused: the counter stands still or goes back; without a counter it stays 0', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user, 10);
      const attempt = async (counter: number): Promise<Response> => {
        const login = await begin();
        return login.post('passkey', { response: passkey.sign(await askForPasskey(login, user.email), { counter }) });
      };
      for (const counter of [0, 9, 10]) await assertRefusal(await attempt(counter), 'login.passkey_refused');
      assert.equal((await attempt(11)).status, 200);
      await assertRefusal(await attempt(11), 'login.passkey_refused');
      assert.equal((await attempt(200)).status, 200);
      assert.deepEqual(await reasonsOf(user), ['counter', 'counter', 'counter', 'counter']);
      const other = await createUser(server.gatehouse.services, tenant);
      const plain = await givePasskey(server, tenant, other);
      for (let times = 0; times < 2; times += 1) {
        const login = await begin();
        assert.equal((await login.post('passkey', { response: plain.sign(await askForPasskey(login, other.email)) })).status, 200);
      }
    });

    it('login.passkey_refused: the user was suspended after choosing', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const options = await askForPasskey(login, user.email);
      await server.gatehouse.services.database.write(tenant.id, (queries) =>
        queries.updateTable('users').set({ state: 'suspended' }).where('id', '=', user.id).execute(),
      );
      await assertRefusal(await login.post('passkey', { response: passkey.sign(options) }), 'login.passkey_refused');
      assert.deepEqual(await reasonsOf(user), ['refused']);
    });

    it('login.passkey_refused: an expired challenge, and one that a newer choice replaced', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const first = await askForPasskey(login, user.email);
      const { options } = await jsonOf<{ options: RequestOptions }>(await login.post('method', { method: 'passkey' }), 200);
      await assertRefusal(await login.post('passkey', { response: passkey.sign(first) }), 'login.passkey_refused');
      await server.clock.advance(301_000);
      await assertRefusal(await login.post('passkey', { response: passkey.sign(options) }), 'login.passkey_refused');
      assert.deepEqual(await reasonsOf(user), ['challenge', 'no_challenge']);
      const { options: fresh } = await jsonOf<{ options: RequestOptions }>(await login.post('method', { method: 'passkey' }), 200);
      assert.equal((await login.post('passkey', { response: passkey.sign(fresh) })).status, 200);
    });

    it('a response of one sign-in does not open another', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const [mine, other] = [await begin(), await begin()];
      const options = await askForPasskey(mine, user.email);
      await askForPasskey(other, user.email);
      await assertRefusal(await other.post('passkey', { response: passkey.sign(options) }), 'login.passkey_refused');
      assert.equal((await mine.post('passkey', { response: passkey.sign(options) })).status, 200);
    });

    it('login.conflict: replayed, before the choice, after another choice, after expiry', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const invented: RequestOptions = {
        challenge: 'AAAA',
        timeout: 0,
        rpId: '127.0.0.1',
        allowCredentials: [],
        userVerification: 'required',
      };
      await assertRefusal(await login.post('passkey', { response: passkey.sign(invented) }), 'login.conflict');
      const options = await askForPasskey(login, user.email);
      await login.post('method', { method: 'phone' });
      await assertRefusal(await login.post('passkey', { response: passkey.sign(options) }), 'login.conflict');
      const { options: again } = await jsonOf<{ options: RequestOptions }>(await login.post('method', { method: 'passkey' }), 200);
      const response = passkey.sign(again);
      assert.equal((await login.post('passkey', { response })).status, 200);
      await assertRefusal(await login.post('passkey', { response }), 'login.conflict');
      const late = await begin();
      const last = await askForPasskey(late, user.email);
      await server.clock.advance(901_000);
      await assertRefusal(await late.post('passkey', { response: passkey.sign(last) }), 'login.conflict');
    });

    it('login.invalid_request: what is no response, and each text over its limit', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const good = passkey.sign(await askForPasskey(login, user.email));
      const part = (change: Partial<AssertionJson['response']>): unknown => ({ ...good, response: { ...good.response, ...change } });
      const wrong: readonly unknown[] = [
        'text',
        [],
        {},
        { ...good, type: 'password' },
        { ...good, rawId: 'AAAA' },
        { ...good, id: 'A'.repeat(1368), rawId: 'A'.repeat(1368) },
        { ...good, response: undefined },
        part({ signature: `${good.response.signature}=` }),
        part({ signature: 'A'.repeat(8196) }),
        part({ authenticatorData: '' }),
        part({ clientDataJSON: Buffer.from('{"type":1}').toString('base64url') }),
        part({ clientDataJSON: Buffer.from('{').toString('base64url') }),
        part({ userHandle: '*' }),
      ];
      const expected = { kind: 'response', text: 'response: expected an AuthenticationResponseJSON.' };
      for (const response of wrong) await assertRefusal(await login.post('passkey', { response }), 'login.invalid_request', expected);
      await assertRefusal(await login.post('passkey'), 'login.invalid_request', { kind: 'response', text: 'response: expected a value.' });
      await assertRefusal(await login.post('passkey', { response: part({ signature: 'A'.repeat(8192) }) }), 'login.passkey_refused');
      const longest = { ...good, id: 'A'.repeat(1364), rawId: 'A'.repeat(1364) };
      await assertRefusal(await login.post('passkey', { response: longest }), 'login.passkey_refused');
      assert.equal((await login.post('passkey', { response: good })).status, 200);
    });

    it('without the cookie there is nothing; from another origin nothing either', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const passkey = await givePasskey(server, tenant, user);
      const login = await begin();
      const response = passkey.sign(await askForPasskey(login, user.email));
      await assertRefusal(await login.post('passkey', { response }, { cookie: '' }), 'login.not_found');
      await assertRefusal(await login.post('passkey', { response }, { origin: 'https://evil.example' }), 'login.forbidden');
      assert.equal(await stateOf(login), 'choose');
    });
  });
}

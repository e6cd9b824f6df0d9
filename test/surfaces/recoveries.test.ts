// An administrator lets somebody in again who lost the phone (design 14, 3): the link, whose use ends the old phones in one step; the
// notice, whose link stops it; who may do so; and both at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { textOf } from '../support/account.ts';
import { type CreationOptions, createPasskey } from '../support/authenticator.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone, type Redeemed, testDevice } from '../support/enrolled-phone.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { stateOf } from '../support/passkeys.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
const plain = (text: string): string => text.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code)));
const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
const reason = 'Lost phone, shown passport';

interface Made extends Json {
  readonly id: string;
  readonly recovery_url: string | null;
  readonly mailed_to: string | null;
  readonly expires_at: string;
}

for (const database of databases)
  describe(`recoveries on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      const settings = { login_methods: ['passkey', 'phone', 'email_pin'], rate_limits: { login_starts_per_ip: roomyRate } };
      managed = await createTestTenant(server, { settings });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
    });
    after(() => server.close());

    const newPerson = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant);
    const phoneOf = (person: TestUser): Promise<Phone> =>
      enrolledPhone(server, { ...person, tenant: tenant.id }, createPhone(managed.baseUrl, server.clock.nowMs));
    const recover = (person: { readonly id: string }, body: Json = { mail: false }): Promise<Made> =>
      managed.make<Made>('POST', `/users/${person.id}/recoveries`, { reason, ...body });
    const tokenOf = ({ recovery_url: url }: Made): string => url!.split('#')[1]!;
    const stopUrlOf = async (address: string): Promise<string> => {
      const notices = (await mailsTo(server, address)).filter(({ subject }) => /being recovered/.test(subject));
      return /https?:\S+\/welcome\/stop\?token=[\w-]{43}/.exec(notices[0]?.text ?? '')?.[0] ?? '';
    };
    const stopTokenOf = async (address: string): Promise<string> => (await stopUrlOf(address)).split('=')[1] ?? '';
    const post = (path: string, fields: Record<string, string>, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
      fetch(`${managed.baseUrl}/welcome${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: html, ...headers },
        body: new URLSearchParams(fields),
      });
    const use = (token: string): Promise<Response> => post('', { token });
    const stop = (token: string, accept = 'application/json'): Promise<Response> => post('/stop', { token }, { accept });
    const visitAs = (cookie: string): Promise<Response> =>
      fetch(`${managed.baseUrl}/welcome/add`, { redirect: 'manual', headers: { cookie, accept: html } });
    const listed = async (person: { readonly id: string }): Promise<readonly Json[]> =>
      (await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${person.id}/recoveries`)).items;
    const events = async (type: string, person: TestUser): Promise<readonly Json[]> =>
      (await managed.make<{ readonly items: readonly Json[] }>('GET', `/events?type=${type}&limit=100`)).items.filter(
        ({ target }) => target === `user:${person.id}`,
      );
    const waitingSignIn = async (person: TestUser): Promise<TestLogin> => {
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      await login.post('identify', { identifier: person.email });
      assert.equal((await login.post('method', { method: 'phone' })).status, 200);
      return login;
    };
    /** The link of the page enrols a phone, as far as it goes. */
    const redeem = async (page: string, phone: Phone): Promise<Response> => {
      const token = /id="enroll" href="[^"]*t=([\w-]+)/.exec(plain(page))![1]!;
      return phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: phone.publicKeys() });
    };
    const enrol = async (redeemed: Response, phone: Phone): Promise<Response> => {
      const { registration_token: token, attestation } = await jsonOf<Redeemed>(redeemed, 200);
      return phone.post('/enroll', { registration_token: token, proofs: phone.proofs(attestation.challenge) });
    };
    /** The browser's answer to the page of a visit, ready to be posted. */
    const preparePasskey = async (person: TestUser, cookie: string): Promise<() => Promise<Response>> => {
      const page = await (await visitAs(cookie)).text();
      const options = JSON.parse(plain(/data-options="([^"]+)"/.exec(page)![1]!)) as CreationOptions;
      const response = createPasskey(new URL(managed.baseUrl).origin, userHandleOf(person.id), 0).register(options);
      return () => post('/passkey', { response: JSON.stringify(response) }, { cookie });
    };
    const count = async (person: TestUser, what: 'devices' | 'passkeys'): Promise<number> =>
      (await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${person.id}/${what}`)).items.filter(
        ({ state }) => state !== 'revoked',
      ).length;

    it('one is mailed: the link to the primary address and in no answer, a notice to every address, the reason to the audit', async () => {
      const person = await newPerson();
      const second = `second-${person.email}`;
      await managed.make('PATCH', `/users/${person.id}`, { emails: [{ value: person.email, primary: true }, { value: second }] });
      const recovery = await recover(person, { mail: undefined });
      assert.deepEqual([recovery.recovery_url, recovery.mailed_to], [null, person.email]);
      const hours = (Date.parse(recovery.expires_at) - server.clock.nowMs()) / 3_600_000;
      assert.ok(hours > 23.9 && hours < 24.1, String(hours));
      const mails = await mailsTo(server, person.email);
      const link = mails.find(({ subject }) => /Set up your .* sign-in again/.test(subject));
      assert.match(link?.text ?? '', new RegExp(`${managed.baseUrl}/welcome\\?for=recovery#[\\w-]{43}`));
      assert.match(link?.text ?? '', /your old phones stop working/);
      for (const address of [person.email, second]) assert.match(await stopUrlOf(address), /\/welcome\/stop\?token=/);
      assert.equal((await mailsTo(server, second)).length, 1);
      const [shown] = await listed(person);
      assert.deepEqual([shown?.['id'], shown?.['state'], shown?.['reason']], [recovery.id, 'open', reason]);
      assert.doesNotMatch(JSON.stringify(shown), /token|hash|#/);
      const [event] = await events('recovery.created', person);
      assert.deepEqual([event?.['reason'], event?.['data']], [reason, { recovery: recovery.id, mailed: true, told: 2 }]);
      const explained = await managed.make<{ readonly items: readonly Json[] }>('GET', `/events/${String(event?.['request_id'])}`);
      assert.equal(explained.items[0]?.['type'], 'recovery.created');
    });

    it('programs that look at links use nothing up and stop nothing', async () => {
      const person = await newPerson();
      const token = tokenOf(await recover(person));
      const stopUrl = await stopUrlOf(person.email);
      for (const url of [`${managed.baseUrl}/welcome?for=recovery`, `${managed.baseUrl}/welcome?token=${token}`, stopUrl])
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']) await fetch(url, { method, headers: { accept: html } });
      const page = await textOf(await fetch(stopUrl, { headers: { accept: html } }), 200);
      assert.equal(page.match(/<form/g)?.length, 1);
      assert.doesNotMatch(page, /<script/);
      assert.match(
        await textOf(await fetch(`${managed.baseUrl}/welcome?for=recovery`, { headers: { accept: html } }), 200),
        /Your old phones then stop working/,
      );
      assert.equal((await listed(person))[0]?.['state'], 'open');
      assert.equal((await use(token)).status, 303);
    });

    it('its use revokes the old phones and withdraws what waits on them; a new phone is added without asking an old one', async () => {
      const person = await newPerson();
      const old = await phoneOf(person);
      const { visitor } = await openApp(server, 'account', managed, person.email);
      const login = await waitingSignIn(person);
      const pending = await jsonOf<{ readonly items: readonly Json[] }>(await old.get('/approvals'), 200);
      assert.equal(pending.items.length, 1);
      await server.clock.advance(1000);
      const used = await use(tokenOf(await recover(person)));
      assert.deepEqual([used.status, used.headers.get('location')], [303, `${new URL(managed.baseUrl).pathname}/welcome/add`]);
      await assertRefusal(await old.get('/approvals'), 'device.key_revoked');
      assert.notEqual(await stateOf(login), 'approved');
      const rows = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('approvals').select('state').where('user_id', '=', person.id).where('state', '=', 'pending').execute(),
      );
      assert.deepEqual(rows, []);
      const [event] = await events('recovery.used', person);
      const { devices, approvals, sessions } = event!['data'] as Json;
      assert.deepEqual([devices, approvals, sessions], [1, 1, 1]);
      assert.equal((await visitor.page('')).status, 303, 'what the lost phone may have let in is over');
      const page = await textOf(await visitAs(cookieOf(used)), 200);
      assert.match(page, /id="recovered">Your old phones no longer work/);
      assert.doesNotMatch(page, /phone-added/);
      const phone = createPhone(managed.baseUrl, server.clock.nowMs);
      assert.equal((await enrol(await redeem(page, phone), phone)).status, 201);
      assert.equal((await phone.get('/self')).status, 200);
      assert.equal(await count(person, 'devices'), 1);
    });

    it('a sign-in that a phone has approved is not finished once that phone is revoked, by a recovery or an administrator', async () => {
      const ends: Readonly<Record<string, (person: TestUser, old: Phone) => Promise<unknown>>> = {
        recovery: async (person) => assert.equal((await use(tokenOf(await recover(person)))).status, 303),
        administrator: (_person, old) => managed.make('DELETE', `/devices/${old.deviceId}`),
        nothing: async () => undefined,
      };
      for (const [end, doIt] of Object.entries(ends)) {
        const person = await newPerson();
        const old = await phoneOf(person);
        const login = await waitingSignIn(person);
        const { number: match } = (await (await login.get()).json()) as Json;
        const { items } = await jsonOf<{ readonly items: readonly Json[] }>(await old.get('/approvals'), 200);
        const { id, context_sha256: context } = items[0]!;
        const answer = await old.post(`/approvals/${id}/approve`, { context_sha256: context, match }, { purpose: 'uv' });
        assert.equal(answer.status, 200);
        await server.clock.advance(1000);
        await doIt(person, old);
        const finished = await login.post('finish');
        if (end === 'nothing') assert.equal(finished.status, 200);
        else await assertRefusal(finished, 'login.conflict');
      }
    });

    it('management.not_found: used, stopped, revoked, replaced and late links are one answer; 20 at once begin one visit', async () => {
      const person = await newPerson();
      const first = tokenOf(await recover(person));
      const replaced = tokenOf(await recover(person));
      await server.clock.advance(1000);
      const last = await recover(person);
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await use(tokenOf(last))).status));
      assert.deepEqual(statuses.sort(), [303, ...Array.from({ length: 19 }, () => 404)]);
      const other = await newPerson();
      const revoked = await recover(other);
      assert.equal((await managed.call('DELETE', `/users/${other.id}/recoveries/${revoked.id}`)).status, 204);
      await server.clock.advance(1000);
      const stopped = await recover(other);
      assert.equal((await stop(await stopTokenOf(other.email))).status, 200);
      await server.clock.advance(1000);
      const late = await recover(other);
      await server.clock.advance(24 * 3600 * 1000 + 1000);
      const json = { accept: 'application/json' };
      const tokens = [first, replaced, tokenOf(last), tokenOf(revoked), tokenOf(stopped), tokenOf(late), 'A'.repeat(43)];
      const bodies = await Promise.all(tokens.map(async (token) => assertRefusal(await post('', { token }, json), 'management.not_found')));
      assert.equal(new Set(bodies).size, 1);
      assert.deepEqual(
        (await listed(other)).map(({ state }) => state),
        ['expired', 'stopped', 'revoked'],
      );
    });

    it('not_me before the use: the link ends, the phones stay; a second time says the same and does nothing', async () => {
      const person = await newPerson();
      const phone = await phoneOf(person);
      const token = tokenOf(await recover(person));
      const stopToken = await stopTokenOf(person.email);
      assert.match(await textOf(await stop(stopToken, html), 200), /It was stopped/);
      assert.deepEqual(await jsonOf(await stop(stopToken), 200), { state: 'stopped' });
      assert.equal((await use(token)).status, 404);
      assert.equal((await phone.get('/self')).status, 200);
      const stops = await events('recovery.stopped', person);
      assert.deepEqual(
        stops.map(({ reason: why, data }) => [why, (data as Json)['used']]),
        [['not_me', false]],
      );
    });

    it('not_me after the use: the visit, what it added, and sessions are gone; nothing it began can be finished', async () => {
      const person = await newPerson();
      await server.clock.advance(1000);
      const cookie = cookieOf(await use(tokenOf(await recover(person))));
      const page = await (await visitAs(cookie)).text();
      const added = createPhone(managed.baseUrl, server.clock.nowMs);
      assert.equal((await enrol(await redeem(page, added), added)).status, 201);
      assert.equal((await (await preparePasskey(person, cookie))()).status, 303);
      const { visitor } = await openApp(server, 'account', managed, person.email);
      const more = await post('/phone', {}, { cookie });
      assert.equal(more.status, 303);
      const second = createPhone(managed.baseUrl, server.clock.nowMs);
      const open = await fetch(`${managed.baseUrl}/welcome/add?phone=another`, { headers: { cookie, accept: html } });
      const begun = await jsonOf<Redeemed>(await redeem(await open.text(), second), 200);
      const another = await post('/phone', {}, { cookie });
      assert.equal(another.status, 303);
      const unused = await (await fetch(`${managed.baseUrl}/welcome/add?phone=another`, { headers: { cookie, accept: html } })).text();
      assert.equal((await stop(await stopTokenOf(person.email))).status, 200);
      assert.equal((await visitAs(cookie)).status, 404);
      assert.deepEqual([await count(person, 'devices'), await count(person, 'passkeys')], [0, 0]);
      await assertRefusal(await added.get('/self'), 'device.key_revoked');
      const proofs = second.proofs(begun.attestation.challenge);
      assert.ok((await second.post('/enroll', { registration_token: begun.registration_token, proofs })).status >= 400);
      assert.ok((await redeem(unused, createPhone(managed.baseUrl, server.clock.nowMs))).status >= 400);
      assert.equal((await visitor.page('')).status, 303, 'signed out');
      assert.equal(await count(person, 'devices'), 0);
      assert.equal((await events('recovery.stopped', person)).length, 1);
    });

    it('management.not_found: unknown and late tokens stop nothing; seven days after the end is the last', async () => {
      const person = await newPerson();
      await recover(person);
      const token = await stopTokenOf(person.email);
      await assertRefusal(await stop('A'.repeat(43)), 'management.not_found');
      assert.match(await textOf(await stop('A'.repeat(43), html), 404), /too old to stop anything/);
      const other = await newPerson();
      await recover(other);
      const inTime = await stopTokenOf(other.email);
      await server.clock.advance(8 * 24 * 3600 * 1000 - 60_000);
      assert.equal((await stop(inTime)).status, 200);
      await server.clock.advance(61_000);
      await assertRefusal(await stop(token), 'management.not_found');
    });

    it('not_me racing the use, 12 times: whoever is first, no visit and nothing added is left', async () => {
      for (let round = 0; round < 12; round += 1) {
        const person = await newPerson();
        const token = tokenOf(await recover(person));
        const stopToken = await stopTokenOf(person.email);
        const [used, ...stops] = await Promise.all([use(token), stop(stopToken), stop(stopToken), stop(stopToken)]);
        assert.deepEqual(
          stops.map(({ status }) => status),
          [200, 200, 200],
        );
        assert.ok([303, 404].includes(used!.status));
        assert.equal((await visitAs(cookieOf(used!))).status, 404);
        assert.equal((await events('recovery.stopped', person)).length, 1);
      }
    });

    it('not_me racing a passkey being added, 8 times: none is left', async () => {
      for (let round = 0; round < 8; round += 1) {
        const person = await newPerson();
        const cookie = cookieOf(await use(tokenOf(await recover(person))));
        const stopToken = await stopTokenOf(person.email);
        const addPasskey = await preparePasskey(person, cookie);
        await Promise.all([addPasskey(), stop(stopToken), post('/phone', {}, { cookie })]);
        assert.equal(await count(person, 'passkeys'), 0);
        const open = await server.gatehouse.services.database.read(tenant.id, (queries) =>
          queries.selectFrom('enrollment_tokens').select('id').where('user_id', '=', person.id).where('used_at', 'is', null).execute(),
        );
        assert.deepEqual(open, []);
      }
    });

    it('login.forbidden: a page of another site stops nothing', async () => {
      const person = await newPerson();
      const token = tokenOf(await recover(person));
      const headers = { origin: 'https://evil.example', accept: 'application/json' };
      await assertRefusal(await post('/stop', { token: await stopTokenOf(person.email) }, headers), 'login.forbidden');
      assert.equal((await use(token)).status, 303);
    });
  });

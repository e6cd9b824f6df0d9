// Sign-in under parallel requests: one finish, exactly the allowed PIN attempts, one decision. Real requests, both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { resolveApproval } from '../../src/approvals/resolve-approval.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { atEveryAccess } from '../support/at-every-access.ts';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { changeSettings, unlimited } from '../support/enrolled-phone.ts';
import { createClient, createUser, rootTenant, type TestClient, type TestUser } from '../support/fixtures.ts';
import { approveByPin, beginLogin, type TestLogin } from '../support/login.ts';
import { mailsTo, otherPin, pinOf } from '../support/mailbox.ts';
import { jsonOf } from '../support/management.ts';
import { decodeJwt, exchange, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const settings = { login_methods: ['phone', 'email_pin'], rate_limits: { ...unlimited.rate_limits, login_starts_per_ip: roomyRate } };

const tally = (values: readonly (string | number)[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
};

for (const database of databases) {
  describe(`Parallel sign-in on ${database}`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      await changeSettings(server, settings);
      tenant = await rootTenant(server.gatehouse.services);
      client = await createClient(server.gatehouse.services, tenant);
    });
    after(() => server.close());

    it('50 parallel finishes give one code', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await approveByPin(server, login, user.email);
      const responses = await Promise.all(Array.from({ length: 50 }, () => login.post('finish')));
      assert.deepEqual(tally(responses.map((response) => response.status)), { 200: 1, 409: 49 });
      const codes = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('authorization_codes').select('code_hash').where('user_id', '=', user.id).execute(),
      );
      assert.equal(codes.length, 1);
    });

    it('a finish and a cancel at once: one of them', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await approveByPin(server, login, user.email);
      const responses = await Promise.all(['finish', 'cancel', 'finish', 'cancel'].map((step) => login.post(step)));
      assert.deepEqual(tally(responses.map((response) => response.status)), { 200: 1, 409: 3 });
    });

    it('500 parallel wrong PINs: four wrong answers, the rest locked, five attempts in the database', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'email_pin' });
      const pin = await pinOf(server, user.email);
      const answers = await Promise.all(
        Array.from({ length: 500 }, async () => {
          const body = (await (await login.post('pin', { pin: otherPin(pin) })).json()) as { error: string; attempts_left?: number };
          return `${body.error} ${body.attempts_left ?? ''}`;
        }),
      );
      assert.deepEqual(tally(answers), {
        'pin_invalid 1': 1,
        'pin_invalid 2': 1,
        'pin_invalid 3': 1,
        'pin_invalid 4': 1,
        'pin_locked ': 496,
      });
      const [row] = await server.gatehouse.services.database.read(tenant.id, (queries) =>
        queries.selectFrom('pins').select('attempts').where('mail_key', '=', user.email).execute(),
      );
      assert.equal(row?.attempts, 5);
    });

    it('10 parallel right PINs, as many as one takes, approve once', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      await changeSettings(server, { ...settings, pin: { attempts_max: 10, failures_per_day_max: 100 } });
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'email_pin' });
      const pin = await pinOf(server, user.email);
      const responses = await Promise.all(Array.from({ length: 10 }, () => login.post('pin', { pin })));
      assert.deepEqual(tally(responses.map((response) => response.status)), { 200: 1, 410: 9 });
    });

    it('20 parallel requests for a PIN send one mail', async () => {
      const user = await createUser(server.gatehouse.services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      const responses = await Promise.all(Array.from({ length: 20 }, () => login.post('method', { method: 'email_pin' })));
      assert.deepEqual(tally(responses.map((response) => response.status)), { 200: 1, 429: 19 });
      assert.equal((await mailsTo(server, user.email)).length, 1);
    });

    it('management.rate_limited: of 10 who ask one person for an approval at once, known or not, three do', async () => {
      const limits = { approvals_pending_per_user: { limit: 3, period_seconds: 300 }, approvals_per_user: roomyRate };
      await changeSettings(server, { ...settings, rate_limits: { ...settings.rate_limits, ...limits } });
      const { email } = await createUser(server.gatehouse.services, tenant);
      for (const identifier of [email, 'nobody@nowhere.example']) {
        const logins = await Promise.all(Array.from({ length: 10 }, () => beginLogin(server, tenant, client)));
        for (const login of logins) await login.post('identify', { identifier });
        const answers = await Promise.all(logins.map((login) => login.post('method', { method: 'phone' })));
        assert.deepEqual(tally(answers.map(({ status }) => status)), { 200: 3, 429: 7 }, identifier);
      }
      await changeSettings(server, settings);
    });

    for (const [name, press] of [
      ['it is picked', (login: TestLogin) => login.post('method', { method: 'phone' })],
      ['a person is named', (login: TestLogin, { email }: TestUser) => login.post('identify', { identifier: email })],
    ] as const)
      it(`whenever the phone is picked while ${name}, nothing waits there but what the sign-in waits for`, async () => {
        const { database } = server.gatehouse.services;
        const asked: TestUser[] = [];
        const answers = await atEveryAccess(server, async () => {
          const user = await createUser(server.gatehouse.services, tenant);
          asked.push(user);
          const login = await beginLogin(server, tenant, client);
          await login.post('identify', { identifier: user.email });
          return {
            call: () => press(login, user),
            other: async () => assert.equal((await login.post('method', { method: 'phone' })).status, 200),
          };
        });
        for (const { id } of asked.slice(0, answers.length)) {
          const [waiting, seen] = await database.read(tenant.id, async (queries) => [
            await queries.selectFrom('approvals').select('id').where('user_id', '=', id).where('state', '=', 'pending').execute(),
            await queries.selectFrom('login_transactions').select('approval_id').where('user_id', '=', id).executeTakeFirstOrThrow(),
          ]);
          assert.deepEqual(
            waiting.map((approval) => approval.id),
            seen.approval_id === null ? [] : [seen.approval_id],
          );
        }
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 409]));
        for (const answer of answers) if (answer.status === 409) await assertRefusal(answer, 'login.conflict');
      });

    it('20 parallel decisions on one approval: one', async () => {
      const { services } = server.gatehouse;
      const user = await createUser(services, tenant);
      const login = await beginLogin(server, tenant, client);
      await login.post('identify', { identifier: user.email });
      await login.post('method', { method: 'phone' });
      const { id } = await services.database.read(tenant.id, (queries) =>
        queries.selectFrom('approvals').select('id').where('user_id', '=', user.id).executeTakeFirstOrThrow(),
      );
      const context = { nowMs: services.clock.nowMs(), requestId: 'test' };
      const outcomes = await Promise.all(
        Array.from({ length: 20 }, (_unused, index) =>
          services.database.write(tenant.id, (queries) =>
            resolveApproval(
              queries,
              tenant,
              id,
              index % 2 === 0 ? { verdict: 'approve', method: 'phone_uv' } : { verdict: 'deny', reason: 'other' },
              context,
            ),
          ),
        ),
      );
      assert.deepEqual(tally(outcomes.map((outcome) => (outcome.ok ? 'decided' : outcome.reason))), { decided: 1, not_pending: 19 });
    });
  });
}

if (databases.includes('postgres'))
  describe('two people in one sign-in at once', () => {
    for (const first of ['own', 'victim'] as const)
      it(`whoever is named meanwhile, a code of one's own mailbox lets nobody else in (${first} first)`, async () => {
        const server = await startTestServer('postgres');
        try {
          await changeSettings(server, settings);
          const tenant = await rootTenant(server.gatehouse.services);
          const client = await createClient(server.gatehouse.services, tenant);
          const newUser = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant);
          const people = { own: await newUser(), victim: await newUser() };
          const login = await beginLogin(server, tenant, client);
          /** Asks for a code; its transaction has written it and waits, because a session beside the server has the person's row. */
          const ask = async (session: pg.Client, { id, email }: TestUser) => {
            assert.equal((await login.post('identify', { identifier: email })).status, 200);
            await session.query('BEGIN');
            await session.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [id]);
            const answer = login.post('method', { method: 'email_pin' });
            await someoneWaitsFor(session);
            return {
              goOn: async (): Promise<number> => {
                await session.query('COMMIT');
                return (await answer).status;
              },
            };
          };
          await onServer(server.database.databaseUrl!, (one) =>
            onServer(server.database.databaseUrl!, async (other) => {
              const before = await ask(one, people[first]);
              const after = await ask(other, people[first === 'own' ? 'victim' : 'own']);
              const [own, victim] = first === 'own' ? [before, after] : [after, before];
              assert.deepEqual([await own.goOn(), await victim.goOn()], first === 'own' ? [409, 200] : [200, 409]);
            }),
          );
          const { own, victim } = people;
          if (first === 'own') {
            assert.deepEqual(await mailsTo(server, own.email), []);
            await login.post('pin', { pin: await pinOf(server, victim.email) });
          } else await login.post('pin', { pin: await pinOf(server, own.email) });
          const { redirect_to: location } = await jsonOf<{ readonly redirect_to: string }>(await login.post('finish'), 200);
          const { id_token: token } = await tokensOf(await exchange(tenant, client, new URL(location).searchParams.get('code') ?? ''));
          assert.equal(decodeJwt(token ?? '').claims['sub'], (first === 'own' ? victim : own).id);
        } finally {
          await server.close();
        }
      });
  });

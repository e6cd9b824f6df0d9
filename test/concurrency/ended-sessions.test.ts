// What ends all sessions of a person beside what is being made of them: whoever was approved, redeems a code or adds a way in at that moment
// is refused, or what they made is ended, too.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { domainTenant } from '../support/account.ts';
import { type CreationOptions, createPasskey } from '../support/authenticator.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createClient, createUser, type TestClient, type TestUser } from '../support/fixtures.ts';
import { approveByPin, beginLogin, signInByPin } from '../support/login.ts';
import { createTestTenant, jsonOf, type Managed } from '../support/management.ts';
import { exchange, postAs, tokensOf } from '../support/oidc.ts';
import { byPasskey } from '../support/recovery.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

for (const database of databases)
  describe(`all sessions of a person end, ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    let client: TestClient;
    before(async () => {
      server = await startTestServer(database);
      await server.gatehouse.services.jobs.stop(); // what they write is not of the requests in whose middle the sessions end
      const rates = { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate };
      managed = await createTestTenant(server, {
        settings: {
          login_methods: ['phone', 'passkey', 'email_pin'],
          extra_grants: [deviceGrant],
          recovery_codes: true,
          sso_session: 'browser',
          rate_limits: rates,
        },
      });
      tenant = await domainTenant(server, managed);
      client = await createClient(server.gatehouse.services, tenant, {
        grantTypes: ['authorization_code', 'refresh_token', cibaGrantType, deviceGrant],
        backchannelTokenDeliveryMode: 'poll',
        backchannelLogoutUri: 'https://rp.example/logout',
      });
    });
    after(() => server.close());

    const endAll = (person: TestUser): Promise<Response> => managed.call('DELETE', `/users/${person.id}/sessions`);
    const countOf = (table: string, person: TestUser): Promise<number> =>
      server.gatehouse.services.database.read(tenant.id, async (queries) => {
        const rows = await queries
          .selectFrom(table as 'grants')
          .select('tenant_id')
          .where('user_id', '=', person.id)
          .execute();
        return rows.length;
      });

    if (database === 'postgres') {
      /** `begin` waits for these rows; while it does, the sessions end, or wait for it. Then both go on. */
      const beside = async (person: TestUser, lock: string, begin: () => Promise<Response>): Promise<Response> => {
        let begun: Promise<Response> | undefined;
        await onServer(server.database.databaseUrl!, async (session) => {
          await session.query('BEGIN');
          await session.query(`${lock} FOR UPDATE`);
          begun = begin();
          await someoneWaitsFor(session);
          let isEnded = false;
          const ending = endAll(person).finally(() => {
            isEnded = true;
          });
          await someoneWaitsFor(session, 2, () => isEnded);
          await session.query('COMMIT');
          assert.equal((await ending).status, 204);
        });
        return begun!;
      };
      const clientRow = (): string => `SELECT FROM clients WHERE client_id = '${client.clientId}'`;

      it('a sign-in that is being finished leaves no session and no code', async () => {
        const person = await createUser(server.gatehouse.services, tenant);
        const login = await beginLogin(server, tenant, client);
        await approveByPin(server, login, person.email);
        const { redirect_to: to } = await jsonOf(await beside(person, clientRow(), () => login.post('finish')), 200);
        await assertRefusal(await exchange(tenant, client, new URL(String(to)).searchParams.get('code') ?? ''), 'token.code_invalid');
        const { sessions } = await liveOf(person);
        assert.equal(sessions, 0);
      });

      it('a CIBA request that is being redeemed leaves no grant', async () => {
        const person = await createUser(server.gatehouse.services, tenant);
        const asked = await jsonOf(await postAs(tenant, client, 'bc-authorize', { scope: 'openid', login_hint: person.email }), 200);
        await decide(server, tenant, person, 'approve');
        const form = { grant_type: cibaGrantType, auth_req_id: String(asked['auth_req_id']) };
        await jsonOf(await beside(person, clientRow(), () => postAs(tenant, client, 'token', form)), 200);
        const { grants } = await liveOf(person);
        assert.equal(grants, 0);
      });

      it('a code that is being redeemed leaves no grant, and its client is told', async () => {
        const person = await createUser(server.gatehouse.services, tenant);
        const to = await signInByPin(server, await beginLogin(server, tenant, client), person.email);
        const redeem = (): Promise<Response> => exchange(tenant, client, to.searchParams.get('code') ?? '');
        await tokensOf(await beside(person, clientRow(), redeem));
        const { grants, told } = await liveOf(person);
        assert.deepEqual({ grants, told }, { grants: 0, told: 1 });
      });

      const liveOf = (person: TestUser): Promise<{ readonly sessions: number; readonly grants: number; readonly told: number }> =>
        server.gatehouse.services.database.read(tenant.id, async (queries) => ({
          sessions: (
            await queries.selectFrom('sso_sessions').select('id').where('user_id', '=', person.id).where('ended_at', 'is', null).execute()
          ).length,
          grants: (
            await queries.selectFrom('grants').select('id').where('user_id', '=', person.id).where('revoked_at', 'is', null).execute()
          ).length,
          told: (
            await queries
              .selectFrom('logout_notices as n')
              .innerJoin('grants as g', 'g.id', 'n.grant_id')
              .select('n.grant_id')
              .where('g.user_id', '=', person.id)
              .execute()
          ).length,
        }));
    }

    /** A way in that somebody at their account page adds, and how many such there are. */
    type Adding = readonly [
      string,
      (at: { readonly person: TestUser; readonly visitor: AppVisitor }) => Promise<() => Promise<Response>>,
      string,
    ];
    const ways: readonly Adding[] = [
      [
        'a link for a phone',
        async ({ visitor }) =>
          () =>
            visitor.submit('/devices/add', {}),
        'enrollment_tokens',
      ],
      [
        'recovery codes',
        async ({ visitor }) =>
          () =>
            visitor.submit('/recovery-codes', {}),
        'recovery_codes',
      ],
      [
        'a passkey',
        async ({ person, visitor }) => {
          const page = (await (await visitor.page('/passkeys/new')).text()).replace(/&#(\d+);/g, (_match, code) =>
            String.fromCharCode(Number(code)),
          );
          const options = JSON.parse(/data-options="(\{.+?\})"/.exec(page)?.[1] ?? '') as CreationOptions;
          const passkey = createPasskey(new URL(tenant.baseUrl).origin, userHandleOf(person.id), 0);
          return () => visitor.submit('/passkeys', { name: 'Laptop', response: JSON.stringify(passkey.register(options)) });
        },
        'passkeys',
      ],
      [
        'a device without a browser',
        async ({ visitor }) => {
          const { user_code: code } = await jsonOf(await postAs(tenant, client, 'device-authorization', { scope: 'openid' }), 200);
          return () => visitor.submit('/device/decision', { user_code: String(code), decision: 'allow' });
        },
        'device_authorizations',
      ],
    ];
    for (const [what, prepare, table] of ways)
      it(`whoever adds ${what} at that moment adds none, whichever write the end comes before`, async () => {
        const services = server.gatehouse.services;
        const { write } = services.database;
        for (let at = 0; ; at += 1) {
          const person = await byPasskey(server, managed, tenant);
          const add = await prepare({ person, visitor: person.visitor });
          const [before, writes] = [await countOf(table, person), { seen: 0, left: undefined as number | undefined }];
          Object.assign(services.database, {
            write: async (...args: Parameters<typeof write>) => {
              writes.seen += 1;
              if (writes.seen === at + 1) {
                Object.assign(services.database, { write });
                assert.equal((await endAll(person)).status, 204);
                writes.left = await countOf(table, person);
              }
              return write(...args);
            },
          });
          await (await add()).text();
          Object.assign(services.database, { write });
          if (writes.left === undefined) {
            assert.ok(at > 0 && (await countOf(table, person)) > before, `${what} is added where nothing ends`);
            return;
          }
          assert.equal(await countOf(table, person), writes.left, `before write ${at + 1}`);
        }
      });
  });

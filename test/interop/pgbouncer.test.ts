// Two nodes behind the real PgBouncer in transaction mode, with far fewer connections to PostgreSQL than the nodes open: no request
// fails, every transaction works as the service role on its own tenant, and one-time use holds.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import type { TenantId } from '../../src/domain/ids.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createTestDatabase, databases, type TestDatabase } from '../support/databases.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { createTestClient, createTestTenant } from '../support/management.ts';
import { basic, formBody, issueCode, redirectUri, verifier } from '../support/oidc.ts';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const serverConnections = 4;

if (databases.includes('postgres') && hasPgBouncer)
  describe('PgBouncer in transaction mode', () => {
    let own: TestDatabase;
    let bouncer: PgBouncer;
    let nodes: readonly TestServer[];
    before(async () => {
      own = await createTestDatabase('postgres');
      bouncer = await startPgBouncer(own.databaseUrl!, serverConnections);
      const flags = { database_prepare: bouncer.keepsStatements ? 'on' : 'off' };
      const database = { ...own, databaseUrl: bouncer.url };
      nodes = [await startTestServer('postgres', { database, flags }), await startTestServer('postgres', { database, flags })];
    });
    after(async () => {
      for (const node of nodes) await node.close();
      await bouncer.stop();
      await own.drop();
    });

    it('management writes and reads, tokens and introspection of many at once: none fails', async () => {
      const tenant = await createTestTenant(nodes[0]!);
      const client = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        scopes: ['users:read'],
      });
      const statuses = await Promise.all(
        Array.from({ length: 200 }, async (_, turn) => {
          if (turn % 4 === 0) {
            const email = `u${turn}@people.example`;
            return (await tenant.call('POST', '/users', { user_name: email, emails: [{ value: email }] })).status;
          }
          if (turn % 4 === 1) return (await tenant.call('GET', '/users?limit=5')).status;
          const { client_id, client_secret } = client;
          const base = `${nodes[turn % 2]!.url}/t/${tenant.slug}/v1/idp/oidc`;
          const token = await fetch(`${base}/token`, {
            method: 'POST',
            body: formBody({ grant_type: 'client_credentials', client_id, client_secret }),
          });
          const { access_token } = (await token.json()) as { access_token: string };
          const shown = await fetch(`${base}/introspect`, {
            method: 'POST',
            body: formBody({ token: access_token, client_id, client_secret }),
          });
          return ((await shown.json()) as { active: boolean }).active ? token.status : 500;
        }),
      );
      assert.deepEqual([...new Set(statuses)].sort(), [200, 201]);
    });
    it('each transaction is of its tenant and of the service role, whichever connection it gets', async () => {
      const [a, b] = [randomUUID() as TenantId, randomUUID() as TenantId];
      const { database } = nodes[0]!.gatehouse.services;
      for (const tenant of [a, b])
        await database.write(tenant, (queries) => insertAuditEvent(queries, tenant, Date.now(), { type: 'user.updated' }));
      await Promise.all(
        Array.from({ length: 100 }, async (_, turn) => {
          const tenant = turn % 2 === 0 ? a : b;
          const rows = await database.read(tenant, (queries) => queries.selectFrom('audit_events').select('tenant_id').execute());
          assert.deepEqual(rows, [{ tenant_id: tenant }]);
          const found = await database.systemRead((queries) =>
            sql<{
              role: string;
              tenant: string | null;
            }>`SELECT current_user AS role, current_setting('gatehouse.tenant', true) AS tenant`.execute(queries),
          );
          assert.equal(found.rows[0]!.role, 'gatehouse_service');
          assert.ok((found.rows[0]!.tenant ?? '') === '', 'a tenant of another transaction');
        }),
      );
    });
    it('one code redeemed 100 times over both nodes gives one token', async () => {
      const { services } = nodes[0]!.gatehouse;
      const root = await rootTenant(services);
      const client = await createClient(services, root);
      const code = await issueCode(nodes[0]!, root, client, await createUser(services, root));
      await nodes[1]!.gatehouse.services.jobs.runNow('configuration-pulse');
      const statuses = await Promise.all(
        Array.from({ length: 100 }, async (_, turn) => {
          const response = await fetch(`${nodes[turn % 2]!.url}/v1/idp/oidc/token`, {
            method: 'POST',
            body: formBody({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }),
            headers: { authorization: basic(client) },
          });
          await response.body?.cancel();
          return response.status;
        }),
      );
      assert.equal(statuses.filter((status) => status === 200).length, 1);
      assert.ok(
        statuses.every((status) => status === 200 || status === 400),
        [...new Set(statuses)].join(),
      );
    });
  });

// What a node asks of PostgreSQL, counted by PostgreSQL: transactions of an idle node, and write transactions of a sign-in and of a
// refresh. The server is this test's own, so that nobody else is counted.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createTestDatabase, databases } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser } from '../support/fixtures.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { challenge, exchange, formBody, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { hasPrivatePostgres, type PrivatePostgres, startPrivatePostgres } from '../support/private-postgres.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startWorkerNode } from '../support/worker-node.ts';

/** PostgreSQL's sessions that fall idle report what they did ten seconds later. */
const reportedAfterMs = 11_000;
const idleSeconds = 20;
const nodes = 2;
const signInWritesMax = 6;
const refreshes = 5;

if (databases.includes('postgres') && hasPrivatePostgres)
  describe('transactions', () => {
    let postgres: PrivatePostgres;
    let one: TestServer;
    let watcher: pg.Client;
    before(async () => {
      postgres = await startPrivatePostgres();
      const own = await createTestDatabase('sqlite'); // for its folder
      one = await startTestServer('postgres', { database: { ...own, databaseUrl: postgres.url, setOffsetMs: async () => undefined } });
      watcher = new pg.Client({ connectionString: postgres.url });
      await watcher.connect();
      await watcher.query('ALTER SYSTEM SET autovacuum = off'); // it writes when it likes
      await watcher.query('SELECT pg_reload_conf()');
    });
    after(async () => {
      await watcher.end();
      await one.close();
      await one.database.drop();
      await postgres.remove();
    });
    const transactions = async (): Promise<number> => {
      const { rows } = await watcher.query(
        'SELECT (xact_commit + xact_rollback)::int AS n FROM pg_stat_database WHERE datname = current_database()',
      );
      return rows[0].n;
    };
    /** Transactions that wrote, so far: those that got a number. */
    const writes = async (): Promise<number> =>
      Number((await watcher.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS next')).rows[0].next);

    it('idle nodes, one of three workers: at most one a second each', { timeout: 120_000 }, async () => {
      const node = await startWorkerNode(one, 3);
      try {
        await wait(reportedAfterMs);
        const before = await transactions();
        await wait(idleSeconds * 1000);
        const made = (await transactions()) - before;
        assert.ok(made <= nodes * idleSeconds, `${made} of ${nodes} nodes in ${idleSeconds} s`);
      } finally {
        await node.kill();
      }
    });

    it(`a whole sign-in by mail writes in at most ${signInWritesMax} transactions, a refresh in one`, async () => {
      const { services } = one.gatehouse;
      await services.jobs.stop(); // what is written once a second for all is not of a request
      const tenant = await createOtherTenant(services, 'counted', { login_methods: ['email_pin'] });
      const client = await createClient(services, tenant);
      const user = await createUser(services, tenant);
      const query = formBody({
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        scope: 'openid profile email offline_access',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      });
      const before = await writes();
      const login = openLogin(await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' }));
      const answer = await signInByPin(one, login, user.email);
      let tokens = await tokensOf(await exchange(tenant, client, answer.searchParams.get('code')!));
      const signedIn = await writes();
      assert.ok(signedIn - before <= signInWritesMax, `${signedIn - before} write transactions`);
      for (let turn = 0; turn < refreshes; turn += 1) tokens = await tokensOf(await refresh(tenant, client, tokens.refresh_token));
      assert.equal((await writes()) - signedIn, refreshes);
    });
  });

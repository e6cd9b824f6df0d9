// E6: kill -9 of PostgreSQL under load. Every acknowledged rotation and revocation is still there afterwards, requests in the
// meantime are 503 with Retry-After, the server neither ends nor needs a restart and answers within 5 s of the database.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases, onServer, type TestDatabase } from '../support/databases.ts';
import { createClient, createUser, rootTenant, type TestClient } from '../support/fixtures.ts';
import { createDataFolder, type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { basic, exchange, formBody, issueCode, tokensOf } from '../support/oidc.ts';
import { hasPrivatePostgres, type PrivatePostgres, startPrivatePostgres } from '../support/private-postgres.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer } from '../support/server.ts';

const familiesCount = 8;
const revocableCount = 60;
/** PostgreSQL is killed after this many acknowledged writes, each time. */
const writesPerLife = [60, 7];

interface Family {
  token: string;
  /** True: its last rotation was not answered by success or refusal, so it may have happened. */
  inFlight: boolean;
}

if (databases.includes('postgres') && hasPrivatePostgres)
  describe('kill -9 of PostgreSQL under load', () => {
    let postgres: PrivatePostgres;
    let folder: ReturnType<typeof createDataFolder>;
    let database: TestDatabase;
    let client: TestClient;
    let running: GatehouseProcess | undefined;
    const families: Family[] = [];
    const revocable: string[] = [];
    const revoked: string[] = [];
    /** Every refresh token a client was given, newest last. */
    const acknowledged: string[] = [];
    before(async () => {
      postgres = await startPrivatePostgres();
      folder = createDataFolder();
      const nothing = async (): Promise<void> => undefined;
      database = { dataFolder: folder.path, databaseUrl: postgres.url, setOffsetMs: nothing, drop: nothing };
      const server = await startTestServer('postgres', { database });
      const { services } = server.gatehouse;
      const root: Tenant = await rootTenant(services);
      client = await createClient(services, root);
      const user = await createUser(services, root);
      const refreshToken = async (): Promise<string> =>
        (await tokensOf(await exchange(root, client, await issueCode(server, root, client, user)))).refresh_token!;
      for (let made = 0; made < familiesCount; made += 1) families.push({ token: await refreshToken(), inFlight: false });
      for (let made = 0; made < revocableCount; made += 1) revocable.push(await refreshToken());
      await server.close();
    });
    after(async () => {
      running?.signal('SIGKILL');
      await running?.ended;
      await postgres?.remove();
      folder?.remove();
    });

    const post = (url: string, endpoint: string, fields: Readonly<Record<string, string>>): Promise<Response> =>
      fetch(`${url}/v1/idp/oidc/${endpoint}`, { method: 'POST', body: formBody(fields), headers: { authorization: basic(client) } });
    const refresh = (url: string, token: string): Promise<Response> =>
      post(url, 'token', { grant_type: 'refresh_token', refresh_token: token });
    /** Rotates until the database is gone; 503 is the only other answer. */
    const rotateOn = async (url: string, family: Family, acknowledge: () => void): Promise<void> => {
      for (;;) {
        family.inFlight = true;
        const response = await refresh(url, family.token);
        if (response.status === 503) return void (await assertRefusal(response, 'oauth.unavailable'));
        const body = (await response.json()) as { refresh_token?: string };
        assert.equal(response.status, 200, JSON.stringify(body));
        family.token = body.refresh_token!;
        family.inFlight = false;
        acknowledged.push(family.token);
        acknowledge();
      }
    };
    const revokeOn = async (url: string, acknowledge: () => void): Promise<void> => {
      for (let token = revocable.pop(); token !== undefined; token = revocable.pop()) {
        const response = await post(url, 'revoke', { token });
        if (response.status === 503) return void (await assertRefusal(response, 'oauth.unavailable'));
        assert.equal(response.status, 200);
        revoked.push(token);
        acknowledge();
      }
    };
    /** Kills PostgreSQL in the middle of the load and waits until every client has heard of it. */
    const killUnderLoad = async (url: string, writes: number): Promise<void> => {
      let count = 0;
      const enough = Promise.withResolvers<void>();
      const acknowledge = (): void => {
        count += 1;
        if (count === writes) enough.resolve();
      };
      const load = Promise.all([...families.map((family) => rotateOn(url, family, acknowledge)), revokeOn(url, acknowledge)]);
      await Promise.race([enough.promise, load]); // a failing client must not be waited for
      await postgres.kill();
      await load;
    };
    const recover = async (url: string): Promise<void> => {
      while ((await fetch(`${url}/health/ready`)).status !== 200);
    };

    it('nothing acknowledged is lost, 503 meanwhile, back by itself', async () => {
      const environment = { GATEHOUSE_DATABASE_URL: postgres.url, GATEHOUSE_DATABASE_TIMEOUT_MS: '2000' };
      running = serveEmbedded(folder.path, { environment });
      const url = await running.ready;
      for (const writes of writesPerLife) {
        await killUnderLoad(url, writes);
        await assertRefusal(await refresh(url, families[0]!.token), 'oauth.unavailable');
        await assertRefusal(await fetch(`${url}/health/ready`), 'management.unavailable');
        assert.equal((await fetch(`${url}/health/live`)).status, 200);
        await postgres.start();
        await recover(url);
        await assertAllStored();
        await settle(url);
      }
      assert.ok(revoked.length > 0 && acknowledged.length > writesPerLife[0]! / 2, 'there was something to lose');
      for (const token of revoked) {
        await assertRefusal(await refresh(url, token), 'token.refresh_invalid');
        assert.deepEqual(await (await post(url, 'introspect', { token })).json(), { active: false });
      }
      running.signal('SIGTERM');
      assert.equal((await running.ended).code, 0, running.stderr());
    });

    /** Every rotation a client heard of is in the database, the ones of the last milliseconds too. */
    async function assertAllStored(): Promise<void> {
      await onServer(postgres.url, async (connection) => {
        const { rows } = await connection.query('SELECT token_hash FROM refresh_tokens');
        const stored = new Set(rows.map((row) => row.token_hash));
        assert.deepEqual(
          acknowledged.filter((token) => !stored.has(hashSecret(token))),
          [],
        );
      });
    }

    /** An acknowledged newest token works; one in flight at the kill was rotated or not, and a used one ends its family. */
    async function settle(url: string): Promise<void> {
      for (const family of [...families]) {
        const response = await refresh(url, family.token);
        if (response.status === 200) family.token = ((await response.json()) as { refresh_token: string }).refresh_token;
        else {
          await assertRefusal(response, 'token.refresh_invalid');
          assert.ok(family.inFlight, 'an acknowledged newest token was lost');
          families.splice(families.indexOf(family), 1);
        }
        family.inFlight = false;
      }
    }
  });

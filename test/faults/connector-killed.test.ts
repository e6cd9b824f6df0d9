// A node that provisions people and a group by SCIM dies by SIGKILL, again and again, each time with an account or a group made that nobody
// recorded: at the end the target has everybody once, and the group with every member once, and a further run sends nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { freePort } from '../support/free-port.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { startLaxScimService } from '../support/lax-scim-service.ts';
import { callJson, clientCredentialsToken, type Json, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';

const people = 300;
const core = 'urn:ietf:params:scim:schemas:core:2.0:';
/** When the node dies: the target has kept this many of these requests since it started, and did not answer the last. */
const deaths = [
  ['POST /Users', 40],
  ['POST /Users', 80],
  ['POST /Users', 110],
  ['POST /Groups', 1],
  ['PATCH /Groups', 1],
] as const;

const everyName = Array.from({ length: people }, (_, at) => `person${at}`);
const emailOf = (name: string): string => `${name}@example.com`;
const everybody = {
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
  Operations: [
    ...everyName.map((userName) => ({
      method: 'POST',
      path: '/Users',
      bulkId: userName,
      data: { schemas: [`${core}User`], userName, emails: [{ value: emailOf(userName), primary: true }] },
    })),
    {
      method: 'POST',
      path: '/Groups',
      bulkId: 'staff',
      data: { schemas: [`${core}Group`], displayName: 'Staff', members: everyName.map((one) => ({ value: `bulkId:${one}` })) },
    },
  ],
};

/** The minute is over for which the node that died had its work in hand. */
async function passMinute({ dataFolder, databaseUrl }: TestDatabase): Promise<void> {
  const statements = [`DELETE FROM instance WHERE key LIKE 'lease:connector:%'`, 'UPDATE connector_links SET claimed_until = 0'];
  if (databaseUrl !== undefined)
    return onServer(databaseUrl, async (connection) => {
      for (const statement of statements) await connection.query(statement);
    });
  const database = new DatabaseSync(join(dataFolder, 'gatehouse.db'), { timeout: 10_000 });
  for (const statement of statements) database.exec(statement);
  database.close();
}

for (const name of databases)
  describe(`a node killed while it provisions, ${name}`, () => {
    it('everybody is at the target once, and a further run sends nothing', { timeout: 300_000 }, async () => {
      const [database, target, port] = [await createTestDatabase(name), await startLaxScimService(), await freePort()];
      const url = `http://127.0.0.1:${port}`;
      const environment = {
        GATEHOUSE_PUBLIC_URL: url,
        GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8',
        ...(database.databaseUrl === undefined ? {} : { GATEHOUSE_DATABASE_URL: database.databaseUrl }),
      };
      const start = async (): Promise<GatehouseProcess> => {
        const started = serveEmbedded(database.dataFolder, { args: ['--listen', `127.0.0.1:${port}`], environment });
        await started.ready;
        return started;
      };
      let node = await start();
      try {
        const tenant = await jsonOf(await callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' }), 201);
        const { client_id: id, client_secret: secret } = tenant['admin_client'] as { client_id: string; client_secret: string };
        const base = `${url}/t/acme`;
        const [token, scimToken] = [
          await clientCredentialsToken(base, id, secret),
          await clientCredentialsToken(base, id, secret, 'scim:write'),
        ];
        /** A machine that is busy refuses what it has no time for. */
        const call = async (at: string, path: string, { body, bearer = token }: { body?: Json; bearer?: string } = {}): Promise<Json> => {
          for (;;) {
            const answer = await callJson(`${base}${path}`, bearer, at, body);
            if (answer.status !== 503) return jsonOf(answer, path === '/v1/management/connectors' ? 201 : 200);
            await answer.body?.cancel();
          }
        };
        const { Operations: made } = await call('POST', '/scim/v2/Bulk', { body: everybody, bearer: scimToken });
        assert.deepEqual(new Set((made as readonly Json[]).map(({ status }) => status)), new Set(['201']));
        const fields = { name: 'Payroll', base_url: target.url, auth: { type: 'bearer', token: 'x' }, groups: ['Staff'], rate: 200 };
        const { id: connector } = await call('POST', '/v1/management/connectors', { body: fields });
        const status = (): Promise<Json> => call('GET', `/v1/management/connectors/${connector}/status`);
        for (const [request, times] of deaths) {
          let left = times;
          const dying = Promise.withResolvers<void>();
          target.onKept = (said) => {
            if (!said.startsWith(request)) return;
            left -= 1;
            if (left > 0) return;
            dying.resolve();
            return node.ended.then(() => undefined);
          };
          await dying.promise;
          target.onKept = () => undefined;
          node.signal('SIGKILL');
          await node.ended;
          await passMinute(database);
          node = await start();
        }
        await until(async () => (await status())['state'] === 'idle');
        assert.deepEqual((await status())['links'], { pending: 0, linked: people + 1, conflict: 0, failed: 0, ignored: 0, off: 0 });
        const names = [...target.users.values()].map(({ userName }) => userName);
        assert.deepEqual(names.toSorted(), everyName.toSorted());
        assert.deepEqual(
          [...target.groups.values()].map(({ displayName }) => displayName),
          ['Staff'],
        );
        const members = [...target.groups.values()]
          .flatMap((group) => group['members'] as readonly Json[])
          .map(({ value }) => String(value));
        assert.deepEqual(members.toSorted(), [...target.users.keys()].toSorted());
        target.asked.length = 0;
        await call('POST', `/v1/management/connectors/${connector}/sync`);
        await until(async () => (await status())['state'] === 'idle');
        assert.deepEqual(target.asked, []);
      } finally {
        node.signal('SIGKILL');
        await node.ended;
        await target.close();
        await database.drop();
      }
    });
  });

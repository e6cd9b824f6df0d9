// The program, whose deliveries have a thread, reads a directory there, and dies by SIGKILL in the middle, twice: at the end everybody came once,
// each with their link, and a further run writes nothing.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createTestDatabase, databases, onServer, type TestDatabase } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type GatehouseProcess, serveEmbedded } from '../support/gatehouse-process.ts';
import { callJson, clientCredentialsToken, type Json, jsonOf } from '../support/management.ts';
import { operatorToken } from '../support/server.ts';
import { personLdif, slapdPath, slapdPeople, slapdReader, startSlapd } from '../support/slapd.ts';

const people = 6000;
const diesAt = [1, 2500];

/** The time is over for which the node that died had the run. */
async function passTime({ dataFolder, databaseUrl }: TestDatabase): Promise<void> {
  const statements = ['UPDATE directory_states SET next_at = 0', 'UPDATE tenants SET directories_due_at = 0'];
  if (databaseUrl !== undefined)
    return onServer(databaseUrl, async (connection) => {
      for (const statement of statements) await connection.query(statement);
    });
  const database = new DatabaseSync(join(dataFolder, 'gatehouse.db'), { timeout: 10_000 });
  for (const statement of statements) database.exec(statement);
  database.close();
}

if (slapdPath !== undefined)
  for (const name of databases)
    describe(`a node killed while it reads a directory, ${name}`, () => {
      it('everybody came once, and a further run writes nothing', { timeout: 300_000 }, async () => {
        const ldif = Array.from({ length: people }, (_, at) => personLdif(`p${at}`)).join('\n');
        const [database, slapd, port] = [await createTestDatabase(name), await startSlapd({ ldif }), await freePort()];
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
          const tenant = await jsonOf(
            await callJson(`${url}/v1/system/tenants`, operatorToken, 'POST', { slug: 'acme', name: 'Acme' }),
            201,
          );
          const { client_id: clientId, client_secret: secret } = tenant['admin_client'] as { client_id: string; client_secret: string };
          const token = await clientCredentialsToken(`${url}/t/acme`, clientId, secret);
          const call = async (method: string, path: string, body?: Json): Promise<Json> =>
            (await (await callJson(`${String(tenant['management_api'])}${path}`, token, method, body)).json()) as Json;
          const { id } = await call('POST', '/directories', {
            ...{ name: 'Corp', kind: 'openldap', url: slapd.url, ca: slapd.ca, base_dn: slapdPeople },
            ...{ bind_dn: slapdReader.dn, bind_password: slapdReader.password },
          });
          const statusOf = (): Promise<Json> => call('GET', `/directories/${String(id)}/status`);
          for (const count of diesAt) {
            await eventually(async () => Number((await statusOf())['users']) >= count);
            node.signal('SIGKILL');
            await node.ended;
            await passTime(database);
            node = await start();
          }
          const last = (await eventually(async () => (await statusOf())['last_run'])) as Json;
          assert.deepEqual([last['read'], last['full'], last['ended'], last['conflicts']], [people, true, 0, 0]);
          assert.ok(Number(last['created']) < people && Number(last['unchanged']) > 0, 'what came before the node died stayed');
          const { users, links } = await statusOf();
          assert.deepEqual([users, (links as Json)['linked']], [people, people]);
          const { directory } = await call('GET', '/statistics');
          assert.equal((directory as Json)['users'], people);
          await call('POST', `/directories/${String(id)}/sync`, { full: true });
          const again = (await eventually(async () => {
            const now = (await statusOf())['last_run'] as Json;
            return now['began_at'] === last['began_at'] ? undefined : now;
          })) as Json;
          assert.deepEqual([again['unchanged'], again['created'], again['updated']], [people, 0, 0]);
        } finally {
          node.signal('SIGKILL');
          await node.ended;
          await slapd.stop();
          await database.drop();
        }
      });
    });

// `gatehouse apply --server`: a job of CI makes a tenant follow a document on a server elsewhere. It has a token of its platform, and neither a
// secret nor the database.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { managementBodyBytesMax } from '../../src/contract/limits.ts';
import { type KeyPair, makeKeyPair } from '../support/client-credentials.ts';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { runCommand } from '../support/commands.ts';
import { databases } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import type { Ended } from '../support/gatehouse-process.ts';
import type { Json } from '../support/management.ts';
import { roomyRate } from '../support/roomy-rate.ts';

const issuer = 'https://gitlab.example';
const document = `gatehouse: 1
resources:
  - identifier: https://orders.example
    name: Orders
clients:
  - client_id: portal
    name: Portal
    redirect_uris: [https://portal.example/callback]
`;

for (const database of databases)
  describe(`apply --server on ${database}`, () => {
    let running: Running;
    let key: KeyPair;
    let folder: string;
    let deployId: string;
    const file = (name: string, text: string): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return path;
    };
    /** In an environment that says nothing of a database. */
    const job = (...args: readonly string[]): Promise<Ended> => runCommand(folder, args, {});
    const tokenFile = async (claims: Json = {}): Promise<string> => {
      const token = new SignJWT({ project_id: '22', ref_protected: 'true', ...claims }).setProtectedHeader({ alg: key.alg, kid: key.kid });
      return file(
        'token',
        `${await token.setIssuer(issuer).setSubject('job').setAudience(running.url).setIssuedAt().setExpirationTime('5m').sign(key.key)}\n`,
      );
    };
    const apply = async (...more: readonly string[]): Promise<Ended> =>
      job('apply', '-f', file('acme.yaml', document), '--server', running.url, '--token-file', await tokenFile(), ...more);
    before(async () => {
      running = await startBesideCommands(database);
      folder = running.database.dataFolder;
      key = makeKeyPair('RS256');
      const settings = { rate_limits: { client_auth_failures_per_ip: roomyRate } };
      await running.json('api', 'PATCH', '/settings', '--body', JSON.stringify(settings));
      const workload = ['--workload', `gitlab:project_id=22,issuer=${issuer}`];
      const made = await running.json<{ client_id: string; workload_issuers: readonly { id: string }[] }>(
        'client',
        'create',
        'Deploy',
        ...workload,
        '--every-capability',
      );
      deployId = made.client_id;
      const keys = `keys=${JSON.stringify({ jwks: { keys: [key.publicJwk] } })}`;
      await running.json('workload-issuer', 'change', made.workload_issuers[0]!.id, keys);
      await eventually(
        async () =>
          (await job('plan', '-f', file('empty.yaml', 'gatehouse: 1\n'), '--server', running.url, '--token-file', await tokenFile()))
            .code === 0,
      );
    });
    after(() => running.stop());

    const by = (name: string, server: string, token: string): readonly string[] => ['-f', name, '--server', server, '--token-file', token];

    it('a plan says what it would do and does nothing; apply does it, once', async () => {
      const place = by(file('acme.yaml', document), `${running.url}/`, await tokenFile());
      const planned = await job('plan', ...place, '--exit-code');
      assert.equal(planned.code, 3, planned.stderr);
      assert.match(
        planned.stdout,
        /^\+ resource \S+ https:\/\/orders\.example\n\+ client portal Portal\nPlan: 2 to create, 0 to change, 0 to delete/,
      );
      const done = await apply();
      assert.equal(done.code, 0, done.stderr);
      assert.match(
        done.stdout,
        /\nSecret of client portal, shown once: [\w-]{43}\nDone: 2 created, 0 changed, 0 deleted, 0 unchanged\.\n$/,
      );
      assert.equal((await running.json<Json>('api', 'GET', '/clients/portal'))['name'], 'Portal');
      const { changes, secrets, unchanged } = JSON.parse((await apply('--json')).stdout) as Json;
      assert.deepEqual([changes, secrets, unchanged], [[], [], 2]);
    });

    it('what is not in a section goes with --prune alone', async () => {
      await apply();
      const fewer = file('fewer.yaml', 'gatehouse: 1\nresources:\n  - { identifier: https://stock.example, name: Stock }\n');
      const place = by(fewer, running.url, await tokenFile());
      assert.match((await job('apply', ...place)).stdout, /Done: 1 created, 0 changed, 0 deleted/);
      const pruned = await job('apply', ...place, '--prune');
      assert.match(pruned.stdout, /^- resource \S+ https:\/\/orders\.example\nDone: 0 created, 0 changed, 1 deleted, 1 unchanged\./);
    });

    it('a token of another job, and a client that may do less, are refused', async () => {
      const place = by(file('acme.yaml', document), running.url, await tokenFile({ project_id: '23' }));
      const refused = await job('apply', ...place);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, /expected a token, found 401 .*invalid_client.*\n.*gatehouse explain /);
      const workloads = [{ issuer, claims: { project_id: '23' } }];
      const less = { name: 'Reads', token_endpoint_auth_method: 'federated_jwt', grant_types: ['client_credentials'], workloads };
      await running.json('api', 'POST', '/clients', '--body', JSON.stringify({ ...less, scopes: ['clients:read'] }));
      const lacking = await job('apply', ...place);
      assert.deepEqual([lacking.code, lacking.stdout], [1, '']);
      assert.match(lacking.stderr, /expected the document to be followed, found 403 .*lacks the capability/);
    });

    it('where two clients are the workload, one is named', async () => {
      const workloads = [{ issuer, claims: { project_id: '22' } }];
      const twin = { name: 'Twin', token_endpoint_auth_method: 'federated_jwt', grant_types: ['client_credentials'], workloads };
      const { client_id: id } = await running.json<Json>('api', 'POST', '/clients', '--body', JSON.stringify(twin));
      assert.match((await apply()).stderr, /expected a token, found 401/);
      assert.equal((await apply('--client-id', deployId)).code, 0);
      await running.json('api', 'DELETE', `/clients/${String(id)}`).catch(() => undefined); // answers nothing
    });

    it('mistakes are told before anything is sent', async () => {
      const [good, token] = [file('acme.yaml', document), await tokenFile()];
      const fails = async (code: number, message: RegExp, ...args: readonly string[]): Promise<void> => {
        const ended = await job('apply', ...args);
        assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
        assert.match(ended.stderr, message);
      };
      await fails(2, /--token-file: expected a file with the token .*, found none/, '-f', good, '--server', running.url);
      await fails(2, /--token-file: expected a file to read, found none at/, ...by(good, running.url, join(folder, 'none')));
      await fails(2, /--token-file: expected a file where the document is standard input, found -/, ...by('-', running.url, '-'));
      for (const server of [
        'http://id.example.com',
        'id.example.com',
        'ftp://id.example.com',
        'https://a:b@id.example.com',
        'https://id.example.com?x',
      ])
        await fails(2, /--server: expected an address such as/, ...by(good, server, token));
      await fails(1, /--server: expected a server at http:\/\/127\.0\.0\.1:1, found none/, ...by(good, 'http://127.0.0.1:1', token));
      const wrong = file('wrong.yaml', document.replace('name: Portal', 'name: 7'));
      await fails(1, /clients\[0\]\.name: expected .*\(line 7\)/, ...by(wrong, running.url, token));
      const many = Array.from(
        { length: 3_000 },
        (_, at) => `  - { identifier: "https://orders-${at}.example", name: ${'x'.repeat(60)} }\n`,
      );
      const long = file('long.yaml', `gatehouse: 1\nresources:\n${many.join('')}`);
      const tooLong = new RegExp(
        `--file: expected at most ${managementBodyBytesMax} bytes as JSON, found \\d+\\. Run it beside the database`,
      );
      await fails(2, tooLong, ...by(long, running.url, token));
    });
  });

// Hooks in documents (design 16, 3): applied, exported without a secret unless asked for, taken over with it elsewhere.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

const document = `gatehouse: 1
clients:
  - { client_id: robot, name: Robot, token_endpoint_auth_method: client_secret_post, grant_types: [client_credentials] }
hooks:
  - { point: token, url: "https://hooks.example/token", on_failure: refuse, deadline_ms: 250, clients: [robot] }
  - { point: sign_in, url: "https://hooks.example/sign-in", on_failure: continue, enabled: false }
`;

for (const name of databases) {
  describe(`hooks in documents on ${name}`, () => {
    let source: Running;
    let target: Running;
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-hooks-'));
      source = await startBesideCommands(name);
      target = await startBesideCommands(name);
    });
    after(async () => {
      await Promise.all([source.stop(), target.stop()]);
      rmSync(folder, { recursive: true, force: true });
    });
    const file = (text: string): string => {
      const path = join(folder, 'hooks.yaml');
      writeFileSync(path, text);
      return path;
    };
    const counts = async (running: Running, path: string): Promise<readonly number[]> => {
      const { created, updated, deleted } = await running.json<{ created: number; updated: number; deleted: number }>('apply', '-f', path);
      return [created, updated, deleted];
    };

    it('are made, then found unchanged, then changed', async () => {
      assert.deepEqual(await counts(source, file(document)), [3, 0, 0]);
      assert.deepEqual(await counts(source, file(document)), [0, 0, 0]);
      assert.deepEqual(await counts(source, file(document.replace('250', '300'))), [0, 1, 0]);
    });

    it('a wrong value names its place', async () => {
      const { code, stderr } = await source.command('plan', '-f', file(document.replace('https://hooks.example/token', 'ftp://x')));
      assert.notEqual(code, 0);
      assert.match(stderr, /hooks.*url/s);
    });

    it('a client or service provider that nobody knows is told with its place; one that has gone since stays', async () => {
      const named = (ids: string): string => file(document.replace('[robot]', ids));
      for (const command of ['plan', 'apply']) {
        const { code, stderr } = await source.command(command, '-f', named('[robot, https://sp.example]'));
        assert.notEqual(code, 0);
        assert.match(stderr, /hooks\[0\]\.clients\[1\].*https:\/\/sp\.example/);
      }
      const provider = (name: string): string =>
        `service_providers:\n  - { entity_id: "https://${name}.example", acs: [{ url: "https://${name}.example/acs" }] }\n`;
      const both = document.replace('[robot]', '[robot, "https://sp.example"]');
      assert.deepEqual(await counts(source, file(both.replace('hooks:', `${provider('sp')}hooks:`))), [1, 1, 0]);
      const pruned = await source.command('apply', '--prune', '-f', file(`gatehouse: 1\n${provider('other')}`));
      assert.equal(pruned.code, 0, pruned.stderr);
      assert.deepEqual(await counts(source, file(both)), [0, 0, 0]);
      assert.deepEqual(await counts(source, file(document)), [0, 1, 0]);
    });

    it('their secrets are exported only when asked for, and then go with them', async () => {
      const plain = await source.command('export');
      assert.match(plain.stdout, /hooks\.example\/token/);
      assert.doesNotMatch(plain.stdout, /whsec_/);
      const path = join(folder, 'all.yaml');
      const exported = await source.command('export', '--with-secrets', '--out', path);
      assert.equal(exported.code, 0, exported.stderr);
      const secrets = readFileSync(path, 'utf8').match(/whsec_[A-Za-z0-9+/]+=/g) ?? [];
      assert.equal(secrets.length, 2);
      const taken = await target.command('import', path);
      assert.equal(taken.code, 0, taken.stderr);
      const again = join(folder, 'again.yaml');
      await target.command('export', '--with-secrets', '--out', again);
      assert.deepEqual(readFileSync(again, 'utf8').match(/whsec_[A-Za-z0-9+/]+=/g), secrets);
    });
  });
}

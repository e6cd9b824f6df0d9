// Hooks in documents (design 16, 3): applied, exported without a secret unless asked for, taken over with it elsewhere.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

const document = `gatehouse: 1
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
      assert.deepEqual(await counts(source, file(document)), [2, 0, 0]);
      assert.deepEqual(await counts(source, file(document)), [0, 0, 0]);
      assert.deepEqual(await counts(source, file(document.replace('250', '300'))), [0, 1, 0]);
    });

    it('a wrong value names its place', async () => {
      const { code, stderr } = await source.command('plan', '-f', file(document.replace('https://hooks.example/token', 'ftp://x')));
      assert.notEqual(code, 0);
      assert.match(stderr, /hooks.*url/s);
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

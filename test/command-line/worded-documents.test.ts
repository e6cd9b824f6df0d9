// Texts and mails in documents (design 13, 3): applied as published, found unchanged, exported, and built in again where none is named.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

const document = `gatehouse: 1
texts:
  de: { identify: { title: "Guten Tag" } }
mails:
  pin:
    en: { subject: "{{code}} opens {{application}}", body: "Your code is **{{code}}**." }
`;

for (const name of databases) {
  describe(`texts and mails in documents on ${name}`, () => {
    let running: Running;
    let folder: string;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'gatehouse-worded-'));
      running = await startBesideCommands(name);
    });
    after(async () => {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    const file = (text: string): string => {
      const path = join(folder, 'worded.yaml');
      writeFileSync(path, text);
      return path;
    };
    const updated = async (text: string): Promise<number> => (await running.json<{ updated: number }>('apply', '-f', file(text))).updated;

    it('are published, found unchanged, exported whole, changed, and built in again', async () => {
      assert.equal(await updated(document), 2);
      assert.equal(await updated(document), 0);
      const { stdout } = await running.command('export');
      assert.match(stdout, /texts:\n {2}de:\n {4}identify:\n {6}title: Guten Tag\n/);
      assert.match(stdout, /mails:\n {2}pin:\n {4}en:\n {6}subject: /);
      assert.equal(await updated(document.replace('Guten Tag', 'Hallo')), 1);
      assert.equal(await updated('gatehouse: 1\ntexts: {}\nmails: {}\n'), 2);
      assert.doesNotMatch((await running.command('export')).stdout, /^(?:texts|mails):/m);
    });

    it('a wrong one names its place', async () => {
      for (const [wrong, place] of [
        [document.replace('**{{code}}**', 'none'), /mails\.pin\.en\.body: expected a text that must have \{\{code\}\}/],
        [document.replace('identify', 'nowhere'), /texts\.de/],
        [document.replace('  de:', '  xx:'), /texts/],
        [document.replace('Guten Tag', 'a\\u202eb'), /texts\.de\.identify\.title/],
      ] as const) {
        const { code, stderr } = await running.command('plan', '-f', file(wrong));
        assert.notEqual(code, 0);
        assert.match(stderr, place);
      }
    });
  });
}

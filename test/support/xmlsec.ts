// Runs xmlsec1 in a folder of its own that is gone afterwards: sign, verify, decrypt. Null where it is not installed.

import { spawnSync } from 'node:child_process';
import type { KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findJudge } from './judge-binaries.ts';

export type XmlSec = {
  /** Fills in the signature template a document holds. */
  readonly sign: (template: string, privateKey: KeyObject, idElement: string) => string;
  /** True when the first signature xmlsec1 finds below `node` (an XPath) verifies with this key alone. */
  readonly verify: (xml: string, publicPem: string, node: string) => boolean;
  /** The document with its EncryptedData replaced by what it holds. */
  readonly decrypt: (xml: string, privateKey: KeyObject) => string;
};

const idAttributes = ['Assertion', 'Response'].flatMap((name) => {
  const kind = name === 'Response' ? 'protocol' : 'assertion';
  return ['--id-attr:ID', `urn:oasis:names:tc:SAML:2.0:${kind}:${name}`];
});

export function openXmlSec(): XmlSec | undefined {
  const program = findJudge('xmlsec1');
  if (program === undefined) return undefined;
  const run = (mode: readonly string[], files: Readonly<Record<string, string>>) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-xmlsec-'));
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
      return spawnSync(program, [...mode, 'in.xml'], { cwd: folder, encoding: 'utf8' });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    sign: (template, privateKey, idElement) => {
      const done = run(['--sign', '--privkey-pem', 'key.pem', '--id-attr:ID', idElement], {
        'in.xml': template,
        'key.pem': pemOf(privateKey),
      });
      if (done.status !== 0) throw new Error(done.stderr);
      return done.stdout;
    },
    verify: (xml, publicPem, node) => {
      const mode = ['--verify', '--enabled-key-data', 'rsa', '--pubkey-pem', 'key.pem', ...idAttributes, '--node-xpath', node];
      return run(mode, { 'in.xml': xml, 'key.pem': publicPem }).status === 0;
    },
    decrypt: (xml, privateKey) => {
      const done = run(['--decrypt', '--privkey-pem', 'key.pem'], { 'in.xml': xml, 'key.pem': pemOf(privateKey) });
      if (done.status !== 0) throw new Error(done.stderr);
      return done.stdout;
    },
  };
}

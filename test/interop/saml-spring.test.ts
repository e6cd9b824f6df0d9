// A service provider of Spring Security, from metadata alone. Its metadata does not say whether it signs: it does what ours asks.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { openVisitor, type SamlWebsite, type Websites } from '../support/saml-website.ts';
import { person, tryWebsite } from '../support/saml-website-trial.ts';
import { startWebProgram } from '../support/web-program.ts';

const spring = findJudge('spring-sp');
const names = ['signed', 'unsigned', 'sha1'] as const;
let sha1: SamlWebsite;

/** Starts it; the binding is part of the names of its registrations. */
async function startSpring(program: string, idpMetadata: string): Promise<Websites & { readonly sha1: SamlWebsite }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-spring-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const keys = rsaKeys();
  write('sp.key', keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  write('sp.crt', await certificatePem(keys));
  const trust = (name: string, metadata: string): void => {
    for (const registration of [name, `${name}-post`]) write(`${registration}.xml`, metadata);
  };
  for (const name of names) trust(name, idpMetadata);
  const properties = { 'server.port': new URL(url).port, 'server.address': '127.0.0.1', 'judge.folder': folder };
  const arguments_ = Object.entries(properties).map(([name, value]) => `--${name}=${value}`);
  const { close } = await startWebProgram(`${url}/saml2/service-provider-metadata/signed`, [program, ...arguments_], {
    patienceSeconds: 120,
  });
  const website = (name: (typeof names)[number]): SamlWebsite => ({
    metadataUrl: `${url}/saml2/service-provider-metadata/${name}`,
    startUrl: (binding) => `${url}/saml2/authenticate/${name}${binding === 'post' ? '-post' : ''}`,
    trust: async (metadata) => trust(name, metadata),
  });
  return {
    signed: website('signed'),
    unsigned: website('unsigned'),
    sha1: website('sha1'),
    close: async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

if (spring !== undefined)
  tryWebsite({
    name: 'Spring Security',
    open: async ({ metadata }) => {
      const sites = await startSpring(spring, metadata);
      sha1 = sites.sha1;
      return sites;
    },
    bindings: ['redirect', 'post'],
    declaresSigning: false,
    encryption: 'aes256-gcm',
    shows: [person.email, person.displayName, person.userName],
    more: ({ introduce, demandSignatures, ask }) => {
      test('told to sign with SHA-1 it stays refused', async () => {
        await demandSignatures(sha1, await introduce(sha1));
        await assertRefusal(await ask(openVisitor(), sha1, 'redirect'), 'saml.signature_invalid');
      });
    },
  });

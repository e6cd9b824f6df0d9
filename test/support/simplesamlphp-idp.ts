// Debian's SimpleSAMLphp as the provider people come from, in PHP's own web server on a free loopback port: one person, signed in without
// a page, or several who type name and password; its answers signed and, told so, encrypted. It reads our metadata from a file, as XML.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';
import { phpConfig, phpServer } from './simplesamlphp.ts';
import { startWebProgram } from './web-program.ts';

export interface SimpleSamlIdp {
  /** What an administrator downloads. */
  readonly metadata: () => Promise<string>;
  /** Takes our metadata; from then on answers are encrypted, or not. */
  readonly trust: (ours: string, encrypts: boolean) => void;
  readonly close: () => Promise<void>;
}

interface Person {
  readonly uid: string;
  readonly mail: string;
  readonly givenName: string;
  readonly sn: string;
}

const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';

export async function startSimpleSamlIdp(
  keys: RsaKeys,
  /** Several have a password each. */
  people: Person | readonly (Person & { readonly password: string })[],
): Promise<SimpleSamlIdp> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-simplesamlphp-idp-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const name of ['sessions', 'temporary', 'metadata']) mkdirSync(join(folder, name));
  write('idp.key', keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  write('idp.crt', await certificatePem(keys));
  const sources = `[['type' => 'flatfile', 'directory' => '${folder}/metadata'], ['type' => 'xml', 'file' => '${folder}/sp.xml']]`;
  write(
    'config.php',
    phpConfig(folder, url, `'enable.saml20-idp' => true, 'module.enable' => ['exampleauth' => true], 'metadata.sources' => ${sources},`),
  );
  write('authsources.php', `<?php $config = ['people' => ${'uid' in people ? staticSource(people) : formSource(people)}];`);
  const host = (encrypts: boolean): void =>
    write(
      'metadata/saml20-idp-hosted.php',
      `<?php $metadata['__DYNAMIC:1__'] = ['host' => '__DEFAULT__', 'privatekey' => 'idp.key', 'certificate' => 'idp.crt', 'auth' => 'people',
        'NameIDFormat' => '${persistent}', 'authproc' => [3 => ['class' => 'saml:AttributeNameID', 'attribute' => 'uid', 'Format' => '${persistent}']],
        'assertion.encryption' => ${encrypts}];`,
    );
  const trust = (ours: string, encrypts: boolean): void => {
    write('sp.xml', ours);
    host(encrypts);
  };
  trust('<EntitiesDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"/>', false);
  const metadataUrl = `${url}/saml2/idp/metadata.php`;
  const program = await startWebProgram(metadataUrl, phpServer(folder, port), {
    environment: { SIMPLESAMLPHP_CONFIG_DIR: folder },
  });
  return {
    metadata: async () => (await fetch(metadataUrl)).text(),
    trust,
    close: async () => {
      await program.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const attributesOf = ({ uid, mail, givenName, sn }: Person): string =>
  Object.entries({ uid, mail, givenName, sn })
    .map(([name, value]) => `'${name}' => ['${value}']`)
    .join(', ');
const staticSource = (person: Person): string => `['exampleauth:StaticSource', ${attributesOf(person)}]`;
const formSource = (people: readonly (Person & { readonly password: string })[]): string =>
  `['exampleauth:UserPass', ${people.map((one) => `'${one.uid}:${one.password}' => [${attributesOf(one)}]`).join(', ')}]`;

// Debian's SimpleSAMLphp in PHP's own web server on a free loopback port, with service providers that sign their requests, do not,
// and sign them with SHA-1. It reads the identity provider's metadata from a file, as XML. It asks by
// Redirect wherever that is offered, so for POST that address is taken out.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';
import type { SamlWebsite, Websites } from './saml-website.ts';
import { startWebProgram } from './web-program.ts';

const simpleSamlPages = '/usr/share/simplesamlphp/www';
const php = '/usr/bin/php';
const names = ['signed', 'unsigned', 'sha1'] as const;

/** True when it is installed; throws when GATEHOUSE_TEST_REQUIRE names simplesamlphp and it is not. */
export function hasSimpleSamlPhp(): boolean {
  const needs = "exit(extension_loaded('dom') && extension_loaded('mbstring') ? 0 : 1);";
  const found = existsSync(simpleSamlPages) && spawnSync(php, ['-r', needs]).status === 0;
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes('simplesamlphp'))
    throw new Error('GATEHOUSE_TEST_REQUIRE names simplesamlphp: it, php-cli, php-xml or php-mbstring is missing');
  return found;
}

/** Starts it; it trusts the identity provider of this metadata, of this entityID. */
export async function startSimpleSamlPhp(
  keys: RsaKeys,
  idp: { readonly entityId: string; readonly metadata: string },
): Promise<Websites & { readonly sha1: SamlWebsite }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-simplesamlphp-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const name of ['sessions', 'temporary']) mkdirSync(join(folder, name));
  write('sp.key', keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  write('sp.crt', await certificatePem(keys));
  let known = idp.metadata;
  const give = (metadata: string): void => write('idp.xml', metadata);
  give(known);
  const page = (name: string): string => `${url}/module.php/core/authenticate.php?as=${name}`;
  const metadataUrl = (name: string): string => `${url}/module.php/saml/sp/metadata.php/${name}`;
  write('config.php', phpConfig(folder, url, `'metadata.sources' => [['type' => 'xml', 'file' => '${folder}/idp.xml']],`));
  write('authsources.php', authSources(Object.fromEntries(names.map((name) => [name, { page: page(name), idp: idp.entityId }]))));
  const program = await startWebProgram(metadataUrl('signed'), phpServer(folder, port), {
    environment: { SIMPLESAMLPHP_CONFIG_DIR: folder },
  });
  const website = (name: (typeof names)[number]): SamlWebsite => ({
    metadataUrl: metadataUrl(name),
    startUrl: (binding) => {
      give(binding === 'post' ? known.replace(redirectService, '') : known);
      return page(name);
    },
    trust: async (metadata) => {
      known = metadata;
      give(known);
    },
  });
  return {
    signed: website('signed'),
    unsigned: website('unsigned'),
    sha1: website('sha1'),
    close: async () => {
      await program.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The command that serves its pages. PHP keeps no compiled file: one that changed within two seconds would be answered from the old one. */
export function phpServer(folder: string, port: number): readonly string[] {
  const settings = { 'session.save_path': join(folder, 'sessions'), display_errors: '0', error_reporting: '8191', 'opcache.enable': '0' };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-d', `${name}=${value}`]);
  return [php, ...flags, '-S', `127.0.0.1:${port}`, '-t', simpleSamlPages];
}

/** Its config.php; `more` are entries as written. */
export function phpConfig(folder: string, url: string, more: string): string {
  return `<?php $config = [
    'baseurlpath' => '${url}/',
    'certdir' => '${folder}/', 'loggingdir' => '${folder}/', 'datadir' => '${folder}/', 'tempdir' => '${folder}/temporary',
    'technicalcontact_email' => 'na@example.org',
    'timezone' => 'UTC',
    'secretsalt' => 'salt-of-the-tests',
    'auth.adminpassword' => 'password-of-the-tests',
    'admin.checkforupdates' => false,
    'trusted.url.domains' => [],
    'logging.handler' => 'errorlog',
    'session.cookie.secure' => false,
    'language.cookie.secure' => false,
    'store.type' => 'phpsession',
    ${more}
  ];`;
}

function authSources(sources: Readonly<Record<string, { readonly page: string; readonly idp: string }>>): string {
  const signing = {
    signed: "'sign.authnrequest' => true,",
    unsigned: '',
    sha1: `'sign.authnrequest' => true, 'signature.algorithm' => '${sha1}',`,
  };
  const source = ([name, { page, idp }]: readonly [string, { readonly page: string; readonly idp: string }]): string =>
    `'${name}' => ['saml:SP', 'entityID' => '${page}', 'idp' => '${idp}', 'RelayState' => '${page}',
      'privatekey' => 'sp.key', 'certificate' => 'sp.crt', ${signing[name as keyof typeof signing]}]`;
  return `<?php $config = [${Object.entries(sources).map(source).join(',')}];`;
}

const redirectService = /<(?:md:)?SingleSignOnService[^>]*HTTP-Redirect[^>]*>(?:<\/(?:md:)?SingleSignOnService>)?/;
const sha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1';

// Debian's Apache with mod_auth_mellon on a free loopback port: a service provider many organisations run. Its folder and
// process are gone after close(). `/protected` asks for a sign-in and shows who signed in.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';
import { spMetadata } from './saml-requests.ts';

const apache = '/usr/sbin/apache2';
const modules = '/usr/lib/apache2/modules';

/** True when both are installed; throws when GATEHOUSE_TEST_REQUIRE names apache2 and they are not. */
export function hasMellon(): boolean {
  const found = existsSync(apache) && existsSync(`${modules}/mod_auth_mellon.so`);
  const required = (process.env['GATEHOUSE_TEST_REQUIRE'] ?? '').split(/[\s,]+/);
  if (!found && required.includes('apache2'))
    throw new Error('GATEHOUSE_TEST_REQUIRE names apache2: apache2 or libapache2-mod-auth-mellon is missing');
  return found;
}

export interface Mellon {
  readonly url: string;
  readonly entityId: string;
  readonly acsUrl: string;
  /** Its metadata, as an administrator would upload it. */
  readonly metadata: string;
  /** Starts Apache, trusting the identity provider of this metadata. */
  readonly start: (idpMetadata: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function prepareMellon(keys: RsaKeys): Promise<Mellon> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mellon-'));
  chmodSync(folder, 0o755); // Apache serves as another user
  const entityId = `${url}/mellon/metadata`;
  const acsUrl = `${url}/mellon/postResponse`;
  const certificate = await certificatePem(keys);
  const metadata = spMetadata(entityId, acsUrl, certificate);
  let child: ChildProcess | undefined;
  return {
    url,
    entityId,
    acsUrl,
    metadata,
    start: async (idpMetadata) => {
      const files = {
        'sp-key.pem': keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
        'sp-cert.pem': certificate,
        'sp-metadata.xml': metadata,
        'idp-metadata.xml': idpMetadata,
        'protected.shtml':
          'signed in as <span id="user"><!--#echo var="REMOTE_USER" --></span>, <span id="mail"><!--#echo var="MELLON_mail" --></span>',
        'apache.conf': configuration(folder, port),
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o644 });
      child = spawn(apache, ['-d', folder, '-f', join(folder, 'apache.conf'), '-DFOREGROUND'], { stdio: ['ignore', 'ignore', 'pipe'] });
      await answering(`${url}/mellon/metadata`, child, join(folder, 'error.log'));
    },
    close: async () => {
      if (child !== undefined && child.exitCode === null) {
        child.kill('SIGTERM');
        await new Promise((resolve) => child?.once('exit', resolve));
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, port: number): string {
  const load = (name: string): string => `LoadModule ${name}_module ${modules}/mod_${name}.so`;
  const root = process.getuid?.() === 0;
  return [
    `ServerRoot ${folder}`,
    `PidFile ${folder}/apache.pid`,
    `Listen 127.0.0.1:${port}`,
    `ServerName 127.0.0.1:${port}`,
    `ErrorLog ${folder}/error.log`,
    `DefaultRuntimeDir ${folder}`,
    'Mutex sem',
    'TypesConfig /dev/null',
    'SetEnvIf Request_URI . MELLON_DISABLE_SAMESITE=1', // SameSite=None needs https, which loopback has not
    ...['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'include', 'mime', 'setenvif', 'auth_mellon'].map(load),
    ...(root ? ['User www-data', 'Group www-data'] : []),
    `DocumentRoot ${folder}`,
    `<Directory ${folder}>`,
    'Options +Includes',
    'AddType text/html .shtml',
    'AddOutputFilter INCLUDES .shtml',
    'Require all granted',
    '</Directory>',
    'MellonCacheSize 10',
    'MellonLockFile none',
    '<Location />',
    'MellonEnable info',
    'MellonEndpointPath /mellon',
    `MellonSPPrivateKeyFile ${folder}/sp-key.pem`,
    `MellonSPCertFile ${folder}/sp-cert.pem`,
    `MellonSPMetadataFile ${folder}/sp-metadata.xml`,
    `MellonIdPMetadataFile ${folder}/idp-metadata.xml`,
    'MellonSecureCookie Off',
    'MellonUser NAME_ID',
    'MellonSignatureMethod rsa-sha256',
    '</Location>',
    '<Location /protected.shtml>',
    'AuthType Mellon',
    'MellonEnable auth',
    'Require valid-user',
    '</Location>',
  ].join('\n');
}

async function answering(url: string, child: ChildProcess, log: string): Promise<void> {
  let complaint = '';
  child.stderr?.on('data', (chunk) => {
    complaint += String(chunk);
  });
  for (let attempt = 0; attempt < 200 && child.exitCode === null; attempt += 1) {
    const up = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50)); // another program's start: there is nothing of ours to wait on
  }
  throw new Error(`apache does not answer at ${url}: ${complaint}${existsSync(log) ? readFileSync(log, 'utf8') : ''}`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

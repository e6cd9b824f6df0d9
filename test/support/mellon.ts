// Debian's Apache with mod_auth_mellon on a free loopback port: a service provider many organisations run. Its folder and
// process are gone after close(). `/protected` asks for a sign-in and shows who signed in.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasApacheModule, startApache } from './apache.ts';
import { freePort } from './free-port.ts';
import { certificatePem, type RsaKeys } from './rsa-keys.ts';
import { spMetadata } from './saml-requests.ts';
import type { WebProgram } from './web-program.ts';

/** True when both are installed; throws when GATEHOUSE_TEST_REQUIRE names apache2 and they are not. */
export const hasMellon = (): boolean => hasApacheModule('auth_mellon', 'apache2');

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
  let program: WebProgram | undefined;
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
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o644 });
      program = await startApache({ folder, port, module: 'auth_mellon', directives: directives(folder), ready: '/mellon/metadata' });
    },
    close: async () => {
      await program?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function directives(folder: string): string[] {
  return [
    'SetEnvIf Request_URI . MELLON_DISABLE_SAMESITE=1', // SameSite=None needs https, which loopback has not
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
  ];
}

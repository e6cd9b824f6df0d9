// Clients of every authentication method as openid-client (unpatched) sees them, and a person who signs in to them by PIN.
import { exportJWK, generateKeyPair } from 'jose';
import * as openid from 'openid-client';
import type { Client, tokenEndpointAuthMethods } from '../../src/domain/client/client.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { encryptClientSecret } from '../../src/tokens/client-secret.ts';
import { randomClientId } from '../../src/tokens/tenant-creation.ts';
import { createClient, type TestClient } from './fixtures.ts';
import { openLogin, signInByPin } from './login.ts';
import type { TestServer } from './server.ts';

type Method = (typeof tokenEndpointAuthMethods)[number];

export interface RelyingParty {
  readonly client: TestClient;
  readonly config: openid.Configuration;
}

/** Registers a client of the method and discovers the issuer as it would. */
export async function createRelyingParty(
  server: TestServer,
  tenant: Tenant,
  method: Method,
  changes: Partial<Client> = {},
): Promise<RelyingParty> {
  const { services } = server.gatehouse;
  const keys = await generateKeyPair('ES256', { extractable: true });
  const secret = 'a-secret-of-at-least-thirty-two-bytes';
  const clientId = randomClientId();
  const client = await createClient(services, tenant, {
    clientId,
    tokenEndpointAuthMethod: method,
    type: method === 'none' ? 'public' : 'confidential',
    ...(method === 'client_secret_jwt'
      ? { secretHash: undefined, secretEncrypted: encryptClientSecret(services.encryption, tenant.id, clientId, secret) }
      : {}),
    ...(method === 'private_key_jwt'
      ? { secretHash: undefined, jwks: { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] } }
      : {}),
    ...changes,
  });
  const authentication: Readonly<Record<Method, () => openid.ClientAuth>> = {
    client_secret_basic: () => openid.ClientSecretBasic(client.secret),
    client_secret_post: () => openid.ClientSecretPost(client.secret),
    client_secret_jwt: () => openid.ClientSecretJwt(secret),
    private_key_jwt: () => openid.PrivateKeyJwt({ key: keys.privateKey, kid: 'k1' }),
    tls_client_auth: () => openid.TlsClientAuth(),
    self_signed_tls_client_auth: () => openid.TlsClientAuth(),
    none: () => openid.None(),
  };
  const metadata = { id_token_signed_response_alg: client.idTokenSignedResponseAlg };
  const config = await openid.discovery(new URL(tenant.baseUrl), client.clientId, metadata, authentication[method](), {
    execute: [openid.allowInsecureRequests],
  });
  return { client, config };
}

/** Opens the authorization address in a browser of the test and signs in; gives where the browser ends up. */
export async function visit(server: TestServer, address: URL, email: string): Promise<URL> {
  return signInByPin(server, openLogin(await fetch(address, { redirect: 'manual' })), email);
}

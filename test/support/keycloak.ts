// Keycloak as a broker: people who come to a client of one of its realms are sent on to us, by SAML or OpenID Connect. Its realms
// are set up over its own administration from what we publish, and clients show whom it says came. It keeps nothing on disk.
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort } from './free-port.ts';
import type { Binding, SamlWebsite, Websites } from './saml-website.ts';
import { orClose, startWebProgram } from './web-program.ts';

type Json = Readonly<Record<string, unknown>>;

const broker = 'gatehouse';
const client = 'judge';

export interface Keycloak {
  readonly url: string;
  /** Where its clients show who came, by the name of the realm. */
  readonly page: (realm: string) => string;
  readonly administer: Administer;
  readonly close: () => Promise<void>;
}

export async function startKeycloak(program: string): Promise<Keycloak> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const flags = {
    'http-enabled': true,
    'http-host': '127.0.0.1',
    'http-port': new URL(url).port,
    'http-management-port': await freePort(),
    'hostname-strict': false,
    cache: 'local',
  };
  const command = [program, 'start', '--optimized', ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
  const { close } = await startWebProgram(`${url}/realms/master`, command, {
    environment: { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'password-of-the-tests' },
    patienceSeconds: 300,
  });
  const clients = await startClients((realm) => `${url}/realms/${realm}/protocol/openid-connect`);
  return {
    url,
    page: (realm) => `${clients.url}/${realm}`,
    administer: administrator(url),
    close: async () => {
      clients.server.closeAllConnections();
      clients.server.close();
      await close();
    },
  };
}

/** Two realms that trust the identity provider of this metadata by SAML. */
export function samlRealms(keycloak: Keycloak, idpMetadata: string): Promise<Websites> {
  return orClose(keycloak, async () => ({
    signed: await samlRealm('signed', keycloak, idpMetadata),
    unsigned: await samlRealm('unsigned', keycloak, idpMetadata),
    close: keycloak.close,
  }));
}

export interface OidcRealm {
  readonly redirectUri: string;
  readonly startUrl: string;
  /** Takes the provider's discovery document, and a client of it. */
  readonly trust: (discoveryUrl: string, client: { readonly client_id: string; readonly client_secret: string }) => Promise<void>;
}

/** A realm that sends people on by OpenID Connect, with PKCE, checking signatures by our keys. */
export async function oidcRealm(realm: string, keycloak: Keycloak): Promise<OidcRealm> {
  const { url, page, administer } = keycloak;
  await administer('POST', '', { realm, enabled: true, clients: [webClient(page(realm))] });
  return {
    redirectUri: `${url}/realms/${realm}/broker/${broker}/endpoint`,
    startUrl: startUrl(realm, keycloak),
    trust: async (discoveryUrl, { client_id: clientId, client_secret: clientSecret }) => {
      const imported = await administer('POST', `/${realm}/identity-provider/import-config`, { providerId: 'oidc', fromUrl: discoveryUrl });
      assert.equal(imported['validateSignature'], 'true', 'it will check our signatures');
      const own = { clientId, clientSecret, defaultScope: 'openid profile email', pkceEnabled: 'true', pkceMethod: 'S256' };
      const config = { ...imported, clientAuthMethod: 'client_secret_basic', ...own };
      await administer('POST', `/${realm}/identity-provider/instances`, {
        alias: broker,
        providerId: 'oidc',
        enabled: true,
        trustEmail: true,
        config,
      });
    },
  };
}

/** A realm with two service accounts, whose access tokens are for `audience` too. */
export async function serviceAccount(realm: string, { url, administer }: Keycloak, audience: string) {
  const secret = 'secret-of-the-tests';
  const config = { 'included.custom.audience': audience, 'access.token.claim': 'true' };
  const protocolMappers = [{ name: 'audience', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config }];
  const clients = ['job', 'stranger'].map((clientId) => ({ clientId, secret, serviceAccountsEnabled: true, protocolMappers }));
  await administer('POST', '', { realm, enabled: true, clients });
  const issuer = `${url}/realms/${realm}`;
  const token = async (clientId: string): Promise<string> => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: secret });
    const answer = (await (await fetch(`${issuer}/protocol/openid-connect/token`, { method: 'POST', body })).json()) as Json;
    return String(answer['access_token']);
  };
  return { issuer, token };
}

const webClient = (page: string): Json => ({ clientId: client, publicClient: true, redirectUris: [page] });

function startUrl(realm: string, { url, page }: Keycloak): string {
  const asked = { client_id: client, redirect_uri: page(realm), response_type: 'code', scope: 'openid profile email', kc_idp_hint: broker };
  return `${url}/realms/${realm}/protocol/openid-connect/auth?${new URLSearchParams(asked)}`;
}

/** Text goes as it is. */
type Administer = (method: string, path: string, body: Json | FormData | string) => Promise<Json>;

/** A token of its administrator lives for a minute. Each costs it a password's hash, slowly computed on purpose. */
const adminTokenMs = 30_000;

/** Calls Keycloak's administration. */
function administrator(url: string): Administer {
  const credentials = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'password-of-the-tests' };
  let known = { accessToken: '', untilMs: 0 };
  const accessToken = async (): Promise<string> => {
    const nowMs = performance.now();
    if (nowMs < known.untilMs) return known.accessToken;
    const granted = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: 'POST',
      body: new URLSearchParams(credentials),
    });
    const answer = (await granted.json()) as { readonly access_token: string };
    known = { accessToken: answer.access_token, untilMs: nowMs + adminTokenMs };
    return known.accessToken;
  };
  return async (method, path, body) => {
    const isOwn = body instanceof FormData || typeof body === 'string';
    const response = await fetch(`${url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${await accessToken()}`, ...(isOwn ? {} : { 'content-type': 'application/json' }) },
      body: isOwn ? body : JSON.stringify(body),
    });
    const answer = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${answer}`);
    return answer === '' ? {} : (JSON.parse(answer) as Json);
  };
}

async function samlRealm(realm: string, keycloak: Keycloak, idpMetadata: string): Promise<SamlWebsite> {
  const { url, page, administer } = keycloak;
  await administer('POST', '', { realm, enabled: true, clients: [webClient(page(realm)), samlClient(page(realm))] });
  const providers = `/${realm}/identity-provider`;
  let imported: Json = {};
  const read = async (metadata: string): Promise<void> => {
    const form = new FormData();
    form.set('providerId', 'saml');
    form.set('file', new Blob([metadata]), 'metadata.xml');
    imported = { ...(await administer('POST', `${providers}/import-config`, form)), wantAuthnRequestsSigned: String(realm === 'signed') };
    assert.equal(imported['validateSignature'], 'true', 'it will check our signatures');
  };
  const instance = (binding: Binding): Json => ({
    alias: broker,
    providerId: 'saml',
    enabled: true,
    trustEmail: true,
    config: {
      ...imported,
      wantAssertionsSigned: 'true',
      wantAssertionsEncrypted: 'true',
      postBindingAuthnRequest: String(binding === 'post'),
    },
  });
  const save = (binding: Binding): Promise<Json> => administer('PUT', `${providers}/instances/${broker}`, instance(binding));
  await read(idpMetadata);
  await administer('POST', `${providers}/instances`, instance('redirect'));
  for (const [attribute, property] of Object.entries(mapped))
    await administer('POST', `${providers}/instances/${broker}/mappers`, {
      name: property,
      identityProviderAlias: broker,
      identityProviderMapper: 'saml-user-attribute-idp-mapper',
      config: { syncMode: 'FORCE', 'attribute.name': attribute, 'user.attribute': property },
    });
  return {
    metadataUrl: `${url}/realms/${realm}/broker/${broker}/endpoint/descriptor`,
    unsolicitedAcsUrl: `${url}/realms/${realm}/broker/${broker}/endpoint/clients/${client}`,
    startUrl: async (binding) => {
      await save(binding);
      return startUrl(realm, keycloak);
    },
    trust: async (metadata) => {
      await read(metadata);
      await save('redirect');
    },
  };
}

/** Whom a sign-in nobody asked for is for: Keycloak wants a client of SAML, named in the address our answer goes to. */
const samlClient = (page: string): Json => ({
  clientId: `${client}-saml`,
  protocol: 'saml',
  redirectUris: [page],
  attributes: {
    saml_idp_initiated_sso_url_name: client,
    saml_assertion_consumer_url_post: page,
    saml_name_id_format: 'email',
    saml_force_name_id_format: 'true',
    'saml.server.signature': 'true',
  },
});

const mapped = { 'urn:oid:0.9.2342.19200300.100.1.3': 'email', 'urn:oid:2.5.4.42': 'firstName', 'urn:oid:2.5.4.4': 'lastName' };

/** Clients whose page shows whom a realm says it signed in, by code or by SAML: the path is the realm's name. */
async function startClients(endpoints: (realm: string) => string): Promise<{ readonly url: string; readonly server: Server }> {
  const claimsOf = async (realm: string, code: string, redirect_uri: string): Promise<string> => {
    const fields = { grant_type: 'authorization_code', client_id: client, code, redirect_uri };
    const granted = await fetch(`${endpoints(realm)}/token`, { method: 'POST', body: new URLSearchParams(fields) });
    const { access_token } = (await granted.json()) as { readonly access_token: string };
    return (await fetch(`${endpoints(realm)}/userinfo`, { headers: { authorization: `Bearer ${access_token}` } })).text();
  };
  const show = async (request: IncomingMessage): Promise<string> => {
    const at = new URL(request.url ?? '/', url);
    if (request.method === 'GET') return claimsOf(at.pathname.slice(1), at.searchParams.get('code') ?? '', `${url}${at.pathname}`);
    return Buffer.from(new URLSearchParams(await text(request)).get('SAMLResponse') ?? '', 'base64').toString();
  };
  const server = createServer((request, response) => {
    show(request).then(
      (shown) => response.end(shown),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, server };
}

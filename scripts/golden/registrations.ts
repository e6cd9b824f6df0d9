// The applications of the golden tenant: settings, resources, a client of each authentication method, service providers.
import { generateKeyPairSync } from 'node:crypto';
import type { Caller, Json } from './caller.ts';

export interface Application {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

export type ManagementCall = (method: string, path: string, body?: unknown) => Promise<Json>;

export const redirectUri = 'https://app.golden.example/callback';
const codeFlow = {
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  scopes: ['openid', 'profile', 'email', 'offline_access'],
};
const ciba = 'urn:openid:params:grant-type:ciba';

export const managementCallOf =
  (caller: Caller, base: string, token: string): ManagementCall =>
  (method, path, body) =>
    caller.make(method, `${base}/v1/management${path}`, token, body);

/** Settings of every kind: numbers, lists, objects, a limit switched off, a secret one. */
export async function changeSettings(manage: ManagementCall): Promise<void> {
  await manage('PATCH', '/settings', {
    access_token_lifetime_seconds: 1200,
    refresh_token_idle_seconds: 5_184_000,
    access_token_alg: 'RS256',
    pin: { length: 8, resend_cooldown_seconds: 1 },
    device: { clock_skew_seconds: 240, allowed_algs: ['ES256', 'EdDSA'], additional_device: 'admin' },
    attestation: { mode: 'monitor', apple: { app_ids: ['ABCDE12345.example.golden'] } },
    login_methods: ['phone', 'passkey', 'email_pin'],
    sso_session: true,
    scim: { infer_primary: true },
    branding: { display_name: 'Golden', color: '#806000' },
    rate_limits: { approvals_per_user: null, userinfo_requests_per_ip: { limit: 500, period_seconds: 60 } },
  });
}

/** A client of each authentication method and delivery mode; gives the two that people sign in to. */
export async function registerClients(
  manage: ManagementCall,
): Promise<{ readonly basic: Application; readonly browser: Application; readonly worker: Application }> {
  await manage('POST', '/resources', {
    identifier: 'https://api.golden.example',
    name: 'API',
    scopes: [{ name: 'read', description: 'Read it' }, { name: 'write' }],
    access_token_lifetime_seconds: 300,
  });
  await manage('POST', '/resources', { identifier: 'urn:golden:plain', name: 'Plain' });
  const basic = await registered(manage, {
    ...codeFlow,
    name: 'Web application',
    post_logout_redirect_uris: ['https://app.golden.example/bye'],
    resources: ['https://api.golden.example'],
    scopes: [...codeFlow.scopes, 'read'],
    id_token_signed_response_alg: 'RS256',
    backchannel_logout_uri: 'https://app.golden.example/logout',
    refresh_reuse_leeway_seconds: 7,
    logo_uri: 'https://app.golden.example/logo.png',
    require_consent: true,
  });
  const browser = await registered(manage, {
    ...codeFlow,
    name: 'Browser application',
    type: 'public',
    token_endpoint_auth_method: 'none',
  });
  const worker = await registered(manage, {
    name: 'Worker',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['client_credentials'],
    scopes: ['users:read', 'read'],
    resources: ['https://api.golden.example'],
    redirect_uris: [],
  });
  await registered(manage, {
    ...codeFlow,
    name: 'Signs with its secret',
    token_endpoint_auth_method: 'client_secret_jwt',
    require_par: true,
    authorize_error_delivery: 'redirect',
  });
  await registered(manage, {
    ...codeFlow,
    name: 'Signs with its key',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [publicJwk()] },
    id_token_signed_response_alg: 'EdDSA',
  });
  await registered(manage, {
    ...codeFlow,
    name: 'Keys at an address',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://app.golden.example/jwks.json',
    require_pkce: false,
  });
  await registered(manage, { name: 'Polls', grant_types: [ciba], scopes: ['openid'], backchannel_token_delivery_mode: 'poll' });
  await registered(manage, {
    name: 'Is pinged',
    grant_types: [ciba, 'refresh_token'],
    scopes: ['openid', 'offline_access'],
    backchannel_token_delivery_mode: 'ping',
    backchannel_client_notification_endpoint: 'https://app.golden.example/ping',
  });
  const off = await registered(manage, { ...codeFlow, name: 'Switched off', enabled: false, access_policy: 'assigned' });
  await manage('POST', `/clients/${off.clientId}/secret`);
  const gone = await registered(manage, { ...codeFlow, name: 'Deleted' });
  await manage('DELETE', `/clients/${gone.clientId}`);
  return { basic, browser, worker };
}

/** Providers by fields and by metadata; gives the id of the first. */
export async function registerProviders(manage: ManagementCall, caller: Caller, base: string, token: string): Promise<string> {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const first = await manage('POST', '/service-providers', {
    entity_id: 'https://sp.golden.example/metadata',
    name: 'Intranet',
    acs: [
      { url: 'https://sp.golden.example/acs', index: 0, default: true },
      { url: 'https://sp.golden.example/acs2', index: 3 },
    ],
    signing_keys: [pem],
    encryption_key: pem,
    encryption: { algorithm: 'aes256-cbc', key_transport: 'rsa-oaep-sha256' },
    signing: 'assertion',
    idp_initiated_allowed: true,
    relay_states: ['https://sp.golden.example/start'],
    attribute_map: { user_name: 'uid', 'name.given_name': 'givenName', emails: 'mail', groups: 'memberOf' },
    access_policy: 'assigned',
  });
  await manage('POST', '/service-providers', {
    entity_id: 'urn:golden:bare',
    acs: [{ url: 'https://bare.golden.example/acs' }],
    enabled: false,
  });
  const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://imported.golden.example"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</NameIDFormat><AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://imported.golden.example/acs" index="0" isDefault="true"/></SPSSODescriptor></EntityDescriptor>`;
  const imported = await caller.send(`${base}/v1/management/service-providers/import`, {
    method: 'POST',
    body: metadata,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/samlmetadata+xml' },
  });
  if (!imported.ok) throw new Error(`import: ${imported.status} ${await imported.text()}`);
  return String(first['id']);
}

async function registered(manage: ManagementCall, fields: Json): Promise<Application> {
  const { client_id: clientId, client_secret: secret } = await manage('POST', '/clients', fields);
  return { clientId: String(clientId), clientSecret: secret === undefined ? undefined : String(secret) };
}

function publicJwk(): Json {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...publicKey.export({ format: 'jwk' }), kid: 'golden-1', use: 'sig', alg: 'ES256' };
}

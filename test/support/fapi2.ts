// A client of the profile fapi2 as its own program: oauth4webapi (unpatched) for what must work, and the single requests of it for
// what must not. Two of them differ in keys, so that what is one's can be tried by the other.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { assertionForm, type KeyPair, makeKeyPair, signAssertion } from './client-credentials.ts';
import { createProofKey, type ProofKey } from './dpop.ts';
import { createUser } from './fixtures.ts';
import type { Json, Managed } from './management.ts';
import { formBody } from './oidc.ts';
import { visit } from './relying-party.ts';
import type { TestServer } from './server.ts';

export const insecure = { [oauth.allowInsecureRequests]: true } as const;
export const fapiRedirectUri = 'https://rp.example/callback';

type Fields = Readonly<Record<string, string | undefined>>;

export interface Sent {
  /** Changes of the assertion's claims, header and audience. */
  readonly claims?: Json;
  readonly header?: Json;
  readonly audience?: string | readonly string[];
  readonly by?: KeyPair;
  /** The key of the DPoP proof; null for none. */
  readonly proofKey?: ProofKey | null;
  readonly proof?: Json;
}

export interface FapiClient {
  readonly id: string;
  readonly keys: KeyPair;
  readonly proofKey: ProofKey;
  readonly as: oauth.AuthorizationServer;
  /** What oauth4webapi needs to be this client. */
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly dpop: () => Promise<oauth.DPoPHandle>;
  /** A request of its own making to an endpoint below /v1/idp/oidc. */
  readonly send: (endpoint: string, form: Fields, how?: Sent) => Promise<Response>;
  /** A right pushed request but for the changes; gives the answer. */
  readonly push: (changes?: Fields, how?: Sent) => Promise<Response>;
  /** A right pushed request; gives its request_uri and verifier. */
  readonly pushed: (changes?: Fields, how?: Sent) => Promise<{ readonly requestUri: string; readonly verifier: string }>;
  readonly authorizeUrl: (requestUri: string, changes?: Fields) => URL;
  /** PAR, a person's sign-in, and the code the browser brought back. */
  readonly code: (changes?: Fields, how?: Sent) => Promise<{ readonly code: string; readonly verifier: string; readonly landed: URL }>;
  readonly tokenForm: (code: string, verifier: string) => Fields;
}

/** Registers a client with the profile and nothing else said, and discovers the issuer as it would. */
export async function createFapiClient(server: TestServer, managed: Managed, tenant: Tenant, fields: Json = {}): Promise<FapiClient> {
  const keys = makeKeyPair('ES256');
  const made = await managed.make<{ client_id: string }>('POST', '/clients', {
    name: 'Bank',
    profile: 'fapi2',
    jwks: { keys: [keys.publicJwk] },
    redirect_uris: [fapiRedirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    scopes: ['openid', 'email', 'offline_access'],
    ...fields,
  });
  const id = made.client_id;
  const issuer = new URL(tenant.baseUrl);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
  const client: oauth.Client = { client_id: id, id_token_signed_response_alg: 'ES256', require_auth_time: true };
  const key = await crypto.subtle.importKey('jwk', keys.key.export({ format: 'jwk' }), { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'sign',
  ]);
  const proofKey = await createProofKey();
  const url = (endpoint: string): string => `${tenant.baseUrl}/v1/idp/oidc/${endpoint}`;
  const iat = (): number => Math.floor(server.clock.nowMs() / 1000);
  const nonceOf = async (): Promise<string | null> => {
    const headers = { dpop: await proofKey.prove(url('token'), { claims: { iat: iat() } }) };
    const body = formBody({ grant_type: 'refresh_token', ...assertionForm(await assertion({})) });
    return (await fetch(url('token'), { method: 'POST', body, headers })).headers.get('dpop-nonce');
  };
  const assertion = ({ claims, header, audience = tenant.baseUrl, by = keys }: Sent): Promise<string> =>
    signAssertion(by, id, audience, server.clock.nowMs(), claims, header);
  const send: FapiClient['send'] = async (endpoint, form, how = {}) => {
    const by = how.proofKey === undefined ? proofKey : how.proofKey;
    const dpop = by === null ? undefined : await by.prove(url(endpoint), { claims: { iat: iat(), nonce: await nonceOf(), ...how.proof } });
    const body = formBody({ ...assertionForm(await assertion(how)), ...form });
    return fetch(url(endpoint), { method: 'POST', body, ...(dpop === undefined ? {} : { headers: { dpop } }) });
  };
  const request = async (verifier: string, changes: Fields): Promise<Fields> => ({
    client_id: id,
    response_type: 'code',
    redirect_uri: fapiRedirectUri,
    scope: 'openid email offline_access',
    state: randomUUID(),
    nonce: randomUUID(),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...changes,
  });
  const push: FapiClient['push'] = async (changes = {}, how = { proofKey: null }) =>
    send('par', await request(oauth.generateRandomCodeVerifier(), changes), how);
  const pushed: FapiClient['pushed'] = async (changes = {}, how = { proofKey: null }) => {
    const verifier = oauth.generateRandomCodeVerifier();
    const response = await send('par', await request(verifier, changes), how);
    const body = (await response.json()) as { request_uri: string };
    assert.equal(response.status, 201, JSON.stringify(body));
    return { requestUri: body.request_uri, verifier };
  };
  const authorizeUrl: FapiClient['authorizeUrl'] = (requestUri, changes = {}) =>
    new URL(`${url('authorize')}?${formBody({ client_id: id, request_uri: requestUri, ...changes })}`);
  return {
    id,
    keys,
    proofKey,
    as,
    client,
    auth: oauth.PrivateKeyJwt({ key, kid: keys.kid }),
    dpop: async () => oauth.DPoP(client, await oauth.generateKeyPair('ES256')),
    send,
    push,
    pushed,
    authorizeUrl,
    code: async (changes, how) => {
      const { requestUri, verifier } = await pushed(changes, how);
      const user = await createUser(server.gatehouse.services, tenant);
      const landed = await visit(server, authorizeUrl(requestUri), user.email);
      return { code: landed.searchParams.get('code') ?? '', verifier, landed };
    },
    tokenForm: (code, verifier) => ({ grant_type: 'authorization_code', code, redirect_uri: fapiRedirectUri, code_verifier: verifier }),
  };
}

// Tokens that others give programs, as they give them: JWT-SVIDs got by SPIFFE's libraries for Go and Python, and what Keycloak gives a service
// account. Each is exchanged for a token of an API, and authenticates its client.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { postForm } from '../support/client-credentials.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { serviceAccount, startKeycloak } from '../support/keycloak.ts';
import { createTestClient, createTestTenant, type Json, type Managed } from '../support/management.ts';
import { decodeJwt, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const run = promisify(execFile);
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const orders = 'https://orders.example';
const go = findJudge('go-spiffe');
const python = findJudge('python3-spiffe');
const keycloakProgram = findJudge('keycloak');

describe('tokens that others give programs', () => {
  let server: TestServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    managed = await createTestTenant(server, { settings: { extra_grants: [jwtBearer] } });
  });
  after(() => server.close());

  const register = async (issuer: Json, workload: Json): Promise<string> => {
    await managed.make('POST', '/workload-issuers', issuer);
    const { client_id: id } = await createTestClient(managed, {
      ...{ name: 'Job', grant_types: [jwtBearer, 'client_credentials'], token_endpoint_auth_method: 'federated_jwt', redirect_uris: [] },
      ...{ resources: [orders], scopes: ['orders:read', 'users:read'], workloads: [{ issuer: issuer['issuer'], ...workload }] },
    });
    return id;
  };
  const post = (form: Readonly<Record<string, string>>): Promise<Response> => postForm(`${managed.baseUrl}/v1/idp/oidc/token`, form);
  const assertTaken = async (token: string, client: string): Promise<void> => {
    const { access_token: own } = await tokensOf(await post({ grant_type: jwtBearer, assertion: token }));
    const { sub, aud, scope } = decodeJwt(own).claims;
    assert.deepEqual([sub, aud, scope], [client, orders, 'orders:read']);
    const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const own2 = await tokensOf(await post({ grant_type: 'client_credentials', client_assertion_type, client_assertion: token }));
    assert.equal(decodeJwt(own2.access_token).claims['client_id'], client);
  };

  it('JWT-SVIDs by go-spiffe and PyPI spiffe, with the keys of the trust domain as go-spiffe publishes them', {
    skip: (go === undefined || python === undefined) && 'go-spiffe or python3-spiffe is not installed',
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'spiffe-'));
    const socket = join(folder, 'agent.sock');
    const id = 'spiffe://acme.example/ns/shop/sa/job';
    const agent = spawn(go!, ['serve', socket, id], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await createInterface({ input: agent.stdout })[Symbol.asyncIterator]().next();
      const jwks = JSON.parse((await run(go!, ['bundle', socket])).stdout) as Json;
      const client = await register({ name: 'SPIFFE', issuer: 'spiffe://acme.example', keys: { jwks } }, { subject: id });
      const byGo = async (audience: string): Promise<string> => (await run(go!, ['token', socket, audience])).stdout.trim();
      await assertTaken(await byGo(managed.baseUrl), client);
      const fetching = `import sys
from spiffe import WorkloadApiClient
with WorkloadApiClient("unix://" + sys.argv[1]) as client:
    print(client.fetch_jwt_svid(audience={sys.argv[2]}).token)`;
      await assertTaken((await run(python!, ['-c', fetching, socket, managed.baseUrl])).stdout.trim(), client);
      const other = await byGo('https://other.example');
      await assertRefusal(await post({ grant_type: jwtBearer, assertion: other }), 'jwt_bearer.assertion_invalid');
    } finally {
      agent.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('access tokens of a service account by Keycloak', { skip: keycloakProgram === undefined && 'keycloak is not installed' }, async () => {
    const keycloak = await startKeycloak(keycloakProgram!);
    try {
      const { issuer, token } = await serviceAccount('jobs', keycloak, managed.baseUrl);
      const client = await register({ name: 'Keycloak', issuer }, { claims: { azp: 'job' } });
      await assertTaken(await token('job'), client);
      await assertRefusal(await post({ grant_type: jwtBearer, assertion: await token('stranger') }), 'jwt_bearer.assertion_invalid');
    } finally {
      await keycloak.close();
    }
  });
});

// The official client's CrossAppAccessProvider, unmodified, with this provider as the employer's: the ID token of somebody who signed in becomes
// an assertion that the server of another company, played here, verifies by our keys and takes for a token.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { createClient, createOtherTenant, createUser } from '../support/fixtures.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { issueCode, exchange as redeemCode, tokensOf } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const judge = findJudge('mcp-cross-app');
const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

describe('CrossAppAccessProvider', { skip: judge === undefined && 'mcp-cross-app is not installed' }, () => {
  let server: TestServer;
  let tenant: Tenant;
  /** The other company: its MCP server and its issuer, at one address. */
  let other: Server;
  let issuer: string;
  const accepted: JWTPayload[] = [];
  before(async () => {
    server = await startTestServer('sqlite');
    tenant = await createOtherTenant(server.gatehouse.services, 'employer', { extra_grants: [exchangeGrant] });
    const keys = createRemoteJWKSet(new URL(`${tenant.baseUrl}/v1/idp/oidc/jwks`));
    other = createServer(async (request, response) => {
      const send = (status: number, body: unknown): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const path = request.url ?? '';
      if (path.startsWith('/.well-known/oauth-protected-resource'))
        return send(200, { resource: `${issuer}/mcp`, authorization_servers: [issuer], scopes_supported: ['tools'] });
      if (path.startsWith('/.well-known/'))
        return send(200, {
          ...{
            issuer,
            token_endpoint: `${issuer}/token`,
            authorization_endpoint: `${issuer}/authorize`,
            response_types_supported: ['code'],
          },
          ...{ grant_types_supported: [jwtBearer], token_endpoint_auth_methods_supported: ['client_secret_basic'] },
        });
      if (path !== '/token') return send(404, {});
      const form = new URLSearchParams(await text(request));
      const verifying = { issuer: tenant.baseUrl, audience: issuer, typ: 'oauth-id-jag+jwt', currentDate: new Date(server.clock.nowMs()) };
      const verified = await jwtVerify(form.get('assertion') ?? '', keys, verifying).catch(() => undefined);
      if (form.get('grant_type') !== jwtBearer || verified?.payload['client_id'] !== 'agent-there')
        return send(400, { error: 'invalid_grant' });
      accepted.push(verified.payload);
      return send(200, { access_token: 'of-the-other', token_type: 'Bearer', expires_in: 60 });
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
    issuer = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  });
  after(async () => {
    other.closeAllConnections();
    other.close();
    await server.close();
  });

  it('gets a token there for whoever signed in here; without a row for that server it gets none', async () => {
    const { services } = server.gatehouse;
    const register = (
      crossAppAccess: readonly { issuer: string; client_id: string; resources: readonly string[]; scopes: readonly string[] }[],
    ) =>
      createClient(services, tenant, {
        ...{ grantTypes: ['authorization_code', exchangeGrant], scopes: ['openid', 'email'], crossAppAccess },
        tokenEndpointAuthMethod: 'client_secret_post', // as it sends
      });
    const agent = await register([{ issuer, client_id: 'agent-there', resources: [`${issuer}/mcp`], scopes: ['tools'] }]);
    const person = await createUser(services, tenant);
    const run = async (by: typeof agent): Promise<Readonly<Record<string, unknown>>> => {
      const code = await issueCode(server, tenant, by, person, { scope: 'openid email' });
      const { id_token: idToken } = (await tokensOf(await redeemCode(tenant, by, code))) as unknown as { id_token: string };
      const given = { serverUrl: `${issuer}/mcp`, idp: tenant.baseUrl, idToken, issuer };
      const clients = { atIdp: { id: by.clientId, secret: by.secret }, atServer: { id: 'agent-there', secret: 'there' } };
      const child = spawn(judge!, [JSON.stringify({ ...given, ...clients })], { stdio: ['ignore', 'pipe', 'inherit'] });
      return JSON.parse(await text(child.stdout)) as Readonly<Record<string, unknown>>;
    };
    const { failed, result, tokens } = await run(agent);
    assert.deepEqual([failed, result], [undefined, 'AUTHORIZED']);
    assert.equal((tokens as { access_token: string }).access_token, 'of-the-other');
    const { sub, resource, scope, email } = accepted[0]!;
    assert.deepEqual([accepted.length, sub, resource, scope, email], [1, person.id, `${issuer}/mcp`, 'tools', person.email]);
    assert.match(String((await run(await register([])))['failed']), /Token exchange failed: invalid_target/);
    assert.equal(accepted.length, 1);
  });
});

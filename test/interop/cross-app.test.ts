// Agents inside a company, by the official clients, unmodified: the ID token of somebody who signed in at the employer's tenant becomes an
// assertion there, and a token at the tenant of another company, whose MCP server answers a call with it. Both tenants are ours; the person
// came to the second one by the first once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { allow } from '../support/agents.ts';
import { openBrowser } from '../support/browser.ts';
import { root } from '../support/documents.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { type GuideServer, startGuideServer } from '../support/guide-mcp-server.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { approveByPin, openLogin } from '../support/login.ts';
import { createTestClient, createTestTenant, type Json, type Managed } from '../support/management.ts';
import { challenge, decodeJwt, formBody, issueCode, exchange as redeemCode, redirectUri, tokensOf } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const sdk = findJudge('mcp-cross-app');
const python = findJudge('python3-agents');
const judges = [
  { name: 'CrossAppAccessProvider', sends: 'client_secret_basic', command: sdk === undefined ? undefined : [sdk] },
  {
    name: 'IdentityAssertionOAuthProvider',
    sends: 'client_secret_post',
    command: python === undefined ? undefined : [python, join(root, 'test', 'interop', 'judges', 'mcp-cross-app.py')],
  },
] as const;

interface Said {
  readonly failed?: string;
  readonly called?: readonly Json[];
  readonly tokens?: { readonly access_token: string; readonly refresh_token?: string };
}

describe('an agent of one company at the MCP server of another', () => {
  let server: TestServer;
  let employer: Managed;
  let employing: Tenant;
  let chat: Managed;
  let tools: GuideServer;
  let person: TestUser;
  /** Who they are at the other company. */
  let there: unknown;
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    const settings = { login_methods: ['email_pin'] };
    employer = await createTestTenant(server, { settings: { ...settings, extra_grants: [exchangeGrant] } });
    chat = await createTestTenant(server, { settings: { ...settings, extra_grants: [jwtBearer] } });
    employing = (await server.gatehouse.services.tenants.bySlug(employer.slug))!;
    tools = await startGuideServer(chat.baseUrl);
    await chat.make('POST', '/resources', { identifier: tools.resource, name: 'Tools', scopes: [{ name: 'tools' }] });
    person = await createUser(server.gatehouse.services, employing);
    there = await signInThere();
  });
  after(async () => {
    tools.close();
    await server.close();
  });

  /** The person comes to the other company by their employer's provider, which makes their account. */
  async function signInThere(): Promise<unknown> {
    const callback = `${chat.baseUrl}/login/callback/employer`;
    const ofChat = await createTestClient(employer, { name: 'Chat', redirect_uris: [callback], scopes: ['openid', 'profile', 'email'] });
    await chat.make('POST', '/identity-providers', {
      ...{ alias: 'employer', kind: 'oidc', name: 'Employer', issuer: employer.baseUrl, trust_email: true, create_users: true },
      ...{ client_id: ofChat.client_id, client_secret: ofChat.client_secret, cross_app: true },
    });
    const { services } = server.gatehouse;
    const shop = await createClient(services, (await services.tenants.bySlug(chat.slug))!);
    const browser = openBrowser();
    const query = formBody({
      ...{ response_type: 'code', client_id: shop.clientId, redirect_uri: redirectUri, scope: 'openid' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', state: 's' },
    });
    const started = await browser.send(`${chat.baseUrl}/v1/idp/oidc/authorize?${query}`);
    const at = String(started.headers.get('location'));
    const left = await browser.send(`${at}/external`, { method: 'POST', body: formBody({ alias: 'employer' }) });
    const login = openLogin(await fetch(String(((await left.json()) as Json)['redirect_to']), { redirect: 'manual' }));
    await approveByPin(server, login, person.email);
    const back = await browser.send((await allow(login)).href);
    assert.ok(back.status < 400, await back.text());
    const finished = (await (await browser.send(`${at}/finish`, { method: 'POST', body: formBody({}) })).json()) as Json;
    const code = new URL(String(finished['redirect_to'])).searchParams.get('code') ?? '';
    const tenant = (await services.tenants.bySlug(chat.slug))!;
    return decodeJwt((await tokensOf(await redeemCode(tenant, shop, code))).access_token).claims['sub'];
  }

  for (const { name, sends, command } of judges)
    it(`${name}: calls a tool as whoever signed in at the employer; without a row for that server it gets nothing`, {
      skip: command === undefined && 'not installed',
    }, async () => {
      const made = await createTestClient(chat, {
        ...{ name, grant_types: [jwtBearer], redirect_uris: [], token_endpoint_auth_method: sends },
        ...{ resources: [tools.resource], scopes: ['tools'] },
      });
      const atServer = { id: made.client_id, secret: String(made.client_secret) };
      const run = async (crossAppAccess: Parameters<typeof createClient>[2]): Promise<Said> => {
        const agent = await createClient(server.gatehouse.services, employing, {
          ...{ grantTypes: ['authorization_code', exchangeGrant], scopes: ['openid', 'email'], ...crossAppAccess },
          tokenEndpointAuthMethod: 'client_secret_post', // as it sends
        });
        const code = await issueCode(server, employing, agent, person, { scope: 'openid email' });
        const { id_token: idToken } = await tokensOf(await redeemCode(employing, agent, code));
        const clients = { atIdp: { id: agent.clientId, secret: agent.secret }, atServer };
        const given = { serverUrl: tools.resource, idp: employer.baseUrl, idToken, issuer: chat.baseUrl, ...clients };
        const [program = '', ...options] = command!;
        const child = spawn(program, [...options, JSON.stringify(given)], { stdio: ['ignore', 'pipe', 'inherit'] });
        return JSON.parse(await text(child.stdout)) as Said;
      };
      const row = { issuer: chat.baseUrl, client_id: atServer.id, resources: [tools.resource], scopes: ['tools'] };
      const { failed, called, tokens } = await run({ crossAppAccess: [row] });
      assert.deepEqual([failed, called], [undefined, [{ type: 'text', text: there }]]);
      assert.notEqual(there, person.id);
      const { aud, scope, client_id } = decodeJwt(tokens!.access_token).claims;
      assert.deepEqual([aud, scope, client_id, tokens!.refresh_token ?? null], [tools.resource, 'tools', atServer.id, null]);
      const sessions = await chat.make<{ items: readonly Json[] }>('GET', `/users/${there}/sessions`);
      assert.ok(sessions.items.some((one) => one['client_id'] === atServer.id && one['resource'] === tools.resource));
      assert.match(String((await run({ crossAppAccess: [] })).failed), /invalid_target/);
    });
});

// The documents that programs of others publish at their client_id, in the shapes they had in autumn 2026: each is let in, with what it can have
// of what it names, and gets a token by the method it can use.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  allow,
  authorize,
  type DocumentServer,
  openTenant,
  personOf,
  startDocumentServer,
  toConsent,
  tokenRequest,
} from '../support/agents.ts';
import { assertionForm, makeKeyPair, signAssertion } from '../support/client-credentials.ts';
import type { Json, Managed } from '../support/management.ts';
import { decodeJwt, tokensOf, verifier } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const code = 'authorization_code';
const refresh = 'refresh_token';
const chatgpt = makeKeyPair('RS256');

interface Published {
  readonly name: string;
  readonly document: Json;
  /** Where it lets the person come back to. */
  readonly comesTo: string;
  readonly is: { readonly method: string; readonly grants: readonly string[] };
}
const programs: readonly Published[] = [
  {
    name: 'Visual Studio Code: the device grant too, and a port of its own',
    document: {
      ...{ client_name: 'Visual Studio Code', client_uri: 'https://vscode.dev/product', application_type: 'native' },
      ...{ logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png', response_types: ['code'] },
      grant_types: [code, refresh, 'urn:ietf:params:oauth:grant-type:device_code'],
      ...{ redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'], token_endpoint_auth_method: 'none' },
    },
    comesTo: 'http://127.0.0.1:33418/',
    is: { method: 'none', grants: [code, refresh] },
  },
  {
    name: 'Claude Code: a free port of localhost',
    document: {
      ...{ client_name: 'Claude Code', client_uri: 'https://claude.ai', response_types: ['code'], grant_types: [code, refresh] },
      ...{ redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' },
    },
    comesTo: 'http://localhost:53123/callback',
    is: { method: 'none', grants: [code, refresh] },
  },
  {
    name: 'claude.ai: a grant that a public client cannot have',
    document: {
      ...{ client_name: 'Claude', client_uri: 'https://claude.ai', response_types: ['code'], token_endpoint_auth_method: 'none' },
      grant_types: [code, refresh, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
    },
    comesTo: 'https://claude.ai/api/mcp/auth_callback',
    is: { method: 'none', grants: [code, refresh] },
  },
  {
    name: 'ChatGPT: no method, but those it can',
    document: {
      ...{ client_name: 'ChatGPT', response_types: ['code'], grant_types: [code, refresh] },
      ...{ token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'], jwks: { keys: [chatgpt.publicJwk] } },
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
    },
    comesTo: 'https://chatgpt.com/connector_platform_oauth_redirect',
    is: { method: 'private_key_jwt', grants: [code, refresh] },
  },
];

describe('documents as others publish them', () => {
  let server: TestServer;
  let documents: DocumentServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    documents = await startDocumentServer(server);
    managed = await openTenant(server);
  });
  after(async () => {
    await documents.close();
    await server.close();
  });

  for (const [index, { name, document, comesTo, is }] of programs.entries())
    it(name, async () => {
      const id = documents.publish(`/published-${index}`, document);
      const { email, id: person } = await personOf(server, managed);
      const asked = { client_id: id, redirect_uri: comesTo, scope: 'tools offline_access' };
      const { login, shown } = await toConsent(server, await authorize(managed, asked), email);
      assert.equal((shown['consent'] as Json)['client_host'], new URL(id).host);
      const back = await allow(login);
      assert.ok(back.href.startsWith(comesTo));
      const proof = async (): Promise<Readonly<Record<string, string>>> =>
        is.method === 'none' ? { client_id: id } : assertionForm(await signAssertion(chatgpt, id, managed.baseUrl, server.clock.nowMs()));
      const codeForm = { grant_type: code, code: back.searchParams.get('code') ?? '', redirect_uri: comesTo, code_verifier: verifier };
      const tokens = await tokensOf(await tokenRequest(managed, { ...codeForm, ...(await proof()) }));
      assert.equal(decodeJwt(tokens.access_token).claims['sub'], person);
      const again = { grant_type: refresh, refresh_token: tokens.refresh_token, ...(await proof()) };
      assert.ok((await tokensOf(await tokenRequest(managed, again))).refresh_token);
      const found = await managed.make('GET', `/clients/${encodeURIComponent(id)}`);
      assert.deepEqual([found['token_endpoint_auth_method'], found['grant_types']], [is.method, is.grants]);
    });
});

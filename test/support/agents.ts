// Programs that nobody registered, as tests play them: a tenant with an open resource, a sign-in of theirs up to its tokens, and an https
// server of an authority of one's own that publishes their documents.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createOutbound } from '../../src/platform/net/outbound.ts';
import { makeIdentity } from './certificates.ts';
import { createUser, type TestUser } from './fixtures.ts';
import { approveByPin, openLogin, type TestLogin } from './login.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import { challenge, type Form, formBody, type Tokens, tokensOf, verifier } from './oidc.ts';
import type { TestServer } from './server.ts';

export const mcp = 'https://mcp.example/tools';
export const loopbackUri = 'http://127.0.0.1:7777/callback';

/** A tenant that lets programs in which nobody registered, for one resource. */
export async function openTenant(server: TestServer, settings: Json = {}, resource: Json = {}): Promise<Managed> {
  const managed = await createTestTenant(server, {
    settings: { login_methods: ['email_pin'], extra_grants: ['registration'], ...settings },
  });
  const scopes = [{ name: 'tools', description: 'Use its tools', is_default: true }, { name: 'admin' }];
  await managed.make('POST', '/resources', { identifier: mcp, name: 'Tools', clients: 'any', scopes, ...resource });
  return managed;
}

export const authorizeUrl = ({ baseUrl }: Managed, form: Form): string =>
  `${baseUrl}/v1/idp/oidc/authorize?${formBody({
    response_type: 'code',
    redirect_uri: loopbackUri,
    resource: mcp,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 's',
    ...form,
  })}`;

export const authorize = (managed: Managed, form: Form, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(authorizeUrl(managed, form), { redirect: 'manual', headers: { accept: 'application/json', ...headers } });

export const register = ({ baseUrl }: Managed, metadata: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${baseUrl}/v1/idp/oidc/register`, {
    method: 'POST',
    body: JSON.stringify(metadata),
    headers: { 'content-type': 'application/json', ...headers },
  });

export async function personOf(server: TestServer, { slug }: Managed): Promise<TestUser> {
  const { services } = server.gatehouse;
  return createUser(services, (await services.tenants.bySlug(slug))!);
}

/** The sign-in as far as what is asked of the person. */
export async function toConsent(server: TestServer, started: Response, email: string): Promise<{ login: TestLogin; shown: Json }> {
  const login = openLogin(started);
  await approveByPin(server, login, email);
  return { login, shown: (await (await login.get()).json()) as Json };
}

/** The person allows it; gives the answer's address. */
export async function allow(login: TestLogin): Promise<URL> {
  const finished = await login.post('finish');
  const text = await finished.text();
  assert.equal(finished.status, 200, text);
  return new URL((JSON.parse(text) as { redirect_to: string }).redirect_to);
}

export const tokenRequest = ({ baseUrl }: Managed, form: Form): Promise<Response> =>
  fetch(`${baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: formBody(form) });

/** The whole way of a public client. */
export async function signIn(server: TestServer, managed: Managed, form: Form, email: string): Promise<Tokens> {
  const { login } = await toConsent(server, await authorize(managed, form), email);
  const back = await allow(login);
  return tokensOf(await redeem(managed, form, back));
}

export const redeem = (managed: Managed, form: Form, back: URL): Promise<Response> =>
  tokenRequest(managed, {
    grant_type: 'authorization_code',
    client_id: form['client_id'],
    code: back.searchParams.get('code') ?? '',
    redirect_uri: form['redirect_uri'] ?? loopbackUri,
    code_verifier: verifier,
  });

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface DocumentServer {
  /** The URL of a path at `agent.example`. */
  readonly url: (path: string) => string;
  /** Publishes a document at a path; gives its URL, which is its client_id unless it says another. */
  readonly publish: (path: string, document: Json, answer?: Answer) => string;
  /** What a path answers; a function may never answer. */
  readonly answer: (path: string, answer: Answer | (() => Promise<Answer>)) => string;
  /** Paths that were asked for. */
  readonly asked: string[];
  readonly close: () => Promise<void>;
}

/** Publishes documents at https://agent.example, to this server alone. */
export async function startDocumentServer(server: TestServer): Promise<DocumentServer> {
  const identity = await makeIdentity({ subject: 'CN=agent.example', names: [{ type: 'dns', value: 'agent.example' }], isAuthority: true });
  const answers = new Map<string, Answer | (() => Promise<Answer>)>();
  const asked: string[] = [];
  const documents: Server = createServer({ key: identity.key, cert: identity.cert }, async (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const found = answers.get(path) ?? { status: 404 };
    const { status = 200, headers = {}, body = '' } = typeof found === 'function' ? await found() : found;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((done) => documents.listen(0, '127.0.0.1', done));
  const { port } = documents.address() as AddressInfo;
  const outbound = createOutbound({
    allow: ['127.0.0.0/8', '10.0.0.0/8'],
    ca: identity.cert,
    resolve: (host) => Promise.resolve([{ address: host === 'inside.example' ? '10.0.0.1' : '127.0.0.1', family: 4 }]),
  });
  Object.assign(server.gatehouse.services.outbound, { fetch: outbound.fetch });
  const url = (path: string): string => `https://agent.example:${port}${path}`;
  const answer: DocumentServer['answer'] = (path, what) => {
    answers.set(path, what);
    return url(path);
  };
  return {
    url,
    asked,
    answer,
    publish: (path, document, more = {}) => answer(path, { body: JSON.stringify({ client_id: url(path), ...document }), ...more }),
    close: async () => {
      documents.closeAllConnections();
      await new Promise((done) => documents.close(done));
    },
  };
}

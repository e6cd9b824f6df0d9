// The programs of the how-tos, taken out of the documents and run against a server: the registration is the document's own, and a
// person signs in. What is changed is what a reader changes: addresses.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import * as oidc from 'openid-client';
import { mintAccessToken } from '../../src/tokens/access-token.ts';
import { runCommand } from '../support/commands.ts';
import { blocksOf, fileBlockOf, root } from '../support/documents.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { loginAt, signInByPin } from '../support/login.ts';
import { createTestClient, createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** The flags of the command in a document that registers the client so named, without the file it writes. */
function registrationIn(document: string, name: string): readonly string[] {
  const lines = blocksOf(document).flatMap(({ text }) => text.replace(/\\\n\s*/g, ' ').split('\n'));
  const found = lines.find((line) => line.startsWith(`./bin/gatehouse client create "${name}" `));
  assert.ok(found !== undefined, `${document} registers no ${name}`);
  const [, flags] = /^.*" --tenant sample (.*)$/.exec(found)!;
  return flags!
    .replace(/--env \S+/, '')
    .trim()
    .split(/\s+/);
}

/** A browser without pages: keeps cookies of one site. */
function createBrowser(): { readonly get: (url: string) => Promise<Response>; readonly cookies: () => string } {
  const jar = new Map<string, string>();
  const cookies = (): string => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const get = async (url: string): Promise<Response> => {
    const response = await fetch(url, { redirect: 'manual', headers: { cookie: cookies() } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      jar.set(name!, value!);
    }
    return response;
  };
  return { get, cookies };
}

const locationOf = (response: Response): string => {
  assert.ok(response.status === 303 || response.status === 302, `expected a redirect, found ${response.status}`);
  return response.headers.get('location')!;
};

describe('how-tos', () => {
  let server: TestServer;
  let tenant: Managed;
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-how-to-'));
  before(async () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    server = await startTestServer('sqlite');
    tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Writes a document's file below `name`; `change` does what a bundler or a reader would. */
  const extract = (document: string, file: string, change: (text: string) => string = (text) => text): string => {
    const path = join(folder, document.replace(/\W/g, '-'), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, change(fileBlockOf(document, file)));
    return path;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a document exports
  const load = (path: string): Promise<any> => import(pathToFileURL(path).href);

  /** Runs the document's registration beside the server, with the app's own address. */
  const register = async (document: string, name: string, change: (flag: string) => string = (flag) => flag): Promise<Json> => {
    const path = server.database.dataFolder;
    const args = [
      'client',
      'create',
      name,
      '--tenant',
      tenant.slug,
      '--data',
      path,
      '--json',
      ...registrationIn(document, name).map(change),
    ];
    const { code, stdout, stderr } = await runCommand(path, args, {});
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };

  /** A person of their own for each how-to: a mailbox gets one PIN a minute. */
  const createPerson = async (email: string): Promise<string> => {
    await createTestUser(tenant, email, { name: { given_name: 'Ada', family_name: 'Lovelace', formatted: 'Ada Lovelace' } });
    return email;
  };

  /** The person's part: from an authorization URL to where the client gets its answer. */
  const signIn = async (authorizationUrl: string, email: string): Promise<URL> => {
    const started = await fetch(authorizationUrl, { redirect: 'manual' });
    return signInByPin(server, loginAt(locationOf(started), started.headers.get('set-cookie') ?? ''), email);
  };

  describe('oidc-express.md', () => {
    const document = 'docs/how-to/oidc-express.md';
    let app: ChildProcess | undefined;
    after(async () => {
      if (app === undefined || app.exitCode !== null) return;
      const ended = new Promise((resolve) => app!.once('close', resolve));
      app.kill('SIGTERM');
      await ended;
    });

    /** Starts the document's server.mjs; another port is tried when somebody took the first. */
    const start = async (register: (url: string) => Promise<Json>, tries = 5): Promise<string> => {
      const url = `http://localhost:${await freePort()}`;
      const client = await register(url);
      const environment = {
        APP_URL: url,
        ISSUER: tenant.baseUrl,
        CLIENT_ID: String(client['client_id']),
        CLIENT_SECRET: String(client['client_secret']),
      };
      app = spawn(process.execPath, [extract(document, 'server.mjs')], {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      app.stderr!.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      const isUp = await new Promise<boolean>((resolve) => {
        app!.stdout!.once('data', () => resolve(true));
        app!.once('close', () => resolve(false));
      });
      if (isUp) return url;
      assert.ok(output.includes('EADDRINUSE') && tries > 1, output);
      return start(register, tries - 1);
    };

    it('its server signs a person in with openid-client, shows the claims, and signs out', async () => {
      const url = await start((own) => register(document, 'My Express app', (flag) => flag.replace('http://localhost:3000', own)));
      const browser = createBrowser();
      assert.match(await (await browser.get(`${url}/`)).text(), /Nobody is signed in/);
      const authorize = locationOf(await browser.get(`${url}/sign-in`));
      assert.ok(authorize.startsWith(`${tenant.baseUrl}/v1/idp/oidc/authorize?`));
      const email = await createPerson('ada@express.example');
      const callback = await signIn(authorize, email);
      assert.equal(locationOf(await browser.get(callback.href)), '/');
      const claims = (await (await browser.get(`${url}/`)).json()) as Json; // UserInfo
      assert.deepEqual([claims['email'], claims['name']], [email, 'Ada Lovelace']);
      const logout = locationOf(await browser.get(`${url}/sign-out`));
      assert.ok(logout.startsWith(`${tenant.baseUrl}/v1/idp/oidc/logout?`));
      assert.equal(locationOf(await fetch(logout, { redirect: 'manual' })), `${url}/`);
      assert.match(await (await browser.get(`${url}/`)).text(), /Nobody is signed in/);
      assert.equal((await createBrowser().get(callback.href)).headers.get('location'), '/', 'a callback of nobody');
      const another = locationOf(await browser.get(`${url}/sign-in`));
      const started = await fetch(another, { redirect: 'manual' });
      const login = loginAt(locationOf(started), started.headers.get('set-cookie') ?? '');
      const cancelled = String(((await (await login.post('cancel')).json()) as Json)['redirect_to']); // the page as JSON
      assert.match(cancelled, /error=access_denied/);
      assert.equal(locationOf(await browser.get(cancelled)), '/');
      assert.match(await (await browser.get(`${url}/`)).text(), /Nobody is signed in/);
    });
  });

  it('sign-in-a-device.md: its program gets tokens once the person has typed the code', async () => {
    const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
    await tenant.make('PATCH', '/settings', { extra_grants: [deviceGrant] });
    const { client_id: clientId } = await createTestClient(tenant, {
      ...{ type: 'public', token_endpoint_auth_method: 'none', redirect_uris: [] },
      grant_types: [deviceGrant, 'refresh_token'],
    });
    const { visitor } = await openApp(server, 'account', tenant, await createPerson('terminal@people.example'));
    const { signIn: run } = await load(extract('docs/how-to/sign-in-a-device.md', 'sign-in.ts'));
    let allowed: Promise<Response> | undefined;
    const tokens = await run(tenant.baseUrl, clientId, (address: string, code: string) => {
      assert.equal(address, `${tenant.baseUrl}/device`);
      allowed = visitor.submit('/device/decision', { user_code: code, decision: 'allow' });
    });
    assert.equal((await allowed)?.status, 200);
    assert.equal(tokens.scope, 'openid email offline_access');
  });

  it('machines.md: its program gets a token of the API by its own key', async () => {
    const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    await tenant.make('PATCH', '/settings', { extra_grants: [grantType] });
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const program = await createTestClient(tenant, {
      ...{ name: 'Nightly count', grant_types: [grantType], token_endpoint_auth_method: 'private_key_jwt', redirect_uris: [] },
      ...{ resources: ['https://stock.example.com'], scopes: ['stock:read'] },
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'job-1' }] },
    });
    const { jobToken } = await load(extract('docs/how-to/machines.md', 'job-token.ts'));
    const { claims } = decodeJwt(await jobToken(tenant.baseUrl, program.client_id, privateKey.export({ format: 'jwk' })));
    const { sub, aud, scope } = claims;
    assert.deepEqual([sub, aud, scope], [program.client_id, 'https://stock.example.com', 'stock:read']);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    await assert.rejects(jobToken(tenant.baseUrl, program.client_id, other), /invalid_grant/);
  });

  it('service-to-service.md: its program gets a token of the next API for the person', async () => {
    const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange';
    await tenant.make('PATCH', '/settings', { extra_grants: [grantType] });
    const api = await createTestClient(tenant, {
      ...{ name: 'Orders', grant_types: [grantType], serves: ['https://orders.example.com'] },
      exchange: [{ resource: 'https://stock.example.com', scopes: ['stock:read'], needs: ['orders:read'] }],
    });
    const { services } = server.gatehouse;
    const found = (await services.tenants.bySlug(tenant.slug))!;
    const shop = await createClient(services, found, { scopes: ['orders:read'], resources: ['https://orders.example.com'] });
    const person = await createUser(services, found);
    const code = await issueCode(server, found, shop, person, { scope: 'orders:read', resource: 'https://orders.example.com' });
    const { access_token: token } = await tokensOf(await exchange(found, shop, code));
    const { stockToken } = await load(extract('docs/how-to/service-to-service.md', 'stock-token.ts'));
    const { claims } = decodeJwt(await stockToken(tenant.baseUrl, api.client_id, api['client_secret'], token));
    const { sub, aud, scope, act } = claims;
    assert.deepEqual([sub, aud, scope, act], [person.id, 'https://stock.example.com', 'stock:read', { sub: api.client_id }]);
    await assert.rejects(stockToken(tenant.baseUrl, api.client_id, api['client_secret'], 'x'), { error: 'invalid_request' });
  });

  it('oidc-nextjs.md: its route handlers sign a person in and keep the session in a cookie nobody can read or change', async () => {
    const document = 'docs/how-to/oidc-nextjs.md';
    const client = await register(document, 'My Next.js app');
    const environment = {
      CLIENT_ID: String(client['client_id']),
      CLIENT_SECRET: String(client['client_secret']),
      ISSUER: tenant.baseUrl,
      APP_URL: 'http://localhost:3000',
      SESSION_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const before = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]));
    Object.assign(process.env, environment);
    try {
      const bundled = (text: string): string => text.replace("'../../lib/gatehouse'", "'../../lib/gatehouse.ts'");
      extract(document, 'lib/gatehouse.ts');
      const [signInRoute, callbackRoute, me] = await Promise.all(
        ['app/sign-in/route.ts', 'app/callback/route.ts', 'app/me/route.ts'].map((file) => load(extract(document, file, bundled))),
      );
      const ask = (path: string, cookie = ''): Request => new Request(`http://localhost:3000${path}`, { headers: { cookie } });
      const nobody = 'Nobody is signed in. Go to /sign-in';
      assert.equal(await (await me.GET(ask('/me'))).text(), nobody);
      const started: Response = await signInRoute.GET();
      const [cookie = ''] = started.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);
      const email = await createPerson('ada@next.example');
      const callback = await signIn(locationOf(started), email);
      const finished: Response = await callbackRoute.GET(ask(`${callback.pathname}${callback.search}`, cookie));
      assert.equal(locationOf(finished), 'http://localhost:3000/me');
      const [session = ''] = finished.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);
      assert.doesNotMatch(Buffer.from(session, 'base64').toString('latin1'), /ada@next/);
      const { email: shown } = (await (await me.GET(ask('/me', session))).json()) as Json; // the handler's JSON
      assert.equal(shown, email);
      const changed = session.slice(0, -6) + (session.at(-6) === 'A' ? 'B' : 'A') + session.slice(-5);
      assert.equal(await (await me.GET(ask('/me', changed))).text(), nobody);
      assert.equal(locationOf(await callbackRoute.GET(ask('/callback?error=access_denied', cookie))), 'http://localhost:3000/me');
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  it('oidc-mobile.md: a public client with the document’s scheme gets tokens and refreshes, and presents no secret', async () => {
    const client = await register('docs/how-to/oidc-mobile.md', 'My app');
    assert.equal('client_secret' in client, false);
    const insecure = { execute: [oidc.allowInsecureRequests] };
    const config = await oidc.discovery(new URL(tenant.baseUrl), String(client['client_id']), undefined, oidc.None(), insecure);
    const verifier = oidc.randomPKCECodeVerifier();
    const authorize = oidc.buildAuthorizationUrl(config, {
      redirect_uri: 'com.example.app:/callback',
      scope: 'openid profile email offline_access',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const callback = await signIn(authorize.href, await createPerson('ada@mobile.example'));
    assert.ok(callback.href.startsWith('com.example.app:/callback?'), callback.href);
    const tokens = await oidc.authorizationCodeGrant(config, callback, { pkceCodeVerifier: verifier });
    assert.ok(tokens.claims()?.sub);
    assert.ok((await oidc.refreshTokenGrant(config, tokens.refresh_token!)).access_token);
  });

  it('client-credentials-api.md: verify takes a token for the API with the scope, and none other', async () => {
    const path = extract('docs/how-to/client-credentials-api.md', 'verify.ts', (text) =>
      text.replace("'https://id.example.com/t/acme'", `'${tenant.baseUrl}'`),
    );
    const { verify } = await load(path);
    const { services } = server.gatehouse;
    const own = await services.tenants.bySlug(tenant.slug);
    const mint = async (audience: string, scope: string): Promise<string> => {
      const minted = await mintAccessToken(own!, await services.keyRings.of(own!.id), services.clock, {
        clientId: (await createTestClient(tenant)).client_id as never, // a client's id from the API
        sub: 'ada',
        audience,
        scope,
        lifetimeSeconds: 600,
      });
      return minted.token;
    };
    const good = await mint('https://orders.example.com', 'openid orders:read');
    assert.equal((await verify(good, 'orders:read')).sub, 'ada');
    await assert.rejects(verify(good, 'orders:write'), /expected the scope orders:write/);
    await assert.rejects(verify(await mint('https://other.example.com', 'orders:read'), 'orders:read'), /"aud"/);
    const [header, payload, signature] = good.split('.') as [string, string, string];
    const altered = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), sub: 'eve' })).toString(
      'base64url',
    );
    await assert.rejects(verify(`${header}.${altered}.${signature}`, 'orders:read'), /signature verification failed/);
  });

  it('sign-in-by-phone.md: its SDK programs enrol a phone and approve a sign-in with the number of the page', async () => {
    const document = 'docs/how-to/sign-in-by-phone.md';
    const sdk = (text: string): string =>
      text
        .replace("'gatehouse-device-sdk'", `'${pathToFileURL(join(root, 'sdk', 'device.ts')).href}'`)
        .replace("'gatehouse-device-sdk/node'", `'${pathToFileURL(join(root, 'sdk', 'node.ts')).href}'`);
    const { enrol } = await load(extract(document, 'enrol.ts', sdk));
    const { approveNext } = await load(extract(document, 'approve.ts', sdk));
    const own = await createTestTenant(server, { settings: { login_methods: ['phone'] } });
    const email = 'ada@phone.example';
    const { id } = await createTestUser(own, email);
    const { qr_uri: link } = await own.make<{ readonly qr_uri: string }>('POST', `/users/${id}/enrollments`, {});
    await assert.rejects(enrol('https://elsewhere.example/'), /expected an enrolment link/);
    const device = await enrol(link);
    const client = await createTestClient(own);
    const challenge = await oidc.calculatePKCECodeChallenge(oidc.randomPKCECodeVerifier());
    const begin = async () => {
      const query = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: 'https://client.example/callback',
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      };
      const started = await fetch(`${own.baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams(query)}`, { redirect: 'manual' });
      const login = loginAt(locationOf(started), started.headers.get('set-cookie') ?? '');
      const { number } = (await (await login.post('identify', { identifier: email })).json()) as { readonly number: string }; // the page as JSON
      return { login, number };
    };
    const stateOf = async (login: ReturnType<typeof loginAt>): Promise<unknown> =>
      ((await (await login.get('/status')).json()) as Json)['state'];
    const first = await begin();
    await approveNext(device, async () => first.number);
    assert.equal(await stateOf(first.login), 'approved');
    const second = await begin();
    await approveNext(device, async () => undefined);
    assert.equal(await stateOf(second.login), 'denied');
  });
});

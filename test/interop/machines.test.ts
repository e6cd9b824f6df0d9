// Libraries of others that get tokens for programs, unmodified: authlib and google-auth as docs/how-to/machines.md tells to use them, and Spring
// Security's providers of assertions (RFC 7523) and of token exchange (RFC 8693).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileBlockOf, root } from '../support/documents.ts';
import { createClient, createUser } from '../support/fixtures.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestClient, createTestTenant, type Managed } from '../support/management.ts';
import { decodeJwt, exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const python = findJudge('python3-agents');
const jars = findJudge('java') === undefined ? undefined : findJudge('guide-spring');
const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const guide = 'docs/how-to/machines.md';

describe('programs with a key of their own, by libraries of Python', {
  skip: python === undefined && 'python3-agents is not installed',
}, () => {
  let server: TestServer;
  let managed: Managed;
  let api: Server;
  let stock: string;
  let folder: string;
  before(async () => {
    server = await startTestServer('sqlite');
    managed = await createTestTenant(server, { settings: { extra_grants: [jwtBearer] } });
    api = createServer((request, response) => response.end(String(request.headers.authorization).replace(/^Bearer /, '')));
    await new Promise<void>((done) => api.listen(0, '127.0.0.1', done));
    stock = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    folder = mkdtempSync(join(tmpdir(), 'machines-'));
    for (const name of ['authlib_job.py', 'google_job.py']) writeFileSync(join(folder, name), fileBlockOf(guide, name));
  });
  after(async () => {
    api.closeAllConnections();
    api.close();
    rmSync(folder, { recursive: true, force: true });
    await server.close();
  });

  const register = async (publicKey: KeyObject, alg: string): Promise<string> => {
    const { client_id: id } = await createTestClient(managed, {
      ...{ name: 'Job', grant_types: [jwtBearer], token_endpoint_auth_method: 'private_key_jwt', redirect_uris: [] },
      ...{ resources: [stock], scopes: ['stock:read'], jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'job-1', alg }] } },
    });
    return id;
  };
  /** What a program prints that is given these values in `given`. */
  const run = async (program: string, given: unknown): Promise<{ code: number | null; out: string; err: string }> => {
    const child = spawn(python!, ['-c', `import json, sys\ngiven = json.loads(sys.argv[1])\n${program}`, JSON.stringify(given)], {
      cwd: folder,
    });
    const [out, err, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((done) => child.once('close', done)),
    ]);
    return { code, out, err };
  };

  it('authlib: a session gets its token by an assertion of its own, and the next by another', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const id = await register(publicKey, 'ES256');
    const program = `from authlib_job import job_session
session = job_session(given["issuer"], given["client"], given["key"])
session.refresh_token()
session.refresh_token()
print(session.get(given["api"]).text)`;
    const given = { issuer: managed.baseUrl, client: id, key: privateKey.export({ format: 'jwk' }), api: stock };
    const { code, out, err } = await run(program, given);
    assert.equal(code, 0, err);
    const { sub, aud, scope } = decodeJwt(out.trim()).claims;
    assert.deepEqual([sub, aud, scope], [id, stock, 'stock:read']);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    assert.match((await run(program, { ...given, key: other })).err, /invalid_grant/);
  });

  it('google-auth: with the claims of the guide and our token_uri; with its own alone it is refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const id = await register(publicKey, 'RS256');
    const given = { issuer: managed.baseUrl, client: id, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
    const program = 'from google_job import job_token\nprint(job_token(given["issuer"], given["client"], given["key"]))';
    const { code, out, err } = await run(`${program}\n${program}`, given);
    assert.equal(code, 0, err);
    for (const token of out.trim().split('\n')) {
      const { sub, aud, scope } = decodeJwt(token).claims;
      assert.deepEqual([sub, aud, scope], [id, stock, 'stock:read']);
    }
    const plain = `from google.auth.transport.requests import Request
from google.oauth2.service_account import Credentials
Credentials.from_service_account_info({"client_email": given["client"], "token_uri": given["issuer"] + "/v1/idp/oidc/token", "private_key": given["key"], "private_key_id": "job-1"}).refresh(Request())`;
    assert.match((await run(plain, given)).err, /invalid_grant/);
  });
});

describe('Spring Security’s providers of machines', { skip: jars === undefined && 'java or guide-spring is not installed' }, () => {
  const orders = 'https://orders.example';
  const stock = 'https://stock.example';
  let server: TestServer;
  let managed: Managed;
  before(async () => {
    server = await startTestServer('sqlite');
    managed = await createTestTenant(server, { settings: { extra_grants: [jwtBearer, tokenExchange] } });
  });
  after(() => server.close());

  /** What it prints: a token, or the code of what was refused. */
  const run = async (...given: readonly string[]): Promise<string> => {
    const options = ['-Xmx192m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${jars}/*`];
    const program = join(root, 'test', 'interop', 'judges', 'SpringMachines.java');
    const child = spawn('java', [...options, program, given[0]!, managed.baseUrl, ...given.slice(1)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return (await text(child.stdout)).trim();
  };

  it('an assertion of its own beside its secret; one that another key signed is refused', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { client_id: id, client_secret: secret } = await createTestClient(managed, {
      ...{ name: 'Job', grant_types: [jwtBearer], redirect_uris: [], resources: [stock], scopes: ['stock:read'] },
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'job-1', alg: 'ES256' }] },
    });
    const keyOf = (key: KeyObject): string => JSON.stringify({ ...key.export({ format: 'jwk' }), kid: 'job-1' });
    const { sub, aud, scope } = decodeJwt(await run('bearer', id, String(secret), keyOf(privateKey))).claims;
    assert.deepEqual([sub, aud, scope], [id, stock, 'stock:read']);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    assert.equal(await run('bearer', id, String(secret), keyOf(other)), 'invalid_grant');
  });

  it('the token of who called is exchanged for one of the next API', async () => {
    const { services } = server.gatehouse;
    const tenant = (await services.tenants.bySlug(managed.slug))!;
    const shop = await createClient(services, tenant, { resources: [orders], scopes: ['orders:read'] });
    const person = await createUser(services, tenant);
    const code = await issueCode(server, tenant, shop, person, { scope: 'orders:read', resource: orders });
    const { access_token: subject } = await tokensOf(await exchange(tenant, shop, code));
    const { client_id: id, client_secret: secret } = await createTestClient(managed, {
      ...{ name: 'Orders', grant_types: [tokenExchange], redirect_uris: [], serves: [orders] },
      exchange: [{ resource: stock, scopes: ['stock:read'] }],
    });
    const { sub, aud, scope, act } = decodeJwt(await run('exchange', id, String(secret), subject, stock)).claims;
    assert.deepEqual([sub, aud, scope, act], [person.id, stock, 'stock:read', { sub: id }]);
  });
});

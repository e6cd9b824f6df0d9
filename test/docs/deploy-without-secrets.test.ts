// The guide to CI jobs that are known by the token of their platform: its registration and the scripts of its workflows, as they stand there,
// with a platform of the test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { parse as parseYaml } from 'yaml';
import { capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import { blocksOf, root } from '../support/documents.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const guide = 'docs/how-to/deploy-without-secrets.md';
const github = 'https://token.actions.githubusercontent.com';

describe('deploy-without-secrets.md', () => {
  let server: TestServer;
  let tenant: Managed;
  let platform: Server;
  /** Where the platform is. */
  let at: string;
  let folder: string;
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    tenant = await createTestTenant(server);
    folder = mkdtempSync(join(tmpdir(), 'deploy-'));
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    platform = createServer(async (request, response) => {
      const asked = new URL(request.url ?? '', at);
      const answers: Readonly<Record<string, () => object | Promise<object>>> = {
        '/.well-known/openid-configuration': () => ({ issuer: at, jwks_uri: `${at}/keys` }),
        '/keys': () => ({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'platform', alg: 'RS256' }] }),
        '/token': async () => ({
          value: await new SignJWT({ repository_id: '74', environment: 'production' })
            .setProtectedHeader({ alg: 'RS256', kid: 'platform', typ: 'JWT' })
            .setIssuer(at)
            .setSubject('repo:acme/shop:environment:production')
            .setAudience(asked.searchParams.get('audience') ?? '')
            .setIssuedAt(Math.floor(server.clock.nowMs() / 1000))
            .setExpirationTime(Math.floor(server.clock.nowMs() / 1000) + 300)
            .sign(privateKey),
        }),
      };
      assert.ok(asked.pathname !== '/token' || request.headers.authorization === 'Bearer of-the-job');
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(await answers[asked.pathname]!()));
    });
    await new Promise<void>((done) => platform.listen(0, '127.0.0.1', done));
    at = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
    await tenant.make('POST', '/workload-issuers', { name: 'GitHub Actions', issuer: at });
  });
  after(async () => {
    platform.close();
    platform.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
    await server.close();
  });

  /** The client of the guide, with what it may do. */
  const register = async (more: Json): Promise<string> => {
    const registration = blocksOf(guide).find(({ text }) => text.includes('federated_jwt'))!.text;
    const body = /-d '(\{[^']*\})'/s.exec(registration)![1]!.replaceAll(github, at);
    return String((await tenant.make('POST', '/clients', { ...(JSON.parse(body) as Json), ...more }))['client_id']);
  };
  /** Runs the last step of the guide's workflow of that name, as its platform does; gives what it printed. */
  const runStep = async (name: string): Promise<string> => {
    const workflow = blocksOf(guide)
      .filter(({ language }) => language === 'yaml')
      .map(({ text }) => parseYaml(text))
      .find((one) => one.name === name);
    const [job] = Object.values(workflow.jobs) as readonly { steps: readonly { run?: string }[] }[];
    const environment = {
      PATH: `${join(root, 'bin')}:${process.env['PATH']}`,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${at}/token?api-version=2`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
      RUNNER_TEMP: folder,
      ISSUER: tenant.baseUrl,
    };
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', job!.steps.at(-1)!.run!], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed, code] = await Promise.all([text(shell.stdout), new Promise((done) => shell.once('close', done))]);
    assert.equal(code, 0, printed);
    return printed;
  };

  it('its job reads the clients by the token of its platform alone', async () => {
    const id = await register({});
    assert.ok((await runStep('Deploy')).split('\n').includes('Deployment'));
    await tenant.call('DELETE', `/clients/${id}`);
  });

  it('its job makes the tenant follow a document, without a secret and without the database', async () => {
    await register({ scopes: capabilitiesOfTenant(tenant) });
    writeFileSync(join(folder, 'acme.yaml'), 'gatehouse: 1\nresources:\n  - { identifier: https://orders.example.com, name: Orders }\n');
    assert.match(
      await runStep('Identity'),
      /^\+ resource \S+ https:\/\/orders\.example\.com\nDone: 1 created, 0 changed, 0 deleted, 0 unchanged\.\n$/,
    );
    const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/resources');
    assert.deepEqual(
      items.map(({ name }) => name),
      ['Orders'],
    );
    assert.match(await runStep('Identity'), /^Done: 0 created, 0 changed, 0 deleted, 1 unchanged\.\n$/);
  });
});

// The guide to CI jobs that are known by the token of their platform: its registration and the script of its workflow, as they stand there,
// with a platform of the test.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { SignJWT } from 'jose';
import { parse as parseYaml } from 'yaml';
import { blocksOf } from '../support/documents.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

describe('deploy-without-secrets.md', () => {
  let server: TestServer;
  let tenant: Managed;
  before(async () => {
    server = await startTestServer('sqlite', { flags: loopbackAllowed });
    tenant = await createTestTenant(server);
  });
  after(() => server.close());

  it('its job reads the clients by the token of its platform alone', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const platform = createServer(async (request, response) => {
      const at = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
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
    try {
      const at = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
      const document = 'docs/how-to/deploy-without-secrets.md';
      const registration = blocksOf(document).find(({ text }) => text.includes('federated_jwt'))!.text;
      const body = /-d '(\{[^']*\})'/s.exec(registration)![1]!.replaceAll('https://token.actions.githubusercontent.com', at);
      await tenant.make('POST', '/workload-issuers', { name: 'GitHub Actions', issuer: at });
      await tenant.make('POST', '/clients', JSON.parse(body));
      const workflow = parseYaml(blocksOf(document).find(({ language }) => language === 'yaml')!.text);
      const { run: script } = workflow.jobs.deploy.steps[0];
      const environment = {
        ACTIONS_ID_TOKEN_REQUEST_URL: `${at}/token?api-version=2`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
        ISSUER: tenant.baseUrl,
      };
      const job = spawn('bash', ['-euo', 'pipefail', '-c', script], {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let names = '';
      const ended = new Promise((done) => job.once('close', done));
      for await (const chunk of job.stdout) names += chunk;
      const code = await ended;
      assert.deepEqual([code, names.split('\n').includes('Deployment')], [0, true]);
    } finally {
      platform.close();
      platform.closeAllConnections();
    }
  });
});

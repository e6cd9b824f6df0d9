// Pushes: registered tokens are announced to after the commit, with nothing of the person; dead tokens are forgotten; the
// adapters of both providers against servers of our own that keep every byte.
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createHttp2Server, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { PushOutcome } from '../../src/platform/push.ts';
import { createApnsPush, parseApnsAccount } from '../../src/platform/push-apns.ts';
import { createFcmPush, parseFcmAccount } from '../../src/platform/push-fcm.ts';
import { databases } from '../support/databases.ts';
import { changeSettings, createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`pushes on ${database}`, () => {
    let server: TestServer;
    let user: TestUser;
    let people = 0;
    const sent: string[] = [];
    const outcomes: PushOutcome[] = [];
    const sender = (provider: string) => async (token: string) => {
      sent.push(`${provider} ${token}`);
      return outcomes.shift() ?? 'sent';
    };
    before(async () => {
      server = await startTestServer(database, { push: { apns: sender('apns'), fcm: sender('fcm') } });
      await changeSettings(server, { ...unlimited, device: { additional_device: 'email_pin' } });
    });
    after(() => server.close());
    beforeEach(async () => {
      people += 1;
      user = await createUser(server, `person${people}@example.com`);
      sent.length = 0;
    });

    const ask = async (onDevices = true): Promise<void> => {
      const { database: db, tenants, jobs } = server.gatehouse.services;
      const tenant = (await tenants.byId(user.tenant))!;
      const request = {
        kind: 'oidc_login',
        userId: user.id,
        subjectKey: subjectKeyOf(user.id, ''),
        withNumber: true,
        lifetimeSeconds: 300,
      } as const;
      await db.write(user.tenant, (queries) => createApproval(queries, tenant, { ...request, onDevices }));
      await jobs.runNow('push-delivery');
    };

    it('every device with a token is told, once', async () => {
      const [first, second, silent] = [
        await enrolledPhone(server, user),
        await enrolledPhone(server, user),
        await enrolledPhone(server, user),
      ];
      assert.equal((await first.call('PUT', '/v1/device/push-token', { body: { provider: 'apns', token: 'token-1' } })).status, 204);
      assert.equal((await second.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: 'token-2' } })).status, 204);
      assert.equal((await silent.call('PUT', '/v1/device/push-token', { body: { provider: 'none' } })).status, 204);
      await ask();
      await server.gatehouse.services.jobs.runNow('push-delivery');
      assert.deepEqual(sent.sort(), ['apns token-1', 'fcm token-2']);
      await ask(false);
      assert.equal(sent.length, 2);
    });

    it('a dead token is forgotten; a failed push is tried again while it is of use', async () => {
      const phone = await enrolledPhone(server, user);
      const register = () => phone.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: 'token-3' } });
      await register();
      outcomes.push('gone');
      await ask();
      assert.equal(((await (await phone.get('/self')).json()) as { push_provider: string }).push_provider, 'none');
      await ask();
      assert.equal(sent.length, 1);
      await register();
      outcomes.push('failed', 'sent');
      await ask();
      await server.clock.advance(10_001);
      await server.gatehouse.services.jobs.runNow('push-delivery');
      await server.clock.advance(10_001);
      await server.gatehouse.services.jobs.runNow('push-delivery');
      assert.equal(sent.length, 3);
    });

    it('invalid_request: another provider, or a token missing or too long', async () => {
      const phone = await enrolledPhone(server, user);
      for (const [kind, body] of [
        ['provider', { provider: 'sms', token: 'x' }],
        ['token', { provider: 'apns' }],
        ['token', { provider: 'fcm', token: 'x'.repeat(4097) }],
      ] as const) {
        await assertRefusal(await phone.call('PUT', '/v1/device/push-token', { body }), 'device.invalid_request', { kind, text: /./ });
      }
      assert.equal((await phone.call('PUT', '/v1/device/push-token', { body: { provider: 'fcm', token: 'x'.repeat(4096) } })).status, 204);
    });
  });
}

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe('push adapters', () => {
  it('FCM: one access token for many pushes, no data of the person, 404 is a dead token', async () => {
    const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const received: Received[] = [];
    const statuses = [200, 404, 500];
    const server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      received.push({ path: request.url ?? '', headers: request.headers as IncomingHttpHeaders, body });
      const isToken = request.url === '/token';
      response.writeHead(isToken ? 200 : (statuses.shift() ?? 200), { 'content-type': 'application/json' });
      response.end(isToken ? '{"access_token":"access","expires_in":3600}' : '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const account = {
        project_id: 'p',
        client_email: 'push@p.example',
        token_uri: `${origin}/token`,
        private_key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }),
      };
      const push = createFcmPush(parseFcmAccount(JSON.stringify(account)), systemClock, origin);
      assert.deepEqual([await push('phone'), await push('phone'), await push('phone')], ['sent', 'gone', 'failed']);
      assert.deepEqual(
        received.map((request) => request.path),
        ['/token', ...Array(3).fill('/v1/projects/p/messages:send')],
      );
      const assertion = new URLSearchParams(received[0]!.body).get('assertion')!.split('.');
      assert.ok(verify('sha256', Buffer.from(`${assertion[0]}.${assertion[1]}`), keys.publicKey, Buffer.from(assertion[2]!, 'base64url')));
      assert.equal(received[1]!.headers['authorization'], 'Bearer access');
      assert.deepEqual(JSON.parse(received[1]!.body), {
        message: { token: 'phone', data: { type: 'approval' }, android: { priority: 'HIGH', ttl: '60s' } },
      });
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('APNs: HTTP/2 with a provider token, 410 is a dead token', async () => {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const received: Received[] = [];
    const statuses = [200, 410, 503];
    const server = createHttp2Server();
    server.on('stream', async (stream, headers) => {
      let body = '';
      for await (const chunk of stream) body += chunk;
      received.push({ path: String(headers[':path']), headers, body });
      stream.respond({ ':status': statuses.shift() ?? 200 });
      stream.end();
    });
    const sessions = new Set<{ destroy: () => void }>();
    server.on('session', (session) => sessions.add(session));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const account = {
        key_id: 'K',
        team_id: 'T',
        topic: 'org.example.app',
        private_key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }),
        origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      };
      const push = createApnsPush(parseApnsAccount(JSON.stringify(account)), systemClock);
      assert.deepEqual([await push('abc'), await push('abc'), await push('abc')], ['sent', 'gone', 'failed']);
      const [first] = received;
      assert.equal(first!.path, '/3/device/abc');
      assert.equal(first!.headers['apns-topic'], 'org.example.app');
      assert.deepEqual(JSON.parse(first!.body), { aps: { 'content-available': 1 }, type: 'approval' });
      const token = String(first!.headers['authorization']).replace('bearer ', '').split('.');
      const key = { key: createPublicKey(keys.privateKey), dsaEncoding: 'ieee-p1363' } as const;
      assert.ok(verify('sha256', Buffer.from(`${token[0]}.${token[1]}`), key, Buffer.from(token[2]!, 'base64url')));
    } finally {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

// Pushes (design 12, 3): what each vendor gets, byte for byte where its documentation fixes it; what becomes of its answers; whose
// credentials are used; and what a push never says.
import assert from 'node:assert/strict';
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createApproval, subjectKeyOf } from '../../src/approvals/approval.ts';
import { pushEndpointCharsMax, pushTokenCharsMax } from '../../src/contract/limits.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { createUser, enrolledPhone, type TestUser, unlimited } from '../support/enrolled-phone.ts';
import { createTestTenant, type Managed } from '../support/management.ts';
import { createPhone, type Phone } from '../support/phone.ts';
import { type PushVendors, pushAccounts, startPushVendors } from '../support/push-vendors.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { createReceiver } from '../support/web-push-receiver.ts';

const accounts = pushAccounts();
const endpoint = 'https://fcm.googleapis.com/fcm/send/abc:def?x=1';
const sentence = 'A request waits for your decision.';

interface Shown {
  readonly push_provider: string;
  readonly push: { readonly at: string; readonly outcome: string; readonly reason: string | null } | null;
}

for (const database of databases) {
  describe(`pushes on ${database}`, () => {
    let server: TestServer;
    let vendors: PushVendors;
    let tenant: Managed;
    let user: TestUser;
    let people = 0;
    before(async () => {
      vendors = await startPushVendors();
      server = await startTestServer(database, { pushOrigins: vendors.origins, flags: reachesLoopback });
      tenant = await createTestTenant(server);
    });
    after(async () => {
      await server.close();
      await vendors.close();
    });
    beforeEach(async () => {
      people += 1;
      user = await createUser(server, `person${people}@example.com`, tenant.id);
      await tenant.make('PATCH', '/settings', {
        ...unlimited,
        device: { additional_device: 'email_pin' },
        push: { apns: accounts.apns, fcm: accounts.fcm },
      });
      vendors.clear();
    });

    const phoneWith = async (provider: string, token?: string): Promise<Phone> => {
      const phone = await enrolledPhone(server, user, createPhone(tenant.baseUrl, server.clock.nowMs));
      assert.equal((await phone.call('PUT', '/v1/device/push-token', { body: { provider, token } })).status, 204);
      return phone;
    };
    const ask = async (onDevices = true): Promise<{ readonly id: string; readonly expiresAtMs: number }> => {
      const { database: db, tenants } = server.gatehouse.services;
      const asking = (await tenants.byId(user.tenant))!;
      const facts = { kind: 'oidc_login', userId: user.id, subjectKey: subjectKeyOf(user.id, ''), withNumber: true } as const;
      const made = await db.write(user.tenant, (queries) => createApproval(queries, asking, { ...facts, lifetimeSeconds: 300, onDevices }));
      assert.ok(made.ok);
      const row = await db.read(user.tenant, (queries) =>
        queries
          .selectFrom('approvals')
          .select('expires_at')
          .where('tenant_id', '=', user.tenant)
          .where('id', '=', made.approvalId)
          .executeTakeFirstOrThrow(),
      );
      return { id: made.approvalId, expiresAtMs: row.expires_at };
    };
    const deliver = (): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');
    const shown = async (phone: Phone): Promise<Shown> => (await tenant.make('GET', `/devices/${phone.deviceId}`)) as unknown as Shown;
    const push = async (): Promise<Awaited<ReturnType<typeof ask>>> => {
      const approval = await ask();
      await deliver();
      return approval;
    };

    it('APNs: an alert of priority 10 with the approval’s end and id, by a token of the tenant’s own key, on one connection', async () => {
      const phone = await phoneWith('apns', 'a1b2');
      const first = await push();
      await push();
      const [{ method, path, headers, body }] = vendors.captured.apns as never as [(typeof vendors.captured.apns)[number]];
      const { authorization, ...others } = headers;
      assert.deepEqual([method, path], ['POST', '/3/device/a1b2']);
      assert.deepEqual(
        { ...others },
        {
          ...others,
          'apns-topic': 'org.example.app',
          'apns-push-type': 'alert',
          'apns-priority': '10',
          'apns-expiration': String(Math.floor(first.expiresAtMs / 1000)),
          'apns-collapse-id': first.id,
        },
      );
      assert.deepEqual(Object.keys(others).filter((name) => name.startsWith('apns-')).length, 5);
      assert.equal(
        body.toString(),
        `{"aps":{"alert":{"body":"${sentence}"},"sound":"default","mutable-content":1,"interruption-level":"time-sensitive"},"type":"approval","approval_id":"${first.id}"}`,
      );
      const [head, claims] = checkJwt(String(authorization).replace(/^bearer /, ''), accounts.apnsKey);
      assert.deepEqual(head, { alg: 'ES256', kid: 'KEYID12345' });
      assert.deepEqual(claims, { iss: 'TEAMID1234', iat: claims['iat'] });
      assert.ok(Math.abs(Number(claims['iat']) - server.clock.nowMs() / 1000) < 60);
      assert.deepEqual(
        [vendors.captured.apns.length, vendors.captured.apns[1]!.headers['authorization'], vendors.connections()],
        [2, authorization, 1],
      );
      const { push_provider: provider, push: last } = await shown(phone);
      assert.deepEqual([provider, last!.outcome, last!.reason], ['apns', 'sent', null]);
      assert.ok(!Number.isNaN(Date.parse(last!.at)));
    });

    it('FCM: notification and data, high priority, by an access token of the service account for Google’s address alone', async () => {
      await phoneWith('fcm', 'token:1');
      const first = await push();
      await push();
      assert.deepEqual(
        vendors.captured.token.map(({ method, path }) => [method, path]),
        [['POST', '/token']],
      );
      const form = new URLSearchParams(vendors.captured.token[0]!.body.toString());
      assert.deepEqual([...form.keys()], ['grant_type', 'assertion']);
      assert.equal(form.get('grant_type'), 'urn:ietf:params:oauth:grant-type:jwt-bearer');
      const [head, claims] = checkJwt(form.get('assertion')!, accounts.fcmKey);
      assert.deepEqual(head, { alg: 'RS256', typ: 'JWT' });
      assert.deepEqual(claims, {
        iss: accounts.fcm.client_email,
        scope: 'https://www.googleapis.com/auth/firebase.messaging',
        aud: 'https://oauth2.googleapis.com/token',
        iat: claims['iat'],
        exp: Number(claims['iat']) + 3600,
      });
      const [{ method, path, headers, body }, second] = vendors.captured.fcm as never as [(typeof vendors.captured.fcm)[number], unknown];
      assert.ok(second !== undefined);
      assert.deepEqual([method, path], ['POST', '/v1/projects/example-project/messages:send']);
      assert.deepEqual([headers['authorization'], headers['content-type']], ['Bearer access', 'application/json']);
      const ttl = /"ttl":"(\d+)s"/.exec(body.toString())![1]!;
      assert.ok(Number(ttl) > 240 && Number(ttl) <= 300, ttl);
      assert.equal(
        body.toString(),
        `{"message":{"token":"token:1","notification":{"body":"${sentence}"},"data":{"type":"approval","approval_id":"${first.id}"},"android":{"priority":"HIGH","ttl":"${ttl}s","notification":{"tag":"${first.id}"}}}}`,
      );
    });

    it('Web Push: encrypted to the browser, signed by the tenant’s VAPID key, urgent, with the approval as its topic', async () => {
      const receiver = createReceiver(endpoint);
      const phone = await phoneWith('web', receiver.subscription);
      const registered = (await (await phone.get('/push-token')).json()) as { provider: string; vapid_public_key: string };
      assert.equal(registered.provider, 'web');
      const approval = await push();
      const [{ method, path, headers, body }] = vendors.captured.web as never as [(typeof vendors.captured.web)[number]];
      assert.deepEqual([method, path], ['POST', '/fcm/send/abc:def?x=1']);
      assert.deepEqual(
        ['content-type', 'content-encoding', 'urgency', 'topic', 'content-length'].map((name) => headers[name]),
        ['application/octet-stream', 'aes128gcm', 'high', approval.id, String(body.byteLength)],
      );
      assert.ok(Number(headers['ttl']) > 240 && Number(headers['ttl']) <= 300);
      assert.equal(receiver.open(body), `{"type":"approval","approval_id":"${approval.id}","body":"${sentence}"}`);
      const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(\S+)$/.exec(String(headers['authorization'])) ?? [];
      assert.equal(key, registered.vapid_public_key);
      const [head, claims] = checkJwt(token, pointKey(key));
      assert.deepEqual(head, { typ: 'JWT', alg: 'ES256' });
      const { aud, sub, exp } = claims;
      assert.deepEqual([aud, sub], ['https://fcm.googleapis.com', 'mailto:gatehouse@localhost']);
      const aheadSeconds = Number(exp) - server.clock.nowMs() / 1000;
      assert.ok(aheadSeconds > 0 && aheadSeconds <= 24 * 3600);
    });

    it('a recovery is told to the phones it will end, while its link works', async () => {
      const phone = await phoneWith('fcm', 'told');
      const path = `/users/${user.id}/recoveries`;
      const made = await tenant.make('POST', path, { reason: 'Lost phone', mail: false });
      await deliver();
      const { message } = JSON.parse(vendors.captured.fcm[0]!.body.toString());
      assert.deepEqual(message.data, { type: 'recovery', approval_id: made['id'] });
      assert.match(message.notification.body, /Your account is being recovered/);
      assert.doesNotMatch(JSON.stringify(message), /welcome|Lost phone|#/);
      for (const end of ['revoked', 'used'] as const) {
        vendors.clear();
        vendors.answer('fcm', { status: 503 });
        const next = await tenant.make('POST', path, { reason: 'Lost phone', mail: false });
        await deliver();
        assert.equal(vendors.captured.fcm.length, 1);
        const body = new URLSearchParams({ token: String(next['recovery_url']).split('#')[1]! });
        const ended =
          end === 'revoked'
            ? await tenant.call('DELETE', `${path}/${String(next['id'])}`)
            : await fetch(`${tenant.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', body });
        assert.equal(ended.status, end === 'revoked' ? 204 : 303);
        await server.clock.advance(15_001);
        await deliver();
        assert.equal(vendors.captured.fcm.length, 1, `not told again once ${end}`);
      }
      assert.equal((await shown(phone)).push_provider, 'none');
    });

    it('a push names nobody and nothing, in the person’s language', async () => {
      await server.gatehouse.services.database.write(user.tenant, (queries) =>
        queries
          .updateTable('users')
          .set({ preferred_language: 'de-AT' })
          .where('tenant_id', '=', user.tenant)
          .where('id', '=', user.id)
          .execute(),
      );
      await phoneWith('fcm', 'token:1');
      await push();
      const text = vendors.captured.fcm[0]!.body.toString();
      assert.ok(text.includes('"notification":{"body":"Eine Anfrage wartet auf Ihre Entscheidung."}'), text);
      for (const word of [user.email, user.id, tenant.id]) assert.ok(!text.includes(word), word);
    });

    it('every device with a token is told, once; nobody of an approval that is not for devices, or was decided meanwhile', async () => {
      const phone = await phoneWith('apns', 'token-1');
      await phoneWith('fcm', 'token-2');
      await phoneWith('none');
      await push();
      await deliver();
      const counts = () => [vendors.captured.apns.length, vendors.captured.fcm.length];
      assert.deepEqual(counts(), [1, 1]);
      await ask(false);
      await deliver();
      assert.deepEqual(counts(), [1, 1]);
      for (const kind of ['apns', 'fcm'] as const) vendors.answer(kind, { status: 503 });
      const { id } = await push();
      assert.equal((await phone.post(`/approvals/${id}/deny`, { reason: 'mistake' })).status, 200);
      await server.clock.advance(15_001);
      await deliver();
      assert.deepEqual(counts(), [2, 2]);
    });

    const dead = [
      ['apns', 'abc', { status: 410, body: { reason: 'Unregistered', timestamp: 1 } }, 'Unregistered'],
      ['fcm', 'abc', fcmError(404, 'NOT_FOUND', 'UNREGISTERED'), 'UNREGISTERED'],
      ['web', createReceiver(endpoint).subscription, { status: 410 }, 'HTTP 410'],
      ['web', createReceiver(endpoint).subscription, { status: 404 }, 'HTTP 404'],
    ] as const;
    for (const [provider, token, answer, reason] of dead) {
      it(`the token of an uninstalled app is dropped: ${provider} ${reason}`, async () => {
        const phone = await phoneWith(provider, token);
        vendors.answer(provider, answer);
        await push();
        const { push_provider: now, push: last } = await shown(phone);
        assert.deepEqual([now, last!.outcome, last!.reason], ['none', 'gone', reason]);
        assert.equal(((await (await phone.get('/self')).json()) as Shown).push_provider, 'none');
        await push();
        assert.equal(vendors.captured[provider].length, 1);
      });
    }

    const refused = [
      ['apns', 'apns', { status: 403, body: { reason: 'InvalidProviderToken' } }, 'refused', 'InvalidProviderToken'],
      ['apns', 'apns', { status: 400, body: { reason: 'BadDeviceToken' } }, 'rejected', 'BadDeviceToken'],
      ['fcm', 'fcm', fcmError(403, 'PERMISSION_DENIED', 'SENDER_ID_MISMATCH'), 'refused', 'SENDER_ID_MISMATCH'],
      ['fcm', 'fcm', fcmError(400, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT'), 'rejected', 'INVALID_ARGUMENT'],
      ['fcm', 'token', { status: 400, body: { error: 'invalid_grant' } }, 'refused', 'invalid_grant'],
      ['web', 'web', { status: 403, body: { reason: 'VapidPkHashMismatch' } }, 'refused', 'VapidPkHashMismatch'],
      ['web', 'web', { status: 413 }, 'rejected', 'HTTP 413'],
    ] as const;
    for (const [provider, at, answer, outcome, reason] of refused) {
      it(`${provider} answers ${answer.status} ${reason}: ${outcome}, the token stays, the push is not repeated`, async () => {
        const phone = await phoneWith(provider, provider === 'web' ? createReceiver(endpoint).subscription : 'abc');
        // Another account: what was granted to the one before does not count.
        if (at === 'token') await tenant.make('PATCH', '/settings', { push: { fcm: pushAccounts().fcm } });
        vendors.answer(at, answer);
        await push();
        const { push_provider: now, push: last } = await shown(phone);
        assert.deepEqual([now, last!.outcome, last!.reason], [provider, outcome, reason]);
        await server.clock.advance(60_000);
        await deliver();
        assert.equal(vendors.captured[at].length, 1);
      });
    }

    it('a failed push is tried again while its approval waits', async () => {
      const phone = await phoneWith('apns', 'abc');
      vendors.answer('apns', { status: 503, body: { reason: 'ServiceUnavailable' } });
      await push();
      assert.deepEqual((await shown(phone)).push!.outcome, 'failed');
      await server.clock.advance(15_001);
      await deliver();
      assert.deepEqual([vendors.captured.apns.length, (await shown(phone)).push!.outcome], [2, 'sent']);
    });

    it('a dead vendor delays nobody: the others hear while it hangs, and it is tried again', async () => {
      const hung = await phoneWith('apns', 'hangs');
      await phoneWith('fcm', 'abc');
      await phoneWith('web', createReceiver('https://updates.push.services.mozilla.com/wpush/v2/hangs').subscription);
      await phoneWith('web', createReceiver(endpoint).subscription);
      vendors.answer('apns', 'hang');
      await ask();
      const delivered = deliver();
      await until(() => vendors.captured.apns.length === 1 && vendors.captured.fcm.length === 1 && vendors.captured.web.length === 2);
      assert.equal((await shown(hung)).push, null, 'the dead vendor has not answered yet');
      const other = await createUser(server, `neighbour${people}@example.com`, tenant.id);
      user = other;
      await phoneWith('fcm', 'neighbour');
      await ask();
      await until(() => vendors.captured.fcm.length === 2);
      assert.equal((await shown(hung)).push, null);
      await delivered;
      const { outcome, reason } = (await shown(hung)).push!;
      assert.deepEqual([outcome, reason], ['failed', 'timeout']);
    });

    it('a tenant without credentials of its own or the operator’s sends nothing and says so', async () => {
      await tenant.make('PATCH', '/settings', { push: { apns: null } });
      const phone = await phoneWith('apns', 'abc');
      await push();
      const { push: last } = await shown(phone);
      assert.deepEqual([last!.outcome, last!.reason, vendors.captured.apns.length], ['unsent', 'no_credentials', 0]);
    });

    it('invalid_request: another provider, a token missing or too long, a subscription of nobody we push to', async () => {
      const phone = await phoneWith('none');
      const good = JSON.parse(createReceiver(endpoint).subscription) as { keys: { p256dh: string; auth: string } };
      const web = (change: object) => ({ provider: 'web', token: JSON.stringify({ ...good, ...change }) });
      const longest = 'https://fcm.googleapis.com/'.padEnd(pushEndpointCharsMax, 'x');
      const offCurve = Buffer.alloc(65, 7).fill(4, 0, 1).toString('base64url');
      for (const [kind, body] of [
        ['provider', { provider: 'sms', token: 'x' }],
        ['token', { provider: 'apns' }],
        ['token', { provider: 'fcm', token: 'x'.repeat(pushTokenCharsMax + 1) }],
        ['token', { provider: 'web', token: 'x' }],
        ['token', web({ endpoint: 'https://attacker.example/fcm.googleapis.com' })],
        ['token', web({ endpoint: 'https://fcm.googleapis.com.attacker.example/' })],
        ['token', web({ endpoint: 'https://evilpush.apple.com.example/' })],
        ['token', web({ endpoint: 'http://fcm.googleapis.com/fcm/send/a' })],
        ['token', web({ endpoint: 'https://fcm.googleapis.com:8443/fcm/send/a' })],
        ['token', web({ endpoint: 'https://user@fcm.googleapis.com/fcm/send/a' })],
        ['token', web({ endpoint: `${longest}x` })],
        ['token', web({ keys: { ...good.keys, p256dh: offCurve } })],
        ['token', web({ keys: { ...good.keys, auth: 'AAAA' } })],
        ['token', web({ keys: undefined })],
      ] as const) {
        await assertRefusal(await phone.call('PUT', '/v1/device/push-token', { body }), 'device.invalid_request', { kind, text: /./ });
      }
      for (const body of [
        { provider: 'fcm', token: 'x'.repeat(pushTokenCharsMax) },
        web({ endpoint: longest }),
        web({ endpoint: 'https://updates.push.services.mozilla.com/wpush/v2/a' }),
        web({ endpoint: 'https://web.push.apple.com/a' }),
        web({ endpoint: 'https://wns2-par02p.notify.windows.com/w/?token=a' }),
      ])
        assert.equal((await phone.call('PUT', '/v1/device/push-token', { body })).status, 204);
    });
  });
}

it('RFC 8291, 5: the receiver of these tests opens the RFC’s own message', () => {
  const receiver = createReceiver(endpoint, {
    privateKey: Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url'),
    auth: Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url'),
  });
  const message =
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN';
  assert.equal(receiver.open(Buffer.from(message, 'base64url')), 'When I grow up, I want to be a watermelon');
});

function fcmError(status: number, code: string, errorCode: string) {
  const details = [{ '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode }];
  return { status, body: { error: { code: status, message: 'text', status: code, details } } };
}

/** Header and claims of a JWT whose signature holds. */
function checkJwt(token: string, key: KeyObject): readonly [object, Readonly<Record<string, unknown>>] {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const isEc = key.asymmetricKeyType === 'ec';
  const by = isEc ? ({ key, dsaEncoding: 'ieee-p1363' } as const) : key;
  assert.ok(verify('sha256', Buffer.from(`${head}.${claims}`), by, Buffer.from(signature, 'base64url')));
  const [parsedHead, parsedClaims] = [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
  return [parsedHead, parsedClaims];
}

function pointKey(point: string): KeyObject {
  const bytes = Buffer.from(point, 'base64url');
  const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)].map((part) => part.toString('base64url'));
  return createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
}

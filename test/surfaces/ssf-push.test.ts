// Security events pushed over HTTP (RFC 8935): each kind by a real act, in order, to a receiver that verifies them; receivers that fail,
// refuse, redirect or lie inside; and what a restart leaves.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import type { ClientId, SsfStreamId, TenantId, UserId } from '../../src/domain/ids.ts';
import { findStreamOf, updateStream } from '../../src/storage/registry/extending/ssf-streams.ts';
import { type CreationOptions, createPasskey, flags } from '../support/authenticator.ts';
import { databases } from '../support/databases.ts';
import { createUser, enrolledPhone, unlimited } from '../support/enrolled-phone.ts';
import { openApp } from '../support/first-party-app.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { givePasskey, signInByPhone } from '../support/passkeys.ts';
import { createPhone, makeKey } from '../support/phone.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pushMethod, type Receiver, type Stream, tellNow, toldBy, verifySet } from '../support/ssf.ts';
import { answerWith, loopbackAllowed, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

for (const database of databases) {
  describe(`security events pushed on ${database}`, () => {
    let endpoint: WebhookReceiver;
    let server: TestServer;
    let tenant: Managed;
    let paths = 0;
    before(async () => {
      endpoint = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
      tenant = await createTestTenant(server, { settings: { login_methods: ['phone', 'passkey', 'email_pin'], ...unlimited } });
    });
    after(async () => {
      await server?.close();
      await endpoint?.close();
    });
    interface Pushed extends Receiver {
      readonly path: string;
      readonly stream: Stream;
    }
    const pushTo = async (fields: Json = {}, header?: string): Promise<Pushed> => {
      const receiver = await makeReceiver(tenant, fields);
      paths += 1;
      const path = `/sets/${paths}`;
      const delivery = {
        method: pushMethod,
        endpoint_url: endpoint.url(path),
        ...(header !== undefined && { authorization_header: header }),
      };
      return { ...receiver, path, stream: await receiver.makeStream({ delivery }) };
    };
    const arrived = (receiver: Pushed) => endpoint.received.filter(({ path }) => path === receiver.path);
    /** What arrived since the last time. */
    const seen = new Map<string, number>();
    const news = async (receiver: Pushed): Promise<readonly (readonly unknown[])[]> => {
      await tellNow(server);
      for (let before = -1; before !== arrived(receiver).length; ) {
        before = arrived(receiver).length;
        await server.gatehouse.services.jobs.runNow('deliveries');
      }
      const all = arrived(receiver);
      const fresh = all.slice(seen.get(receiver.path) ?? 0);
      seen.set(receiver.path, all.length);
      return Promise.all(fresh.map(({ body }) => toldBy(tenant, receiver, body)));
    };
    const sub = (id: string): Json => ({ format: 'iss_sub', iss: tenant.baseUrl, sub: id });
    const risc = (id: string, name: string) => [sub(id), `risc/event-type/${name}`, {}];
    const caep = (id: string, name: string, by: string, reason: string, more: Json = {}) => [
      sub(id),
      `caep/event-type/${name}`,
      { initiating_entity: by, reason_admin: { en: reason }, ...more },
    ];
    const credential = (id: string, by: string, reason: string, kind: string, change: string) =>
      caep(id, 'credential-change', by, reason, { credential_type: kind, change_type: change });

    it('accounts: suspended, active again, another address, deleted; in order, with the header of the receiver', async () => {
      const receiver = await pushTo({}, 'Bearer of-the-receiver');
      const user = await createTestUser(tenant, 'pushed@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tenant.make('POST', `/users/${user.id}/activate`);
      const emails = [{ value: 'other@example.com', primary: true }, { value: 'pushed@example.com' }];
      await tenant.make('PATCH', `/users/${user.id}`, { emails });
      await tenant.make('PATCH', `/users/${user.id}`, { emails: emails.slice(0, 1) }); // the same main address
      await tenant.make('PATCH', `/users/${user.id}`, { display_name: 'Ada' });
      const changed = [
        { format: 'email', email: 'pushed@example.com' },
        'risc/event-type/identifier-changed',
        { 'new-value': 'other@example.com' },
      ];
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled'), risc(user.id, 'account-enabled'), changed]);
      await tenant.make('DELETE', `/users/${user.id}`);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-purged')]);
      for (const { headers } of arrived(receiver))
        assert.deepEqual(
          [headers['content-type'], headers['accept'], headers['authorization']],
          ['application/secevent+jwt', 'application/json', 'Bearer of-the-receiver'],
        );
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?limit=200');
      assert.ok(!JSON.stringify(items).includes('other@example.com'), 'the trail holds no address');
    });

    it('SCIM: another address and suspension by the directory are told too', async () => {
      const receiver = await pushTo();
      const user = await createTestUser(tenant, 'scim-pushed@example.com');
      const scim = (Operations: readonly Json[]): Promise<Response> =>
        fetch(`${tenant.baseUrl}/scim/v2/Users/${user.id}`, {
          method: 'PATCH',
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/scim+json' },
          body: JSON.stringify({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations }),
        });
      const emails = [{ value: 'scim-other@example.com', primary: true }];
      assert.equal((await scim([{ op: 'replace', path: 'emails', value: emails }])).status, 200);
      assert.equal((await scim([{ op: 'replace', path: 'active', value: false }])).status, 200);
      const subject = { format: 'email', email: 'scim-pushed@example.com' };
      assert.deepEqual(await news(receiver), [
        [subject, 'risc/event-type/identifier-changed', { 'new-value': 'scim-other@example.com' }],
        risc(user.id, 'account-disabled'),
      ]);
    });

    it('sessions: all of a person to every receiver, one to the application it is of; a sign-out of the person to none', async () => {
      const { services } = server.gatehouse;
      const [receiver, other] = [await pushTo(), await pushTo()];
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const user = await createTestUser(tenant, 'sessions@example.com');
      const client = { ...(await createClient(services, stored)), clientId: receiver.clientId as never };
      const { grantId } = await issueTokens(services, stored, client, user.id as UserId);
      await tenant.make('DELETE', `/users/${user.id}/sessions/${grantId}`);
      assert.deepEqual(await news(receiver), [caep(user.id, 'session-revoked', 'admin', 'A session was ended.')]);
      assert.deepEqual(await news(other), []);
      await tenant.make('DELETE', `/users/${user.id}/sessions`);
      for (const one of [receiver, other])
        assert.deepEqual(await news(one), [caep(user.id, 'session-revoked', 'admin', 'All sessions were ended.')]);
    });

    it('sessions: a recovery that is used ends all, and so does one that is stopped afterwards; one that nobody used ends none', async () => {
      const receiver = await pushTo();
      const welcome = async (path: string, token: string | undefined): Promise<number> => {
        const [headers, body] = [{ accept: 'application/json' }, new URLSearchParams({ token: token ?? '' })];
        return (await fetch(`${tenant.baseUrl}/welcome${path}`, { method: 'POST', redirect: 'manual', headers, body })).status;
      };
      const recover = async (email: string) => {
        const { id } = await createTestUser(tenant, email);
        const made = await tenant.make('POST', `/users/${id}/recoveries`, { reason: 'Lost phone', mail: false });
        const notice = (await mailsTo(server, email)).find(({ subject }) => /being recovered/.test(subject));
        return { id, link: String(made['recovery_url']).split('#')[1], stop: /stop\?token=([\w-]{43})/.exec(notice?.text ?? '')?.[1] };
      };
      const [used, unused] = [await recover('used@example.com'), await recover('unused@example.com')];
      assert.equal(await welcome('', used.link), 303);
      const ended = caep(used.id, 'session-revoked', 'user', 'All sessions were ended by a recovery.');
      assert.deepEqual(await news(receiver), [ended]);
      for (const { stop } of [used, unused]) assert.equal(await welcome('/stop', stop), 200);
      assert.deepEqual(await news(receiver), [caep(used.id, 'session-revoked', 'user', 'A recovery was stopped, and all sessions ended.')]);
    });

    it('credentials: passkeys and phones added and removed, keys changed', async () => {
      const { services } = server.gatehouse;
      const receiver = await pushTo();
      const user = await createUser(server, 'credentials@example.com', tenant.id as TenantId);
      const phone = await enrolledPhone(server, user, createPhone(tenant.baseUrl, server.clock.nowMs));
      assert.deepEqual(await news(receiver), [credential(user.id, 'user', 'A phone was enrolled.', 'app', 'create')]);
      const started = (await (await phone.post('/keys/rotate/start', {})).json()) as { readonly nonce: string };
      const keys = (['pop', 'uv'] as const).map((purpose) => {
        const old = phone.keys[purpose];
        return phone.rotation(old, makeKey(purpose, 'ES256', old.keyId), started.nonce);
      });
      assert.equal((await phone.post('/keys/rotate/confirm', { nonce: started.nonce, keys })).status, 200);
      assert.deepEqual(await news(receiver), [credential(user.id, 'user', 'A phone has new keys.', 'app', 'update')]);
      const stored = (await services.tenants.bySlug(tenant.slug))!;
      const { visitor } = await openApp(server, 'account', tenant, user.email, (login) => signInByPhone(server, stored, login, user.email));
      const page = await (await visitor.page('/passkeys/new')).text();
      const quoted = /data-options="([^"]+)"/.exec(page)?.[1] ?? 'no options';
      const options: CreationOptions = JSON.parse(quoted.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code))));
      const passkey = createPasskey(new URL(tenant.baseUrl).origin, userHandleOf(user.id), 0);
      const response = JSON.stringify(passkey.register(options, { flags: flags.userPresent | flags.userVerified }));
      assert.equal((await visitor.submit('/passkeys', { name: 'Laptop', response })).status, 303);
      assert.deepEqual(await news(receiver), [credential(user.id, 'user', 'A passkey was added.', 'fido2-platform', 'create')]);
      const given = await givePasskey(server, stored, user);
      await tenant.make('DELETE', `/users/${user.id}/passkeys/${given.id}`);
      await tenant.make('DELETE', `/devices/${phone.deviceId}/keys/${phone.keys.pop.keyId}`);
      await tenant.make('DELETE', `/devices/${phone.deviceId}`);
      assert.deepEqual(await news(receiver), [
        credential(user.id, 'admin', 'A passkey was removed.', 'fido2-platform', 'revoke'),
        credential(user.id, 'admin', 'A key of a phone was revoked.', 'app', 'update'),
        credential(user.id, 'admin', 'A phone was revoked.', 'app', 'revoke'),
      ]);
    });

    it('a receiver whose scopes are taken away is told of nothing, and of what happened meanwhile when it has them again', async () => {
      const receiver = await pushTo();
      const user = await createTestUser(tenant, 'unread@example.com');
      const give = (scopes: readonly string[]): Promise<Json> => tenant.make('PATCH', `/clients/${receiver.clientId}`, { scopes });
      await give([]);
      await tenant.make('POST', `/users/${user.id}/suspend`);
      assert.deepEqual(await news(receiver), []);
      await give(['ssf.read']);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled')]);
      await give([]);
      assert.equal((await tenant.call('POST', `/ssf-streams/${receiver.stream.stream_id}/verify`)).status, 204);
      assert.deepEqual(await news(receiver), []);
    });

    it('a receiver that fails gets the same token again, and nothing that came after it before', async () => {
      const receiver = await pushTo();
      const user = await createTestUser(tenant, 'failing@example.com');
      endpoint.answer(receiver.path, answerWith(503));
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tenant.make('POST', `/users/${user.id}/activate`);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled')]);
      endpoint.answer(receiver.path, answerWith(400, { 'content-type': 'application/json' }, '{"err":"authentication_failed"}'));
      await server.clock.advance(7000); // five seconds and the jitter
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled')]);
      endpoint.answer(receiver.path, answerWith(202));
      await server.clock.advance(40_000);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled'), risc(user.id, 'account-enabled')]);
      const ids = await Promise.all(arrived(receiver).map(async ({ body }) => (await verifySet(tenant, receiver, body)).jti));
      assert.equal(new Set(ids).size, 2);
      assert.equal(new Set(ids.slice(0, 3)).size, 1);
    });

    it('a token that its receiver refuses is recorded and not sent again; the next one is', async () => {
      const receiver = await pushTo();
      const user = await createTestUser(tenant, 'refused@example.com');
      endpoint.answer(
        receiver.path,
        answerWith(400, { 'content-type': 'application/json' }, '{"err":"invalid_audience","description":"Not us"}'),
      );
      await tenant.make('POST', `/users/${user.id}/suspend`);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled')]);
      endpoint.answer(receiver.path, answerWith(202));
      await tenant.make('POST', `/users/${user.id}/activate`);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-enabled')]);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=ssf_stream.set_refused');
      const { jti } = await verifySet(tenant, receiver, arrived(receiver)[0]!.body);
      assert.deepEqual(
        items.map(({ reason, actor, target, data }) => [reason, actor, target, data]),
        [['invalid_audience', 'system', `ssf_stream:${receiver.stream.stream_id}`, { client: receiver.clientId, jti }]],
      );
    });

    it('verification is pushed; of a paused stream when it is enabled', async () => {
      const receiver = await pushTo();
      const { stream } = receiver;
      const verify = async (state: string): Promise<void> => {
        assert.equal((await receiver.call('POST', '/verify', { stream_id: stream.stream_id, state })).status, 204);
      };
      const event = (state: string) => [{ format: 'opaque', id: stream.stream_id }, 'ssf/event-type/verification', { state }];
      await verify('one');
      assert.deepEqual(await news(receiver), [event('one')]);
      await receiver.setStatus(stream, 'paused');
      await verify('two');
      assert.deepEqual(await news(receiver), []);
      await receiver.setStatus(stream, 'enabled');
      assert.deepEqual(await news(receiver), [event('two')]);
      await verify('three');
      const gone = await receiver.call('DELETE', `/streams?stream_id=${stream.stream_id}`);
      assert.equal(gone.status, 204, await gone.text());
    });

    it('a receiver that redirects, or lies inside, is never followed there', async () => {
      const receiver = await pushTo();
      endpoint.answer(receiver.path, answerWith(307, { location: endpoint.url('/inside') }));
      const user = await createTestUser(tenant, 'redirected@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      assert.deepEqual(await news(receiver), [risc(user.id, 'account-disabled')]);
      const strict = await startTestServer(database);
      try {
        const inside = await createTestTenant(strict);
        const walled = await makeReceiver(inside);
        const { stream_id: id } = await walled.makeStream({ delivery: { method: pushMethod, endpoint_url: 'https://moves.invalid/' } });
        await strict.gatehouse.services.cache.write(inside.id as TenantId, async (queries) => {
          const stream = (await findStreamOf(queries, inside.id as TenantId, walled.clientId as ClientId))!;
          await updateStream(queries, inside.id as TenantId, id as SsfStreamId, { ...stream, url: endpoint.url('/inside') });
        });
        await inside.make('POST', `/users/${(await createTestUser(inside, 'walled@example.com')).id}/suspend`);
        await tellNow(strict);
      } finally {
        await strict.close();
      }
      assert.deepEqual(
        endpoint.received.filter(({ path }) => path === '/inside'),
        [],
      );
    });

    it('what waits when the server ends is delivered by the next one', async () => {
      const first = await startTestServer(database, { flags: loopbackAllowed });
      const inside = await createTestTenant(first);
      const receiver = await makeReceiver(inside);
      endpoint.answer('/restarted', answerWith(503));
      await receiver.makeStream({ delivery: { method: pushMethod, endpoint_url: endpoint.url('/restarted') } });
      const user = await createTestUser(inside, 'restarted@example.com');
      await inside.make('POST', `/users/${user.id}/suspend`);
      await tellNow(first);
      await inside.make('POST', `/users/${user.id}/activate`);
      await first.gatehouse.close();
      endpoint.answer('/restarted', answerWith(202));
      const next = await startTestServer(database, {
        flags: { ...loopbackAllowed, public_url: first.url },
        database: first.database,
        clock: first.clock,
      });
      try {
        await first.clock.advance(7000);
        const types = async (): Promise<readonly unknown[]> => {
          const bodies = endpoint.received.filter(({ path }) => path === '/restarted').map(({ body }) => body);
          return bodies.map((body) =>
            Object.keys(JSON.parse(Buffer.from(body.split('.')[1]!, 'base64url').toString()).events)[0]
              ?.split('/')
              .at(-1),
          );
        };
        for (let turn = 0; turn < 4; turn += 1) await tellNow(next);
        assert.deepEqual(await types(), ['account-disabled', 'account-disabled', 'account-enabled']);
      } finally {
        await next.close();
        await first.database.drop();
      }
    });
  });
}

// The modules of the OpenID Foundation's plans for transmitters of security events (SSF 1.0 and its CAEP Interoperability Profile), in our
// own words: what goes over a stream by push (RFC 8935) and poll (RFC 8936). The control of streams: oidf-ssf-streams.test.ts.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createUser, enrolledPhone } from '../support/enrolled-phone.ts';
import { type Json, jsonOf } from '../support/management.ts';
import { eventTypes, type Judge, openJudge, pushHeader, pushPath, type Told } from '../support/oidf-ssf.ts';
import { createPhone } from '../support/phone.ts';
import { pushMethod, type Stream, tellNow } from '../support/ssf.ts';
import { answerWith } from '../support/webhooks.ts';

interface Polled {
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable?: boolean;
}
const pollOnly = { maxEvents: 10, returnImmediately: true };
const verified = ({ stream_id: id }: Stream, event: Json) => [{ format: 'opaque', id }, eventTypes.verification, event];
const said = ({ subject, type, event }: Told) => [subject, type, event];

for (const database of databases) {
  describe(`SSF transmitter plans, events, on ${database}`, () => {
    let judge: Judge;
    before(async () => {
      judge = await openJudge(database);
    });
    after(() => judge?.close());
    beforeEach(() => judge.clean());
    /** The answer to a poll, found to be a good one. */
    const polled = async (stream: Stream, fields: Json, headers: Readonly<Record<string, string>> = {}): Promise<Polled> => {
      const response = await judge.poll(stream, fields, { headers });
      assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
      const answer = await jsonOf<Polled>(response, 200);
      assert.ok(Object.keys(answer.sets).length <= Number(fields['maxEvents']));
      assert.ok(['undefined', 'boolean'].includes(typeof answer.moreAvailable));
      for (const [jti, token] of Object.entries(answer.sets)) assert.equal((await judge.check(stream, token)).jti, jti);
      return answer;
    };
    const told = async (stream: Stream, { sets }: Polled) =>
      Promise.all(Object.values(sets).map(async (token) => said(await judge.check(stream, token))));

    for (const mode of ['push', 'poll'] as const) {
      it(`openid-ssf-transmitter-stream-verification, ${mode}: with its state, and without where none was given`, async () => {
        const stream = await judge.create(mode);
        for (const state of ['d8a1f1ab-state', undefined]) {
          await judge.verify(stream, state);
          assert.deepEqual((await judge.take(stream)).map(said), [verified(stream, state === undefined ? {} : { state })]);
        }
      });
      it(`openid-ssf-transmitter-paused-stream-holds-events, ${mode}`, async () => {
        const stream = await judge.create(mode);
        const set = (status: string) => judge.send('POST', 'status', { body: { stream_id: stream.stream_id, status } });
        assert.equal((await set('paused')).status, 200);
        await judge.verify(stream, 'held');
        assert.deepEqual(await judge.take(stream), []);
        assert.equal((await set('enabled')).status, 200);
        assert.deepEqual((await judge.take(stream)).map(said), [verified(stream, { state: 'held' })]);
      });
      it(`openid-ssf-transmitter-disabled-stream-drops-events, ${mode}`, async () => {
        const stream = await judge.create(mode);
        const set = (status: string) => judge.send('POST', 'status', { body: { stream_id: stream.stream_id, status } });
        assert.equal((await set('disabled')).status, 200);
        await judge.verify(stream, 'dropped');
        assert.deepEqual(await judge.take(stream), []);
        assert.equal((await set('enabled')).status, 200);
        assert.deepEqual(await judge.take(stream), []);
        await judge.verify(stream, 'again');
        assert.deepEqual((await judge.take(stream)).map(said), [verified(stream, { state: 'again' })]);
      });
      it(`openid-ssf-transmitter-stream-caep-interop, ${mode}: session-revoked and credential-change, as the profile wants them`, async () => {
        const { server, tenant } = judge;
        const stream = await judge.create(mode);
        const user = await createUser(server, `caep-${mode}@example.com`, tenant.id);
        const phone = await enrolledPhone(
          server,
          { ...user, tenant: tenant.id as TenantId },
          createPhone(tenant.baseUrl, server.clock.nowMs),
        );
        await tenant.make('DELETE', `/devices/${phone.deviceId}`);
        await tenant.make('DELETE', `/users/${user.id}/sessions`);
        const events = await judge.take(stream);
        const { credentialChange, sessionRevoked } = eventTypes;
        assert.deepEqual(
          events.map(({ type }) => type),
          [credentialChange, credentialChange, sessionRevoked],
        );
        for (const { subject, event } of events) {
          assert.deepEqual(subject, { format: 'iss_sub', iss: stream['iss'], sub: user.id });
          const at = event['event_timestamp'];
          assert.ok(Number.isInteger(at) && Math.abs(Number(at) - server.clock.nowMs() / 1000) < 3600, 'seconds of today');
          assert.ok(['admin', 'user', 'policy', 'system'].includes(String(event['initiating_entity'])));
          const reasons = Object.entries(event['reason_admin'] as Json);
          assert.ok(reasons.length > 0 && reasons.every(([language, text]) => language === 'en' && text !== ''));
        }
        const changes = events.slice(0, 2).map(({ event }) => [event['credential_type'], event['change_type']]);
        assert.deepEqual(changes, [
          ['app', 'create'],
          ['app', 'revoke'],
        ]);
      });
    }

    it('openid-ssf-transmitter-stream-verification-push: what is posted, and with which headers', async () => {
      const stream = await judge.create('push');
      await judge.verify(stream, 'posted');
      const before = judge.receiver.received.length;
      await judge.take(stream);
      const [{ headers, path } = assert.fail('nothing was posted')] = judge.receiver.received.slice(before);
      assert.equal(path, pushPath);
      assert.deepEqual(
        [headers['content-type'], headers['accept'], headers['authorization']],
        ['application/secevent+jwt', 'application/json', pushHeader],
      );
    });
    it('openid-ssf-transmitter-stream-verification-error-push-no-auth: no header where none was given', async () => {
      const stream = await judge.create('push', { delivery: { method: pushMethod, endpoint_url: judge.receiver.url(pushPath) } });
      await judge.verify(stream, 'posted');
      const before = judge.receiver.received.length;
      assert.equal((await judge.take(stream)).length, 1);
      assert.equal('authorization' in judge.receiver.received[before]!.headers, false);
    });
    it('push (RFC 8935, 2.3): 400 with an error ends a token; what fails otherwise comes again', async () => {
      const path = '/ssf-push-refusing';
      const delivery = { method: pushMethod, endpoint_url: judge.receiver.url(path) };
      const refusal = (err: string) => answerWith(400, { 'content-type': 'application/json' }, JSON.stringify({ err, description: 'No' }));
      const stream = await judge.create('push', { delivery });
      const arrivals = (): number => judge.receiver.received.filter((one) => one.path === path).length;
      judge.receiver.answer(path, refusal('invalid_state'));
      await judge.verify(stream, 'refused');
      await judge.take(stream);
      judge.receiver.answer(path, answerWith(202));
      await judge.server.clock.advance(60_000);
      await judge.take(stream);
      assert.equal(arrivals(), 1, 'its last word');
      judge.receiver.answer(path, answerWith(503));
      await judge.verify(stream, 'later');
      await judge.take(stream);
      judge.receiver.answer(path, answerWith(202));
      await judge.server.clock.advance(60_000);
      assert.deepEqual((await judge.take(stream)).map(said), [verified(stream, { state: 'later' })]);
    });

    it('openid-ssf-transmitter-stream-verification-poll-only: what is not acknowledged comes again', async () => {
      const stream = await judge.create('poll');
      await judge.verify(stream, 'one');
      const first = await polled(stream, pollOnly);
      assert.deepEqual(await told(stream, first), [verified(stream, { state: 'one' })]);
      assert.deepEqual(Object.keys((await polled(stream, pollOnly)).sets), Object.keys(first.sets));
    });
    it('openid-ssf-transmitter-stream-verification-ack-only, maxEvents 0', async () => {
      const stream = await judge.create('poll');
      await judge.verify(stream, 'one');
      const { sets } = await polled(stream, pollOnly);
      assert.deepEqual(await polled(stream, { maxEvents: 0, returnImmediately: true, ack: Object.keys(sets) }), { sets: {} });
      assert.deepEqual(await polled(stream, pollOnly), { sets: {} });
    });
    it('openid-ssf-transmitter-stream-verification-poll-and-ack', async () => {
      const stream = await judge.create('poll');
      await judge.verify(stream, 'one');
      const { sets } = await polled(stream, pollOnly);
      await judge.verify(stream, 'two');
      const next = await polled(stream, { ...pollOnly, ack: Object.keys(sets) });
      assert.deepEqual(await told(stream, next), [verified(stream, { state: 'two' })]);
    });
    it('openid-ssf-transmitter-stream-verification-set-errs: refused, in a language', async () => {
      const stream = await judge.create('poll');
      await judge.verify(stream, 'one');
      const { sets } = await polled(stream, pollOnly);
      const setErrs = Object.fromEntries(Object.keys(sets).map((jti) => [jti, { err: 'invalid_request', description: 'Not understood' }]));
      assert.deepEqual(await polled(stream, { maxEvents: 0, returnImmediately: true, setErrs }, { 'content-language': 'en' }), {
        sets: {},
      });
      assert.deepEqual(await polled(stream, pollOnly), { sets: {} });
    });
    it('openid-ssf-transmitter-stream-verification-long-poll: answered as soon as there is something', async () => {
      const stream = await judge.create('poll');
      const waiting = polled(stream, { maxEvents: 10, returnImmediately: false });
      await judge.verify(stream, 'awaited');
      assert.deepEqual(await told(stream, await waiting), [verified(stream, { state: 'awaited' })]);
    });
    it('poll (RFC 8936, 2.2): at most maxEvents, and that there are more', async () => {
      const stream = await judge.create('poll');
      for (const state of ['one', 'two', 'three']) await judge.verify(stream, state);
      await tellNow(judge.server);
      const two = await polled(stream, { maxEvents: 2, returnImmediately: true });
      assert.deepEqual([Object.keys(two.sets).length, two.moreAvailable], [2, true]);
      const rest = await polled(stream, { ...pollOnly, ack: Object.keys(two.sets) });
      assert.deepEqual(await told(stream, rest), [verified(stream, { state: 'three' })]);
      assert.equal(rest.moreAvailable, undefined);
    });
  });
}

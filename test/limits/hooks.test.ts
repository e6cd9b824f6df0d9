// Limits of hooks at n and n + 1.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  clientsPerHookMax,
  hookAnswerBytesMax,
  hookClaimsBytesMax,
  hookClaimsDepthMax,
  hookDeadlineMsMax,
  hookDeadlineMsMin,
  hookReasonCharsMax,
} from '../../src/contract/limits.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { claims, deny, type HookReceiver, type HookReply, startHookReceiver } from '../support/hook-receiver.ts';
import { createTestClient, createTestTenant, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('limits of hooks', () => {
  let server: TestServer;
  let managed: Managed;
  let receiver: HookReceiver;
  let path: string;
  before(async () => {
    server = await startTestServer('sqlite', { flags: reachesLoopback });
    managed = await createTestTenant(server);
    receiver = await startHookReceiver();
    const hook = await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'continue', deadline_ms: 3000 });
    path = `/hooks/${hook['id']}`;
  });
  after(async () => {
    await server.close();
    await receiver.close();
  });

  const taken = async (change: Json): Promise<void> => void (await managed.make('PATCH', path, change));
  const refused = async (kind: string, change: Json): Promise<void> =>
    void (await assertRefusal(await managed.call('PATCH', path, change), 'management.invalid_request', { kind, text: /./ }));
  const answered = async (reply: HookReply): Promise<unknown> => {
    receiver.reply = () => reply;
    const { result, reason } = await managed.make('POST', `${path}/test`);
    return result === 'failed' ? reason : result;
  };

  it('hookDeadlineMsMin, hookDeadlineMsMax', async () => {
    await taken({ deadline_ms: hookDeadlineMsMin });
    await refused('deadline_ms', { deadline_ms: hookDeadlineMsMin - 1 });
    await refused('deadline_ms', { deadline_ms: hookDeadlineMsMax + 1 });
    await taken({ deadline_ms: hookDeadlineMsMax });
  });

  it('clientsPerHookMax', async () => {
    const clients: string[] = [];
    for (let made = 0; made <= clientsPerHookMax; made += 1) clients.push((await createTestClient(managed)).client_id);
    await taken({ clients: clients.slice(1) });
    await refused('clients', { clients });
  });

  it('hookClaimsBytesMax: of both tokens together', async () => {
    const empty = Buffer.byteLength(JSON.stringify({ id_token: { a: '' }, access_token: { b: '' } }));
    const of = (bytes: number): HookReply =>
      claims({ id_token: { a: 'x'.repeat(4000) }, access_token: { b: 'x'.repeat(bytes - empty - 4000) } });
    assert.equal(await answered(of(hookClaimsBytesMax)), 'claims');
    assert.equal(await answered(of(hookClaimsBytesMax + 1)), 'claims_too_large');
  });

  it('hookClaimsDepthMax: lists and objects alike', async () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : depth % 2 === 0 ? [nested(depth - 1)] : { a: nested(depth - 1) });
    const of = (depth: number): HookReply => claims({ access_token: { a: nested(depth) } });
    assert.equal(await answered(of(hookClaimsDepthMax)), 'claims');
    assert.equal(await answered(of(hookClaimsDepthMax + 1)), 'claims_too_deep');
    assert.equal(
      await answered({ status: 200, text: `{"claims":{"id_token":{"a":${'['.repeat(7000)}${']'.repeat(7000)}}}}` }),
      'claims_too_deep',
    );
  });

  it('hookReasonCharsMax', async () => {
    assert.equal(await answered(deny('x'.repeat(hookReasonCharsMax))), 'denied');
    assert.equal(await answered(deny('x'.repeat(hookReasonCharsMax + 1))), 'reason_too_long');
  });

  it('hookAnswerBytesMax', async () => {
    const of = (bytes: number): HookReply => ({ status: 200, text: `${' '.repeat(bytes - 13)}{"claims":{}}` });
    assert.equal(await answered(of(hookAnswerBytesMax)), 'claims');
    assert.equal(await answered(of(hookAnswerBytesMax + 1)), 'too_large');
  });
});

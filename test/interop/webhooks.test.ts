// Standard Webhooks' own libraries for Python and Go take what is posted to a webhook, as it came: they verify it, by each secret during
// a rotation, and refuse a changed body, another secret and an old time.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { findJudge } from '../support/judge-binaries.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import {
  deliverNow,
  type Hook,
  loopbackAllowed,
  makeHook,
  type Received,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../support/webhooks.ts';

const script = fileURLToPath(new URL('judges/webhooks.py', import.meta.url));
const judges = [
  { name: 'Python', program: findJudge('python-standardwebhooks'), args: [script] },
  { name: 'Go', program: findJudge('go-standardwebhooks'), args: [] },
];

interface Message {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** What the library says of a message. */
function judge({ program, args }: (typeof judges)[number], secret: string, { headers, body }: Message): Json {
  const { status, stdout, stderr } = spawnSync(program!, args, { input: JSON.stringify({ secret, headers, body }), encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

for (const one of judges) {
  if (one.program === undefined) continue;
  suite(`Standard Webhooks for ${one.name}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let receiver: WebhookReceiver;
    let hook: Hook;
    before(async () => {
      server = await startTestServer('sqlite', { flags: loopbackAllowed });
      receiver = await startWebhookReceiver();
      tenant = await createTestTenant(server);
      hook = await makeHook(tenant, receiver.url('/judged'));
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    /** What arrives of a group with that name. */
    const postedOf = async (name: string): Promise<Received> => {
      receiver.received.length = 0;
      await tenant.make('POST', '/groups', { display_name: name });
      await deliverNow(server);
      return receiver.received[0]!;
    };

    test('verifies an event, whatever letters it has', async () => {
      const posted = await postedOf('Grüße, 世界 “🐘”');
      assert.deepEqual(judge(one, hook.secret, posted), { verified: JSON.parse(posted.body) });
    });

    test('refuses a changed body and another secret', async () => {
      const posted = await postedOf('Changed');
      assert.ok('refused' in judge(one, hook.secret, { ...posted, body: posted.body.replace('group.created', 'group.deleted') }));
      assert.ok('refused' in judge(one, `whsec_${Buffer.alloc(32, 1).toString('base64')}`, posted));
      assert.ok('verified' in judge(one, hook.secret, posted));
    });

    test('refuses another id, another time, and an old message that is signed well', async () => {
      const { headers, body } = await postedOf('Timed');
      const seconds = Number(headers['webhook-timestamp']);
      for (const change of [{ 'webhook-id': 'another' }, { 'webhook-timestamp': String(seconds - 1) }])
        assert.ok('refused' in judge(one, hook.secret, { body, headers: { ...headers, ...change } }));
      const old = new Date((seconds - 600) * 1000);
      const signature = new Webhook(hook.secret).sign(String(headers['webhook-id']), old, body);
      const then = { ...headers, 'webhook-timestamp': String(seconds - 600), 'webhook-signature': signature };
      assert.match(String(judge(one, hook.secret, { body, headers: then })['refused']), /too old/i);
    });

    test('verifies by the secret before and by the new one during a rotation', async () => {
      const { secret } = await tenant.make<Hook>('POST', `/webhooks/${hook.id}/secret`);
      const posted = await postedOf('Rotated');
      assert.equal(posted.headers['webhook-signature']!.split(' ').length, 2);
      for (const known of [hook.secret, secret]) assert.deepEqual(judge(one, known, posted), { verified: JSON.parse(posted.body) });
    });
  });
}

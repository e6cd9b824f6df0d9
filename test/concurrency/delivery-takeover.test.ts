// Nodes die by SIGKILL with deliveries in hand: another takes them over when their lease has ended. Every one arrives, those that were
// under way a second time under the id of the first: Message-ID, jti and auth_req_id.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { queueMessage } from '../../src/approvals/mailed/mail-delivery.ts';
import { deliveryKinds, leaseMs } from '../../src/deliveries/kinds.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { cibaGrantType, decide } from '../support/ciba.ts';
import { basic, postForm } from '../support/client-credentials.ts';
import { databases, onServer } from '../support/databases.ts';
import { createToldClients, type HoldingReceiver, queueLogouts, startHoldingReceiver, until } from '../support/deliveries.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { startSmtpServer } from '../support/smtp-server.ts';
import { startNodes } from '../support/three-nodes.ts';

const perLane = 10;
const { laneMax } = deliveryKinds.logout;

/** CIBA requests that were decided, whose client is to be told; gives their auth_req_ids. */
async function queuePings(one: TestServer, tenant: Tenant, endpoint: string): Promise<readonly string[]> {
  const { services } = one.gatehouse;
  const client = await createClient(services, tenant, {
    grantTypes: [cibaGrantType],
    backchannelTokenDeliveryMode: 'ping',
    backchannelClientNotificationEndpoint: endpoint,
  });
  const ids: string[] = [];
  for (let made = 0; made < perLane; made += 1) {
    const user = await createUser(services, tenant);
    const form = { scope: 'openid', login_hint: user.email, client_notification_token: 'token' };
    const answer = await postForm(`${one.url}/v1/idp/oidc/bc-authorize`, form, basic(client.clientId, client.secret));
    ids.push(((await answer.json()) as { readonly auth_req_id: string }).auth_req_id);
    await decide(one, tenant, user, 'approve');
  }
  return ids;
}

async function queueMails(one: TestServer, tenant: Tenant): Promise<void> {
  const { database } = one.gatehouse.services;
  await database.write(tenant.id, async (queries) => {
    for (let made = 0; made < perLane; made += 1) {
      const mail = { to: `person${made}@people.example`, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };
      await queueMessage(queries, { ...one.gatehouse.services, mail: { transport: 'smtp' } }, tenant, mail);
    }
  });
}

const inLease = `SELECT max(due_at) - gatehouse_now_ms() AS ms FROM (
  SELECT due_at FROM ciba_deliveries UNION ALL SELECT due_at FROM logout_notices UNION ALL SELECT next_attempt_at FROM outbox_messages WHERE waits = 1) AS q`;

/** How often each arrived. */
function timesOf(receiver: HoldingReceiver): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const { id } of receiver.arrived) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}

if (databases.includes('postgres'))
  describe('deliveries of nodes that are killed', () => {
    it('arrive by another node after the lease, each at least once, under their id', { timeout: 120_000 }, async () => {
      const answerMails = Promise.withResolvers<void>();
      const [receiver, smtp] = [await startHoldingReceiver(), await startSmtpServer(() => answerMails.promise)];
      const one = await startTestServer('postgres');
      const { services } = one.gatehouse;
      await services.jobs.stop(); // this one queues only
      const nodes = await startNodes(one, {
        GATEHOUSE_SMTP_URL: smtp.url,
        GATEHOUSE_MAIL_FROM: 'login@acme.example',
        GATEHOUSE_EGRESS_ALLOW: '127.0.0.0/8',
      });
      try {
        const tenant = await rootTenant(services);
        const pings = await queuePings(one, tenant, receiver.url('/pings'));
        const logouts = await queueLogouts(services, tenant, await createToldClients(services, tenant, receiver, ['/a', '/b']), perLane);
        await queueMails(one, tenant);
        // More than one node may hold of three lanes: one of the two that are killed holds some.
        await until(() => receiver.held() > 3 * laneMax && smtp.held() > deliveryKinds.mail.laneMax);
        await Promise.all([nodes.end(0, 'SIGKILL'), nodes.end(1, 'SIGKILL')]);
        await until(() => receiver.arrived.some(({ wasCut }) => wasCut));
        await onServer(one.database.databaseUrl!, async (connection) => {
          const { rows } = await connection.query(inLease);
          assert.ok(Number(rows[0].ms) <= leaseMs, rows[0].ms);
        });
        const cut = receiver.arrived.filter(({ wasCut }) => wasCut).map(({ id }) => id);
        receiver.open();
        answerMails.resolve();
        await one.clock.advance(leaseMs);
        await until(() => timesOf(receiver).size === pings.length + logouts.length && cut.every((id) => timesOf(receiver).get(id)! > 1));
        assert.deepEqual([...timesOf(receiver).keys()].sort(), [...pings, ...logouts].sort());
        const messageIds = (): ReadonlySet<string | undefined> =>
          new Set(smtp.mails.map(({ data }) => /^Message-ID: (\S+)$/m.exec(data)?.[1]));
        await until(() => smtp.mails.length > perLane && messageIds().size === perLane);
        const recipients = new Set(smtp.mails.flatMap(({ to }) => to));
        assert.equal(recipients.size, perLane);
        assert.equal(messageIds().size, perLane);
      } finally {
        await nodes.stop();
        await one.close();
        await receiver.close();
        await smtp.close();
      }
    });
  });

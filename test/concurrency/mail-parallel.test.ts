// Three nodes hand mails to one SMTP server at the same time, five each: all of them together, and none twice. How many it has in hand
// is counted at the server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { queueMessage } from '../../src/approvals/mailed/mail-delivery.ts';
import { deliveryKinds } from '../../src/deliveries/kinds.ts';
import { databases } from '../support/databases.ts';
import { until } from '../support/deliveries.ts';
import { rootTenant } from '../support/fixtures.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';
import { startNodes } from '../support/three-nodes.ts';

const count = 30;
const nodesCount = 3;
const heldMs = 8000;
const togetherMax = nodesCount * deliveryKinds.mail.laneMax;

/** @param from number of the first recipient */
async function queueMails(one: TestServer, from = 0): Promise<readonly string[]> {
  const { database } = one.gatehouse.services;
  const tenant = await rootTenant(one.gatehouse.services);
  const recipients = Array.from({ length: count }, (_, index) => `person${from + index}@people.example`);
  await database.write(tenant.id, async (queries) => {
    for (const to of recipients) {
      const mail = { to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' };
      await queueMessage(queries, { ...one.gatehouse.services, mail: { transport: 'smtp' } }, tenant, mail);
    }
  });
  return recipients.toSorted();
}

/** An attempt is given up after 15 s, and its mail sent again: once counts what was answered to somebody. */
const recipientsOf = ({ answered }: SmtpServer): readonly string[] => answered.flatMap(({ to }) => to).sort();
const idsOf = ({ mails }: SmtpServer): ReadonlySet<string | undefined> =>
  new Set(mails.map(({ data }) => /^Message-ID: (<[0-9a-f-]{36}@acme\.example>)$/m.exec(data)?.[1]));

/** A server of the test, which sends no mail, and three that do. */
async function withNodes(untilAnswer: () => Promise<void>, work: (one: TestServer, smtp: SmtpServer) => Promise<void>): Promise<void> {
  const smtp = await startSmtpServer(untilAnswer);
  const one = await startTestServer('postgres');
  const nodes = await startNodes(one, { GATEHOUSE_SMTP_URL: smtp.url, GATEHOUSE_MAIL_FROM: 'Acme <login@acme.example>' });
  try {
    await work(one, smtp);
  } finally {
    await nodes.stop();
    await one.close();
    await smtp.close();
  }
}

if (databases.includes('postgres'))
  describe('mails of three nodes', () => {
    it(`${togetherMax} at a time, not one more, each once`, { timeout: 600_000 }, async () => {
      const full = Promise.withResolvers<void>();
      // An attempt is given up after 15 s: on a busy machine nodes may come too late to the first mails, and others are queued.
      await withNodes(
        () => Promise.race([full.promise, wait(heldMs)]),
        async (one, smtp) => {
          const recipients: string[] = [];
          while (smtp.heldMax() < togetherMax) {
            recipients.push(...(await queueMails(one, recipients.length)));
            await until(() => smtp.heldMax() === togetherMax || smtp.mails.length >= recipients.length);
          }
          full.resolve();
          await until(() => smtp.answered.length >= recipients.length && smtp.held() === 0);
          assert.deepEqual(recipientsOf(smtp), recipients.toSorted());
          assert.equal(idsOf(smtp).size, recipients.length);
          assert.equal(smtp.heldMax(), togetherMax);
        },
      );
    });
    it(`${count} mails of a second each go out by all nodes`, { timeout: 120_000 }, async (t) => {
      await withNodes(
        () => wait(1000),
        async (one, smtp) => {
          const fromMs = performance.now();
          const recipients = await queueMails(one);
          await until(() => smtp.answered.length >= count && smtp.held() === 0);
          t.diagnostic(
            `${count} mails of 1 s on three nodes: ${((performance.now() - fromMs) / 1000).toFixed(1)} s, ${smtp.heldMax()} at a time`,
          );
          assert.deepEqual(recipientsOf(smtp), recipients);
          assert.ok(smtp.heldMax() > deliveryKinds.mail.laneMax && smtp.heldMax() <= togetherMax, String(smtp.heldMax()));
        },
      );
    });
  });

// CIBA in tests: a receiver of notifications that keeps every byte it was sent, and the decision a phone or page makes.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Decision, resolveApproval } from '../../src/approvals/resolve-approval.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import type { TestUser } from './fixtures.ts';
import type { TestServer } from './server.ts';

export const cibaGrantType = 'urn:openid:params:grant-type:ciba';
/** Flags of a server whose notifications may reach receivers of the test. */
export const reachesLoopback = { egress_allow: '127.0.0.0/8' };

export interface Notification {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly received: Notification[];
  /** Statuses of the next answers, one each; then 204. `hang` never answers, `drop` closes the connection. */
  readonly answers: (number | 'hang' | 'drop')[];
  readonly close: () => Promise<void>;
}

/** A notification endpoint of a client on the loopback. */
export async function startReceiver(): Promise<Receiver> {
  const received: Notification[] = [];
  const answers: (number | 'hang' | 'drop')[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      received.push({ method, path: url, headers, body: Buffer.concat(chunks).toString('utf8') });
      const answer = answers.shift() ?? 204;
      if (answer === 'hang') return;
      if (answer === 'drop') {
        request.socket.destroy();
        return;
      }
      const location =
        answer >= 300 && answer < 400 ? { location: `http://127.0.0.1:${(server.address() as AddressInfo).port}/elsewhere` } : {};
      response.writeHead(answer, { 'content-type': 'text/plain', ...location }).end(answer === 204 ? undefined : 'ignored');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  return {
    url: `http://127.0.0.1:${port}/notifications`,
    received,
    answers,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Decides the only pending CIBA approval of a user, as a phone does. */
export async function decide(server: TestServer, tenant: Tenant, user: TestUser, verdict: 'approve' | 'deny'): Promise<void> {
  const { services } = server.gatehouse;
  const decision: Decision = verdict === 'approve' ? { verdict, method: 'phone_uv' } : { verdict, reason: 'mistake' };
  await services.database.write(tenant.id, async (queries) => {
    const pending = await queries
      .selectFrom('approvals')
      .select('id')
      .where('tenant_id', '=', tenant.id)
      .where('user_id', '=', user.id)
      .where('kind', '=', 'ciba')
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow();
    const context = { nowMs: services.clock.nowMs(), requestId: 'decided-by-the-test' };
    const outcome = await resolveApproval(queries, tenant, pending.id, decision, context);
    if (!outcome.ok) throw new Error(`the approval could not be decided: ${outcome.reason}`);
  });
}

/** Delivers what is due and waits for it. */
export const runDeliveries = (server: TestServer): Promise<void> => server.gatehouse.services.jobs.runNow('deliveries');

// Exchanges in the audit trail.
import { exchangesToldPerDayMax } from '../../contract/limits.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { createDailyClaims } from './daily-claims.ts';
import type { Issue, TokenRequest } from './grant.ts';

/** Exchanges that are in the audit trail, of this process and day. */
const told = createDailyClaims(exchangesToldPerDayMax);

/** An API exchanges at every call: the first of a day for client, resource and person is told. */
export async function recordExchange(
  { services, request, tenant, client }: TokenRequest,
  token: { readonly sub: string; readonly clientId: string },
  issue: Issue,
): Promise<undefined> {
  const nowMs = services.clock.nowMs();
  const key = [client.clientId, issue.resource, token.sub].join('\n');
  if (!told.claim(tenant.id, key, nowMs)) return;
  try {
    await services.database.write(tenant.id, (queries) =>
      insertAuditEvent(queries, tenant.id, nowMs, {
        type: 'token.exchanged',
        requestId: request.id,
        actor: `client:${client.clientId}`,
        target: `client:${client.clientId}`,
        data: { subject: token.sub, resource: issue.resource, from: token.clientId, scope: issue.scopes.join(' ') },
      }),
    );
  } catch (error) {
    told.release(tenant.id, key);
    throw error;
  }
}

// The audit record of a token that its receiver refused, pushed (RFC 8935, 2.3) or polled (RFC 8936, 2.6): it is not sent again.

import type { SsfStream } from '../domain/extending/ssf-stream.ts';
import type { TenantId } from '../domain/ids.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';

interface RefusedSet {
  readonly jti: string;
  readonly err: string;
  readonly description?: string | undefined;
  readonly actor: string;
  readonly requestId?: string | undefined;
}

export const recordRefusedSet = (
  queries: Queries,
  tenant: TenantId,
  { id, clientId }: SsfStream,
  { jti, err, description, ...by }: RefusedSet,
  nowMs: number,
): Promise<void> =>
  insertAuditEvent(queries, tenant, nowMs, {
    type: 'ssf_stream.set_refused',
    target: `ssf_stream:${id}`,
    reason: err,
    data: { client: clientId, jti, description },
    ...by,
  });

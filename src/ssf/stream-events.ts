// What a receiver is told of its stream itself (SSF 1.0, 8.1.4 and 8.1.5): that it works, and that we changed its status.
import { type SsfStream, type StreamStatus, streamEvents } from '../domain/extending/ssf-stream.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { NewSsfEvent } from '../storage/records/ssf-events.ts';
import { tokenOf } from './security-event-token.ts';

/** The answer to a request for verification, with the state it gave. */
export const verification = (
  tenant: Tenant,
  stream: SsfStream,
  { state, txn }: { readonly state: string | undefined; readonly txn: string | undefined },
  nowMs: number,
): NewSsfEvent =>
  tokenOf(
    tenant,
    stream,
    { ...aboutStream(stream, streamEvents.verification), event: { ...(state !== undefined && { state }) }, txn },
    nowMs,
  );

export const streamUpdated = (
  tenant: Tenant,
  stream: SsfStream,
  { txn, ...change }: { readonly status: StreamStatus; readonly reason?: string | undefined; readonly txn?: string | undefined },
  nowMs: number,
): NewSsfEvent => tokenOf(tenant, stream, { ...aboutStream(stream, streamEvents.streamUpdated), event: change, txn }, nowMs);

const aboutStream = ({ id }: SsfStream, type: string) => ({ type, subject: { format: 'opaque', id } as const });

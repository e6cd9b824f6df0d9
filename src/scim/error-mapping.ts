// Faults inside one bulk operation become that operation's SCIM answer; everywhere else http/surface.ts does this.
import { type ContractError, reject } from '../contract/contract-error.ts';
import type { Log } from '../platform/log.ts';
import { StorageUnavailable } from '../storage/engine/database.ts';

/** The contract error of anything thrown that is not one; logged with its request id. */
export function toScimError({ log }: { readonly log: Log }, requestId: string, error: unknown): ContractError {
  log.error({ err: error, request_id: requestId }, 'a bulk operation failed');
  return error instanceof StorageUnavailable
    ? reject('scim.unavailable', 'storage_unavailable', { retryAfterSeconds: error.retryAfterSeconds })
    : reject('scim.server_error', 'fault');
}

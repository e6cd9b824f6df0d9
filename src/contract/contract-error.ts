// The one error every surface answers with. Thrown by surfaces through reject(), rendered by envelopes.ts.
import type { DetailedRowId, OpaqueRowId, RowId } from './catalogue.ts';
import type { ExtraFields } from './row.ts';

/** What an operator may see under the request id and nobody else. Never put a secret here. */
export interface Cause {
  /** A stable word for the check that failed, e.g. `verifier_mismatch`. */
  readonly reason: string;
  readonly received?: string | number | boolean | null | undefined;
  readonly expected?: string | number | boolean | null | undefined;
}

export interface Extra {
  readonly fields?: ExtraFields;
  /** Seconds, for rows with a Retry-After header. */
  readonly retryAfterSeconds?: number;
  /** Value of the Allow header (405). */
  readonly allow?: string;
  /** Value of the WWW-Authenticate header (RFC 6750 3). */
  readonly challenge?: string;
}

interface Detail extends Extra {
  /** Text a client may read; only rows that are not opaque take it. */
  readonly text?: string;
  /** `kind` of the management envelope when the row leaves it open (names the field). */
  readonly kind?: string;
}

export class ContractError extends Error {
  readonly row: RowId;
  readonly reason: Cause;
  readonly detail: Detail;
  constructor(row: RowId, reason: Cause, detail: Detail) {
    super(`${row}: ${reason.reason}`);
    this.name = 'ContractError';
    this.row = row;
    this.reason = reason;
    this.detail = detail;
    // Refusals are answers, not faults: no stack is wanted, and collecting one costs more than the answer.
  }
}

/** Makes the error for a row. Opaque rows take no text; the cause goes to the audit record only. */
export function reject(row: OpaqueRowId, cause: string | Cause, extra?: Extra): ContractError;
export function reject(row: DetailedRowId, cause: string | Cause, detail?: Detail): ContractError;
export function reject(row: RowId, cause: string | Cause, detail: Detail = {}): ContractError {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  const error = new ContractError(row, typeof cause === 'string' ? { reason: cause } : cause, detail);
  Error.stackTraceLimit = limit;
  return error;
}

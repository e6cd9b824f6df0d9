// What a check found wrong, before it is known which endpoint's row answers it.
import { catalogue, type DetailedRowId, type OpaqueRowId, type RowId } from '../contract/catalogue.ts';
import { type Cause, type ContractError, reject } from '../contract/contract-error.ts';

export interface Fault extends Cause {
  /** What the client may read, where the row is not opaque. */
  readonly text: string;
}

/** The error of a row for a fault; an opaque row takes the cause only. */
export function rejectFault(row: RowId, { text, ...cause }: Fault): ContractError {
  // the catalogue's own flag decides which of the two kinds of id this is
  return catalogue[row].opaque ? reject(row as OpaqueRowId, cause) : reject(row as DetailedRowId, cause, { text });
}

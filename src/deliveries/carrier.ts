// What the engine asks of a kind of delivery: to prepare a row, to send it once, and what follows from its end. Carriers judge
// answers; when an attempt is made again is their kind's row (kinds.ts).
import type { TenantId } from '../domain/ids.ts';
import type { Outbound, OutboundRequest } from '../platform/net/outbound.ts';
import type { Queries } from '../storage/engine/database.ts';

export interface Attempted {
  /** Taken, or the endpoint's last word, or no answer in time, or anything that may be otherwise next time. */
  readonly result: 'taken' | 'refused' | 'timeout' | 'failed';
  /** Of what was not taken, as audit records name it. */
  readonly reason?: string;
  readonly error?: unknown;
  /** How long the endpoint asks to be left alone. */
  readonly retryAfterMs?: number;
}

export interface Parcel {
  /** Makes one attempt and gives up when the signal says so. What it throws counts as failed. */
  readonly send: (signal: AbortSignal) => Promise<Attempted>;
  /** No attempt from here on, in epoch milliseconds by the database's clock. */
  readonly endsAtMs?: number;
  /** What follows in the transaction that ends the delivery, taken or given up. */
  readonly settle?: (queries: Queries, attempted: Attempted) => Promise<void>;
}

/** Its time has not come. */
interface NotYet {
  readonly notBeforeMs: number;
}

/** What there is to do for a claimed row; undefined when there is nothing to deliver any more. */
export type Prepared = Parcel | NotYet | undefined;

/** An attempt that was made, and what became of its delivery in this transaction. */
export interface Made<Row> {
  readonly row: Row;
  readonly attempted: Attempted;
  readonly state: 'waits' | 'taken' | 'given_up';
}

/** Serves the rows that a node has claimed of one lane together. */
export interface Round<Row> {
  /** Called when the row's turn has come. What it throws leaves the row to its lease. */
  readonly prepare: (row: Row) => Promise<Prepared>;
  /** Notes attempts of a tenant, in the transaction that puts their deliveries off or ends them; gives what is to be done after it. */
  readonly note?: (queries: Queries, tenant: TenantId, made: readonly Made<Row>[]) => Promise<(() => Promise<void>) | undefined>;
}

export type Carrier<Row> = (rows: readonly Row[]) => Round<Row>;

/** A carrier that prepares each row by itself. */
export const eachAlone =
  <Row>(prepare: Round<Row>['prepare']): Carrier<Row> =>
  () => ({ prepare });

const responseBytesMax = 64 * 1024;
/** Why no answer came from anybody, as platform/outbound names it. */
export const unreached: readonly string[] = ['network', 'unresolved'];

/** One POST to an endpoint of a tenant: 2xx takes it, 5xx and silence may change, everything else is the endpoint's last word. */
export async function postOnce(
  outbound: Outbound,
  request: Pick<OutboundRequest, 'url' | 'share' | 'headers' | 'body' | 'timeoutMs' | 'signal'>,
): Promise<Attempted> {
  const answer = await outbound.fetch({ ...request, method: 'POST', responseBytesMax });
  if (!answer.ok) {
    const { reason } = answer;
    const mayChange = reason === 'busy' || unreached.includes(reason);
    return { result: reason === 'timeout' ? 'timeout' : mayChange ? 'failed' : 'refused', reason };
  }
  if (answer.status >= 200 && answer.status < 300) return { result: 'taken' };
  return { result: answer.status >= 500 ? 'failed' : 'refused', reason: `status_${answer.status}` };
}

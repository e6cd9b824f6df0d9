// Polls of requests that wait for a person (CIBA Core 11, RFC 8628 3.5): what one UPDATE notes of each, so that parallel polls are
// each judged once. For tables with the columns last_polled_at, interval_seconds and polled_early.
import { sql } from 'kysely';
import { databaseNowMs } from '../engine/instance.ts';

/** What an early poll adds to the interval. */
const slowDownSeconds = 5;

const isEarly = sql<number>`CASE WHEN last_polled_at IS NOT NULL AND ${databaseNowMs} - last_polled_at < interval_seconds * 1000 THEN 1 ELSE 0 END`;

/** `polled_early` says whether the poll came sooner than the interval after the last one, which then grows; the first is free. */
export const notedPoll = {
  polled_early: isEarly,
  interval_seconds: sql<number>`interval_seconds + ${slowDownSeconds} * (${isEarly})`,
  last_polled_at: databaseNowMs,
};

// An audit record as the feed shows it, to the API and the command line alike.
import type { NumberedEvent } from '../storage/records/event-feed.ts';
import { eventToJson } from './explanation.ts';

export interface FeedEvent {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function feedEventOf(row: NumberedEvent): FeedEvent {
  const { id, type, created_at, data: details, ...data } = eventToJson(row);
  return { seq: row.seq, id: row.id, type: row.type, timestamp: new Date(row.created_at).toISOString(), data: { ...data, details } };
}

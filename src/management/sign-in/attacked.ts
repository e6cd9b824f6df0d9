// `attacked_at` of a person: when strangers were last found to have spent what they may ask of them, of the last hour; shown where one
// person is read.
import Type from 'typebox';
import type { UserId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Parts } from '../../http/services.ts';
import { findLastEventOfUser } from '../../storage/records/audit-events.ts';
import { isoTime, type Json } from '../endpoint.ts';
import { dateTime } from '../schemas.ts';

/** The property in an answer. */
export const attacked = { attacked_at: Type.Optional(dateTime) };

/** It is recorded once an hour while it goes on. */
const hourMs = 3_600_000;

export async function attackOn({ clock, database }: Parts<'clock' | 'database'>, tenant: Tenant, userId: UserId): Promise<Json> {
  const fromMs = clock.nowMs() - hourMs;
  const atMs = await database.read(tenant.id, (queries) => findLastEventOfUser(queries, tenant.id, userId, 'sign_in.attacked', fromMs));
  return atMs === undefined ? {} : { attacked_at: isoTime(atMs) };
}

// The people whom the receiver of a stream does not want to be told of (SSF 1.0, 8.1.3).
import type { SsfStreamId, TenantId, UserId } from '../../../domain/ids.ts';
import type { Queries } from '../../engine/database.ts';
import { databaseNowMs } from '../../engine/instance.ts';

export interface SsfRemovedSubjectTable {
  tenant_id: TenantId;
  stream_id: SsfStreamId;
  user_id: UserId;
  created_at: number;
}

interface RemovedSubject {
  readonly stream: SsfStreamId;
  readonly user: UserId;
}

/** Whether a stream is not to tell of a person. */
export async function isSubjectRemoved(queries: Queries, tenant: TenantId, { stream, user }: RemovedSubject): Promise<boolean> {
  const row = await queries
    .selectFrom('ssf_removed_subjects')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('stream_id', '=', stream)
    .where('user_id', '=', user)
    .executeTakeFirst();
  return row !== undefined;
}

/** How many people a stream is not to tell of. */
export async function countRemovedSubjects(queries: Queries, tenant: TenantId, stream: SsfStreamId): Promise<number> {
  const { count } = await queries
    .selectFrom('ssf_removed_subjects')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .where('tenant_id', '=', tenant)
    .where('stream_id', '=', stream)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Has a stream no longer tell of a person; twice is once. */
export async function insertRemovedSubject(queries: Queries, tenant: TenantId, { stream, user }: RemovedSubject): Promise<void> {
  await queries
    .insertInto('ssf_removed_subjects')
    .values({ tenant_id: tenant, stream_id: stream, user_id: user, created_at: databaseNowMs })
    .onConflict((on) => on.doNothing())
    .execute();
}

/** Has a stream tell of a person again; false when it does. */
export async function deleteRemovedSubject(queries: Queries, tenant: TenantId, { stream, user }: RemovedSubject): Promise<boolean> {
  const rows = await queries
    .deleteFrom('ssf_removed_subjects')
    .where('tenant_id', '=', tenant)
    .where('stream_id', '=', stream)
    .where('user_id', '=', user)
    .returning('user_id')
    .execute();
  return rows.length === 1;
}

/** The receivers that do not want to be told of a person. */
export async function listReceiversWithout(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly string[]> {
  const rows = await queries
    .selectFrom('ssf_removed_subjects as r')
    .innerJoin('ssf_streams as s', (join) => join.onRef('s.tenant_id', '=', 'r.tenant_id').onRef('s.id', '=', 'r.stream_id'))
    .select('s.client_id')
    .where('r.tenant_id', '=', tenant)
    .where('r.user_id', '=', user)
    .orderBy('s.client_id')
    .execute();
  return rows.map(({ client_id: client }) => client);
}

// What others do to people of directories of LDAP, and what becomes of the links of those who do not end after all; the links are in
// directory-links.ts.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { idAmong } from '../engine/rows/id-list.ts';
import { type OfDirectory, suspendedHash } from './directory-links.ts';

/** Nobody's return to a directory activates a person again whom it suspended: an administrator decided over them since. */
export async function forgetSuspending(queries: Queries, tenant: TenantId, user: string): Promise<void> {
  await queries
    .updateTable('directory_links')
    .set({ hash: null })
    .where('tenant_id', '=', tenant)
    .where('local_id', '=', user)
    .where('hash', '=', suspendedHash)
    .execute();
}

/** Takes a person or group who is gone from the entry they were, which is written anew when it is read again. */
export async function forgetLocal(queries: Queries, tenant: TenantId, localId: string): Promise<void> {
  await queries
    .updateTable('directory_links')
    .set({ local_id: null, hash: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('local_id', '=', localId)
    .execute();
}

/** Lets entries wait for approval again: they came to be what nobody ends unasked. */
export async function holdAgain(queries: Queries, { tenant, directory }: OfDirectory, remoteIds: readonly string[]): Promise<void> {
  await queries
    .updateTable('directory_links')
    .set({ leaving: 1, left_at: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', directory)
    .where(idAmong(queries, 'remote_id', remoteIds))
    .execute();
}

/** Notes why somebody cannot end: they stay as they are, for an administrator to see. */
export async function refuseEnding(queries: Queries, { tenant, directory }: OfDirectory, remoteId: string, reason: string): Promise<void> {
  await queries
    .updateTable('directory_links')
    .set({ state: 'conflict', leaving: 0, left_at: null, reason, hash: null, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', directory)
    .where('remote_id', '=', remoteId)
    .execute();
}

/** Takes the groups of a directory from it that copies none any more: they stay, and are managed here. */
export async function forgetGroups(queries: Queries, { tenant, directory }: OfDirectory): Promise<void> {
  await queries
    .deleteFrom('directory_links')
    .where('tenant_id', '=', tenant)
    .where('directory_id', '=', directory)
    .where('kind', '=', 'group')
    .execute();
}

// People and groups that are entries of a directory of LDAP: what it says of them nobody else changes (design 20, 1). The writers of people and
// groups ask, in the statement that writes, so that nothing is asked where nobody is an entry. The caller holds the row, as whoever makes
// somebody an entry does.
import { sql } from 'kysely';
import { writtenBy } from '../../../domain/extending/ldap-directory.ts';
import { emailTarget } from '../../../domain/extending/ldap-presets.ts';
import type { LdapDirectoryId, TenantId, UserId } from '../../../domain/ids.ts';
import { type CustomCells, type CustomValues, customPath } from '../../../domain/people/custom-attributes.ts';
import { type UserColumn, userAttributes } from '../../../domain/people/user-attributes.ts';
import type { Queries } from '../../engine/database.ts';
import { idAmong } from '../../engine/rows/id-list.ts';
import { managesAny } from '../../organizations/managers.ts';
import type { OfDirectory } from '../../records/directory-links.ts';
import { listCustomAttributes } from '../../registry/custom-attributes.ts';
import { findLdapDirectory } from '../../registry/extending/ldap-directories.ts';
import { listUserEmails } from '../user-lists.ts';
import type { NewLists, UserProfile } from '../user-rows.ts';
import { findLiveUser } from '../users.ts';

/** Thrown inside a transaction to roll it back: a directory says these of a person or a group, by the paths of the API. */
export class ManagedByDirectory extends Error {
  readonly fields: readonly [string, ...string[]];
  constructor(fields: readonly [string, ...string[]]) {
    super(`a directory says ${fields.join(', ')}`);
    this.name = 'ManagedByDirectory';
    this.fields = fields;
  }
}

/** What a directory writes or is about to; who is in conflict, skipped or ended is managed here. */
const heldStates = ['linked', 'pending'] as const;
const held = sql.join(heldStates.map((state) => sql.lit(state)));

/** Of a row of `users` or `groups`: no directory says who or what it is. */
export const isFreeOfDirectories = (table: 'users' | 'groups') =>
  sql<boolean>`NOT EXISTS (SELECT 1 FROM directory_links said
    WHERE said.tenant_id = ${sql.ref(`${table}.tenant_id`)} AND said.local_id = ${sql.ref(`${table}.id`)} AND said.state IN (${held}))`;

/** The directories that say who these people or groups are, by the ids of those. */
export async function findDirectoriesOf(
  queries: Queries,
  tenant: TenantId,
  localIds: readonly string[],
): Promise<ReadonlyMap<string, LdapDirectoryId>> {
  const rows = await queries
    .selectFrom('directory_links')
    .select(['local_id', 'directory_id'])
    .where('tenant_id', '=', tenant)
    .where('local_id', 'is not', null)
    .where(idAmong(queries, 'local_id', localIds))
    .where('state', 'in', heldStates)
    .execute();
  return new Map(rows.map(({ local_id: id, directory_id: directory }) => [id!, directory]));
}

interface PersonChange {
  readonly profile?: UserProfile;
  readonly lists?: NewLists | undefined;
  readonly custom?: CustomCells | undefined;
}

/** Whether a change says anything that a directory may say of a person. */
export const saysWhoSomebodyIs = ({ profile = {}, lists = {}, custom }: PersonChange): boolean =>
  Object.keys(profile).length > 0 || lists.emails !== undefined || custom !== undefined;

/** The value somebody has already is no change. @throws ManagedByDirectory */
export async function requireOwnValues(queries: Queries, tenant: TenantId, id: string, change: PersonChange): Promise<void> {
  const directoryId = (await findDirectoriesOf(queries, tenant, [id])).get(id);
  const directory = directoryId && (await findLdapDirectory(queries, tenant, directoryId));
  const before = directory && (await findLiveUser(queries, tenant, id));
  if (!directory || !before) return;
  const written = writtenBy(directory);
  const columns = userAttributes.filter(({ name, path }) => written.has(path) && isOther(change.profile?.[name], before[name]));
  const fields = [
    ...columns.map(({ path }) => path),
    ...(written.has(emailTarget) && (await isOtherEmail(queries, tenant, before.id, change)) ? [emailTarget] : []),
    ...(await otherCustom(queries, tenant, before.custom, change)).filter((path) => written.has(path)),
  ];
  if (fields.length > 0) throw new ManagedByDirectory(fields as [string, ...string[]]); // one at least
}

const isOther = (given: UserProfile[UserColumn], before: string | null): boolean => given !== undefined && given !== before;

async function isOtherEmail(queries: Queries, tenant: TenantId, user: UserId, { lists = {} }: PersonChange): Promise<boolean> {
  if (lists.emails === undefined) return false;
  const primaryOf = (emails: NonNullable<NewLists['emails']>): string | undefined => emails.find((one) => one.is_primary === 1)?.value;
  return primaryOf(lists.emails) !== primaryOf(await listUserEmails(queries, tenant, user));
}

async function otherCustom(
  queries: Queries,
  tenant: TenantId,
  cellBefore: string | null,
  { custom }: PersonChange,
): Promise<readonly string[]> {
  if (custom === undefined || custom.cell === cellBefore) return [];
  const read = (cell: string | null): CustomValues => (cell === null ? {} : JSON.parse(cell)); // by the attributes' ids
  const [before, after] = [read(cellBefore), read(custom.cell)];
  const attributes = await listCustomAttributes(queries, tenant);
  return attributes.filter(({ id }) => JSON.stringify(before[id]) !== JSON.stringify(after[id])).map(customPath);
}

/** Who came from a directory and holds a role or manages an organisation; with `onlyEnding`, those of them that wait for their end. */
export async function listLinkedHolders(
  queries: Queries,
  { tenant, directory }: OfDirectory,
  { onlyEnding = false }: { readonly onlyEnding?: boolean } = {},
): Promise<readonly UserId[]> {
  const rows = await queries
    .selectFrom('users as u')
    .select('u.id')
    .where('u.tenant_id', '=', tenant)
    .where(({ eb, or }) => or([eb('u.role', '=', 'admin'), managesAny(tenant, sql.ref('u.id'))]))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('directory_links as l')
          .select('l.remote_id')
          .whereRef('l.tenant_id', '=', 'u.tenant_id')
          .whereRef('l.local_id', '=', 'u.id' as never) // ids are texts
          .where('l.directory_id', '=', directory)
          .$if(onlyEnding, (select) => select.where('l.leaving', '=', 1)),
      ),
    )
    .execute();
  return rows.map(({ id }) => id);
}

// Links between our users and who they are at other providers (design 14, 2). (provider, issuer, subject) names one user of a
// tenant at most, which is a constraint; it is looked up by its hash, because providers' subjects may be long.
import { hash } from 'node:crypto';
import type { ExternalIdentityId, IdentityProviderId, TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { endApproved } from './approvals.ts';

export interface ExternalIdentityTable {
  tenant_id: TenantId;
  id: ExternalIdentityId;
  provider_id: IdentityProviderId;
  issuer: string;
  subject: string;
  /** SHA-256 over provider, issuer and subject. */
  identity_hash: string;
  user_id: UserId;
  /** As the provider told it when the link was made. */
  email: string | null;
  created_at: number;
  used_at: number | null;
}

type LinkedIdentity = Readonly<ExternalIdentityTable>;

/** Who somebody is at a provider. */
interface IdentityKey {
  readonly providerId: IdentityProviderId;
  readonly issuer: string;
  readonly subject: string;
}

/** The link of an identity. */
export async function findExternalIdentity(queries: Queries, tenant: TenantId, key: IdentityKey): Promise<LinkedIdentity | undefined> {
  return queries
    .selectFrom('external_identities')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('identity_hash', '=', identityHash(key))
    .executeTakeFirst();
}

/** The link of an identity, marked as used now. */
export async function touchExternalIdentity(queries: Queries, tenant: TenantId, key: IdentityKey): Promise<LinkedIdentity | undefined> {
  return queries
    .updateTable('external_identities')
    .set({ used_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('identity_hash', '=', identityHash(key))
    .returningAll()
    .executeTakeFirst();
}

/** Whose an identity is. */
export async function findLinkedUser(queries: Queries, tenant: TenantId, key: IdentityKey): Promise<UserId | undefined> {
  const row = await queries
    .selectFrom('external_identities')
    .select('user_id')
    .where('tenant_id', '=', tenant)
    .where('identity_hash', '=', identityHash(key))
    .executeTakeFirst();
  return row?.user_id;
}

/** Whether a link is a person's yet, to an enabled provider with one of these aliases. */
export async function isLinkOf(
  queries: Queries,
  tenant: TenantId,
  user: UserId,
  link: ExternalIdentityId,
  aliases: readonly string[],
): Promise<boolean> {
  const found = await queries
    .selectFrom('external_identities as e')
    .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'e.tenant_id').onRef('p.id', '=', 'e.provider_id'))
    .select('e.id')
    .where('e.tenant_id', '=', tenant)
    .where('e.id', '=', link)
    .where('e.user_id', '=', user)
    .where('p.enabled', '=', 1)
    .where('p.alias', 'in', aliases)
    .executeTakeFirst();
  return found !== undefined;
}

/** Links an identity to a user. False when it is somebody's already. */
export async function insertExternalIdentity(
  queries: Queries,
  tenant: TenantId,
  link: IdentityKey & { readonly id: ExternalIdentityId; readonly userId: UserId; readonly email: string | undefined },
): Promise<boolean> {
  const rows = await queries
    .insertInto('external_identities')
    .values({
      tenant_id: tenant,
      id: link.id,
      provider_id: link.providerId,
      issuer: link.issuer,
      subject: link.subject,
      identity_hash: identityHash(link),
      user_id: link.userId,
      email: link.email ?? null,
      created_at: databaseNowMs,
      used_at: databaseNowMs,
    })
    .onConflict((on) => on.columns(['tenant_id', 'identity_hash']).doNothing())
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** A link with what people call its provider. */
export type NamedIdentity = LinkedIdentity & {
  readonly provider_name: string;
  readonly provider_alias: string;
  readonly provider_enabled: number;
};

/** The links of a user, oldest first. */
export async function listExternalIdentities(queries: Queries, tenant: TenantId, user: UserId): Promise<readonly NamedIdentity[]> {
  return queries
    .selectFrom('external_identities as e')
    .innerJoin('identity_providers as p', (join) => join.onRef('p.tenant_id', '=', 'e.tenant_id').onRef('p.id', '=', 'e.provider_id'))
    .selectAll('e')
    .select(['p.name as provider_name', 'p.alias as provider_alias', 'p.enabled as provider_enabled'])
    .where('e.tenant_id', '=', tenant)
    .where('e.user_id', '=', user)
    .orderBy('e.created_at')
    .orderBy('e.id')
    .execute();
}

/** Those linked to a provider who hold a role. */
export async function listLinkedAdministrators(queries: Queries, tenant: TenantId, provider: string): Promise<readonly UserId[]> {
  const rows = await queries
    .selectFrom('external_identities as e')
    .innerJoin('users as u', (join) => join.onRef('u.tenant_id', '=', 'e.tenant_id').onRef('u.id', '=', 'e.user_id'))
    .select('u.id')
    .distinct()
    .where('e.tenant_id', '=', tenant)
    .where('e.provider_id', '=', provider as IdentityProviderId) // a look-up key
    .where('u.role', '=', 'admin')
    .execute();
  return rows.map(({ id }) => id);
}

/** Removes a link of a user; false when they have none of that id. Sessions it opened are over with it. */
export async function deleteExternalIdentity(queries: Queries, tenant: TenantId, user: UserId, id: string): Promise<boolean> {
  const rows = await queries
    .deleteFrom('external_identities')
    .where('tenant_id', '=', tenant)
    .where('user_id', '=', user)
    .where('id', '=', id as ExternalIdentityId) // a look-up key, not yet known to be an id
    .returning('id')
    .execute();
  if (rows.length === 1) await endApproved(queries, tenant, user, [id]);
  return rows.length === 1;
}

/** What an identity is looked up by. */
export const identityHash = ({ providerId, issuer, subject }: IdentityKey): string =>
  hash('sha256', JSON.stringify([providerId, issuer, subject]), 'base64url');

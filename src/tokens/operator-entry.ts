// Who calls the Management API of a tenant as an operator who entered it (decision 40). What the console's calls carry stands for a row of
// the root tenant, and what it allows is asked at every call: nothing is signed, and nothing outlives the session that made it.
import { hashSecret } from '../crypto/secret-hash.ts';
import type { UserId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { rootTenantSlug, type Tenant } from '../domain/tenant/tenant.ts';
import { randomSecret } from '../platform/random.ts';
import type { Database } from '../storage/engine/database.ts';
import { findCapabilities } from '../storage/people/user-roles.ts';
import { findOperator } from '../storage/records/operator-entries.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';

const prefix = 'operator';
const form = /^operator\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

/** What only an operator who may enter tenants holds. */
const enteringCapability = 'tenants:write';

/** A new secret of an entry, as it travels. */
export function makeEntrySecret(id: string): { readonly text: string; readonly hash: string } {
  const secret = randomSecret();
  return { text: `${prefix}.${id}.${secret}`, hash: hashSecret(secret) };
}

/** The id and the hash of a secret that travelled; undefined when it is none. */
export function readEntrySecret(text: string): { readonly id: string; readonly secretHash: string } | undefined {
  const [, id, secret] = form.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secretHash: hashSecret(secret) };
}

export const actorOf = (userId: UserId): string => `operator:user:${userId}`;

export interface Operator {
  readonly actor: string;
  /** What their roles in the root tenant allow now, but for what is of the deployment. */
  readonly scopes: readonly string[];
}

/** Whose entry into this tenant it is, and what they may do in it. */
export async function verifyOperatorEntry(
  { database, tenants }: { readonly database: Database; readonly tenants: Pick<TenantDirectory, 'bySlug'> },
  tenant: Tenant,
  presented: string,
): Promise<Outcome<{ readonly operator: Operator }, 'operator_entry_ended'>> {
  const secret = readEntrySecret(presented);
  const root = await tenants.bySlug(rootTenantSlug);
  if (secret === undefined || root === undefined || tenant.id === root.id) return fail('operator_entry_ended');
  return database.read(root.id, async (queries) => {
    const userId = await findOperator(queries, root.id, { ...secret, enteredId: tenant.id });
    const held = userId === undefined ? [] : await findCapabilities(queries, root.id, userId);
    if (userId === undefined || !held.includes(enteringCapability)) return fail('operator_entry_ended');
    return { ok: true, operator: { actor: actorOf(userId), scopes: held.filter((capability) => !capability.startsWith('tenants:')) } };
  });
}

/** True for what stands for an entry instead of an access token. */
export const isEntrySecret = (presented: string | undefined): presented is string => presented?.startsWith(`${prefix}.`) === true;

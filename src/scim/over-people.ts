// A directory does not change, suspend, delete or regroup a person who holds a capability its token lacks (design 13, 4).
import { reject } from '../contract/contract-error.ts';
import { capabilitiesOfTenant } from '../domain/people/capabilities.ts';
import { capabilitiesOfRoles } from '../domain/people/role.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listHeldRoles } from '../storage/people/user-roles.ts';
import type { ScimContext } from './request-context.ts';

/** @throws scim.forbidden, whose detail states the missing capability */
export async function requireOver(context: ScimContext, queries: Queries, people: readonly string[]): Promise<void> {
  const { tenant, scopes } = context;
  const held = [...(await listHeldRoles(queries, tenant.id, people)).values()].flat();
  const known: ReadonlySet<string> = new Set(capabilitiesOfTenant(tenant));
  const missing = capabilitiesOfRoles(held).find((capability) => known.has(capability) && !scopes.includes(capability));
  if (missing === undefined) return;
  const challenge = `Bearer realm="scim", error="insufficient_scope", scope="${missing}"`;
  const cause = { reason: 'person_holds_more', expected: missing, received: scopes.join(' ') };
  throw reject('scim.forbidden', cause, { text: `The access token lacks ${missing}.`, challenge });
}

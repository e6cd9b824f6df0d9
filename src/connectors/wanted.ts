// What a target is to say of a person: their resource with a hash, or that they are no longer provisioned, or never were.
import { createHash } from 'node:crypto';
import type { Connector } from '../domain/extending/connector.ts';
import type { UserId } from '../domain/ids.ts';
import { type ScimUser, scimUserOf } from '../domain/mappings/scim.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findMappedPerson } from '../storage/people/mapped-person.ts';
import { isInOneOf } from '../storage/records/connector-members.ts';
import type { Work } from './parts.ts';

export interface WantedUser extends ScimUser {
  readonly active: boolean;
  readonly hash: string;
}

type WantedFacts = Pick<Work, 'rules' | 'groups'> & { readonly tenant: Tenant; readonly connector: Connector };

/** Undefined: not provisioned, or no longer. */
export async function wantedUser(
  queries: Queries,
  { tenant, connector, rules, groups }: WantedFacts,
  id: string,
): Promise<WantedUser | undefined> {
  const sources = new Set(rules.flatMap((rule) => rule.sources));
  const person = await findMappedPerson(queries, tenant.id, id as UserId, tenant.customAttributes, sources); // of a link, or checked
  if (person === undefined || person.user.state === 'deleted') return undefined;
  if (connector.users === 'groups' && !(await isInOneOf(queries, tenant.id, id, groups))) return undefined;
  const active = person.user.state === 'active';
  const facts = { person, clientId: connector.id, tenantSlug: tenant.slug, acr: undefined };
  const { resource, paths } = scimUserOf(rules, facts, active);
  return { resource, paths, active, hash: hashOf(resource) };
}

export const hashOf = (resource: object): string => createHash('sha256').update(JSON.stringify(resource)).digest('base64url');
/** Of somebody whose account was ended here and there. */
export const endedHash = 'ended';

/** True when the remote resource says all that ours does; letters of any case, since targets may fold them. */
export function resembles(ours: unknown, remote: unknown): boolean {
  if (Array.isArray(ours)) return Array.isArray(remote) && ours.every((one) => remote.some((other) => resembles(one, other)));
  if (typeof ours === 'object' && ours !== null) {
    if (typeof remote !== 'object' || remote === null) return false;
    return Object.entries(ours).every(
      ([name, value]) => name === 'schemas' || resembles(value, (remote as Readonly<Record<string, unknown>>)[name]),
    );
  }
  return String(ours).toLowerCase() === String(remote).toLowerCase();
}

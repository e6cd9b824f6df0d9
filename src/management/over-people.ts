// Nobody changes, enrols, recovers, invites or signs out a person who holds a capability they lack (design 13, 4). Dispatch asks before
// every call that writes, so that no endpoint can forget it: about the user of a path below `/users/:id`, and whoever `actsOn` names.
import { reject } from '../contract/contract-error.ts';
import { capabilitiesOfTenant } from '../domain/people/capabilities.ts';
import { capabilitiesOfRoles } from '../domain/people/role.ts';
import type { Queries } from '../storage/engine/database.ts';
import { holdRolesOf, listHeldRoles } from '../storage/people/user-roles.ts';
import type { Call, Endpoint } from './endpoint.ts';

/** @throws management.forbidden */
export async function requireOver(endpoint: Endpoint, call: Call<unknown, unknown>): Promise<void> {
  const { services, tenant, params } = call;
  const ofPath = /^\/users\/:id(?:\/|$)/.test(endpoint.path) ? [params['id']!] : [];
  const { actsOn } = endpoint;
  if (endpoint.method === 'GET' || (ofPath.length === 0 && actsOn === undefined)) return;
  const people = await services.database.read(tenant.id, async (queries) => [...ofPath, ...((await actsOn?.(queries, call)) ?? [])]);
  await requireOverThese(call, people);
}

/** The same about people who are known in the middle of a call. @throws management.forbidden */
export async function requireOverThese(
  { services, tenant, scopes }: Pick<Call<unknown, unknown>, 'services' | 'tenant' | 'scopes'>,
  people: readonly string[],
): Promise<void> {
  await services.database.read(tenant.id, (queries) => judge(queries, { tenant, scopes }, people));
}

/**
 * The same in the transaction that makes a way in for somebody, whose row the caller holds: they are given no role, and none of theirs
 * allows more, until it ends. Those who give roles end the ways in that were made before. @throws management.forbidden
 */
export async function requireOverHeld(queries: Queries, call: Judged, person: string): Promise<void> {
  await holdRolesOf(queries, call.tenant.id, person);
  await judge(queries, call, [person]);
}

type Judged = Pick<Call<unknown, unknown>, 'tenant' | 'scopes'>;

async function judge(queries: Queries, { tenant, scopes }: Judged, people: readonly string[]): Promise<void> {
  const held = [...(await listHeldRoles(queries, tenant.id, people)).values()].flat();
  const known: ReadonlySet<string> = new Set(capabilitiesOfTenant(tenant));
  const missing = capabilitiesOfRoles(held).find((capability) => known.has(capability) && !scopes.includes(capability));
  if (missing !== undefined)
    throw reject(
      'management.forbidden',
      { reason: 'person_holds_more', expected: missing, received: scopes.join(' ') },
      { text: `The token lacks the capability ${missing}.` },
    );
}

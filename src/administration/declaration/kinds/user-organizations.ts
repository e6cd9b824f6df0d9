// The organisations of people in a document: each by its name, with the roles held there. An item that does not say them leaves them.
import Type from 'typebox';
import {
  membersPerOrganizationMax,
  nameCharsMax,
  organizationRolesMax,
  organizationsPerPersonMax,
  roleNameCharsMax,
} from '../../../contract/limits.ts';
import { membershipsMax } from '../../../contract/organization-limits.ts';
import type { UserId } from '../../../domain/ids.ts';
import type { Queries } from '../../../storage/engine/database.ts';
import { deleteMember, listMembershipsByName, putMember } from '../../../storage/people/organization-members.ts';
import { lockUser } from '../../../storage/people/users.ts';
import { recordAct } from '../../administration.ts';
import { closed } from '../../schema-pieces.ts';
import { canonical, type Declared, faultAt, type Json, type Session } from '../document.ts';
import { knownOf } from '../kind-section.ts';

export interface DeclaredMembership {
  readonly organization: string;
  readonly roles: readonly string[];
}

const name = (charsMax: number) => Type.String({ minLength: 1, maxLength: charsMax });

export const membershipsSchema = Type.Array(
  closed({
    organization: name(nameCharsMax),
    roles: Type.Optional(Type.Array(name(roleNameCharsMax), { maxItems: organizationRolesMax })),
  }),
  { maxItems: organizationsPerPersonMax },
);

/** What an item says, as two are compared. @throws DeclarationFault */
export function declaredMemberships(
  session: Session,
  declared: Declared,
  given: readonly (Pick<DeclaredMembership, 'organization'> & Partial<DeclaredMembership>)[],
): readonly DeclaredMembership[] {
  const [organizations, known] = [knownOf(session, 'organizations'), knownOf(session, 'organization_roles')];
  for (const [index, { organization, roles = [] }] of given.entries()) {
    if (!organizations.has(organization))
      throw faultAt(
        declared,
        ['organizations', index, 'organization'],
        'the name of an organisation of this document or tenant',
        organization,
      );
    if (given.findIndex((other) => other.organization === organization) < index)
      throw faultAt(declared, ['organizations', index, 'organization'], 'each organisation once', organization);
    const unknown = roles.findIndex((role) => !known.has(role));
    if (unknown >= 0)
      throw faultAt(
        declared,
        ['organizations', index, 'roles', unknown],
        'the name of an organisation role of this document or tenant',
        roles[unknown],
      );
  }
  return given.map(({ organization, roles = [] }) => ({ organization, roles: [...new Set(roles)].sort() })).toSorted(byName);
}

const byName = (one: DeclaredMembership, other: DeclaredMembership): number => (one.organization < other.organization ? -1 : 1);

/** What is stored of these people, by their ids; nothing of who is in none. */
export async function loadMemberships(queries: Queries, { tenant }: Session, ids: readonly string[]): Promise<ReadonlyMap<string, Json>> {
  const found = await listMembershipsByName(queries, tenant.id, ids);
  return new Map(
    [...Map.groupBy(found, ({ userId }): string => userId)].map(([id, own]) => [
      id,
      { organizations: own.map(({ organization, roles }) => ({ organization, roles })).toSorted(byName) },
    ]),
  );
}

const membershipsOf = (fields: Json): readonly DeclaredMembership[] => (fields['organizations'] ?? []) as readonly DeclaredMembership[]; // made above

interface Changing {
  readonly user: UserId;
  readonly before: Json;
  readonly after: Json;
  readonly declared: Declared;
}

/** Makes the memberships of a person those of the item. @throws DeclarationFault where one may not be */
export async function writeMemberships(queries: Queries, session: Session, { user, before, after, declared }: Changing): Promise<void> {
  const { administration, tenant, by } = session;
  const [were, are] = [membershipsOf(before), membershipsOf(after)];
  if (canonical(were) === canonical(are)) return;
  const ids = knownOf(session, 'organizations');
  await lockUser(queries, administration.database.dialect, tenant.id, user);
  for (const { organization } of were.filter((one) => !are.some((other) => other.organization === one.organization))) {
    const id = ids.get(organization) ?? '';
    if (await deleteMember(queries, tenant.id, id, user))
      await recordAct(queries, administration, tenant.id, by, {
        type: 'organization.member_removed',
        target: `organization:${id}`,
        data: { user },
      });
  }
  for (const { organization, roles } of are) {
    const id = ids.get(organization) ?? '';
    const joined = await putMember(queries, tenant.id, { organizationId: id, userId: user, roles });
    if (!joined.ok) throw faultAt(declared, ['organizations'], expectedOf[joined.reason], organization);
    if (joined.was === 'same') continue;
    await recordAct(queries, administration, tenant.id, by, {
      type: joined.was === 'none' ? 'organization.member_added' : 'organization.member_changed',
      target: `organization:${id}`,
      data: { user, roles },
    });
  }
}

const expectedOf = {
  unknown: 'an organisation that is there',
  unknown_role: 'roles that are there',
  person_full: `at most ${organizationsPerPersonMax} organisations of a person`,
  tenant_full: `at most ${membershipsMax} memberships in organisations of a tenant`,
  organization_full: `at most ${membersPerOrganizationMax} members of an organisation`,
  last_manager: 'somebody who manages the organisation',
} as const;

// What a hook reads of the person and of the organisation a question is about. The person by the paths of attributes: as the
// Management API shows them, with group names and the tenant's own attributes.

import type { UserId } from '../domain/ids.ts';
import type { HeldOrganization } from '../domain/organizations/tenant-organizations.ts';
import { fromCustomCell } from '../domain/people/custom-attributes.ts';
import { userAttributes } from '../domain/people/user-attributes.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Database } from '../storage/engine/database.ts';
import { listGroupsOfUser } from '../storage/people/groups.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { findUser } from '../storage/people/users.ts';

type Json = Readonly<Record<string, unknown>>;

/** The person as a hook reads them; null for nobody. */
export async function hookUser(database: Database, tenant: Pick<Tenant, 'id' | 'customAttributes'>, id: UserId): Promise<Json | null> {
  return database.read(tenant.id, async (queries) => {
    const user = await findUser(queries, tenant.id, id);
    if (user === undefined) return null;
    const emails = await listUserEmails(queries, tenant.id, id);
    return {
      id,
      ...nested(userAttributes.map(({ name, path }) => [path, user[name]])),
      emails: emails.map((email) => ({ value: email.value, type: email.type, primary: email.is_primary === 1 })),
      groups: (await listGroupsOfUser(queries, tenant.id, id)).map((group) => group.display_name).toSorted(),
      custom: fromCustomCell(tenant.customAttributes, user.custom),
    };
  });
}

/** The organisation a sign-in or its tokens are for, as a hook reads it; nothing where the tenant has none. */
export const hookOrganization = ({ organizations }: Pick<Tenant, 'organizations'>, held: HeldOrganization | undefined): Json =>
  organizations.exist ? { organization: held === undefined ? null : { id: held.id, name: held.name, roles: held.roles } } : {};

/** Values by paths such as `name.given_name`; those without a value are left out. */
function nested(values: readonly (readonly [path: string, value: unknown])[]): Json {
  const json: Record<string, Json | unknown> = {};
  for (const [path, value] of values) {
    if (value === null || value === undefined) continue;
    const [head, part] = path.split('.') as [string, string?];
    json[head] = part === undefined ? value : { ...(json[head] as Json | undefined), [part]: value }; // put there below this head
  }
  return json;
}

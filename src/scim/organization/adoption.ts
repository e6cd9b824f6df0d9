// Who comes into an organisation by its SCIM, beside those it makes (design 19): somebody the tenant has already, when their main address
// is of a domain proven to be the organisation's. Nobody else, whatever the request says of them; and nobody is made whose address is of
// a domain proven to be somebody else's, since that person would sign in to an account that this organisation writes.

import { foldKey } from '../../domain/fold.ts';
import type { UserId } from '../../domain/ids.ts';
import type { OrganizationDirectory } from '../../domain/organizations/directory.ts';
import { domainOf } from '../../domain/sign-in/domain-proof.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { isDomainOfOthers } from '../../storage/people/directories/scim-domains.ts';
import { findMemberOf, setMemberSuspension } from '../../storage/people/directories/scim-members.ts';
import { putMember } from '../../storage/people/organization-members.ts';
import { listUserEmails } from '../../storage/people/user-lists.ts';
import type { NewUser } from '../../storage/people/user-writer.ts';
import { listOwners, lockUser } from '../../storage/people/users.ts';
import { findDomainOwner } from '../../storage/registry/proven-domains.ts';
import { everything } from '../list/projection.ts';
import { audit, type ScimContext } from '../request-context.ts';
import { type Stored, storedUser } from '../user-loader.ts';

type Named = Pick<NewUser, 'profile' | 'lists'>;

const addressesOf = ({ lists }: Named): readonly string[] => (lists.emails ?? []).flatMap(({ value }) => value ?? []);

/** Whether somebody else may answer for an address or a name of a person who is about to be written. */
export async function isOfOthers(queries: Queries, directory: OrganizationDirectory, people: readonly Named[]): Promise<boolean> {
  const names = people.flatMap(({ profile }) => profile['user_name'] ?? []);
  const domains = [...names, ...people.flatMap(addressesOf)].flatMap((address) => domainOf(address) ?? []);
  return isDomainOfOthers(queries, directory, [...new Set(domains)]);
}

/** Makes the one person whose name or addresses a request says a member, when the organisation may have them; undefined when not. */
export async function adopt(
  context: ScimContext,
  queries: Queries,
  directory: OrganizationDirectory,
  added: NewUser,
  roles: readonly string[],
): Promise<Stored | undefined> {
  const { dialect } = context.services.database;
  const { tenant, organization } = directory;
  const addresses = addressesOf(added).map(foldKey);
  const owners = await listOwners(queries, dialect, tenant, {
    names: [added.profile['user_name'] ?? ''].map(foldKey),
    emails: addresses,
  });
  const [id, ...others] = new Set([...owners.names, ...owners.emails].map((owner) => owner.id));
  if (id === undefined || others.length > 0) return undefined;
  const row = await lockUser(queries, dialect, tenant, id);
  if (row === undefined || row.role !== 'user' || (await findMemberOf(queries, directory, row.id)) !== undefined) return undefined;
  const main = (await listUserEmails(queries, tenant, row.id)).find((email) => email.is_primary === 1)?.value;
  if (main === undefined || main === null || !addresses.includes(foldKey(main))) return undefined;
  const domain = domainOf(main);
  if (domain === undefined || (await findDomainOwner(queries, tenant, 'organization', domain)) !== organization) return undefined;
  return join(context, queries, row, { directory, roles, isActive: added.state === 'active' });
}

interface Joining {
  readonly directory: OrganizationDirectory;
  readonly roles: readonly string[];
  readonly isActive: boolean;
}

async function join(
  context: ScimContext,
  queries: Queries,
  row: Parameters<typeof storedUser>[2],
  { directory, roles, isActive }: Joining,
): Promise<Stored | undefined> {
  const { tenant, organization } = directory;
  const userId: UserId = row.id;
  const joined = await putMember(queries, tenant, { organizationId: organization, userId, roles });
  if (!joined.ok) return undefined;
  if (!isActive) await setMemberSuspension(queries, directory, userId, 1);
  const data = { user: userId, roles };
  await audit(context, queries, { type: 'organization.member_added', target: `organization:${organization}`, data });
  return storedUser(context, queries, row, everything);
}

// Linking a person to who they are at another provider (design 14, 2): the row, its audit record and the mail that tells them.
// Whoever calls has had the account proven; a provider's word on an email never is that proof.

import type { ExternalIdentityId, UserId } from '../domain/ids.ts';
import type { ExternalIdentity } from '../domain/sign-in/external-identity.ts';
import { emailPinMethod, type LoginMethod, passkeyMethod, phoneMethod } from '../domain/sign-in/login-methods.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { mails } from '../mails/registry.ts';
import { uuidV7 } from '../platform/random.ts';
import { listDevicesOfUser } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { holdActiveUser } from '../storage/people/user-writer.ts';
import { findUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findIdentityProvider } from '../storage/registry/identity-providers.ts';
import { deleteExternalIdentity, insertExternalIdentity, listExternalIdentities } from '../storage/sign-in/external-identities.ts';
import { listPasskeysOfUser } from '../storage/sign-in/passkeys.ts';
import type { MailDeps } from './mailed/mail-delivery.ts';
import { mailUser } from './mailed/user-mail.ts';
import { countsForAddress, speaksForDomain, speaksForMade } from './organizations/customer-providers.ts';
import { setProviderGroups } from './provider-groups.ts';

/** What of a person's proves their account beyond a mailbox, as far as the tenant takes it for signing in; of administrators always. */
export async function strongMethodsOf(queries: Queries, { id, settings }: Tenant, userId: UserId): Promise<readonly LoginMethod[]> {
  const devices = await listDevicesOfUser(queries, id, userId);
  const has: Readonly<Record<typeof phoneMethod | typeof passkeyMethod, boolean>> = {
    [phoneMethod]: devices.some(({ state }) => state === 'active'),
    [passkeyMethod]: (await listPasskeysOfUser(queries, id, userId)).length > 0,
  };
  const isAdministrator = (await findUser(queries, id, userId))?.role === 'admin';
  const counts = (method: LoginMethod): boolean => isAdministrator || settings.login_methods.includes(method);
  return ([phoneMethod, passkeyMethod] as const).filter((method) => has[method] && counts(method));
}

/** Whether an account that was proven so may be linked: a mailbox is the proof of who has nothing stronger. */
export const mayLinkBy = async (queries: Queries, tenant: Tenant, userId: UserId, method: string | null): Promise<boolean> =>
  method !== emailPinMethod || (await strongMethodsOf(queries, tenant, userId)).length === 0;

/**
 * The one provider whose word links (design 14, 2): the email's domain is proven to be its own, it says so itself or the account is of its
 * customer's own directory, and has neither phone nor passkey nor the role admin. Whoever has the domain reads the PIN that would be asked for.
 */
export async function speaksForOwner(
  queries: Queries,
  tenant: Tenant,
  identity: Pick<ExternalIdentity, 'providerId' | 'email' | 'emailCounts' | 'ownDomain'>,
  owner: UserId,
): Promise<boolean> {
  const { id } = tenant;
  const { providerId, ownDomain } = identity;
  if (ownDomain === undefined && !tenant.organizations.exist) return false;
  // Held, so that no phone is added meanwhile.
  if (!(await holdActiveUser(queries, id, owner))) return false;
  const user = await findUser(queries, id, owner);
  if (user?.role !== 'user') return false;
  const speaks =
    ownDomain === undefined
      ? await speaksForMade(queries, tenant, identity, user)
      : await speaksForDomain(queries, tenant, ownDomain, providerId);
  if (!speaks) return false;
  const devices = await listDevicesOfUser(queries, id, owner);
  return devices.length === 0 && (await listPasskeysOfUser(queries, id, owner)).length === 0;
}

export interface Linking {
  readonly identity: Pick<ExternalIdentity, 'providerId' | 'issuer' | 'subject' | 'email'>;
  readonly userId: UserId;
  readonly requestId: string;
}

/**
 * Links in the caller's transaction. Undefined when the identity is somebody's already, its provider is gone, or that is an organisation's and
 * does not count for the address.
 */
export async function linkIdentity(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  { identity, userId, requestId }: Linking,
): Promise<ExternalIdentityId | undefined> {
  const provider = await findIdentityProvider(queries, tenant.id, identity.providerId);
  if (provider === undefined || !provider.enabled) return undefined;
  if (!(await countsForAddress(queries, tenant, identity))) return undefined;
  const { providerId, issuer, subject, email } = identity;
  const id = uuidV7(deps.clock.nowMs()) as ExternalIdentityId; // made here
  if (!(await insertExternalIdentity(queries, tenant.id, { id, providerId, issuer, subject, userId, email }))) return undefined;
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    type: 'external_identity.linked',
    requestId,
    actor: `user:${userId}`,
    target: `external_identity:${id}`,
    data: { user: userId, provider: provider.alias, issuer, subject },
  });
  await mailUser(queries, deps, tenant, { userId, asked: undefined }, (to, language) =>
    mails.externalIdentity.make('added', { providerName: provider.name, tenantName: tenant.name, language }, to),
  );
  return id;
}

interface Unlinking {
  readonly userId: UserId;
  readonly id: string;
}

/** Who unlinks, for the audit record; `asked` is the Accept-Language of the person themselves. */
interface LinkActor {
  readonly actor: string;
  readonly requestId?: string | undefined;
  readonly asked?: string | undefined;
}

/** Removes a link of a person in the caller's transaction; sessions it opened are over. `last_way`: they could not come in any more. */
export async function unlinkIdentity(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  { userId, id }: Unlinking,
  { asked, ...by }: LinkActor,
): Promise<'removed' | 'unknown' | 'last_way'> {
  // Parallel removals of one person wait for each other, so that one way stays.
  if (!(await holdActiveUser(queries, tenant.id, userId))) return 'unknown';
  const all = await listExternalIdentities(queries, tenant.id, userId);
  const link = all.find((one) => one.id === id);
  if (link === undefined) return 'unknown';
  const others = all.some((one) => one.id !== id && one.provider_enabled === 1);
  if (!others && !(await hasOwnWay(queries, tenant, userId))) return 'last_way';
  await deleteExternalIdentity(queries, tenant.id, userId, id);
  // Nobody could say any more that the person is in the provider's groups, or no longer is.
  const { provider_id: providerId } = link;
  const isLast = !all.some((one) => one.id !== id && one.provider_id === providerId);
  if (isLast) await setProviderGroups(queries, deps, tenant, { providerId, userId, ...by }, []);
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    ...by,
    type: 'external_identity.removed',
    target: `external_identity:${id}`,
    data: { user: userId, provider: link.provider_alias, issuer: link.issuer, subject: link.subject },
  });
  await mailUser(queries, deps, tenant, { userId, asked }, (to, language) =>
    mails.externalIdentity.make('removed', { providerName: link.provider_name, tenantName: tenant.name, language }, to),
  );
  return 'removed';
}

/** Whether a person can sign in without any other provider. */
async function hasOwnWay(queries: Queries, tenant: Tenant, userId: UserId): Promise<boolean> {
  if ((await strongMethodsOf(queries, tenant, userId)).length > 0) return true;
  return tenant.settings.login_methods.includes(emailPinMethod) && (await listUserEmails(queries, tenant.id, userId)).length > 0;
}

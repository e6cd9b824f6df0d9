// Every kind of registered thing with its rows and what it does besides. A kind that does nothing besides has no line here.
import type { ConnectorId, IdentityProviderId, LdapDirectoryId, ServiceProviderId, WebhookId } from '../domain/ids.ts';
import { kinds } from '../domain/kinds.ts';
import { boundFault } from '../domain/organizations/organization.ts';
import { heldByMemberFault } from '../domain/organizations/organization-role.ts';
import { heldFault } from '../domain/people/role.ts';
import { endLinksOfHolders } from '../storage/people/user-roles.ts';
import { findFeedEnd } from '../storage/records/event-feed.ts';
import { resumeDeliveries } from '../storage/records/webhook-deliveries.ts';
import { deleteAssignmentsOf } from '../storage/registry/clients/access-assignments.ts';
import { capabilitiesByIssuer } from '../storage/registry/clients/workloads.ts';
import { beginConnector, changeConnectorState } from '../storage/registry/extending/connectors.ts';
import { findApplications } from '../storage/registry/extending/hooks.ts';
import { beginDirectory } from '../storage/registry/extending/ldap-directories.ts';
import { beginWebhook } from '../storage/registry/extending/webhooks.ts';
import { rowsOf } from '../storage/registry/kind-rows.ts';
import { forgetSignIns } from '../storage/registry/last-sign-ins.ts';
import { planRefresh } from '../storage/registry/metadata-refreshes.ts';
import { giveProvider, holdOwnerOfProvider, listOwnAliases } from '../storage/registry/organization-providers.ts';
import { deleteOrganizationRole } from '../storage/registry/organization-roles.ts';
import { deleteRole } from '../storage/registry/roles.ts';
import { deleteScimTokensOf } from '../storage/registry/scim-tokens.ts';
import { deleteServiceProvider, isBoundTo } from '../storage/registry/service-providers.ts';
import { certificatesFault, restartAfterChange } from './extending/ldap-directory.ts';
import { judgeDomains, metadataFault, renewProofs } from './identity-providers.ts';
import type { Effects } from './kind-effects.ts';
import { type Registered, register } from './kinds.ts';
import { guardOrganization, guardProvider, newIn, removeLeft, turnOffDropped } from './organizations/own-providers.ts';
import {
  addedOrganization,
  boundProviderFault,
  capabilitiesByDefault,
  capabilitiesByProvider,
  changedOrganization,
  holdBound,
  namedFault,
  roomForProvider,
} from './organizations.ts';

type Kinds = typeof kinds;
/** Kinds whose ids are of a type of their own. */
interface Ids {
  readonly webhook: WebhookId;
  readonly connector: ConnectorId;
  readonly directory: LdapDirectoryId;
  readonly service_provider: ServiceProviderId;
  readonly identity_provider: IdentityProviderId;
}
type IdOf<Noun> = Noun extends keyof Ids ? Ids[Noun] : string;

const resources = rowsOf(kinds.resource);
const organizations = rowsOf(kinds.organization);

const effects: { readonly [Noun in keyof Kinds]?: Effects<Kinds[Noun]['fields'], IdOf<Noun>> } = {
  role: {
    remove: async (queries, tenant, { name }) => {
      const done = await deleteRole(queries, tenant, name);
      return done === 'held' ? heldFault(name) : done === 'deleted';
    },
    changed: async (queries, { acting }, before, { name, capabilities }) => {
      if (capabilities.some((one) => !before.capabilities.includes(one))) await endLinksOfHolders(queries, acting.tenant.id, name);
    },
  },
  resource: {
    remove: async (queries, tenant, { id }) => {
      await deleteAssignmentsOf(queries, tenant, { kind: 'resource', id });
      return resources.remove(queries, tenant, id);
    },
  },
  hook: {
    // Those it names already may have gone since.
    fault: async (queries, tenant, { clients }, before) => {
      const named = clients.filter((id) => before?.clients.includes(id) !== true);
      const known = await findApplications(queries, tenant, named);
      const unknown = named.find((id) => !known.has(id));
      return unknown === undefined ? undefined : { field: 'clients', text: `names no client and no service provider: ${unknown}` };
    },
  },
  webhook: {
    prepare: async ({ database }, tenant) => void (await findFeedEnd(database, tenant)),
    added: (queries, { acting }, { id }) => beginWebhook(queries, acting.tenant.id, id),
    changed: async (queries, { acting }, before, { id, enabled }) => {
      if (enabled && !before.enabled) await resumeDeliveries(queries, acting.tenant.id, id);
    },
  },
  connector: {
    prepare: async ({ database }, tenant) => void (await findFeedEnd(database, tenant)),
    added: (queries, { acting }, { id }) => beginConnector(queries, acting.tenant.id, id),
    // What it says of everybody is looked at again.
    changed: (queries, { acting }, { id }) => changeConnectorState(queries, acting.tenant.id, id, { sync_after: '' }),
  },
  directory: {
    reading: certificatesFault,
    added: (queries, { acting }, directory) => beginDirectory(queries, acting.tenant.id, directory),
    changed: restartAfterChange,
  },
  service_provider: {
    fault: boundProviderFault,
    added: async (queries, { acting }, provider) => {
      await holdBound(queries, acting.tenant.id, provider, undefined);
      await planRefresh(queries, acting.tenant.id, provider);
    },
    changed: async (queries, { acting }, before, provider) => {
      await holdBound(queries, acting.tenant.id, provider, before);
      await planRefresh(queries, acting.tenant.id, provider);
    },
    remove: (queries, tenant, { id }) => deleteServiceProvider(queries, tenant, id),
  },
  // Whoever says what its tokens are is each client that is known by one.
  workload_issuer: { needs: (queries, tenant, { issuer }) => capabilitiesByIssuer(queries, tenant, issuer) },
  organization_role: {
    remove: async (queries, tenant, { name }) => {
      const done = await deleteOrganizationRole(queries, tenant, name);
      return done === 'held' ? heldByMemberFault(name) : done === 'deleted';
    },
  },
  organization: {
    fault: namedFault,
    needs: capabilitiesByDefault,
    guard: guardOrganization,
    added: addedOrganization,
    changed: async (queries, writing, before, after) => {
      await changedOrganization(queries, writing, before, after);
      await turnOffDropped(queries, writing, registered.identity_provider, newIn(before.identityProviders, after.identityProviders));
    },
    remove: async (queries, tenant, { id, name }, writing) => {
      if (await isBoundTo(queries, tenant, id)) return boundFault(name);
      const aliases = await listOwnAliases(queries, tenant, id);
      await deleteScimTokensOf(queries, { tenant, organization: id });
      await forgetSignIns(queries, tenant, 'organization', id);
      if (!(await organizations.remove(queries, tenant, id))) return false;
      await removeLeft(queries, writing, registered.identity_provider, aliases);
      return true;
    },
  },
  identity_provider: {
    first: holdOwnerOfProvider,
    reading: metadataFault,
    guard: guardProvider,
    room: (queries, acting, values) => roomForProvider(queries, acting, values, kinds.identity_provider.atMost!),
    needs: capabilitiesByProvider,
    settle: renewProofs,
    changed: judgeDomains,
    added: async (queries, { acting }, { alias }) => {
      if (acting.organization !== undefined) await giveProvider(queries, acting.tenant.id, acting.organization, alias);
    },
  },
};

const each = Object.entries(kinds).map(([noun, kind]) => [noun, register(kind as never, effects[noun as keyof Kinds] as never)]);

export const registered = Object.fromEntries(each) as {
  readonly [Noun in keyof Kinds]: Registered<Kinds[Noun]['fields'], IdOf<Noun>>; // each by its own noun
};

/** The same for whoever treats all alike. */
export const allRegistered = Object.values(registered) as unknown as readonly Registered[];

// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.

import { allRegistered, registered } from '../administration/registered.ts';
import { pathOfKind } from '../domain/kind.ts';
import { eventFeedEndpoints } from './activity/event-feed.ts';
import { eventEndpoints } from './activity/events.ts';
import { outboxEndpoints } from './activity/outbox.ts';
import { pushEndpoints } from './activity/push.ts';
import { signInEndpoints } from './activity/sign-ins.ts';
import { statisticsEndpoints } from './activity/statistics.ts';
import { brandingEndpoints } from './appearance/branding.ts';
import { imageEndpoints } from './appearance/images.ts';
import { mailServerEndpoints } from './appearance/mail-server.ts';
import { mailEndpoints } from './appearance/mails.ts';
import { textEndpoints } from './appearance/texts.ts';
import { clientHostEndpoints } from './client/client-hosts.ts';
import { clientEndpoints } from './client/clients.ts';
import { initialAccessTokenEndpoints } from './client/initial-access-tokens.ts';
import { scimTokenEndpoints } from './client/scim-tokens.ts';
import type { Endpoint } from './endpoint.ts';
import { connectorRunEndpoints } from './extending/connector-runs.ts';
import { besideDirectory, directoryRunEndpoints } from './extending/directory-runs.ts';
import { hookEndpoints } from './extending/hooks.ts';
import { mappingEndpoints } from './extending/mappings.ts';
import { webhookDeliveryEndpoints } from './extending/webhook-deliveries.ts';
import { type Besides, kindEndpoints } from './kind-endpoints.ts';
import { organizationInvitationEndpoints } from './organizations/invitations.ts';
import { setupLinkEndpoints } from './organizations/setup-links.ts';
import { administratorEndpoints } from './people/administrators.ts';
import { assignmentEndpoints } from './people/assignments.ts';
import { browserSessionEndpoints } from './people/browser-sessions.ts';
import { deviceEndpoints } from './people/devices.ts';
import { externalIdentityEndpoints } from './people/external-identities.ts';
import { groupEndpoints } from './people/groups.ts';
import { invitationEndpoints } from './people/invitations.ts';
import { knownSecretEndpoints } from './people/known-secrets.ts';
import { organizationMemberEndpoints } from './people/organization-members.ts';
import { besideOrganization, organizationEndpoints } from './people/organizations.ts';
import { passkeyEndpoints } from './people/passkeys.ts';
import { recoveryEndpoints } from './people/recoveries.ts';
import { recoveryCodeEndpoints } from './people/recovery-codes.ts';
import { userEndpoints } from './people/users.ts';
import { providerImportEndpoints } from './saml/provider-import.ts';
import { providerKeyEndpoints } from './saml/provider-keys.ts';
import { providerMetadataEndpoints } from './saml/provider-metadata.ts';
import { besideServiceProvider, serviceProviderEndpoints } from './saml/service-providers.ts';
import { besideProvider, identityProviderEndpoints } from './sign-in/identity-providers.ts';
import { ssfStreamEndpoints } from './ssf/ssf-streams.ts';
import { documentEndpoints } from './tenant/document.ts';
import { domainEndpoints } from './tenant/domain.ts';
import { settingListEndpoints } from './tenant/setting-lists.ts';
import { settingsEndpoints } from './tenant/settings.ts';
import { signingKeyEndpoints } from './tenant/signing-keys.ts';
import { tenantEndpoints } from './tenant/tenants.ts';

export const systemEndpoints: readonly Endpoint[] = [...tenantEndpoints, ...outboxEndpoints];

/** What answers of kinds hold beside their fields. */
const besides: Readonly<Record<string, Besides>> = {
  organization: besideOrganization as unknown as Besides,
  service_provider: besideServiceProvider,
  identity_provider: besideProvider as unknown as Besides,
  directory: besideDirectory as unknown as Besides,
};

/** Who may use a resource by clients nobody registered, where that is for some. */
const resourceAssignmentEndpoints = assignmentEndpoints({
  kind: 'resource',
  path: pathOfKind(registered.resource.kind),
  ...registered.resource.kind.power,
  exists: async (queries, tenant, id) => (await registered.resource.rows.find(queries, tenant, id)) !== undefined,
});

export const managementEndpoints: readonly Endpoint[] = [
  ...clientEndpoints,
  ...clientHostEndpoints,
  ...initialAccessTokenEndpoints,
  ...scimTokenEndpoints,
  ...allRegistered.flatMap((one) => kindEndpoints(one, besides[one.kind.noun])),
  ...resourceAssignmentEndpoints,
  ...mappingEndpoints,
  ...userEndpoints,
  ...administratorEndpoints,
  ...browserSessionEndpoints,
  ...groupEndpoints,
  ...organizationEndpoints,
  ...organizationMemberEndpoints,
  ...organizationInvitationEndpoints,
  ...setupLinkEndpoints,
  ...deviceEndpoints,
  ...pushEndpoints,
  ...invitationEndpoints,
  ...knownSecretEndpoints,
  ...passkeyEndpoints,
  ...recoveryCodeEndpoints,
  ...recoveryEndpoints,
  ...externalIdentityEndpoints,
  ...providerImportEndpoints,
  ...serviceProviderEndpoints,
  ...providerKeyEndpoints,
  ...providerMetadataEndpoints,
  ...identityProviderEndpoints,
  ...hookEndpoints,
  ...webhookDeliveryEndpoints,
  ...ssfStreamEndpoints,
  ...connectorRunEndpoints,
  ...directoryRunEndpoints,
  ...signingKeyEndpoints,
  ...settingsEndpoints,
  ...settingListEndpoints,
  ...documentEndpoints,
  ...brandingEndpoints,
  ...imageEndpoints,
  ...textEndpoints,
  ...mailEndpoints,
  ...mailServerEndpoints,
  ...domainEndpoints,
  ...eventFeedEndpoints,
  ...eventEndpoints,
  ...signInEndpoints,
  ...statisticsEndpoints,
  ...tenantEndpoints.map((endpoint): Endpoint => ({ ...endpoint, operatorOnly: true })),
];

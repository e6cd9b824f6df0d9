// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.

import { eventFeedEndpoints } from './activity/event-feed.ts';
import { eventEndpoints } from './activity/events.ts';
import { outboxEndpoints } from './activity/outbox.ts';
import { pushEndpoints } from './activity/push.ts';
import { statisticsEndpoints } from './activity/statistics.ts';
import { brandingEndpoints } from './appearance/branding.ts';
import { imageEndpoints } from './appearance/images.ts';
import { mailServerEndpoints } from './appearance/mail-server.ts';
import { mailEndpoints } from './appearance/mails.ts';
import { textEndpoints } from './appearance/texts.ts';
import { clientEndpoints } from './client/clients.ts';
import { initialAccessTokenEndpoints } from './client/initial-access-tokens.ts';
import { resourceEndpoints } from './client/resources.ts';
import type { Endpoint } from './endpoint.ts';
import { connectorRunEndpoints } from './extending/connector-runs.ts';
import { connectorEndpoints } from './extending/connectors.ts';
import { hookEndpoints } from './extending/hooks.ts';
import { mappingEndpoints } from './extending/mappings.ts';
import { webhookDeliveryEndpoints } from './extending/webhook-deliveries.ts';
import { webhookEndpoints } from './extending/webhooks.ts';
import { administratorEndpoints } from './people/administrators.ts';
import { browserSessionEndpoints } from './people/browser-sessions.ts';
import { customAttributeEndpoints } from './people/custom-attributes.ts';
import { deviceEndpoints } from './people/devices.ts';
import { externalIdentityEndpoints } from './people/external-identities.ts';
import { groupEndpoints } from './people/groups.ts';
import { invitationEndpoints } from './people/invitations.ts';
import { passkeyEndpoints } from './people/passkeys.ts';
import { recoveryEndpoints } from './people/recoveries.ts';
import { recoveryCodeEndpoints } from './people/recovery-codes.ts';
import { roleEndpoints } from './people/roles.ts';
import { userEndpoints } from './people/users.ts';
import { providerKeyEndpoints } from './saml/provider-keys.ts';
import { providerMetadataEndpoints } from './saml/provider-metadata.ts';
import { serviceProviderEndpoints } from './saml/service-providers.ts';
import { identityProviderEndpoints } from './sign-in/identity-providers.ts';
import { ssfStreamEndpoints } from './ssf/ssf-streams.ts';
import { domainEndpoints } from './tenant/domain.ts';
import { settingsEndpoints } from './tenant/settings.ts';
import { signingKeyEndpoints } from './tenant/signing-keys.ts';
import { tenantEndpoints } from './tenant/tenants.ts';

export const systemEndpoints: readonly Endpoint[] = [...tenantEndpoints, ...outboxEndpoints];

export const managementEndpoints: readonly Endpoint[] = [
  ...clientEndpoints,
  ...initialAccessTokenEndpoints,
  ...resourceEndpoints,
  ...customAttributeEndpoints,
  ...mappingEndpoints,
  ...userEndpoints,
  ...administratorEndpoints,
  ...roleEndpoints,
  ...browserSessionEndpoints,
  ...groupEndpoints,
  ...deviceEndpoints,
  ...pushEndpoints,
  ...invitationEndpoints,
  ...passkeyEndpoints,
  ...recoveryCodeEndpoints,
  ...recoveryEndpoints,
  ...externalIdentityEndpoints,
  ...serviceProviderEndpoints,
  ...providerKeyEndpoints,
  ...providerMetadataEndpoints,
  ...identityProviderEndpoints,
  ...hookEndpoints,
  ...webhookEndpoints,
  ...webhookDeliveryEndpoints,
  ...ssfStreamEndpoints,
  ...connectorEndpoints,
  ...connectorRunEndpoints,
  ...signingKeyEndpoints,
  ...settingsEndpoints,
  ...brandingEndpoints,
  ...imageEndpoints,
  ...textEndpoints,
  ...mailEndpoints,
  ...mailServerEndpoints,
  ...domainEndpoints,
  ...eventFeedEndpoints,
  ...eventEndpoints,
  ...statisticsEndpoints,
  ...tenantEndpoints.map((endpoint): Endpoint => ({ ...endpoint, operatorOnly: true })),
];

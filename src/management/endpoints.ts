// Every endpoint of the management and system APIs. A resource is one file; adding it is one line here.

import { brandingEndpoints } from './appearance/branding.ts';
import { imageEndpoints } from './appearance/images.ts';
import { mailServerEndpoints } from './appearance/mail-server.ts';
import { mailEndpoints } from './appearance/mails.ts';
import { textEndpoints } from './appearance/texts.ts';
import { clientEndpoints } from './clients.ts';
import { connectorRunEndpoints } from './connector-runs.ts';
import { connectorEndpoints } from './connectors.ts';
import { customAttributeEndpoints } from './custom-attributes.ts';
import { domainEndpoints } from './domain.ts';
import type { Endpoint } from './endpoint.ts';
import { eventFeedEndpoints } from './event-feed.ts';
import { eventEndpoints } from './events.ts';
import { hookEndpoints } from './hooks.ts';
import { identityProviderEndpoints } from './identity-providers.ts';
import { initialAccessTokenEndpoints } from './initial-access-tokens.ts';
import { mappingEndpoints } from './mappings.ts';
import { outboxEndpoints } from './outbox.ts';
import { administratorEndpoints } from './people/administrators.ts';
import { browserSessionEndpoints } from './people/browser-sessions.ts';
import { deviceEndpoints } from './people/devices.ts';
import { externalIdentityEndpoints } from './people/external-identities.ts';
import { groupEndpoints } from './people/groups.ts';
import { invitationEndpoints } from './people/invitations.ts';
import { passkeyEndpoints } from './people/passkeys.ts';
import { recoveryEndpoints } from './people/recoveries.ts';
import { recoveryCodeEndpoints } from './people/recovery-codes.ts';
import { userEndpoints } from './people/users.ts';
import { providerKeyEndpoints } from './provider-keys.ts';
import { providerMetadataEndpoints } from './provider-metadata.ts';
import { pushEndpoints } from './push.ts';
import { resourceEndpoints } from './resources.ts';
import { roleEndpoints } from './roles.ts';
import { serviceProviderEndpoints } from './service-providers.ts';
import { settingsEndpoints } from './settings.ts';
import { signingKeyEndpoints } from './signing-keys.ts';
import { ssfStreamEndpoints } from './ssf-streams.ts';
import { statisticsEndpoints } from './statistics.ts';
import { tenantEndpoints } from './tenants.ts';
import { webhookDeliveryEndpoints } from './webhook-deliveries.ts';
import { webhookEndpoints } from './webhooks.ts';

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

// The kinds of registered things (design 17). Adding one is its file, a line here, its events and its table: CONTRIBUTING.md.
import { resourceKind } from './client/resource.ts';
import { workloadIssuerKind } from './client/workload.ts';
import { connectorKind } from './extending/connector.ts';
import { hookKind } from './extending/hook.ts';
import { directoryKind } from './extending/ldap-directory.ts';
import { webhookKind } from './extending/webhook.ts';
import type { Kind } from './kind.ts';
import { organizationKind } from './organizations/organization.ts';
import { organizationRoleKind } from './organizations/organization-role.ts';
import { customAttributeKind } from './people/custom-attributes.ts';
import { roleKind } from './people/role.ts';
import { serviceProviderKind } from './saml/service-provider.ts';
import { identityProviderKind } from './sign-in/identity-provider.ts';

export const kinds = {
  resource: resourceKind,
  custom_attribute: customAttributeKind,
  role: roleKind,
  service_provider: serviceProviderKind,
  identity_provider: identityProviderKind,
  hook: hookKind,
  webhook: webhookKind,
  connector: connectorKind,
  directory: directoryKind,
  workload_issuer: workloadIssuerKind,
  organization_role: organizationRoleKind,
  organization: organizationKind,
} as const;

/** The same for whoever treats all alike. */
export const allKinds = Object.values(kinds) as unknown as readonly Kind[];

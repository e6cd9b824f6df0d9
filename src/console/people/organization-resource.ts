// The pages of organisations and of the roles in them.
import { kinds } from '../../domain/kinds.ts';
import { created, enabled, text } from '../cells.ts';
import { pagesOfKind } from '../frame/kind-pages.ts';
import type { ConsoleResource } from '../frame/resource.ts';
import { checkDomains, domainProofs } from './domain-proofs.ts';

export const organizations: ConsoleResource = {
  ...pagesOfKind(kinds.organization),
  titleOf: (json) => text(json['display_name'] ?? json['name']),
  columns: [['Name in requests', (json) => text(json['name'])], ['Members', (json) => text(json['members'])], ['State', enabled], created],
  links: [['/organization-roles', 'Roles']],
  tabs: [
    ['/members', 'Members'],
    ['/directory', 'SCIM'],
  ],
  facts: [['Members', (json) => text(json['members'])], ['Proof of its domains', domainProofs], created],
  actions: [checkDomains],
};

export const organizationRoles: ConsoleResource = {
  ...pagesOfKind(kinds.organization_role),
  columns: [
    ['Description', (json) => text(json['description'] ?? '')],
    ['Scopes', (json) => (json['scopes'] as readonly string[]).join(', ')], // the API's shape
    ['Manages the organisation', (json) => (json['manage'] === true ? 'yes' : '')],
  ],
};

// The kinds of items a document has, in the order of its sections.

import type { Kind } from '../document.ts';
import { assignmentKind } from './assignment-kind.ts';
import { attributeKind } from './attribute-kind.ts';
import { clientKind } from './client-kind.ts';
import { connectorKind } from './connector-kind.ts';
import { groupKind } from './group-kind.ts';
import { hookKind } from './hook-kind.ts';
import { identityProviderKind } from './identity-provider-kind.ts';
import { imageKind } from './image-kind.ts';
import { mappingKind } from './mapping-kind.ts';
import { providerKind } from './provider-kind.ts';
import { resourceKind } from './resource-kind.ts';
import { roleKind } from './role-kind.ts';
import { settingsKind } from './settings-kind.ts';
import { userKind } from './user-kind.ts';
import { webhookKind } from './webhook-kind.ts';
import { mailKind, textKind } from './worded-kind.ts';

export const kinds: readonly Kind[] = [
  imageKind,
  settingsKind,
  textKind,
  mailKind,
  attributeKind,
  mappingKind,
  resourceKind,
  clientKind,
  roleKind,
  providerKind,
  identityProviderKind,
  hookKind,
  webhookKind,
  connectorKind,
  groupKind,
  userKind,
  assignmentKind,
];

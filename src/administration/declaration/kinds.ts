// The kinds of items a document has, in the order of its sections.
import { assignmentKind } from './assignment-kind.ts';
import { clientKind } from './client-kind.ts';
import type { Kind } from './document.ts';
import { groupKind } from './group-kind.ts';
import { providerKind } from './provider-kind.ts';
import { resourceKind } from './resource-kind.ts';
import { settingsKind } from './settings-kind.ts';
import { userKind } from './user-kind.ts';

export const kinds: readonly Kind[] = [settingsKind, resourceKind, clientKind, providerKind, groupKind, userKind, assignmentKind];

// The pages of roles: those every tenant has are shown, its own are made and changed.
import { defaultsOf } from '../../../domain/field.ts';
import { builtInRole, roleFields } from '../../../domain/people/role.ts';
import { formOf } from '../../first-party/form-field.ts';
import { text } from '../cells.ts';
import { badge } from '../console-page.ts';
import type { ConsoleResource } from '../frame/resource.ts';

export const roles: ConsoleResource = {
  path: '/roles',
  singular: 'Role',
  plural: 'Roles',
  about: 'What administrators may do: a set of capabilities.',
  searchHint: 'A part of the name or description',
  idField: 'name',
  titleOf: (json) => text(json['name']),
  columns: [
    ['Description', (json) => text(json['description'] ?? '')],
    ['Capabilities', (json) => String((json['capabilities'] as readonly string[]).length)], // the API's shape
    ['Of', (json) => badge(json['built_in'] === true ? 'every tenant' : 'this tenant', 'plain')],
  ],
  fields: formOf(roleFields),
  initial: defaultsOf(roleFields),
  canChange: (json) => builtInRole(text(json['name'])) === undefined,
  canDelete: (json) => builtInRole(text(json['name'])) === undefined,
  facts: [
    ['Description', (json) => text(json['description'] ?? '')],
    ['May', (json) => (json['capabilities'] as readonly string[]).join(', ')], // the API's shape
  ],
  deletion: 'This cannot be undone. A role that somebody holds stays.',
};

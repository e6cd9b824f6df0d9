// A group of people (design 02, /groups; RFC 7643 4.2): the table of its fields. Pure.
import { nameCharsMax, profileCharsMax } from '../../contract/limits.ts';
import { choice, field, text, type ValuesOf } from '../field.ts';
import type { GroupId } from '../ids.ts';

const groupOrigins = ['console', 'scim', 'identity_provider'] as const;

// biome-ignore format: a field a line
/** Those with a column of the same name. */
export const groupColumns = {
  displayName: field('display_name', text(nameCharsMax), { required: true, label: 'Display name' }),
  externalId: field('external_id', text(profileCharsMax), { write: 'never', label: 'Its id in the directory that provisions it' }),
  origin: field('origin', choice(groupOrigins), { default: 'console', write: 'never', label: 'Who manages it' }),
} as const;

/** Whose a group is stands in a table of its own. */
export const groupFields = {
  ...groupColumns,
  identityProviderId: field('identity_provider_id', text(profileCharsMax), {
    write: 'never',
    label: 'The identity provider whose rules say who is in it',
  }),
} as const;

export interface Group extends ValuesOf<typeof groupFields> {
  readonly id: GroupId;
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

// A group of people (design 02, /groups; RFC 7643 4.2): the table of its fields. Pure.
import { nameCharsMax, profileCharsMax } from '../../contract/limits.ts';
import { choice, field, text, type ValuesOf } from '../field.ts';
import type { GroupId } from '../ids.ts';

// biome-ignore format: a field a line
export const groupFields = {
  displayName: field('display_name', text(nameCharsMax), { required: true, label: 'Display name' }),
  externalId: field('external_id', text(profileCharsMax), { write: 'never', label: 'Its id in the directory that provisions it' }),
  origin: field('origin', choice(['console', 'scim']), { default: 'console', write: 'never', label: 'Who manages it' }),
} as const;

export interface Group extends ValuesOf<typeof groupFields> {
  readonly id: GroupId;
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

// Organisations (design 19): the customers of a tenant, whose people sign in to its applications. The table of their fields. Pure.
import { nameCharsMax, organizationMetadataBytesMax, organizationsMax } from '../../contract/limits.ts';
import { count, field, flag, type Json, json, ownField, text } from '../field.ts';
import { foldKey } from '../fold.ts';
import { defineKind, type Thing } from '../kind.ts';
import { readsAsId } from './tenant-organizations.ts';

const nameCharsOfSlug = 63;
const slug = {
  ...text(nameCharsOfSlug),
  shape: { type: 'string', pattern: `^[a-z0-9](?:[a-z0-9-]{0,${nameCharsOfSlug - 2}}[a-z0-9])?$` },
};

// biome-ignore format: a field a line or two
export const organizationFields = {
  name: field('name', slug, { required: true, label: 'Name', check: nameFault,
    help: 'Lower-case letters, digits and hyphens. Applications name it in a request, or the id.' }),
  displayName: field('display_name', text(nameCharsMax), { label: 'Shown as', help: 'Empty: its name.' }),
  metadata: field('metadata', json<Json>({ type: 'object' }), { default: {}, label: 'Metadata', check: metadataFault,
    help: 'A JSON object of yours, such as {"plan": "gold"}. No token has it.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled',
    help: 'While it is not, nobody signs in for it, and no token of it is renewed.' }),
  members: field('members', { ...count(0, Number.MAX_SAFE_INTEGER), input: 'none' }, { default: 0, write: 'never', own: true, label: 'Members' }),
  searchKey: ownField('search_key', text(nameCharsMax), { default: '', hidden: true }),
} as const;

export type Organization = Thing<typeof organizationFields>;

export const organizationKind = defineKind({
  noun: 'organization',
  plural: 'organizations',
  called: 'organisation',
  fields: organizationFields,
  key: 'id',
  unique: [['name', 'The name is in use.']],
  atMost: { count: organizationsMax, field: 'name', of: 'organisations' },
  complete: (values) => ({ ...values, searchKey: foldKey(`${values.name}\n${values.displayName ?? ''}`) }),
  power: { read: 'organizations:read', write: 'organizations:write' },
  searched: ({ name, displayName }) => [name, displayName],
  searchedIn: 'searchKey',
  told: { created: ({ name }) => ({ name }), deleted: ({ name }) => ({ name }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Make an organisation',
    list: 'List organisations, oldest first; `search` is a part of a name or of what it is shown as',
    read: 'Read an organisation',
    change: 'Change an organisation',
    remove: 'Delete an organisation with its memberships; its members keep their accounts',
  },
  pages: {
    singular: 'Organisation',
    plural: 'Organisations',
    about: 'A customer of yours: people who sign in for it, each with their roles there.',
    searchHint: 'A part of the name',
    title: 'name',
    deletion: 'This cannot be undone. Memberships end with it, tokens for it are not renewed, and its members keep their accounts.',
  },
});

function nameFault(name: string): string | undefined {
  return readsAsId(name) ? 'must not read as a UUID, which would be an id' : undefined;
}

function metadataFault(metadata: Json): string | undefined {
  return Buffer.byteLength(JSON.stringify(metadata)) > organizationMetadataBytesMax
    ? `must be at most ${organizationMetadataBytesMax} bytes of JSON`
    : undefined;
}

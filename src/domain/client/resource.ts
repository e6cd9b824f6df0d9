// A resource server as registered (design 02, /resources; RFC 8707): the table of its fields. Pure.
import { lifetimeSecondsMax, nameCharsMax, scopeNameCharsMax, scopesPerListMax, textCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { type ChangeOf, field, json, seconds, text, type ValuesOf } from '../field.ts';
import { audienceFault } from './client-uris.ts';

/** A scope that a resource defines. */
export interface Scope {
  readonly name: string;
  readonly description?: string | null;
}

const scopes = {
  ...json<readonly Scope[]>({
    type: 'array',
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: scopeNameCharsMax, pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$' },
        description: { anyOf: [{ type: 'string', maxLength: textCharsMax }, { type: 'null' }] },
      },
      additionalProperties: false,
    },
    maxItems: scopesPerListMax,
  }),
  input: 'rows',
  parts: [
    { name: 'name', label: 'Name, such as orders:read', input: 'text' },
    { name: 'description', label: 'What it allows', input: 'text' },
  ],
} as const;

// biome-ignore format: a field a line or two
export const resourceFields = {
  identifier: field('identifier', text(urlCharsMax), { required: true, form: 'new', check: audienceFault, label: 'Identifier',
    help: 'The audience of its tokens: an absolute URI.' }),
  name: field('name', text(nameCharsMax), { required: true, label: 'Name' }),
  scopes: field('scopes', scopes, { default: [], check: scopesFault, label: 'Scopes' }),
  accessTokenLifetimeSeconds: field('access_token_lifetime_seconds', seconds(1, lifetimeSecondsMax), {
    label: 'Lifetime of its access tokens, in seconds', help: 'Empty or null: as the tenant has it.' }),
} as const;

export type ResourceValues = ValuesOf<typeof resourceFields>;
export type ResourceChange = ChangeOf<typeof resourceFields>;

export interface Resource extends ResourceValues {
  readonly id: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

function scopesFault(all: readonly Scope[]): string | undefined {
  return new Set(all.map(({ name }) => name)).size < all.length ? 'must hold each scope once' : undefined;
}

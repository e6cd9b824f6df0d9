// A resource server as registered (design 02, /resources; RFC 8707): the table of its fields, and when two names are one resource. Pure.
import { lifetimeSecondsMax, nameCharsMax, scopeNameCharsMax, scopesPerListMax, textCharsMax, urlCharsMax } from '../../contract/limits.ts';
import { choice, field, flag, json, seconds, text } from '../field.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { isOwnAudience } from '../tenant/tenant.ts';
import { audienceFault, pageUriFault } from './client-uris.ts';

/** A scope that a resource defines. */
export interface Scope {
  readonly name: string;
  readonly description?: string | null;
  /** A request for the resource that names no scope gets it. */
  readonly is_default?: boolean;
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
        is_default: { type: 'boolean' },
      },
      additionalProperties: false,
    },
    maxItems: scopesPerListMax,
  }),
  say: (all: readonly Scope[]) =>
    all.map(({ name, description, is_default: isDefault }) => ({
      name,
      ...(description == null ? {} : { description }),
      ...(isDefault === true ? { is_default: true } : {}),
    })),
  input: 'rows',
  parts: [
    { name: 'name', label: 'Name, such as orders:read', input: 'text' },
    { name: 'description', label: 'What it allows', input: 'text' },
    { name: 'is_default', label: 'Given where a request names no scope', input: 'checkbox' },
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
  clients: field('clients', choice(['listed', 'any']), { default: 'listed', label: 'Which programs may ask for it',
    help: 'listed: applications that have it among their audiences. any: programs too that nobody registered here, such as agents; people are always asked for consent.' }),
  refresh: field('refresh', flag, { default: true, label: 'Programs nobody registered may have refresh tokens' }),
  unknownAccessPolicy: field('unknown_access_policy', choice(['everyone', 'assigned']), { default: 'everyone',
    label: 'Who may use it by programs nobody registered', help: 'assigned: people and groups assigned to it.' }),
  documentationUri: field('documentation_uri', text(urlCharsMax), { label: 'Address of its documentation', check: pageUriFault }),
} as const;

export type Resource = Thing<typeof resourceFields>;

/** What the metadata of an issuer says of open resources: the first of them, and of their scopes with those of sign-in. */
export const publishedResourcesMax = 100;
export const publishedScopesMax = 200;

/** The scopes of sign-in that clients nobody registered may have, beside those of a resource that is open to them. */
export const strangerScopes: readonly string[] = ['openid', 'profile', 'email', 'offline_access'];

/** The scopes that a request for a resource gets which names none. */
export const defaultScopes = ({ scopes: all }: Pick<Resource, 'scopes'>): readonly string[] =>
  all.filter((scope) => scope.is_default === true).map(({ name }) => name);

/** An origin of the web with nothing behind it: the one resource that programs write in two ways. */
const bareOrigin = /^https?:\/\/[^/?#]+\/?$/;

/** Every spelling of a resource, the given one first: `https://host` and `https://host/` are one. */
export function spellingsOf(resource: string): readonly string[] {
  if (!bareOrigin.test(resource)) return [resource];
  return [resource, resource.endsWith('/') ? resource.slice(0, -1) : `${resource}/`];
}

/** Whether two resource indicators (RFC 8707) name one resource: equal bytes, or two spellings of an origin. */
export const sameResource = (one: string, other: string): boolean => spellingsOf(one).includes(other);

/** The registered spelling of a resource that is asked for, which is what is stored and minted; undefined when none is registered. */
export const registeredSpelling = (registered: readonly string[], asked: string): string | undefined =>
  spellingsOf(asked).find((spelling) => registered.includes(spelling));

const identifierTaken = 'The identifier is in use.';

export const resourceKind = defineKind({
  noun: 'resource',
  plural: 'resources',
  called: 'resource',
  fields: resourceFields,
  key: 'id',
  unique: [['identifier', identifierTaken]],
  spellings: spellingsOf,
  rules: ownAudienceFault,
  power: { read: 'resources:read', write: 'resources:write' },
  searched: ({ name, identifier }) => [name, identifier],
  told: { created: ({ identifier }) => ({ identifier }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Register a resource',
    list: 'List resources, oldest first; `search` is a part of a name or identifier',
    read: 'Read a resource',
    change: 'Change a resource; `scopes` replaces the list',
    remove: 'Delete a resource; clients keep the audience in their list until you remove it there',
  },
  pages: {
    singular: 'API',
    plural: 'APIs',
    about: 'Your API: an audience that clients may request tokens for, with its scopes.',
    searchHint: 'A part of the name or identifier',
    title: 'name',
  },
});

function ownAudienceFault({ identifier }: { readonly identifier: string }, { tenant }: Context): KindFault | undefined {
  if (!spellingsOf(identifier).some((spelling) => isOwnAudience(tenant, spelling))) return undefined;
  const inDocument = { path: ['identifier'], expected: 'an audience that is not one of this service itself', found: identifier };
  return { field: 'identifier', text: identifierTaken, is: 'taken', inDocument };
}

function scopesFault(all: readonly Scope[]): string | undefined {
  return new Set(all.map(({ name }) => name)).size < all.length ? 'must hold each scope once' : undefined;
}

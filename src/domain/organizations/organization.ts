// Organisations (design 19): the customers of a tenant, whose people sign in to its applications. The table of their fields. Pure.
import {
  domainCharsMax,
  nameCharsMax,
  organizationMetadataBytesMax,
  organizationRolesMax,
  organizationsMax,
  providerAliasCharsMax,
  providerDomainsMax,
  providersPerTenantMax,
} from '../../contract/limits.ts';
import { brandingFields } from '../appearance/branding.ts';
import { choice, count, field, flag, type Json, json, type Kind, list, ownField, text, type ValuesOf, valueFault } from '../field.ts';
import { foldKey } from '../fold.ts';
import { type Context, defineKind, type KindFault, type Thing } from '../kind.ts';
import { type Capability, capabilitiesOfTenant } from '../people/capabilities.ts';
import { domainsFault } from '../sign-in/domain-proof.ts';
import { acrValuesSupported } from '../sign-in/login-methods.ts';
import { organizationRoleName } from './organization-role.ts';
import { readsAsId } from './tenant-organizations.ts';

const nameCharsOfSlug = 63;
const slug = {
  ...text(nameCharsOfSlug),
  shape: { type: 'string', pattern: `^[a-z0-9](?:[a-z0-9-]{0,${nameCharsOfSlug - 2}}[a-z0-9])?$` },
};

const waysToJoin = {
  invitation: { label: 'By invitation' },
  domain: { label: 'Whoever proves an address of its domains' },
  provider: { label: 'Whoever signs in by its providers' },
} as const;
const signInRules = { any: { label: 'Any way of the tenant' }, own_providers: { label: 'Its providers alone' } } as const;

/** What its sign-in pages show in place of the tenant's. */
type OrganizationBranding = {
  readonly name?: string;
  readonly logo?: string;
  readonly accent?: string;
};
const { logo, accent } = brandingFields;
const branding: Kind<OrganizationBranding, string> = {
  ...json<OrganizationBranding>({
    type: 'object',
    properties: { name: text(nameCharsMax).shape, logo: logo.kind.shape, accent: accent.kind.shape },
    additionalProperties: false,
  }),
  input: 'parts',
  parts: [
    { name: 'name', label: 'Name', input: 'text' },
    { name: 'logo', label: 'Logo, the SHA-256 of an uploaded image', input: 'text' },
    { name: 'accent', label: 'Colour, #rrggbb', input: 'text' },
  ],
};

// biome-ignore format: a field a line or two
export const organizationFields = {
  name: field('name', slug, { required: true, label: 'Name', check: nameFault,
    help: 'Lower-case letters, digits and hyphens. Applications name it in a request, or the id.' }),
  displayName: field('display_name', text(nameCharsMax), { label: 'Shown as', help: 'Empty: its name.' }),
  metadata: field('metadata', json<Json>({ type: 'object' }), { default: {}, label: 'Metadata', check: metadataFault,
    help: 'Your JSON object, such as {"plan": "gold"}. No token has it.' }),
  join: field('join', list(choice(Object.keys(waysToJoin) as readonly (keyof typeof waysToJoin)[], waysToJoin)), { default: ['invitation'], label: 'Who becomes a member' }),
  defaultRoles: field('default_roles', list(organizationRoleName, organizationRolesMax), { default: [], label: 'Roles of who joins',
    help: 'One a line: the roles of people who join by a domain or a provider.' }),
  domains: field('domains', list(text(domainCharsMax), providerDomainsMax), { default: [], label: 'Domains', tab: 'Domains', check: domainsFault,
    help: 'One a line. Once a TXT record proves a domain, people who type an address of it go to the provider of the organisation.' }),
  identityProviders: field('identity_providers', list(text(providerAliasCharsMax), providersPerTenantMax), { default: [], label: 'Its providers', tab: 'Provider',
    help: 'One alias a line. They are this organisation’s alone: no other page shows them, and they count for addresses of its proven domains. One you take out is turned off.' }),
  signIn: field('sign_in', choice(Object.keys(signInRules) as readonly (keyof typeof signInRules)[], signInRules), { default: 'any', label: 'Sign-in by', tab: 'Sign-in' }),
  acrMin: field('acr_min', choice(acrValuesSupported), { label: 'At least as strong as', tab: 'Sign-in', help: 'Empty: what applications ask for.' }),
  branding: field('branding', branding, { default: {} as OrganizationBranding, label: 'Its sign-in pages', check: brandingFault }),
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
  power: { read: 'organizations:read', write: 'organizations:write', toChange: capabilitiesToChange },
  searched: ({ name, displayName }) => [name, displayName],
  searchedIn: 'searchKey',
  told: { created: ({ name }) => ({ name }), deleted: ({ name }) => ({ name }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Make an organisation',
    list: 'List organisations, oldest first; `search` is a part of a name or of what it is shown as',
    read: 'Read an organisation',
    change: 'Change an organisation',
    remove: 'Delete an organisation with its memberships and its providers; its members keep their accounts',
  },
  pages: {
    singular: 'Organisation',
    plural: 'Organisations',
    about: 'A customer of yours: people who sign in for it, each with their roles there.',
    searchHint: 'A part of the name',
    title: 'name',
    deletion:
      'You can’t undo this. Memberships and its providers go with it, tokens for it are not renewed, and its members keep their accounts.',
  },
});

function nameFault(name: string): string | undefined {
  return readsAsId(name) ? 'must not read as a UUID, which would be an id' : undefined;
}

/** Why an organisation that a service provider is bound to is not deleted: unbound, it would let in everybody. */
export const boundFault = (name: string): KindFault => ({
  field: 'name',
  text: 'A SAML application is bound to this organisation: bind it to another, or delete it first.',
  is: 'taken',
  inDocument: { path: [], expected: 'every organisation that a service provider is bound to', found: `none named ${name}` },
});

/** Why the only provider that is on, of an organisation whose people sign in by no other way, is not turned off or deleted. */
export const onlyWayFault = (name: string, field: 'alias' | 'enabled'): KindFault => ({
  field,
  text: `People sign in for the organisation ${name} by its own providers alone, and no other one of them is on: let them sign in any way first.`,
  is: 'taken',
  inDocument: noWayInDocument(name),
});

/** Why an organisation does not say so of its people while none of its providers is on. */
export const noWayFault = (name: string, field: 'identity_providers' | 'sign_in'): KindFault => ({
  field,
  text: 'People would sign in by its own providers alone, and none of them is on: name one that is on, or let them sign in any way.',
  is: 'taken',
  inDocument: noWayInDocument(name),
});

const noWayInDocument = (name: string) => ({ path: [], expected: `a provider of ${name} that is on, or sign_in any`, found: 'none' });

type Values = ValuesOf<typeof organizationFields>;

/** How people sign in for it is of those who say how people sign in; what administrators may come by, of those who have all of it. */
function capabilitiesToChange(before: Values | undefined, after: Values | undefined, tenant: Context['tenant']): readonly Capability[] {
  const [were, are] = [before?.identityProviders ?? [], after?.identityProviders ?? []];
  const others = [...were.filter((alias) => !are.includes(alias)), ...are.filter((alias) => !were.includes(alias))];
  if (others.some((alias) => tenant.settings.administrator_providers.includes(alias))) return capabilitiesOfTenant(tenant);
  const isOther =
    others.length > 0 || (after !== undefined && (after.signIn !== (before?.signIn ?? 'any') || after.acrMin !== before?.acrMin));
  return isOther ? ['sign-in:write'] : [];
}

function brandingFault(given: OrganizationBranding): string | undefined {
  const fault = valueFault({ logo, accent }, { logo: given.logo, accent: given.accent });
  return fault && `has a mistake in ${fault.field}: it ${fault.text}`;
}

function metadataFault(metadata: Json): string | undefined {
  return Buffer.byteLength(JSON.stringify(metadata)) > organizationMetadataBytesMax
    ? `must be at most ${organizationMetadataBytesMax} bytes of JSON`
    : undefined;
}

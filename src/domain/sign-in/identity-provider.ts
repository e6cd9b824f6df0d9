// Another provider people may sign in with (design 14, 2): the table of its fields, and what they mean together. Pure.
import {
  domainCharsMax,
  nameCharsMax,
  profileCharsMax,
  providerAliasCharsMax,
  providerDomainsMax,
  providerMapEntriesMax,
  providerMetadataCharsMax,
  providerSecretCharsMax,
  providersPerTenantMax,
  providerTenantsMax,
  scopeNameCharsMax,
  scopesPerListMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { choice, type FieldFault, field, flag, json, type Kind, list, ownField, text, type ValuesOf } from '../field.ts';
import type { IdentityProviderId } from '../ids.ts';
import { defineKind, type Thing } from '../kind.ts';
import { capabilitiesByInbound } from '../mappings/inbound-targets.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../mappings/rule-faults.ts';
import { capabilitiesOfTenant } from '../people/capabilities.ts';
import { userAttributes } from '../people/user-attributes.ts';
import { isXmlText } from '../saml/xml-text.ts';
import { domainsFault } from './domain-proof.ts';
import { acrValuesSupported } from './login-methods.ts';

/** What each kind is called, and the fields it cannot do without, beside a secret. */
const providerKinds = {
  oidc: { label: 'OpenID Connect', needs: ['issuer', 'client_id'] },
  github: { label: 'GitHub', needs: ['client_id'] },
  saml: { label: 'SAML 2.0', needs: ['metadata'] },
} as const;
export type ProviderKind = keyof typeof providerKinds;
const kindNames = Object.keys(providerKinds) as readonly ProviderKind[];

/** Stands in a Microsoft issuer for the id of a directory. */
export const tenantPlaceholder = '{tenantid}';
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const aliasSyntax = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

type TextMap = Readonly<Record<string, string>>;
const textMap = json<TextMap>({
  type: 'object',
  maxProperties: providerMapEntriesMax,
  additionalProperties: { type: 'string', minLength: 1, maxLength: profileCharsMax },
});
/** Attributes of a person by their path in the API. */
const mappedAttributes: ReadonlyMap<string, (typeof userAttributes)[number]> = new Map(
  userAttributes.filter(({ path }) => path !== 'user_name').map((one) => [one.path, one]),
);
const attributeMap: Kind<TextMap, string> = {
  ...textMap,
  input: 'pairs',
  parts: [
    { name: 'from', label: 'Claim', input: 'text' },
    { name: 'to', label: 'Field of the person', input: 'text', names: [...mappedAttributes.keys()] },
  ],
};
const acrMap: Kind<TextMap, string> = {
  ...textMap,
  input: 'pairs',
  parts: [
    { name: 'from', label: 'Its acr', input: 'text' },
    { name: 'to', label: 'Counts as', input: 'select', names: ['', ...acrValuesSupported] },
  ],
};
const paragraph = (charsMax: number): Kind<string, string> => ({ ...text(charsMax), input: 'paragraph' });
const secret: Kind<string, string> = { ...text(providerSecretCharsMax), input: 'password' };

// biome-ignore format: a field a line or two
export const identityProviderFields = {
  alias: field('alias', text(providerAliasCharsMax), { required: true, label: 'Alias', write: 'create', check: aliasFault,
    help: 'Lower case letters, digits and hyphens; part of the callback address, so it stays.' }),
  kind: field('kind', choice(kindNames, providerKinds), { required: true, label: 'Kind', write: 'create' }),
  name: field('name', text(nameCharsMax), { required: true, label: 'Name', help: 'Shown on the button: Continue with …' }),
  issuer: field('issuer', text(urlCharsMax), { label: 'Issuer', check: issuerFault,
    help: `An https address. Microsoft: with ${tenantPlaceholder} where the directory stands. GitHub: only for a server of your own.` }),
  clientId: field('client_id', text(nameCharsMax), { label: 'Client ID' }),
  clientSecret: field('client_secret', secret, { hidden: true, label: 'Client secret', help: 'Kept encrypted and never shown. Leave it empty to keep it.' }),
  scopes: field('scopes', list(text(scopeNameCharsMax), scopesPerListMax), { default: [], label: 'Scopes',
    help: 'One a line; none: what the kind needs to know the person and their email.' }),
  tenants: field('tenants', list(text(profileCharsMax), providerTenantsMax), { default: [], label: 'Microsoft directories', check: tenantsFault,
    help: 'One id a line: whose people may sign in.' }),
  responseMode: field('response_mode', choice(['query', 'form_post'], { query: { label: 'In the address' }, form_post: { label: 'By a form that is posted' } }), { default: 'query', label: 'How an OpenID provider answers',
    help: 'Apple wants the form as soon as a name or an email is asked for.' }),
  metadata: field('metadata', paragraph(providerMetadataCharsMax), { label: 'SAML metadata', check: xmlFault,
    help: 'The XML of the identity provider. SAML needs nothing else: no issuer, no client ID.' }),
  trustEmail: field('trust_email', flag, { default: false, label: 'Its verified emails count as verified', tab: 'People',
    help: 'Otherwise we mail a code to the address first.' }),
  createUsers: field('create_users', flag, { default: false, label: 'Make accounts for people nobody knows yet', tab: 'People' }),
  domains: field('domains', list(text(domainCharsMax), providerDomainsMax), { default: [], label: 'Domains it answers for', tab: 'People', check: domainsFault,
    help: 'One a line. Once a TXT record proves a domain, everybody who types an address of it is sent to this provider.' }),
  attributeMap: field('attribute_map', attributeMap, { default: {}, label: 'Attributes of new accounts', tab: 'People', check: attributeFault,
    help: 'A claim of it, and the field it fills, e.g. department and enterprise.department.' }),
  mappings: field('mappings', rulesKind('inbound'), { default: [], label: 'Attributes by rules', tab: 'People', check: mappingsFault,
    help: 'Rules for what its claims give a person; they replace, by `to`, those of attribute_map and of the default table (/mappings/inbound).' }),
  acrMap: field('acr_map', acrMap, { default: {}, label: 'What its acr values are worth', tab: 'People', check: acrFault,
    help: `An acr of it, and which of ${acrValuesSupported.join(', ')} it counts as. Anything else is below all of them.` }),
  crossApp: field('cross_app', flag, { default: false, label: 'Vouches for its people at agents', tab: 'People',
    help: 'Confidential applications with the jwt-bearer grant get tokens of people by its identity assertions (ID-JAG), without sending them here. OpenID Connect only.' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled' }),
  // Another one whenever it became somebody else: what was published for whom it was proves nothing.
  domainProofSalt: ownField('domain_proof_salt', text(nameCharsMax), { hidden: true }),
} as const;

export type ProviderValues = ValuesOf<typeof identityProviderFields>;
export type IdentityProvider = Thing<typeof identityProviderFields, IdentityProviderId>;

/** Its people are one company's, as far as the issuer says: at Google everybody may have an account, and Microsoft's directories are many. */
export const isOfOneCompany = ({ kind, issuer }: Pick<IdentityProvider, 'kind' | 'issuer'>): boolean =>
  kind === 'oidc' && issuer !== 'https://accounts.google.com' && issuer?.includes(tenantPlaceholder) !== true;

export const identityProviderKind = defineKind({
  noun: 'identity_provider',
  plural: 'identity_providers',
  called: 'identity provider',
  fields: identityProviderFields,
  key: 'id',
  unique: [['alias', 'The alias is in use.']],
  atMost: { count: providersPerTenantMax, field: 'alias', of: 'providers' },
  secret: {
    key: 'clientSecret',
    // The whole issuer: where tokens are asked for is read from a document below it, and other paths of one host may be somebody else's.
    goesTo: ({ issuer, clientId }) => [issuer, clientId],
    again: () => ({
      field: 'client_secret',
      text: 'must be given again, because the issuer or the client id is another',
      conflict: 'client_secret is not given, and the one that is known would be told somewhere else',
    }),
    missing: ({ kind }) => (kind === 'github' ? { field: 'client_secret', text: `is required for ${kind}` } : undefined),
  },
  rules: (values, context) => kindFault(values, context.hasSecret) ?? unknownAttributeFault('inbound', values.mappings, context),
  // Whoever says who signs in by one that administrators may come by is each of them.
  power: {
    ...{ read: 'sign-in:read', write: 'sign-in:write' },
    needs: ({ alias, mappings }, tenant) =>
      tenant.settings.administrator_providers.includes(alias) ? capabilitiesOfTenant(tenant) : capabilitiesByInbound(mappings),
  },
  searched: ({ name, alias }) => [name, alias],
  told: { created: ({ alias, kind }) => ({ alias, kind }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Register another provider people may sign in with',
    list: 'List other providers, oldest first; `search` is a part of a name or alias',
    read: 'Read a provider',
    change: 'Change a provider; null clears a field',
    remove: 'Delete a provider with its links; sessions it opened end',
  },
  pages: {
    singular: 'Other provider',
    plural: 'Other providers',
    about:
      'Google, Microsoft, GitHub, any OpenID provider or one that speaks SAML: its button on the sign-in page lets people come in from there.',
    searchHint: 'A part of the name or alias',
    title: 'name',
    deletion:
      'You can’t undo this. Everybody’s links to it go, and sessions it opened end. Groups its rules made stay with their members, and are managed here from then on.',
  },
});

/** True where answers come by form post, from another site, so without our cookies. */
export const answersByPost = ({ kind, responseMode }: Pick<IdentityProvider, 'kind' | 'responseMode'>): boolean =>
  kind === 'saml' || responseMode === 'form_post';

/** The `iss` of its tokens: one, or that of each listed directory. */
export const issuersOf = ({ issuer, tenants }: Pick<IdentityProvider, 'issuer' | 'tenants'>): readonly string[] =>
  issuer === undefined ? [] : tenants.length === 0 ? [issuer] : tenants.map((directory) => issuer.replace(tenantPlaceholder, directory));

/** What a button of the sign-in page shows. */
export type ProviderButton = Pick<IdentityProvider, 'alias' | 'name'>;

function kindFault(values: ProviderValues, hasSecret: boolean): FieldFault | undefined {
  const { kind, issuer, clientId, tenants, metadata, responseMode, crossApp } = values;
  const given: Readonly<Record<string, unknown>> = { issuer, client_id: clientId, metadata };
  const missing = providerKinds[kind].needs.find((name) => given[name] === undefined);
  if (missing !== undefined) return { field: missing, text: `is required for ${kind}` };
  if (kind === 'saml' && ((issuer ?? clientId) !== undefined || hasSecret))
    return { field: 'issuer', text: 'and client_id and client_secret are not for saml: its metadata says who it is' };
  if (kind !== 'saml' && metadata !== undefined) return { field: 'metadata', text: 'is for saml only' };
  if (kind !== 'oidc' && crossApp) return { field: 'cross_app', text: 'is for oidc only' };
  if (kind !== 'oidc' && responseMode !== 'query') return { field: 'response_mode', text: 'may be chosen for oidc only' };
  const isTemplate = issuer?.includes(tenantPlaceholder) === true;
  if (isTemplate && kind !== 'oidc') return { field: 'issuer', text: `may hold ${tenantPlaceholder} for oidc only` };
  if (isTemplate === (tenants.length === 0))
    return { field: 'tenants', text: `is required with ${tenantPlaceholder} in the issuer, and only then` };
  return undefined;
}

function aliasFault(alias: string): string | undefined {
  return aliasSyntax.test(alias) ? undefined : 'must be lower case letters, digits and hyphens between them';
}

function issuerFault(issuer: string): string | undefined {
  const fault = calledUriFault(issuer.replace(tenantPlaceholder, 'tenant'));
  if (fault !== undefined) return fault;
  return issuer.includes('?') ? 'must be an https URL without query' : undefined;
}

function xmlFault(metadata: string): string | undefined {
  return isXmlText(metadata) ? undefined : 'holds characters XML cannot carry';
}

function tenantsFault(tenants: readonly string[]): string | undefined {
  return tenants.every((tenant) => uuid.test(tenant)) ? undefined : 'must hold ids of directories, in lower case';
}

function attributeFault(map: TextMap): string | undefined {
  const unknown = Object.values(map).find((path) => !mappedAttributes.has(path));
  return unknown === undefined ? undefined : `names ${unknown}, which is no attribute of a person`;
}

function mappingsFault(rules: readonly unknown[]): string | undefined {
  const fault = rulesFault('inbound', rules);
  return fault && `has a mistake in ${fault}`;
}

function acrFault(map: TextMap): string | undefined {
  const known: readonly string[] = acrValuesSupported;
  const unknown = Object.values(map).find((acr) => !known.includes(acr));
  return unknown === undefined ? undefined : `may only give ${known.join(', ')}, not ${unknown}`;
}

// Another provider people may sign in with (design 14, 2): the table of its fields, and what they mean together. Pure. The client
// secret is a value of the table like any other; whoever writes it seals it first, and nobody shows it.
import {
  domainCharsMax,
  nameCharsMax,
  profileCharsMax,
  providerAliasCharsMax,
  providerDomainsMax,
  providerMapEntriesMax,
  providerMetadataCharsMax,
  providerSecretCharsMax,
  providerTenantsMax,
  scopeNameCharsMax,
  scopesPerListMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import {
  type ChangeOf,
  choice,
  type FieldFault,
  field,
  flag,
  type Json,
  json,
  type Kind,
  list,
  missingField,
  overlay,
  text,
  type ValuesOf,
  valueFault,
} from '../field.ts';
import type { IdentityProviderId } from '../ids.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault } from '../mappings/rule-faults.ts';
import { userAttributes } from '../people/user-attributes.ts';
import { isXmlText } from '../saml/xml-text.ts';
import { domainsFault } from './domain-proof.ts';
import { acrValuesSupported } from './login-methods.ts';

/** What each kind is called, and the fields it cannot do without. */
export const providerKinds = {
  oidc: { label: 'OpenID Connect', needs: ['issuer', 'client_id'] },
  github: { label: 'GitHub', needs: ['client_id', 'client_secret'] },
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
export const mappedAttributes: ReadonlyMap<string, (typeof userAttributes)[number]> = new Map(
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
  clientId: field('client_id', text(nameCharsMax), { label: 'Client id' }),
  clientSecret: field('client_secret', secret, { label: 'Client secret', help: 'Kept encrypted and never shown. Empty: it stays as it is.' }),
  scopes: field('scopes', list(text(scopeNameCharsMax), scopesPerListMax), { default: [], label: 'Scopes',
    help: 'One a line; none: what the kind needs to know the person and their email.' }),
  tenants: field('tenants', list(text(profileCharsMax), providerTenantsMax), { default: [], label: 'Microsoft directories', check: tenantsFault,
    help: 'One id a line: whose people may sign in.' }),
  responseMode: field('response_mode', choice(['query', 'form_post']), { default: 'query', label: 'How an OpenID provider answers',
    help: 'Apple wants form_post as soon as a name or an email is asked for.' }),
  metadata: field('metadata', paragraph(providerMetadataCharsMax), { label: 'SAML metadata', check: xmlFault,
    help: 'The XML of the identity provider. SAML needs nothing else: no issuer, no client id.' }),
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
  enabled: field('enabled', flag, { default: true, label: 'Enabled' }),
} as const;

type Values = ValuesOf<typeof identityProviderFields>;
/** The JSON of a registration or change; absent fields stay as they are, null clears. */
export type IdentityProviderChange = ChangeOf<typeof identityProviderFields>;

export interface IdentityProvider extends Values {
  readonly id: IdentityProviderId;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export type IdentityProviderReading = { readonly ok: true; readonly values: Values } | { readonly ok: false; readonly fault: FieldFault };

/** Lays a change over what is registered (or the defaults) and checks the whole. Its shape was checked before. */
export function readIdentityProvider(given: IdentityProviderChange, before: Values | undefined): IdentityProviderReading {
  const missing = before === undefined ? missingField(identityProviderFields, given as Json) : undefined;
  if (missing !== undefined) return { ok: false, fault: { field: missing, text: 'is required' } };
  const values = overlay(identityProviderFields, given as Json, before);
  const fault = valueFault(identityProviderFields, given as Json) ?? kindFault(values);
  return fault === undefined ? { ok: true, values } : { ok: false, fault };
}

/** True where answers come by form post, from another site, so without our cookies. */
export const answersByPost = ({ kind, responseMode }: Pick<IdentityProvider, 'kind' | 'responseMode'>): boolean =>
  kind === 'saml' || responseMode === 'form_post';

/** What a button of the sign-in page shows. */
export type ProviderButton = Pick<IdentityProvider, 'alias' | 'name'>;

function kindFault(values: Values): FieldFault | undefined {
  const { kind, issuer, clientId, clientSecret, tenants, metadata, responseMode } = values;
  const given: Readonly<Record<string, unknown>> = { issuer, client_id: clientId, client_secret: clientSecret, metadata };
  const missing = providerKinds[kind].needs.find((name) => given[name] === undefined);
  if (missing !== undefined) return { field: missing, text: `is required for ${kind}` };
  if (kind === 'saml' && (issuer ?? clientId ?? clientSecret) !== undefined)
    return { field: 'issuer', text: 'and client_id and client_secret are not for saml: its metadata says who it is' };
  if (kind !== 'saml' && metadata !== undefined) return { field: 'metadata', text: 'is for saml only' };
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

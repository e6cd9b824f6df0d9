// A connector as registered (design 16, 4): the application people and groups are provisioned to by SCIM, the table of its fields, and how
// it signs in there, with a secret that goes nowhere else than where it was given for. Pure.
import {
  connectorGroupsMax,
  connectorRateMax,
  connectorSecretCharsMax,
  connectorsPerTenantMax,
  nameCharsMax,
  textCharsMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { choice, count, field, flag, json, type Kind, list, text, type ValuesOf } from '../field.ts';
import type { ConnectorId } from '../ids.ts';
import { defineKind, type Thing } from '../kind.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../mappings/rule-faults.ts';
import { scimRulesOf } from '../mappings/scim.ts';
import { machineGrantType } from '../oidc/grant-types.ts';
import type { Capability } from '../people/capabilities.ts';
import type { Tenant } from '../tenant/tenant.ts';

export const authTypes = ['bearer', 'basic', machineGrantType] as const;
export type AuthType = (typeof authTypes)[number];

/** How a connector signs in at its target, without the secret. */
export interface ConnectorAuth {
  readonly type: AuthType;
  readonly username?: string;
  readonly token_url?: string;
  readonly client_id?: string;
  readonly scope?: string;
}

/** The same as callers give it. */
type GivenAuth = ConnectorAuth & { readonly token?: string; readonly password?: string; readonly client_secret?: string };

/** The member that holds the secret, those that must be there, and those that may. */
const authMembers: Readonly<
  Record<
    AuthType,
    { readonly secret: 'token' | 'password' | 'client_secret'; readonly required: readonly string[]; readonly optional: readonly string[] }
  >
> = {
  bearer: { secret: 'token', required: [], optional: [] },
  basic: { secret: 'password', required: ['username'], optional: [] },
  [machineGrantType]: { secret: 'client_secret', required: ['token_url', 'client_id'], optional: ['scope'] },
};

const word = { type: 'string', minLength: 1, maxLength: textCharsMax };
const secretText = { type: 'string', minLength: 1, maxLength: connectorSecretCharsMax };
const authShape = {
  type: 'object',
  required: ['type'],
  additionalProperties: false,
  properties: {
    type: { type: 'string', enum: authTypes },
    token: secretText,
    username: word,
    password: secretText,
    token_url: { type: 'string', minLength: 1, maxLength: urlCharsMax },
    client_id: word,
    client_secret: secretText,
    scope: word,
  },
};

const users = { all: { label: 'Everybody' }, groups: { label: 'Members of the groups' } } as const;
const deprovisions = {
  deactivate: { label: 'Deactivate the account' },
  delete: { label: 'Delete the account' },
  leave: { label: 'Leave the account as it is' },
} as const;
export const matches = ['userName', 'externalId', 'emails.value'] as const;
const hidden: Kind<string, string> = { ...text(connectorSecretCharsMax), input: 'none' };

// biome-ignore format: a field a line or two
export const connectorFields = {
  name: field('name', text(nameCharsMax), { required: true, label: 'Name' }),
  enabled: field('enabled', flag, { default: true, label: 'Enabled', help: 'While it is not, changes wait.' }),
  baseUrl: field('base_url', text(urlCharsMax), { required: true, label: 'Address of the SCIM service', check: baseUrlFault,
    help: 'What /Users stands below; https. Private addresses need GATEHOUSE_EGRESS_ALLOW.' }),
  auth: field('auth', json<ConnectorAuth>(authShape), { required: true, label: 'How it signs in', check: authFault,
    help: `{type: "bearer", token}, {type: "basic", username, password} or {type: "${machineGrantType}", token_url, client_id, client_secret, scope}. Secrets are never shown.` }),
  users: field('users', choice(['all', 'groups'], users), { default: 'all', label: 'Who is provisioned' }),
  groups: field('groups', list(text(textCharsMax), connectorGroupsMax), { default: [], label: 'Groups', help: 'Display names or ids, one a line. They are provisioned with their members.' }),
  mappings: field('mappings', rulesKind('scim'), { default: [], label: 'Attributes by rules', check: (rules) => prefixed(rulesFault('scim', rules)),
    help: 'Rules whose `to` is a path of SCIM; they replace rules of the default table (/mappings/scim) by `to`.' }),
  match: field('match', choice(matches), { default: 'userName', label: 'How an account that is there is found' }),
  deprovision: field('deprovision', choice(['deactivate', 'delete', 'leave'], deprovisions), { default: 'deactivate', label: 'When somebody is deleted here, or no longer provisioned' }),
  rate: field('rate', count(1, connectorRateMax), { default: 10, label: 'Requests a second, at most' }),
  secret: field('secret', hidden, { write: 'never', hidden: true, label: 'Secret' }),
} as const;

type ConnectorValues = ValuesOf<typeof connectorFields>;
/** Its secret is sealed. */
export type Connector = Thing<typeof connectorFields, ConnectorId>;

export const connectorKind = defineKind({
  noun: 'connector',
  plural: 'connectors',
  called: 'connector',
  fields: connectorFields,
  key: 'id',
  unique: [['name', 'Another connector has this name.']],
  atMost: { count: connectorsPerTenantMax, field: 'name', of: 'connectors' },
  secret: {
    key: 'secret',
    inside: {
      name: 'auth',
      members: Object.values(authMembers).map(({ secret }) => secret),
      part: (given) => partAuth(given as GivenAuth), // of the shape
      told: (given) => (given as GivenAuth).type,
      join: (auth, secret) => ({ ...(auth as ConnectorAuth), [secretMemberOf((auth as ConnectorAuth).type)]: secret }), // of the shape
    },
    goesTo: ({ baseUrl, auth }) => [auth.type, auth.username, auth.client_id, originOf(baseUrl), originOf(auth.token_url)],
    again: ({ auth }) => ({
      field: 'auth',
      text: `must be given again with its ${secretMemberOf(auth.type)}, which would be told somewhere else`,
      conflict: `auth has no ${secretMemberOf(auth.type)}, and the one that is known would be told somewhere else`,
    }),
    missing: ({ auth }) => ({ field: 'auth', text: `of type ${auth.type} must have ${secretMemberOf(auth.type)}` }),
  },
  rules: ({ mappings }, context) => unknownAttributeFault('scim', mappings, context),
  power: { read: 'connectors:read', write: 'connectors:write', needs: connectorNeeds, isFreelyDeleted: true },
  searched: ({ name, baseUrl }) => [name, baseUrl],
  told: { created: ({ name }) => ({ name }), deleted: ({ name }) => ({ name }) },
  defaultsLeftOut: { but: [] },
  summaries: {
    create: 'Make a connector; enabled, it begins with everybody',
    list: 'List connectors, oldest first; `search` is a part of a name or an address',
    read: 'Read a connector',
    change: 'Change a connector; who moves it to another host gives its secret again',
    remove: 'Delete a connector with its links; accounts at the target stay as they are',
  },
  pages: {
    singular: 'Connector',
    plural: 'Connectors',
    about: 'An application with accounts of its own that speaks SCIM: people and groups are provisioned there, and kept as they are here.',
    searchHint: 'A part of the name',
    title: 'name',
    deletion: 'Nobody is provisioned there any more. Accounts at the application stay as they are.',
  },
});

/** Parts what a caller gave into what is shown and what is sealed. */
function partAuth(given: GivenAuth): { readonly value: ConnectorAuth; readonly secret: string | undefined } {
  const { [authMembers[given.type].secret]: secret, ...value } = given;
  return { value, secret: secret as string | undefined }; // of the shape
}

/** What a kind of sign-in has beside its secret. */
export const authMembersOf = (type: AuthType): readonly string[] => [...authMembers[type].required, ...authMembers[type].optional];

/** The member that the secret of this kind of sign-in is given as. */
export function secretMemberOf(type: AuthType): string {
  return authMembers[type].secret;
}

/** What its maker must hold, and whoever sees what it sends: it hands out people, and groups where it provisions or tells them. */
export function connectorNeeds(
  { groups, users: who, mappings }: Pick<ConnectorValues, 'groups' | 'users' | 'mappings'>,
  tenant: Pick<Tenant, 'mappings'>,
): readonly Capability[] {
  const tellsGroups = scimRulesOf(tenant.mappings.scim, mappings).some(({ sources }) => sources.includes('groups'));
  return who === 'groups' || groups.length > 0 || tellsGroups ? ['users:read', 'groups:read'] : ['users:read'];
}

const originOf = (url: string | undefined): string | undefined => (url === undefined ? undefined : URL.parse(url)?.origin);
const prefixed = (fault: string | undefined): string | undefined => (fault === undefined ? undefined : `has a mistake in ${fault}`);

function baseUrlFault(url: string): string | undefined {
  return calledUriFault(url) ?? (url.includes('?') ? 'must be an https URL without a query' : undefined);
}

function authFault(auth: ConnectorAuth): string | undefined {
  const { secret, required, optional } = authMembers[auth.type];
  const missing = required.find((name) => !Object.hasOwn(auth, name));
  if (missing !== undefined) return `of type ${auth.type} must have ${missing}`;
  const other = Object.keys(auth).find((name) => ![...required, ...optional, secret, 'type'].includes(name));
  if (other !== undefined) return `of type ${auth.type} has no ${other}`;
  if (auth.username?.includes(':') === true) return 'must have a username without a colon';
  const fault = auth.token_url === undefined ? undefined : calledUriFault(auth.token_url);
  return fault === undefined ? undefined : `token_url ${fault}`;
}

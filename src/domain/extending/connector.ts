// A connector as registered (design 16, 4): the application people and groups are provisioned to by SCIM, the table of its fields, and how
// it signs in there. Pure. The secret is a value of the table that only documents carry: it is sealed by whoever writes it.
import {
  connectorGroupsMax,
  connectorRateMax,
  connectorSecretCharsMax,
  nameCharsMax,
  textCharsMax,
  urlCharsMax,
} from '../../contract/limits.ts';
import { calledUriFault } from '../client/client-uris.ts';
import { type ChangeOf, choice, count, field, flag, json, type Kind, list, text, type ValuesOf } from '../field.ts';
import type { ConnectorId } from '../ids.ts';
import { rulesKind } from '../mappings/rule.ts';
import { rulesFault } from '../mappings/rule-faults.ts';
import { machineGrantType } from '../oidc/grant-types.ts';

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
export type GivenAuth = ConnectorAuth & { readonly token?: string; readonly password?: string; readonly client_secret?: string };

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
  secret: field('secret', hidden, { write: 'never', label: 'Secret' }),
} as const;

export type ConnectorValues = ValuesOf<typeof connectorFields>;
export type ConnectorChange = Omit<ChangeOf<typeof connectorFields>, 'auth'> & { readonly auth?: GivenAuth };

/** Its secret is sealed. */
export interface Connector extends ConnectorValues {
  readonly id: ConnectorId;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Parts what a caller gave into what is shown and what is sealed. */
export function partAuth(given: GivenAuth): { readonly auth: ConnectorAuth; readonly secret: string | undefined } {
  const { [authMembers[given.type].secret]: secret, ...auth } = given;
  return { auth, secret: secret as string | undefined }; // of the shape
}

/** What a kind of sign-in has beside its secret. */
export const authMembersOf = (type: AuthType): readonly string[] => [...authMembers[type].required, ...authMembers[type].optional];

/** The member that the secret of this kind of sign-in is given as. */
export const secretMemberOf = (type: AuthType): string => authMembers[type].secret;

/** True when a secret known for one would be told to a stranger by the other. */
export const goesElsewhere = (before: ConnectorValues, after: ConnectorValues): boolean =>
  before.auth.type !== after.auth.type ||
  originOf(before.baseUrl) !== originOf(after.baseUrl) ||
  originOf(before.auth.token_url) !== originOf(after.auth.token_url);

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

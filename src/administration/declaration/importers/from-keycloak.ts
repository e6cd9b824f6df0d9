// A Keycloak realm export (RealmRepresentation, one JSON file) as items of a document. What has no place here is left and
// counted with its reason. Ids survive where they are UUIDs, so a `sub` stays what relying parties know.

import { redirectUriFault } from '../../../domain/client/client-uris.ts';
import { foldKey } from '../../../domain/fold.ts';
import { cibaGrantType, codeGrantType, machineGrantType, refreshGrantType } from '../../../domain/oidc/grant-types.ts';
import { standardScopes } from '../../../domain/oidc/standard-scopes.ts';
import { compact, type Json } from '../document.ts';
import { clientSecretCharsMin } from '../kinds/client-kind.ts';
import { type Imported, type Left, listOf, noteLeft, textOf, uuidOf } from './imported.ts';
import { organizationsOf } from './keycloak-organizations.ts';

/** The items of a realm, and what was left of it. */
export function fromKeycloak(realm: Json): Imported {
  const left: Left = new Map();
  const groups = groupsOf(realm, left);
  const known = new Map(groups.flatMap(({ path, item }) => [[path, String(item['display_name'])] as const]));
  const roles = rolesOf(
    realm,
    groups.map(({ item }) => String(item['display_name'])),
    left,
  );
  const organizations = organizationsOf(realm, left);
  const users = listOf(realm['users']).flatMap((user) => withOrganizations(user, organizations.ofMember, userOf(user, known, roles, left)));
  const clients = listOf(realm['clients']).flatMap((client) => clientOf(client, left));
  for (const part of ['identityProviders', 'authenticationFlows', 'clientScopes', 'components'] as const) {
    const value = realm[part];
    const count = Array.isArray(value) ? value.length : Object.keys((value ?? {}) as object).length;
    if (count > 0) noteLeft(left, part, 'has no counterpart', count);
  }
  return {
    items: [
      ...clients.map((value) => ({ section: 'clients', value }) as const),
      ...[...groups.map(({ item }) => item), ...[...roles.values()].map((name) => ({ display_name: name }))].map(
        (value) => ({ section: 'groups', value }) as const,
      ),
      ...organizations.items.map((value) => ({ section: 'organizations', value }) as const),
      ...users.map((value) => ({ section: 'users', value }) as const),
    ],
    left,
  };
}

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []);

interface ImportedGroup {
  readonly path: string;
  readonly item: Json;
}

/** Groups are a tree there and a list here: one below another is named by its path, `Staff / Engineering`. */
function groupsOf(realm: Json, left: Left): readonly ImportedGroup[] {
  const found: ImportedGroup[] = [];
  const visit = (group: Json, above: string, title: string): void => {
    const name = textOf(group['name']);
    if (name === undefined) return;
    const path = `${above}/${name}`;
    const own = title === '' ? name : `${title} / ${name}`;
    found.push({ path, item: compact({ id: uuidOf(group['id']), display_name: own }) });
    if (Object.keys((group['attributes'] ?? {}) as object).length > 0) noteLeft(left, 'group attributes', 'groups have a name alone');
    for (const child of listOf(group['subGroups'])) visit(child, path, own);
  };
  for (const group of listOf(realm['groups'])) visit(group, '', '');
  return found;
}

const builtInRoles = /^(offline_access|uma_authorization|default-roles-.*)$/;

/** Realm roles become groups that are named as they are; where a group has the name, `role: <name>`. */
function rolesOf(realm: Json, groupNames: readonly string[], left: Left): ReadonlyMap<string, string> {
  const taken = new Set(groupNames.map(foldKey));
  const roles = (realm['roles'] ?? {}) as Json;
  const names = listOf(roles['realm']).flatMap((role) => textOf(role['name']) ?? []);
  for (const list of Object.values((roles['client'] ?? {}) as Json))
    if (Array.isArray(list) && list.length > 0) noteLeft(left, 'client roles', 'roles of one client have no counterpart', list.length);
  return new Map(names.filter((name) => !builtInRoles.test(name)).map((name) => [name, taken.has(foldKey(name)) ? `role: ${name}` : name]));
}

/** With those the export names them in, which give no roles: groups and realm roles are of the realm there. */
function withOrganizations(user: Json, ofMember: ReadonlyMap<string, readonly string[]>, items: readonly Json[]): readonly Json[] {
  const named = [textOf(user['username']), textOf(user['id'])].flatMap((key) =>
    key === undefined ? [] : (ofMember.get(foldKey(key)) ?? []),
  );
  const organizations = [...new Set(named)].map((organization) => ({ organization }));
  return organizations.length === 0 ? items : items.map((item) => ({ ...item, organizations }));
}

function userOf(user: Json, groups: ReadonlyMap<string, string>, roles: ReadonlyMap<string, string>, left: Left): readonly Json[] {
  if (textOf(user['serviceAccountClientId']) !== undefined) return noteLeft(left, 'service account users', 'a client acts for itself here');
  const email = textOf(user['email']);
  if (email !== undefined && user['emailVerified'] !== true)
    noteLeft(left, 'unverified emails', 'taken as they are; a first sign-in by mail proves them', 1);
  if (listOf(user['credentials']).length > 0)
    noteLeft(left, 'passwords and other credentials', 'there are no passwords here; people enrol a phone or a passkey');
  if (listOf(user['federatedIdentities']).length > 0) noteLeft(left, 'federated identities', 'has no counterpart');
  const attributes = attributesOf((user['attributes'] ?? {}) as Json, left);
  const inGroups = textsOf(user['groups']).flatMap((path) => groups.get(path) ?? []);
  const inRoles = textsOf(user['realmRoles']).flatMap((role) => roles.get(role) ?? []);
  const names = [textOf(user['firstName']), textOf(user['lastName'])];
  return [
    compact({
      id: uuidOf(user['id']),
      user_name: textOf(user['username']),
      display_name: names.filter((name) => name !== undefined).join(' ') || undefined,
      name: compact({ given_name: names[0], family_name: names[1] }),
      emails: email === undefined ? [] : [{ value: email, primary: true }],
      ...attributes,
      groups: [...new Set([...inGroups, ...inRoles])],
      state: user['enabled'] === false ? 'suspended' : undefined,
    }),
  ];
}

/** Attributes by the names people give them, and the fields they fit. */
const attributeFields: Readonly<Record<string, string>> = {
  locale: 'locale',
  zoneinfo: 'timezone',
  timezone: 'timezone',
  title: 'title',
  jobTitle: 'title',
  nickname: 'nick_name',
  profile: 'profile_url',
  preferredLanguage: 'preferred_language',
};
const phoneAttributes: ReadonlySet<string> = new Set(['phone', 'phoneNumber', 'phone_number', 'mobile']);
const enterpriseAttributes: Readonly<Record<string, string>> = {
  department: 'department',
  employeeNumber: 'employee_number',
  organization: 'organization',
  costCenter: 'cost_center',
};

function attributesOf(attributes: Json, left: Left): Json {
  const fields: Record<string, unknown> = {};
  const enterprise: Record<string, unknown> = {};
  for (const [name, values] of Object.entries(attributes)) {
    const value = textOf(Array.isArray(values) ? values[0] : values);
    if (value === undefined) continue;
    if (phoneAttributes.has(name)) fields['phone_numbers'] = [{ value, type: 'work' }];
    else if (Object.hasOwn(attributeFields, name)) fields[attributeFields[name]!] = value;
    else if (Object.hasOwn(enterpriseAttributes, name)) enterprise[enterpriseAttributes[name]!] = value;
    else noteLeft(left, `user attribute ${name}`, 'no field fits');
  }
  return compact({ ...fields, enterprise });
}

const builtInClients: ReadonlySet<string> = new Set([
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
  'master-realm',
]);
const methods: Readonly<Record<string, string>> = {
  'client-secret': 'client_secret_basic',
  'client-secret-jwt': 'client_secret_jwt',
  'client-jwt': 'private_key_jwt',
};

function clientOf(client: Json, left: Left): readonly Json[] {
  const id = textOf(client['clientId']) ?? '';
  if (builtInClients.has(id)) return [];
  if (client['protocol'] === 'saml') return noteLeft(left, 'SAML clients', 'import their metadata: POST /service-providers/import');
  if (client['bearerOnly'] === true) return noteLeft(left, 'bearer-only clients', 'declare them as resources');
  const isPublic = client['publicClient'] === true;
  const attributes = (client['attributes'] ?? {}) as Json;
  const method = isPublic ? 'none' : (methods[textOf(client['clientAuthenticatorType']) ?? 'client-secret'] ?? 'client_secret_basic');
  const jwksUri = textOf(attributes['jwks.url']);
  if (method === 'private_key_jwt' && jwksUri === undefined)
    return noteLeft(left, `client ${id}`, 'private_key_jwt needs its keys: declare jwks');
  const uris = (list: readonly string[]): readonly string[] =>
    list.filter((uri) => {
      const fault = uri.includes('*') ? 'wildcards and relative URIs are not registered here' : redirectUriFault(uri, isPublic);
      if (fault !== undefined) noteLeft(left, `redirect URI ${uri} of ${id}`, fault);
      return fault === undefined;
    });
  const ciba = attributes['oidc.ciba.grant.enabled'] === 'true' && !isPublic;
  const machine = client['serviceAccountsEnabled'] === true && !isPublic;
  const grants = [
    ...(client['standardFlowEnabled'] === false ? [] : [codeGrantType, refreshGrantType]),
    ...(machine ? [machineGrantType] : []),
    ...(ciba ? [cibaGrantType] : []),
  ];
  for (const flow of ['implicitFlowEnabled', 'directAccessGrantsEnabled'] as const)
    if (client[flow] === true)
      noteLeft(left, flow === 'implicitFlowEnabled' ? 'implicit flow' : 'password grant', 'not offered; authorization code with PKCE is');
  return [
    compact({
      client_id: id,
      name: textOf(client['name']) ?? id,
      type: isPublic ? 'public' : undefined,
      token_endpoint_auth_method: isPublic ? undefined : method,
      jwks_uri: method === 'private_key_jwt' ? jwksUri : undefined,
      redirect_uris: uris(textsOf(client['redirectUris'])),
      post_logout_redirect_uris: uris(
        (textOf(attributes['post.logout.redirect.uris']) ?? '').split('##').filter((uri) => uri !== '' && uri !== '+' && uri !== '-'),
      ),
      grant_types: grants,
      scopes: ['openid', ...textsOf(client['defaultClientScopes']), ...textsOf(client['optionalClientScopes'])].filter((scope) =>
        ownScopes.has(scope),
      ),
      enabled: client['enabled'] === false ? false : undefined,
      ...secretOf(client, id, method, left),
    }),
  ];
}

const ownScopes: ReadonlySet<string> = new Set(standardScopes);

function secretOf(client: Json, id: string, method: string, left: Left): Json {
  const secret = textOf(client['secret']);
  if (secret === undefined || method === 'none' || method === 'private_key_jwt') return {};
  if (/^\*+$/.test(secret)) noteLeft(left, `secret of ${id}`, 'the export masks it; a new one is made');
  else if (secret.length < clientSecretCharsMin || !/^[\x20-\x7e]+$/.test(secret))
    noteLeft(left, `secret of ${id}`, `shorter than ${clientSecretCharsMin} characters; a new one is made`);
  else return { client_secret: secret };
  return {};
}

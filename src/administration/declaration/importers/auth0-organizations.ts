// The organisations of an Auth0 tenant as its Management API gives them, one JSON object a line with `members` (with their roles) and
// `enabled_connections`, as items of a document; and who is in which. The bulk export of users has none of it.

import { brandingFields } from '../../../domain/appearance/branding.ts';
import { valueFault } from '../../../domain/field.ts';
import { organizationRoleName } from '../../../domain/organizations/organization-role.ts';
import { compact, type Json } from '../document.ts';
import {
  domainsWithin,
  type ImportedItem,
  type Left,
  listOf,
  metadataWithin,
  nameWithin,
  noteLeft,
  slugOf,
  stableId,
  textOf,
} from './imported.ts';

/** What people hold, by the ids they have there. */
type Memberships = Map<string, { readonly organization: string; readonly roles: readonly string[] }[]>;

export interface Auth0Organizations {
  readonly items: readonly ImportedItem[];
  readonly ofMember: Memberships;
}

/** Connections of a company, which are of one customer; all others are everybody's. */
const ofCompanies: ReadonlySet<string> = new Set(['oidc', 'samlp', 'waad', 'adfs', 'okta', 'google-apps', 'pingfederate']);

interface Connection {
  readonly name: string;
  readonly joins: boolean;
}

interface Found {
  readonly item: Json;
  readonly connections: readonly Connection[];
}

/** `aliasesAmong` says which names are aliases of providers of the tenant: a connection is taken over as the provider that is called as it is. */
export async function organizationsOfAuth0(
  lines: AsyncIterable<Json>,
  aliasesAmong: (names: readonly string[]) => Promise<ReadonlySet<string>>,
  left: Left,
): Promise<Auth0Organizations> {
  const [taken, domains, roles] = [new Set<string>(), new Set<string>(), new Map<string, Json>()];
  const found: Found[] = [];
  const ofMember: Memberships = new Map();
  for await (const organization of lines) {
    const name = nameWithin(textOf(organization['name']), taken, left);
    if (name === undefined) continue;
    found.push({ item: itemOf(organization, name, domains, left), connections: connectionsOf(organization, left) });
    for (const member of listOf(organization['members'])) {
      const id = textOf(member['user_id']);
      if (id === undefined) continue;
      const held = listOf(member['roles']).flatMap((role) => roleOf(role, roles, left) ?? []);
      ofMember.set(id, [...(ofMember.get(id) ?? []), { organization: name, roles: [...new Set(held)] }]);
    }
  }
  const times = new Map<string, number>();
  for (const { name } of found.flatMap(({ connections }) => connections)) times.set(name, (times.get(name) ?? 0) + 1);
  const aliases = await aliasesAmong([...times.keys()]);
  const isOwn = ({ name }: Connection): boolean => aliases.has(name) && times.get(name) === 1;
  const organizations = found.map(({ item, connections }) => ({ ...item, ...providersOf(connections, isOwn, left) }));
  return {
    items: [
      ...[...roles.values()].map((value) => ({ section: 'organization_roles', value }) as const),
      ...organizations.map((value) => ({ section: 'organizations', value }) as const),
    ],
    ofMember,
  };
}

function itemOf(organization: Json, name: string, domains: Set<string>, left: Left): Json {
  const id = textOf(organization['id']);
  const shown = textOf(organization['display_name']);
  const named = [...listOf(organization['discovery_domains']), ...listOf(organization['domains'])].map((one) => one['domain']);
  return compact({
    id: id === undefined ? undefined : stableId(`auth0:${id}`),
    name,
    display_name: shown === name ? undefined : shown,
    metadata: metadataWithin((organization['metadata'] ?? {}) as Json, 'metadata', left),
    domains: domainsWithin(named, domains, left),
    branding: brandingOf((organization['branding'] ?? {}) as Json, left),
  });
}

function brandingOf({ logo_url: logo, colors }: Json, left: Left): Json {
  if (textOf(logo) !== undefined) noteLeft(left, 'logos of organizations', 'nothing is fetched: upload them as images');
  const { primary, page_background: background } = (colors ?? {}) as Json;
  if (textOf(background) !== undefined) noteLeft(left, 'page backgrounds of organizations', 'has no counterpart');
  const accent = textOf(primary)?.toLowerCase();
  if (accent === undefined) return {};
  if (
    new RegExp(String(brandingFields.accent.kind.shape['pattern'])).test(accent) &&
    valueFault({ accent: brandingFields.accent }, { accent }) === undefined
  )
    return { accent };
  noteLeft(left, 'colours of organizations', 'not to be read on a page, or no #rrggbb');
  return {};
}

/** By its name, made one of here. What it may do there hangs on the APIs of that tenant. */
function roleOf(role: Json, roles: Map<string, Json>, left: Left): string | undefined {
  const title = textOf(role['name']);
  const name = slugOf(title ?? '');
  if (!new RegExp(organizationRoleName.shape.pattern).test(name)) {
    noteLeft(left, 'roles of members', 'without a name that begins with a letter');
    return undefined;
  }
  const known = roles.get(name);
  if (known === undefined) {
    roles.set(name, compact({ name, description: textOf(role['description']) ?? (title === name ? undefined : title) }));
    noteLeft(left, 'permissions of roles', 'say the scopes each gives here');
  }
  return name;
}

function connectionsOf(organization: Json, left: Left): readonly Connection[] {
  return listOf(organization['enabled_connections']).flatMap((enabled): readonly Connection[] => {
    const { name, strategy } = (enabled['connection'] ?? {}) as Json;
    const title = textOf(name);
    if (title === undefined || !ofCompanies.has(String(strategy)))
      return noteLeft(
        left,
        'connections of organizations',
        'databases and social ones are not one customer’s: the tenant’s ways to sign in serve all',
      );
    return [{ name: title, joins: enabled['assign_membership_on_login'] === true }];
  });
}

function providersOf(connections: readonly Connection[], isOwn: (connection: Connection) => boolean, left: Left): Json {
  const own = connections.filter(isOwn);
  const others = connections.length - own.length;
  if (others > 0)
    noteLeft(
      left,
      'company connections of organizations',
      'several share it, or no provider has its name as alias: register it and import again',
      others,
    );
  if (own.length === 0) return {};
  return {
    identity_providers: own.map(({ name }) => name),
    ...(own.some(({ joins }) => joins) ? { join: ['invitation', 'provider'] } : {}),
  };
}

/** What a user of the export holds; counted, so that it is known who was in none. */
export function takeMemberships({ ofMember }: Pick<Auth0Organizations, 'ofMember'>, id: string | undefined): Json {
  const held = id === undefined ? undefined : ofMember.get(id);
  if (id === undefined || held === undefined) return {};
  ofMember.delete(id);
  return { organizations: held };
}

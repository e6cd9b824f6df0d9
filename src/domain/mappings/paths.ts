// The paths mapping rules read (design 16, section 1): one list, from the attributes of a person. A path gives one value or a list of
// them, and says what has to be read of the person for it. Pure.
import { mappingPathCharsMax } from '../../contract/limits.ts';
import type { HeldOrganization } from '../organizations/tenant-organizations.ts';
import { type CustomValues, isCustomPath } from '../people/custom-attributes.ts';
import { addressParts, type UserColumn, userAttributes, userLists } from '../people/user-attributes.ts';

/** An object is an address, which only a claim can hold, and which no step changes. */
export type MappedValue = string | number | boolean | Readonly<Record<string, string>>;

/** What a person is made of, as it is read for rules; what no rule needs is empty. */
export interface MappedPerson {
  readonly user: Readonly<Record<UserColumn, string | null>> & { readonly id: string; readonly updated_at: number };
  /** By the list's path; the primary element of each first. */
  readonly lists: Readonly<Record<string, readonly MappedElement[] | undefined>>;
  /** The primary address, or the first. */
  readonly address: Readonly<Record<string, string>> | undefined;
  /** In the order they are shown in. */
  readonly groups: readonly { readonly id: string; readonly name: string }[];
  readonly custom: CustomValues;
}

export interface MappedElement {
  readonly value: string | null;
  readonly type: string | null;
}

/** What rules are applied to. A client that acts for itself is no person. */
export interface MappingFacts {
  readonly person: MappedPerson | undefined;
  readonly clientId: string;
  readonly tenantSlug: string;
  readonly acr: string | undefined;
  /** The one they sign in for. */
  readonly organization?: Pick<HeldOrganization, 'id' | 'name' | 'roles'> | undefined;
  /** What another provider says of whoever comes from there, by claim or attribute. */
  readonly upstream?: Readonly<Record<string, unknown>>;
}

/** What has to be read of a person: the lists by their path, and these. */
export type Source = 'address' | 'groups' | 'custom' | `list:${string}`;

export interface Path {
  readonly isList: boolean;
  readonly isObject?: true;
  readonly source?: Source;
  readonly read: (facts: MappingFacts) => MappedValue | readonly MappedValue[] | undefined;
}

const ofPerson =
  (read: (person: MappedPerson) => MappedValue | null | undefined): Path['read'] =>
  ({ person }) =>
    person === undefined ? undefined : (read(person) ?? undefined);

const single = (read: Path['read']): Path => ({ isList: false, read });
const lists = userLists.filter(({ table, scimOnly }) => table !== 'addresses' && scimOnly !== true).map(({ path }) => path);

const elementsOf = (list: string, type?: string): Path => ({
  isList: true,
  source: `list:${list}`,
  read: ({ person }) => {
    const elements = person?.lists[list] ?? [];
    return elements.filter((one) => type === undefined || one.type === type).flatMap(({ value }) => value ?? []);
  },
});

const fullName = ({ user }: MappedPerson): string | null | undefined => {
  const joined = [user.given_name, user.family_name].filter((part) => part !== null && part !== '').join(' ');
  return user.name_formatted ?? user.display_name ?? (joined === '' ? undefined : joined);
};

const known: ReadonlyMap<string, Path> = new Map<string, Path>([
  ['id', single(ofPerson(({ user }) => user.id))],
  ...userAttributes.map(({ path, name }) => [path, single(ofPerson(({ user }) => user[name]))] as const),
  ['full_name', single(ofPerson(fullName))],
  ['updated_at', single(ofPerson(({ user }) => Math.floor(user.updated_at / 1000)))],
  ...lists.flatMap((list) => [
    [list, elementsOf(list)] as const,
    [
      `${list}.primary`,
      { isList: false, source: `list:${list}`, read: ofPerson((person) => person.lists[list]?.[0]?.value) } as Path,
    ] as const,
  ]),
  ['addresses.primary', { isList: false, isObject: true, source: 'address', read: ofPerson(({ address }) => address) }],
  ...addressParts.map(
    ([, part]) =>
      [
        `addresses.primary.${part}`,
        { isList: false, source: 'address', read: ofPerson(({ address }) => address?.[part]) } as Path,
      ] as const,
  ),
  ['groups', { isList: true, source: 'groups', read: ({ person }) => person?.groups.map(({ name }) => name) }],
  ['groups.id', { isList: true, source: 'groups', read: ({ person }) => person?.groups.map(({ id }) => id) }],
  ['client.id', single(({ clientId }) => clientId)],
  ['tenant.slug', single(({ tenantSlug }) => tenantSlug)],
  ['session.acr', single(({ acr }) => acr)],
]);

/** Of the organisation of a sign-in: for SAML, as tokens have claims for it. */
const ofOrganization: ReadonlyMap<string, Path> = new Map<string, Path>([
  ['org.id', single(({ organization }) => organization?.id)],
  ['org.name', single(({ organization }) => organization?.name)],
  ['org.roles', { isList: true, read: ({ organization }) => organization?.roles }],
]);
export const organizationPaths: readonly string[] = [...ofOrganization.keys()];

/** Every path of every kind of rules but those of the tenant's own attributes. */
export const mappingPaths: readonly string[] = [...known.keys()];

/** A list that is chosen from by type, e.g. `emails[work]`. */
const typed = /^([a-z_]+)\[([A-Za-z0-9_-]{1,40})\]$/;

const upstreamPrefix = 'upstream.';
/** A claim or attribute of another provider, e.g. `upstream.department`. */
const isUpstreamPath = (path: string): boolean => path.startsWith(upstreamPrefix) && path.length > upstreamPrefix.length;

/** Texts, numbers and yes or no, alone or in a list; anything else is no value. */
function upstreamValue({ upstream = {} }: MappingFacts, name: string): MappedValue | readonly MappedValue[] | undefined {
  const value = Object.hasOwn(upstream, name) ? upstream[name] : undefined;
  const isScalar = (one: unknown): one is MappedValue => typeof one === 'string' || Number.isFinite(one) || typeof one === 'boolean';
  if (Array.isArray(value)) return value.filter(isScalar);
  return isScalar(value) ? value : undefined;
}

/** What a path reads; undefined for one that is not known. An attribute of the tenant's own may have one value or a list. */
export function pathOf(path: string): Path | undefined {
  const found = known.get(path) ?? ofOrganization.get(path);
  if (found !== undefined) return found;
  if (isCustomPath(path)) {
    const name = path.slice('custom.'.length);
    return { isList: false, source: 'custom', read: ({ person }) => person?.custom[name] };
  }
  if (isUpstreamPath(path)) return single((facts) => upstreamValue(facts, path.slice(upstreamPrefix.length)));
  const [, list = '', type] = typed.exec(path) ?? [];
  return lists.includes(list) ? elementsOf(list, type) : undefined;
}

interface MorePaths {
  /** For rules of SAML. */
  readonly isOfSaml?: boolean;
  /** Names that may be the nearest too. */
  readonly near?: readonly string[];
}

/** What is wrong with a path, naming the nearest that is known. */
export function pathFault(path: unknown, { isOfSaml = false, near = [] }: MorePaths = {}): string | undefined {
  if (typeof path !== 'string' || path === '' || path.length > mappingPathCharsMax)
    return `must be a path of 1 to ${mappingPathCharsMax} characters`;
  const isElsewhere = isUpstreamPath(path) || (!isOfSaml && ofOrganization.has(path));
  if (!isElsewhere && pathOf(path) !== undefined) return undefined;
  const names = [...near, ...mappingPaths, ...(isOfSaml ? organizationPaths : []), 'custom.name'];
  return `"${path}" is not known; the nearest is "${nearestOf(path, names)}"`;
}

/** The same of rules for what another provider says: nobody is here yet whose attributes could be read. */
export function inboundPathFault(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '' || path.length > mappingPathCharsMax)
    return `must be a path of 1 to ${mappingPathCharsMax} characters`;
  if (isUpstreamPath(path) || path === 'tenant.slug') return undefined;
  const claim = path.slice(path.lastIndexOf('.') + 1).replaceAll(/[\s{}]/g, '');
  return `"${path}" is not known; the nearest is "${upstreamPrefix}${claim === '' ? 'email' : claim}"`;
}

/** The name with the fewest letters to change (Levenshtein); of several the first. */
export function nearestOf(given: string, names: readonly string[]): string {
  const [nearest] = names.map((name) => [name, distance(given, name)] as const).reduce((best, next) => (next[1] < best[1] ? next : best));
  return nearest;
}

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at += 1)
      next.push(Math.min(row[at + 1]! + 1, next[at]! + 1, row[at]! + (letter === other[at] ? 0 : 1)));
    row = next;
  }
  return row[other.length]!;
}

// The document that `export` writes and `import`, `plan` and `apply` read: YAML (or JSON), a version, then one section a kind
// in a fixed order, so that what an item refers to stands before it. This file has its types; reader.ts, export.ts and
// kinds/ hold the rest.
import type { TSchema } from 'typebox';
import { kinds } from '../../domain/kinds.ts';
import type { CustomAttribute } from '../../domain/people/custom-attributes.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { Administration, By } from '../administration.ts';

export const documentVersion = 1;
const fixedSections = [
  'images',
  'settings',
  'texts',
  'mails',
  'custom_attributes',
  'mappings',
  'resources',
  'clients',
  'roles',
  'identity_providers',
  'organization_roles',
  'organizations',
  'service_providers',
  'hooks',
  'webhooks',
  'connectors',
  'groups',
  'users',
  'assignments',
] as const;
type Kinds = typeof kinds;
export type Section = (typeof fixedSections)[number] | Kinds[keyof Kinds]['plural'];
const ofKinds = Object.values(kinds).map(({ plural }): Section => plural);
const before = fixedSections.indexOf('groups');
/** Kinds without a place of their own stand before people and their groups. */
export const sections: readonly Section[] = [
  ...fixedSections.slice(0, before),
  ...ofKinds.filter((section) => !(fixedSections as readonly string[]).includes(section)),
  ...fixedSections.slice(before),
];
export type Json = Readonly<Record<string, unknown>>;
export type Path = readonly (string | number)[];

/** One item of a document, with where each of its parts stands. */
export interface Declared {
  readonly section: Section;
  /** e.g. `users[3]`. */
  readonly path: string;
  readonly value: unknown;
  readonly lineOf: (path: Path) => number | undefined;
}

/** A mistake in a document: names the place, what was expected there and what stands there. */
export class DeclarationFault extends Error {
  constructor(place: { readonly path: string; readonly expected: string; readonly found: unknown; readonly line?: number | undefined }) {
    const line = place.line === undefined ? '' : ` (line ${place.line})`;
    super(`${place.path}: expected ${place.expected}, found ${shown(place.found)}${line}`);
    this.name = 'DeclarationFault';
  }
}

const shownCharsMax = 80;

function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
  return text.length > shownCharsMax ? `${text.slice(0, shownCharsMax)}…` : text;
}

/** The fault at a field of an item. */
export function faultAt(declared: Declared, path: Path, expected: string, found: unknown): DeclarationFault {
  return new DeclarationFault({ path: pathText(declared.path, path), expected, found, line: declared.lineOf(path) });
}

const pathText = (start: string, path: Path): string =>
  path.reduce<string>((text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${part}`), start);

/** An item as it should be: every field written out, so that two of them compare field by field. */
export interface Desired {
  /** Undefined: found by its natural key, or made. */
  readonly id: string | undefined;
  readonly title: string;
  readonly fields: Json;
  readonly declared: Declared;
}

/** An item as it is. */
export interface Stored {
  readonly id: string;
  readonly title: string;
  readonly fields: Json;
  /** No document says it, and none takes it away. */
  readonly isUndeclared?: true;
}

/** What is stored for a desired item, if anything; a conflict says why it cannot be had. */
export type Match = { readonly stored: Stored | undefined } | { readonly conflict: string };

export interface Creation {
  readonly id: string;
  readonly desired: Desired;
}

/** What a run made, as it is told of. */
export interface Made {
  readonly id: string;
  readonly title: string;
  readonly path: string;
}

export interface Update {
  readonly stored: Stored;
  readonly desired: Desired;
  /** Names of the fields that differ. */
  readonly changed: ReadonlySet<string>;
}

/** What a run knows and collects. */
export interface Session {
  readonly administration: Administration;
  readonly tenant: Tenant;
  readonly by: By;
  /** Ids known so far, of the database and of the document, by id and by folded name. */
  readonly groups: Map<string, string>;
  readonly providers: Map<string, string>;
  /** Ids of identity providers, by id and by alias. */
  readonly identityProviders: Map<string, string>;
  readonly clients: Set<string>;
  /** Ids of resources, by id and by identifier. */
  readonly resources: Map<string, string>;
  /** Names of the roles the tenant adds. */
  readonly roles: Set<string>;
  /** Ids of registered things by their titles, in the sections that count or name them. */
  readonly known: Map<Section, Map<string, string>>;
  /** The tenant's own attributes, by name. */
  readonly attributes: Map<string, CustomAttribute>;
  /** Users the document makes: by id, and those without one by folded names. */
  readonly newUsers: Map<string, string>;
  /** Aliases of providers that organisations name, of the database and as far as it is known of the document. */
  readonly customers: Set<string>;
  /** Ids of what the document says, in the sections it has. */
  readonly said: Map<Section, Set<string>>;
  /** Secrets made on the way, to be shown once. */
  readonly secrets: { readonly clientId: string; readonly secret: string }[];
}

/** Everything about one section. */
export interface Kind {
  readonly section: Section;
  /** What one item is called. */
  readonly noun: string;
  /** The section is one object, not a list. */
  readonly single?: boolean;
  readonly schema: TSchema;
  /** Checks what the schema cannot and writes out every field. @throws DeclarationFault */
  readonly examine: (session: Session, declared: Declared) => Desired;
  /** An id for an item without one. */
  readonly newId: (session: Session) => string;
  /** What is stored for each of these, in their order. */
  readonly find: (queries: Queries, session: Session, items: readonly Desired[]) => Promise<readonly Match[]>;
  /** Told of every item before the next section is examined, also when nothing is written. */
  readonly remember?: (session: Session, id: string, desired: Desired) => void;
  /** Work outside the transaction that these steps need, such as making keys. */
  readonly prepare?: (session: Session, items: readonly Desired[]) => Promise<void>;
  readonly create: (queries: Queries, session: Session, items: readonly Creation[]) => Promise<void>;
  /** Told at the end what was made: takes out again what may not stay, and gives it. */
  readonly settle?: (queries: Queries, session: Session, made: readonly Made[]) => Promise<readonly (Made & { readonly text: string })[]>;
  /** @throws WriteRefused for what takes from others what they need: it is tried again when the rest is written */
  readonly update: (queries: Queries, session: Session, items: readonly Update[]) => Promise<void>;
  /** The field a refused creation names, when the database finds two of them equal. */
  readonly uniqueField: string;
  /** Fields whose values are not shown. */
  readonly secrets?: readonly string[];
  /** Where secrets stand in an item, by dotted names, where that is not in those fields as a whole. */
  readonly secretPaths?: readonly string[];
  readonly isConfiguration: boolean;
  /** A page of what is stored, in id order. */
  readonly page: (queries: Queries, session: Session, after: string) => Promise<readonly Stored[]>;
  readonly remove: (queries: Queries, session: Session, stored: Stored) => Promise<void>;
  /** The item as the document shows it: defaults left out. */
  readonly write: (session: Session, stored: Stored, withSecrets: boolean) => Json | undefined;
}

export const pageRows = 200;

/** Without undefined and null members, empty lists and empty objects. */
export function compact(value: Json): Json {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => {
      if (member === undefined || member === null) return false;
      if (Array.isArray(member)) return member.length > 0;
      return typeof member !== 'object' || Object.keys(member).length > 0;
    }),
  );
}

/** Text that is equal for equal values, whatever the order of their members. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}

/** The fields of `stored` and `desired` that differ. */
export function differingFields(stored: Json, desired: Json): ReadonlySet<string> {
  const names = new Set([...Object.keys(stored), ...Object.keys(desired)]);
  return new Set([...names].filter((name) => canonical(stored[name]) !== canonical(desired[name])));
}

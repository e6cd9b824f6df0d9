// What a field of a registered thing is (design 10): a name on the wire, in documents and of the column, a kind that knows its
// JSON Schema, form input and SQL cell, and what is said about it. A thing is one table of such fields in JSON order; types,
// defaults, validation, JSON, rows, documents, forms, flags, OpenAPI and docs derive from it. Pure data; nothing loads TypeBox.

export type Json = Readonly<Record<string, unknown>>;

type Choices = Readonly<Record<string, { readonly label: string }>>;

/** A member of a value, for which forms have an input of its own; with names, those to choose from or to be offered. */
export interface Part {
  readonly name: string;
  readonly label: string;
  readonly input: 'text' | 'number' | 'checkbox' | 'select' | 'words' | 'paragraph';
  readonly names?: readonly string[];
}

/** A type of value: text, uri, list and so on. Methods, not properties, so that one table can mix kinds. */
export interface Kind<V, Cell extends string | number> {
  /** JSON Schema with its bounds. */
  readonly shape: Json;
  readonly input:
    | 'text'
    | 'paragraph'
    | 'lines'
    | 'select'
    | 'checks'
    | 'checkbox'
    | 'number'
    | 'json'
    | 'limit'
    | 'session'
    | 'secret'
    | 'rows'
    | 'pairs'
    | 'parts'
    | 'secret-parts'
    | 'blocks'
    | 'keys'
    | 'password'
    | 'none';
  /** Of what forms ask for in parts: the members of each row, of a name and a value, or of the one object. */
  readonly parts?: readonly Part[];
  /** The names a value is chosen from, and what people read beside them. */
  readonly names?: readonly string[];
  readonly choices?: Choices;
  store(value: V): Cell;
  load(cell: Cell): V;
  /** From JSON that has the shape, and back, where JSON differs from the value. */
  read?(json: unknown, before?: V): V;
  show?(value: V): unknown;
  /** As documents say it, where that differs. */
  say?(value: V): unknown;
}

export interface About<V> {
  /** Neither default nor required: the value may be absent, which is null on the wire and in SQL. */
  readonly default?: V;
  readonly required?: true;
  /** English; its key for translations is `<thing>.<name>`. */
  readonly label: string;
  readonly help?: string;
  /** The part of a form it stands in; the first part without one. */
  readonly tab?: string;
  /** Long flag of the command line, without dashes; without one there is none. */
  readonly cli?: string;
  /** `new`: forms offer it when a thing is made, and only show it afterwards. */
  readonly form?: 'new';
  /** What a caller of the Management API needs to write it, where fields of one thing need different ones. */
  readonly capability?: string;
  /** When the Management API and forms take it, if not always; documents take every field but our own. */
  readonly write?: 'create' | 'change' | 'never';
  /** Of its column, where that has another name. */
  readonly column?: string;
  /** Longer than an index takes: found by its hash, which the column beside it has (`<column>_hash`). */
  readonly hashed?: true;
  /** Ours: written by us alone; documents do not have it. */
  readonly own?: true;
  /** Never shown. */
  readonly hidden?: true;
  /** What is wrong with a value of the right shape, in the words of the thing's refusals. */
  check?(value: V): string | undefined;
}

type Absent<G, None> = G extends { required: true } | { default: unknown } ? never : None;

type ColumnOf<G, N extends string> = G extends { readonly column: infer Column extends string } ? Column : N;

export interface Field<
  N extends string = string,
  V = unknown,
  C extends string | number | null = string | number | null,
  Column extends string = string,
> {
  readonly name: N;
  readonly column: Column;
  readonly kind: Kind<NonNullable<V>, NonNullable<C>>;
  readonly about: About<NonNullable<V>>;
  /** Compile time only. */
  readonly value?: V;
}

export type Fields = Readonly<Record<string, Field>>;
/** Fields that nest as their JSON does. */
export interface Table {
  readonly [key: string]: Field | Table;
}
type ValueOf<F> = F extends { readonly value?: infer V; readonly kind: unknown } ? V : ValuesOf<F>;
export type ValuesOf<T> = { readonly [K in keyof T]: ValueOf<T[K]> };
/** The JSON of a change: any of the fields, null for one that is to be absent. */
export type ChangeOf<T extends Fields> = {
  readonly [F in T[keyof T] as F['name']]?: undefined extends ValueOf<F> ? Exclude<ValueOf<F>, undefined> | null : ValueOf<F>;
};

/** Declares a field; its type says whether the value may be absent. */
export const field = <const N extends string, V, C extends string | number, const G extends About<V>>(
  name: N,
  kind: Kind<V, C>,
  about: G,
) =>
  ({ name, column: about.column ?? name, kind, about }) as unknown as Field<
    N,
    V | Absent<G, undefined>,
    C | Absent<G, null>,
    ColumnOf<G, N>
  >;

/** What stands beside the fields that are given: we alone write it. */
const ours = { label: '', write: 'never', own: true } as const;
export const ownField = <const N extends string, V, C extends string | number, const G extends Partial<About<V>> = object>(
  name: N,
  kind: Kind<V, C>,
  more: G = {} as G,
) => field(name, kind, { ...ours, ...more });

const same = { store: <Value>(value: Value): Value => value, load: <Value>(cell: Value): Value => cell };

export const text = (charsMax: number): Kind<string, string> => ({
  shape: { type: 'string', minLength: 1, maxLength: charsMax },
  input: 'text',
  ...same,
});

/** One of some names; with a table of them, forms show their labels. */
export const choice = <const Name extends string>(names: readonly Name[], choices?: Choices): Kind<Name, string> => ({
  shape: { type: 'string', enum: names },
  input: 'select',
  names,
  ...(choices === undefined ? {} : { choices }),
  store: (value) => value,
  load: (cell) => cell as Name, // checked before it was stored
});

export const flag: Kind<boolean, number> = {
  shape: { type: 'boolean' },
  input: 'checkbox',
  store: Number,
  load: (cell) => cell === 1,
};

/** A whole number: of things, or of seconds. */
export const count = (minimum: number, maximum: number): Kind<number, number> => ({
  shape: { type: 'integer', minimum, maximum },
  input: 'number',
  ...same,
});

export const seconds = count;

/** A moment of the database, in epoch milliseconds; shown as text. */
export const time: Kind<number, number> = {
  shape: { type: 'string', format: 'date-time' },
  input: 'none',
  ...same,
  show: (epochMs) => new Date(epochMs).toISOString(),
};

/** Any JSON of a shape, kept as its text. */
export const json = <V>(shape: Json): Kind<V, string> => ({ shape, input: 'json', store: JSON.stringify, load: JSON.parse });

/** Values of one kind, each once; kept as JSON text, read whole and never queried. */
export const list = <V extends string>(of: Kind<V, string>, itemsMax?: number): Kind<readonly V[], string> => ({
  ...json(itemsMax === undefined ? { type: 'array', items: of.shape } : { type: 'array', items: of.shape, maxItems: itemsMax }),
  input: of.input === 'select' ? 'checks' : 'lines',
  ...(of.names === undefined ? {} : { names: of.names }),
  ...(of.choices === undefined ? {} : { choices: of.choices }),
  read: (values) => [...new Set(values as readonly V[])], // of the shape
});

export interface FieldFault {
  readonly field: string;
  readonly text: string;
}

/** The object that has `entry` of each field, keys and values. */
export const each = (
  table: Fields,
  entry: (key: string, field: Field) => readonly [key: string, value: unknown],
): Record<string, unknown> => Object.fromEntries(Object.entries(table).map(([key, one]) => entry(key, one)));

export const mayBeAbsent = ({ about }: Field): boolean => about.required !== true && about.default === undefined;

/** The first required field that something new does not name. */
export const missingField = (table: Fields, given: Json): string | undefined =>
  Object.values(table).find(({ name, about }) => about.required === true && given[name] === undefined)?.name;

/** The first value of a change that is wrong by itself. */
export function valueFault(table: Fields, given: Json): FieldFault | undefined {
  for (const one of Object.values(table)) {
    const value = given[one.name];
    if (value === undefined || (value === null && mayBeAbsent(one))) continue;
    const fault = one.about.check?.(value as NonNullable<unknown>); // of the shape, which was checked before
    if (fault !== undefined) return { field: one.name, text: fault };
  }
  return undefined;
}

/** The fields the Management API takes when a thing is made, or changed. */
export const takenAt = (table: Fields, when: 'create' | 'change'): Fields =>
  Object.fromEntries(Object.entries(table).filter(([, { about }]) => about.write === undefined || about.write === when));

/** The fields that are shown. */
export const shownFields = (table: Fields): Fields =>
  Object.fromEntries(Object.entries(table).filter(([, { about }]) => about.hidden !== true));

/** The fields a document has. */
export const givenFields = (table: Fields): Fields =>
  Object.fromEntries(Object.entries(table).filter(([, { about }]) => about.own !== true));

/** The values that JSON names; null makes absent, or the default. */
export function readChange<T extends Fields>(table: T, given: Json, before?: ValuesOf<T>): Partial<ValuesOf<T>> {
  const named = Object.entries(table).filter(([, { name }]) => given[name] !== undefined);
  return Object.fromEntries(
    named.map(([key, { name, kind, about }]) => {
      const value = given[name];
      return [key, value === null ? about.default : (kind.read?.(value, before?.[key] as NonNullable<unknown> | undefined) ?? value)];
    }),
  ) as Partial<ValuesOf<T>>; // keys of the table, each with a value of its kind
}

/** Lays JSON over the values before, or over the defaults: what it does not name stays. */
export function overlay<T extends Fields>(table: T, given: Json, before?: ValuesOf<T>): ValuesOf<T> {
  const kept = each(table, (key, { about }) => [key, before === undefined ? about.default : before[key]]);
  return { ...kept, ...readChange(table, given, before) } as ValuesOf<T>; // the table's own keys
}

export const isField = (one: Field | Table): one is Field => Object.hasOwn(one, 'kind');

/** The fields of a table that nests, each with its dotted path. */
export const leavesOf = (table: Table, prefix = ''): readonly (readonly [path: string, one: Field])[] =>
  Object.entries(table).flatMap(([key, one]) =>
    isField(one) ? [[`${prefix}${one.name}`, one] as const] : leavesOf(one, `${prefix}${key}.`),
  );

/** The same table, each of its fields that names no capability written by whoever has this one. */
export const under = <const T extends Table>(capability: string, table: T): T =>
  Object.fromEntries(
    Object.entries(table).map(([key, one]) => [
      key,
      isField(one) ? { ...one, about: { capability, ...one.about } } : under(capability, one),
    ]),
  ) as T; // the same keys, each with the same kind

/** What the fields that a change names need, each once; a change whose shape was checked. */
export const neededFor = (table: Table, change: Json): readonly string[] => [
  ...new Set(
    Object.entries(table).flatMap(([key, one]): readonly string[] => {
      const given = change[isField(one) ? one.name : key];
      if (given === undefined) return [];
      return isField(one) ? (one.about.capability === undefined ? [] : [one.about.capability]) : neededFor(one, given as Json);
    }),
  ),
];

/** The defaults as JSON. */
export const defaultsOf = (table: Table): Json =>
  Object.fromEntries(
    Object.entries(table).map(([key, one]) => (isField(one) ? [one.name, shownValue(one, one.about.default)] : [key, defaultsOf(one)])),
  );

/** The values as JSON: every field by its name, null for what is absent. */
export const toJson = <T extends Fields>(table: T, values: ValuesOf<T>): Json =>
  each(table, (key, one) => [one.name, shownValue(one, values[key])]);

const shownValue = ({ kind }: Field, value: unknown): unknown =>
  value === undefined ? null : (kind.show?.(value as NonNullable<unknown>) ?? value);

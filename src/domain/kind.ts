// What a registered thing is, beside its fields (design 17): its names, its key, what may be taken, how many there may be, the rules
// between its fields, and who may read, write and hand out what it hands out. A kind is one value of this type, listed in kinds.ts;
// storage, the operations, the Management API, documents, the console and the command line read it. Pure data and pure functions.
import { type FieldFault, type Fields, type Json, shownFields, toJson, type ValuesOf, valueFault } from './field.ts';
import type { Capability } from './people/capabilities.ts';
import type { Tenant } from './tenant/tenant.ts';

/** A thing of a kind as it is stored. Its id is its key, also where that is one of its fields. */
export type Thing<T extends Fields, Id extends string = string> = ValuesOf<T> & {
  readonly id: Id;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};

/** Why a thing cannot be as somebody wants it. */
export interface KindFault extends FieldFault {
  /** Absent: `text` goes on after the name of the field. Otherwise it is a sentence. */
  readonly is?: 'taken' | 'full' | 'sentence';
  /** What a document is told instead, and where below the item. */
  readonly inDocument?: { readonly path: readonly (string | number)[]; readonly expected: string; readonly found: unknown };
}

export interface Context<T extends Fields = Fields> {
  readonly tenant: Pick<Tenant, 'slug' | 'baseUrl' | 'managementApi' | 'customAttributes' | 'mappings' | 'settings'>;
  /** As it is stored; undefined for a new one. */
  readonly before?: Thing<T> | undefined;
  /** Whether it has a secret, or is given one. */
  readonly hasSecret: boolean;
}

/** One sentence each, for the description of the Management API. */
export interface Summaries {
  readonly create: string;
  readonly list: string;
  readonly read: string;
  readonly change: string;
  readonly remove: string;
}

/** What the console says about a kind. */
export interface Pages {
  readonly singular: string;
  readonly plural: string;
  /** What such a thing is for, while there is none. */
  readonly about: string;
  readonly searchHint: string;
  readonly title: string;
  /** What a deletion does; without it, what was issued to it ends. */
  readonly deletion?: string;
}

/** Things every tenant has, which are shown first and never changed. */
export interface Always {
  /** The member of the JSON that says so. */
  readonly mark: string;
  readonly description: string;
  readonly things: (tenant: Context['tenant']) => readonly Json[];
  /** What whoever would change one is told. */
  readonly fault: KindFault;
}

/** A secret that is made here: shown once, and replaced by another on request. */
export interface MadeSecret<T extends Fields> {
  /** Of so many random bytes as a secret has. */
  readonly make: (random: Uint8Array) => string;
  /** Where the secret before a rotation is kept, and until when it holds too. */
  readonly previous: { readonly key: keyof T & string; readonly untilMs: keyof T & string; readonly overlapMs: number };
  readonly description: string;
  /** What a rotation answers: the thing with its secret, or the secret alone. */
  readonly rotation: {
    readonly summary: string;
    readonly status: 200 | 201;
    readonly answer: 'thing' | 'secret';
    readonly confirm: string;
  };
}

/** What a thing keeps from everybody: a field that is hidden, and sealed where it is stored (crypto/sealed-columns.ts). */
export interface Secret<T extends Fields> {
  readonly key: keyof T & string;
  readonly made?: MadeSecret<T>;
  /** It is given as a part of another field, which is stored without it. */
  readonly inside?: {
    readonly name: string;
    /** The members it may be given as. */
    readonly members: readonly string[];
    readonly part: (given: unknown) => { readonly value: unknown; readonly secret: string | undefined };
    readonly join: (value: unknown, secret: string) => unknown;
    /** What a mistake in it may show. */
    readonly told: (given: unknown) => unknown;
  };
  /** The addresses it is told to, and what it authenticates there: when one is another, it must be given again. */
  goesTo?(values: ValuesOf<T>): readonly (string | undefined)[];
  /** What is said to whoever does not give it again, and of a document that does not. */
  again?(values: ValuesOf<T>): FieldFault & { readonly conflict: string };
  /** What is said to whoever gives none, where there is none. */
  missing?(values: ValuesOf<T>): FieldFault | undefined;
}

export interface Kind<T extends Fields = Fields> {
  /** In the types and targets of events and on the command line: `resource.created`, `resource:<id>`. */
  readonly noun: string;
  /** Its table, its section of documents and, with hyphens, its path. */
  readonly plural: string;
  /** What one item of a document is called. */
  readonly called: string;
  readonly fields: T;
  /** The column of its key: a UUID made here, or a field that never changes. */
  readonly key: 'id' | (keyof T & string);
  /** A field whose value names a thing too, where its id is asked for. */
  readonly alias?: keyof T & string;
  /** Lists go by this field; without it by the key. Only where there may be few. */
  readonly listedBy?: keyof T & string;
  /** Values that no two have, the first being what documents know a thing by, and what is said to whoever wants one that is taken. */
  readonly unique: readonly (readonly [key: keyof T & string, text: string])[];
  /** Every spelling of a value that documents know a thing by, itself included; two things do not have two of them. Without it equal values alone are one. */
  readonly spellings?: (value: string) => readonly string[];
  /** How many a tenant may have, whoever makes them; the field that is told about, and what many of them are called. */
  readonly atMost?: { readonly count: number; readonly field: string; readonly of: string };
  /** A deleted one stays as a row that nobody reads, until what hangs on it is gone. */
  readonly marksDeleted?: true;
  /** Its JSON does not say when it was made and changed. */
  readonly timeless?: true;
  readonly always?: Always;
  readonly secret?: Secret<T>;
  /** What its fields say against their values are sentences. */
  readonly inSentences?: true;
  /** Values that hang on others. */
  complete?(values: ValuesOf<T>, given: Json, before: ValuesOf<T> | undefined): ValuesOf<T>;
  /** What is wrong with values together, or with one of them in this tenant. */
  rules?(values: ValuesOf<T>, context: Context<NoInfer<T>>): KindFault | undefined;
  readonly power: {
    readonly read: Capability;
    readonly write: Capability;
    /** What a thing hands out: whoever makes, changes or deletes one, holds it, before and after. */
    needs?(values: ValuesOf<T>, tenant: Context['tenant']): readonly Capability[];
    /** What a change, a new thing (without before) or a deletion (without after) wants for what is other by it. */
    toChange?(before: ValuesOf<T> | undefined, after: ValuesOf<T> | undefined, tenant: Context['tenant']): readonly Capability[];
    /** A deletion hands out nothing, and wants none of it. */
    readonly isFreelyDeleted?: true;
  };
  /** The texts a search looks at. */
  searched(values: ValuesOf<T>): readonly (string | undefined)[];
  /** A field of our own that has them folded, where there may be too many things to read them all. */
  readonly searchedIn?: keyof T & string;
  /** What events say beside the names of changed fields. */
  readonly told: {
    created(values: ValuesOf<T>): Json;
    changed?(values: ValuesOf<T>): Json;
    deleted?(values: ValuesOf<T>): Json;
    /** Of a change that no document made, where that is an event of its own. */
    edited?(before: Thing<T>, after: Thing<T>): { readonly act: 'changed'; readonly data: Json };
  };
  /** Documents leave defaults out: all of them, or all but these, on which others may hang. Without it, only what is empty. */
  readonly defaultsLeftOut?: { readonly but: readonly string[] };
  /** What a document means that does not say it, where a new thing begins with something else. */
  readonly unsaid?: Json;
  readonly summaries: Summaries;
  readonly pages: Pages;
}

/** Declares a kind; its functions have the types of its fields. */
export const defineKind = <const T extends Fields, const Plural extends string>(
  kind: Kind<T> & { readonly plural: Plural },
): Kind<T> & { readonly plural: Plural } => kind;

export const pathOfKind = ({ plural }: Pick<Kind, 'plural'>): string => `/${plural.replaceAll('_', '-')}`;

/** The name on the wire of a field. */
export const nameOfField = (kind: { readonly fields: Fields }, key: string): string => kind.fields[key]?.name ?? key;

/** The name on the wire of its secret; none has the empty one. */
export const secretNameOf = <T extends Fields>(kind: Pick<Kind<T>, 'fields' | 'secret'>): string =>
  kind.secret === undefined ? '' : nameOfField(kind, kind.secret.key);

/** Where it stands in what is given. */
export const secretPathsOf = <T extends Fields>(kind: Pick<Kind<T>, 'fields' | 'secret'>): readonly string[] =>
  kind.secret === undefined
    ? []
    : [secretNameOf(kind), ...(kind.secret.inside?.members.map((one) => `${kind.secret!.inside!.name}.${one}`) ?? [])];

/** A fault for whoever wants one more than there may be. */
export const fullFault = ({ count, field, of }: NonNullable<Kind['atMost']>): KindFault => ({
  field,
  is: 'full',
  text: `A tenant has at most ${count} ${of}.`,
});

/** What is wrong with values that are given, each by itself. */
export function givenFault({ fields, inSentences }: Pick<Kind, 'fields' | 'inSentences'>, given: Json): KindFault | undefined {
  const wrong = valueFault(fields, given);
  return wrong !== undefined && inSentences === true ? { ...wrong, is: 'sentence' } : wrong;
}

const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

/** A thing as it is shown. */
export const thingToJson = <T extends Fields>(kind: Kind<T>, thing: Thing<T>, more: Json = {}): Json => ({
  ...(kind.key === 'id' ? { id: thing.id } : {}),
  ...toJson(shownFields(kind.fields), thing),
  ...more,
  ...(kind.always === undefined ? {} : { [kind.always.mark]: false }),
  ...(kind.timeless === true ? {} : { created_at: isoTime(thing.createdAtMs), updated_at: isoTime(thing.updatedAtMs) }),
});

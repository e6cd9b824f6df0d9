// Registered things in documents (design 17): the section of a kind, made from its table of fields. A secret travels clear, and only when
// asked for; a document that says nothing of it leaves the known one alone, unless that would be told somewhere else.
import Type from 'typebox';
import { each, type Fields, givenFields, overlay, takenAt, toJson, type ValuesOf } from '../../domain/field.ts';
import { type Kind, type KindFault, nameOfField, secretNameOf, secretPathsOf, type Thing } from '../../domain/kind.ts';
import { uuidV7 } from '../../platform/random.ts';
import { ValueTaken } from '../../storage/engine/unique-violation.ts';
import { openSecret } from '../../tokens/kind-secret.ts';
import { movedSecret, type Wanted, wantedOf } from '../kind-values.ts';
import { addThing, dropThing, holdThing, type Registered, readNew, replaceThing } from '../kinds.ts';
import { closed, creationOf } from '../schema-pieces.ts';
import { WriteRefused } from '../taken.ts';
import {
  canonical,
  compact,
  DeclarationFault,
  type Declared,
  type Desired,
  faultAt,
  type Json,
  type Match,
  pageRows,
  type Section,
  type Kind as SectionKind,
  type Session,
  type Stored,
} from './document.ts';
import { uuid } from './kinds/uuid.ts';

/** What the other sections say against an item. @throws DeclarationFault */
export type Judge<T extends Fields> = (session: Session, desired: Desired, before: Thing<T> | undefined) => void;

/** The section of a kind. */
export function sectionOf<T extends Fields, Id extends string>(
  of: Registered<T, Id>,
  more: Pick<SectionKind, 'remember' | 'settle'> & {
    readonly judge?: Judge<T>;
    /** Whether one of this title is not among those a tenant may have so many of. */
    readonly isApart?: (session: Session, title: string) => boolean;
    /** What a document says otherwise than it is stored, as it is read and written. */
    readonly read?: (session: Session, declared: Declared) => Declared;
    readonly written?: (session: Session, item: Json) => Json;
  } = {},
): SectionKind {
  const registered = of as unknown as Registered<T>; // a document names ids by their texts
  const { kind, rows, effects } = registered;
  const section = kind.plural as Section; // test/unit/kinds.test.ts: documents have each
  return {
    section,
    noun: kind.called,
    schema: closed({ ...(hasId(kind) ? { id: Type.Optional(uuid) } : {}), ...creationOf(givenFields(kind.fields)).properties }),
    uniqueField: kind.unique.map(([key]) => nameOfField(kind, key)).join(' or '),
    secrets: [secretNameOf(kind)],
    secretPaths: secretPathsOf(kind),
    isConfiguration: true,
    examine: (session, declared) => examine(registered, session, more.read?.(session, declared) ?? declared, more.isApart),
    newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
    find: async (queries, session, items) => {
      const values = items.flatMap(({ title }) => spellingsOf(kind, title));
      const wanted = { ids: items.flatMap(({ id }) => id ?? []), key: kind.unique[0]![0], values };
      const things = await rows.findAny(queries, session.tenant.id, wanted);
      return items.map((desired) => matchOf(kind, session, desired, things, more.judge));
    },
    ...(effects.prepare === undefined
      ? {}
      : { prepare: async ({ administration, tenant }) => void (await effects.prepare?.(administration, tenant.id)) }),
    ...(kind.atMost === undefined && more.remember === undefined
      ? {}
      : {
          remember: (session, id, desired) => {
            if (more.isApart?.(session, desired.title) !== true) knownOf(session, section).set(desired.title, id);
            more.remember?.(session, id, desired);
          },
        }),
    ...writesOf(registered),
    ...(more.settle === undefined ? {} : { settle: more.settle }),
    page: async (queries, session, after) => {
      if (kind.listedBy !== undefined && after !== '') return []; // the first page has them all
      const limit = kind.listedBy === undefined ? pageRows : Number.MAX_SAFE_INTEGER;
      return (await rows.page(queries, session.tenant.id, { after, limit })).map((thing) => storedOf(kind, session, thing));
    },
    write: (session, { id, fields }, withSecrets) => {
      const item = { ...(hasId(kind) ? { id } : {}), ...writtenOf(kind, fields, withSecrets) };
      return more.written?.(session, item) ?? item;
    },
  };
}

const hasId = ({ key, alias }: Pick<Kind, 'key' | 'alias'>): boolean => key === 'id' && alias === undefined;

const writingOf = ({ administration, tenant, by, said }: Session) => ({
  store: administration,
  acting: { tenant, by },
  keeps: (section: string, id: string) => said.get(section as Section)?.has(id) === true,
});

/** What is refused because of others, where it stands. @throws DeclarationFault */
async function writtenAt<Value>(declared: Declared, written: Promise<Value>): Promise<Value> {
  try {
    return await written;
  } catch (error) {
    if (!(error instanceof WriteRefused)) throw error;
    const { path, expected, found } = placeOf(error.fault, undefined);
    throw faultAt(declared, path, expected, found);
  }
}

/** What a section does to the rows of its kind. */
function writesOf<T extends Fields>(registered: Registered<T>): Pick<SectionKind, 'create' | 'update' | 'remove'> {
  const { kind } = registered;
  return {
    create: async (queries, session, items) => {
      for (const { id, desired } of items) {
        const made = addThing(registered, queries, writingOf(session), { id, ...wholeOf(kind, desired) });
        const added = await writtenAt(desired.declared, made);
        if (!added.ok) throw new ValueTaken(added.fault.field);
      }
    },
    update: async (queries, session, items) => {
      for (const { stored, desired, changed } of items) {
        const before = await holdThing(registered, queries, session.tenant.id, stored.id);
        if (before === undefined) continue;
        const wanted = wholeOf(kind, desired, before);
        const moved = movedSecret(kind, before, wanted);
        if (moved !== undefined) throw faultAt(desired.declared, [], 'its secret', moved.conflict); // since it was compared
        // One that is known is not another, which would end a rotation.
        const isKnown = storedOf(kind, session, before).fields[secretNameOf(kind)] === wanted.clear;
        const settled = isKnown ? { ...wanted, clear: undefined } : wanted;
        const named = [...changed].map((name) => (name === secretNameOf(kind) ? (kind.secret?.inside?.name ?? name) : name));
        await replaceThing(registered, queries, writingOf(session), { before, wanted: settled, fields: [...new Set(named)] });
      }
    },
    remove: async (queries, session, { id }) => {
      const thing = await holdThing(registered, queries, session.tenant.id, id);
      const whole: Declared = { section: kind.plural as Section, path: kind.plural, value: {}, lineOf: () => undefined };
      const done = thing !== undefined && (await writtenAt(whole, dropThing(registered, queries, writingOf(session), thing)));
      if (typeof done === 'object') throw new DeclarationFault({ ...placeOf(done, undefined), path: kind.plural });
    },
  };
}

const spellingsOf = ({ spellings }: Pick<Kind, 'spellings'>, title: string): readonly string[] => spellings?.(title) ?? [title];

const titleOf = <T extends Fields>({ unique }: Kind<T>, values: ValuesOf<T>): string => String((values as Json)[unique[0]![0]]);

/** What is known of the section so far, of the database and of the document: ids by titles. */
export function knownOf({ known }: Session, section: Section): Map<string, string> {
  const own = known.get(section) ?? new Map<string, string>();
  known.set(section, own);
  return own;
}

/** One more than a tenant may have is refused where it stands, whether the others are there or in the document. @throws DeclarationFault */
function requireRoom(
  session: Session,
  declared: Declared,
  { count, of }: { readonly count: number; readonly of: string },
  { id, title }: Pick<Desired, 'id' | 'title'>,
): void {
  const known = knownOf(session, declared.section);
  if (known.has(title) || (id !== undefined && [...known.values()].includes(id))) return;
  if (known.size >= count) throw faultAt(declared, [], `at most ${count} ${of} in the tenant`, title);
  known.set(title, id ?? '');
}

/** What the item says, and means without saying it; not its id. */
function itemOf({ unsaid }: Pick<Kind, 'unsaid'>, { value }: Declared): Json {
  const { id: _id, ...item } = value as Json; // checked by the schema
  return { ...unsaid, ...item };
}

function examine<T extends Fields>(
  registered: Registered<T>,
  session: Session,
  declared: Declared,
  isApart?: (session: Session, title: string) => boolean,
): Desired {
  const { id } = declared.value as { readonly id?: string }; // checked by the schema
  const { kind } = registered;
  const item = itemOf(kind, declared);
  const read = readNew(registered, contextOf(session), item);
  if (!read.ok) {
    const { path, expected, found } = placeOf(read.fault, withoutSecret(kind, item));
    throw faultAt(declared, path, expected, found);
  }
  const title = titleOf(kind, read.values);
  if (kind.atMost !== undefined && isApart?.(session, title) !== true) requireRoom(session, declared, kind.atMost, { id, title });
  return { id, title, fields: fieldsOf(kind, read), declared };
}

/** The tenant with the attributes the document adds. What has expired since is restored like the rest. */
const contextOf = ({ tenant, attributes }: Session) => ({ tenant: { ...tenant, customAttributes: [...attributes.values()] }, nowMs: 0 });

/** Where a fault stands in a document, and what was expected there. */
function placeOf({ field, text, is, inDocument }: KindFault, item: Json | undefined) {
  const expected = is === 'sentence' ? `another value: ${text}` : `a value that ${text}`;
  return inDocument ?? { path: [field], expected, found: item?.[field] };
}

/** What may be shown of an item: a mistake must not print a secret. */
function withoutSecret<T extends Fields>(kind: Kind<T>, item: Json): Json {
  const { inside } = kind.secret ?? {};
  const name = inside?.name ?? secretNameOf(kind);
  if (item[name] === undefined) return item;
  return { ...item, [name]: inside === undefined ? 'another text' : inside.told(item[name]) };
}

/** All that a document says of a thing: what it does not name is as for something new, but for what we alone write. */
function wholeOf<T extends Fields>(kind: Kind<T>, { declared }: Desired, before?: Thing<T>): Wanted<T> {
  const ours = Object.entries(kind.fields).flatMap(([key, { about }]) =>
    about.own === true && before ? [[key, (before as Json)[key]]] : [],
  );
  return wantedOf(kind, itemOf(kind, declared), { ...overlay(kind.fields, {}), ...Object.fromEntries(ours) });
}

function matchOf<T extends Fields>(
  kind: Kind<T>,
  session: Session,
  desired: Desired,
  things: readonly Thing<T>[],
  judge: Judge<T> | undefined,
): Match {
  const { id, title, fields } = desired;
  const unique = nameOfField(kind, kind.unique[0]![0]);
  const named = things.find((one) => titleOf(kind, one) === title);
  const thing = id === undefined ? named : things.find((one) => one.id === id);
  const isSpelled = (one: Thing<T>): boolean => one.id !== thing?.id && spellingsOf(kind, title).includes(titleOf(kind, one));
  const inUse = named ?? (thing !== undefined && titleOf(kind, thing) === title ? undefined : things.find(isSpelled));
  if (inUse !== undefined && inUse.id !== thing?.id) return { conflict: `${unique} is in use by ${kind.called} ${inUse.id}` };
  const stored = thing && storedOf(kind, session, thing);
  const fixed = stored && fixedFields(kind).find((name) => canonical(stored.fields[name]) !== canonical(fields[name]));
  if (fixed !== undefined) {
    const is = String(stored?.fields[fixed]);
    return { conflict: fixed === unique ? `${fixed} stays ${is}` : `${fixed} is fixed: it is ${is}` };
  }
  judge?.(session, desired, thing);
  if (thing === undefined || stored === undefined) return { stored };
  const secret = secretNameOf(kind);
  if (fields[secret] !== undefined) return { stored };
  const moved = movedSecret(kind, thing, wholeOf(kind, desired, thing));
  if (moved !== undefined) return { conflict: moved.conflict };
  const { [secret]: _clear, ...known } = stored.fields;
  return { stored: { ...stored, fields: known } };
}

/** Names of the fields that never change. */
const fixedFields = ({ fields }: Pick<Kind, 'fields'>): readonly string[] =>
  Object.values(takenAt(fields, 'create')).flatMap(({ name, about }) => (about.write === 'create' ? [name] : []));

function storedOf<T extends Fields>(kind: Kind<T>, { administration, tenant }: Session, thing: Thing<T>): Stored {
  const sealed = kind.secret && (thing as Json)[kind.secret.key];
  const of = { table: kind.plural, tenant: tenant.id, id: thing.id };
  const clear = sealed === undefined ? undefined : openSecret(administration.encryption, of, String(sealed));
  return { id: thing.id, title: titleOf(kind, thing), fields: fieldsOf(kind, { values: thing, clear }) };
}

/** Every field written out, as two things are compared; what is empty says nothing. */
function fieldsOf<T extends Fields>(kind: Kind<T>, { values, clear }: Wanted<T>): Json {
  const given = givenFields(kind.fields);
  const said = each(given, (key, { name, kind: { say } }) => [name, say?.((values as Json)[key] as NonNullable<unknown>)]);
  return compact({ ...toJson(given, values), ...compact(said), ...(kind.secret && { [secretNameOf(kind)]: clear }) });
}

/** What an export writes of a thing. */
function writtenOf<T extends Fields>(kind: Kind<T>, { [secretNameOf(kind)]: secret, ...fields }: Json, withSecrets: boolean): Json {
  const written = differing(kind, fields);
  if (kind.secret === undefined) return written;
  const { inside } = kind.secret;
  if (inside === undefined) return withSecrets ? compact({ ...written, [secretNameOf(kind)]: secret }) : written;
  const { [inside.name]: holder, ...others } = written;
  return { ...others, [inside.name]: withSecrets && secret !== undefined ? inside.join(holder, String(secret)) : holder };
}

function differing<T extends Fields>(kind: Kind<T>, fields: Json): Json {
  const { defaultsLeftOut: left, unsaid } = kind;
  if (left === undefined) return fields;
  const kept = Object.fromEntries(left.but.map((name) => [name, fields[name]]));
  const defaults = toJson(kind.fields, wantedOf(kind, { ...unsaid, ...kept }, undefined).values);
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => left.but.includes(name) || canonical(value) !== canonical(defaults[name])),
  );
}

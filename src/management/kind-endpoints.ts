// The endpoints of a kind of registered thing (design 17): list with search, read, create, change, delete.
import Type, { type TObject, type TProperties } from 'typebox';
import type { Acting } from '../administration/kind-effects.ts';
import {
  changeThing,
  createThing,
  findNamed,
  type KindDone,
  type KindRefused,
  type Registered,
  removeThing,
  rotateSecret,
} from '../administration/kinds.ts';
import { changeOf, creationOf, propertiesOf } from '../administration/schema-pieces.ts';
import { type Fields, shownFields, takenAt } from '../domain/field.ts';
import { foldKey } from '../domain/fold.ts';
import { type Kind, type KindFault, nameOfField, pathOfKind, secretNameOf, type Thing, thingToJson } from '../domain/kind.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Queries } from '../storage/engine/database.ts';
import type { SignedInKind } from '../storage/registry/last-sign-ins.ts';
import { byOf, type Call, conflict, type Endpoint, endpoint, invalidField, type Json, notFound } from './endpoint.ts';
import { answerSearched, listOf, pageOf } from './paging.ts';
import { dateTime, listAnswer, nullable, searchQuery } from './schemas.ts';
import { signedIn, withLastSignIn, withLastSignIns } from './sign-in/last-sign-in.ts';

type AnyCall = Call<unknown, unknown>;

/** What answers hold beside the fields of a kind, and whom a change acts on. */
export interface Besides<T extends Fields = Fields, Id extends string = string> {
  readonly properties?: TProperties;
  /** Reads what they are made of, once for all things of an answer. */
  readonly load?: (queries: Queries, tenant: Tenant, things: readonly Thing<T, Id>[]) => Promise<{ json(thing: Thing<T, Id>): Json }>;
  /** People sign in to it: a reader is told when somebody did. */
  readonly signsIn?: SignedInKind;
  readonly actsOn?: NonNullable<Endpoint['actsOn']>;
}

/** The endpoints every kind has. */
export function kindEndpoints<T extends Fields, Id extends string>(of: Registered<T, Id>, more?: Besides<T, Id>): readonly Endpoint[] {
  const registered = of as unknown as Registered<T>; // paths name ids by their texts
  const besides = more as unknown as Besides<T> | undefined;
  const { kind } = registered;
  const acts = besides?.actsOn === undefined ? {} : { actsOn: besides.actsOn };
  const { fields, power, summaries } = kind;
  const path = pathOfKind(kind);
  const one = `${path}/:${kind.key}`;
  const answer = answerOf(registered, besides);
  const signedInTo = besides?.signsIn && { kind: besides.signsIn, idName: nameOfField(kind, kind.key) };
  const answered = async (done: KindDone<T>, call: AnyCall): Promise<Json> =>
    shown(kind, done, await jsonOf(registered, besides, call, done.ok ? [done.thing] : []));
  return [
    endpoint({
      ...{ method: 'POST', path, capability: power.write, summary: summaries.create, status: 201, answer: withSecret(kind, answer) },
      body: creationOf(takenAt(fields, 'create')),
      handle: async (call) => {
        const given = call.body as Json; // checked by the schema of the same fields
        return answered(await createThing(registered, call.services, actingOf(call), given), call);
      },
    }),
    endpoint({
      ...{ method: 'GET', path, capability: power.read, summary: summaries.list, status: 200, answer: listAnswer(answer) },
      query: searchQuery,
      handle: async (call) => {
        const list = withAlways(kind, call, await listed(registered, call, (things) => jsonOf(registered, besides, call, things)));
        return signedInTo === undefined ? list : withLastSignIns(call, signedInTo, list);
      },
    }),
    endpoint({
      ...{ method: 'GET', path: one, capability: power.read, summary: summaries.read, status: 200, answer },
      handle: async (call) => {
        const id = idOf(kind, call);
        const always = alwaysOf(kind, call.tenant).find((json) => json[kind.key] === id);
        if (always !== undefined) return always;
        const thing = await loadThing(registered, call);
        const json = (await jsonOf(registered, besides, call, [thing]))(thing);
        return signedInTo === undefined ? json : withLastSignIn(call, signedInTo, json);
      },
    }),
    endpoint({
      ...{ method: 'PATCH', path: one, capability: power.write, summary: summaries.change, status: 200, answer, ...acts },
      body: changeOf(propertiesOf(takenAt(fields, 'change'))),
      handle: async (call) => {
        const given = call.body as Json; // checked by the schema of the same fields
        const done = await changeThing(registered, call.services, actingOf(call), idOf(kind, call), given);
        return answered(done, call);
      },
    }),
    ...secretEndpoints(registered, answer),
    endpoint({
      ...{ method: 'DELETE', path: one, capability: power.write, summary: summaries.remove, status: 204, answer: undefined, ...acts },
      handle: async (call) => {
        const done = await removeThing(registered, call.services, actingOf(call), idOf(kind, call));
        if (!done.ok) throw refusalOf(kind, done);
      },
    }),
  ];
}

type ToJson<T extends Fields> = (thing: Thing<T>) => Json;

/** How these things are shown in an answer. */
export async function jsonOf<T extends Fields, Id extends string>(
  { kind }: Registered<T, Id>,
  besides: Besides<T, Id> | undefined,
  { services, tenant }: Pick<AnyCall, 'services' | 'tenant'>,
  things: readonly Thing<T, Id>[],
): Promise<(thing: Thing<T, Id>) => Json> {
  const more = besides?.load && (await services.database.read(tenant.id, (queries) => besides.load!(queries, tenant, things)));
  return (thing) => thingToJson(kind, thing, more?.json(thing));
}

/** The one that gives a thing another secret, where its kind has such. */
function secretEndpoints<T extends Fields>(registered: Registered<T>, answer: TObject): readonly Endpoint[] {
  const { kind } = registered;
  const rotation = kind.secret?.made?.rotation;
  if (rotation === undefined) return [];
  const { summary, status, answer: answered } = rotation;
  return [
    endpoint({
      ...{ method: 'POST', path: `${pathOfKind(kind)}/:${kind.key}/secret`, capability: kind.power.write, summary, status },
      answer: withSecret(kind, answered === 'thing' ? answer : Type.Object({})),
      handle: async (call) => {
        const done = await rotateSecret(registered, call.services, actingOf(call), idOf(kind, call));
        const whole = shown(kind, done, (thing) => thingToJson(kind, thing));
        const name = secretNameOf(kind);
        return answered === 'thing' ? whole : { [name]: whole[name] };
      },
    }),
  ];
}

/** The thing that a path names. @throws management.not_found */
export async function loadThing<T extends Fields, Id extends string>(registered: Registered<T, Id>, call: AnyCall): Promise<Thing<T, Id>> {
  const { services, tenant } = call;
  const id = idOf(registered.kind, call);
  const thing = await services.database.read(tenant.id, (queries) => findNamed(registered, queries, tenant.id, id));
  if (thing === undefined) throw unknownThing(registered.kind);
  return thing;
}

/** An answer with the secret that was made, where one was. */
function withSecret<T extends Fields>(kind: Kind<T>, answer: TObject): TObject {
  const made = kind.secret?.made;
  if (made === undefined) return answer;
  return Type.Object({ ...answer.properties, [secretNameOf(kind)]: Type.String({ description: made.description }) });
}

const idOf = ({ key }: Pick<Kind<never>, 'key'>, { params }: Pick<AnyCall, 'params'>): string => params[key]!;
export const actingOf = (call: AnyCall): Acting => ({ tenant: call.tenant, by: byOf(call) });
const unknownThing = ({ noun }: Pick<Kind, 'noun'>): Error => notFound(`unknown_${noun}`);

/** The JSON Schema of a thing as it is shown. */
export function answerOf<T extends Fields, Id extends string>({ kind }: Registered<T, Id>, besides: Besides<T, Id> | undefined): TObject {
  const { always } = kind;
  const time = always === undefined ? dateTime : nullable(dateTime);
  const properties: TProperties = {
    ...(kind.key === 'id' ? { id: Type.String() } : {}),
    ...propertiesOf(shownFields(kind.fields)),
    ...besides?.properties,
    ...(always === undefined ? {} : { [always.mark]: Type.Boolean({ description: always.description }) }),
    ...(kind.timeless === true ? {} : { created_at: time, updated_at: time }),
    ...(besides?.signsIn === undefined ? {} : signedIn),
  };
  return Type.Object(properties);
}

async function listed<T extends Fields>(
  { kind, rows }: Registered<T>,
  call: Parameters<typeof answerSearched>[0],
  shownAs: (things: readonly Thing<T>[]) => Promise<ToJson<T>>,
): Promise<Json> {
  const list = await (kind.searchedIn === undefined ? listedFew({ kind, rows }, call) : listedMany({ rows }, call));
  const things = list['items'] as readonly Thing<T>[]; // as they were found
  return { ...list, items: things.map(await shownAs(things)) };
}

async function listedMany<T extends Fields>(
  { rows }: Pick<Registered<T>, 'rows'>,
  { services, tenant, query }: Parameters<typeof answerSearched>[0],
): Promise<Json> {
  const page = pageOf(query);
  const wanted = { ...page, limit: page.limit + 1, search: query.search };
  const found = await services.database.read(tenant.id, (queries) => rows.page(queries, tenant.id, wanted));
  return listOf(
    page,
    found,
    ({ id }) => id,
    (thing) => thing,
  );
}

function listedFew<T extends Fields>(
  { kind, rows }: Pick<Registered<T>, 'kind' | 'rows'>,
  call: Parameters<typeof answerSearched>[0],
): Promise<Json> {
  return answerSearched(call, rows.page, {
    key: (thing) => (kind.listedBy === undefined ? thing.id : String((thing as Json)[kind.listedBy])),
    texts: (thing) => kind.searched(thing).map((text) => text ?? ''),
    json: (thing) => thing,
  });
}

/** What every tenant has, as it is shown. */
const alwaysOf = ({ always }: Pick<Kind, 'always'>, tenant: Tenant): readonly Json[] =>
  (always?.things(tenant) ?? []).map((json) => ({ ...json, [always!.mark]: true, created_at: null, updated_at: null }));

/** The first page begins with what every tenant has. */
function withAlways<T extends Fields>(kind: Kind<T>, call: Parameters<typeof answerSearched>[0], answer: Json): Json {
  if (kind.always === undefined || pageOf(call.query).after !== '') return answer;
  const wanted = foldKey(call.query.search ?? '');
  const found = alwaysOf(kind, call.tenant).filter(
    (json) => kind.searched(json as never).some((text) => foldKey(text ?? '').includes(wanted)), // its fields are named as their keys are
  );
  return { ...answer, items: [...found, ...(answer['items'] as readonly Json[])] }; // as listOf makes it
}

/** A thing that was made or changed, as it is shown. @throws what was refused */
export function shown<T extends Fields>(kind: Kind<T>, done: KindDone<T>, json: ToJson<T>): Json {
  if (!done.ok) throw refusalOf(kind, done);
  const made = kind.secret?.made !== undefined && done.secret !== undefined;
  return { ...json(done.thing), ...(made ? { [secretNameOf(kind)]: done.secret } : {}) };
}

export const refusalOf = ({ noun }: Pick<Kind, 'noun'>, refused: KindRefused): Error =>
  refused.reason === 'unknown' ? unknownThing({ noun }) : faultRefusal(refused.fault);

export function faultRefusal({ field, text, is }: KindFault): Error {
  if (is === 'taken') return conflict(field, text);
  return invalidField(field, is === 'full' || is === 'sentence' ? text : `This field ${text}.`);
}

// Registered things, whoever writes them (design 17): the Management API, documents and the command line create, change and remove them
// here, so that values, power, rules, limits, unique names, and the audit record are the same for all. What a kind does besides is its
// effects, which run in the same transaction.
import type { EventType, TypedEvent } from '../contract/events.ts';
import { type Fields, type Json, missingField, type ValuesOf } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import { type Context, fullFault, givenFault, type Kind, type KindFault, type Thing } from '../domain/kind.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { ValueTaken } from '../storage/engine/unique-violation.ts';
import { type KindRows, rowsOf } from '../storage/registry/kind-rows.ts';
import { lockTenantSettings } from '../storage/registry/tenants.ts';
import { recordAct } from './administration.ts';
import type { Acting, Effects, KindStore, Verdict, Writing } from './kind-effects.ts';
import { changedSecret, makeSecret, movedSecret, secretOf, type Wanted, wantedOf } from './kind-values.ts';
import { firstTaken, spelledTaken, takenOf, unlessTaken, WriteRefused } from './taken.ts';

/** A kind with its rows and its effects. */
export interface Registered<T extends Fields = Fields, Id extends string = string> {
  readonly kind: Kind<T>;
  readonly rows: KindRows<T, Id>;
  readonly effects: Effects<T, Id>;
}

export const register = <const T extends Fields>(kind: Kind<T>, effects: Effects<T> = {}): Registered<T> => ({
  kind,
  rows: rowsOf(kind),
  effects,
});

export type KindRefused =
  | { readonly ok: false; readonly reason: 'unknown' }
  | { readonly ok: false; readonly reason: 'faulty'; readonly fault: KindFault };
/** A secret that was made is given once. */
export interface Made<T extends Fields> {
  readonly thing: Thing<T>;
  readonly secret?: string | undefined;
}
export type KindDone<T extends Fields> = Outcome<Made<T>, never> | KindRefused;

const faulty = (fault: KindFault): KindRefused => ({ ok: false, reason: 'faulty', fault });

type Faulty = { readonly ok: false; readonly fault: KindFault };

/** The values of something new, or what is wrong with them. A secret that is missing is for whoever calls to ask for. */
export function readNew<T extends Fields>(
  { kind, effects }: Registered<T>,
  { tenant, nowMs }: { readonly tenant: Context['tenant']; readonly nowMs: number },
  given: Json,
): ({ readonly ok: true } & Wanted<T>) | Faulty {
  const missing = missingField(kind.fields, given);
  if (missing !== undefined) return { ok: false, fault: { field: missing, text: 'is required' } };
  const wrong = givenFault(kind, given);
  if (wrong !== undefined) return { ok: false, fault: wrong };
  const wanted = wantedOf(kind, given, undefined);
  const fault =
    kind.rules?.(wanted.values, { tenant, hasSecret: typeof wanted.clear === 'string' }) ??
    effects.reading?.(wanted.values, undefined, nowMs);
  return fault === undefined ? { ok: true, ...wanted } : { ok: false, fault };
}

/** Makes a thing. */
export async function createThing<T extends Fields>(
  registered: Registered<T>,
  store: KindStore,
  acting: Acting,
  given: Json,
): Promise<KindDone<T>> {
  const { kind } = registered;
  const read = readNew(registered, { tenant: acting.tenant, nowMs: store.clock.nowMs() }, given);
  if (!read.ok) return faulty(read.fault);
  const without = typeof read.clear === 'string' ? undefined : kind.secret?.missing?.(read.values);
  if (without !== undefined) return faulty(without);
  requirePower(kind, acting, read.values);
  requireForChange(kind, acting, undefined, read.values);
  await registered.effects.prepare?.(store, acting.tenant.id);
  return unlessRefused(kind, () =>
    store.cache.write(acting.tenant.id, async (queries): Promise<KindDone<T>> => {
      const fault =
        (await fullnessOf(registered, queries, { store, acting }, read.values)) ??
        (await registered.effects.fault?.(queries, acting.tenant.id, read.values, undefined));
      if (fault !== undefined) return faulty(fault);
      await requireReach(registered, queries, acting, [read.values]);
      const added = await addThing(registered, queries, { store, acting }, { id: uuidV7(store.clock.nowMs()), ...read });
      return added.ok ? added : faulty(added.fault);
    }),
  );
}

/** Runs a transaction that writes a thing; a fault for what is taken, and for what is undone because of others. */
async function unlessRefused<T extends Fields>(kind: Kind<T>, transaction: () => Promise<KindDone<T>>): Promise<KindDone<T>> {
  try {
    const done = await unlessTaken(kind.unique[0]?.[0] ?? '', transaction);
    return done.ok ? done.value : faulty(firstTaken(kind, done.field));
  } catch (error) {
    if (error instanceof WriteRefused) return faulty(error.fault);
    throw error;
  }
}

/** @throws WriteRefused, so that nothing of it stays */
async function requireGood<Written>(verdict: Verdict<Written> | undefined, after: Written | undefined): Promise<void> {
  const fault = await verdict?.(after);
  if (fault !== undefined) throw new WriteRefused(fault);
}

/** Who makes one more, where there may be so many, waits for others who do, and is told when there are. */
async function fullnessOf<T extends Fields>(
  { kind, rows, effects }: Registered<T>,
  queries: Queries,
  { store, acting }: Writing,
  values: ValuesOf<T>,
): Promise<KindFault | undefined> {
  if (kind.atMost === undefined) return undefined;
  const { id: tenant } = acting.tenant;
  await lockTenantSettings(queries, store.database.dialect, tenant);
  if (effects.room !== undefined) return effects.room(queries, acting, values);
  const { count } = kind.atMost;
  return (await rows.count(queries, tenant, count)) >= count ? fullFault(kind.atMost) : undefined;
}

const placeOf = ({ store, acting }: Writing) => ({ dialect: store.database.dialect, tenant: acting.tenant.id });

const sealingOf = ({ store, acting }: Writing) => ({ encryption: store.encryption, tenant: acting.tenant.id });

/**
 * Stores a thing whose values were read, with its audit record; a fault where a value is taken. One that has no secret gets its own.
 * @throws WriteRefused
 */
export async function addThing<T extends Fields>(
  { kind, rows, effects }: Registered<T>,
  queries: Queries,
  writing: Writing,
  { id, values, clear }: { readonly id: string } & Wanted<T>,
): Promise<({ readonly ok: true } & Made<T>) | Faulty> {
  const { tenant } = writing.acting;
  const key = kind.key === 'id' ? id : String((values as Json)[kind.key]);
  const spelled = await spelledTaken({ kind, rows }, queries, placeOf(writing), values, undefined);
  if (spelled !== undefined) return { ok: false, fault: spelled };
  const secret = clear ?? makeSecret(kind);
  const verdict = await effects.guard?.(queries, tenant.id, undefined);
  const thing = await rows.insert(queries, tenant.id, key, { ...values, ...secretOf(kind, sealingOf(writing), key, secret) });
  if (thing === undefined)
    return { ok: false, fault: (await takenOf({ kind, rows }, queries, tenant.id, values, undefined)) ?? firstTaken(kind) };
  await effects.added?.(queries, writing, thing);
  await recordThing(queries, writing, kind, 'created', { id: thing.id, data: kind.told.created(thing) });
  await requireGood(verdict, thing);
  return { ok: true, thing, secret };
}

/** Changes a thing by the fields given, which may hang on what it is. */
export async function changeThing<T extends Fields>(
  registered: Registered<T>,
  store: KindStore,
  acting: Acting,
  id: string,
  asked: Json | ((before: Thing<T>) => Json),
): Promise<KindDone<T>> {
  const { kind } = registered;
  const early = typeof asked === 'function' ? undefined : givenFault(kind, asked);
  if (early !== undefined) return faulty(early);
  const { tenant } = acting;
  return unlessRefused(kind, () =>
    store.cache.write(tenant.id, async (queries): Promise<KindDone<T>> => {
      const before = await holdNamed(registered, queries, tenant.id, id);
      if (before === undefined) return isAlways(kind, tenant, id) ? faulty(kind.always!.fault) : fail('unknown');
      const given = typeof asked === 'function' ? asked(before) : asked;
      const wrong = typeof asked === 'function' ? givenFault(kind, given) : undefined;
      if (wrong !== undefined) return faulty(wrong);
      const wanted = wantedOf(kind, given, before, before);
      const { values } = wanted;
      const fault =
        changeFault(registered, { store, acting }, before, wanted) ?? (await takenOf(registered, queries, tenant.id, values, before));
      if (fault !== undefined) return faulty(fault);
      requirePower(kind, acting, before);
      requirePower(kind, acting, values);
      requireForChange(kind, acting, before, values);
      await requireReach(registered, queries, acting, [before, values]);
      const besides = await registered.effects.fault?.(queries, tenant.id, values, before);
      if (besides !== undefined) return faulty(besides);
      const thing = await replaceThing(
        registered,
        queries,
        { store, acting },
        { before, wanted, fields: Object.keys(given), edited: kind.told.edited },
      );
      return thing === undefined ? fail('unknown') : { ok: true, thing };
    }),
  );
}

/** What is wrong with a thing as it would be after a change. */
export function changeFault<T extends Fields>(
  { kind, effects }: Registered<T>,
  { store, acting: { tenant } }: Writing,
  before: Thing<T>,
  wanted: Wanted<T>,
): KindFault | undefined {
  const { secret } = kind;
  const hasSecret = wanted.clear === undefined ? secret !== undefined && (before as Json)[secret.key] !== undefined : wanted.clear !== null;
  return (
    kind.rules?.(wanted.values, { tenant, before, hasSecret }) ??
    (hasSecret ? undefined : secret?.missing?.(wanted.values)) ??
    movedSecret(kind, before, wanted) ??
    effects.reading?.(wanted.values, before, store.clock.nowMs())
  );
}

interface Replacing<T extends Fields> {
  readonly before: Thing<T>;
  readonly wanted: Wanted<T>;
  /** The names that were given. */
  readonly fields: readonly string[];
  readonly edited?: Kind<T>['told']['edited'];
}

/** Writes what is new of a thing that is there, with its audit record. @throws ValueTaken, WriteRefused */
export async function replaceThing<T extends Fields>(
  { kind, rows, effects }: Registered<T>,
  queries: Queries,
  writing: Writing,
  { before, wanted, fields, edited }: Replacing<T>,
): Promise<Thing<T> | undefined> {
  const spelled = await spelledTaken({ kind, rows }, queries, placeOf(writing), wanted.values, before);
  if (spelled !== undefined) throw new ValueTaken(spelled.field);
  const { tenant } = writing.acting;
  const verdict = await effects.guard?.(queries, tenant.id, before);
  const settled = effects.settle?.(wanted.values, before) ?? wanted.values;
  const values = { ...settled, ...changedSecret(kind, sealingOf(writing), before, wanted.clear) };
  const change = Object.fromEntries(Object.entries(values).filter(([key, value]) => value !== (before as Json)[key]));
  const thing = await rows.update(queries, tenant.id, before.id, change as Partial<ValuesOf<T>>); // some of its values
  if (thing === undefined) return undefined;
  const { act, data } = edited?.(before, thing) ?? { act: 'updated' as const, data: { fields, ...kind.told.changed?.(thing) } };
  await recordThing(queries, writing, kind, act, { id: thing.id, data });
  await effects.changed?.(queries, writing, before, thing);
  await requireGood(verdict, thing);
  return thing;
}

/** Gives a thing another secret; the one before holds too for a while. */
export async function rotateSecret<T extends Fields>(
  registered: Registered<T>,
  store: KindStore,
  acting: Acting,
  id: string,
): Promise<KindDone<T>> {
  const { kind, rows } = registered;
  const { tenant } = acting;
  const { key, made } = kind.secret!; // whoever calls has asked
  const secret = makeSecret(kind)!;
  return store.cache.write(tenant.id, async (queries): Promise<KindDone<T>> => {
    const before = await holdNamed(registered, queries, tenant.id, id);
    if (before === undefined) return fail('unknown');
    requirePower(kind, acting, before);
    const { previous } = made!;
    const change = {
      ...secretOf(kind, sealingOf({ store, acting }), before.id, secret),
      [previous.key]: (before as Json)[key],
      [previous.untilMs]: store.clock.nowMs() + previous.overlapMs,
    };
    const thing = await rows.update(queries, tenant.id, before.id, change as Partial<ValuesOf<T>>); // some of its values
    if (thing === undefined) return fail('unknown');
    await recordThing(queries, { store, acting }, kind, 'secret_rotated', { id: thing.id, data: undefined });
    return { ok: true, thing, secret };
  });
}

/** Removes a thing with what hangs on it. */
export async function removeThing<T extends Fields>(
  registered: Registered<T>,
  store: KindStore,
  acting: Acting,
  id: string,
): Promise<KindDone<T>> {
  const { kind } = registered;
  return unlessRefused(kind, () =>
    store.cache.write(acting.tenant.id, async (queries): Promise<KindDone<T>> => {
      const before = await holdNamed(registered, queries, acting.tenant.id, id);
      if (before === undefined) return isAlways(kind, acting.tenant, id) ? faulty(kind.always!.fault) : fail('unknown');
      if (kind.power.isFreelyDeleted !== true) {
        requirePower(kind, acting, before);
        await requireReach(registered, queries, acting, [before]);
      }
      requireForChange(kind, acting, before, undefined);
      const done = await dropThing(registered, queries, { store, acting }, before);
      if (done === false) return fail('unknown');
      return done === true ? { ok: true, thing: before } : faulty(done);
    }),
  );
}

/** Takes away the row of a thing, with its audit record; a fault says why it stays, false that it was gone. @throws WriteRefused */
export async function dropThing<T extends Fields>(
  { kind, rows, effects }: Registered<T>,
  queries: Queries,
  writing: Writing,
  thing: Thing<T>,
): Promise<KindFault | boolean> {
  const tenant = writing.acting.tenant.id;
  const verdict = await effects.guard?.(queries, tenant, thing);
  const done =
    effects.remove === undefined ? await rows.remove(queries, tenant, thing.id) : await effects.remove(queries, tenant, thing, writing);
  if (done !== true) return done;
  await recordThing(queries, writing, kind, 'deleted', { id: thing.id, data: kind.told.deleted?.(thing) });
  await requireGood(verdict, undefined);
  return done;
}

/** The thing of an id, or of the name that stands for one. */
export async function findNamed<T extends Fields, Id extends string>(
  { kind, rows }: Registered<T, Id>,
  queries: Queries,
  tenant: TenantId,
  id: string,
): Promise<Thing<T, Id> | undefined> {
  return (await rows.find(queries, tenant, id)) ?? (kind.alias && rows.findBy(queries, tenant, kind.alias, id));
}

async function holdNamed<T extends Fields>(
  registered: Registered<T>,
  queries: Queries,
  tenant: TenantId,
  id: string,
): Promise<Thing<T> | undefined> {
  const { kind } = registered;
  const known = kind.alias === undefined ? id : (await findNamed(registered, queries, tenant, id))?.id;
  return known === undefined ? undefined : holdThing(registered, queries, tenant, known);
}

/** The thing of an id, whoever would change it, or what must not change beside it, waiting until the transaction ends. */
export async function holdThing<T extends Fields>(
  { rows, effects }: Registered<T>,
  queries: Queries,
  tenant: TenantId,
  id: string,
): Promise<Thing<T> | undefined> {
  await effects.first?.(queries, tenant, id);
  return rows.hold(queries, tenant, id);
}

/** Whoever has a hand in a thing holds what it hands out. @throws the caller's own refusal, before anything is written */
export function requirePower<T extends Fields>(
  { power }: Kind<T>,
  { by, tenant }: Pick<Acting, 'by' | 'tenant'>,
  values: ValuesOf<T>,
): void {
  if (power.needs !== undefined) by.require?.(power.needs(values, tenant));
}

/** The same for what is other by it. */
function requireForChange<T extends Fields>(
  { power }: Kind<T>,
  { by, tenant }: Acting,
  before: ValuesOf<T> | undefined,
  after: ValuesOf<T> | undefined,
): void {
  if (power.toChange !== undefined) by.require?.(power.toChange(before, after, tenant));
}

/** The same of what names it. */
async function requireReach<T extends Fields>(
  { effects }: Registered<T>,
  queries: Queries,
  { by, tenant }: Acting,
  all: readonly ValuesOf<T>[],
): Promise<void> {
  if (effects.needs === undefined || by.require === undefined) return;
  for (const values of all) by.require(await effects.needs(queries, tenant.id, values));
}

const isAlways = ({ always, key }: Pick<Kind, 'always' | 'key'>, tenant: Tenant, id: string): boolean =>
  always?.things(tenant).some((json) => json[key] === id) === true;

/** Writes the audit record of what was done to a thing. The table of events has a row for each kind and act. */
function recordThing(
  queries: Queries,
  { store, acting }: Writing,
  { noun }: Pick<Kind, 'noun'>,
  act: 'created' | 'updated' | 'changed' | 'deleted' | 'secret_rotated',
  { id, data }: { readonly id: string; readonly data: Json | undefined },
): Promise<void> {
  const type = `${noun}.${act}` as EventType; // test/unit/kinds.test.ts: the table has each
  return recordAct(queries, store, acting.tenant.id, acting.by, {
    ...({ type, ...(data === undefined ? {} : { data }) } as TypedEvent),
    target: `${noun}:${id}`,
  });
}

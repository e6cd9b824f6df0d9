// Compares a document with a tenant and, when asked, makes the tenant follow: batch by batch, each batch one transaction, so
// that a run that ends in the middle is completed by the next. Nothing is deleted unless asked (`prune`).
// Called by `plan`, `apply` and `import`; items come from the reader or from an importer.

import { organizationProvidersMax } from '../../contract/organization-limits.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { paceOfLongWork } from '../../platform/turns/long-work.ts';
import { analyzeAsTablesGrow } from '../../storage/engine/planner-statistics.ts';
import { isUniqueViolation, ValueTaken } from '../../storage/engine/unique-violation.ts';
import { listAliasesOfOrganizations } from '../../storage/registry/organization-providers.ts';
import type { Administration, By } from '../administration.ts';
import { refusedText } from '../taken.ts';
import {
  type Creation,
  type Declared,
  type Desired,
  differingFields,
  faultAt,
  type Kind,
  type Made,
  type Match,
  type Section,
  type Session,
  type Stored,
  type Update,
} from './document.ts';
import { pagesOf } from './export.ts';
import { isOwn } from './kinds/client-kind.ts';
import { kinds } from './kinds/kinds.ts';
import { createShapeCheck, type ShapeCheck } from './shape.ts';

/** Statements of one transaction get slower with each on the embedded database, and others wait for it. */
const batchItems = 100;

export type Change =
  | { readonly action: 'create' | 'delete'; readonly noun: string; readonly id: string | undefined; readonly title: string }
  | {
      readonly action: 'update';
      readonly noun: string;
      readonly id: string;
      readonly title: string;
      readonly fields: readonly { readonly name: string; readonly from: unknown; readonly to: unknown }[];
    };

interface Conflict {
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

export interface ReconcileOptions {
  readonly write: boolean;
  readonly prune: boolean;
  readonly onChange?: (change: Change) => void;
  readonly onItem?: (section: Section) => void;
}

export interface Reconciled {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
  readonly unchanged: number;
  readonly conflicts: readonly Conflict[];
  readonly secrets: Session['secrets'];
}

/**
 * A session on a tenant: what the database knows of names that items may refer to.
 * @param customers what checkDocument gave for the document, if it is known
 */
export async function openSession(
  administration: Administration,
  tenant: Tenant,
  by: By,
  customers: ReadonlySet<string> = new Set(),
): Promise<Session> {
  const owned = await administration.database.read(tenant.id, (queries) =>
    listAliasesOfOrganizations(queries, tenant.id, organizationProvidersMax + 1),
  );
  const session: Session = {
    administration,
    tenant,
    by,
    groups: new Map(),
    providers: new Map(),
    identityProviders: new Map(),
    clients: new Set(),
    resources: new Map(),
    roles: new Set(),
    known: new Map(),
    attributes: new Map(),
    newUsers: new Map(),
    said: new Map(),
    customers: new Set([...owned, ...customers]),
    secrets: [],
  };
  for (const kind of kinds) {
    if (kind.remember === undefined || kind.section === 'users') continue;
    for await (const page of pagesOf(kind, session))
      for (const stored of page.filter(({ isUndeclared }) => isUndeclared !== true))
        kind.remember(session, stored.id, { ...stored, declared: nowhere });
  }
  return session;
}

const nowhere: Declared = { section: 'settings', path: '', value: {}, lineOf: () => undefined };

/**
 * Checks a whole document by shape before anything is written; gives the aliases of providers that its organisations name, which stand
 * after the providers. @throws DeclarationFault
 */
export async function checkDocument(
  items: AsyncIterable<Declared> | Iterable<Declared>,
  onItem?: (section: Section) => void,
): Promise<ReadonlySet<string>> {
  const customers = new Set<string>();
  const pace = paceOfLongWork();
  for await (const item of items) {
    await pace();
    const check = await checkOf(item.section);
    check(item);
    onItem?.(item.section);
    if (item.section !== 'organizations') continue;
    const { identity_providers: aliases = [] } = item.value as { readonly identity_providers?: readonly string[] }; // checked above
    for (const alias of aliases) customers.add(alias);
  }
  return customers;
}

const kindOf = (section: Section): Kind => kinds.find((candidate) => candidate.section === section)!;

const checks = new Map<Section, ShapeCheck>();

/** Compiled for the first item that any document has of the section: all of them hold a process up for tens of milliseconds. */
async function checkOf(section: Section): Promise<ShapeCheck> {
  const known = checks.get(section);
  if (known !== undefined) return known;
  const { schema, secretPaths, secrets } = kindOf(section);
  const check = await createShapeCheck(schema, secretPaths ?? secrets);
  checks.set(section, check);
  return check;
}

/** Walks the items; gives what changed, or would. @throws DeclarationFault for an item that is wrong in itself */
export async function reconcile(
  session: Session,
  items: AsyncIterable<Declared> | Iterable<Declared>,
  options: ReconcileOptions,
): Promise<Reconciled> {
  const run = createRun(session, options);
  const pace = paceOfLongWork();
  let kind: Kind | undefined;
  let batch: Desired[] = [];
  const flush = async (): Promise<void> => {
    if (kind !== undefined && batch.length > 0) await run.batch(kind, batch);
    batch = [];
  };
  for await (const declared of items) {
    await pace();
    if (kind?.section !== declared.section) {
      await flush();
      kind = kindOf(declared.section);
      run.enter(kind);
    }
    const check = await checkOf(declared.section);
    check(declared);
    const desired = kind.examine(session, declared);
    run.requireNewId(kind, desired);
    batch.push(desired);
    if (batch.length === batchItems) await flush();
  }
  await flush();
  await run.retry();
  const deleted = options.prune ? await prune(session, options) : 0;
  await run.retry();
  await run.settle();
  return { ...run.result(), deleted };
}

function createRun(session: Session, options: ReconcileOptions) {
  const { write, onItem } = options;
  const { said: seen } = session;
  const declaredIds = new Map<Section, Map<string, string>>();
  const { database } = session.administration;
  const writer = createWriter(session, options);
  const { counts, conflict } = writer;

  const runBatch = async (kind: Kind, items: readonly Desired[]): Promise<void> => {
    const matches = await database.read(session.tenant.id, (queries) => kind.find(queries, session, items));
    const creations: Creation[] = [];
    const updates: Update[] = [];
    for (const [at, desired] of items.entries()) {
      const step = stepOf(kind, session, desired, matches[at]!);
      onItem?.(kind.section);
      if ('conflict' in step) {
        conflict(desired, step.conflict);
        // It cannot be had, and it is not to be taken away either.
        if (desired.id !== undefined) seen.get(kind.section)?.add(desired.id);
        continue;
      }
      seen.get(kind.section)?.add(step.id);
      kind.remember?.(session, step.id, { ...desired, id: step.id });
      if ('creation' in step) creations.push(step.creation);
      else if (step.update.changed.size > 0) updates.push(step.update);
      else counts.unchanged += 1;
    }
    const wanted = [...creations, ...updates].map(({ desired }) => desired);
    if (write) await kind.prepare?.(session, wanted);
    await writer.write(kind, creations, updates);
  };

  return {
    ...writer,
    enter: (kind: Kind): void => void seen.set(kind.section, new Set()),
    batch: runBatch,
    /** An id may stand once; users are compared where they are looked up, because there are very many. */
    requireNewId: (kind: Kind, { id, declared }: Desired): void => {
      if (id === undefined || kind.single === true) return;
      const ids = declaredIds.get(kind.section) ?? new Map<string, string>();
      declaredIds.set(kind.section, ids);
      const first = ids.get(id);
      if (first !== undefined)
        throw faultAt(declared, [kind.section === 'clients' ? 'client_id' : 'id'], `an id that is not that of ${first}`, id);
      ids.set(id, declared.path);
    },
  };
}

/** What a run writes, what it is told of that, and what stays out. */
function createWriter(session: Session, { write, onChange }: ReconcileOptions) {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const conflicts: Conflict[] = [];
  const made = new Map<Kind, Made[]>();
  const refused = new Map<Update, { readonly kind: Kind; readonly text: string }>();
  const { cache, database } = session.administration;
  const analyze = analyzeAsTablesGrow(database);

  const conflict = ({ declared: { path }, title }: Desired, text: string): void => void conflicts.push({ path, title, text });
  const writeAll = async (kind: Kind, creations: readonly Creation[], updates: readonly Update[]): Promise<void> => {
    const out = { taken: conflict, refused: (update: Update, text: string) => void refused.set(update, { kind, text }) };
    const done = write ? await writeSteps(kind, session, creations, updates, out) : { creations, updates };
    for (const { id, desired } of done.creations) onChange?.({ action: 'create', noun: kind.noun, id, title: desired.title });
    for (const update of done.updates) onChange?.(changeOf(kind, update));
    counts.created += done.creations.length;
    if (write && kind.settle !== undefined) {
      const own = made.get(kind) ?? [];
      made.set(kind, own);
      own.push(...done.creations.map(madeOf));
    }
    if (write) await analyze(counts.created);
    counts.updated += done.updates.length;
  };

  return {
    counts,
    conflict,
    write: writeAll,
    /** What was refused because of what stood beside it, which may be otherwise by now. */
    retry: async (): Promise<void> => {
      const again = [...refused];
      refused.clear();
      for (const [update, { kind }] of again) await writeAll(kind, [], [update]);
    },
    settle: async (): Promise<void> => {
      for (const [kind, all] of made) {
        const out = await cache.write(session.tenant.id, (queries) => kind.settle!(queries, session, all));
        conflicts.push(...out.map(({ path, title, text }) => ({ path, title, text })));
        counts.created -= out.length;
      }
    },
    result: (): Omit<Reconciled, 'deleted'> => {
      for (const [{ desired }, { text }] of refused) conflict(desired, text);
      return { ...counts, conflicts, secrets: session.secrets };
    },
  };
}

/** Deletes what is stored and not in the document, in the sections the document has, last section first; gives how many. */
async function prune(session: Session, { write, onChange }: ReconcileOptions): Promise<number> {
  let deleted = 0;
  for (const kind of [...kinds].reverse()) {
    const kept = session.said.get(kind.section);
    if (kept === undefined || kind.single === true) continue;
    for await (const page of pagesOf(kind, session)) {
      const declared = page.filter(({ isUndeclared }) => isUndeclared !== true);
      const gone = declared.filter(({ id, fields }) => !kept.has(id) && !(kind.section === 'clients' && isOwn(id, fields)));
      if (write && gone.length > 0) await removeAll(kind, session, gone);
      for (const { id, title } of gone) onChange?.({ action: 'delete', noun: kind.noun, id, title });
      deleted += gone.length;
    }
  }
  return deleted;
}

const madeOf = ({ id, desired: { title, declared } }: Creation): Made => ({ id, title, path: declared.path });

type Step =
  | { readonly conflict: string }
  | { readonly id: string; readonly creation: Creation }
  | { readonly id: string; readonly update: Update };

function stepOf(kind: Kind, session: Session, desired: Desired, match: Match): Step {
  if ('conflict' in match) return match;
  const { stored } = match;
  if (stored === undefined) {
    const id = desired.id ?? kind.newId(session);
    return { id, creation: { id, desired: { ...desired, id } } };
  }
  return {
    id: stored.id,
    update: { stored, desired: { ...desired, id: stored.id }, changed: differingFields(stored.fields, desired.fields) },
  };
}

function changeOf(kind: Kind, { stored, desired, changed }: Update): Change {
  const shown = (name: string, value: unknown): unknown =>
    kind.secrets?.includes(name) === true && value !== undefined ? '(secret)' : value;
  return {
    action: 'update',
    noun: kind.noun,
    id: stored.id,
    title: desired.title,
    fields: [...changed].map((name) => ({ name, from: shown(name, stored.fields[name]), to: shown(name, desired.fields[name]) })),
  };
}

/** What becomes of steps that stay out: what they say is taken for good, or what they take from others may not be needed later. */
interface Out {
  readonly taken: (desired: Desired, text: string) => void;
  readonly refused: (update: Update, text: string) => void;
}

type Steps = { readonly creations: readonly Creation[]; readonly updates: readonly Update[] };

/** Writes the steps in one transaction; when a name is taken, or one is refused, one by one, so that only that one stays out. */
async function writeSteps(
  kind: Kind,
  session: Session,
  creations: readonly Creation[],
  updates: readonly Update[],
  out: Out,
): Promise<Steps> {
  if (creations.length + updates.length === 0) return { creations, updates };
  const secretsBefore = session.secrets.length;
  try {
    await writeTogether(kind, session, creations, updates);
    return { creations, updates };
  } catch (error) {
    const refusal = refusedText(error);
    if (!isTaken(error) && refusal === undefined) throw error;
    session.secrets.length = secretsBefore; // those made in what was rolled back
    const [only] = [...creations, ...updates];
    if (creations.length + updates.length === 1) {
      const [update] = updates;
      if (update !== undefined && refusal !== undefined) out.refused(update, refusal);
      else out.taken(only!.desired, refusal ?? `${error instanceof ValueTaken ? error.field : kind.uniqueField} is in use`);
      return { creations: [], updates: [] };
    }
  }
  const done: { creations: Creation[]; updates: Update[] } = { creations: [], updates: [] };
  for (const creation of creations) done.creations.push(...(await writeSteps(kind, session, [creation], [], out)).creations);
  for (const update of updates) done.updates.push(...(await writeSteps(kind, session, [], [update], out)).updates);
  return done;
}

const isTaken = (error: unknown): boolean => error instanceof ValueTaken || isUniqueViolation(error);

async function writeTogether(kind: Kind, session: Session, creations: readonly Creation[], updates: readonly Update[]): Promise<void> {
  const { database, cache } = session.administration;
  const secretsBefore = session.secrets.length;
  await (kind.isConfiguration ? cache : database).write(session.tenant.id, async (queries) => {
    session.secrets.length = secretsBefore; // a transaction that PostgreSQL ended runs again and makes its own
    if (creations.length > 0) await kind.create(queries, session, creations);
    if (updates.length > 0) await kind.update(queries, session, updates);
  });
}

async function removeAll(kind: Kind, session: Session, gone: readonly Stored[]): Promise<void> {
  const { database, cache } = session.administration;
  await (kind.isConfiguration ? cache : database).write(session.tenant.id, async (queries) => {
    for (const stored of gone) await kind.remove(queries, session, stored);
  });
}

// A whole tenant that arrives in parts, over the system API of the group it moves to. It is built closed, and nobody but who sends it
// opens it: so a move that is given up leaves the tenant where it was, whatever was sent. Each part is one transaction with the number
// of the next, so that a part that comes twice is written once.
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import {
  beginImportState,
  endImportState,
  fateOf,
  findImportState,
  type ImportState,
  rememberGivenUp,
  saveImportState,
} from '../../storage/tenant-moves.ts';
import type { Administration, By } from '../administration.ts';
import { BundleFault, type BundleHead } from './bundle.ts';
import { createTurn, insertSealed, open, partsOf, type Rows, removeUnfinished, requireWelcome } from './import-tenant.ts';

export interface ImportProgress {
  readonly state: 'running' | 'imported' | 'given_up' | 'unknown';
  /** The number of the part that is to come. */
  readonly next_part: number | null;
}

/** The first line of a part: of which bundle it is, and which part. Parts count from 0. */
export interface PartHead {
  readonly bundle: string;
  readonly part: number;
}

/** Takes the turn, if the tenant can come here, and removes what imports left that were cut off. @throws BundleFault */
export async function beginImport(administration: Administration, head: BundleHead): Promise<ImportProgress> {
  const { database } = administration;
  const turn = createTurn(head.id);
  await database.system(turn.stay);
  try {
    await requireWelcome(administration, head);
    await removeUnfinished(administration, turn.stay);
    await database.system(async (queries) => {
      await turn.stay(queries);
      if ((await fateOf(queries, head.id)) !== undefined) throw gone(head.id); // given up while this was on its way
      await beginImportState(queries, head.id, { next: 0, rows: 0, head: JSON.stringify(head) });
    });
    return { state: 'running', next_part: 0 };
  } catch (error) {
    await database.system(turn.end);
    throw error;
  }
}

/** Writes a part, once. @throws BundleFault */
export async function importPart(
  administration: Administration,
  { bundle, part }: PartHead,
  lines: AsyncIterable<string>,
): Promise<ImportProgress> {
  const rows = await rowsOfPart(lines, { bundle, part });
  const { head } = await administration.database.systemRead((queries) => loadState(queries, bundle));
  const known = JSON.parse(head) as BundleHead; // beginImport wrote it
  await administration.database.writeClosed(known.tenant_id as TenantId, async (queries) => {
    await createTurn(bundle).stay(queries);
    const state = await loadState(queries, bundle);
    if (state.next === part + 1) return; // came before
    if (state.next !== part) throw new BundleFault(`expected part ${state.next}, found part ${part}. Move the tenant again`);
    for (const one of rows) await insertSealed(queries, administration, known, one);
    const count = rows.reduce((sum, one) => sum + one.rows.length, 0);
    await saveImportState(queries, bundle, { ...state, next: part + 1, rows: state.rows + count });
  });
  return { state: 'running', next_part: part + 1 };
}

/** Opens the tenant when all its rows are there; again for one that is open. @throws BundleFault */
export async function openImported(administration: Administration, bundle: string, rows: number, by: By): Promise<ImportProgress> {
  const { database } = administration;
  const done: ImportProgress = { state: 'imported', next_part: null };
  const { fate, state } = await database.systemRead(async (queries) => ({
    fate: await fateOf(queries, bundle),
    state: await findImportState(queries, bundle),
  }));
  if (fate === 'imported') return done;
  if (fate === 'given_up' || state === undefined) throw gone(bundle);
  if (state.rows !== rows) throw new BundleFault(`expected ${rows} rows, found ${state.rows}. Move the tenant again`);
  const turn = createTurn(bundle);
  await open(administration, JSON.parse(state.head) as BundleHead, by, async (queries) => {
    await turn.stay(queries);
    await endImportState(queries, bundle);
  });
  await database.system(turn.end);
  return done;
}

/** Decides that the bundle is never opened here, unless it was; then removes what there is of its tenant. */
export async function giveUpImport(administration: Administration, bundle: string): Promise<ImportProgress> {
  const { database } = administration;
  const turn = createTurn(bundle);
  const { fate, state } = await database.system(async (queries) => {
    const isOurs = await turn.stay(queries).then(
      () => true,
      (error: unknown) => {
        if (error instanceof BundleFault) return false; // another import is under way; this one is given up all the same
        throw error;
      },
    );
    const found = await findImportState(queries, bundle);
    await rememberGivenUp(queries, bundle);
    const decided = await fateOf(queries, bundle);
    if (decided === 'given_up') await endImportState(queries, bundle);
    return { fate: decided, state: isOurs ? found : undefined };
  });
  if (fate === 'given_up' && state !== undefined) {
    await removeUnfinished(administration, turn.stay, (JSON.parse(state.head) as BundleHead).tenant_id as TenantId);
  }
  await database.system(turn.end);
  return { state: fate ?? 'given_up', next_part: null };
}

export async function progressOf({ database }: Pick<Administration, 'database'>, bundle: string): Promise<ImportProgress> {
  return database.systemRead(async (queries) => {
    const fate = await fateOf(queries, bundle);
    const state = await findImportState(queries, bundle);
    return { state: fate ?? (state === undefined ? 'unknown' : 'running'), next_part: fate === undefined ? (state?.next ?? null) : null };
  });
}

const gone = (bundle: string): BundleFault =>
  new BundleFault(`expected an import that is under way, found none of bundle ${bundle}. Move the tenant again`);

async function loadState(queries: Queries, bundle: string): Promise<ImportState> {
  const state = await findImportState(queries, bundle);
  if (state === undefined) throw gone(bundle);
  return state;
}

async function rowsOfPart(lines: AsyncIterable<string>, { bundle, part }: PartHead): Promise<readonly Rows[]> {
  const rows: Rows[] = [];
  for await (const found of partsOf<PartHead>(lines)) {
    if (!('head' in found)) rows.push(found);
    else if (found.head.bundle !== bundle || found.head.part !== part)
      throw new BundleFault(`expected part ${part} of bundle ${bundle}, found another. Move the tenant again`);
  }
  return rows;
}

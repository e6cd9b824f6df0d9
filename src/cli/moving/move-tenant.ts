// `gatehouse tenant move`: a whole tenant goes to another group in one command. Only this command opens it there, and whatever ends it
// before that, a signal too, opens it here again. Where nobody can tell whether it is open there it stays closed here: two groups never
// issue tokens under one name.
import { setTimeout as wait } from 'node:timers/promises';
import { type BundleHead, sealBundle } from '../../administration/moving/bundle.ts';
import { writeTenant } from '../../administration/moving/export-tenant.ts';
import { parseImportKey } from '../../crypto/bundle-seal.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomId } from '../../platform/random.ts';
import { StorageUnavailable } from '../../storage/engine/database.ts';
import { findTenantById } from '../../storage/registry/tenants.ts';
import { moveOf, noteOpener } from '../../storage/tenant-moves.ts';
import { CommandFailure } from '../failure.ts';
import {
  type Answer,
  type CallBody,
  type GroupCaller,
  GroupUnanswered,
  jsonBody,
  loaded,
  openGroupCaller,
  originOf,
} from '../groups/group-calls.ts';
import { createProgress, type Progress } from '../progress.ts';
import { type Administrator, administer, loadTenant, type Options } from '../registry/administrator.ts';
import { closeFor, headOf, reopenAfter, requireMovable } from './export-complete.ts';
import { type MoveMap, prepareMap } from './move-map.ts';
import { cutIntoParts, type TenantPart } from './tenant-parts.ts';

interface Move {
  readonly administrator: Administrator;
  readonly tenant: Tenant;
  /** Of the bundle. */
  readonly id: string;
  readonly to: GroupCaller;
  readonly map: MoveMap | undefined;
  readonly progress: Progress;
  /** Says that the command is to end. */
  readonly signal: AbortSignal;
}

type Recipient = Parameters<typeof sealBundle>[1];

/** How long a group may not answer; the last call may take its time besides. A tenant that is closed meanwhile opens again then. */
const patienceMs = 30_000;
/** Before anything is closed: what imports left of a large tenant takes its time to be removed. */
const patienceAtBeginningMs = 600_000;
const betweenTriesMs = 1000;
/** Answers of a group, or of what is in front of it, that another moment may change. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export async function moveTenant(slug: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const to = await openGroupCaller(administrator.config, { name: 'to', url: originOf('--to', String(options['to'])) });
    const tenant = await loadTenant(administrator, { tenant: slug });
    const map = await prepareMap(options, tenant.id, to.group.url);
    const moved = await untilSignalled(async (signal) => {
      const move = { administrator, tenant, id: randomId(), to, map, signal, progress: createProgress(options) };
      return (await requireMovable(administrator, tenant)) ? finishEarlier(move) : run(move);
    });
    await map?.keep();
    tell(administrator, tenant, to.group.url, map, moved);
  });
}

/** Does the work with a signal that says when the process is asked to end. */
async function untilSignalled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const onSignal = (name: string): void => controller.abort(new CommandFailure(`expected to end by itself, found ${name}`));
  for (const name of names) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of names) process.off(name, onSignal);
  }
}

/**
 * A tenant that is closed: an earlier move may have opened it there and ended before it could say so. One that asked for it and is not
 * open there never is from now on: it moves anew.
 */
async function finishEarlier(move: Move): Promise<number | undefined> {
  const { administrator, tenant, to, map } = move;
  const row = await administrator.database.systemRead((queries) => findTenantById(queries, tenant.id));
  const { id, opener } = moveOf(String(row?.moving)); // requireMovable found it closed
  const { state } = loaded(to, 'say how far an import is', await to.call('GET', `/tenant-imports/${id}`));
  if (state !== 'imported' && opener !== undefined) {
    if (state === 'unknown' && opener !== to.group.url)
      throw new CommandFailure(`--to: expected ${opener}, which an earlier move asked to open ${tenant.slug}, found ${to.group.url}`);
    const decided = loaded(to, 'give an import up', await to.call('DELETE', `/tenant-imports/${id}`));
    if (decided['state'] === 'given_up') {
      await reopenAfter(administrator, tenant, id);
      return run(move);
    }
  } else if (state !== 'imported')
    throw new CommandFailure(
      `expected an open tenant, found ${tenant.slug} closed by an export or by another move. If none is under way: gatehouse tenant reopen ${tenant.slug}`,
    );
  await map?.write();
  return undefined;
}

/** Gives the number of rows. @throws CommandFailure; the tenant is served here then, unless the message says otherwise */
async function run(move: Move): Promise<number> {
  let isOpenSent = false;
  let rows = 0;
  try {
    const recipient = await recipientOf(move);
    const head = await headOf(move.administrator, move.tenant, move.id);
    loaded(move.to, 'take the tenant', await ask(move, 'POST', '/tenant-imports', jsonBody(head), patienceAtBeginningMs));
    await close(move);
    rows = await copy(move, head, recipient);
    await move.map?.write();
    await noteOpening(move);
    move.signal.throwIfAborted();
    isOpenSent = true;
    loaded(move.to, 'open the tenant', await ask(move, 'POST', `/tenant-imports/${move.id}/open`, jsonBody({ rows })));
  } catch (error) {
    if (!(await isMovedAnyway(move, isOpenSent, error))) throw await failureOf(move, error);
  } finally {
    move.progress.end();
  }
  return rows;
}

async function recipientOf(move: Move): Promise<Recipient> {
  const { import_key: text } = loaded(move.to, 'give its import key', await ask(move, 'GET', '/tenant-imports'));
  const key = typeof text === 'string' ? parseImportKey(text) : undefined;
  if (key === undefined) throw new CommandFailure(`${move.to.group.url}: expected an import key, found none`);
  return { key, text: String(text) };
}

async function close({ administrator, tenant, id, signal }: Move): Promise<void> {
  signal.throwIfAborted();
  await closeFor(administrator, tenant, id, async (queries) => {
    const row = await findTenantById(queries, tenant.id);
    if (row?.moving !== null) throw new CommandFailure(`expected no other move of ${tenant.slug} at the same time, found one. Wait for it`);
  });
}

async function copy(move: Move, head: BundleHead, recipient: Recipient): Promise<number> {
  let rows = 0;
  for await (const part of cutIntoParts(move.id, writeTenant(move.administrator, head, move.progress.step))) {
    await send(move, part, recipient);
    rows += part.rows;
  }
  return rows;
}

async function send(move: Move, { part, lines }: TenantPart, recipient: Recipient): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of sealBundle(each(lines), recipient)) pieces.push(piece);
  const answer = await ask(move, 'PUT', `/tenant-imports/${move.id}/parts/${part}`, {
    type: 'application/octet-stream',
    bytes: Buffer.concat(pieces),
  });
  loaded(move.to, 'take a part of the tenant', answer);
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

/** Asks until there is an answer that stays: everything that is asked so may be asked twice. */
async function ask({ to, signal }: Move, method: string, path: string, body?: CallBody, waitMs = patienceMs): Promise<Answer> {
  for (const isOver = startPatience(waitMs); ; ) {
    signal.throwIfAborted();
    const answer = await to.call(method, path, body, signal).catch((error: unknown) => {
      if (!(error instanceof GroupUnanswered) || isOver()) throw signal.aborted ? signal.reason : error;
      return undefined;
    });
    if (answer !== undefined && (!passing.has(answer.status) || isOver())) return answer;
    await wait(betweenTriesMs, undefined, { signal }).catch(() => undefined);
  }
}

/** From now on only the other group can tell whether the tenant is open there, and nobody opens it here without asking it. */
async function noteOpening({ administrator, tenant, id, to }: Move): Promise<void> {
  if (!(await noteOpener(administrator.database, tenant.id, id, to.group.url)))
    throw new CommandFailure(`expected ${tenant.slug} to stay closed while it moves, found it opened or deleted meanwhile. Move it again`);
}

/** Whether the tenant is open there after all; if not it never is. @throws CommandFailure where nobody can tell */
async function isMovedAnyway({ to, id, tenant }: Move, isOpenSent: boolean, error: unknown): Promise<boolean> {
  for (const isOver = startPatience(patienceMs); ; ) {
    const answer = await to.call('DELETE', `/tenant-imports/${id}`).catch(() => undefined);
    const state = answer?.status === 200 ? answer.json?.['state'] : undefined;
    if (state === 'imported' || state === 'given_up') return state === 'imported';
    if (!isOpenSent) return false; // nobody else opens it
    if (isOver())
      throw new CommandFailure(
        `${messageOf(error)}\nNobody can tell whether ${tenant.slug} is open at ${to.group.url}: it stays closed here. When that group answers, run this command again`,
      );
    await wait(betweenTriesMs);
  }
}

/** Puts everything back as it was, and gives what to say. */
async function failureOf(move: Move, error: unknown): Promise<CommandFailure> {
  const { tenant } = move;
  const cause = `${messageOf(error)}${putBack(move)}`;
  for (const isOver = startPatience(patienceMs); ; )
    try {
      const wasClosed = await reopenAfter(move.administrator, tenant, move.id);
      return new CommandFailure(`${cause}\nTenant ${tenant.slug} ${wasClosed ? 'is served here again' : 'was not closed'}.`);
    } catch (again) {
      if (!(again instanceof StorageUnavailable) || isOver())
        return new CommandFailure(
          `${cause}\nTenant ${tenant.slug} is closed: ${messageOf(again)}. Run: gatehouse tenant reopen ${tenant.slug}`,
        );
      await wait(betweenTriesMs);
    }
}

/** A map that cannot be written keeps no tenant closed: what to say of it. */
function putBack({ map }: Move): string {
  try {
    map?.putBack();
    return '';
  } catch (error) {
    return `\nThe map in ${map?.file} was not put back: ${messageOf(error)}. Run: gatehouse group map`;
  }
}

/** Gives whether it is at its end. */
function startPatience(ms: number): () => boolean {
  const endMs = performance.now() + ms;
  return () => performance.now() >= endMs;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function tell(administrator: Administrator, { slug, id }: Tenant, to: string, map: MoveMap | undefined, rows: number | undefined): void {
  const file = map?.file ?? null;
  administrator.print({ tenant: { id, slug }, to, rows: rows ?? null, map: file }, [
    `Tenant ${slug} is open at ${to}${rows === undefined ? ', since an earlier move' : `: ${rows} rows`}.`,
    file === null ? 'Let the router send its requests there now.' : `The map is in ${file}. Reload the router now.`,
    `It is closed here. When everything works, delete it here: gatehouse tenant delete ${slug} --confirm ${slug}`,
  ]);
}

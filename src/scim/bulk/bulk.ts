// Runs a bulk request: one transaction an operation, its outcome in SCIM shape, the referred-to created first
// (RFC 7644 section 3.7, contract 7.13 and 8). Nothing of one operation can roll back another.
import { ContractError } from '../../contract/contract-error.ts';
import { type Answer, render } from '../../contract/envelopes.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Pace } from '../../platform/turns/pace.ts';
import type { NewUser } from '../../storage/people/user-writer.ts';
import { toScimError } from '../error-mapping.ts';
import { createGroup, deleteGroup, patchGroup, replaceGroup } from '../groups.ts';
import { everything } from '../list/projection.ts';
import { type Precondition, readPrecondition } from '../precondition.ts';
import { invalidPath, invalidValue } from '../refuse.ts';
import { entityTag, type Json, locationOf } from '../render.ts';
import type { ScimContext } from '../request-context.ts';
import { groupIndex, isUsers, type TypeIndex } from '../schema/schema-lookup.ts';
import type { Stored } from '../user-loader.ts';
import { createUser, createUsers, deleteUser, newUser, patchUser, replaceUser } from '../users.ts';
import { isJsonObject, type JsonObject } from '../value-reader.ts';
import { type BulkOperation, type BulkRequest, readBulkBody } from './bulk-body.ts';
import { assignIds, type BulkIds, referencesOf, resolved } from './bulk-references.ts';

/** The entity tag of a user that has just been made. */
const firstTag = 'W/"1"';
const bulkResponseUrn = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';

/** Runs a bulk body and gives the BulkResponse. */
export async function runBulk(context: ScimContext, body: unknown, pace: Pace): Promise<Json> {
  const request = readBulkBody(body);
  const ids = assignIds(request.operations, () => uuidV7(context.services.clock.nowMs()));
  const run: Run = { context, request, ids, results: new Map(), made: new Map(), failed: 0, pace };
  await runAll(run);
  const processed = [...run.results.entries()].sort(([a], [b]) => a - b);
  return { schemas: [bulkResponseUrn], Operations: processed.map(([, result]) => result) };
}

/** Operations that are run together where that keeps their order. */
const togetherMax = 100;

async function runAll(run: Run): Promise<void> {
  if (run.request.failOnErrors !== undefined) await startInOrder(run, 1);
  else if (run.context.services.database.dialect === 'sqlite') await startInOrder(run, togetherMax);
  else await createTogether(run);
}

/**
 * PostgreSQL answers a statement on a hundred rows hardly later than one on a single row: users that stand next to one another
 * and refer to nobody are created in one transaction. When one of them cannot be, each of them is created alone.
 */
async function createTogether(run: Run): Promise<void> {
  let batch: number[] = [];
  for (const at of [...run.request.operations.keys(), undefined]) {
    const isCreate = at !== undefined && isPlainCreate(run, at);
    if (isCreate && batch.push(at) < togetherMax) continue;
    await createBatch(run, batch);
    batch = [];
    if (at !== undefined && !isCreate) await runOperation(run, at);
  }
}

function isPlainCreate({ ids, request, results }: Run, at: number): boolean {
  const operation = request.operations[at]!;
  const { method, path, bulkId } = operation;
  const isCreate = method.toUpperCase() === 'POST' && path === '/Users' && bulkId !== undefined && ids.creators.get(bulkId) === at;
  return isCreate && !results.has(at) && referencesOf(operation).size === 0;
}

async function createBatch(run: Run, batch: readonly number[]): Promise<void> {
  if (batch.length === 0) return;
  const users = new Map<number, NewUser>();
  for (const at of batch) {
    await run.pace();
    try {
      users.set(at, newUser(run.context, bodyOf(run.request.operations[at]!.data), run.ids.ids[at]!));
    } catch (error) {
      if (!(error instanceof ContractError)) throw error; // the operation is answered so below
    }
  }
  const created = await createUsers(run.context, [...users.values()]).then(
    () => true,
    () => false,
  );
  for (const at of batch) {
    if (!created || !users.has(at)) run.results.set(at, await resultOf(run, at));
    else run.results.set(at, createdResult(run, at));
  }
}

function createdResult({ context, request, ids }: Run, at: number): Json {
  const { bulkId } = request.operations[at]!;
  return { method: 'POST', bulkId, location: `${context.base}/Users/${ids.ids[at]}`, version: firstTag, status: '201' };
}

/**
 * Runs the operations in order. The embedded database takes writes in order of arrival and makes those that wait together
 * durable together, so operations that refer to no other are started a hundred at a time; everything else waits its turn.
 */
async function startInOrder(run: Run, together: number): Promise<void> {
  const { request } = run;
  let started: Promise<unknown>[] = [];
  for (const [at, operation] of request.operations.entries()) {
    await run.pace();
    if (isOver(run)) break;
    const isAlone = together === 1 || referencesOf(operation).size > 0;
    if (isAlone || started.length === together) {
      await Promise.all(started);
      started = [];
    }
    if (isAlone) await runOperation(run, at);
    else if (!run.results.has(at)) started.push(resultOf(run, at).then((result) => run.results.set(at, result)));
  }
  await Promise.all(started);
}

interface Run {
  readonly context: ScimContext;
  readonly request: BulkRequest;
  readonly ids: BulkIds;
  /** Results by operation index; an index without one was not processed. */
  readonly results: Map<number, Json>;
  failed: number;
  /** What operations made, by operation index: an organisation may have somebody who was there in place of who was to be made. */
  readonly made: Map<number, string>;
  /** Awaited between two operations. */
  readonly pace: Pace;
}

const isOver = ({ request, failed }: Run): boolean => request.failOnErrors !== undefined && failed >= request.failOnErrors;

/** Runs an operation after those that create what it refers to; a circle is broken where it is met again. */
async function runOperation(run: Run, start: number): Promise<void> {
  const order: number[] = [];
  const seen = new Set<number>();
  const stack: { readonly at: number; readonly done: boolean }[] = [{ at: start, done: false }];
  while (stack.length > 0) {
    const { at, done } = stack.pop()!;
    if (done) order.push(at);
    if (done || seen.has(at) || run.results.has(at)) continue;
    seen.add(at);
    stack.push({ at, done: true });
    for (const bulkId of referencesOf(run.request.operations[at]!)) {
      const creator = run.ids.creators.get(bulkId);
      if (creator !== undefined) stack.push({ at: creator, done: false });
    }
  }
  for (const at of order) {
    if (isOver(run)) return;
    run.results.set(at, await resultOf(run, at));
  }
}

async function resultOf(run: Run, at: number): Promise<Json> {
  const operation = run.request.operations[at]!;
  const head = { method: operation.method.toUpperCase(), ...(operation.bulkId === undefined ? {} : { bulkId: operation.bulkId }) };
  try {
    const done = await perform(run, at, operation);
    if (done.made !== undefined) run.made.set(at, done.made);
    return {
      ...head,
      location: done.location,
      ...(done.version === undefined ? {} : { version: done.version }),
      status: String(done.status),
    };
  } catch (error) {
    run.failed += 1;
    const answer = failureOf(run.context, error);
    return { ...head, ...locationOfFailed(run.context, operation), status: String(answer.status), response: answer.body };
  }
}

function failureOf(context: ScimContext, error: unknown): Answer {
  return render(error instanceof ContractError ? error : toScimError(context.services, context.requestId, error));
}

/** RFC 7644 section 3.7.3: a failed operation on an existing resource still names it. */
function locationOfFailed(context: ScimContext, operation: BulkOperation): Json {
  return operation.method.toUpperCase() === 'POST' || operation.path.includes('bulkId:') || !operation.path.startsWith('/')
    ? {}
    : { location: `${context.base}${operation.path}` };
}

interface Done {
  readonly status: number;
  readonly location: string;
  readonly version?: string;
  /** The id of what a POST made. */
  readonly made?: string;
}

async function perform(run: Run, at: number, raw: BulkOperation): Promise<Done> {
  const method = raw.method.toUpperCase();
  checkBulkId(run, at, method, raw);
  const operation = resolved(raw, (bulkId) => createdId(run, at, bulkId));
  const target = /^\/(Users|Groups)(?:\/([^/?#]+))?$/.exec(operation.path);
  if (target === null) throw invalidPath('The path of the operation names no resource.');
  const index = target[1] === 'Users' ? run.context.userIndex : groupIndex;
  const id = target[2] === undefined ? undefined : decoded(target[2]);
  if ((method === 'POST') !== (id === undefined)) throw invalidPath('The path does not fit the method of the operation.');
  return write(run.context, index, {
    method,
    id: id ?? run.ids.ids[at]!,
    data: operation.data,
    precondition: readPrecondition(operation.version),
  });
}

function checkBulkId({ ids }: Run, at: number, method: string, { bulkId }: BulkOperation): void {
  if (method !== 'POST') return;
  if (bulkId === undefined || bulkId === '') throw invalidPath('A POST needs a bulkId.');
  if (ids.creators.get(bulkId) !== at) throw invalidPath('The bulkId is used twice.');
}

/** The id behind a reference; unresolvable when nothing creates it or its creation failed. */
function createdId(run: Run, at: number, bulkId: string): string {
  const creator = run.ids.creators.get(bulkId);
  const result = creator === undefined ? undefined : run.results.get(creator);
  const failed = result !== undefined && 'response' in result;
  const id = creator === undefined || creator === at || failed ? undefined : (run.made.get(creator) ?? run.ids.ids[creator]);
  if (id === undefined) throw invalidPath('A bulkId cannot be resolved.');
  return id;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidPath('The path of the operation is malformed.');
  }
}

function bodyOf(data: unknown): JsonObject {
  if (!isJsonObject(data)) throw invalidValue('data of the operation must be an object.');
  return data;
}

interface Write {
  readonly method: string;
  readonly id: string;
  readonly data: unknown;
  readonly precondition: Precondition;
}

async function write(context: ScimContext, index: TypeIndex, { method, id, data, precondition }: Write): Promise<Done> {
  const isUser = isUsers(index);
  const done = (status: number, stored: Stored): Done => ({
    status,
    location: locationOf(index, stored.document, context.base),
    version: entityTag(stored.document, everything),
  });
  switch (method) {
    case 'POST': {
      const stored = await (isUser ? createUser : createGroup)(context, bodyOf(data), id);
      return { ...done(201, stored), made: String(stored.document['id']) };
    }
    case 'PUT':
      return done(200, await (isUser ? replaceUser : replaceGroup)(context, id, bodyOf(data), precondition));
    case 'PATCH':
      return done(200, await (isUser ? patchUser : patchGroup)(context, id, bodyOf(data), precondition));
    case 'DELETE':
      await (isUser ? deleteUser : deleteGroup)(context, id, precondition);
      return { status: 204, location: `${context.base}${index.type.endpoint}/${id}` };
    default:
      throw invalidPath('The method of the operation must be POST, PUT, PATCH or DELETE.');
  }
}

// Tries to sign in, so that administrators find why somebody could not: a row a try, found by the person or by the name that was typed,
// with a few lines of what happened. Written by the steps of a sign-in in the transaction of their effect. Anybody can make tries, so
// they are bounded: of one person, of all names that nobody has, and of one address among either. Names that nobody has stay a day.
import { createHash } from 'node:crypto';
import { type Expression, type SqlBool, sql } from 'kysely';
import { signInLinesPerTryMax, signInTryDetailCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { TryCheck, TryType } from '../../domain/sign-in/sign-in-try.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { compilable, statement } from '../engine/statement.ts';
import type { GrownTries } from './kept-tries.ts';
import type { LoginTransaction } from './login-transactions.ts';

export interface SignInTryTable {
  tenant_id: TenantId;
  /** The id of its login transaction; behind a dot, of whom, where that is not the first of the transaction. */
  id: string;
  /** Empty: nobody who is here. */
  user_id: UserId | '';
  /** What was typed, where nobody has that name. */
  typed: string | null;
  typed_key: string | null;
  /** Why nothing that follows can succeed, known when the person was named. */
  subject_check: string | null;
  /** `client:<id>` or `service_provider:<id>`. */
  application: string;
  ip: string | null;
  /** What the address is counted by. */
  address_block: string;
  user_agent: string | null;
  /** Of the last line. */
  type: string;
  failed_check: string | null;
  request_id: string | null;
  started_at: number;
  updated_at: number;
  expires_at: number;
  /** The one it was for, where it was for one. */
  organization_id: string | null;
}

export interface SignInLineTable {
  tenant_id: TenantId;
  try_id: string;
  /** From 0. */
  position: number;
  at: number;
  type: string;
  failed_check: string | null;
  /** What the check or the step was about: a provider's alias, what a mail server said. */
  detail: string | null;
  request_id: string | null;
}

export type SignInTry = Readonly<SignInTryTable>;
export type SignInLine = Readonly<SignInLineTable>;

/** Something that happened in a try. */
export interface TryLine {
  readonly type: TryType;
  readonly check?: TryCheck | undefined;
  readonly detail?: string | undefined;
  readonly requestId: string | undefined;
}

/** Whom a try is of, once that is known. */
export interface TrySubject {
  readonly userId: UserId | undefined;
  /** As typed; kept where nobody has it. */
  readonly typed?: string | undefined;
  /** Why nothing that follows can succeed. */
  readonly check?: TryCheck | undefined;
}

/** What a try is about: a login transaction, and the block of the address it came from. */
export interface Tried {
  readonly login: Pick<LoginTransaction, 'id' | 'kind' | 'client_id' | 'service_provider_id' | 'initiated_ip' | 'initiated_user_agent'> &
    Pick<LoginTransaction, 'organization_id' | 'chosen_organization_id'>;
  readonly addressBlock: string;
}

const dayMs = 24 * 3600 * 1000;
const keptMs = 30 * dayMs;
/** Of a name that nobody has. */
const unknownKeptMs = dayMs;

/**
 * Writes a line of the transaction's try in the caller's transaction, beginning the try with the first. Another person named in the
 * same transaction is another try. Gives whose tries are one more, for trimTries.
 */
export async function noteTry(
  queries: Queries,
  tenant: TenantId,
  { login, addressBlock }: Tried,
  line: TryLine,
  subject?: TrySubject,
): Promise<GrownTries | undefined> {
  const current = await findCurrent(queries, tenant, login.id);
  const userId: UserId | '' = subject?.userId ?? '';
  const typedKey = subject?.userId === undefined && subject?.typed !== undefined ? foldKey(subject.typed) : null;
  const isOfIt =
    current === undefined ||
    subject === undefined ||
    (current.user_id === '' && current.typed_key === null) ||
    isSame(current, userId, typedKey);
  const id = current === undefined ? login.id : isOfIt ? current.id : `${login.id}.${hashOf(`${userId} ${typedKey ?? ''}`)}`;
  const check = subject?.check ?? (isOfIt ? current?.subject_check : undefined) ?? null;
  const values = {
    tenant,
    id,
    userId,
    typed: typedKey === null ? null : subject!.typed!,
    typedKey,
    check,
    application: login.kind === 'oidc' ? `client:${login.client_id}` : `service_provider:${login.service_provider_id}`,
    ip: login.initiated_ip,
    addressBlock,
    userAgent: login.initiated_user_agent,
    organizationId: login.organization_id ?? login.chosen_organization_id,
    type: line.type,
    failed: failedCheck(line, check),
    requestId: line.requestId ?? null,
    keptMs: typedKey === null ? keptMs : unknownKeptMs,
  };
  const isNew = current?.id !== id && (await insertTry(queries, values)).rows.length === 1;
  const isThere = isNew || (await updateTry(queries, { ...values, isNamed: subject === undefined ? 0 : 1 })).rows.length === 1;
  if (isThere) await insertLine(queries, lineValues(tenant, id, line, values.failed));
  return isNew ? { userId, addressBlock } : undefined;
}

/** Writes a line of a try that is there, by the beginning of its transaction's id. Does nothing where there is none. */
export async function noteOnTry(queries: Queries, tenant: TenantId, transaction: string, line: TryLine): Promise<void> {
  const current = await findCurrent(queries, tenant, transaction);
  if (current === undefined || (current.type === 'login.finished' && ofMails.has(line.type))) return;
  const { id } = current;
  const failed = failedCheck(line, current.subject_check);
  const { rows } = await touchTry(queries, { tenant, id, type: line.type, failed, requestId: line.requestId ?? null });
  if (rows.length === 1) await insertLine(queries, lineValues(tenant, id, line, failed));
}

/** What is told of a mail after somebody got in by another means changes nothing. */
const ofMails: ReadonlySet<TryType> = new Set(['mail.failed', 'code.sent']);

const hashOf = (subject: string): string => createHash('sha256').update(subject).digest('base64url').slice(0, 10);

const isSame = (current: Pick<SignInTry, 'user_id' | 'typed_key'>, userId: string, typedKey: string | null): boolean =>
  current.user_id === userId && current.typed_key === typedKey;

/** Where the person is nobody or may not sign in, that is why, whatever else went wrong. */
const failedCheck = ({ type, check }: TryLine, ofSubject: string | null): string | null =>
  type === 'login.finished' || type === 'login.cancelled' ? null : (ofSubject ?? check ?? null);

type Of = { readonly tenant: TenantId; readonly transaction: string; readonly behind: string };

const currentStatement = statement((queries, { tenant, transaction, behind }: Of) =>
  queries
    .selectFrom('sign_in_tries')
    .select(['id', 'user_id', 'typed_key', 'subject_check', 'type'])
    .where('tenant_id', '=', tenant)
    .where('id', '>=', transaction)
    .where('id', '<', behind)
    .orderBy('updated_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
);

async function findCurrent(queries: Queries, tenant: TenantId, transaction: string) {
  return (await currentStatement(queries, { tenant, transaction, behind: `${transaction}~` })).rows[0];
}

type TryValues = {
  readonly tenant: TenantId;
  readonly id: string;
  readonly userId: UserId | '';
  readonly typed: string | null;
  readonly typedKey: string | null;
  readonly check: string | null;
  readonly application: string;
  readonly ip: string | null;
  readonly addressBlock: string;
  readonly userAgent: string | null;
  readonly organizationId: string | null;
  readonly type: string;
  readonly failed: string | null;
  readonly requestId: string | null;
  readonly keptMs: number;
};

const insertTry = statement((queries, values: TryValues) =>
  queries
    .insertInto('sign_in_tries')
    .values({
      tenant_id: values.tenant,
      id: values.id,
      user_id: values.userId,
      typed: values.typed,
      typed_key: values.typedKey,
      subject_check: values.check,
      application: values.application,
      ip: values.ip,
      address_block: values.addressBlock,
      user_agent: values.userAgent,
      type: values.type,
      failed_check: values.failed,
      request_id: values.requestId,
      started_at: databaseNowMs,
      updated_at: databaseNowMs,
      expires_at: sql<number>`${databaseNowMs} + ${values.keptMs}`,
      organization_id: values.organizationId,
    })
    .onConflict((on) => on.doNothing())
    .returning('id'),
);

const updateTry = statement((queries, values: TryValues & { readonly isNamed: number }) =>
  compilable(
    queries,
    sql<{ readonly id: string }>`
    UPDATE sign_in_tries SET type = ${values.type}, failed_check = ${values.failed}, request_id = ${values.requestId}, updated_at = ${databaseNowMs},
      organization_id = coalesce(${values.organizationId}, organization_id),
      user_id = CASE WHEN ${values.isNamed} = 1 THEN ${values.userId} ELSE user_id END,
      typed = CASE WHEN ${values.isNamed} = 1 THEN ${values.typed} ELSE typed END,
      typed_key = CASE WHEN ${values.isNamed} = 1 THEN ${values.typedKey} ELSE typed_key END,
      subject_check = CASE WHEN ${values.isNamed} = 1 THEN ${values.check} ELSE subject_check END,
      expires_at = CASE WHEN ${values.isNamed} = 1 THEN ${databaseNowMs} + ${values.keptMs} ELSE expires_at END
    WHERE tenant_id = ${values.tenant} AND id = ${values.id} RETURNING id`,
  ),
);

type Touched = Pick<TryValues, 'tenant' | 'id' | 'type' | 'failed' | 'requestId'>;

const touchTry = statement((queries, { tenant, id, type, failed, requestId }: Touched) =>
  queries
    .updateTable('sign_in_tries')
    .set({ type, failed_check: failed, request_id: requestId, updated_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', id)
    .returning('id'),
);

type LineValues = {
  readonly tenant: TenantId;
  readonly tryId: string;
  readonly type: string;
  readonly failed: string | null;
  readonly detail: string | null;
  readonly requestId: string | null;
};

const lineValues = (tenant: TenantId, tryId: string, { type, detail, requestId }: TryLine, failed: string | null): LineValues => ({
  tenant,
  tryId,
  type,
  failed,
  detail: detail?.slice(0, signInTryDetailCharsMax).replaceAll('\0', '\u{fffd}') ?? null,
  requestId: requestId ?? null,
});

/** A try keeps its first lines; its row, which is locked until the commit, says what came last. */
const insertLine = statement((queries, { tenant, tryId, type, failed, detail, requestId }: LineValues) =>
  compilable(
    queries,
    sql`
    INSERT INTO sign_in_lines (tenant_id, try_id, position, at, type, failed_check, detail, request_id)
    SELECT * FROM (
      SELECT ${tenant}, ${tryId}, (SELECT count(*) FROM sign_in_lines WHERE tenant_id = ${tenant} AND try_id = ${tryId}) AS lines,
        ${databaseNowMs}, ${type}, ${failed}, ${detail}, ${requestId}) AS line
    WHERE lines < ${signInLinesPerTryMax}`,
  ),
);

export interface TryFilter {
  /** Of this person. */
  readonly userId?: string | undefined;
  /** Nobody has what was typed, and this is a part of it. */
  readonly typed?: string | undefined;
  readonly application?: string | undefined;
  /** The id of the one they were for. */
  readonly organization?: string | undefined;
  readonly ip?: { readonly address: string; readonly block: string } | undefined;
  /** Of a request, of a login transaction, or of the try itself. */
  readonly id?: string | undefined;
  /** Inclusive, exclusive. */
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  /** Where the page before ended. */
  readonly before?: { readonly startedAt: number; readonly id: string } | undefined;
  readonly limit: number;
}

/** A page of tries, newest first. `userId` and `typed` together find those of either. */
export async function listTries(queries: Queries, tenant: TenantId, filter: TryFilter): Promise<readonly SignInTry[]> {
  const { userId, typed, ip, id, before } = filter;
  let query = queries.selectFrom('sign_in_tries').selectAll().where('tenant_id', '=', tenant).where('expires_at', '>', databaseNowMs);
  if (userId !== undefined || typed !== undefined)
    query = query.where((eb) => {
      const either: Expression<SqlBool>[] = [];
      if (userId !== undefined) either.push(eb('user_id', '=', userId as UserId)); // a look-up key
      if (typed !== undefined) either.push(eb.and([eb('user_id', '=', ''), sql<SqlBool>`typed_key LIKE ${likeOf(typed)} ESCAPE '\\'`]));
      return eb.or(either);
    });
  if (filter.application !== undefined) query = query.where('application', '=', filter.application);
  if (filter.organization !== undefined) query = query.where('organization_id', '=', filter.organization);
  if (ip !== undefined) query = query.where('address_block', '=', ip.block).where('ip', '=', ip.address);
  if (id !== undefined)
    query = query.where((eb) =>
      eb.or([
        eb.and([eb('id', '>=', id), eb('id', '<', `${id}~`)]),
        eb(
          'id',
          'in',
          eb
            .selectFrom('sign_in_lines')
            .select('try_id')
            .where('sign_in_lines.tenant_id', '=', tenant)
            .where('sign_in_lines.request_id', '=', id),
        ),
      ]),
    );
  if (filter.fromMs !== undefined) query = query.where('started_at', '>=', filter.fromMs);
  if (filter.toMs !== undefined) query = query.where('started_at', '<', filter.toMs);
  if (before !== undefined)
    query = query.where((eb) =>
      eb.or([eb('started_at', '<', before.startedAt), eb.and([eb('started_at', '=', before.startedAt), eb('id', '<', before.id)])]),
    );
  return query.orderBy('started_at', 'desc').orderBy('id', 'desc').limit(filter.limit).execute();
}

const likeOf = (part: string): string => `%${foldKey(part).replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;

/** The lines of tries, oldest first. */
export async function listLines(queries: Queries, tenant: TenantId, tries: readonly string[]): Promise<readonly SignInLine[]> {
  if (tries.length === 0) return [];
  return queries
    .selectFrom('sign_in_lines')
    .selectAll()
    .where('tenant_id', '=', tenant)
    .where('try_id', 'in', tries)
    .orderBy('try_id')
    .orderBy('position')
    .execute();
}

/** The try that a request belongs to. */
export async function findTryOfRequest(queries: Queries, tenant: TenantId, requestId: string): Promise<SignInTry | undefined> {
  return queries
    .selectFrom('sign_in_lines as l')
    .innerJoin('sign_in_tries as t', (join) => join.onRef('t.tenant_id', '=', 'l.tenant_id').onRef('t.id', '=', 'l.try_id'))
    .selectAll('t')
    .where('l.tenant_id', '=', tenant)
    .where('l.request_id', '=', requestId)
    .where('t.expires_at', '>', databaseNowMs)
    .limit(1)
    .executeTakeFirst();
}

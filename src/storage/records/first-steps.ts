// What the first steps on the console's overview are judged by: what was shown to work once stays shown. A mail has arrived when the code in
// it was typed in, by the one it was sent to, within its time, once; sign-ins are looked for by their indexes, until one was seen.
import { type RawBuilder, sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';

export interface FirstStepTable {
  tenant_id: TenantId;
  /** Of a ProvenStep, or `mail:<where mails go>:<user>`. */
  id: string;
  /** Of a mail that is on its way. */
  code_hash: string | null;
  expires_at: number | null;
  /** 0: not yet. */
  proven_at: number;
}

/** Steps that a sign-in shows. */
export const provenSteps = ['application', 'people', 'sign-in'] as const;
export type ProvenStep = (typeof provenSteps)[number];

/** How long the code in a mail counts. */
export const mailTrialMinutes = 60;

/** A mail to a person by a server, which `where` tells from others. */
export interface MailTrial {
  readonly where: string;
  readonly userId: UserId;
}

const idOf = ({ where, userId }: MailTrial): string => `mail:${where}:${userId}`;

/** A code is on its way; one that was sent before to the same person is worth nothing from here on. */
export async function beginMailTrial(queries: Queries, tenant: TenantId, trial: MailTrial, codeHash: string): Promise<void> {
  const pending = { code_hash: codeHash, expires_at: sql<number>`${databaseNowMs} + ${mailTrialMinutes * 60_000}` };
  await queries
    .insertInto('first_steps')
    .values({ tenant_id: tenant, id: idOf(trial), ...pending, proven_at: 0 })
    .onConflict((on) => on.columns(['tenant_id', 'id']).doUpdateSet(pending))
    .execute();
}

/** The code was typed in: true once, within its time. */
export async function redeemMailTrial(queries: Queries, tenant: TenantId, trial: MailTrial, codeHash: string): Promise<boolean> {
  const rows = await queries
    .updateTable('first_steps')
    .set({ code_hash: null, expires_at: null, proven_at: databaseNowMs })
    .where('tenant_id', '=', tenant)
    .where('id', '=', idOf(trial))
    .where('code_hash', '=', codeHash)
    .where('expires_at', '>', databaseNowMs)
    .returning('id')
    .execute();
  return rows.length === 1;
}

/** Until when the code of a mail to that person counts. */
export async function findMailTrial(queries: Queries, tenant: TenantId, trial: MailTrial): Promise<number | undefined> {
  const row = await queries
    .selectFrom('first_steps')
    .select('expires_at')
    .where('tenant_id', '=', tenant)
    .where('id', '=', idOf(trial))
    .where('code_hash', 'is not', null)
    .where('expires_at', '>', databaseNowMs)
    .executeTakeFirst();
  return row?.expires_at ?? undefined;
}

/** When a mail last arrived by that server, whoever typed its code in. */
export async function findMailArrival(queries: Queries, tenant: TenantId, where: string): Promise<number | undefined> {
  const row = await queries
    .selectFrom('first_steps')
    .select(({ fn }) => fn.max('proven_at').as('at'))
    .where('tenant_id', '=', tenant)
    .where('id', '>=', `mail:${where}:`)
    .where('id', '<', `mail:${where};`)
    .executeTakeFirst();
  const at = Number(row?.at ?? 0);
  return at === 0 ? undefined : at;
}

/** When each step was first shown; those that were not are looked for now. */
export async function readProvenSteps(queries: Queries, tenant: TenantId): Promise<ReadonlyMap<ProvenStep, number>> {
  const rows = await queries
    .selectFrom('first_steps')
    .select(['id', 'proven_at'])
    .where('tenant_id', '=', tenant)
    .where('id', 'in', provenSteps)
    .execute();
  return new Map(rows.map(({ id, proven_at: at }) => [id as ProvenStep, Number(at)])); // the ids that were asked for
}

/** What a sign-in that is on record shows of steps that nothing has shown yet. */
export async function findEvidence(queries: Queries, tenant: TenantId): Promise<ReadonlySet<ProvenStep>> {
  const { rows } = await sql<Record<'application' | 'people' | 'sign_in', number>>`SELECT
    CASE WHEN ${signedInto(tenant)} OR ${ofApplications(
      (some) => sql`SELECT 1 FROM sign_in_tries t
      WHERE t.tenant_id = ${tenant} AND ${some} AND (t.type = 'login.finished' OR t.failed_check IS NOT NULL)`,
    )} THEN 1 ELSE 0 END AS application,
    CASE WHEN EXISTS (SELECT 1 FROM last_sign_ins l JOIN users u ON u.tenant_id = l.tenant_id AND u.id = l.id
      WHERE l.tenant_id = ${tenant} AND l.kind = 'user' AND u.role = 'user' AND u.state <> 'deleted') THEN 1 ELSE 0 END AS people,
    CASE WHEN ${ofApplications(
      (some) => sql`SELECT 1 FROM sign_in_tries t JOIN users u ON u.tenant_id = t.tenant_id AND u.id = t.user_id
      WHERE t.tenant_id = ${tenant} AND ${some} AND t.type = 'login.finished' AND u.role = 'user'`,
    )} THEN 1 ELSE 0 END AS sign_in`.execute(queries);
  const found = rows[0];
  const seen = { application: found?.application, people: found?.people, 'sign-in': found?.sign_in };
  return new Set(provenSteps.filter((step) => Number(seen[step]) === 1));
}

/** Of an application that is none of our own pages, whose ids begin alike: two ranges of the index, neither of which has theirs. */
const ofApplications = (rows: (some: RawBuilder<boolean>) => RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`(EXISTS (${rows(sql<boolean>`t.application < 'client:gatehouse-'`)}) OR EXISTS (${rows(sql<boolean>`t.application >= 'client:gatehouse.'`)}))`;

const signedInto = (tenant: TenantId): RawBuilder<boolean> => sql<boolean>`EXISTS (SELECT 1 FROM last_sign_ins l
  WHERE l.tenant_id = ${tenant} AND l.kind IN ('client', 'service_provider') AND l.id NOT LIKE 'gatehouse-%')`;

/** Remembers what was shown. */
export async function noteProvenSteps(queries: Queries, tenant: TenantId, steps: Iterable<ProvenStep>): Promise<void> {
  const values = [...steps].map((id) => ({ tenant_id: tenant, id, code_hash: null, expires_at: null, proven_at: databaseNowMs }));
  if (values.length === 0) return;
  await queries
    .insertInto('first_steps')
    .values(values)
    .onConflict((on) => on.doNothing())
    .execute();
}

/** How many of the people who hold roles have signed in, at most two. */
export async function countAdministratorsSeen(queries: Queries, tenant: TenantId): Promise<number> {
  const { rows } = await sql<{ n: number | string }>`SELECT count(*) AS n FROM (
    SELECT DISTINCT r.user_id FROM user_roles r
    JOIN users u ON u.tenant_id = r.tenant_id AND u.id = r.user_id
    JOIN last_sign_ins l ON l.tenant_id = r.tenant_id AND l.kind = 'user' AND l.id = r.user_id
    WHERE r.tenant_id = ${tenant} AND u.state = 'active' LIMIT 2) AS seen`.execute(queries);
  return Number(rows[0]?.n ?? 0);
}

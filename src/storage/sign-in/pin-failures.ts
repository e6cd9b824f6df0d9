// Wrong mailed codes of a mailbox from everywhere: of the day, of the year, and in a row. What is counted here bounds the odds of
// guessing (docs/security-model.md), so it is in SQL, where all nodes see it. Used by approvals/mailed/pin-failures.ts alone.
import { sql } from 'kysely';
import type { TenantId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../engine/database.ts';
import { databaseNowMs } from '../engine/instance.ts';
import { compilable, statement } from '../engine/statement.ts';
import { dayMs } from './pins.ts';

export interface PinFailureTable {
  tenant_id: TenantId;
  mail_key: string;
  of_day: number;
  day_since: number;
  /** What no sign-in takes back. */
  of_year: number;
  year_since: number;
  /** Since its person last signed in. */
  in_row: number;
  expires_at: number;
}

const yearMs = 365 * dayMs;

type FailuresOf = Pick<PinFailureTable, 'of_day' | 'of_year' | 'in_row'>;

/** How many there may be, with this one. */
type FailureBounds = {
  readonly ofDayMax: number;
  readonly ofYearMax: number;
  readonly inRowMax: number;
};

type CountValues = KeyValues & FailureBounds;

type KeyValues = {
  readonly tenant: TenantId;
  readonly key: string;
};

const countStatement = statement((queries, { tenant, key, ofDayMax, ofYearMax, inRowMax }: CountValues) =>
  compilable(
    queries,
    sql<FailuresOf>`
    INSERT INTO pin_failures (tenant_id, mail_key, of_day, day_since, of_year, year_since, in_row, expires_at)
    VALUES (${tenant}, ${key}, 1, ${databaseNowMs}, 1, ${databaseNowMs}, 1, ${databaseNowMs} + ${yearMs})
    ON CONFLICT (tenant_id, mail_key) DO UPDATE SET
      of_day = CASE WHEN pin_failures.day_since <= excluded.day_since - ${dayMs} THEN 1 ELSE pin_failures.of_day + 1 END,
      day_since = CASE WHEN pin_failures.day_since <= excluded.day_since - ${dayMs} THEN excluded.day_since ELSE pin_failures.day_since END,
      of_year = CASE WHEN pin_failures.year_since <= excluded.day_since - ${yearMs} THEN 1 ELSE pin_failures.of_year + 1 END,
      year_since = CASE WHEN pin_failures.year_since <= excluded.day_since - ${yearMs} THEN excluded.day_since ELSE pin_failures.year_since END,
      in_row = pin_failures.in_row + 1,
      expires_at = excluded.expires_at
    WHERE (pin_failures.day_since <= excluded.day_since - ${dayMs} OR pin_failures.of_day < ${ofDayMax})
      AND (pin_failures.year_since <= excluded.day_since - ${yearMs} OR pin_failures.of_year < ${ofYearMax})
      AND pin_failures.in_row < ${inRowMax}
    RETURNING of_day, of_year, in_row`,
  ),
);

/** Counts one before the code is compared; undefined, and nothing counted, when it would be one too many of any kind. */
export async function countPinFailure(
  queries: Queries,
  tenant: TenantId,
  key: string,
  bounds: FailureBounds,
): Promise<FailuresOf | undefined> {
  return (await countStatement(queries, { tenant, key, ...bounds })).rows[0];
}

const findStatement = statement((queries, { tenant, key }: KeyValues) =>
  compilable(
    queries,
    sql<FailuresOf>`
    SELECT CASE WHEN day_since <= ${databaseNowMs} - ${dayMs} THEN 0 ELSE of_day END AS of_day,
      CASE WHEN year_since <= ${databaseNowMs} - ${yearMs} THEN 0 ELSE of_year END AS of_year, in_row
    FROM pin_failures WHERE tenant_id = ${tenant} AND mail_key = ${key}`,
  ),
);

export async function findPinFailures(queries: Queries, tenant: TenantId, key: string): Promise<FailuresOf> {
  return (await findStatement(queries, { tenant, key })).rows[0] ?? { of_day: 0, of_year: 0, in_row: 0 };
}

const uncountStatement = statement((queries, { tenant, key }: KeyValues) =>
  queries
    .updateTable('pin_failures')
    .set((eb) => ({ of_day: eb('of_day', '-', 1), of_year: eb('of_year', '-', 1) }))
    .where('tenant_id', '=', tenant)
    .where('mail_key', '=', key)
    .where('of_day', '>', 0)
    .where('of_year', '>', 0),
);

/** A code that was right was no failure. Those before it stay. */
export async function uncountPinFailure(queries: Queries, tenant: TenantId, key: string): Promise<void> {
  await uncountStatement(queries, { tenant, key });
}

const endRow = statement((queries, { tenant, key }: KeyValues) =>
  queries
    .updateTable('pin_failures')
    .set({ in_row: 0 })
    .where('tenant_id', '=', tenant)
    .where('mail_key', '=', key)
    .where('in_row', '>', 0),
);

/** The person of a mailbox proved it. */
export async function endFailuresInRow(queries: Queries, tenant: TenantId, key: string): Promise<void> {
  await endRow(queries, { tenant, key });
}

const endRowsOfUser = statement((queries, { tenant, user }: { readonly tenant: TenantId; readonly user: UserId }) =>
  queries
    .updateTable('pin_failures')
    .set({ in_row: 0 })
    .where('tenant_id', '=', tenant)
    .where('mail_key', 'in', (eb) =>
      eb.selectFrom('user_emails').select('value_key').where('tenant_id', '=', tenant).where('user_id', '=', user),
    )
    .where('in_row', '>', 0),
);

/** What is counted of the mailboxes of a person who is deleted: by strangers, and by who has a budget of their own. */
export async function forgetFailuresOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<void> {
  const keys = queries.selectFrom('user_emails').where('tenant_id', '=', tenant).where('user_id', '=', user);
  for (const key of [keys.select('value_key as key'), keys.select(sql<string>`'own:' || value_key`.as('key'))])
    await queries.deleteFrom('pin_failures').where('tenant_id', '=', tenant).where('mail_key', 'in', key).execute();
}

/** Somebody signed in, by whatever means. */
export async function endFailuresOfUser(queries: Queries, tenant: TenantId, user: UserId): Promise<void> {
  await endRowsOfUser(queries, { tenant, user });
}

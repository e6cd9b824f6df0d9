// What wrong mailed codes are counted by, before a code is compared: a day and an hour of whoever types, and, for strangers, a day and a
// row of the mailbox from everywhere. A year of the mailbox, which no sign-in takes back, decides how many digits its codes have, so that
// guessing stays beyond one in ten thousand a year (docs/security-model.md). Used by pin.ts.
import {
  countMax,
  nearFailuresPerHourMax,
  pinDigitsMax,
  pinFailuresPerDayMax,
  shortPinFailuresPerYearMax,
  strangerFailuresInRowMax,
} from '../../contract/limits.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { countPinFailure, endFailuresInRow, findPinFailures, uncountPinFailure } from '../../storage/sign-in/pin-failures.ts';
import { hourMs, refillFailures, takeFailure, takeSend } from '../../storage/sign-in/pins.ts';
import type { Asking } from '../asker.ts';
import { timesFarNow } from '../attack.ts';

/** Whoever types a code, and whose it is. */
export interface Guesser extends Asking {
  readonly mailKey: string;
}

/** Which budget is spent. `digits`: codes of so few are not taken any more. */
export type SpentBudget = 'near_hour' | 'near_day' | 'own_day' | 'far_day' | 'far_row' | 'digits';

interface CountedGuess {
  /** How many more there may be. */
  readonly left: number;
  /** True: this very one spent a budget of which its person is told, once an hour. */
  readonly isTold: boolean;
}

/** Wrong codes in a day, those of recovery too, that one budget takes. */
export const failuresPerDayMax = ({ settings, areLimitsLifted }: Tenant): number =>
  areLimitsLifted ? countMax : settings.pin.failures_per_day_max;

/** The digits a new code has; `far_row`: strangers are sent none. */
export async function judgeDigits(
  queries: Queries,
  tenant: Tenant,
  guesser: Guesser,
): Promise<Outcome<{ readonly digits: number }, 'far_row'>> {
  const { length } = tenant.settings.pin;
  if (tenant.areLimitsLifted) return { ok: true, digits: length };
  const failures = await findPinFailures(queries, tenant.id, yearKeyOf(guesser));
  if (guesser.asker.isStranger && failures.in_row >= strangerFailuresInRowMax && (await timesFarNow(queries, tenant, guesser.userId)) === 1)
    return fail('far_row');
  return { ok: true, digits: failures.of_year >= shortPinFailuresPerYearMax ? pinDigitsMax : length };
}

/**
 * Counts one guess at a code of so many digits. What one budget refuses must count in no other: the caller rolls its transaction back.
 */
export async function countGuess(
  queries: Queries,
  tenant: Tenant,
  guesser: Guesser,
  digits: number,
): Promise<Outcome<CountedGuess, SpentBudget>> {
  const { isStranger } = guesser.asker;
  const dayMax = failuresPerDayMax(tenant);
  const ofDay = await takeFailure(queries, tenant.id, dayKeyOf(guesser), dayMax);
  if (ofDay === undefined) return fail(isStranger ? 'near_day' : 'own_day');
  if (tenant.areLimitsLifted) return { ok: true, left: countMax, isTold: false };
  const ofHour = isStranger ? await takeFailure(queries, tenant.id, hourKeyOf(guesser), nearFailuresPerHourMax, hourMs) : 0;
  if (ofHour === undefined) return fail('near_hour');
  const all = await countFromAll(queries, tenant, guesser, digits);
  if (!all.ok) return all;
  const { leftFromAll } = all;
  const isSpent = ofDay === dayMax || leftFromAll === 0;
  const told = `warned:${isStranger ? '' : guesser.asker.key}:${guesser.mailKey}`;
  const isTold = isSpent && (await takeSend(queries, tenant.id, told, { cooldownSeconds: 0, sendsPerHourMax: 1 })) === 'taken';
  return { ok: true, left: Math.min(dayMax - ofDay, nearFailuresPerHourMax - ofHour, leftFromAll), isTold };
}

/** Counts it in the year, and a stranger's in the day and the row of all strangers, which the person may open for a while. */
async function countFromAll(
  queries: Queries,
  tenant: Tenant,
  guesser: Guesser,
  digits: number,
): Promise<Outcome<{ readonly leftFromAll: number }, SpentBudget>> {
  const { isStranger } = guesser.asker;
  const key = yearKeyOf(guesser);
  const ofYearMax = digits >= pinDigitsMax ? countMax : shortPinFailuresPerYearMax;
  const count = async (ofDayMax: number, inRowMax: number) => {
    const all = await countPinFailure(queries, tenant.id, key, { ofDayMax, ofYearMax, inRowMax });
    return all && { ok: true as const, leftFromAll: Math.min(ofDayMax - all.of_day, inRowMax - all.in_row) };
  };
  if (!isStranger) return (await count(countMax, countMax)) ?? fail('digits');
  const counted = await count(pinFailuresPerDayMax, strangerFailuresInRowMax);
  if (counted !== undefined) return counted;
  const { of_day, in_row } = await findPinFailures(queries, tenant.id, key);
  const isRow = in_row >= strangerFailuresInRowMax;
  if (!isRow && of_day < pinFailuresPerDayMax) return fail('digits');
  const times = await timesFarNow(queries, tenant, guesser.userId);
  const opened = times === 1 ? undefined : await count(pinFailuresPerDayMax * times, countMax);
  return opened ?? fail(isRow ? 'far_row' : 'far_day');
}

/** The code was right: a budget of theirs is full again, and strangers' row begins anew; of the year this one alone is taken back. */
export async function forgiveGuesses(queries: Queries, tenant: Tenant, guesser: Guesser): Promise<void> {
  await refillFailures(queries, tenant.id, dayKeyOf(guesser));
  if (guesser.asker.isStranger) await refillFailures(queries, tenant.id, hourKeyOf(guesser));
  await uncountPinFailure(queries, tenant.id, yearKeyOf(guesser));
  await endFailuresInRow(queries, tenant.id, guesser.mailKey);
}

type Keyed = Pick<Guesser, 'asker' | 'mailKey'>;

const dayKeyOf = ({ asker, mailKey }: Keyed): string => `${asker.key}:${mailKey}`;
const hourKeyOf = ({ asker, mailKey }: Keyed): string => `hour:${asker.key}:${mailKey}`;
/** All strangers share one, and all who have a budget of their own. */
const yearKeyOf = ({ asker, mailKey }: Keyed): string => (asker.isStranger ? mailKey : `own:${mailKey}`);

// Recovery codes (design 14, 3): ten of 50 bits that let a person in who has lost the phone, each once. Stored by an HMAC under a
// key of the tenant, shown when they are made and never again. Attempts are counted and committed before a code is looked for;
// for a person nobody knows the same statements run and find nothing. Strangers together have no budget: there is no guessing 50 bits
// (docs/security-model.md), and who spent one would keep the person from the last way in.
import { createHmac } from 'node:crypto';
import { recoveryCodesMade } from '../../contract/limits.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { meantCode, newTypedCode } from '../../crypto/typed-code.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Letter } from '../../mails/letter.ts';
import type { RecoveryCodeNews } from '../../mails/recovery-code-mail.ts';
import { mails } from '../../mails/registry.ts';
import type { ConfigCache } from '../../storage/engine/config/config-cache.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { holdActiveUser } from '../../storage/people/user-writer.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import { refillFailures, takeFailure } from '../../storage/sign-in/pins.ts';
import { countRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from '../../storage/sign-in/recovery-codes.ts';
import { loadTenantKey } from '../../tokens/tenant-secret.ts';
import { type Asker, nobody } from '../asker.ts';
import type { MailDeps } from '../mailed/mail-delivery.ts';
import { failuresPerDayMax } from '../mailed/pin-failures.ts';
import { mailUser } from '../mailed/user-mail.ts';

export interface RecoveryCodeDeps extends MailDeps {
  readonly database: Database;
  readonly cache: ConfigCache;
  readonly encryption: KeyEncryption;
}

/** Who acts, for the audit record; `asked` is the Accept-Language of the request. */
interface RecoveryActor {
  readonly actor: string;
  readonly requestId: string;
  readonly asked: string | undefined;
}

/** The key codes are hashed under; load it before a transaction, so that the transaction waits for nothing else. */
export const loadRecoveryPepper = (deps: Pick<RecoveryCodeDeps, 'cache' | 'encryption'>, tenant: Tenant): Promise<Buffer> =>
  loadTenantKey(deps.cache, deps.encryption, tenant.id, 'gatehouse recovery codes v1');

/**
 * Makes new codes for a person, who is told by mail; those before no longer work. `not_allowed`: `mayMake`, asked in the
 * transaction, says no, or the person is not active. The codes are known to the caller alone.
 */
export async function makeRecoveryCodes(
  deps: RecoveryCodeDeps,
  tenant: Tenant,
  person: { readonly userId: UserId; mayMake(queries: Queries): Promise<boolean> },
  by: RecoveryActor,
): Promise<Outcome<{ readonly codes: readonly string[] }, 'not_allowed'>> {
  const { userId } = person;
  const pepper = await loadRecoveryPepper(deps, tenant);
  const codes = Array.from({ length: recoveryCodesMade }, newTypedCode);
  return deps.database.write(tenant.id, async (queries) => {
    if (!(await holdActiveUser(queries, tenant.id, userId)) || !(await person.mayMake(queries))) return fail('not_allowed');
    const hmacs = codes.map((code) => hmacOf(pepper, userId, code));
    await replaceRecoveryCodes(queries, tenant.id, userId, hmacs);
    const { actor, requestId, asked } = by;
    await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
      actor,
      requestId,
      type: 'recovery_codes.made',
      target: `user:${userId}`,
      data: { codes: codes.length },
    });
    await tell(queries, deps, tenant, { userId, asked }, { news: 'made', remaining: codes.length });
    return { ok: true, codes };
  });
}

/** What an attempt is counted by: whoever types, and the person or the identifier nobody has. */
interface RecoveryBudget {
  readonly asker: Asker;
  readonly person: string;
}

/** Counts one attempt, in a transaction of its own. Gives how many are left; undefined when none was. */
export async function takeRecoveryAttempt(
  { database }: Pick<RecoveryCodeDeps, 'database'>,
  tenant: Tenant,
  loginId: string,
  budget: RecoveryBudget,
): Promise<number | undefined> {
  const { attempts_max: attemptsMax } = tenant.settings.pin;
  const failuresMax = failuresPerDayMax(tenant);
  return database.write(tenant.id, async (queries) => {
    const attempts = await takeFailure(queries, tenant.id, keyOfLogin(loginId), attemptsMax);
    if (attempts === undefined) return undefined;
    const failures = await takeFailure(queries, tenant.id, keyOfDay(budget), failuresMax);
    if (failures === undefined) return undefined;
    return Math.min(attemptsMax - attempts, failuresMax - failures);
  });
}

/** Budgets of their own beside those of mailed codes, so that guessing one kind spends nothing of the other. */
const keyOfLogin = (loginId: string): string => `recovery-login:${loginId}`;
const keyOfDay = ({ asker, person }: RecoveryBudget): string => `recovery:${asker.key}:${person}`;

interface PresentedCode {
  /** Undefined: nobody. */
  readonly userId: UserId | undefined;
  readonly budget: RecoveryBudget;
  readonly code: string;
  readonly requestId: string;
  /** The languages the browser asks for. */
  readonly asked: string | undefined;
}

/**
 * Uses a code up in the transaction of its effect and tells the person by mail. False: not a code of theirs that still works.
 * `userId` undefined: nobody, at the same cost.
 */
export async function redeemRecoveryCode(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  pepper: Buffer,
  presented: PresentedCode,
): Promise<boolean> {
  const userId = presented.userId ?? nobody;
  if (!(await useRecoveryCode(queries, tenant.id, userId, hmacOf(pepper, userId, presented.code)))) return false;
  await refillFailures(queries, tenant.id, keyOfDay(presented.budget));
  const { remaining } = await countRecoveryCodes(queries, tenant.id, userId);
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    actor: `user:${userId}`,
    requestId: presented.requestId,
    type: 'recovery_code.used',
    target: `user:${userId}`,
    data: { remaining },
  });
  await tell(queries, deps, tenant, { userId, asked: presented.asked }, { news: 'used', remaining });
  return true;
}

async function tell(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  whom: { readonly userId: UserId; readonly asked: string | undefined },
  facts: { readonly news: RecoveryCodeNews; readonly remaining: number },
): Promise<void> {
  const accountUrl = `${tenant.baseUrl}/account`;
  const mail = (to: string, language: Language): Letter =>
    mails.recoveryCode.make({ ...facts, tenantName: tenant.name, accountUrl, language }, to);
  await mailUser(queries, deps, tenant, whom, mail);
}

const hmacOf = (pepper: Buffer, userId: UserId, typed: string): string =>
  createHmac('sha256', pepper)
    .update(`${userId}\0${meantCode(typed)}`)
    .digest('base64url');

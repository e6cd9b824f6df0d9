// How an administrator comes to be: a single-use link makes one, or lets one in again who lost the phone. Whoever opens it is
// given an enrolment token, so that the first phone can be enrolled without anybody's approval.
import { hashSecret } from '../crypto/secret-hash.ts';
import type { UserId } from '../domain/ids.ts';
import { ownerRole } from '../domain/people/role.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertUser, setUserState } from '../storage/people/user-writer.ts';
import { findLiveUser } from '../storage/people/users.ts';
import { consumeSetupToken, insertSetupToken } from '../storage/sign-in/setup-tokens.ts';
import { type Administration, type By, recordAct } from './administration.ts';
import { createEnrollment } from './people/enrollments.ts';
import { unlessTaken } from './taken.ts';

const setupLifetimeMs = 7 * 24 * 3600 * 1000;

/** Makes a link's token: for a new administrator, an owner unless told other roles, or for the user who is let in again. */
export async function createSetupToken(
  administration: Pick<Administration, 'database' | 'clock'>,
  tenant: Tenant['id'],
  { user, roles }: { readonly user: UserId | null; readonly roles?: readonly string[] },
  by: By,
): Promise<string> {
  const token = randomSecret();
  await administration.database.write(tenant, async (queries) => {
    await insertSetupToken(queries, tenant, { hash: hashSecret(token), user, roles: roles ?? null, lifetimeMs: setupLifetimeMs });
    const target = user === null ? `tenant:${tenant}` : `user:${user}`;
    await recordAct(queries, administration, tenant, by, {
      type: user === null ? 'admin.invited' : 'admin.recovery_started',
      target,
      ...(roles && { data: { roles } }),
    });
  });
  return token;
}

/** The link that makes an administrator; the token is in the fragment, which no server log sees. */
export const setupLink = (baseUrl: string, token: string): string => `${baseUrl}/setup#${token}`;

/** The link that lets an administrator in again: its page asks for nothing. */
export const recoverLink = (baseUrl: string, token: string): string => `${baseUrl}/setup?for=recovery#${token}`;

export interface SetUp {
  readonly userId: UserId;
  readonly enrollmentToken: string;
  /** What a phone scans. */
  readonly qrUri: string;
  readonly expiresAtMs: number;
}

type SetupOutcome = { readonly ok: true; readonly setUp: SetUp } | { readonly ok: false; readonly reason: 'token' | 'taken' };

/**
 * Consumes the token and makes the administrator, or lets in again whom it is for; `alongside` runs in the same transaction. A taken
 * email consumes nothing, and neither does a request without one where somebody new would be made.
 */
export async function setUpAdministrator(
  administration: Pick<Administration, 'database' | 'clock'>,
  tenant: Tenant,
  input: { readonly token: string; readonly email: string | undefined; readonly displayName: string | undefined },
  requestId: string | undefined,
  alongside?: (queries: Queries, setUp: SetUp) => Promise<void>,
): Promise<SetupOutcome> {
  const done = await unlessTaken('email', () =>
    administration.database.write(tenant.id, async (queries) => {
      const { email } = input;
      const consumed = await consumeSetupToken(queries, tenant.id, hashSecret(input.token), email === undefined);
      if (consumed === undefined) return undefined;
      const made = async (): Promise<UserId> =>
        insertAdministrator(queries, administration, tenant, { ...input, email: email!, roles: consumed.roles ?? [ownerRole] });
      const userId = consumed.user ?? (await made());
      const user = await findLiveUser(queries, tenant.id, userId);
      if (user === undefined) return undefined;
      await setUserState(queries, tenant.id, userId, 'active');
      const by = { actor: `user:${userId}`, requestId };
      const type = consumed.user === null ? 'admin.created' : 'admin.recovered';
      await recordAct(queries, administration, tenant.id, by, { type, target: `user:${userId}` });
      const enrollment = await createEnrollment(queries, administration, tenant, userId, false);
      const setUp = { userId, enrollmentToken: enrollment.token, qrUri: enrollment.qrUri, expiresAtMs: enrollment.expiresAtMs };
      await alongside?.(queries, setUp);
      return setUp;
    }),
  );
  if (!done.ok) return { ok: false, reason: 'taken' };
  return done.value === undefined ? { ok: false, reason: 'token' } : { ok: true, setUp: done.value };
}

async function insertAdministrator(
  queries: Queries,
  { clock }: Pick<Administration, 'clock'>,
  tenant: Tenant,
  { email, displayName, roles }: { readonly email: string; readonly displayName: string | undefined; readonly roles: readonly string[] },
): Promise<UserId> {
  const id = uuidV7(clock.nowMs()) as UserId; // made here
  await insertUser(queries, tenant.id, {
    id,
    state: 'active',
    origin: 'console',
    roles,
    profile: { user_name: email, ...(displayName === undefined ? {} : { display_name: displayName }) },
    lists: { emails: [{ value: email, type: null, display: null, is_primary: 1 }] },
  });
  return id;
}

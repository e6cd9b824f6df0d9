// Enrolment tokens: made by administrators for a user, by the link that makes an administrator, and by people for themselves.
// The token is in the fragment of its link: it never reaches a web server, log or referrer.
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import { insertEnrollmentToken } from '../../storage/device/enrollment-tokens.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { type Administration, type By, recordAct } from '../administration.ts';

export interface Enrollment {
  readonly token: string;
  /** What a phone scans. */
  readonly qrUri: string;
  readonly expiresAtMs: number;
}

/** Makes a token for a user in the caller's transaction. It and its link are known to the caller alone. */
export async function createEnrollment(
  queries: Queries,
  { clock }: Pick<Administration, 'clock'>,
  tenant: Tenant,
  userId: UserId,
  requirePin: boolean,
): Promise<Enrollment> {
  const token = randomSecret();
  const expiresAtMs = await insertEnrollmentToken(queries, tenant.id, {
    id: uuidV7(clock.nowMs()),
    hash: hashSecret(token),
    userId,
    requirePin,
    lifetimeMs: tenant.settings.enrollment_token_lifetime_seconds * 1000,
  });
  return { token, qrUri: `${tenant.baseUrl}/enroll#v=1&t=${token}`, expiresAtMs };
}

/** The audit record of a token that was made. */
export const recordEnrollment = (
  queries: Queries,
  administration: Pick<Administration, 'clock'>,
  tenant: Tenant,
  by: By,
  { userId, requirePin }: { readonly userId: UserId; readonly requirePin: boolean },
): Promise<void> =>
  recordAct(queries, administration, tenant.id, by, {
    type: 'enrollment_token.created',
    target: `user:${userId}`,
    data: { require_pin: requirePin },
  });

// Strangers who spent what all of them together may ask of a person: a record for administrators, at most one an hour; and the ten minutes
// in which the person lets them in all the same, from a phone or the account page, because one of them is the person.
import { openedTimesFar, signInOpenedSeconds } from '../contract/limits.ts';
import type { UserId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queries } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { takeSend } from '../storage/sign-in/pins.ts';
import { isSignInOpen, openSignIn } from '../storage/sign-in/sign-in-openings.ts';
import { type Asking, blockOf, nobody } from './asker.ts';

/** What is asked of a person. */
export type Asked = 'codes' | 'pushes' | 'wrong_codes';

/** Records that a stranger was refused what all of them spent. Of nobody nothing is recorded, at the same cost. */
export async function reportAttack(
  queries: Queries,
  { clock }: { readonly clock: Clock },
  tenant: Tenant,
  { asker, userId, requestId }: Asking,
  asked: Asked,
): Promise<void> {
  const taken = await takeSend(queries, tenant.id, `attacked:${userId ?? nobody}`, { cooldownSeconds: 0, sendsPerHourMax: 1 });
  if (taken !== 'taken' || userId === undefined) return;
  const data = { asked, from: blockOf(asker) };
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), { type: 'sign_in.attacked', requestId, target: `user:${userId}`, data });
}

/** How often strangers have what they all together may ask of a person now. */
export async function timesFarNow(queries: Queries, tenant: Tenant, userId: UserId | undefined): Promise<number> {
  return (await isSignInOpen(queries, tenant.id, userId ?? nobody)) ? openedTimesFar : 1;
}

/** "Let me in somewhere new". Gives until when, epoch milliseconds. */
export async function letInSomewhereNew(
  queries: Queries,
  { clock }: { readonly clock: Clock },
  tenant: Tenant,
  userId: UserId,
  by: { readonly actor: string; readonly requestId: string },
): Promise<number> {
  const expiresAtMs = await openSignIn(queries, tenant.id, userId, signInOpenedSeconds * 1000);
  await insertAuditEvent(queries, tenant.id, clock.nowMs(), { ...by, type: 'sign_in.opened', target: `user:${userId}` });
  return expiresAtMs;
}

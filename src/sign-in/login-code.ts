// The code of a waiting phone sign-in, as the page shows it and GET /login/{tx}/qr tells it. A fresh one each time, good for
// 30 s of the database's time; none once a phone has scanned one. People nobody knows get codes too, that no phone can claim.
import { approvalCodeLifetimeMs, makeApprovalLink } from '../approvals/approval-code.ts';
import { reject } from '../contract/contract-error.ts';
import type { Parts } from '../http/services.ts';
import type { LoginNow } from './login-view.ts';

export interface LoginCode {
  readonly uri: string;
  readonly expiresAtMs: number;
}

/** A fresh code, or undefined when the sign-in is not waiting for a phone or a phone has claimed it. */
export async function makeLoginCode(
  services: Parts<'cache' | 'encryption'>,
  { tenant, row, state }: LoginNow,
): Promise<LoginCode | undefined> {
  if (state !== 'waiting' || row.approval_id === null || row.approval_claimed_by !== null) return undefined;
  const expiresAtMs = row.now_ms + approvalCodeLifetimeMs;
  return { uri: await makeApprovalLink(services, tenant, { approvalId: row.approval_id, expiresAtMs }), expiresAtMs };
}

/** The JSON of GET /login/{tx}/qr. @throws login.conflict when there is nothing to scan */
export async function loginCodeJson(services: Parts<'cache' | 'encryption'>, login: LoginNow): Promise<Readonly<Record<string, unknown>>> {
  const code = await makeLoginCode(services, login);
  if (code === undefined) throw reject('login.conflict', { reason: 'no_code', received: login.state, expected: 'waiting, not scanned' });
  return { qr_uri: code.uri, expires_at: new Date(code.expiresAtMs).toISOString() };
}

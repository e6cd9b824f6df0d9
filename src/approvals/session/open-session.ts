// The session of the browser that a fresh sign-in opens (design 14, 1). Called by the finish, in its transaction.
import type { SsoSessionId } from '../../domain/ids.ts';
import { type AuthenticationMethod, passkeyMethod, phonePopWay, phoneUvWay, phoneWebWay } from '../../domain/sign-in/login-methods.ts';
import { ssoPolicyOf } from '../../domain/sign-in/sso-session.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { UserRow } from '../../storage/people/user-rows.ts';
import type { LoginTransaction } from '../../storage/sign-in/login-transactions.ts';
import { openSsoSession } from '../../storage/sign-in/sso-sessions.ts';
import { linkOf, type Proof } from '../proof.ts';
import { externalIdentityOf, provenAtMs } from './proven-at.ts';
import { makeSsoCookie, ssoBrowserHash } from './sso-cookie.ts';

interface SignedIn {
  readonly login: LoginTransaction;
  readonly proof: Proof;
  readonly user: UserRow;
}

/** A fresh sign-in joins the sessions of its browser, under a new cookie. */
export async function openSession(
  queries: Queries,
  tenant: Tenant,
  cookies: string | undefined,
  { login, proof, user }: SignedIn,
): Promise<{ readonly sessionId: SsoSessionId; readonly setCookie: string } | undefined> {
  const policy = ssoPolicyOf(tenant.settings.sso_session);
  if (policy === undefined || 'session' in proof || proof.approval === undefined) return undefined;
  const { approval } = proof;
  const { setCookie, browserHash: newHash } = makeSsoCookie(tenant, policy);
  const oldHash = ssoBrowserHash(cookies, tenant);
  const link = linkOf(proof);
  const decidedAtMs = approval.decided_at ?? 0;
  const newId = uuidV7(decidedAtMs) as SsoSessionId; // made here
  const isPhone = approval.method === phoneUvWay || approval.method === phonePopWay || approval.method === phoneWebWay;
  const sessionId = await openSsoSession(
    queries,
    tenant.id,
    policy,
    { newId, newHash, oldHash },
    {
      userId: user.id,
      authTimeMs: provenAtMs(login, approval),
      acr: approval.acr ?? undefined,
      method: approval.method as AuthenticationMethod, // an approved one has it: a constraint of the table
      amr: JSON.parse(approval.amr ?? '[]'),
      deviceId: isPhone ? (approval.decided_by ?? undefined) : undefined,
      passkeyId: approval.method === passkeyMethod ? (approval.decided_by ?? undefined) : undefined,
      external: link && { id: link, sessionId: externalIdentityOf(login)?.sessionId },
      userAgent: approval.initiated_user_agent ?? undefined,
      ip: approval.initiated_ip ?? undefined,
    },
  );
  return { sessionId, setCookie };
}

// What ends a sign-in: a session of the browser, or what the person was asked for. Pure.
import type { ExternalIdentityId } from '../domain/ids.ts';
import { externalMethod } from '../domain/sign-in/login-methods.ts';
import type { Approval } from '../storage/sign-in/approvals.ts';
import type { StoredSsoSession } from '../storage/sign-in/sso-sessions.ts';

export type Proof = { readonly session: StoredSsoSession } | { readonly approval: Approval | undefined };

/** The link to another provider by which somebody came, now or when the session began. */
export function linkOf(proof: Proof): ExternalIdentityId | undefined {
  if ('session' in proof) return proof.session.external_identity_id ?? undefined;
  const { approval } = proof;
  if (approval?.method !== externalMethod) return undefined;
  return (approval.decided_by ?? undefined) as ExternalIdentityId | undefined; // as it was approved (settle-identity.ts)
}

// When the person of a sign-in proved who they are: here when they decided, and with another provider when they signed in there.
import { type ExternalIdentity, signedInAtMs } from '../../domain/sign-in/external-identity.ts';
import { externalMethod } from '../../domain/sign-in/login-methods.ts';
import type { Approval } from '../../storage/sign-in/approvals.ts';
import type { LoginTransaction } from '../../storage/sign-in/login-transactions.ts';

/** Who came to a sign-in from another provider; undefined: nobody did. */
export const externalIdentityOf = ({
  external_identity: text,
}: Pick<LoginTransaction, 'external_identity'>): ExternalIdentity | undefined =>
  text === null ? undefined : (JSON.parse(text) as ExternalIdentity); // written from one

/** Epoch milliseconds. */
export function provenAtMs(
  login: Pick<LoginTransaction, 'external_identity'>,
  approval: Pick<Approval, 'method' | 'decided_at'> | undefined,
): number {
  const decidedAtMs = approval?.decided_at ?? 0;
  return approval?.method === externalMethod ? signedInAtMs(externalIdentityOf(login), decidedAtMs) : decidedAtMs;
}

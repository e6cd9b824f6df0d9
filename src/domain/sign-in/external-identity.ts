// What another provider says of the person who came from it, as our sign-in keeps it until the end. Pure.
import { emailCharsMax, externalSubjectCharsMax } from '../../contract/limits.ts';
import type { IdentityProviderId } from '../ids.ts';
import type { InboundValues } from '../mappings/inbound.ts';
import { isXmlText } from '../saml/xml-text.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { federatedAcr } from './login-methods.ts';

/** Verified: it came from the provider, to us, in answer to this sign-in. */
export interface ExternalIdentity {
  readonly providerId: IdentityProviderId;
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** True: the email is the person's, by the word of a provider that is trusted with it or by a PIN sent there. */
  readonly emailCounts: boolean;
  /** The domain of the email, where the provider says that domain is its own to speak for; proven or not. */
  readonly ownDomain: string | undefined;
  /** The provider's session, for its back-channel logout. */
  readonly sessionId: string | undefined;
  /** What the provider's way of signing in is worth here. */
  readonly acr: string;
  /** When they signed in there, as the provider says it; absent: it does not. */
  readonly authTimeMs?: number | undefined;
  /** What its claims give a new account, by attribute path. */
  readonly create: InboundValues;
  /** What they give the person at every sign-in. */
  readonly always: InboundValues;
}

/** What a provider's acr is worth: what the administrator said of it, else less than anything of ours. */
export function acrOf({ acrMap }: Pick<IdentityProvider, 'acrMap'>, acr: unknown): string {
  return typeof acr === 'string' && Object.hasOwn(acrMap, acr) ? acrMap[acr]! : federatedAcr;
}

/** Why nobody is known by a subject: whoever has none would be everybody else who has none. */
export function subjectFault(subject: string): string | undefined {
  if (subject.trim() === '') return 'subject_empty';
  return subject.length > externalSubjectCharsMax ? 'subject_too_long' : undefined;
}

/** Clocks of others, and seconds cut off. */
const authTimeToleranceMs = 30_000;

/** What was asked of the age of a sign-in there. */
interface AgeAsked {
  readonly maxAgeSeconds: number | undefined;
  /** When somebody was sent there to sign in anew; undefined: a sign-in that is there will do. */
  readonly newSinceMs: number | undefined;
}

/** Why a sign-in there is not as young as was asked; undefined: it is, or nobody asked. */
export function ageFault({ authTimeMs }: ExternalIdentityAge, { maxAgeSeconds, newSinceMs }: AgeAsked, nowMs: number): string | undefined {
  if (maxAgeSeconds === undefined && newSinceMs === undefined) return undefined;
  if (authTimeMs === undefined) return 'no_auth_time';
  const earliestMs = Math.max(newSinceMs ?? 0, maxAgeSeconds === undefined ? 0 : nowMs - maxAgeSeconds * 1000);
  return authTimeMs + authTimeToleranceMs < earliestMs ? 'signed_in_too_long_ago' : undefined;
}

type ExternalIdentityAge = Pick<ExternalIdentity, 'authTimeMs'>;

/** When whoever comes back now signed in: there, and never later than here. */
export const signedInAtMs = (identity: ExternalIdentityAge | undefined, decidedAtMs: number): number =>
  Math.min(decidedAtMs, identity?.authTimeMs ?? decidedAtMs);

/** An email as a provider sends it, if it is one we could keep. */
export function usableEmail(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > emailCharsMax || !isXmlText(value)) return undefined;
  return /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(value) ? value : undefined;
}

// What another provider says of the person who came from it, as our sign-in keeps it until the end. Pure.
import { emailCharsMax } from '../../contract/limits.ts';
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
  /** What its claims give a new account, by attribute path. */
  readonly create: InboundValues;
  /** What they give the person at every sign-in. */
  readonly always: InboundValues;
}

/** What a provider's acr is worth: what the administrator said of it, else less than anything of ours. */
export function acrOf({ acrMap }: Pick<IdentityProvider, 'acrMap'>, acr: unknown): string {
  return typeof acr === 'string' && Object.hasOwn(acrMap, acr) ? acrMap[acr]! : federatedAcr;
}

/** An email as a provider sends it, if it is one we could keep. */
export function usableEmail(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > emailCharsMax || !isXmlText(value)) return undefined;
  return /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(value) ? value : undefined;
}

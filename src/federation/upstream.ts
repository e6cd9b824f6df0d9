// What every kind of provider does for a sign-in (design 14, 2): says where to send the person, and who came back. Nothing here
// decides whom that is among our users. Calls go through the guarded way out; a provider that does not answer is `unavailable`,
// everything else that is wrong is `refused`, with the reason for the audit record.

import type { SamlKey } from '../crypto/saml-key.ts';
import type { Json } from '../domain/field.ts';
import type { TenantId } from '../domain/ids.ts';
import type { ExternalIdentity } from '../domain/sign-in/external-identity.ts';
import type { IdentityProvider } from '../domain/sign-in/identity-provider.ts';
import type { Clock } from '../platform/clock.ts';
import type { Outbound } from '../platform/net/outbound.ts';

/** A provider as a sign-in uses it. */
export interface Upstream {
  readonly tenant: TenantId;
  readonly provider: IdentityProvider;
  /** Clear. */
  readonly clientSecret: string | undefined;
  /** One of each provider, so that an answer of one cannot be taken for another's. */
  readonly callbackUri: string;
  /** Ours: what signs requests and opens answers. */
  readonly samlKeys: () => Promise<{ readonly current: SamlKey; readonly next: SamlKey }>;
}

export interface UpstreamDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

/** What the person is sent away with. */
export interface Outgoing {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636 4.1. */
  readonly verifier: string;
  /** How old the sign-in there may be; 0: it is made now. A provider that cannot say how old it is refuses. */
  readonly maxAgeSeconds: number | undefined;
  /** True: whoever it is signs in there again. */
  readonly signInAgain: boolean;
  readonly loginHint: string | undefined;
  readonly uiLocales: string | undefined;
}

/** What came back, with what we sent. */
export interface Incoming extends Pick<Outgoing, 'state' | 'nonce' | 'verifier'> {
  /** The query or form of the answer. */
  readonly parameters: URLSearchParams;
}

export interface Failure {
  readonly ok: false;
  readonly reason: 'refused' | 'unavailable';
  readonly detail: string;
}

export const refused = (detail: string): Failure => ({ ok: false, reason: 'refused', detail });
export const unavailable = (detail: string): Failure => ({ ok: false, reason: 'unavailable', detail });

/** Who came back, and all the provider says of them. */
export interface Identified {
  readonly ok: true;
  readonly identity: Omit<ExternalIdentity, 'create' | 'always'>;
  readonly claims: Json;
}

export interface ProviderProtocol {
  readonly start: (
    deps: UpstreamDeps,
    upstream: Upstream,
    sent: Outgoing,
  ) => Promise<{ readonly ok: true; readonly location: string } | Failure>;
  readonly identify: (deps: UpstreamDeps, upstream: Upstream, answer: Incoming) => Promise<Identified | Failure>;
}

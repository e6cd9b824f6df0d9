// max_age (OpenID Connect Core 3.1.2.1): how old the authentication behind a grant may be. Judged at authorize, where a session
// may be older, and counted from there at the token endpoint, where the request may name a shorter one (contract 7.2
// login_required). 0 means prompt=login and is not kept: a fresh sign-in is all it asks for.
import { reject } from '../../contract/contract-error.ts';
import { nowSeconds } from '../../platform/clock.ts';
import type { Grant } from '../../storage/oidc/grants.ts';
import type { TokenRequest } from '../grants/grant.ts';

const secondsMax = 10 * 365 * 86_400;

/** Seconds of a `max_age` parameter; undefined when it is not a whole number of them, 0 to ten years. */
export function parseMaxAge(text: string): number | undefined {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return seconds <= secondsMax ? seconds : undefined;
}

/** Throws login_required when the authentication is older than the authorization or the token request allows. */
export function refuseExceededAge({ services, parameters }: TokenRequest, grant: Grant): void {
  const requested = parameters.get('max_age');
  const own = requested === undefined ? undefined : parseMaxAge(requested);
  if (requested !== undefined && own === undefined)
    throw reject(
      'token.invalid_request',
      { reason: 'max_age_malformed', received: requested },
      { text: 'max_age is not a number of seconds.' },
    );
  if (own === undefined && grant.maxAgeSeconds === undefined) return;
  const allowed = Math.min(own ?? secondsMax, grant.maxAgeSeconds ?? secondsMax);
  const age = nowSeconds(services.clock) - (grant.authorizedAtSeconds ?? grant.authTimeSeconds);
  if (age > allowed)
    throw reject(
      'token.login_required',
      { reason: 'max_age_exceeded', received: age, expected: allowed },
      { text: 'The user has to sign in again.' },
    );
}

// Logout tokens of other providers (OpenID Connect Back-Channel Logout 1.0, 2.6): who says that whose session there has ended.
// Verified like an ID token, with keys fetched through the guarded way out; what is plainly not for us asks nobody for keys.
import type { JSONWebKeySet, JWTPayload } from 'jose';
import { decodeJwt } from 'jose/jwt/decode';
import { externalSubjectCharsMax } from '../contract/limits.ts';
import { discover } from './openid-provider.ts';
import { type Failure, refused, type Upstream, type UpstreamDeps, unavailable } from './upstream.ts';
import { upstreamFetch } from './upstream-fetch.ts';

/** Whose session ended: of a subject, or one session of theirs, or both. */
export interface EndedThere {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sessionId: string | undefined;
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const ageSecondsMax = 300;
const toleranceSeconds = 30;

export async function readLogoutToken(
  deps: UpstreamDeps,
  upstream: Upstream,
  token: string,
): Promise<{ readonly ok: true; readonly ended: EndedThere } | Failure> {
  const { issuer, clientId, kind } = upstream.provider;
  if (kind !== 'oidc' || issuer === undefined || clientId === undefined || !isMeantForUs(token, issuer, clientId))
    return refused('not_for_us');
  const found = await discover(deps, upstream);
  if ('ok' in found) return found;
  const { jwks_uri: keysUri = '', id_token_signing_alg_values_supported: algorithms = [] } = found.metadata;
  const calls = upstreamFetch(deps.outbound, upstream.tenant);
  const { createLocalJWKSet, jwtVerify } = await import('jose'); // with the first such token
  try {
    const keys = (await (await calls.fetch(keysUri, { method: 'GET' })).json()) as JSONWebKeySet; // judged by jose
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      algorithms: [...algorithms],
      issuer,
      audience: clientId,
      requiredClaims: ['iat', 'jti'],
      maxTokenAge: ageSecondsMax,
      clockTolerance: toleranceSeconds,
      currentDate: new Date(deps.clock.nowMs()),
    });
    return endedIn(payload, issuer);
  } catch (error) {
    const failure = calls.failure();
    const { code } = error as { readonly code?: unknown };
    return failure === undefined ? refused(typeof code === 'string' ? code : 'not_a_key_set') : unavailable(failure);
  }
}

function isMeantForUs(token: string, issuer: string, clientId: string): boolean {
  try {
    const { iss, aud } = decodeJwt(token);
    return iss === issuer && (Array.isArray(aud) ? aud.includes(clientId) : aud === clientId);
  } catch {
    return false;
  }
}

function endedIn({ events, nonce, sub, sid }: JWTPayload, issuer: string): { readonly ok: true; readonly ended: EndedThere } | Failure {
  const event: unknown =
    typeof events === 'object' && events !== null ? (events as Readonly<Record<string, unknown>>)[logoutEvent] : undefined;
  if (typeof event !== 'object' || event === null) return refused('no_logout_event');
  if (nonce !== undefined) return refused('nonce_in_logout_token');
  const isText = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= externalSubjectCharsMax;
  if ((sub !== undefined && !isText(sub)) || (sid !== undefined && !isText(sid))) return refused('subject_or_session_malformed');
  if (sub === undefined && sid === undefined) return refused('no_subject_and_no_session');
  return { ok: true, ended: { issuer, subject: sub, sessionId: sid as string | undefined } };
}

// The console's own session: a cookie that holds the tokens, sealed under the master key and bound to the tenant. Nothing is
// stored; signing out revokes the grant behind it. Not the identity provider's session: there is none.
import type { FastifyRequest } from 'fastify';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import type { Tenant } from '../../domain/tenant.ts';

export interface ConsoleSession {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAtMs: number;
  /** Who is signed in, for the header of the pages. */
  readonly name: string;
  /** Repeated by every form. */
  readonly csrf: string;
}

/** What must come back with the callback of a sign-in. */
export interface PendingSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
}

const sessionSeconds = 12 * 3600;
const signInSeconds = 900;

type Kind = 'session' | 'sign-in';

/** `__Host-` needs path `/`, so tenants below one host are told apart by the name. */
function cookieName(tenant: Tenant, kind: Kind): string {
  const prefix = tenant.baseUrl.startsWith('https:') ? '__Host-' : '';
  return `${prefix}gh-console-${kind}-${tenant.slug}`;
}

const purposeOf = (tenant: Tenant, kind: Kind): string => `console-${kind}:${tenant.id}`;

export function sealSession(encryption: KeyEncryption, tenant: Tenant, session: ConsoleSession): string {
  return setCookie(tenant, 'session', encryption.encrypt(JSON.stringify(session), purposeOf(tenant, 'session')), sessionSeconds);
}

export function sealSignIn(encryption: KeyEncryption, tenant: Tenant, pending: PendingSignIn): string {
  return setCookie(tenant, 'sign-in', encryption.encrypt(JSON.stringify(pending), purposeOf(tenant, 'sign-in')), signInSeconds);
}

export const clearCookie = (tenant: Tenant, kind: Kind): string => setCookie(tenant, kind, '', 0);

/** The session of a request; undefined when there is none or it was not sealed by us for this tenant. */
export function openSession(encryption: KeyEncryption, request: FastifyRequest): ConsoleSession | undefined {
  return open(encryption, request, 'session') as ConsoleSession | undefined; // only sealSession seals for this purpose
}

export function openSignIn(encryption: KeyEncryption, request: FastifyRequest): PendingSignIn | undefined {
  return open(encryption, request, 'sign-in') as PendingSignIn | undefined; // only sealSignIn seals for this purpose
}

function open(encryption: KeyEncryption, request: FastifyRequest, kind: Kind): unknown {
  const { tenant } = request;
  const name = `${cookieName(tenant, kind)}=`;
  const pair = (request.headers.cookie ?? '').split('; ').find((cookie) => cookie.startsWith(name));
  if (pair === undefined || pair.length === name.length) return undefined;
  try {
    return JSON.parse(encryption.decrypt(pair.slice(name.length), purposeOf(tenant, kind)).toString('utf8'));
  } catch {
    return undefined;
  }
}

function setCookie(tenant: Tenant, kind: Kind, value: string, seconds: number): string {
  const secure = tenant.baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${cookieName(tenant, kind)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

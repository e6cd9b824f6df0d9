// The session of one of our first-party applications: a cookie that holds the tokens, sealed under the master key and bound to the
// application and the tenant. Nothing is stored; signing out revokes the grant behind it. Not the identity provider's session.
import type { FastifyRequest } from 'fastify';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { GrantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { FirstPartyApp } from './first-party-app.ts';

export interface AppSession {
  /** The grant behind the tokens: their `sid`. */
  readonly grantId: GrantId;
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

export const sessionSeconds = 12 * 3600;
const signInSeconds = 900;

type Kind = 'session' | 'sign-in' | NoteKind;
/** What a page says after a post, once or for a while; the console of an operator who entered the tenant; what the tester came to. */
type NoteKind = 'flash' | 'secrets' | 'operator' | 'result';

/** A cookie holds 4,096 characters, with its name and attributes. */
const cookieValueCharsMax = 3_800;

/** `__Host-` needs path `/`, so tenants below one host are told apart by the name. */
function cookieName(app: FirstPartyApp, tenant: Tenant, kind: Kind): string {
  const prefix = tenant.baseUrl.startsWith('https:') ? '__Host-' : '';
  return `${prefix}gh-${app.name}-${kind}-${tenant.slug}`;
}

const purposeOf = (app: FirstPartyApp, tenant: Tenant, kind: Kind): string => `${app.name}-${kind}:${tenant.id}`;

export function sealSession(encryption: KeyEncryption, app: FirstPartyApp, tenant: Tenant, session: AppSession): string {
  return setCookie(app, tenant, 'session', encryption.seal(JSON.stringify(session), purposeOf(app, tenant, 'session')), sessionSeconds);
}

export function sealSignIn(encryption: KeyEncryption, app: FirstPartyApp, tenant: Tenant, pending: PendingSignIn): string {
  return setCookie(app, tenant, 'sign-in', encryption.seal(JSON.stringify(pending), purposeOf(app, tenant, 'sign-in')), signInSeconds);
}

export function sealNote(
  { encryption, app, tenant }: { readonly encryption: KeyEncryption; readonly app: FirstPartyApp; readonly tenant: Tenant },
  kind: NoteKind,
  note: object,
  seconds: number,
): string {
  return setCookie(app, tenant, kind, encryption.seal(JSON.stringify(note), purposeOf(app, tenant, kind)), seconds);
}

/** The same; undefined when no cookie holds it. */
export function sealNoteThatFits(to: Parameters<typeof sealNote>[0], kind: NoteKind, note: object, seconds: number): string | undefined {
  const sealed = to.encryption.seal(JSON.stringify(note), purposeOf(to.app, to.tenant, kind));
  return sealed.length > cookieValueCharsMax ? undefined : setCookie(to.app, to.tenant, kind, sealed, seconds);
}

export const clearCookie = (app: FirstPartyApp, tenant: Tenant, kind: Kind): string => setCookie(app, tenant, kind, '', 0);

/** The session of a request; undefined when there is none or it was not sealed by us for this tenant. */
export function openSession(encryption: KeyEncryption, app: FirstPartyApp, request: FastifyRequest): AppSession | undefined {
  return open(encryption, app, request, 'session') as AppSession | undefined; // only sealSession seals for this purpose
}

export function openSignIn(encryption: KeyEncryption, app: FirstPartyApp, request: FastifyRequest): PendingSignIn | undefined {
  return open(encryption, app, request, 'sign-in') as PendingSignIn | undefined; // only sealSignIn seals for this purpose
}

/** A note of that kind; the caller knows its shape. */
export const openNote = (encryption: KeyEncryption, app: FirstPartyApp, request: FastifyRequest, kind: NoteKind): unknown =>
  open(encryption, app, request, kind);

function open(encryption: KeyEncryption, app: FirstPartyApp, request: FastifyRequest, kind: Kind): unknown {
  const { tenant } = request;
  const name = `${cookieName(app, tenant, kind)}=`;
  const pair = (request.headers.cookie ?? '').split('; ').find((cookie) => cookie.startsWith(name));
  if (pair === undefined || pair.length === name.length) return undefined;
  try {
    return JSON.parse(encryption.open(pair.slice(name.length), purposeOf(app, tenant, kind)));
  } catch {
    return undefined;
  }
}

function setCookie(app: FirstPartyApp, tenant: Tenant, kind: Kind, value: string, seconds: number): string {
  const secure = tenant.baseUrl.startsWith('https:') ? '; Secure' : '';
  return `${cookieName(app, tenant, kind)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

// Single sign-on sessions of browsers (design 14, 1): how long a tenant lets them live, and what a request may take from the
// sessions a browser has. Decides only; rows, cookies and answers are others' affair.
import type { ExternalIdentityId, SsoSessionId, UserId } from '../ids.ts';
import { acrFor, type SignInRule } from '../organizations/sign-in-rule.ts';
import type { AuthenticationMethod } from './login-methods.ts';
import { isStrongEnough, type StrengthAsked } from './sign-in-strength.ts';

/** The setting `sso_session`. `true` and `false` are what earlier releases stored; both mean `off`. */
export type SsoSetting = 'off' | 'browser' | { readonly idle_seconds: number; readonly absolute_seconds: number } | boolean;

export interface SsoPolicy {
  readonly idleSeconds: number;
  readonly absoluteSeconds: number;
  /** False: the cookie ends with the browser. */
  readonly isPersistent: boolean;
}

const browserPolicy: SsoPolicy = { idleSeconds: 8 * 3600, absoluteSeconds: 24 * 3600, isPersistent: false };

/** How long sessions of a tenant live; undefined when it has none. */
export function ssoPolicyOf(setting: SsoSetting): SsoPolicy | undefined {
  if (setting === 'browser') return browserPolicy;
  if (typeof setting !== 'object') return undefined;
  return { idleSeconds: setting.idle_seconds, absoluteSeconds: setting.absolute_seconds, isPersistent: true };
}

/** Accounts one browser may be signed in to at once. */
export const ssoAccountsPerBrowserMax = 5;

/** A live session, with what a chooser shows and a hint is compared with. */
export interface LiveSsoSession {
  readonly id: SsoSessionId;
  readonly userId: UserId;
  /** Epoch milliseconds. */
  readonly authTimeMs: number;
  readonly acr: string | undefined;
  readonly method: AuthenticationMethod;
  /** The link to another provider that opened it. */
  readonly externalIdentityId: ExternalIdentityId | undefined;
  /** The organisation whose own provider that is. */
  readonly providerOf: string | undefined;
  readonly displayName: string;
  readonly email: string | undefined;
  /** Folded user name and addresses, as a login_hint is compared. */
  readonly keys: readonly string[];
}

/** What a request says about whom it wants, and how they must have signed in. */
export interface SessionWish {
  /** `prompt=login`, ForceAuthn, or `max_age=0`: whoever it is must sign in again. */
  readonly signInAgain: boolean;
  readonly selectAccount: boolean;
  readonly maxAgeSeconds: number | undefined;
  /** `sub` of an id_token_hint. */
  readonly hintedUserId: string | undefined;
  /** Folded. */
  readonly loginHintKey: string | undefined;
  readonly strength: StrengthAsked;
  /** The organisation that is asked for. */
  readonly organization: SignInRule | undefined;
}

export type SessionDecision =
  /** No session will do: the person signs in. `session` is the one that was too old. */
  | { readonly kind: 'sign_in'; readonly session: LiveSsoSession | undefined }
  | { readonly kind: 'choose' }
  /** The session is theirs and too weak: the same person proves more. */
  | { readonly kind: 'step_up'; readonly session: LiveSsoSession }
  | { readonly kind: 'continue'; readonly session: LiveSsoSession };

/** Decides in the order of design 14: sign in again, hint, chooser, acr. `sessions` are the live ones of this browser. */
export function decideSession(sessions: readonly LiveSsoSession[], wish: SessionWish, nowMs: number): SessionDecision {
  const { hintedUserId, loginHintKey } = wish;
  if (wish.signInAgain) return { kind: 'sign_in', session: undefined };
  const meant =
    hintedUserId !== undefined
      ? sessions.filter(({ userId }) => userId === hintedUserId)
      : loginHintKey !== undefined
        ? sessions.filter(({ keys }) => keys.includes(loginHintKey))
        : sessions;
  const [session] = meant;
  if (session === undefined) return { kind: 'sign_in', session: undefined };
  if (wish.selectAccount || meant.length > 1) return { kind: 'choose' };
  return judgeSession(session, wish, nowMs);
}

/** Whether one session, picked by hint or person, is young and strong enough; where an organisation has its people come by its own provider, they come anew. */
export function judgeSession(session: LiveSsoSession, wish: SessionWish, nowMs: number): SessionDecision {
  const ageSeconds = Math.floor(nowMs / 1000) - Math.floor(session.authTimeMs / 1000);
  if (wish.maxAgeSeconds !== undefined && ageSeconds > wish.maxAgeSeconds) return { kind: 'sign_in', session };
  const { organization } = wish;
  const isByOwn = organization?.signIn === 'own_providers';
  if (isByOwn && session.providerOf !== organization.id) return { kind: 'sign_in', session };
  const acr = acrFor(session, organization?.id);
  if (isStrongEnough(wish.strength, { ...session, acr })) return { kind: 'continue', session };
  return { kind: isByOwn ? 'sign_in' : 'step_up', session };
}

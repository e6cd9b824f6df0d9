// How strong a sign-in a request asks for: by acr values in OIDC, by authentication context classes in SAML. The one question
// for methods that are offered and for sessions that are there already.

import { accountClientId } from '../client/own-clients.ts';
import { meetsOneOf, statedClass } from '../saml/authn-context-class.ts';
import type { Tenant } from '../tenant/tenant.ts';
import {
  type AuthenticationMethod,
  authenticationContexts,
  type LoginMethod,
  loginMethodNames,
  meetsAcrValues,
  passkeyMethod,
  phoneMethod,
  recoveryMethod,
  satisfiesAcrValues,
} from './login-methods.ts';

/** As a login transaction stores it: `acr_values` holds the classes of a SAML request. */
export interface StrengthAsked {
  readonly kind: string;
  readonly acr_values: string | null;
  /** What the organisation asks for besides. */
  readonly acr_min?: string | undefined;
}

/** What says where a sign-in leads, as a login transaction stores it. */
interface LeadsTo {
  readonly resource: string | null;
  readonly client_id: string | null;
}

/**
 * The methods a sign-in may go by: those of the tenant, and where it leads to administration or to one's own account also passkey and phone,
 * which nobody who sets the tenant's methods takes from administrators (design 17, 2.2). The same for everybody.
 */
export function allowedMethods(
  { settings, managementApi }: Pick<Tenant, 'settings' | 'managementApi'>,
  { resource, client_id: client }: LeadsTo,
): readonly LoginMethod[] {
  const { login_methods: methods } = settings;
  if (resource !== managementApi && client !== accountClientId) return methods;
  return loginMethodNames.filter((method) => method === passkeyMethod || method === phoneMethod || methods.includes(method));
}

/** Whether a sign-in was by a phone or a passkey, by the `amr` of what it led to; no acr that another provider's stands for says so. */
export const isByKey = (amr: readonly string[]): boolean => amr.includes('hwk') || amr.includes('swk');

/** What a sign-in offers: the same for everybody, so that nobody learns who exists or what they have. */
export function offeredMethods(
  allowed: readonly string[],
  { kind, acr_values: asked, acr_min: least }: StrengthAsked,
): readonly LoginMethod[] {
  const meets = (method: LoginMethod): boolean =>
    satisfiesAcrValues(method, least) &&
    (kind === 'saml' && asked !== null ? meetsOneOf(asked.split(' '), method) : satisfiesAcrValues(method, asked ?? undefined));
  return loginMethodNames.filter((method) => allowed.includes(method) && meets(method));
}

/**
 * Whether a recovery code may stand in for what was lost: where people have something to lose, nothing stronger is asked for, and
 * nobody is to prove whose account another provider's is. The same for everybody.
 */
export function offersRecovery(
  { recovery_codes: isOn, login_methods: methods }: { readonly recovery_codes: boolean; readonly login_methods: readonly string[] },
  asked: StrengthAsked & { readonly external_identity: string | null },
): boolean {
  const hasWhatIsLost = methods.includes(phoneMethod) || methods.includes(passkeyMethod);
  const { acr } = authenticationContexts[recoveryMethod];
  return isOn && hasWhatIsLost && asked.external_identity === null && isStrongEnough(asked, { acr, method: recoveryMethod });
}

/** Whether a sign-in that was done is strong enough. */
export function isStrongEnough(
  { kind, acr_values: asked, acr_min: least }: StrengthAsked,
  done: { readonly acr: string | undefined; readonly method: AuthenticationMethod },
): boolean {
  if (!meetsAcrValues(done.acr, least)) return false;
  if (kind === 'saml') return asked === null || statedClass(asked.split(' '), done.method) !== undefined;
  return meetsAcrValues(done.acr, asked ?? undefined);
}

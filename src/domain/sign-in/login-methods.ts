// How people prove who they are, and what that is worth (design 04): one line per method, in the order the sign-in page offers
// them. Settings, sign-in, discovery and docs read this table. `acr` and `amr` go into tokens; `acr_values` of a request hides
// the methods below it.

export const phoneMethod = 'phone' as const;
export const passkeyMethod = 'passkey' as const;
export const emailPinMethod = 'email_pin' as const;
/** By another provider (design 14, 2): how approvals are decided, and nothing people choose among the methods. */
export const externalMethod = 'federated' as const;
/** By a recovery code (design 14, 3): for whoever lost the phone, and nothing people choose among the methods. */
export const recoveryMethod = 'recovery_code' as const;
/** Ways of the phone: with its user verified, by possession alone, in a browser. */
export const phoneUvWay = 'phone_uv' as const;
export const phonePopWay = 'phone_pop' as const;
export const phoneWebWay = 'phone_web' as const;

/** RFC 8176 amr values of each way an approval is decided; acr from weak to strong: `otp`, `phone`, `phr` (phishing-resistant). */
const table = {
  [phoneMethod]: {
    label: 'Approval on the phone',
    acr: 'phone',
    ways: { [phoneUvWay]: ['hwk', 'user'], [phonePopWay]: ['hwk'], [phoneWebWay]: ['swk', 'user'] },
  },
  [passkeyMethod]: { label: 'Passkey', acr: 'phr', ways: { [passkeyMethod]: ['hwk', 'user'] } },
  [emailPinMethod]: { label: 'Mailed code', acr: 'otp', ways: { [emailPinMethod]: ['otp'] } },
} as const;

type KeysOf<T> = T extends unknown ? keyof T : never;
/** What a person may choose on the sign-in page. */
export type LoginMethod = keyof typeof table;
/** How an approval was decided. */
export type AuthenticationMethod = KeysOf<(typeof table)[LoginMethod]['ways']> | typeof externalMethod | typeof recoveryMethod;

export const loginMethods: Readonly<Record<LoginMethod, { readonly label: string; readonly acr: string }>> = table;
export const loginMethodNames = Object.keys(table) as readonly LoginMethod[];

/** How an approval was decided, in words; undefined for what is no way. */
export function wayWords(way: string): string | undefined {
  if (way === externalMethod) return 'By another provider';
  if (way === recoveryMethod) return 'By a recovery code';
  return Object.values(table).find(({ ways }) => Object.hasOwn(ways, way))?.label;
}

/** How somebody signed in, in words: a phone and a passkey are both keys (RFC 8176) and told apart by the level they give. */
export function methodWords(amr: readonly string[], acr: string | undefined): string {
  if (amr.includes('fed')) return wayWords(externalMethod)!;
  if (amr.includes('recovery')) return wayWords(recoveryMethod)!;
  return Object.values(table).find((method) => method.acr === (amr.includes('otp') ? 'otp' : acr))?.label ?? table[phoneMethod].label;
}

interface AuthenticationContext {
  readonly acr: string;
  readonly amr: readonly string[];
}

/** Below every acr of ours: what another provider's sign-in is worth unless its administrator says more. */
export const federatedAcr = 'fed';

export const authenticationContexts = Object.fromEntries([
  ...Object.values(table).flatMap(({ acr, ways }) => Object.entries(ways).map(([way, amr]) => [way, { acr, amr }])),
  [externalMethod, { acr: federatedAcr, amr: ['fed'] }],
  [recoveryMethod, { acr: table[emailPinMethod].acr, amr: ['otp', 'recovery'] }],
]) as Readonly<Record<AuthenticationMethod, AuthenticationContext>>; // the table's own ways

/** Every acr we know, weakest first (discovery lists it as acr_values_supported). */
export const acrValuesSupported = ['otp', 'phone', 'phr'] as const;

const rankOf = (acr: string): number => (acrValuesSupported as readonly string[]).indexOf(acr);

/** Whether an acr is at least the weakest known one asked for; values we do not know ask for nothing. */
export function meetsAcrValues(acr: string | undefined, acrValues: string | undefined): boolean {
  const asked = (acrValues ?? '')
    .split(' ')
    .map(rankOf)
    .filter((rank) => rank >= 0);
  return asked.length === 0 || rankOf(acr ?? '') >= Math.min(...asked);
}

/** The strongest of the values asked for that an acr is at least; undefined when it meets none. */
export function strongestMet(acr: string | undefined, acrValues: string): string | undefined {
  const met = acrValues.split(' ').filter((value) => rankOf(value) >= 0 && rankOf(value) <= rankOf(acr ?? ''));
  return met.toSorted((left, right) => rankOf(right) - rankOf(left))[0];
}

/** The same of a method that is to be offered. */
export const satisfiesAcrValues = (method: LoginMethod, acrValues: string | undefined): boolean =>
  meetsAcrValues(loginMethods[method].acr, acrValues);

// How a person proved who they are, and what that is worth (design 04): one entry per method. `acr` and `amr` go into
// tokens; `acr_values` of a request hides the methods below it.

/** What a person may choose on the sign-in page, in the order it is offered. */
export const loginMethods = ['phone', 'passkey', 'email_pin'] as const;
export type LoginMethod = (typeof loginMethods)[number];

/** How an approval was decided. */
export type AuthenticationMethod = 'phone_uv' | 'phone_pop' | 'passkey' | 'email_pin';

export interface AuthenticationContext {
  readonly acr: string;
  readonly amr: readonly string[];
}

/** RFC 8176 amr values; acr from weak to strong: `otp`, `phone`, `phr` (phishing-resistant). */
export const authenticationContexts: Readonly<Record<AuthenticationMethod, AuthenticationContext>> = {
  phone_uv: { acr: 'phone', amr: ['hwk', 'user'] },
  phone_pop: { acr: 'phone', amr: ['hwk'] },
  passkey: { acr: 'phr', amr: ['hwk', 'user'] },
  email_pin: { acr: 'otp', amr: ['otp'] },
};

/** Every acr we know, weakest first (discovery lists it as acr_values_supported). */
export const acrValuesSupported = ['otp', 'phone', 'phr'] as const;

const acrOf: Readonly<Record<LoginMethod, string>> = { phone: 'phone', passkey: 'phr', email_pin: 'otp' };
const rankOf = (acr: string): number => (acrValuesSupported as readonly string[]).indexOf(acr);

/** Whether the method gives at least the weakest known acr asked for; values we do not know ask for nothing. */
export function satisfiesAcrValues(method: LoginMethod, acrValues: string | undefined): boolean {
  const asked = (acrValues ?? '')
    .split(' ')
    .map(rankOf)
    .filter((rank) => rank >= 0);
  return asked.length === 0 || rankOf(acrOf[method]) >= Math.min(...asked);
}

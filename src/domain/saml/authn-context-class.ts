// SAML authentication context classes: which sign-in methods meet each, and which of them would do for a request's wish
// (SAML core 3.3.2.2.1). OIDC's acr values are in sign-in/login-methods.ts.
import {
  type AuthenticationMethod,
  authenticationContexts,
  emailPinMethod,
  externalMethod,
  type LoginMethod,
  passkeyMethod,
  phoneUvWay,
} from '../sign-in/login-methods.ts';

interface ContextClass {
  readonly uri: string;
  /** For the comparisons of a wish: classes of one strength are neither better nor worse than each other. */
  readonly strength: number;
  readonly metBy: readonly AuthenticationMethod[];
}

const passwordProtectedTransport = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
const unspecified = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified';
const everyMethod = Object.keys(authenticationContexts) as readonly AuthenticationMethod[]; // its own keys
/** Another provider's way is not ours to state. */
const anyMethod = everyMethod.filter((method) => method !== externalMethod);
/** Something one has, and its user verified (RFC 8176 `user`). */
const twoFactors = anyMethod.filter((method) => authenticationContexts[method].amr.includes('user'));

/** Weakest first. Every method here is at least a one-time secret over TLS, so each meets a password over TLS. */
const classes: readonly ContextClass[] = [
  { uri: unspecified, strength: 0, metBy: everyMethod },
  { uri: 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password', strength: 1, metBy: anyMethod },
  { uri: passwordProtectedTransport, strength: 2, metBy: anyMethod },
  { uri: 'https://refeds.org/profile/sfa', strength: 2, metBy: anyMethod },
  { uri: 'https://refeds.org/profile/mfa', strength: 3, metBy: twoFactors },
  { uri: 'http://schemas.microsoft.com/claims/multipleauthn', strength: 3, metBy: twoFactors },
  { uri: 'urn:oasis:names:tc:SAML:2.0:ac:classes:MobileTwoFactorContract', strength: 4, metBy: [phoneUvWay] },
];

/** What the phone of a sign-in page proves: approvals there demand user verification. */
const methodOf: Readonly<Record<LoginMethod, AuthenticationMethod>> = {
  phone: phoneUvWay,
  passkey: passkeyMethod,
  email_pin: emailPinMethod,
};

/** The classes that would do: first those asked for, in their order, then the others a comparison allows. Empty when none does. */
export function acceptableClasses(
  wish: { readonly comparison: string; readonly classes: readonly string[] } | undefined,
): readonly string[] {
  if (wish === undefined) return [passwordProtectedTransport, unspecified];
  const known = wish.classes.flatMap((asked) => classes.find(({ uri }) => uri === asked) ?? []);
  if (known.length === 0) return [];
  const allows = comparisons.get(wish.comparison)?.(known.map(({ strength }) => strength));
  if (allows === undefined) return [];
  const usual = classes.filter(({ uri }) => uri === passwordProtectedTransport);
  const others = wish.comparison === 'exact' ? [] : [...usual, ...classes];
  return [...new Set([...known, ...others].filter(({ strength }) => allows(strength)).map(({ uri }) => uri))];
}

const comparisons: ReadonlyMap<string, (asked: readonly number[]) => (strength: number) => boolean> = new Map([
  ['exact', () => () => true],
  ['minimum', (asked: readonly number[]) => (strength: number) => strength >= Math.min(...asked)],
  ['maximum', (asked: readonly number[]) => (strength: number) => strength <= Math.max(...asked)],
  ['better', (asked: readonly number[]) => (strength: number) => strength > Math.max(...asked)],
]);

/** The first of the classes that a sign-in by the method met, or undefined. */
export function statedClass(acceptable: readonly string[], method: AuthenticationMethod): string | undefined {
  return acceptable.find((uri) => classes.some((known) => known.uri === uri && known.metBy.includes(method)));
}

/** Whether a method of the sign-in page can lead to one of the classes. */
export function meetsOneOf(acceptable: readonly string[], method: LoginMethod): boolean {
  return statedClass(acceptable, methodOf[method]) !== undefined;
}

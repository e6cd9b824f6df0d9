// Which authentication context classes we can state, and whether a request's wish can be met (SAML core 3.3.2.2.1).
// Every sign-in method here is at least a one-time secret over TLS, so each meets password over a protected transport.
import type { AuthnRequest } from './authn-request.ts';

const passwordProtectedTransport = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';

/** Weakest first, for `minimum` and `maximum`. */
const classes = [
  'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified',
  'urn:oasis:names:tc:SAML:2.0:ac:classes:Password',
  passwordProtectedTransport,
] as const;

/** The class the answer will state, or undefined when the wish cannot be met. */
export function chooseAuthnContext(wish: AuthnRequest['requestedAuthnContext']): string | undefined {
  if (wish === undefined) return passwordProtectedTransport;
  const known = classes.filter((candidate) => wish.classes.includes(candidate));
  switch (wish.comparison) {
    case 'exact':
      return wish.classes.find((asked) => known.some((candidate) => candidate === asked));
    case 'minimum':
      return known.length > 0 ? passwordProtectedTransport : undefined;
    case 'maximum':
      return known.at(-1);
    case 'better':
      return known[0] !== undefined && known[0] !== passwordProtectedTransport ? passwordProtectedTransport : undefined;
    default:
      return undefined;
  }
}

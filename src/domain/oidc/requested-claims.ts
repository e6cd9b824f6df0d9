// Claims asked for one by one (OpenID Connect Core 5.5): what of them a request may have, as its sign-in, code and grant keep it.
// Each is kept with the scope that would show it, which the client must have and a person consents to. Pure.

type ClaimScopes = Readonly<Record<string, string>>;

export interface RequestedClaims {
  readonly id_token?: ClaimScopes;
  readonly userinfo?: ClaimScopes;
}

/** The claims as they are stored; null for none. */
export const storeRequestedClaims = (claims: RequestedClaims | undefined): string | null =>
  claims === undefined ? null : JSON.stringify(claims);

export const loadRequestedClaims = (stored: string | null): RequestedClaims | undefined =>
  stored === null ? undefined : (JSON.parse(stored) as RequestedClaims); // written above

/** The claims of one member that a client may still have, each with its scope. */
export const claimsWithin = (claims: ClaimScopes | undefined, scopes: readonly string[]): ClaimScopes =>
  Object.fromEntries(Object.entries(claims ?? {}).filter(([, scope]) => scopes.includes(scope)));

/** The scopes a person consents to: those asked for, and those that would show the claims asked for. */
export function consentScope(asked: { readonly scope: string | null; readonly claims: string | null }): string {
  const { id_token: idToken, userinfo } = loadRequestedClaims(asked.claims) ?? {};
  const more = [...Object.values(idToken ?? {}), ...Object.values(userinfo ?? {})];
  return [...new Set([...(asked.scope ?? '').split(' '), ...more])].filter((scope) => scope !== '').join(' ');
}

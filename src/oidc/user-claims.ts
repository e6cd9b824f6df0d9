// The standard claims (OpenID Connect Core 5.1, 5.4): one line per claim, grouped by the scope that shows it. Claims a user has
// no value for are left out. Discovery lists them from here.
import type { ClaimSources, UserFacts } from '../storage/user-claims.ts';

type Claim = readonly [name: string, scope: string, value: (facts: UserFacts) => unknown];

const fullName = ({ user }: UserFacts): string | undefined => {
  const joined = [user.given_name, user.family_name].filter((part) => part !== null && part !== '').join(' ');
  return user.name_formatted ?? user.display_name ?? (joined === '' ? undefined : joined);
};

// biome-ignore format: a table, one claim a line
const claims: readonly Claim[] = [
  ['name', 'profile', fullName],
  ['given_name', 'profile', ({ user }) => user.given_name],
  ['family_name', 'profile', ({ user }) => user.family_name],
  ['middle_name', 'profile', ({ user }) => user.middle_name],
  ['nickname', 'profile', ({ user }) => user.nick_name],
  ['preferred_username', 'profile', ({ user }) => user.user_name],
  ['profile', 'profile', ({ user }) => user.profile_url],
  ['zoneinfo', 'profile', ({ user }) => user.timezone],
  ['locale', 'profile', ({ user }) => user.locale],
  ['updated_at', 'profile', ({ user }) => Math.floor(user.updated_at / 1000)],
  ['email', 'email', ({ email }) => email],
  // Addresses are entered by administrators, by provisioning, or proved by PIN at signup; a person cannot change theirs.
  ['email_verified', 'email', ({ email }) => (email === undefined ? undefined : true)],
  ['phone_number', 'phone', ({ phone }) => phone],
  ['address', 'address', addressOf],
  ['groups', 'groups', ({ groups }) => groups],
];

export const claimsSupported: readonly string[] = claims.map(([name]) => name);

export const sourcesOf = (scopes: readonly string[]): ClaimSources => ({
  email: scopes.includes('email'),
  phone: scopes.includes('phone'),
  address: scopes.includes('address'),
  groups: scopes.includes('groups'),
});

/** The claims the scopes show, in the order of the table. */
export function claimsOf(facts: UserFacts, scopes: readonly string[]): Readonly<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  for (const [name, scope, value] of claims) {
    if (!scopes.includes(scope)) continue;
    const found = value(facts);
    if (found !== undefined && found !== null) shown[name] = found;
  }
  return shown;
}

/** OpenID Connect Core 5.1.1. */
function addressOf({ address }: UserFacts): Readonly<Record<string, string>> | undefined {
  if (address === undefined) return undefined;
  const parts = {
    formatted: address.formatted,
    street_address: address.street_address,
    locality: address.locality,
    region: address.region,
    postal_code: address.postal_code,
    country: address.country,
  };
  const given = Object.entries(parts).filter((part): part is [string, string] => part[1] !== null);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}

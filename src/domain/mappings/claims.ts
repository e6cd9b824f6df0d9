// The claims of people as mapping rules: what OpenID Connect Core 5.1 and 5.4 say of a person, the claims of a tenant's own attributes,
// the tenant's table and a client's (design 16, section 1). Which of them one token or UserInfo shows. Pure.
import { mappedClaimsBytesMax } from '../../contract/limits.ts';
import { type CustomAttribute, customPath } from '../people/custom-attributes.ts';
import { userAttributes } from '../people/user-attributes.ts';
import { type Applied, applyRules, type CompiledRules, compileRules, type Given, layRules, type Room } from './apply.ts';
import type { MappingFacts } from './paths.ts';
import { type ClaimPlace, defaultPlaces, type MappingRule, type MappingRules } from './rule.ts';

const inUserInfo = ['userinfo'] as const;

/** The order of OpenID Connect Core 5.1; claims it does not know come after these. */
const standardOrder = ['given_name', 'family_name', 'middle_name', 'nickname', 'preferred_username', 'profile', 'zoneinfo', 'locale'];
const rankOf = ({ to }: MappingRule): number => (standardOrder.includes(to) ? standardOrder.indexOf(to) : standardOrder.length);

const ofAttributes = userAttributes.flatMap(({ path, claim }): readonly MappingRule[] =>
  claim === undefined ? [] : [{ to: claim[0], from: path, scope: claim[1] }],
);

/** What every tenant starts from. */
const standardClaims: MappingRules = [
  { to: 'name', from: 'full_name', scope: 'profile' },
  ...ofAttributes.toSorted((left, right) => rankOf(left) - rankOf(right)),
  { to: 'picture', from: 'photos.primary', scope: 'profile' },
  { to: 'updated_at', from: 'updated_at', scope: 'profile' },
  { to: 'email', from: 'emails.primary', scope: 'email' },
  // Addresses are entered by administrators, by provisioning, or proved by PIN at signup; a person cannot change theirs.
  { to: 'email_verified', value: true, when: { path: 'emails.primary', present: true as const }, scope: 'email' },
  { to: 'phone_number', from: 'phone_numbers.primary', scope: 'phone' },
  { to: 'address', from: 'addresses.primary', scope: 'address' },
  { to: 'groups', from: 'groups', default: [], scope: 'groups' },
].map((rule) => ({ ...rule, in: inUserInfo }));

/** The scope that shows the claims of a tenant's own attributes. */
const customScope = 'profile';

const ofCustom = (attributes: readonly CustomAttribute[]): MappingRules =>
  attributes.flatMap((one) =>
    one.claim === undefined ? [] : [{ to: one.claim, from: customPath(one), scope: customScope, in: inUserInfo }],
  );

const standard = compileRules(standardClaims, true);

/** The claims of a tenant's people, before what a client says of them. */
export const claimRulesOf = (attributes: readonly CustomAttribute[], table: MappingRules): CompiledRules =>
  layRules([...standard, ...compileRules(ofCustom(attributes), true)], table);

export const placesOf = ({ rule }: CompiledRules[number]): readonly ClaimPlace[] => rule.in ?? defaultPlaces;

/** The rules that say something in one place: shown by the scopes, or asked for one by one where the person sees them anyway. */
export const shownRules = (
  rules: CompiledRules,
  place: ClaimPlace,
  scopes: readonly string[],
  named: readonly string[] = [],
): CompiledRules =>
  rules.filter((one) => {
    const { scope, to } = one.rule;
    if (placesOf(one).includes(place) && (scope === undefined || scopes.includes(scope))) return true;
    return named.includes(to) && isAskable(one);
  });

/** Whether the `claims` parameter may ask for it (OpenID Connect Core 5.5): never for what is made for access tokens alone. */
const isAskable = (one: CompiledRules[number]): boolean => placesOf(one).some((place) => place !== 'access_token');

/** The scope that shows a claim which may be asked for; undefined for one that nobody has. */
export function scopeOfClaim(rules: CompiledRules, name: string): string | undefined {
  const found = rules.find((one) => one.rule.to === name && isAskable(one));
  return found && (found.rule.scope ?? 'openid');
}

/** The names of the claims people may have in ID tokens and UserInfo. */
export const claimNames = (rules: CompiledRules): readonly string[] => [...new Set(rules.filter(isAskable).map(({ rule }) => rule.to))];

const claimOf = ({ values, isList }: Given): unknown => (isList || values.length > 1 ? values : values[0]);

export const claimsRoom: Room = {
  bytesMax: mappedClaimsBytesMax,
  bytesOf: (to, given) => Buffer.byteLength(`${JSON.stringify(to)}:${JSON.stringify(claimOf(given))},`),
};

/** The claims that rules give. */
export function claimsOf(
  rules: CompiledRules,
  facts: MappingFacts,
): { readonly claims: Readonly<Record<string, unknown>> } & Pick<Applied, 'spilled'> {
  const { given, spilled } = applyRules(rules, facts, claimsRoom);
  return { claims: Object.fromEntries(given.map((one) => [one.rule.to, claimOf(one)])), spilled };
}

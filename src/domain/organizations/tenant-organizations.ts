// What sign-ins and tokens know of the organisations of a tenant without reading them (design 19): whether there are any, and which scopes
// roles give; and what tokens say of the one somebody signed in for. Pure.
import type { SignInRule } from './sign-in-rule.ts';

export const organizationScope = 'organization';
export const organizationsScope = 'organizations';

/** The scopes of sign-in that a tenant has which has organisations, and what each opens. */
export const organizationScopeMeanings: Readonly<Record<string, string>> = {
  [organizationScope]: 'The organisation people sign in for, which they choose where they are in several.',
  [organizationsScope]: 'UserInfo lists the organisations a person is in.',
};
export const organizationScopes: readonly string[] = Object.keys(organizationScopeMeanings);

export interface TenantOrganizations {
  readonly exist: boolean;
  /** By names of roles. */
  readonly scopesOfRoles: ReadonlyMap<string, readonly string[]>;
}

export const noOrganizations: TenantOrganizations = { exist: false, scopesOfRoles: new Map() };

/** An organisation that somebody is in and that is enabled, with the roles they hold there now. */
export interface HeldOrganization extends SignInRule {
  readonly name: string;
  readonly roles: readonly string[];
}

/** Without the scopes that roles give, but for those of roles the person holds in the organisation of the grant. */
export function scopesWithin(
  { scopesOfRoles }: TenantOrganizations,
  scopes: readonly string[],
  held: HeldOrganization | undefined,
): readonly string[] {
  if (scopesOfRoles.size === 0) return scopes;
  const byRoles = new Set([...scopesOfRoles.values()].flat());
  const given = new Set(held?.roles.flatMap((role) => scopesOfRoles.get(role) ?? []));
  return scopes.filter((scope) => !byRoles.has(scope) || given.has(scope));
}

/** Whether a request asks for the organisation of whoever signs in, and names none. */
export const asksForOrganization = (
  { exist }: TenantOrganizations,
  asked: { readonly organization_id: string | null; readonly scope: string | null },
): boolean => exist && asked.organization_id === null && (asked.scope?.split(' ').includes(organizationScope) ?? false);

const claimNames = ['org_id', 'org_name', 'org_roles'] as const;
/** What a tenant that has organisations may say of them. */
export const organizationClaims: readonly string[] = claimNames;

/** Claims with those of the organisation; where a tenant has organisations nothing else says what they say. */
export function withOrganization(
  { exist }: TenantOrganizations,
  claims: Readonly<Record<string, unknown>>,
  held: HeldOrganization | undefined,
): Readonly<Record<string, unknown>> {
  if (!exist && held === undefined) return claims;
  const { org_id: _id, org_name: _name, org_roles: _roles, ...others } = claims;
  return held === undefined ? others : { ...others, org_id: held.id, org_name: held.name, org_roles: held.roles };
}

/** What a request may name an organisation by; undefined for what is no name of any. */
export function organizationReference(text: string): { readonly id: string } | { readonly name: string } | undefined {
  if (uuidSyntax.test(text)) return { id: text };
  return /^[a-z0-9-]{1,63}$/.test(text) ? { name: text } : undefined;
}

const uuidSyntax = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const readsAsId = (text: string): boolean => uuidSyntax.test(text);

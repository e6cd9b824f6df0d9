// What a rule for people from another provider may write: the attributes of a person but the name they sign in with, the tenant's own
// attributes, who is in the groups that are the provider's own, and the roles in the organisation whose own the provider is. Never emails, other
// roles or other groups: those open doors. Pure.
import { powerOfManagers } from '../organizations/organization-role.ts';
import type { Capability } from '../people/capabilities.ts';
import { isCustomPath } from '../people/custom-attributes.ts';
import { userAttributes } from '../people/user-attributes.ts';

/** Its values are display names of groups. */
export const groupsTarget = 'groups';
/** Its values are names of roles of organisations. */
export const organizationRolesTarget = 'org.roles';
/** What rules that hold at every sign-in say whole, also where they give nothing. */
export const listTargets: readonly string[] = [groupsTarget, organizationRolesTarget];

const columns: readonly string[] = [...userAttributes.map(({ path }) => path).filter((path) => path !== 'user_name'), ...listTargets];

export const inboundTargets: readonly string[] = [...columns, 'custom.name'];
export const isInboundTarget = (to: string): boolean => columns.includes(to) || isCustomPath(to);

/** What rules for people from other providers hand out: a role of an organisation may be one that manages it. */
export const capabilitiesByInbound = (rules: readonly { readonly to: string }[]): readonly Capability[] =>
  rules.some(({ to }) => to === organizationRolesTarget) ? powerOfManagers : [];

// What a rule for people from another provider may write: the attributes of a person but the name they sign in with, the tenant's own
// attributes, and who is in the groups that are the provider's own. Never emails, roles or other groups: those open doors. Pure.
import { isCustomPath } from '../people/custom-attributes.ts';
import { userAttributes } from '../people/user-attributes.ts';

/** Its values are display names of groups. */
export const groupsTarget = 'groups';

const columns: readonly string[] = [...userAttributes.map(({ path }) => path).filter((path) => path !== 'user_name'), groupsTarget];

export const inboundTargets: readonly string[] = [...columns, 'custom.name'];
export const isInboundTarget = (to: string): boolean => columns.includes(to) || isCustomPath(to);

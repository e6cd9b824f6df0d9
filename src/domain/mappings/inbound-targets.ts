// What a rule for people from another provider may write: the attributes of a person but the name they sign in with, and the tenant's own
// attributes. Never emails, roles or groups: those open doors. Pure.
import { isCustomPath } from '../people/custom-attributes.ts';
import { userAttributes } from '../people/user-attributes.ts';

const columns: readonly string[] = userAttributes.map(({ path }) => path).filter((path) => path !== 'user_name');

export const inboundTargets: readonly string[] = [...columns, 'custom.name'];
export const isInboundTarget = (to: string): boolean => columns.includes(to) || isCustomPath(to);

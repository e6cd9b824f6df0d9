// A user as every surface knows it: the states it goes through, its role, who made it. Deleted is final: names, emails and lists
// go, the id is never given again. storage/people/user-writer.ts alone writes users.

/** The states somebody may put a user in. */
export const liveUserStates = ['active', 'suspended'] as const;
export type LiveUserState = (typeof liveUserStates)[number];
export const userStates = [...liveUserStates, 'deleted'] as const;
export type UserState = (typeof userStates)[number];

export const userRoles = ['user', 'admin'] as const;
export type UserRole = (typeof userRoles)[number];

/** Who made the user: an administrator, provisioning, or the person. */
export const userOrigins = ['console', 'scim', 'signup'] as const;
export type UserOrigin = (typeof userOrigins)[number];

/** An element of a list of a user: an email, a phone number, an address. */
export interface ListElement {
  readonly primary?: unknown;
}

/** Whether a list keeps the rule of every list of a user: at most one element is the primary one. */
export function hasOnePrimaryAtMost(elements: readonly ListElement[]): boolean {
  return elements.filter(({ primary }) => primary === true).length <= 1;
}

/** What a person is called: by their own name for it, else by their names, else by what they sign in with. */
export function displayNameOf(user: {
  readonly id: string;
  readonly user_name: string | null;
  readonly display_name: string | null;
  readonly given_name: string | null;
  readonly family_name: string | null;
}): string {
  return user.display_name ?? ([user.given_name, user.family_name].filter(Boolean).join(' ') || (user.user_name ?? user.id));
}

// Bounds on what the people of organisations do themselves; the rest is in limits.ts. Each has a test at n and n+1.

/** Invitations of an organisation that wait; those it sends within a day, in all and to one address. */
export const openOrganizationInvitationsMax = 1000;
export const organizationInvitationsPerDayMax = 500;
export const organizationInvitationsPerAddressMax = 5;

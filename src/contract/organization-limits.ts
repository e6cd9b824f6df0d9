// Bounds on organisations together, and on what their people do themselves; the rest is in limits.ts. Each has a test at n and n+1.

/** Memberships of a tenant, in all its organisations. */
export const membershipsMax = 1_000_000;

/** Providers that the organisations of a tenant name as their own; those of the tenant itself are counted apart (limits.ts). */
export const organizationProvidersMax = 200_000;

/** Invitations of an organisation that wait; those it sends within a day, in all and to one address. */
export const openOrganizationInvitationsMax = 1000;
export const organizationInvitationsPerDayMax = 500;
export const organizationInvitationsPerAddressMax = 5;

/** A set-up link works for 7 days, from its making to the end of what it began; links of an organisation that still do. */
export const setupLinkSeconds = 7 * 24 * 3600;
export const setupLinksPerOrganizationMax = 10;
/** A form of setting one up: SAML metadata of 128 KiB, each character in up to three. */
export const organizationSetupBodyBytesMax = 512 * 1024;

// Bounds on directories that people are read from by LDAP (design 20, 1); the rest is in limits.ts. Each has a test at n and n+1.

export const directoriesPerTenantMax = 10;
/** Names of entries (RFC 4514) and filters (RFC 4515), as somebody types them. */
export const distinguishedNameCharsMax = 1024;
export const ldapFilterCharsMax = 2048;
/** How deep a filter nests. */
export const ldapFilterDepthMax = 20;
export const bindPasswordCharsMax = 1024;
/** Certificates of authorities, as PEM. */
export const directoryCaCharsMax = 64 * 1024;
/** Between two runs, and between two that read everything. */
export const everyMinutesMin = 5;
export const everyMinutesMax = 1440;
export const fullEveryHoursMax = 168;
/** Whom a test of a directory shows. */
export const testedPeopleMax = 10;

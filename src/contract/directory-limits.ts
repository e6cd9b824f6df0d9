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

/** What a directory answers: people, and of them and of groups the characters of a value and the bytes of an entry, members aside. */
export const directoryPeopleMax = 1_000_000;
export const directoryValueCharsMax = 1024;
export const directoryEntryBytesMax = 256 * 1024;
/** Of what identifies an entry. */
export const directoryIdCharsMax = 255;
/** One message of a server; a group comes in one, with all its members. */
export const directoryMessageBytesMax = 32 * 1024 * 1024;
/** Attributes and values of one: what is small on the wire is not in memory. */
export const directoryMessageValuesMax = 500_000;
/** People or groups that are asked for at once. */
export const directoryPageEntries = 500;
/** To connect and sign in, and for each page. */
export const directoryConnectSecondsMax = 20;
export const directoryPageSecondsMax = 60;
/** A run, whatever the server gives meanwhile; and a plan or a test, of which a tenant has so many at once in a process. */
export const directoryRunHoursMax = 6;
/** A run, where every turn of the process is taken and a tenant that has none waits for one. */
export const directoryRunMinutesCrowdedMax = 30;
export const directoryAskMinutesMax = 10;
export const directoryAsksPerTenantMax = 2;
/** Of why it cannot be read. */
export const directoryDetailCharsMax = 1024;
/** Pages without an entry, one after the other. */
export const directoryEmptyPagesMax = 100;
/** Groups, the members of all of them, and those that groups have by others. */
export const directoryGroupsMax = 100_000;
export const directoryMembersMax = 5_000_000;
export const directoryNestedMembersMax = 20_000_000;
/** Characters of the names of groups and members together. */
export const directoryGroupCharsMax = 96 * 1024 * 1024;
/** How deep groups within groups are followed. */
export const directoryNestingMax = 5;

// Every bound on what comes from outside, in one place. Units are last in the names. Each has a test at n and n+1.

// HTTP, every surface
export const headerBytesMax = 32 * 1024;
export const bodyBytesMax = 64 * 1024;
export const jsonDepthMax = 32;
export const requestTimeoutMs = 30_000;
export const requestIdCharsMax = 64;

// OAuth parameters
export const parametersMax = 64;
export const parameterCharsMax = 8 * 1024;
export const stateCharsMax = 4096;
export const nonceCharsMax = 1024;
export const scopeCharsMax = 4096;
export const bindingMessageCharsMax = 512; // contract 8
export const codeVerifierCharsMin = 43; // RFC 7636 4.1
export const codeVerifierCharsMax = 128;
export const notificationTokenCharsMax = 1024;

// Sign-in
export const identifierCharsMax = 320;

// Management
export const listLimitDefault = 50;
export const listLimitMax = 200;
export const nameCharsMax = 200;
export const urlCharsMax = 2048;
export const urisPerListMax = 100;
export const emailCharsMax = 254;

// SCIM (contract 8)
export const scimBodyBytesMax = 1024 * 1024;
export const scimBulkOperationsMax = 1000;
export const scimFilterCharsMax = 4096;

// SAML
export const samlBodyBytesMax = 128 * 1024;
export const samlQueryBytesMax = 16 * 1024;

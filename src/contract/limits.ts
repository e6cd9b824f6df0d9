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
export const hintCharsMax = 1024; // acr_values, ui_locales
export const bindingMessageCharsMax = 512; // contract 8
export const codeVerifierCharsMin = 43; // RFC 7636 4.1
export const codeVerifierCharsMax = 128;
export const notificationTokenCharsMax = 1024;
export const dpopProofCharsMax = 8 * 1024;
export const dpopKeyCharsMax = 700; // a coordinate or an RSA modulus of 4096 bits
export const dpopJtiCharsMax = 256;
export const assertionLifetimeSecondsMax = 600;
export const assertionJtiCharsMax = 256;
export const jwksBytesMax = 64 * 1024;
export const jwksKeysMax = 100;

// Sign-in
export const identifierCharsMax = 320;
export const pinCharsMax = 64;
export const approvalCodeCharsMax = 128;
export const loginBodyBytesMax = 16 * 1024;
export const loginEventStreamsMax = 2000;

// Passkeys
export const passkeysPerUserMax = 8; // what the allow list of a sign-in always holds; security keys take 8 at a time
export const passkeyTextCharsMax = 8 * 1024; // each base64url text of a response
export const passkeyCredentialIdBytesMax = 1023; // WebAuthn 4
export const passkeyTransportsMax = 10;
export const passkeyNameCharsMax = 60;

// Console forms
export const consoleBodyBytesMax = 160 * 1024;
export const consoleUploadBytesMax = 128 * 1024;

// Account page
export const accountBodyBytesMax = 64 * 1024;
/** Rows of a list on one page. */
export const accountListRows = 20;
export const deviceNameCharsMax = 100;
/** A session of the account page ends this long after the sign-in. */
export const accountSessionSeconds = 12 * 3600;
/** A way of signing in may be added this long after the sign-in; later one signs in again first. */
export const accountFreshSeconds = 600;

// Management
export const managementBodyBytesMax = 256 * 1024;
export const listLimitDefault = 50;
export const listLimitMax = 200;
export const nameCharsMax = 200;
export const urlCharsMax = 2048;
export const urisPerListMax = 100;
export const scopesPerListMax = 200;
export const scopeNameCharsMax = 128;
export const textCharsMax = 1000;
export const listedNamesMax = 100;
export const statisticsDaysMax = 31;
export const statisticsCountMax = 10_000;
export const brandingEntriesMax = 20;
export const lifetimeSecondsMax = 315_360_000; // 10 years
export const countMax = 1_000_000;
export const emailCharsMax = 254;
export const emailsPerUserMax = 20;
export const profileCharsMax = 500;

// SCIM (contract 8)
export const scimBodyBytesMax = 1024 * 1024;
export const scimBulkOperationsMax = 1000;
export const scimFilterCharsMax = 4096;

// SAML
export const samlBodyBytesMax = 128 * 1024;
export const samlQueryBytesMax = 16 * 1024;
/** Protocol messages: what the XML reader takes. */
export const samlXmlLimits = {
  bytesMax: 64 * 1024,
  depthMax: 20,
  elementsMax: 500,
  attributesPerElementMax: 32,
  namespaceDeclarationsMax: 64,
} as const;
/** Metadata given by an administrator is wider: it carries contacts, logos and texts. */
export const samlMetadataXmlLimits = { ...samlXmlLimits, bytesMax: 128 * 1024, elementsMax: 1000 } as const;
export const samlMessageIdCharsMax = 256;
export const samlEntityIdCharsMax = 1024; // SAML core 8.3.6
export const samlRelayStateBytesMax = 1024;
export const samlIssueInstantPastMsMax = 5 * 60_000;
export const samlIssueInstantFutureMsMax = 2 * 60_000;
export const samlAcsIndexMax = 65_535; // xs:unsignedShort
export const samlAcsPerProviderMax = 50;
export const samlSigningKeysPerProviderMax = 2;
export const samlKeyPemCharsMax = 16 * 1024;
export const samlRelayStatesPerProviderMax = 20;
export const samlAttributeNameCharsMax = 512;

// Documents of export and import
export const declaredItemCharsMax = 1024 * 1024;

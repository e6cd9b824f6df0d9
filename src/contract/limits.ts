// Every bound on what comes from outside, in one place. Units are last in the names. Each has a test at n and n+1.

// HTTP, every surface
export const headerBytesMax = 32 * 1024;
export const bodyBytesMax = 64 * 1024;
export const jsonDepthMax = 32;
export const requestTimeoutMs = 30_000;
/** Bytes, and connections at a time, of bodies that are read on after they were refused for their size. */
export const refusedBodyBytesMax = 16 * 1024 * 1024;
export const refusedBodyConnectionsMax = 64;
/** Requests of one connection that are not answered yet: so many are begun at once, and with more than so many it is cut off. */
export const begunPerConnectionMax = 8;
export const unansweredPerConnectionMax = 16;
/** The least part of a body that is handed on at once: too short for as many requests as one connection may have. */
export const bodyPartBytes = 256;
/** Unsent bytes of one connection behind which none is begun. */
export const unsentPerConnectionBytesMax = 64 * 1024;
/** How long an answer may wait without a byte of it being taken. */
export const stalledAnswerMs = 10_000;
/** Requests in hand in a process beyond which none is begun behind another of its connection. */
export const pipelinedInHandMax = 256;
/** Bytes unsent and not begun of all connections; the worst are cut off. Beyond half of them, or so many connections, idle ones end sooner. */
export const connectionBytesMax = 64 * 1024 * 1024;
export const crowdedConnections = 2000;
export const idleWhenCrowdedMs = 5000;
/** A line of the access log, and spans that wait to be sent to the collector. */
export const accessLineBytesMax = 512;
export const spanQueueMax = 2048;
/** Routes, methods and status classes told apart in metrics, of 15 series each; what is beyond is `other`. */
export const routeSeriesMax = 250;
/** Delay of the event loop beyond which new work is refused, and then everything; and a wait for a database connection. */
export const loopLagFirstMsMax = 250;
export const loopLagMsMax = 1000;
export const connectionWaitMsMax = 1000;
export const overloadRetrySeconds = 2; // Retry-After of what is refused so
export const requestIdCharsMax = 64;

// Refusals that are recorded: of one kind (tenant, contract row, address block) a few at once, then one now and then
export const refusalValueCharsMax = 200;
export const refusalsOfKindBurst = 20;
export const refusalsOfKindRefillMs = 3000;
export const refusalsPerTenantPerSecond = 20; // of a tenant and process, all kinds
export const refusalQueueRowsMax = 1000;
export const refusalQueueBytesMax = 1024 * 1024;
/** Summaries of a minute and process with an address; as many again without. */
export const refusalSummaryKeysMax = 1000;
export const refusalRowsPerTenantMax = 500_000;

// Names of tenants, which anybody can invent
export const hostBytesMax = 253; // RFC 1035 2.3.4, without the port
export const unknownTenantNamesMax = 2000;
export const unknownTenantNameBytesMax = 256 * 1024;
export const tenantLookUpsPerSecond = 20; // look-ups of names that nobody has, by address block

// OAuth parameters
export const parametersMax = 64;
export const parameterCharsMax = 8 * 1024;
export const stateCharsMax = 4096;
export const nonceCharsMax = 1024;
export const scopeCharsMax = 4096;
/** Seconds from nbf to exp of a request object (FAPI 2.0, CIBA), and how long ago nbf may be. */
export const requestObjectSecondsMax = 3600;
export const requestObjectJtiCharsMax = 256;
export const requestedClaimsMax = 100; // members of `claims`, both parts together
export const hintCharsMax = 1024; // acr_values, ui_locales
export const bindingMessageCharsMax = 512; // contract 8
/** A pushed request as it is stored, and those of a client that wait to be used. */
export const pushedRequestBytesMax = 16 * 1024;
export const pushedRequestsPerClientMax = 10_000;
export const grantsCountedMax = 5000; // live grants of one host in which people are counted
export const codeVerifierCharsMin = 43; // RFC 7636 4.1
export const codeVerifierCharsMax = 128;
export const notificationTokenCharsMax = 1024;
export const dpopProofCharsMax = 8 * 1024;
export const dpopKeyCharsMax = 700; // a coordinate or an RSA modulus of 4096 bits
export const dpopJtiCharsMax = 256;
/** Token exchange: APIs a client is, rows of what it may trade for, and who acts for whom in one token. */
export const servedResourcesMax = 20;
export const exchangeRowsMax = 50;
export const actorsMax = 5;
/** Workload identity: issuers of a tenant, what a client is known by, and how long a token of a platform may live. */
export const workloadIssuersMax = 50;
export const audiencesPerIssuerMax = 20;
export const workloadsPerClientMax = 20;
export const claimsPerWorkloadMax = 10;
export const workloadLifetimeSecondsMax = 86_400;
export const exchangesToldPerDayMax = 10_000; // first ones in the trail of a tenant, of each process
export const assertionLifetimeSecondsMax = 600;
export const assertionJtiCharsMax = 256;
/** DER of the certificate of a connection, or of a proxy's header. */
export const clientCertificateBytesMax = 8 * 1024;
export const jwksBytesMax = 64 * 1024;
export const jwksKeysMax = 100;

// Sign-in
export const identifierCharsMax = 320;
export const pinCharsMax = 64;
export const recoveryCodeCharsMax = 64;
export const recoveryCodesMade = 10;
export const recoveryReasonCharsMax = 200;
export const approvalCodeCharsMax = 128;
export const loginBodyBytesMax = 16 * 1024;
export const loginEventStreamsMax = 2000; // pages that wait at one process
export const loginEventStreamsPerAddressMax = 200; // of one address (IPv6: of one /64), whatever it signs in to
export const loginEventStreamsPerLoginMax = 8; // of one sign-in: tabs of one browser, and connections it has lost
/** Tries to sign in that are kept: of one person, of names that nobody has, of one address among either; and what is kept of one. */
export const signInTriesPerPersonMax = 100;
export const unknownSignInTriesMax = 1000;
export const signInTriesPerAddressMax = 50;
export const signInLinesPerTryMax = 20;
export const signInTryDetailCharsMax = 200;

/** A device that waits for somebody to sign in (RFC 8628): seconds its codes live, and between two polls. */
export const deviceCodeSeconds = 600;
export const deviceCodeIntervalSeconds = 5;
export const userCodeCharsMax = 64; // what is read of a typed device code
/** Initial access tokens: clients that may register with one, seconds it lives (a year), hosts of its policy. */
export const initialAccessTokenUsesMax = 1000;
export const initialAccessTokenSecondsMax = 31_536_000;
export const policyHostsMax = 100;
/** What is kept of the User-Agent header of whoever asked. */
export const userAgentCharsMax = 300;

// Passkeys
export const passkeysPerUserMax = 8; // what the allow list of a sign-in always holds; security keys take 8 at a time
export const passkeyTextCharsMax = 8 * 1024; // each base64url text of a response
export const passkeyCredentialIdBytesMax = 1023; // WebAuthn 4
export const passkeyTransportsMax = 10;
export const passkeyNameCharsMax = 60;

// Sign-in with other providers
export const providerAliasCharsMax = 40;
export const providersPerTenantMax = 50;
export const providerTenantsMax = 100;
export const providerMapEntriesMax = 50;
export const providerSecretCharsMax = 1024;
/** Each answer of a provider: metadata, keys, tokens. */
export const providerAnswerBytesMax = 256 * 1024;
export const externalStateCharsMax = 100; // `state` and a SAML RelayState of ours have 43
export const externalSubjectCharsMax = 1024;
export const externalLoginSeconds = 600;
/** An answer by form post: a SAML Response in base64 is a third longer than its XML. */
export const externalAnswerBytesMax = 192 * 1024;
/** XML that an administrator pastes; see samlMetadataXmlLimits. */
export const providerMetadataCharsMax = 128 * 1024;
export const providerDomainsMax = 20; // domains of one provider, or one organisation
export const domainCharsMax = 253; // RFC 1035 2.3.4
/** Between the clock of another provider and ours, either way. */
export const samlClockToleranceSeconds = 60;

// Console forms
export const consoleBodyBytesMax = 1056 * 1024;
export const consoleUploadBytesMax = 1024 * 1024;
/** People one call or form invites; a spreadsheet in many calls; and as links, which one cookie holds. */
export const invitedAtOnceMax = 50;
export const spreadsheetLinesMax = 10_000;
export const linksAtOnceMax = 5;

// Account page
export const accountBodyBytesMax = 64 * 1024;
/** Characters of a search in the documents; what is beyond is not searched for. */
export const docsQueryCharsMax = 200;
export const accountListRows = 20; // rows of a list on one page
export const deviceNameCharsMax = 100;
/** One signature in base64: an authenticator's word takes most of it. */
export const deviceSignatureCharsMax = 2048;
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
// Clients that nobody registered, by document or without a token (domain/client/stranger.ts has the rest)
export const documentIdCharsMax = 500;
export const documentBytesMax = 10 * 1024;
export const openRegistrationBytesMax = 5 * 1024;

/** Organisations, roles in them and their metadata; how many one person is in, and who is in one. */
export const organizationsMax = 100_000;
export const organizationRolesMax = 50;
export const organizationMetadataBytesMax = 4096;
export const organizationsPerPersonMax = 100;
export const membersPerOrganizationMax = 100_000;
export const organizationsToldMax = 50; // of a person, by UserInfo

export const roleNameCharsMax = 63;
export const rolesPerPersonMax = 20;
export const textCharsMax = 1000;
export const listedNamesMax = 100;
export const statisticsDaysMax = 31;
export const statisticsCountMax = 10_000;
/** The card's corner radius; pictures: bytes, pixels a side, and how many a tenant has. */
export const brandCornerPixelsMax = 24;
export const imageBytesMax = 256 * 1024;
export const imagePixelsMax = 1024;
export const imagesPerTenantMax = 100;
/** Texts of the sign-in that a tenant words itself: one, and the note below a step. */
export const pageTextCharsMax = 200;
export const noteCharsMax = 600;
/** A mail as a tenant words it. */
export const mailSubjectCharsMax = 200;
export const mailBodyCharsMax = 10_000;
/** Mailed codes, whatever a tenant would like: a million of them, and 100 tries a day at those of one mailbox, from all addresses. */
export const pinDigitsMin = 6;
export const pinDigitsMax = 10;
export const pinAttemptsMax = 10;
export const pinFailuresPerDayMax = 100;
/** After so many wrong codes in a year, which no sign-in takes back, those of a mailbox have `pinDigitsMax` digits. */
export const shortPinFailuresPerYearMax = 40;
/** After so many without a sign-in of its person, strangers are sent no code and may try none. */
export const strangerFailuresInRowMax = 100;
/** Wrong codes an hour of one mailbox from one address block. */
export const nearFailuresPerHourMax = 10;
/** Mails and pushes an hour to one person: from all address blocks together, and in a known browser, times what one block has. */
export const farTimesNear = 6;
export const ownTimesNear = 2;
/** A person lets unknown browsers in: for how long, and how often all address blocks then have what they have. */
export const signInOpenedSeconds = 600;
export const openedTimesFar = 6;
export const pinLifetimeSecondsMax = 3600;
/** Seconds of a browser's session, idle and whole. */
export const ssoSecondsMin = 60;
export const ssoSecondsMax = 90 * 86_400;
export const lifetimeSecondsMax = 315_360_000; // 10 years
export const countMax = 1_000_000;
export const emailCharsMax = 254;
export const emailsPerUserMax = 20;
export const profileCharsMax = 500;
/** What directories give by SCIM, and documents restore: characters of a value, bytes of what an index has of it, values of a list. */
export const directoryValueCharsMax = 1024;
export const directoryKeyBytesMax = 2048; // what an index row of either database can hold
export const directoryValuesMax = 100;
/** Attributes a tenant adds to its people, their values, and the bytes of a person's as JSON. */
export const customAttributesPerTenantMax = 100;
export const customAllowedValuesMax = 100;
export const customClaimCharsMax = 128;
export const customValuesMax = 100;
export const customValueCharsMax = 1024;
export const customKeyBytesMax = 2048; // what an index row of either database can hold
export const customBytesPerUserMax = 32 * 1024;
/** Mappings: rules of one table, `{path}`s of a template, texts of its lists, and how long texts and paths are. */
export const mappingRulesMax = 100;
export const mappingPlaceholdersMax = 10;
export const mappingValuesMax = 200;
/** Texts one `only` compares with: each is compared with every value. */
export const mappingOnlyTextsMax = 20;
export const mappingTextCharsMax = 1024;
export const mappingPathCharsMax = 100;
/** What the rules of a tenant may give together: claims of one token or of UserInfo as JSON, attributes of one assertion. */
export const mappedClaimsBytesMax = 8 * 1024;
export const mappedAttributesBytesMax = 64 * 1024;
export const groupsPerProviderMax = 1000; // groups that the rules of one identity provider make
/** Values a preview shows as dropped, a rule. */
export const mappingPreviewDroppedMax = 100;

// Long work, every surface
/** At work at once, of a tenant and of a process; requests of a tenant that wait, and how long; when to come back. */
export const longWorkPerTenantMax = 1;
export const longWorkPerProcessMax = 2;
export const longWorkWaitingPerTenantMax = 4;
export const longWorkWaitMsMax = 10_000;
export const longWorkRetrySeconds = 5;
/** How long work of many items has the event loop before others go on. */
export const longWorkTurnMsMax = 10;

// SCIM (contract 8)
export const scimBodyBytesMax = 1024 * 1024;
export const scimBulkOperationsMax = 1000;
export const scimFilterCharsMax = 4096;
export const scimTokensMax = 50; // of a tenant, and of each organisation
export const scimTokenDaysMax = 366;

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
/** Answers of other identity providers: attributes declare namespaces of their own, one by one. */
export const samlResponseXmlLimits = { ...samlXmlLimits, bytesMax: 128 * 1024, elementsMax: 2000, namespaceDeclarationsMax: 2000 } as const;
export const samlMessageIdCharsMax = 256;
export const samlEntityIdCharsMax = 1024; // SAML core 8.3.6
export const samlNameIdCharsMax = 256; // SAML core 8.3.7
export const samlRelayStateBytesMax = 1024;
export const samlIssueInstantPastMsMax = 5 * 60_000;
export const samlIssueInstantFutureMsMax = 2 * 60_000;
export const samlAcsIndexMax = 65_535; // xs:unsignedShort
export const samlAcsPerProviderMax = 50;
export const samlSigningKeysPerProviderMax = 4;
export const samlKeyPemCharsMax = 16 * 1024;
export const samlRelayStatesPerProviderMax = 20;
export const samlAttributeNameCharsMax = 512;

// The feed of events
export const feedWaitSecondsMax = 30;
export const feedTypesMax = 50;
/** Asks that wait for the next event, a process. */
export const feedWaitsMax = 100;

// Hooks
export const hookDeadlineMsMin = 100;
export const hookDeadlineMsMax = 3000;
/** Clients and service providers one hook names. */
export const clientsPerHookMax = 100;
/** The claims of one answer together, as JSON. */
export const hookClaimsBytesMax = 8 * 1024;
/** Lists and objects of a claim, in one another. */
export const hookClaimsDepthMax = 5;
export const hookReasonCharsMax = 512;
/** A whole answer. */
export const hookAnswerBytesMax = 16 * 1024;

// Deliveries
/** Endpoints whose time-outs a node remembers. */
export const deliveryLanesMax = 1000;

// Documents of export and import
/** A row of a tenant's bundle, as JSON: more than any row a request can make. */
export const tenantBundleRowBytesMax = 16 * 1024 * 1024;
/** A part of a bundle that is sent to another group: a row of that length with what is around it. */
export const tenantImportPartBytesMax = tenantBundleRowBytesMax + 256 * 1024;
export const declaredItemCharsMax = 1024 * 1024;

/** Where a phone is pushed to: a token or the JSON of a subscription, and the address in it. */
export const pushTokenCharsMax = 4096;
export const pushEndpointCharsMax = 1024;
/** The private key of a push account, as PEM. */
export const pushKeyCharsMax = 8192;

/** Mailboxes a browser is known for; the one signed in longest ago is forgotten. */
export const knownMailboxesMax = 5;

// Security events
export const streamsPerTenantMax = 100;
/** Events that wait for one stream; with more it reads no further in the feed. */
export const streamBacklogMax = 10_000;
/** Verification events that wait for one stream. */
export const streamVerificationsMax = 10;
/** People a stream is not to tell of. */
export const removedSubjectsMax = 10_000;
export const subjectCharsMax = 255; // OpenID Connect Core 2, sub
export const streamEventsRequestedMax = 50;
export const streamDescriptionCharsMax = 1000;
export const streamStateCharsMax = 1000;
export const streamReasonCharsMax = 200;
export const streamHeaderCharsMax = 2048;
/** Tokens of one answer to a poll, and those one poll acknowledges or refuses. */
export const polledSetsMax = 100;
export const acknowledgedSetsMax = 1000;
export const setErrorCharsMax = 200;
/** How long a poll waits for the next token, and how many polls wait, a process. */
export const pollWaitSecondsMax = 30;
export const pollWaitsMax = 100;
// Connectors
export const connectorsPerTenantMax = 20;
/** Groups that one connector names. */
export const connectorGroupsMax = 200;
export const connectorRateMax = 200;
export const connectorSecretCharsMax = 8192;
/** Members that one PATCH of a group adds or takes away. */
export const membersPerPatchMax = 500;
/** Of an answer of a target, as text that is kept and shown. */
export const connectorAnswerBytesMax = 1024;
/** Differences a plan shows, and people it looks at. */
export const planDifferencesMax = 1000;
export const planPeopleMax = 10_000;
/** A run that ends the accounts of more people than this, and of more than 10 %, waits for approval. */
export const endingsUnasked = 20;

// Webhooks
export const webhooksPerTenantMax = 20;
/** Events that wait for one webhook; with more it reads no further in the feed. */
export const webhookBacklogMax = 10_000;
/** Deliveries one replay begins. */
export const webhookReplayMax = 10_000;
export const administratorsMailedMax = 50; // told when a webhook is disabled
export const webhookAnswerBytesMax = 1024; // of an answer, as text that is kept and shown

/** Names of servers looked up at once for one tenant, by one process; more wait behind their own. */
export const lookUpsAtOnceMax = 4;
export const connectionsAtOnceMax = 32; // calls to other servers for one tenant, by one process

export const testMailsPerHourMax = 30; // of a tenant, sent to see them

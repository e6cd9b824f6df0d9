// The one migration history of both databases: numbered, additive, forward-only (R9). A released entry never changes. What it does is
// loaded when it is applied: a start needs the numbers alone.
import type { Migration } from './migration.ts';
import { releaseOne } from './release-1/registry.ts';
import { sharpSBackfills } from './release-2/0100/0122-sharp-s.ts';
import { mailLanes } from './release-2/0300/0390-mail-lanes.ts';
import { pendingDomains } from './release-2/0300/0392-pending-domains.ts';
import { lastSignIns } from './release-2/0400/0400-last-sign-ins.ts';
import { operatorEntries } from './release-2/0400/0401-operator-entries.ts';
import { ssfSubjects } from './release-2/0400/0420-ssf-subjects.ts';
import { providerGroups } from './release-2/0400/0430-provider-groups.ts';
import { addSignInCapabilities } from './release-2/0500/0500-sign-in-capabilities.ts';
import { budgets } from './release-2/0500/0510-budgets.ts';
import { signInOpenings } from './release-2/0500/0511-sign-in-openings.ts';
import { sealedMails } from './release-2/0500/0520-sealed-mails.ts';
import { makers } from './release-2/0500/0522-makers.ts';
import { openResources } from './release-2/0500/0530-open-resources.ts';
import { strangers } from './release-2/0500/0532-strangers.ts';
import { keepAudiences } from './release-2/0500/0550-kept-audiences.ts';
import { tokenExchange } from './release-2/0500/0551-token-exchange.ts';
import { signInTries } from './release-2/0500/0552-sign-in-tries.ts';
import { domainProofSalts } from './release-2/0500/0560-domain-proof-salts.ts';
import { workloads } from './release-2/0500/0561-workloads.ts';
import { providersOfGrants } from './release-2/0500/0562-providers-of-grants.ts';
import { consoleTasks } from './release-2/0500/0563-console-tasks.ts';
import { scimTokens } from './release-2/0500/0564-scim-tokens.ts';
import { directories } from './release-2/0500/0565-directories.ts';
import { crossAppAccess, crossAppProviders } from './release-2/0500/0570-cross-app-access.ts';
import { organizationMigrations } from './release-2/0580/organization-migrations.ts';
import { firstSteps } from './release-2/0610/0612-first-steps.ts';

/** Refusals, whole and summed up: bounded in number. */
const refusalTypes = "type IN ('refusal', 'refusal_summary')";
/** Sessions of browsers that another provider's sign-in opened, for its logout. */
const ofIdentity = { columns: ['tenant_id', 'external_identity_id'], where: 'external_identity_id IS NOT NULL' };
const ofProviderSession = { columns: ['tenant_id', 'external_session_id'], where: 'external_session_id IS NOT NULL' };
/** What was made from a browser's session, for its end. */
const ofSession = { columns: ['tenant_id', 'sso_session_id'], where: 'sso_session_id IS NOT NULL' };

/** What a person may still finish adding a phone with. */
const ofUser = { columns: ['tenant_id', 'user_id'], where: 'user_id IS NOT NULL' };
/** Phones in browsers, counted before a tenant switches them off. */
const webPhonesInForce = { columns: ['tenant_id'], where: "platform = 'web' AND state = 'active'", name: 'devices_web_phones' };

/** One current and one next key of a service provider's own; their use is `saml:` and its id. */
const ownKeysOnce = {
  columns: ['tenant_id', 'use', 'state'],
  where: "use > 'saml:' AND use < 'saml;' AND state <> 'retired'",
  unique: true,
};

export const migrations: readonly Migration[] = [
  ...releaseOne,
  {
    number: 90,
    name: 'config-sequence',
    apply: async (context) => (await import('./release-2/0000/0090-config-sequence.ts')).configSequence(context),
  },
  { number: 91, name: 'config-sequence-index', table: 'config_epochs', index: { columns: ['sequence'] } },
  {
    number: 100,
    name: 'repeatable-redemption',
    apply: async (context) => (await import('./release-2/0100/0100-repeatable-redemption.ts')).repeatableRedemption(context),
  },
  { number: 101, name: 'web-phones', apply: async (context) => (await import('./release-2/0100/0101-web-phones.ts')).webPhones(context) },
  {
    number: 110,
    name: 'saml-sign-in-method',
    apply: async (context) => (await import('./release-2/0100/0110-saml-sign-in-method.ts')).samlSignInMethod(context),
  },
  {
    number: 111,
    name: 'saml-key-readers',
    apply: async (context) => (await import('./release-2/0100/0111-saml-key-readers.ts')).samlKeyReaders(context),
  },
  {
    number: 121,
    name: 'directory-order',
    apply: async (context) => (await import('./release-2/0100/0121-directory-order.ts')).directoryOrder(context),
  },
  ...sharpSBackfills.map((backfill, index) => ({ number: 122 + index, ...backfill })),
  {
    number: 130,
    name: 'sso-sessions',
    apply: async (context) => (await import('./release-2/0100/0130-sso-sessions.ts')).ssoSessions(context),
  },
  {
    number: 131,
    name: 'pushed-request-login',
    apply: async (context) => (await import('./release-2/0100/0131-pushed-request-login.ts')).pushedRequestLogin(context),
  },
  { number: 132, name: 'codes-of-session', table: 'authorization_codes', index: ofSession },
  { number: 133, name: 'grants-of-session', table: 'grants', index: ofSession },
  {
    number: 140,
    name: 'custom-attributes',
    apply: async (context) => (await import('./release-2/0100/0140-custom-attributes.ts')).customAttributes(context),
  },
  {
    number: 150,
    name: 'name-id-sources',
    apply: async (context) => (await import('./release-2/0100/0150-name-id-sources.ts')).nameIdSources(context),
  },
  {
    number: 151,
    name: 'own-saml-keys',
    apply: async (context) => (await import('./release-2/0100/0151-own-saml-keys.ts')).ownSamlKeys(context),
  },
  { number: 152, name: 'own-saml-keys-once', table: 'signing_keys', index: ownKeysOnce },
  {
    number: 153,
    name: 'metadata-refreshes',
    apply: async (context) => (await import('./release-2/0100/0153-metadata-refreshes.ts')).metadataRefreshes(context),
  },
  { number: 154, name: 'signing-keys-by-use', table: 'signing_keys', index: { columns: ['tenant_id', 'use'] } },
  {
    number: 175,
    name: 'waiting-pushed-requests',
    table: 'pushed_requests',
    index: { columns: ['tenant_id', 'client_id', 'expires_at'], where: 'used_at IS NULL' },
  },
  {
    number: 176,
    name: 'refusals-in-order',
    table: 'audit_events',
    index: { columns: ['tenant_id', 'id'], where: refusalTypes, name: 'audit_events_refusals' },
  },
  {
    number: 180,
    name: 'identity-providers',
    apply: async (context) => (await import('./release-2/0100/0180-identity-providers.ts')).identityProviders(context),
  },
  { number: 181, name: 'sessions-of-identity', table: 'sso_sessions', index: ofIdentity },
  { number: 182, name: 'sessions-of-provider-session', table: 'sso_sessions', index: ofProviderSession },
  {
    number: 190,
    name: 'kept-login-methods',
    backfill: async (queries, tenant) => (await import('./release-2/0100/0190-kept-login-methods.ts')).keepLoginMethods(queries, tenant),
  },
  {
    number: 191,
    name: 'invitations',
    apply: async (context) => (await import('./release-2/0100/0191-invitations.ts')).invitations(context),
  },
  {
    number: 200,
    name: 'delivery-lanes',
    apply: async (context) => (await import('./release-2/0200/0200-delivery-lanes.ts')).deliveryLanes(context),
  },
  { number: 201, name: 'ciba-deliveries-by-lane', table: 'ciba_deliveries', index: { columns: ['lane', 'due_at'] } },
  { number: 202, name: 'logout-notices-by-lane', table: 'logout_notices', index: { columns: ['lane', 'due_at'] } },
  { number: 203, name: 'push-messages-by-lane', table: 'push_messages', index: { columns: ['lane', 'next_attempt_at'] } },
  { number: 204, name: 'event-feed', apply: async (context) => (await import('./release-2/0200/0204-event-feed.ts')).eventFeed(context) },
  {
    number: 205,
    name: 'unnumbered-events',
    table: 'audit_events',
    index: { columns: ['tenant_id', 'id'], where: 'seq IS NULL', name: 'audit_events_unnumbered' },
  },
  {
    number: 206,
    name: 'numbered-events',
    table: 'audit_events',
    index: { columns: ['tenant_id', 'seq'], where: 'seq IS NOT NULL', unique: true },
  },
  {
    number: 210,
    name: 'tenant-moves',
    apply: async (context) => (await import('./release-2/0200/0210-tenant-moves.ts')).tenantMoves(context),
  },
  { number: 220, name: 'recovery', apply: async (context) => (await import('./release-2/0200/0220-recovery.ts')).recovery(context) },
  {
    number: 221,
    name: 'recoveries-to-stop',
    table: 'invitations',
    index: { columns: ['tenant_id', 'stop_hash'], where: 'stop_hash IS NOT NULL' },
  },
  {
    number: 222,
    name: 'recover-capability',
    backfill: async (...of) => (await import('./release-2/0200/0222-recover-capability.ts')).addRecoverCapability(...of),
  },
  { number: 223, name: 'registrations-of-user', table: 'device_registrations', index: ofUser },
  {
    number: 230,
    name: 'sender-constrained-clients',
    apply: async (context) => (await import('./release-2/0200/0230-sender-constrained-clients.ts')).senderConstrainedClients(context),
  },
  {
    number: 231,
    name: 'device-authorizations',
    apply: async (context) => (await import('./release-2/0200/0231-device-authorizations.ts')).deviceAuthorizations(context),
  },
  {
    number: 232,
    name: 'client-registrations',
    apply: async (context) => (await import('./release-2/0200/0232-client-registrations.ts')).clientRegistrations(context),
  },
  {
    number: 240,
    name: 'response-mode',
    apply: async (context) => (await import('./release-2/0200/0240-response-mode.ts')).responseMode(context),
  },
  {
    number: 241,
    name: 'requested-claims',
    apply: async (context) => (await import('./release-2/0200/0241-requested-claims.ts')).requestedClaims(context),
  },
  {
    number: 242,
    name: 'signed-requests',
    apply: async (context) => (await import('./release-2/0200/0242-signed-requests.ts')).signedRequests(context),
  },
  {
    number: 243,
    name: 'client-certificates',
    apply: async (context) => (await import('./release-2/0200/0243-client-certificates.ts')).clientCertificates(context),
  },
  {
    number: 250,
    name: 'upstream-saml',
    apply: async (context) => (await import('./release-2/0200/0250-upstream-saml.ts')).upstreamSaml(context),
  },
  {
    number: 251,
    name: 'provider-domains',
    apply: async (context) => (await import('./release-2/0200/0251-provider-domains.ts')).providerDomains(context),
  },
  {
    number: 260,
    name: 'push-results',
    apply: async (context) => (await import('./release-2/0200/0260-push-results.ts')).pushResults(context),
  },
  {
    number: 270,
    name: 'same-browser',
    apply: async (context) => (await import('./release-2/0200/0270-same-browser.ts')).sameBrowser(context),
  },
  { number: 271, name: 'web-phones-in-force', table: 'devices', index: webPhonesInForce },
  { number: 280, name: 'webhooks', apply: async (context) => (await import('./release-2/0200/0280-webhooks.ts')).webhooks(context) },
  {
    number: 281,
    name: 'webhook-capabilities',
    backfill: async (...of) => (await import('./release-2/0200/0281-webhook-capabilities.ts')).addWebhookCapabilities(...of),
  },
  {
    number: 282,
    name: 'administrators',
    table: 'users',
    index: { columns: ['tenant_id', 'id'], where: "role = 'admin'", name: 'users_administrators' },
  },
  { number: 290, name: 'mappings', apply: async (context) => (await import('./release-2/0200/0290-mappings.ts')).mappings(context) },
  { number: 300, name: 'hooks', apply: async (context) => (await import('./release-2/0300/0300-hooks.ts')).hooks(context) },
  { number: 310, name: 'sent-forms', apply: async (context) => (await import('./release-2/0300/0310-sent-forms.ts')).sentForms(context) },
  {
    number: 311,
    name: 'users-by-user-name-alone',
    table: 'users',
    index: {
      columns: ['tenant_id', 'user_name_key', 'created_at', 'id'],
      where: 'display_name_key IS NULL',
      name: 'users_shown_by_user_name',
    },
  },
  { number: 320, name: 'roles', apply: async (context) => (await import('./release-2/0300/0320-roles.ts')).roles(context) },
  { number: 321, name: 'owners', backfill: async (...of) => (await import('./release-2/0300/0321-owners.ts')).makeOwners(...of) },
  {
    number: 322,
    name: 'role-capabilities',
    backfill: async (...of) => (await import('./release-2/0300/0322-role-capabilities.ts')).addRoleCapabilities(...of),
  },
  { number: 330, name: 'appearance', apply: async (context) => (await import('./release-2/0300/0330-appearance.ts')).appearance(context) },
  {
    number: 331,
    name: 'appearance-capabilities',
    backfill: async (...of) => (await import('./release-2/0300/0331-appearance-capabilities.ts')).addAppearanceCapabilities(...of),
  },
  { number: 340, name: 'ssf', apply: async (context) => (await import('./release-2/0300/0340-ssf.ts')).ssf(context) },
  {
    number: 341,
    name: 'ssf-capabilities',
    backfill: async (...of) => (await import('./release-2/0300/0341-ssf-capabilities.ts')).addSsfCapabilities(...of),
  },
  { number: 350, name: 'connectors', apply: async (context) => (await import('./release-2/0300/0350-connectors.ts')).connectors(context) },
  {
    number: 351,
    name: 'connector-capabilities',
    backfill: async (...of) => (await import('./release-2/0300/0351-connector-capabilities.ts')).addConnectorCapabilities(...of),
  },
  {
    number: 360,
    name: 'inbound-mappings',
    apply: async (context) => (await import('./release-2/0300/0360-inbound-mappings.ts')).inboundMappings(context),
  },
  { number: 390, name: 'mail-lanes', apply: mailLanes },
  { number: 391, name: 'mails-by-lane', table: 'outbox_messages', index: { columns: ['lane', 'next_attempt_at'] } },
  { number: 392, name: 'pending-domains', apply: pendingDomains },
  {
    number: 393,
    name: 'tenants-by-pending-domain',
    table: 'tenants',
    index: { columns: ['pending_domain'], where: 'pending_domain IS NOT NULL' },
  },
  { number: 400, name: 'last-sign-ins', apply: lastSignIns },
  { number: 401, name: 'operator-entries', apply: operatorEntries },
  { number: 420, name: 'ssf-subjects', apply: ssfSubjects },
  { number: 430, name: 'provider-groups', apply: providerGroups },
  { number: 500, name: 'sign-in-capabilities', backfill: addSignInCapabilities },
  { number: 510, name: 'budgets', apply: budgets },
  { number: 511, name: 'sign-in-openings', apply: signInOpenings },
  { number: 520, name: 'sealed-mails', apply: sealedMails },
  {
    number: 521,
    name: 'mails-that-wait',
    table: 'outbox_messages',
    // As the queue asks (storage/deliveries.ts).
    index: { columns: ['next_attempt_at'], where: "(state = 'waiting' OR waits = 1)", name: 'outbox_messages_that_wait' },
  },
  { number: 522, name: 'makers', apply: makers },
  {
    number: 523,
    name: 'clients-by-secret-maker',
    table: 'clients',
    index: { columns: ['tenant_id', 'secret_by', 'client_id'], where: 'secret_by IS NOT NULL' },
  },
  {
    number: 524,
    name: 'initial-access-tokens-by-maker',
    table: 'initial_access_tokens',
    index: { columns: ['tenant_id', 'created_by', 'id'], where: 'created_by IS NOT NULL' },
  },
  { number: 530, name: 'open-resources', apply: openResources },
  { number: 531, name: 'resources-by-clients', table: 'resources', index: { columns: ['tenant_id', 'clients', 'identifier'] } },
  { number: 532, name: 'strangers', apply: strangers },
  {
    number: 533,
    name: 'clients-by-origin',
    table: 'clients',
    index: { columns: ['tenant_id', 'origin', 'expires_at'], where: 'origin IS NOT NULL' },
  },
  {
    number: 534,
    name: 'clients-by-end',
    table: 'clients',
    index: { columns: ['tenant_id', 'expires_at'], where: 'expires_at IS NOT NULL' },
  },
  { number: 550, name: 'kept-audiences', backfill: keepAudiences },
  { number: 551, name: 'token-exchange', apply: tokenExchange },
  { number: 552, name: 'sign-in-tries', apply: signInTries },
  { number: 560, name: 'domain-proof-salts', apply: domainProofSalts },
  { number: 561, name: 'workloads', apply: workloads },
  { number: 562, name: 'providers-of-grants', apply: providersOfGrants },
  { number: 563, name: 'console-tasks', apply: consoleTasks },
  { number: 564, name: 'scim-tokens', apply: scimTokens },
  { number: 565, name: 'directories', apply: directories },
  {
    number: 566,
    name: 'tenants-by-due-directory',
    table: 'tenants',
    index: { columns: ['directories_due_at'], where: 'directories_due_at IS NOT NULL' },
  },
  { number: 570, name: 'cross-app-access', apply: crossAppAccess },
  { number: 571, name: 'cross-app-providers', apply: crossAppProviders },
  {
    number: 576,
    name: 'tries-of-address',
    table: 'sign_in_tries',
    // As they are kept (storage/sign-in/sign-in-tries.ts): of an address, those of one person.
    index: { columns: ['tenant_id', 'address_block', 'user_id', 'started_at', 'id'] },
  },
  {
    number: 577,
    name: 'tries-of-address-before',
    apply: (context) => context.execute('DROP INDEX IF EXISTS "sign_in_tries_by_address_block_started_at_id"'),
  },
  ...organizationMigrations,
  { number: 612, name: 'first-steps', apply: firstSteps },
  { number: 613, name: 'saml-sessions-by-session', table: 'saml_sessions', index: ofSession },
  {
    number: 614,
    name: 'saml-sessions-by-user',
    table: 'saml_sessions',
    index: { columns: ['tenant_id', 'user_id'], where: 'user_id IS NOT NULL' },
  },
];

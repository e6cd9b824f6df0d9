// The one migration history of both databases: numbered, additive, forward-only (R9). A released entry never changes.
import type { TenantId } from '../../../domain/ids.ts';
import type { Queries } from '../database.ts';
import { foundation } from './release-1/0001-foundation.ts';
import { signin } from './release-1/0002-signin.ts';
import { oidc } from './release-1/0003-oidc.ts';
import { devices } from './release-1/0004-devices.ts';
import { management } from './release-1/0005-management.ts';
import { saml } from './release-1/0006-saml.ts';
import { provisioning } from './release-1/0008-provisioning.ts';
import { push } from './release-1/0009-push.ts';
import { oidcClients } from './release-1/0040-oidc-clients.ts';
import { passkeys } from './release-1/0050-passkeys.ts';
import { account } from './release-1/0051-account.ts';
import { activity } from './release-1/0053-activity.ts';
import { approvalClaims } from './release-1/0054-approval-claims.ts';
import { lookups } from './release-1/0060-lookups.ts';
import { configSequence } from './release-2/0090-config-sequence.ts';
import { repeatableRedemption } from './release-2/0100-repeatable-redemption.ts';
import { webPhones } from './release-2/0101-web-phones.ts';
import { samlSignInMethod } from './release-2/0110-saml-sign-in-method.ts';
import { samlKeyReaders } from './release-2/0111-saml-key-readers.ts';
import { directoryOrder } from './release-2/0121-directory-order.ts';
import { sharpSBackfills } from './release-2/0122-sharp-s.ts';
import { ssoSessions } from './release-2/0130-sso-sessions.ts';
import { pushedRequestLogin } from './release-2/0131-pushed-request-login.ts';
import { customAttributes } from './release-2/0140-custom-attributes.ts';
import { nameIdSources } from './release-2/0150-name-id-sources.ts';
import { ownSamlKeys } from './release-2/0151-own-saml-keys.ts';
import { metadataRefreshes } from './release-2/0153-metadata-refreshes.ts';
import { identityProviders } from './release-2/0180-identity-providers.ts';
import { keepLoginMethods } from './release-2/0190-kept-login-methods.ts';
import { invitations } from './release-2/0191-invitations.ts';
import { deliveryLanes } from './release-2/0200-delivery-lanes.ts';
import { eventFeed } from './release-2/0204-event-feed.ts';
import { tenantMoves } from './release-2/0210-tenant-moves.ts';
import { recovery } from './release-2/0220-recovery.ts';
import { addRecoverCapability } from './release-2/0222-recover-capability.ts';
import { senderConstrainedClients } from './release-2/0230-sender-constrained-clients.ts';
import { deviceAuthorizations } from './release-2/0231-device-authorizations.ts';
import { clientRegistrations } from './release-2/0232-client-registrations.ts';
import { responseMode } from './release-2/0240-response-mode.ts';
import { requestedClaims } from './release-2/0241-requested-claims.ts';
import { signedRequests } from './release-2/0242-signed-requests.ts';
import { clientCertificates } from './release-2/0243-client-certificates.ts';
import { upstreamSaml } from './release-2/0250-upstream-saml.ts';
import { providerDomains } from './release-2/0251-provider-domains.ts';
import { pushResults } from './release-2/0260-push-results.ts';
import { sameBrowser } from './release-2/0270-same-browser.ts';
import { webhooks } from './release-2/0280-webhooks.ts';
import { addWebhookCapabilities } from './release-2/0281-webhook-capabilities.ts';
import { mappings } from './release-2/0290-mappings.ts';
import { hooks } from './release-2/0300-hooks.ts';
import { sentForms } from './release-2/0310-sent-forms.ts';
import { roles } from './release-2/0320-roles.ts';
import { makeOwners } from './release-2/0321-owners.ts';
import { addRoleCapabilities } from './release-2/0322-role-capabilities.ts';
import { appearance } from './release-2/0330-appearance.ts';
import { addAppearanceCapabilities } from './release-2/0331-appearance-capabilities.ts';
import { ssf } from './release-2/0340-ssf.ts';
import { addSsfCapabilities } from './release-2/0341-ssf-capabilities.ts';
import { connectors } from './release-2/0350-connectors.ts';
import { addConnectorCapabilities } from './release-2/0351-connector-capabilities.ts';
import { inboundMappings } from './release-2/0360-inbound-mappings.ts';
import { mailLanes } from './release-2/0390-mail-lanes.ts';
import { pendingDomains } from './release-2/0392-pending-domains.ts';
import { lastSignIns } from './release-2/0400-last-sign-ins.ts';
import { operatorEntries } from './release-2/0401-operator-entries.ts';
import { ssfSubjects } from './release-2/0420-ssf-subjects.ts';
import { providerGroups } from './release-2/0430-provider-groups.ts';
import type { IndexDefinition, MigrationContext } from './table.ts';

interface Numbered {
  readonly number: number;
  readonly name: string;
}

/** Tables and columns, in one transaction; an index here only with a table that is new. */
export interface TableMigration extends Numbered {
  readonly apply: (context: MigrationContext) => Promise<void>;
}

/** An index on a table that may have rows: nobody waits for it. */
export interface IndexMigration extends Numbered {
  readonly table: string;
  readonly index: IndexDefinition;
}

/** Values of a new column, a few rows a transaction: changes at most `rows` that lack theirs and gives how many. */
export interface BackfillMigration extends Numbered {
  readonly backfill: (queries: Queries, tenant: TenantId, rows: number) => Promise<number>;
}

export type Migration = TableMigration | IndexMigration | BackfillMigration;

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
  { number: 1, name: 'foundation', apply: foundation },
  { number: 2, name: 'signin', apply: signin },
  { number: 3, name: 'oidc', apply: oidc },
  { number: 4, name: 'devices', apply: devices },
  { number: 5, name: 'management', apply: management },
  { number: 6, name: 'saml', apply: saml },
  { number: 8, name: 'provisioning', apply: provisioning },
  { number: 9, name: 'push', apply: push },
  { number: 40, name: 'oidc-clients', apply: oidcClients },
  { number: 50, name: 'passkeys', apply: passkeys },
  { number: 51, name: 'account', apply: account },
  { number: 53, name: 'activity', apply: activity },
  { number: 54, name: 'approval-claims', apply: approvalClaims },
  { number: 60, name: 'lookups', apply: lookups },
  { number: 90, name: 'config-sequence', apply: configSequence },
  { number: 91, name: 'config-sequence-index', table: 'config_epochs', index: { columns: ['sequence'] } },
  { number: 100, name: 'repeatable-redemption', apply: repeatableRedemption },
  { number: 101, name: 'web-phones', apply: webPhones },
  { number: 110, name: 'saml-sign-in-method', apply: samlSignInMethod },
  { number: 111, name: 'saml-key-readers', apply: samlKeyReaders },
  { number: 121, name: 'directory-order', apply: directoryOrder },
  ...sharpSBackfills.map((backfill, index) => ({ number: 122 + index, ...backfill })),
  { number: 130, name: 'sso-sessions', apply: ssoSessions },
  { number: 131, name: 'pushed-request-login', apply: pushedRequestLogin },
  { number: 132, name: 'codes-of-session', table: 'authorization_codes', index: ofSession },
  { number: 133, name: 'grants-of-session', table: 'grants', index: ofSession },
  { number: 140, name: 'custom-attributes', apply: customAttributes },
  { number: 150, name: 'name-id-sources', apply: nameIdSources },
  { number: 151, name: 'own-saml-keys', apply: ownSamlKeys },
  { number: 152, name: 'own-saml-keys-once', table: 'signing_keys', index: ownKeysOnce },
  { number: 153, name: 'metadata-refreshes', apply: metadataRefreshes },
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
  { number: 180, name: 'identity-providers', apply: identityProviders },
  { number: 181, name: 'sessions-of-identity', table: 'sso_sessions', index: ofIdentity },
  { number: 182, name: 'sessions-of-provider-session', table: 'sso_sessions', index: ofProviderSession },
  { number: 190, name: 'kept-login-methods', backfill: keepLoginMethods },
  { number: 191, name: 'invitations', apply: invitations },
  { number: 200, name: 'delivery-lanes', apply: deliveryLanes },
  { number: 201, name: 'ciba-deliveries-by-lane', table: 'ciba_deliveries', index: { columns: ['lane', 'due_at'] } },
  { number: 202, name: 'logout-notices-by-lane', table: 'logout_notices', index: { columns: ['lane', 'due_at'] } },
  { number: 203, name: 'push-messages-by-lane', table: 'push_messages', index: { columns: ['lane', 'next_attempt_at'] } },
  { number: 204, name: 'event-feed', apply: eventFeed },
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
  { number: 210, name: 'tenant-moves', apply: tenantMoves },
  { number: 220, name: 'recovery', apply: recovery },
  {
    number: 221,
    name: 'recoveries-to-stop',
    table: 'invitations',
    index: { columns: ['tenant_id', 'stop_hash'], where: 'stop_hash IS NOT NULL' },
  },
  { number: 222, name: 'recover-capability', backfill: addRecoverCapability },
  { number: 223, name: 'registrations-of-user', table: 'device_registrations', index: ofUser },
  { number: 230, name: 'sender-constrained-clients', apply: senderConstrainedClients },
  { number: 231, name: 'device-authorizations', apply: deviceAuthorizations },
  { number: 232, name: 'client-registrations', apply: clientRegistrations },
  { number: 240, name: 'response-mode', apply: responseMode },
  { number: 241, name: 'requested-claims', apply: requestedClaims },
  { number: 242, name: 'signed-requests', apply: signedRequests },
  { number: 243, name: 'client-certificates', apply: clientCertificates },
  { number: 250, name: 'upstream-saml', apply: upstreamSaml },
  { number: 251, name: 'provider-domains', apply: providerDomains },
  { number: 260, name: 'push-results', apply: pushResults },
  { number: 270, name: 'same-browser', apply: sameBrowser },
  { number: 271, name: 'web-phones-in-force', table: 'devices', index: webPhonesInForce },
  { number: 280, name: 'webhooks', apply: webhooks },
  { number: 281, name: 'webhook-capabilities', backfill: addWebhookCapabilities },
  {
    number: 282,
    name: 'administrators',
    table: 'users',
    index: { columns: ['tenant_id', 'id'], where: "role = 'admin'", name: 'users_administrators' },
  },
  { number: 290, name: 'mappings', apply: mappings },
  { number: 300, name: 'hooks', apply: hooks },
  { number: 310, name: 'sent-forms', apply: sentForms },
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
  { number: 320, name: 'roles', apply: roles },
  { number: 321, name: 'owners', backfill: makeOwners },
  { number: 322, name: 'role-capabilities', backfill: addRoleCapabilities },
  { number: 330, name: 'appearance', apply: appearance },
  { number: 331, name: 'appearance-capabilities', backfill: addAppearanceCapabilities },
  { number: 340, name: 'ssf', apply: ssf },
  { number: 341, name: 'ssf-capabilities', backfill: addSsfCapabilities },
  { number: 350, name: 'connectors', apply: connectors },
  { number: 351, name: 'connector-capabilities', backfill: addConnectorCapabilities },
  { number: 360, name: 'inbound-mappings', apply: inboundMappings },
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
];

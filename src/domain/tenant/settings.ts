// Tenant settings (design 02): one table of fields that nests as the JSON does, with defaults, bounds and labels. Stored as the
// difference from the defaults, merged on load.
import {
  countMax,
  lifetimeSecondsMax,
  listedNamesMax,
  pinAttemptsMax,
  pinDigitsMax,
  pinDigitsMin,
  pinFailuresPerDayMax,
  pinLifetimeSecondsMax,
  providerAliasCharsMax,
  providersPerTenantMax,
  pushKeyCharsMax,
  ssoSecondsMax,
  ssoSecondsMin,
  textCharsMax,
} from '../../contract/limits.ts';
import { type Branding, brandingShape, readBranding } from '../appearance/branding.ts';
import { type MailServer, mailServerSetting } from '../appearance/mail-server.ts';
import { clientHostSyntax, clientHostsMax } from '../client/stranger.ts';
import {
  type About,
  choice,
  count,
  defaultsOf,
  field,
  flag,
  isField,
  type Json,
  json,
  type Kind,
  list,
  seconds,
  type Table,
  text,
  under,
  type ValuesOf,
} from '../field.ts';
import { extraGrantNames } from '../oidc/grant-types.ts';
import { emailPinMethod, loginMethodNames, passkeyMethod, phoneMethod } from '../sign-in/login-methods.ts';
import type { SsoSetting } from '../sign-in/sso-session.ts';

interface RateLimitSetting {
  readonly limit: number;
  readonly period_seconds: number;
}

const lifetime = seconds(1, lifetimeSecondsMax);
const amount = count(1, countMax);
const alg = choice(['ES256', 'RS256', 'EdDSA']);
const texts = list(text(textCharsMax), listedNamesMax);
const clientHosts = list(
  { ...text(textCharsMax), shape: { type: 'string', maxLength: textCharsMax, pattern: clientHostSyntax } },
  clientHostsMax,
);
const administratorProviders = list(text(providerAliasCharsMax), providersPerTenantMax);
const digests = { ...texts, shape: { type: 'array', items: { type: 'string', pattern: '^[0-9a-f]{64}$' }, maxItems: listedNamesMax } };
const branding = { ...json<Branding>(brandingShape), input: 'none' } as const; // its form is the page Branding
const mailServer = { ...json<MailServer | null>(mailServerSetting), input: 'none' } as const; // its form is the page Mail
const appleAppIds = {
  ...texts,
  shape: {
    type: 'array',
    items: { type: 'string', maxLength: textCharsMax, pattern: '^[A-Z0-9]{10}\\.[A-Za-z0-9.-]+$' },
    maxItems: listedNamesMax,
  },
};
/** An app as Android names it: its package and the certificates it is signed with. */
interface AndroidApp {
  readonly package: string;
  readonly sha256_cert_fingerprints: readonly string[];
}
const androidApps = {
  ...json<readonly AndroidApp[]>({
    type: 'array',
    maxItems: listedNamesMax,
    items: {
      type: 'object',
      required: ['package', 'sha256_cert_fingerprints'],
      properties: {
        package: { type: 'string', maxLength: textCharsMax, pattern: '^[A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)+$' },
        sha256_cert_fingerprints: {
          type: 'array',
          minItems: 1,
          maxItems: listedNamesMax,
          items: { type: 'string', pattern: '^[0-9A-F]{2}(?::[0-9A-F]{2}){31}$' },
        },
      },
      additionalProperties: false,
    },
  }),
  input: 'rows',
  parts: [
    { name: 'package', label: 'Package', input: 'text' },
    { name: 'sha256_cert_fingerprints', label: 'SHA-256 fingerprints of its certificates', input: 'words' },
  ],
} as const;
const playKeys = { type: 'string', minLength: 1, maxLength: textCharsMax };
const playIntegrity = {
  ...json<Json | null>({
    anyOf: [
      {
        type: 'object',
        required: ['decryption_key', 'verification_key'],
        properties: { decryption_key: playKeys, verification_key: playKeys },
        additionalProperties: false,
      },
      { type: 'null' },
    ],
  }),
  input: 'secret-parts',
  parts: [
    { name: 'decryption_key', label: 'Decryption key', input: 'text' },
    { name: 'verification_key', label: 'Verification key', input: 'text' },
  ],
} as const;
const credentialText = { type: 'string', minLength: 1, maxLength: textCharsMax };
const privateKeyText = { type: 'string', minLength: 1, maxLength: pushKeyCharsMax };
const apnsAccount = {
  ...json<Json | null>({
    anyOf: [
      {
        type: 'object',
        required: ['key_id', 'team_id', 'topic', 'private_key'],
        properties: {
          key_id: credentialText,
          team_id: credentialText,
          topic: credentialText,
          environment: { type: 'string', enum: ['production', 'development'] },
          private_key: privateKeyText,
        },
        additionalProperties: false,
      },
      { type: 'null' },
    ],
  }),
  input: 'secret-parts',
  parts: [
    { name: 'key_id', label: 'Key id', input: 'text' },
    { name: 'team_id', label: 'Team id', input: 'text' },
    { name: 'topic', label: 'Topic (the bundle id)', input: 'text' },
    {
      name: 'environment',
      label: 'Environment (development: builds from Xcode)',
      input: 'select',
      names: ['', 'production', 'development'],
    },
    { name: 'private_key', label: 'Private key (the .p8 file)', input: 'paragraph' },
  ],
} as const;
/** The file Google gives has more members; they are not kept. */
const fcmAccount = {
  ...json<Json | null>({
    anyOf: [
      {
        type: 'object',
        required: ['project_id', 'client_email', 'private_key'],
        properties: { project_id: credentialText, client_email: credentialText, private_key: privateKeyText },
        additionalProperties: { type: 'string', maxLength: textCharsMax },
        maxProperties: listedNamesMax,
      },
      { type: 'null' },
    ],
  }),
  input: 'secret',
} as const;
const ssoSeconds = count(ssoSecondsMin, ssoSecondsMax).shape;
const ssoKind = {
  ...json<SsoSetting>({
    anyOf: [
      { type: 'string', enum: ['off', 'browser'] },
      { type: 'boolean', const: false },
      {
        type: 'object',
        required: ['idle_seconds', 'absolute_seconds'],
        properties: { idle_seconds: ssoSeconds, absolute_seconds: ssoSeconds },
        additionalProperties: false,
      },
    ],
  }),
  input: 'session',
} as const;
/** Names of a rate limit's two numbers. A limit may be changed in one of them while it is on. */
export const rateLimitParts = ['limit', 'period_seconds'] as const;
const rateShape = { type: 'object', properties: { limit: amount.shape, period_seconds: lifetime.shape }, additionalProperties: false };
/** Of what protects people: a tenant sets it and cannot switch it off. */
const rateLimitKind = { ...json<RateLimitSetting>(rateShape), input: 'limit' } as const;
const serverLimitKind = { ...json<RateLimitSetting | null>({ anyOf: [rateShape, { type: 'null' }] }), input: 'limit' } as const;

/** Some of a few names, each once; at least one where a number is given. */
const some = <const Name extends string>(
  of: Kind<Name, string>,
  bounds: { readonly minItems?: number } = {},
): Kind<readonly Name[], string> => ({
  ...list(of),
  shape: { ...list(of).shape, ...bounds, uniqueItems: true },
  input: 'lines',
});
/** Of a setting that changes neither how people prove who they are nor what protects them. */
const general = { capability: 'settings:write' } as const;
const time = <const N extends string>(name: N, fallback: number, label: string, about: Pick<About<number>, 'capability'> = {}) =>
  field(name, lifetime, { default: fallback, label: `${label}, in seconds`, ...about });
const amountOf = <const N extends string>(name: N, fallback: number, label: string) => field(name, amount, { default: fallback, label });
const rateLimit = <const N extends string>(name: N, perSeconds: readonly [limit: number, seconds: number], label: string) =>
  field(name, rateLimitKind, { default: { limit: perSeconds[0], period_seconds: perSeconds[1] }, label });
const serverLimit = <const N extends string>(name: N, fallback: RateLimitSetting | null, label: string) =>
  field(name, serverLimitKind, { default: fallback, label, help: 'Leave it empty to turn it off.', ...general });

// What does not say that it is general takes `sign-in:write`, so that a new setting is guarded until somebody decides otherwise.
// biome-ignore format: a field a line
export const settingFields = under('sign-in:write', {
  access_token_lifetime_seconds: time('access_token_lifetime_seconds', 900, 'Lifetime of access tokens', general),
  id_token_lifetime_seconds: time('id_token_lifetime_seconds', 900, 'Lifetime of ID tokens', general),
  authorization_code_lifetime_seconds: time('authorization_code_lifetime_seconds', 60, 'Lifetime of authorization codes', general),
  par_lifetime_seconds: time('par_lifetime_seconds', 60, 'Lifetime of pushed requests (PAR)', general),
  refresh_token_idle_seconds: time('refresh_token_idle_seconds', 1_209_600, 'Refresh tokens end when unused'),
  refresh_token_absolute_seconds: time('refresh_token_absolute_seconds', 7_776_000, 'Refresh tokens end in any case'),
  access_token_alg: field('access_token_alg', alg, { default: 'ES256', label: 'Algorithm of access tokens', ...general }),
  ciba_lifetime_seconds: time('ciba_lifetime_seconds', 300, 'Lifetime of CIBA requests'),
  ciba_interval_seconds: time('ciba_interval_seconds', 5, 'Between two CIBA polls', general),
  login_lifetime_seconds: time('login_lifetime_seconds', 300, 'Time for a sign-in'),
  saml_session_lifetime_seconds: time('saml_session_lifetime_seconds', 600, 'Time for a SAML sign-in'),
  pin: {
    length: field('length', count(pinDigitsMin, pinDigitsMax), { default: 6, label: 'Digits' }),
    attempts_max: field('attempts_max', count(1, pinAttemptsMax), { default: 5, label: 'Attempts' }),
    lifetime_seconds: field('lifetime_seconds', seconds(1, pinLifetimeSecondsMax), { default: 600, label: 'Lifetime, in seconds' }),
    resend_cooldown_seconds: time('resend_cooldown_seconds', 60, 'Before it is sent again'),
    sends_per_hour_max: amountOf('sends_per_hour_max', 5, 'Sent in an hour from an address, at most; six times that from all, twice in a known browser'),
    failures_per_day_max: field('failures_per_day_max', count(1, pinFailuresPerDayMax), { default: 20, label: 'Failures in a day from an address, at most; a hundred from all' }),
  },
  registration_token_lifetime_seconds: time('registration_token_lifetime_seconds', 900, 'Time for a registration'),
  verified_token_lifetime_seconds: time('verified_token_lifetime_seconds', 600, 'Time to finish a verified registration'),
  enrollment_token_lifetime_seconds: time('enrollment_token_lifetime_seconds', 86_400, 'Lifetime of enrolment links'),
  invitation_lifetime_seconds: time('invitation_lifetime_seconds', 604_800, 'Lifetime of invitations'),
  device: {
    clock_skew_seconds: field('clock_skew_seconds', seconds(0, 3600), { default: 300, label: 'Clocks may differ by, in seconds' }),
    protocol_version_current: amountOf('protocol_version_current', 1, 'Protocol version'),
    protocol_version_min: amountOf('protocol_version_min', 1, 'Oldest protocol version'),
    allowed_algs: field('allowed_algs', some(choice(['ES256', 'EdDSA', 'RS256']), { minItems: 1 }), {
      default: ['ES256', 'EdDSA', 'RS256'], label: 'Algorithms of phones’ keys', help: 'One a line: ES256, EdDSA, RS256.' }),
    rotation_nonce_lifetime_seconds: time('rotation_nonce_lifetime_seconds', 600, 'Time for a key rotation'),
    rotation_overlap_seconds: time('rotation_overlap_seconds', 86_400, 'Old keys work after a rotation'),
    additional_device: field('additional_device', choice(['existing_device', 'admin', emailPinMethod]), {
      default: 'existing_device', label: 'Who lets a second phone in' }),
    web_phones: field('web_phones', flag, { default: true, label: 'Browsers may be phones', help: 'Never where attestation is enforced.' }),
  },
  attestation: {
    mode: field('mode', choice(['off', 'monitor', 'enforce']), { default: 'off', label: 'App attestation' }),
    apple: {
      app_ids: field('app_ids', texts, { default: [], label: 'App ids', help: 'One a line.' }),
      environments: field('environments', some(choice(['production', 'development'])), { default: ['production'], label: 'Environments', help: 'One a line: production, development.' }),
    },
    android: {
      packages: field('packages', texts, { default: [], label: 'Packages', help: 'One a line.' }),
      signing_digests: field('signing_digests', digests, { default: [], label: 'Digests of signing certificates', help: 'One a line.' }),
    },
    play_integrity: field('play_integrity', playIntegrity, { default: null, label: 'Keys of Play Integrity',
      help: 'The stored value is not shown. Leave it empty to keep it.' }),
  },
  app_links: {
    apple: field('apple', appleAppIds, { default: [], label: 'App ids', help: 'One a line, each a team ID, a dot and a bundle ID.' }),
    android: field('android', androidApps, { default: [], label: 'Apps',
      help: 'A package such as com.example.app, and fingerprints such as AB:CD:…, with blanks between.' }),
  },
  push: {
    apns: field('apns', apnsAccount, { default: null, label: 'Apple',
      help: 'The stored value is not shown. Leave it empty to keep it.' }),
    fcm: field('fcm', fcmAccount, { default: null, label: 'Firebase',
      help: 'Paste the whole service account file of the project. The stored value is not shown. Leave it empty to keep it.' }),
  },
  extra_grants: field('extra_grants', some(choice(extraGrantNames)), { default: [], label: 'More ways to get tokens',
    help: `One a line: ${extraGrantNames.join(', ')}. Each application needs it in grant_types too.` }),
  userinfo_with_resource: field('userinfo_with_resource', flag, { default: false, label: 'Tokens for an API open UserInfo too',
    help: 'With the scope openid a token for a resource has the issuer as audience too, so the operator of that API can read UserInfo of its callers. Off: only the resource.' }),
  client_hosts: {
    trusted: field('trusted', clientHosts, { default: [], label: 'Trusted', help: 'One a line, such as claude.ai or *.example.com.' }),
    blocked: field('blocked', clientHosts, { default: [], label: 'Blocked', help: 'One a line. They are not let in and get no answer.' }),
    only_trusted: field('only_trusted', flag, { default: false, label: 'Only trusted hosts' }),
  },
  administrator_providers: field('administrator_providers', administratorProviders, { default: [], label: 'Providers administrators may come by',
    capability: 'administrators:write',
    help: 'Aliases of other providers, one a line. A person with a role and a passkey or phone opens the console with it, or through one of these. Only owners name them, and change the providers they name.' }),
  signup_enabled: field('signup_enabled', flag, { default: false, label: 'People may sign up' }),
  login_methods: field('login_methods', some(choice(loginMethodNames), { minItems: 1 }), {
    default: [passkeyMethod, phoneMethod, emailPinMethod], label: 'Ways to sign in',
    help: `One a line: ${loginMethodNames.join(', ')}. While they are not chosen, ${emailPinMethod} is offered only where mail can be sent.` }),
  recovery_codes: field('recovery_codes', flag, { default: true, label: 'Recovery codes',
    help: 'A person who lost the phone can sign in with one of ten codes, each once, and add a new phone.' }),
  sso_session: field('sso_session', ssoKind, { default: 'off', label: 'One sign-in for all applications (SSO)',
    help: 'A person who is signed in is not asked again. Until the browser closes: 8 hours without use, 24 in all.' }),
  scim: { infer_primary: field('infer_primary', flag, { default: false, label: 'The first of a list is the primary one', ...general }) },
  branding: field('branding', branding, { default: {}, label: 'Branding', capability: 'branding:write', help: 'How pages and mails look: what is published (`/branding`).' }),
  smtp: {
    server: field('server', mailServer, { default: null, label: 'Mail server',
      help: 'The SMTP server of the tenant (`/mail-server`). Null: that of the deployment.' }),
  },
  rate_limits: {
    client_auth_failures_per_ip: rateLimit('client_auth_failures_per_ip', [60, 60], 'Applications of an address that fail to authenticate'),
    login_starts_per_ip: rateLimit('login_starts_per_ip', [60, 60], 'Sign-ins of an address'),
    par_requests_per_ip: serverLimit('par_requests_per_ip', { limit: 60, period_seconds: 60 }, 'Pushed requests (PAR) of public applications of an address'),
    pin_attempts_per_ip: rateLimit('pin_attempts_per_ip', [30, 60], 'Attempts at mailed codes of an address'),
    device_requests_per_ip: rateLimit('device_requests_per_ip', [120, 60], 'Requests of phones of an address'),
    device_requests_per_device: rateLimit('device_requests_per_device', [60, 60], 'Requests of a phone'),
    registration_starts_per_ip: rateLimit('registration_starts_per_ip', [10, 3600], 'Registrations of an address'),
    registration_starts_per_email: rateLimit('registration_starts_per_email', [5, 3600], 'Registrations of an email from an address; six times that from all'),
    ciba_starts_per_client: rateLimit('ciba_starts_per_client', [120, 60], 'CIBA requests of an application'),
    device_code_misses: rateLimit('device_code_misses', [10, 600], 'Wrong codes of devices of a person, or of an address'),
    approvals_per_user: rateLimit('approvals_per_user', [5, 3600], 'Approvals of a person from an address; six times that from all, twice in a known browser and of an application'),
    approvals_pending_per_user: rateLimit('approvals_pending_per_user', [3, 300], 'Open approvals of a person'),
    token_requests_per_client: serverLimit('token_requests_per_client', null, 'Token requests of an application'),
    userinfo_requests_per_ip: serverLimit('userinfo_requests_per_ip', null, 'UserInfo requests of an address'),
    scim_requests_per_client: serverLimit('scim_requests_per_client', null, 'SCIM requests of an application'),
    management_requests_per_client: serverLimit('management_requests_per_client', null, 'Management requests of an application'),
  },
} as const);

/** What the parts of the settings are called, by their path. */
export const settingGroups: Readonly<Record<string, string>> = {
  '': 'General',
  pin: 'Mailed code',
  device: 'Phones',
  client_hosts: 'Programs nobody registered',
  attestation: 'App attestation',
  'attestation.apple': 'App attestation · Apple',
  'attestation.android': 'App attestation · Android',
  app_links: 'Links that open your app',
  push: 'Push notifications',
  scim: 'SCIM',
  rate_limits: 'Rate limits',
};

export type Settings = ValuesOf<typeof settingFields>;
export type RateLimitName = keyof Settings['rate_limits'];
export const defaultSettings = defaultsOf(settingFields) as unknown as Settings; // every field has a default

const isPlainObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a tenant's mail reaches somebody: by a server of its own, or by the deployment's. */
export const sendsMail = ({ smtp }: Pick<Settings, 'smtp'>, deploymentCanMail: boolean): boolean =>
  deploymentCanMail || smtp.server !== null;

/**
 * Overlays stored differences on the defaults, object by object; lists and null replace. While no mail reaches anybody (`canMail`: the
 * deployment's would), and nobody chose PINs by mail, they are not among the ways to sign in. What was stored before its bounds were
 * drawn is the nearest value within them.
 */
export function mergeSettings(stored: Json, canMail = true): Settings {
  const merged = merge(defaultSettings as unknown as Json, within(settingFields, stored)) as unknown as Settings; // stored values were validated when they were written
  const { sso_session: sso, login_methods: methods } = merged;
  const isMailed = sendsMail(merged, canMail) || Object.hasOwn(stored, 'login_methods');
  return {
    ...merged,
    branding: readBranding(merged.branding),
    ...(isMailed ? {} : { login_methods: methods.filter((method) => method !== emailPinMethod) }),
    // Until sessions existed the setting was a switch that did nothing.
    ...(typeof sso === 'boolean' ? { sso_session: 'off' as const } : {}),
  };
}

/** Stored differences within the bounds of today: the nearest number, and no null where a limit protects people. */
function within(table: Table, stored: Json): Json {
  return Object.fromEntries(
    Object.entries(stored).flatMap(([key, value]) => {
      const one = Object.hasOwn(table, key) ? table[key] : undefined;
      if (one === undefined) return [[key, value]];
      if (!isField(one)) return [[key, isPlainObject(value) ? within(one, value) : value]];
      if (one.kind === rateLimitKind && value === null) return [];
      const { minimum, maximum } = one.kind.shape as { readonly minimum?: number; readonly maximum?: number };
      if (typeof value !== 'number' || minimum === undefined || maximum === undefined) return [[key, value]];
      return [[key, Math.min(Math.max(value, minimum), maximum)]];
    }),
  );
}

/** Merges `change` into `base` key by key (the PATCH rule of design 02): null never deletes a key. */
export function merge(base: Json, change: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    merged[key] = isPlainObject(before) && isPlainObject(value) ? merge(before, value) : value;
  }
  return merged;
}

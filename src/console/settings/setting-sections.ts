// Where each setting stands in the console: pages, their sections and the words beside them. The settings themselves, their bounds and
// what the API says of them are in domain/tenant/settings.ts; a test asks that each of them stands in one section.
import { deviceCodeGrantType, exchangeGrantType, jwtBearerGrantType, registrationName } from '../../domain/oidc/grant-types.ts';
import { emailPinMethod, passkeyMethod, phoneMethod } from '../../domain/sign-in/login-methods.ts';
import { settingFields } from '../../domain/tenant/settings.ts';
import { type FormField, formOf } from '../../first-party/form-field.ts';

export interface SettingSection {
  /** Of the form that saves it, and of its place on the page. */
  readonly id: string;
  readonly name: string;
  readonly about?: string;
  /** Paths of settings; one that ends with a dot is all below it. */
  readonly paths: readonly string[];
  /** Behind its name until somebody opens it, while all of it is at the default. */
  readonly isSeldom?: true;
  /** Another page of the console that decides about the same: below /console, and what it is. */
  readonly beside?: readonly (readonly [path: string, name: string, about: string])[];
}

export interface SettingsPage {
  /** Below /console/settings. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
  readonly sections: readonly SettingSection[];
}

/** Limits that may be switched off. */
const server = [
  'par_requests_per_ip',
  'token_requests_per_client',
  'userinfo_requests_per_ip',
  'scim_requests_per_client',
  'management_requests_per_client',
];

// biome-ignore format: a section a few lines
export const settingsPages: readonly SettingsPage[] = [
  { path: 'sign-in', name: 'Sign-in', about: 'How people prove who they are, and who may.', sections: [
    { id: 'ways', name: 'Ways to sign in', paths: ['login_methods', 'recovery_codes'],
      beside: [['/identity-providers', 'Other providers', 'Google, Microsoft, GitHub, your company: each has a button of its own on the same page.']] },
    { id: 'sso', name: 'One sign-in for all applications', paths: ['sso_session'] },
    { id: 'people', name: 'Who may', paths: ['signup_enabled', 'administrator_providers', 'scim.infer_primary'] },
  ] },
  { path: 'sessions', name: 'Sessions', about: 'How long somebody has to sign in, and stays signed in to an application.', sections: [
    { id: 'staying', name: 'Staying signed in to an application', paths: ['refresh_token_idle_seconds', 'refresh_token_absolute_seconds'],
      about: 'An application renews its tokens until one of these ends; then the person signs in again.',
      beside: [['/settings/sign-in#sso', 'One sign-in for all applications', 'How long the browser itself is remembered.']] },
    { id: 'signing-in', name: 'Time for a sign-in', paths: ['login_lifetime_seconds', 'saml_session_lifetime_seconds', 'ciba_lifetime_seconds', 'ciba_interval_seconds'],
      about: 'From the first page to the last. A longer time helps people who look for their phone, but also somebody else who sits down at the screen.' },
  ] },
  { path: 'tokens', name: 'Tokens', about: 'What applications and APIs get, and for how long.', sections: [
    { id: 'tokens', name: 'Access and ID tokens', paths: ['access_token_lifetime_seconds', 'id_token_lifetime_seconds', 'access_token_alg', 'userinfo_with_resource'],
      about: 'An API that verifies tokens itself lets them in until they end: shorter ends sooner for somebody suspended, and asks for new ones more often.' },
    { id: 'requests', name: 'Codes and pushed requests', paths: ['authorization_code_lifetime_seconds', 'par_lifetime_seconds'] },
    { id: 'grants', name: 'More ways to get tokens', paths: ['extra_grants'] },
    { id: 'strangers', name: 'Programs nobody registered', paths: ['client_hosts.'], isSeldom: true,
      beside: [['/client-hosts', 'Agents by host', 'Who came so far, with buttons to trust or block a host.']] },
  ] },
  { path: 'phones', name: 'Phones', about: 'Which phones approve sign-ins, how they are added and how they are reached.', sections: [
    { id: 'phones', name: 'Adding phones', paths: ['device.web_phones', 'device.additional_device', 'enrollment_token_lifetime_seconds', 'registration_token_lifetime_seconds', 'verified_token_lifetime_seconds'] },
    { id: 'keys', name: 'Keys and protocol', isSeldom: true, paths: ['device.allowed_algs', 'device.clock_skew_seconds', 'device.rotation_nonce_lifetime_seconds', 'device.rotation_overlap_seconds', 'device.protocol_version_current', 'device.protocol_version_min'] },
    { id: 'push', name: 'Push notifications', paths: ['push.'], isSeldom: true,
      about: 'Without credentials of your own those of the deployment are used; without those, phones find what waits when the app is opened.',
      beside: [['/push', 'Push notifications', 'What became of a week’s notifications.']] },
    { id: 'links', name: 'Links that open your app', paths: ['app_links.'], isSeldom: true },
    { id: 'attestation', name: 'App attestation', paths: ['attestation.'], isSeldom: true,
      about: 'Whether a phone must prove that it is a phone and runs your app. Enforced, browsers are phones no more.' },
  ] },
  { path: 'limits', name: 'Limits', about: 'How often somebody may try. Requests over a limit are refused for a while. Nobody is locked out.', sections: [
    { id: 'people', name: 'What protects people', paths: ['rate_limits.'], about: 'You can change these, but not turn them off.' },
    { id: 'server', name: 'What protects the server', paths: server.map((name) => `rate_limits.${name}`), about: 'Leave a limit empty to turn it off.' },
  ] },
  { path: 'mail', name: 'Mail', about: 'Codes and links that people get by mail.', sections: [
    { id: 'codes', name: 'Codes', paths: ['pin.'], about: 'Longer codes and fewer attempts are harder to guess. More mails in an hour help people with a slow mailbox, but also somebody who wants to fill it.' },
    { id: 'invitations', name: 'Invitations', paths: ['invitation_lifetime_seconds'],
      beside: [['/mail', 'Mails and mail server', 'What the mails say, the server they go by, and a test.']] },
  ] },
];

/** What a way to sign in costs, in a line; shown beside it. */
const ways = {
  [passkeyMethod]: {
    label: 'Passkey',
    help: 'A fingerprint, a face or the PIN of a device. Cannot be phished and costs nothing; each person adds one first.',
  },
  [phoneMethod]: {
    label: 'Phone',
    help: 'Approve with a number, in your app or a browser. Asks for a phone that was added first, and for push credentials to reach it at once.',
  },
  [emailPinMethod]: {
    label: 'Mailed code',
    help: 'Works for everybody from the first day. As strong as the mailbox, and a mail for each sign-in.',
  },
} as const;

/** What else is said at a field in the console, where the API's own words are about its JSON. */
const told: Readonly<Record<string, Partial<FormField>>> = {
  login_methods: {
    kind: 'order',
    isNamedAbove: true,
    optionLabels: ways,
    hint: 'The sign-in page offers them in this order. Administrators can always use a passkey or phone.',
  },
  extra_grants: {
    kind: 'ticks',
    isNamedAbove: true,
    hint: 'Each application needs it among its own grants too.',
    optionLabels: {
      [deviceCodeGrantType]: { label: 'Devices without a keyboard', help: 'A television shows a code that is typed elsewhere (RFC 8628).' },
      [exchangeGrantType]: { label: 'One API calls the next', help: 'An API trades the token it was called with (RFC 8693).' },
      [jwtBearerGrantType]: { label: 'Programs with a key of their own', help: 'A signed assertion instead of a secret (RFC 7523).' },
      [registrationName]: {
        label: 'Programs register themselves',
        help: 'Without a token; they sign people in to open APIs alone (RFC 7591).',
      },
    },
  },
  'device.allowed_algs': { kind: 'ticks', hint: 'A phone uses the first of these it has.' },
  'device.additional_device': {
    optionLabels: {
      existing_device: { label: 'A phone the person has' },
      admin: { label: 'An administrator' },
      [emailPinMethod]: { label: 'A mailed code' },
    },
  },
  'attestation.mode': {
    optionLabels: {
      off: { label: 'Off' },
      monitor: { label: 'Recorded, and never refused' },
      enforce: { label: 'Enforced: phones without it are refused' },
    },
  },
  'attestation.apple.app_ids': { label: 'Apple: app ids' },
  'attestation.apple.environments': { kind: 'ticks', label: 'Apple: environments', hint: 'Development: builds from Xcode.' },
  'attestation.android.packages': { label: 'Android: packages' },
  'attestation.android.signing_digests': { label: 'Android: digests of signing certificates' },
  'app_links.apple': { label: 'Apple: app ids' },
  'app_links.android': { label: 'Android: apps' },
  'push.apns': { label: 'Apple' },
  'client_hosts.trusted': { label: 'Trusted hosts' },
  'client_hosts.blocked': { label: 'Blocked hosts' },
  'client_hosts.only_trusted': { label: 'Trusted hosts alone' },
  sso_session: { isNamedAbove: true },
  'pin.length': { label: 'Digits of a code' },
  'pin.attempts_max': { label: 'Attempts at a code' },
  'pin.lifetime_seconds': { label: 'Lifetime of a code' },
  'pin.resend_cooldown_seconds': { label: 'Before a code is sent again' },
  'scim.infer_primary': { label: 'From directories, the first address of a list is the primary one' },
};

/** Said once, above them. */
const saidAbove = ({ path }: FormField): boolean => path.startsWith('rate_limits.');

const form: readonly FormField[] = formOf(settingFields).map((one) => {
  const { hint, ...field } = { ...one, ...told[one.path] };
  return hint === undefined || saidAbove(one) ? field : { ...field, hint };
});

const isNamed = (paths: readonly string[], { path }: FormField): boolean =>
  paths.some((one) => (one.endsWith('.') ? path.startsWith(one) : path === one));

/** The fields of a section: those it names, and of what it names whole what no other section names by itself. */
export function fieldsOfSection(section: SettingSection): readonly FormField[] {
  const others = settingsPages.flatMap(({ sections }) => sections).filter((one) => one !== section);
  const single = new Set(others.flatMap(({ paths }) => paths.filter((one) => !one.endsWith('.'))));
  return form.filter((field) => isNamed(section.paths, field) && (section.paths.includes(field.path) || !single.has(field.path)));
}

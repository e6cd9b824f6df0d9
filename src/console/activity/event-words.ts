// What the console calls the types of audit records and the people and things they name: from the catalogue of types, in plain words.
import { checkSays } from '../../audit/sign-in-words.ts';
import { type EventRow, eventTypes } from '../../contract/events.ts';
import { wayWords } from '../../domain/sign-in/login-methods.ts';
import { type Html, html } from '../../platform/html.ts';

/** Kinds of things where their name on the wire is not what people call them, and the page of one. */
const kinds: Readonly<Record<string, { readonly name: string; readonly path?: string }>> = {
  user: { name: 'Person', path: '/users' },
  group: { name: 'Group', path: '/groups' },
  organization: { name: 'Organisation', path: '/organizations' },
  organization_role: { name: 'Organisation role', path: '/organization-roles' },
  client: { name: 'Application', path: '/clients' },
  service_provider: { name: 'SAML application', path: '/service-providers' },
  resource: { name: 'API', path: '/resources' },
  identity_provider: { name: 'Other provider', path: '/identity-providers' },
  admin: { name: 'Administrator' },
  ciba: { name: 'CIBA' },
  custom_attribute: { name: 'Attribute of people' },
  customization: { name: 'Texts and mails' },
  device: { name: 'Phone' },
  directory: { name: 'LDAP directory', path: '/directories' },
  device_authorization: { name: 'Sign-in of a device' },
  enrollment_token: { name: 'Enrolment link' },
  external_identity: { name: 'Account elsewhere' },
  external_login: { name: 'Sign-in by another provider' },
  grant: { name: 'Tokens of an application' },
  login: { name: 'Sign-in' },
  mapping: { name: 'Rule of claims' },
  mappings: { name: 'Rules of claims' },
  pin: { name: 'Mailed code' },
  recovery: { name: 'Way back' },
  recovery_codes: { name: 'New recovery codes' },
  saml: { name: 'SAML' },
  scim_token: { name: 'Token of a directory' },
  sign_in: { name: 'Attack on sign-ins' },
  settings: { name: 'Settings' },
  ssf_stream: { name: 'Stream of security events' },
  sso_session: { name: 'Browser session' },
  operator: { name: 'The operator' },
  system: { name: 'Gatehouse itself' },
};

const rows: Readonly<Record<string, EventRow>> = eventTypes;

/** What a kind of thing is called. */
export const kindName = (kind: string): string => {
  const plain = kind.replaceAll('_', ' ');
  return Object.hasOwn(kinds, kind) ? kinds[kind]!.name : `${plain.slice(0, 1).toUpperCase()}${plain.slice(1)}`;
};

/** The list of the console that a kind of thing is in. */
export const kindPath = (kind: string): string | undefined => (Object.hasOwn(kinds, kind) ? kinds[kind]!.path : undefined);

/** What a type of record says happened; an unknown type by its name. What follows a colon or names a field is in the reference. */
export const eventWords = (type: string): string => (Object.hasOwn(rows, type) ? rows[type]!.when.split(/[;:.]| \(/, 1)[0]! : type);

/** A type of record, or all of a kind, in words, with its name in the tooltip. */
export function eventNamed(type: string): Html {
  const [kind = '', every] = type.split('.');
  return html`<span title="${type}">${every === '*' ? `${kindName(kind)}: anything` : eventWords(type)}</span>`;
}

/** Why something was recorded, in words, with the reason's own name in the tooltip. */
export function reasonNamed(reason: string): Html | string {
  if (reason === '') return '';
  const says = checkSays(reason)?.says ?? wayWords(reason);
  return html`<span title="${reason}">${says ?? reason.replaceAll(/[_.]/g, ' ')}</span>`;
}

const familyOf = (type: string): string => type.split('.', 1)[0]!;

/** Every type of the catalogue by what it is about, in the order of their names. */
export const families: readonly (readonly [family: string, types: readonly string[]])[] = [
  ...Map.groupBy(Object.keys(eventTypes), familyOf),
].toSorted(([left], [right]) => kindName(left).localeCompare(kindName(right), 'en'));

// What the console calls the names of the API in what the API says: fields, capabilities and other choices, from the tables that define
// them. A refusal of the API speaks of JSON; whoever reads it here has a form before them.
import { authMethodChoices, clientFields } from '../../domain/client/client.ts';
import { leavesOf, type Table } from '../../domain/field.ts';
import { allKinds } from '../../domain/kinds.ts';
import { grantTypes } from '../../domain/oidc/grant-types.ts';
import { capabilityChoices } from '../../domain/people/capabilities.ts';
import { userAttributes } from '../../domain/people/user-attributes.ts';
import { loginMethods } from '../../domain/sign-in/login-methods.ts';
import { settingFields } from '../../domain/tenant/settings.ts';
import { inWords } from '../../first-party/fault-words.ts';

const labelsIn = (table: Table): readonly (readonly [name: string, label: string])[] =>
  leavesOf(table).flatMap(([path, { about }]) => [
    [path, about.label],
    [path.split('.').at(-1)!, about.label],
  ]);

/** Names that several things have are called the same in all of them, or after the first. */
const labels: ReadonlyMap<string, string> = new Map(
  [
    ['user_name', 'User name'] as const,
    ['emails', 'Emails'] as const,
    ['client_id', 'Client ID'] as const,
    ['user_id', 'Person'] as const,
    ...[capabilityChoices, authMethodChoices, grantTypes, loginMethods].flatMap((choices) =>
      Object.entries(choices).map(([name, { label }]) => [name, label] as const),
    ),
    ...userAttributes.map(({ path, about }) => [path, about.label] as const),
    ...labelsIn(clientFields),
    ...allKinds.flatMap(({ fields }) => labelsIn(fields)),
    ...labelsIn(settingFields),
  ].reverse(),
);

/** What a name of the API is called: a field by its label, also where it stands deeper in a body, anything else without its underscores. */
export function calledInWords(name: string): string {
  const parts = name.split('.');
  const label = parts.map((_, at) => labels.get(parts.slice(at).join('.'))).find((one) => one !== undefined);
  const plain = name.replaceAll(/[_.]/g, ' ');
  return label ?? `${plain.slice(0, 1).toUpperCase()}${plain.slice(1)}`;
}

/** A name of several parts as the API writes it; words of a sentence are none. */
const ofTheApi = /[a-z][a-z0-9-]*(?:[_:.][a-z0-9-]+)+|\bjwks\b/g;
/** What says nothing without the field it is about. */
const ofOneField = /^(?:This (?:field|parameter)|What is typed here|Give |[a-z])/;

/** What the API says, with its names as people know them. */
export const plainWords = (text: string): string =>
  text.replaceAll(ofTheApi, (name) => (labels.has(name) ? `“${labels.get(name)}”` : name));

/** A refusal of the API in words: what it is about, and what is wrong. */
export function refusalWords(kind: unknown, message: string): string {
  const said = plainWords(inWords({ kind: 'text' }, message));
  return typeof kind === 'string' && ofOneField.test(said) ? `${calledInWords(kind)}: ${said}` : said;
}

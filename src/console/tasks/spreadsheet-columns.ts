// What the columns of a spreadsheet of people are, by the names people give them, and the person a line says, as the Management API takes
// one. Whether a value is good is the API's to judge.
import { type CustomAttribute, labelOf } from '../../domain/people/custom-attributes.ts';
import { userAttributes } from '../../domain/people/user-attributes.ts';
import { isXmlText } from '../../domain/saml/xml-text.ts';
import { typedCustom } from '../../first-party/custom-form.ts';

type Json = Readonly<Record<string, unknown>>;

/** Where the cells of a column go: `emails`, `groups`, `admin_roles`, a path of a person; null: nowhere. */
export type Column = string | null;

const lists: ReadonlySet<string> = new Set(['emails', 'groups', 'admin_roles']);

/** Names beside those of the attributes. */
const alsoCalled: Readonly<Record<string, string>> = {
  email: 'emails',
  emails: 'emails',
  'e-mail': 'emails',
  mail: 'emails',
  'email address': 'emails',
  group: 'groups',
  groups: 'groups',
  role: 'admin_roles',
  roles: 'admin_roles',
  username: 'user_name',
  login: 'user_name',
  name: 'display_name',
  'first name': 'name.given_name',
  'last name': 'name.family_name',
  surname: 'name.family_name',
  'job title': 'title',
};

const plain = (name: string): string => name.trim().toLowerCase().replaceAll('_', ' ');

/** The columns that a first line names; undefined where it names none, and so is a line of people itself. */
export function columnsOf(heads: readonly string[], custom: readonly CustomAttribute[]): readonly Column[] | undefined {
  const known = new Map<string, string>(Object.entries(alsoCalled));
  for (const { path, about } of userAttributes)
    for (const name of [path, path.split('.').at(-1)!, about.label]) known.set(plain(name), known.get(plain(name)) ?? path);
  for (const attribute of custom)
    for (const name of [attribute.name, `custom.${attribute.name}`, labelOf(attribute)])
      known.set(plain(name), known.get(plain(name)) ?? `custom.${attribute.name}`);
  const columns = heads.map((head): Column => known.get(plain(head)) ?? null);
  if (columns.includes('emails')) return columns;
  const address = heads.findIndex((head) => head.includes('@'));
  return address < 0 ? columns : undefined;
}

/** Of a list without heads: the addresses alone. */
export const columnsWithoutHeads = (cells: readonly string[]): readonly Column[] =>
  cells.map((cell) => (cell.includes('@') ? 'emails' : null));

const wordsOf = (cell: string, isAddresses: boolean): readonly string[] =>
  cell
    .split(isAddresses ? /[;,\n]+/ : /[;|\n]+/)
    .map((word) => word.trim())
    .filter((word) => word !== '');

/** The person of a line; a text says what no call could carry. */
export function personOf(columns: readonly Column[], cells: readonly string[], custom: readonly CustomAttribute[]): Json | string {
  const person: Record<string, unknown> = {};
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    if (column === null || cell === '') continue;
    if (!isXmlText(cell)) return 'It holds a character that is none of a text.';
    if (lists.has(column)) {
      const words = wordsOf(cell, column === 'emails');
      person[column] = column === 'emails' ? words.map((value, at) => ({ value, primary: at === 0 })) : words;
      continue;
    }
    const [head = '', part] = column.split('.') as [string?, string?];
    if (part === undefined) person[head] = cell;
    else person[head] = { ...(person[head] as Json | undefined), [part]: cell };
  }
  const own = person['custom'] as Json | undefined;
  if (own === undefined) return person;
  const isList = new Set(custom.filter(({ list }) => list).map(({ name }) => name));
  const parted = Object.fromEntries(
    Object.entries(own).map(([name, cell]) => [name, isList.has(name) ? wordsOf(String(cell), false) : cell]),
  );
  return { ...person, custom: typedCustom(custom, parted) };
}

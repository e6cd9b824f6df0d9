// `gatehouse <kind> list|show|create|change|delete` of every kind of registered thing (design 17), from its table of fields.
import type { Command } from 'commander';
import type { TSchema } from 'typebox';
import type { Acting } from '../../administration/kind-effects.ts';
import {
  changeThing,
  createThing,
  findNamed,
  type KindDone,
  type KindRefused,
  type Registered,
  removeThing,
  rotateSecret,
} from '../../administration/kinds.ts';
import { registered } from '../../administration/registered.ts';
import { type Fields, type Json, takenAt } from '../../domain/field.ts';
import { type Kind, secretNameOf, secretPathsOf, thingToJson } from '../../domain/kind.ts';
import type { kinds } from '../../domain/kinds.ts';
import { CommandFailure, usage } from '../failure.ts';
import {
  type Administrator,
  addCommonOptions,
  addTenantOption,
  administer,
  allPages,
  by,
  loadTenant,
  type Options,
  pageRows,
  table,
} from './administrator.ts';

/** Adds the commands of a kind; gives their group. */
export function kindCommand(noun: keyof typeof kinds, program: Command): Command {
  return addKindCommands(registered[noun] as unknown as Registered, program); // what is of its own fields stays with its own kind
}

function addKindCommands(of: Registered, program: Command): Command {
  const { kind } = of;
  const { summaries } = kind;
  const name = kind.noun.replaceAll('_', '-');
  const group = program.command(name).description(`${kind.pages.plural}: ${kind.pages.about}`);
  const add = (command: string, description: string, example: string): Command =>
    addCommonOptions(addTenantOption(group.command(command).description(description))).addHelpText(
      'after',
      `\nExample:\n  gatehouse ${name} ${example}`,
    );
  const made = Object.values(takenAt(kind.fields, 'create')).flatMap(({ name: field, about }) =>
    about.required === true ? [`${field}=…`] : [],
  );
  const key = kind.key === 'id' ? '01920000-0000-7000-8000-000000000001' : `my-${name}`;
  add('list', summaries.list.split(/[;,]/)[0]!, 'list --json').action((options: Options) => list(of, options));
  add('show <id>', summaries.read, `show ${key}`).action((id: string, options: Options) => show(of, id, options));
  add('create <field=value...>', `${summaries.create}. Values other than texts are JSON`, `create ${made.join(' ')}`).action(
    (given: readonly string[], options: Options) => create(of, given, options),
  );
  const changeable = Object.values(takenAt(kind.fields, 'change')).find(({ about }) => about.write !== 'create')?.name ?? 'name';
  add('change <id> <field=value...>', `${summaries.change}. An empty value clears the field`, `change ${key} ${changeable}=…`).action(
    (id: string, given: readonly string[], options: Options) => change(of, id, given, options),
  );
  if (kind.secret?.made !== undefined)
    add('rotate-secret <id>', kind.secret.made.rotation.summary, `rotate-secret ${key}`).action((id: string, options: Options) =>
      write(of, options, (administrator, acting) => rotateSecret(of, administrator, acting, id), id),
    );
  add('delete <id>', summaries.remove, `delete ${key}`).action((id: string, options: Options) => remove(of, id, options));
  return group;
}

async function list({ kind, rows }: Registered, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const keyOf = (thing: { readonly id: string }): string =>
      kind.listedBy === undefined ? thing.id : String((thing as unknown as Json)[kind.listedBy]);
    const things = await allPages(
      (after) => administrator.database.read(tenant.id, (queries) => rows.page(queries, tenant.id, { after, limit: pageRows })),
      keyOf,
    );
    const json = things.map((thing) => thingToJson(kind, thing));
    const title = kind.pages.title;
    const shown = json.map((one) => [String(one[kind.key]), String(one[title] ?? '')]);
    administrator.print(
      json,
      table([kind.key.toUpperCase(), title.toUpperCase()], kind.key === title ? shown.map(([id]) => [id!]) : shown),
    );
  });
}

async function show(of: Registered, id: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const { id: tenant } = await loadTenant(administrator, options);
    const thing = await administrator.database.read(tenant, (queries) => findNamed(of, queries, tenant, id));
    if (thing === undefined) throw unknown(of.kind, id, options);
    printThing(administrator, thingToJson(of.kind, thing));
  });
}

async function create(of: Registered, words: readonly string[], options: Options): Promise<void> {
  const given = await readGiven(of.kind, 'create', words);
  await write(of, options, (administrator, acting) => createThing(of, administrator, acting, given));
}

async function change(of: Registered, id: string, words: readonly string[], options: Options): Promise<void> {
  const given = await readGiven(of.kind, 'change', words);
  await write(of, options, (administrator, acting) => changeThing(of, administrator, acting, id, given), id);
}

async function remove(of: Registered, id: string, options: Options): Promise<void> {
  await write(of, options, (administrator, acting) => removeThing(of, administrator, acting, id), id);
}

async function write(
  { kind }: Registered,
  options: Options,
  work: (administrator: Administrator, acting: Acting) => Promise<KindDone<Fields>>,
  id = '',
): Promise<void> {
  await administer(options, async (administrator) => {
    const done = await work(administrator, { tenant: await loadTenant(administrator, options), by });
    if (!done.ok) throw failureOf(kind, done, id, options);
    const secret = kind.secret?.made === undefined || done.secret === undefined ? {} : { [secretNameOf(kind)]: done.secret };
    printThing(administrator, { ...thingToJson(kind, done.thing), ...secret });
  });
}

/** Shows a thing, a line a member. */
export const printThing = ({ print: show }: Administrator, json: Json): void =>
  show(
    json,
    Object.entries(json).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`),
  );

type Given = Pick<Kind, 'fields' | 'noun' | 'secret'>;

/** What `field=value` say, of the shape that the Management API asks for. @throws CommandFailure */
export async function readGiven(kind: Given, when: 'create' | 'change', words: readonly string[]): Promise<Json> {
  const fields = takenAt(kind.fields, when);
  const given = Object.fromEntries(words.map((word) => readWord(fields, word)));
  await requireShape(kind, when, given);
  return given;
}

/** @throws CommandFailure where what is given has another shape than the Management API asks for */
export async function requireShape(kind: Given, when: 'create' | 'change', given: Json): Promise<void> {
  const fields = takenAt(kind.fields, when);
  // Only what writes loads what makes and reads schemas: half of a command's start.
  const { changeOf, creationOf, propertiesOf } = await import('../../administration/schema-pieces.ts');
  await requireFit(when === 'create' ? creationOf(fields) : changeOf(propertiesOf(fields)), kind.noun, given, secretPathsOf(kind));
}

/** @throws CommandFailure where what is given does not fit the schema */
export async function requireFit(schema: TSchema, noun: string, given: Json, secrets: readonly string[] = []): Promise<void> {
  const { createShapeCheck } = await import('../../administration/declaration/shape.ts');
  const check = await createShapeCheck(schema, secrets);
  try {
    check({ section: 'settings', path: noun, value: given, lineOf: () => undefined });
  } catch (error) {
    throw usage((error as Error).message); // of the fault alone
  }
}

function readWord(fields: Fields, word: string): readonly [name: string, value: unknown] {
  const at = word.indexOf('=');
  if (at < 1) throw usage(`expected field=value, found ${word}`);
  const [name, text] = [word.slice(0, at), word.slice(at + 1)];
  if (text === '') return [name, null];
  const field = Object.values(fields).find((one) => one.name === name);
  if (field === undefined || field.kind.shape['type'] === 'string') return [name, text];
  try {
    return [name, JSON.parse(text)];
  } catch {
    return [name, text]; // the shape says what was expected
  }
}

function failureOf(kind: Kind, refused: KindRefused, id: string, options: Options): CommandFailure {
  if (refused.reason === 'unknown') return unknown(kind, id, options);
  const { field, text, is } = refused.fault;
  return is === undefined || is === 'sentence' ? usage(`${field}: ${text}`) : new CommandFailure(`${field}: ${text}`);
}

const unknown = ({ noun, called }: Kind, id: string, options: Options): CommandFailure =>
  new CommandFailure(
    `expected a ${called}, found none named ${id}. See: gatehouse ${noun.replaceAll('_', '-')} list --tenant ${String(options['tenant'])}`,
  );

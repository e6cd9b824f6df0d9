// Writes docs/reference/: configuration, settings, commands and events, from the tables the program itself reads; with --check it only
// compares and fails when a file is out of date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Command, type Option } from 'commander';
import { exampleOf } from '../src/cli/examples.ts';
import { addCommands } from '../src/cli/run.ts';
import { settings } from '../src/config.ts';
import { eventSchema } from '../src/contract/event-schema.ts';
import { type EventRow, eventTypes } from '../src/contract/events.ts';
import type { Field, Table } from '../src/domain/field.ts';
import { allKinds } from '../src/domain/kinds.ts';
import { settingFields, settingGroups } from '../src/domain/tenant/settings.ts';

const folder = 'docs/reference';
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text}\``;
const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
const table = (names: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  row(names),
  `|${'---|'.repeat(names.length)}`,
  ...rows.map(row),
  '',
];
const generated = (source: string): string => `Generated from \`${source}\` by \`npm run generate\`; do not edit.`;

function configuration(): readonly string[] {
  return [
    '# Configuration',
    '',
    generated('src/config.ts'),
    '',
    'Each row is a flag of `gatehouse serve` (`--public-url`), an environment variable (`GATEHOUSE_PUBLIC_URL`) and a key of `gatehouse.yaml` (`public_url`).',
    'A flag wins over a variable, and a variable over the file. `gatehouse config check` prints each value and its source. Options of a tenant are',
    '[settings](settings.md).',
    '',
    ...table(
      ['flag', 'variable', 'what it is', 'default'],
      settings.map((one) => [
        code(`--${one.name.replaceAll('_', '-')}`),
        code(`GATEHOUSE_${one.name.toUpperCase()}`),
        `${one.about}${'secret' in one ? '. Secret: prefer the variable or the file' : ''}`,
        'fallback' in one && one.fallback !== '' ? code(one.fallback) : '',
      ]),
    ),
  ];
}

const isField = (entry: Field | Table): entry is Field => typeof (entry as Field).kind === 'object' && 'shape' in (entry as Field).kind;

/** The fields of a table by their path. */
const fieldsOf = (fields: Table, path: string): readonly (readonly [path: string, group: string, field: Field])[] =>
  Object.entries(fields).flatMap(([key, entry]) =>
    isField(entry) ? [[`${path}${key}`, path.replace(/\.$/, ''), entry] as const] : fieldsOf(entry, `${path}${key}.`),
  );

/** What a value may be, in words; the JSON Schema is in the API reference. */
function valuesOf({ kind: { shape, names, input } }: Field): string {
  const { minimum, maximum, type } = shape;
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  if (names !== undefined && input !== 'lines' && input !== 'checks') return names.map(code).join(', ');
  if (type === 'boolean') return '`true`, `false`';
  if (input === 'limit') return `\`{limit, period_seconds}\`${shape.anyOf === undefined ? '' : ' or `null`'}`;
  return type === 'array' ? 'list' : 'JSON';
}

function tenantSettings(): readonly string[] {
  const groups = Map.groupBy(fieldsOf(settingFields, ''), ([, group]) => group);
  return [
    '# Settings',
    '',
    generated('src/domain/tenant/settings.ts'),
    '',
    'Settings belong to a tenant. Change them in the console under Settings, with `PATCH {base_url}/v1/management/settings` or in a document for `gatehouse apply`;',
    'every node uses the new value within a second. `takes` is the capability that you need to change the setting in the Management API or the console. Dots show nesting: `pin.length` is `{"pin": {"length": 8}}`. Times are in seconds.',
    '',
    ...[...groups].flatMap(([group, fields]) => [
      `## ${settingGroups[group] ?? group}`,
      '',
      ...table(
        ['setting', 'what it is', 'values', 'default', 'takes'],
        fields.map(([path, , one]) => [
          code(path),
          `${one.about.label}${one.about.help === undefined ? '' : `. ${one.about.help.replace(/^One a line: /, 'Any of ')}`}`,
          valuesOf(one),
          code(JSON.stringify(one.about.default)),
          code(one.about.capability ?? ''),
        ]),
      ),
    ]),
  ];
}

const serverFlags: ReadonlySet<string> = new Set(settings.map(({ name }) => `--${name.replaceAll('_', '-')}`));

const nounsOfKinds: ReadonlySet<string> = new Set(allKinds.map(({ noun }) => noun.replaceAll('_', '-')));
const argumentsOf = (command: Command): readonly string[] =>
  command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));

/** The commands of a kind of registered thing, which all are alike, in one section. */
function kindSection(group: Command): readonly string[] {
  const name = group.name();
  return [
    `## gatehouse ${name}`,
    '',
    '```text',
    ...group.commands.map((command) => ['gatehouse', name, command.name(), ...argumentsOf(command), '[flags]'].join(' ')),
    '```',
    '',
    ...group.commands.map((command) => `- ${code(command.name())}: ${command.description()}.`),
    `- ${code('--tenant <slug>')}: slug of the tenant`,
    '',
  ];
}

async function commands(): Promise<readonly string[]> {
  const program = new Command('gatehouse');
  await addCommands(program);
  const isOwn = ({ long }: Option): boolean => !serverFlags.has(long ?? '');
  const isJson = ({ flags, description }: Option): boolean => flags === '--json' && description === 'print JSON';
  const without: string[] = [];
  const sections = (command: Command, words: readonly string[]): readonly string[] => {
    const path = [...words, command.name()];
    if (nounsOfKinds.has(path.join(' '))) return kindSection(command);
    if (command.commands.length > 0) return command.commands.flatMap((child) => sections(child, path));
    const arguments_ = argumentsOf(command);
    const all = command.options.filter((option) => isOwn(option) && !option.hidden);
    const flags = all.filter((option) => !isJson(option));
    if (flags.length === all.length) without.push(code(path.join(' ')));
    const example = exampleOf(path);
    return [
      `## gatehouse ${path.join(' ')}`,
      '',
      `${command.description()}.`,
      '',
      '```text',
      ['gatehouse', ...path, ...arguments_, ...(all.length > 0 ? ['[flags]'] : [])].join(' '),
      ...(example === undefined ? [] : ['', `gatehouse ${example}`]),
      '```',
      '',
      ...flags.map((option) => `- ${code(option.flags)}: ${option.description}`),
      ...(flags.length === 0 ? [] : ['']),
    ];
  };
  const described = program.commands.flatMap((command) => sections(command, []));
  return [
    '# Commands',
    '',
    generated('src/cli/'),
    '',
    '`gatehouse <command> --help` prints the same text. Every command also takes the flags of `serve` that say where the data is, such as `--data` and',
    '`--database-url`: see [Configuration](configuration.md). [Command line](../command-line.md) has what all commands share: exit codes and `--json`.',
    `All but ${without.join(' and ')} take \`--json\`, to print JSON.`,
    '',
    ...described,
  ];
}

function events(): readonly string[] {
  const rows = Object.entries<EventRow>(eventTypes);
  const groups = Map.groupBy(rows, ([type]) => type.split('.')[0]!);
  return [
    '# Events',
    '',
    generated('src/contract/events.ts'),
    '',
    '`GET {base_url}/v1/management/events/feed`, `gatehouse events` and [webhooks](../how-to/webhooks.md) give these events, one row for each type. An event is',
    '`{seq, id, type, timestamp, data}`; a webhook has the `id` in the header `webhook-id`. `data` says who did it (`actor`: `user:<id>`, `client:<id>`,',
    '`provider:<id>`, `device:<id>`, `operator`, `system`), what it is about (`target`, in the table `about`), why (`reason`), the request (`request_id`), and',
    'what only this type has: `data.details`, in the table `details`. An empty detail is left out. New releases add types and details: ignore',
    'those that you do not know. The [JSON Schema](events.schema.json) says the same.',
    '',
    ...[...groups].flatMap(([group, listed]) => [
      `## ${group}`,
      '',
      ...table(
        ['type', 'when', 'about', 'details', 'since'],
        listed.map(([type, { when, about, data, since }]) => [
          code(type),
          when,
          about.map((kind) => code(`${kind}:<id>`)).join(' or '),
          Object.entries(data)
            .map(([name, kind]) => `${code(name)} ${kind}`)
            .join(', '),
          since,
        ]),
      ),
    ]),
  ];
}

const files: Readonly<Record<string, readonly string[]>> = {
  'configuration.md': configuration(),
  'settings.md': tenantSettings(),
  'commands.md': await commands(),
  'events.md': events(),
  'events.schema.json': [JSON.stringify(eventSchema, null, 2)],
};
mkdirSync(folder, { recursive: true });
for (const [name, lines] of Object.entries(files)) {
  const file = `${folder}/${name}`;
  const text = `${lines.join('\n').trimEnd()}\n`;
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is out of date. Run: npm run generate`);
    process.exitCode = 1;
  }
}

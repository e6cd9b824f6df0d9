// Writes the migration that new fields of a table need: compares the tables of fields with the schema on file and adds a
// column for each field without one. Run by `npm run migration`, which then writes the snapshot of the schema (generate-schema.ts).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { clientFields } from '../src/domain/client/client.ts';
import type { Field, Fields } from '../src/domain/field.ts';
import { type UserAttribute, userAttributes } from '../src/domain/people/user-attributes.ts';
import { serviceProviderFields } from '../src/domain/saml/service-provider.ts';
import { migrations } from '../src/storage/engine/migrations/registry.ts';
import { schemaLevel } from '../src/storage/engine/migrations/schema-level.ts';
import { snapshotFile } from '../src/storage/engine/migrations/snapshot.ts';
import type { ColumnType } from '../src/storage/engine/migrations/table.ts';

const folder = 'src/storage/engine/migrations';
const people: Readonly<Record<string, UserAttribute>> = Object.fromEntries(userAttributes.map((one) => [one.name, one]));
const tables: Readonly<Record<string, Fields>> = { clients: clientFields, service_providers: serviceProviderFields, users: people };

/** The type of a field's column: null where the value may be absent, else its default, which rows of before get. */
export function columnType({ name, kind, about }: Field): ColumnType {
  const cell = about.default === undefined ? null : kind.store(about.default as NonNullable<unknown>);
  if (cell !== null) return typeof cell === 'number' ? `integer=${cell}` : `text='${cell.replaceAll("'", "''")}'`;
  if (about.required === true)
    throw new Error(`${name}: expected a default or none required, found a required field: rows of before have no value`);
  return kind.input === 'number' || kind.input === 'checkbox' ? 'integer?' : 'text?';
}

/** The fields of a table that the schema, as SQL text, has no column for. */
export function newFields(table: string, fields: Fields, schema: string): readonly Field[] {
  const columns = schema.split('\n').find((line) => line.startsWith(`CREATE TABLE "${table}" `)) ?? '';
  return Object.values(fields).filter(({ name }) => !columns.includes(`"${name}" `));
}

/** The text of the migration's file. */
export function migrationText(name: string, columns: readonly (readonly [table: string, one: Field])[]): string {
  const told = columns.map(([table, { name: column }]) => `${column} of ${table}`).join(', ');
  const lines = columns.map(([table, one]) => `  await ${additionOf(table, one)};`);
  const helpers = [...new Set(columns.map(([table]) => (table === 'users' ? 'addUserAttribute' : 'addColumn')))].toSorted();
  return `// New fields: ${told}.
import { ${helpers.join(', ')}, type MigrationContext } from '../../table.ts';

export async function ${name}(context: MigrationContext): Promise<void> {
${lines.join('\n')}
}
`;
}

function additionOf(table: string, one: Field): string {
  if (table !== 'users') return `addColumn(context, '${table}', '${one.name}', ${JSON.stringify(columnType(one))})`;
  const { search } = people[one.name]!;
  if (search !== 'folded' && search !== 'exact')
    throw new Error(
      `${one.name}: expected the search folded or exact, found ${search}: its reversed and trigram keys need a migration by hand`,
    );
  return `addUserAttribute(context, '${one.name}', '${search}')`;
}

function run(): void {
  const schema = readFileSync(snapshotFile('sqlite'), 'utf8');
  const columns = Object.entries(tables).flatMap(([table, fields]) => newFields(table, fields, schema).map((one) => [table, one] as const));
  const [first] = columns;
  if (first === undefined) {
    console.log('Every field has its column.');
    return;
  }
  const number = migrations.at(-1)!.number + 1;
  const words = first[1].name.split('_');
  const name = words.map((word, at) => (at === 0 ? word : `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)).join('');
  const digits = String(number).padStart(4, '0');
  const room = `release-${schemaLevel}/${digits.slice(0, 2)}00`; // a hundred numbers a room
  const file = `${room}/${digits}-${words.join('-')}.ts`;
  mkdirSync(`${folder}/${room}`, { recursive: true });
  writeFileSync(`${folder}/${file}`, migrationText(name, columns));
  const registry = readFileSync(`${folder}/registry.ts`, 'utf8').replace(
    /\n\];/,
    `\n  { number: ${number}, name: '${words.join('-')}', apply: async (context) => (await import('./${file}')).${name}(context) },\n];`,
  );
  writeFileSync(`${folder}/registry.ts`, registry);
  console.log(`Wrote ${folder}/${file} and registered it.`);
}

if (process.argv[1]?.endsWith('make-migration.ts') === true) run();

// Writes docs/api.md from the OpenAPI descriptions of the management and system APIs; with --check it only compares and fails when
// the file is out of date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { managementEndpoints, systemEndpoints } from '../src/management/endpoints.ts';
import { describeEndpoints } from '../src/management/openapi.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly description?: string;
}
interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
}
type Description = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const file = 'docs/api.md';
const apis = [
  {
    title: 'Management API',
    base: '`{base_url}/v1/management`',
    bearer: 'an access token for the audience `{base_url}/v1/management`',
    endpoints: managementEndpoints,
  },
  { title: 'System API', base: '`<public-url>/v1/system`', bearer: 'the operator token', endpoints: systemEndpoints },
] as const;

const lines = [
  '# API reference',
  '',
  'Generated from the OpenAPI descriptions by `node scripts/generate-api-docs.ts`; do not edit. A tenant serves its own as',
  '`{base_url}/v1/management/openapi.json`. Bodies are JSON. Lists answer `{items, next_cursor?}` and take `limit` and `cursor`.',
  'Refusals have `error`, `message` and, for a wrong field, `kind`: [every error](contract.md). A `?` marks what may be left out.',
  '',
];
for (const { title, base, bearer, endpoints } of apis) {
  const { paths } = (await describeEndpoints(endpoints)) as unknown as Description; // an OpenAPI document
  lines.push(`## ${title}`, '', `Below ${base}, with ${bearer} as bearer.`, '');
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  for (const [resource, group] of Map.groupBy(operations, ({ path }) => path.split('/')[1]!)) {
    lines.push(`### ${title === 'System API' ? `System: ${resource}` : resource}`, '');
    for (const { path, method, operation } of group) lines.push(...operationLines(method, path, operation));
  }
}
const text = `${lines.join('\n').trimEnd()}\n`;

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error(`${file} is out of date. Run: node_modules/.bin/node scripts/generate-api-docs.ts`);
  process.exitCode = 1;
}

function operationLines(method: string, path: string, operation: Operation): readonly string[] {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2'))!;
  const answer = Object.values(operation.responses[status]?.content ?? {})[0]?.schema;
  return [
    `**\`${method.toUpperCase()} ${path}\`** ${operation.summary}.${operation.description === undefined ? '' : ` ${operation.description}`}`,
    '',
    ...query.map(({ name, required, schema }) => `- query ${field(name, schema, required === true)}`),
    ...bodies.flatMap((schema) => fields('body', schema)),
    ...(answer === undefined ? [`- answers ${status}`] : [`- answers ${status}: ${shape(answer)}`]),
    '',
  ];
}

function fields(where: string, schema: Schema): readonly string[] {
  const names = Object.entries(schema.properties ?? {});
  if (names.length === 0) return [`- ${where}: ${shape(schema)}`];
  return names.map(([name, property]) => `- ${where} ${field(name, property, schema.required?.includes(name) === true)}`);
}

function field(name: string, schema: Schema, required: boolean): string {
  const about = schema.description === undefined ? '' : `: ${schema.description}`;
  return `\`${name}\`${required ? '' : '?'} ${shape(schema)}${limits(schema)}${about}`;
}

/** A schema in a few words: types, choices, member names. */
function shape(schema: Schema, depth = 0): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map((one) => shape(one, depth)))].join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.items !== undefined) return `list of ${shape(schema.items, depth)}`;
  const names = Object.entries(schema.properties ?? {});
  if (names.length > 0 && depth < 2) {
    const members = names.map(([name, property]) =>
      property.items?.properties === undefined ? `\`${name}\`` : `\`${name}\`: ${shape(property, depth + 1)}`,
    );
    return `{${members.join(', ')}}`;
  }
  const { type = 'anything' } = schema;
  return `${typeof type === 'string' ? type : type.join(' or ')}${schema.format === undefined ? '' : ` (${schema.format})`}`;
}

function limits({ minimum, maximum, maxLength, maxItems }: Schema): string {
  const range = minimum === undefined && maximum === undefined ? [] : [`${minimum ?? ''} to ${maximum ?? ''}`];
  const length = maxLength === undefined ? [] : [`at most ${maxLength} characters`];
  const items = maxItems === undefined ? [] : [`at most ${maxItems}`];
  const all = [...range, ...length, ...items];
  return all.length === 0 ? '' : ` (${all.join(', ')})`;
}

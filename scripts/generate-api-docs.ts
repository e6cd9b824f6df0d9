// Writes docs/api.md and a page for each resource below docs/reference/api from the OpenAPI descriptions of the management and system
// APIs, with an example of each operation; with --check it only compares and fails when a file is out of date.
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { managementEndpoints, systemEndpoints } from '../src/management/endpoints.ts';
import { describeEndpoints } from '../src/management/openapi.ts';
import { type ExampleRequest, exampleLines, exampleOf, unusedExamples } from './api-examples.ts';

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

interface Api {
  readonly title: string;
  readonly where: string;
  readonly base: ExampleRequest['base'];
  /** Before the names of its operations and pages. */
  readonly prefix: string;
  readonly endpoints: Parameters<typeof describeEndpoints>[0];
}
interface Listed {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

const index = 'docs/api.md';
const folder = 'docs/reference/api';
/** A longer answer is told once on a page. */
const shapeRepeatedCharsMax = 200;
const apis: readonly Api[] = [
  {
    title: 'Management API',
    where: 'Below `{base_url}/v1/management`, with an access token for that audience as bearer.',
    base: { variable: 'BASE_URL', path: '/v1/management', token: 'TOKEN' },
    prefix: '',
    endpoints: managementEndpoints,
  },
  {
    title: 'System API',
    where: 'Below `<public-url>/v1/system`, with the operator token as bearer.',
    base: { variable: 'PUBLIC_URL', path: '/v1/system', token: 'OPERATOR_TOKEN' },
    prefix: 'system: ',
    endpoints: systemEndpoints,
  },
];

const note = 'Generated from the OpenAPI descriptions by `node scripts/generate-api-docs.ts`; do not edit.';
const indexLines = [
  ...['# API reference', '', note, ''],
  'A tenant serves its own description as `{base_url}/v1/management/openapi.json`. Bodies are JSON. Lists answer `{items, next_cursor?}` and take `limit` and',
  '`cursor`. Refusals have `error`, `message` and, for a wrong field, `kind`: [every error](contract.md).',
  ...['', '## Before the examples', ''],
  'Every operation has an example in curl, JavaScript (Node) and Python. Words in capitals are variables: `BASE_URL` and `ADMIN` come from the',
  '[quick start](quick-start.md#4-make-a-tenant), `ID` and similar ones are ids from lists and earlier answers. Get a token first; it works for 15 minutes.',
  ...['', '```sh'],
  'TOKEN=$(curl -sS --fail-with-body -u "$ADMIN" -d grant_type=client_credentials "$BASE_URL/v1/idp/oidc/token" | jq -r .access_token)',
  ...['```', '', '```javascript'],
  'const { BASE_URL, ADMIN } = process.env;',
  `const tokens = await fetch(\`\${BASE_URL}/v1/idp/oidc/token\`, {`,
  "  method: 'POST',",
  `  headers: { authorization: \`Basic \${btoa(ADMIN)}\` },`,
  "  body: new URLSearchParams({ grant_type: 'client_credentials' }),",
  '});',
  'const { access_token: TOKEN } = await tokens.json();',
  ...['```', '', 'In Python with [HTTPX](https://www.python-httpx.org), `pip install httpx`:', '', '```python'],
  ...['import os', 'import httpx', '', 'BASE_URL = os.environ["BASE_URL"]', 'client, secret = os.environ["ADMIN"].split(":")'],
  'tokens = httpx.post(f"{BASE_URL}/v1/idp/oidc/token", auth=(client, secret), data={"grant_type": "client_credentials"})',
  ...['TOKEN = tokens.json()["access_token"]', '```', ''],
];
const pages = new Map<string, readonly string[]>();
const operationsSeen: string[] = [];
for (const api of apis) {
  const { paths } = (await describeEndpoints(api.endpoints)) as unknown as Description; // an OpenAPI document
  const operations: readonly Listed[] = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  indexLines.push(`## ${api.title}`, '', api.where, '', '| operation | does |', '|---|---|');
  for (const [resource, group] of Map.groupBy(operations, ({ path }) => path.split('/')[1]!)) {
    const name = `${api.prefix.replace(': ', '-')}${resource}`;
    const page = [
      `# ${api.title}: ${resource}`,
      '',
      note,
      '',
      `${api.where} Tokens, lists and refusals: [API reference](../../api.md). A \`?\` marks what may be left out.`,
      '',
    ];
    const told = new Map<string, string>();
    for (const listed of group) {
      const { method, path, operation } = listed;
      const anchor = `${method} ${path}`
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-');
      operationsSeen.push(`${api.prefix}${method} ${path}`);
      indexLines.push(`| [\`${method} ${path}\`](reference/api/${name}.md#${anchor}) | ${operation.summary.replaceAll('|', '\\|')} |`);
      page.push(...operationLines(api, listed, told));
    }
    pages.set(`${folder}/${name}.md`, page);
  }
  indexLines.push('');
}
pages.set(index, indexLines);
const unused = unusedExamples(operationsSeen);
if (unused.length > 0)
  throw new Error(`expected operations for the examples in scripts/api-examples.ts, found none for: ${unused.join(', ')}`);

const texts = new Map([...pages].map(([file, lines]) => [file, `${lines.join('\n').trimEnd()}\n`]));
const gone = globSync(`${folder}/*.md`).filter((file) => !texts.has(file));
if (process.argv.includes('--check')) {
  const stale = [...texts].filter(([file, text]) => !existsSync(file) || readFileSync(file, 'utf8') !== text).map(([file]) => file);
  for (const file of [...stale, ...gone]) console.error(`${file} is out of date. Run: node_modules/.bin/node scripts/generate-api-docs.ts`);
  if (stale.length + gone.length > 0) process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  for (const file of gone) rmSync(file);
  for (const [file, text] of texts) writeFileSync(file, text);
}

/** `told`: shapes of answers that stand on the page already, with the operation they stand at. */
function operationLines({ base, prefix }: Api, { method, path, operation }: Listed, told: Map<string, string>): readonly string[] {
  const query = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
  const status = Object.keys(operation.responses).find((code) => code.startsWith('2'))!;
  const answer = Object.values(operation.responses[status]?.content ?? {})[0]?.schema;
  const whole = answer === undefined ? '' : shape(answer);
  const before = whole.length > shapeRepeatedCharsMax ? told.get(whole) : undefined;
  told.set(whole, before ?? `${method} ${path}`);
  const answered = before === undefined ? whole : `as of \`${before}\``;
  const example = exampleOf(`${prefix}${method} ${path}`, bodies.length > 0);
  return [
    `## \`${method} ${path}\``,
    '',
    `${operation.summary}.${operation.description === undefined ? '' : ` ${operation.description}`}`,
    '',
    ...query.map(({ name, required, schema }) => `- query ${field(name, schema, required === true)}`),
    ...bodies.flatMap((schema) => fields('body', schema)),
    answer === undefined ? `- answers ${status}` : `- answers ${status}: ${answered}`,
    '',
    ...exampleLines({ method, path, base, isAnswered: answer !== undefined, ...example }),
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

// The OpenAPI 3.1 document of the device plane, made from the table of its calls and the catalogue of refusals. Loaded and made at
// the first request for it.
import { catalogue, type RowId } from '../../contract/catalogue.ts';
import type { Row } from '../../contract/row.ts';
import { adviceOf } from './advice.ts';
import { type ProtocolCall, protocolCalls, rowsOfEveryCall } from './calls.ts';
import { components } from './components.ts';
import { part, type Shape } from './shapes.ts';

const signatureHeaders: readonly (readonly [name: string, schema: Shape, description: string])[] = [
  ['X-Protocol-Version', { type: 'string', pattern: '^\\d{1,6}$' }, 'The version spoken: 1.'],
  ['X-Device-Id', { type: 'string', format: 'uuid' }, 'Made by the phone for this enrolment.'],
  ['X-Device-Key-Id', { type: 'string', format: 'uuid' }, 'The slot that signs.'],
  ['X-Timestamp', { type: 'string', pattern: '^\\d{13}$' }, 'Unix milliseconds; two equal requests need two.'],
  ['X-Signature', { type: 'string', maxLength: 2048 }, 'Padded standard base64, over the ten lines of docs/device-protocol.md.'],
];
const signers = {
  new: 'Signed by the new pop key.',
  pop: 'Signed by either slot.',
  uv: 'Signed by the uv slot, after the person’s biometrics or passcode.',
} as const;

/** The document as JSON text, its server URL that of the tenant. */
export function deviceOpenApi(baseUrl: string): string {
  const paths: Record<string, Record<string, Shape>> = {};
  for (const call of protocolCalls) paths[call.path] = { ...paths[call.path], [call.method.toLowerCase()]: operationOf(call) };
  return JSON.stringify({
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse device plane',
      version: '1',
      description: 'For phones that approve. Every request is signed; docs/device-protocol.md says how, and what to keep for lost answers.',
    },
    servers: [{ url: `${baseUrl}/v1/device` }],
    paths,
    components: {
      schemas: components,
      parameters: Object.fromEntries(
        signatureHeaders.map(([name, schema, description]) => [name, { name, in: 'header', required: true, description, schema }]),
      ),
    },
  });
}

function operationOf(call: ProtocolCall): Shape {
  const ids = [...call.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const query = Object.entries(call.query ?? {}).map(([name, schema]) => ({ name, in: 'query', schema }));
  return {
    operationId: `${call.method.toLowerCase()}${call.path.replace(/\W+(\w)?/g, (_all, next: string | undefined) => (next ?? '').toUpperCase())}`,
    summary: call.summary,
    description: signers[call.signedBy],
    parameters: [...signatureHeaders.map(([name]) => ({ $ref: `#/components/parameters/${name}` })), ...ids, ...query],
    ...(call.body === undefined ? {} : { requestBody: { required: true, content: jsonOf({ schema: call.body }) } }),
    responses: responsesOf(call),
  };
}

function responsesOf(call: ProtocolCall): Shape {
  const done = call.answers.map(({ status, shape, text }) => {
    const content = shape === undefined ? {} : { content: jsonOf({ schema: shape }) };
    return [status, { description: text ?? 'Done', ...content }] as const;
  });
  const refused = Map.groupBy([...rowsOfEveryCall, ...call.rows], (id) => catalogue[id].status);
  return Object.fromEntries([...done, ...[...refused].map(([status, ids]) => [status, refusalOf(ids)] as const)]);
}

function refusalOf(ids: readonly RowId[]): Shape {
  const rows = ids.map((id) => [id, catalogue[id] as Row] as const);
  const header = rows.find(([, row]) => row.header === 'retry-after');
  return {
    description: rows.map(([id, row]) => `${id}: ${row.when}`).join(' '),
    ...(header === undefined ? {} : { headers: { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds' } } }),
    content: jsonOf({
      schema: { allOf: [part('Refusal'), { anyOf: rows.map(([, row]) => shapeOf(row)) }] },
      examples: Object.fromEntries(rows.map(([id, row]) => [id, exampleOf(id, row)])),
    }),
  };
}

function shapeOf({ code, kind, fields = [] }: Row): Shape {
  return {
    properties: {
      error: { const: code },
      ...(kind === undefined ? {} : { kind: { const: kind } }),
      ...Object.fromEntries(fields.map((field) => [field, { type: 'integer' }])),
    },
    required: ['error', ...(kind === undefined ? [] : ['kind']), ...fields],
  };
}

function exampleOf(id: RowId, { code, kind, text, fields = [] }: Row): Shape {
  const value = {
    error: code,
    message: text ?? 'The field is missing or wrong.',
    ...(kind === undefined ? {} : { kind }),
    ...Object.fromEntries(fields.map((field) => [field, 1])),
  };
  const advice = (adviceOf as Readonly<Record<string, string>>)[id];
  return advice === undefined ? { value } : { summary: advice, value };
}

const jsonOf = (content: Shape): Shape => ({ 'application/json': content });

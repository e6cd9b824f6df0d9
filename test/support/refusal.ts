// Asserts whole error answers against the contract catalogue and notes the row as shown. After all tests,
// scripts/contract-coverage.ts fails the run for any row that no test has shown.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync } from 'node:fs';
import { catalogue, type RowId } from '../../src/contract/catalogue.ts';
import { scimErrorUrn } from '../../src/contract/envelopes.ts';

const results = new URL('../../.test-results/', import.meta.url);
const shown = new Set<RowId>();

/** What a response may say beyond its row: text and kind where the row leaves them open, and the row's extra fields. */
export interface Expected {
  readonly text?: string | RegExp;
  readonly kind?: string;
  /** Exact values, or a pattern/predicate for values that vary. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/**
 * Compares status, the exact set of body members and their values, and headers with a contract row.
 * @returns the raw body, for byte comparisons between triggers.
 */
export async function assertRefusal(response: Response, id: RowId, expected: Expected = {}): Promise<string> {
  const row = catalogue[id];
  const raw = await response.text();
  assert.equal(response.status, row.status, `${id}: status, body ${raw}`);
  const body: Record<string, unknown> = JSON.parse(raw);
  const text = row.text ?? expected.text;
  const members: Record<string, unknown> = {};
  if (row.envelope === 'oauth') Object.assign(members, { error: row.code }, text === undefined ? {} : { error_description: text });
  if (row.envelope === 'management') {
    const kind = row.kind ?? expected.kind;
    Object.assign(members, { error: row.code, message: text ?? row.code }, kind === undefined ? {} : { kind });
  }
  if (row.envelope === 'scim') {
    Object.assign(
      members,
      { schemas: [scimErrorUrn], status: String(row.status), detail: text ?? row.code },
      row.scimType === undefined ? {} : { scimType: row.scimType },
    );
    if (row.code === 'rate_limited') members['error'] = row.code;
  }
  Object.assign(members, expected.fields);
  for (const field of row.fields ?? []) assert.ok(field in body, `${id}: field ${field} is missing`);
  for (const field of row.fields ?? []) if (!(field in members)) members[field] = body[field];
  assert.deepEqual(Object.keys(body).sort(), Object.keys(members).sort(), `${id}: members of ${raw}`);
  for (const [name, value] of Object.entries(members)) {
    if (value instanceof RegExp) assert.match(String(body[name]), value, `${id}: ${name}`);
    else assert.deepEqual(body[name], value, `${id}: ${name}`);
  }
  assertHeaders(response, id);
  noteShown(id);
  return raw;
}

function assertHeaders(response: Response, id: RowId): void {
  const row = catalogue[id];
  const type = row.envelope === 'scim' ? 'application/scim+json' : 'application/json';
  assert.ok(response.headers.get('content-type')?.startsWith(type), `${id}: content-type ${response.headers.get('content-type')}`);
  assert.equal(response.headers.get('cache-control'), 'no-store', `${id}: cache-control`);
  assert.match(response.headers.get('x-request-id') ?? '', /^[A-Za-z0-9_-]{22}$/, `${id}: x-request-id`);
  assert.equal(response.headers.has('retry-after'), row.header === 'retry-after', `${id}: retry-after`);
  assert.equal(response.headers.has('allow'), row.header === 'allow', `${id}: allow`);
  if (row.header === 'www-authenticate') assert.ok(response.headers.has('www-authenticate'), `${id}: www-authenticate`);
}

function noteShown(id: RowId): void {
  if (shown.has(id)) return;
  shown.add(id);
  mkdirSync(results, { recursive: true });
  appendFileSync(new URL(`rows-${process.pid}.txt`, results), `${id}\n`);
}

/** Compares an error that a browser carries to the client (RFC 6749 4.1.2.1, RFC 9207) and notes the row as shown. */
export async function assertRedirectRefusal(
  response: Response,
  id: RowId,
  expected: { readonly redirectUri: string; readonly iss: string; readonly state?: string; readonly text?: string },
): Promise<void> {
  assert.equal(response.status, 303, `${id}: status, body ${await response.text()}`);
  const location = new URL(response.headers.get('location') ?? '');
  assert.equal(`${location.origin}${location.pathname}`, expected.redirectUri, `${id}: where to`);
  const { text, state, iss } = expected;
  assert.deepEqual(
    Object.fromEntries(location.searchParams),
    {
      error: catalogue[id].code,
      ...(text === undefined ? {} : { error_description: text }),
      ...(state === undefined ? {} : { state }),
      iss,
    },
    `${id}: answer`,
  );
  assert.equal(response.headers.get('cache-control'), 'no-store', `${id}: cache-control`);
  assert.equal(response.headers.has('set-cookie'), false, `${id}: no cookie`);
  noteShown(id);
}

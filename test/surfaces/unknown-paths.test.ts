// Paths of no surface: one answer, whatever the body says it is.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bodyBytesMax } from '../../src/contract/limits.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('paths of no surface', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.close());

  const bodies: readonly [string, Record<string, string>, string | undefined][] = [
    ['no body', {}, undefined],
    ['JSON', { 'content-type': 'application/json' }, '{}'],
    ['broken JSON', { 'content-type': 'application/json' }, '["x'],
    ['an empty JSON body', { 'content-type': 'application/json' }, ''],
    ['__proto__', { 'content-type': 'application/json' }, '{"__proto__":{"a":1}}'],
    ['a type nobody knows', { 'content-type': 'application/x-unknown' }, 'x'],
    ['text at bodyBytesMax', { 'content-type': 'text/plain' }, 'x'.repeat(bodyBytesMax)],
  ];
  for (const [name, headers, body] of bodies)
    for (const path of ['/nowhere', '/console*', '/v1', '/t/main/nowhere'])
      it(`POST ${path} with ${name}: 404 management.not_found`, async () => {
        const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });
        assert.equal(response.status, 404);
        assert.deepEqual(await response.json(), { error: 'not_found', message: 'Not found.' });
        assert.match(response.headers.get('x-request-id') ?? '', /^[\w-]{22}$/);
      });

  it('a body of bodyBytesMax + 1: management.payload_too_large', async () => {
    const response = await fetch(`${server.url}/nowhere`, { method: 'POST', body: 'x'.repeat(bodyBytesMax + 1) });
    await assertRefusal(response, 'management.payload_too_large');
  });
});

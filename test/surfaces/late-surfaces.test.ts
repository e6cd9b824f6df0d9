// Console and account page load at their first request and still answer paths and methods as every surface does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('surfaces that load late', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer('sqlite');
  });
  after(() => server.close());
  const call = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}${path}`, { method, headers, redirect: 'manual', ...(method === 'POST' || method === 'PUT' ? { body: 'x' } : {}) });

  // Sorted, because only membership means anything in Allow.
  const methodsOf = (response: Response): string => (response.headers.get('allow') ?? '').split(', ').sort().join(' ');

  for (const [path, allow] of [
    ['/console', 'GET HEAD'],
    ['/console/users', 'GET HEAD POST'],
    ['/console/users/new', 'GET HEAD'],
    ['/console/sign-out', 'POST'],
    ['/account', 'GET HEAD'],
    ['/account/devices/add', 'GET HEAD POST'],
  ] as const)
    it(`PUT ${path}, whatever its body: management.method_not_allowed with Allow ${allow}`, async () => {
      const response = await call('PUT', path, { 'content-type': 'application/x-unknown' });
      assert.equal(methodsOf(response), allow);
      await assertRefusal(response, 'management.method_not_allowed');
    });

  for (const path of [
    '/console/',
    '/console/nowhere',
    '/console/users/',
    '/console/users/a/b/c/d',
    '/account/devices/',
    '/account/nowhere',
  ])
    it(`POST ${path}, whatever its body: management.not_found`, async () => {
      await assertRefusal(await call('POST', path, { 'content-type': 'application/x-unknown' }), 'management.not_found');
    });

  it('HEAD answers as GET does, without a body', async () => {
    const response = await call('HEAD', '/console/users');
    assert.equal(response.status, 303);
    assert.equal(await response.text(), '');
  });
});

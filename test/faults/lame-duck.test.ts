// SIGTERM with a drain delay: readiness is refused at once and every answer closes its connection, while requests are still answered;
// then the process ends by itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createDataFolder, serveEmbedded } from '../support/gatehouse-process.ts';
import { assertRefusal } from '../support/refusal.ts';

describe('a node that was asked to stop', () => {
  it('management.unavailable: not ready, answers on closing connections, and ends with 0', async () => {
    const folder = createDataFolder();
    const node = serveEmbedded(folder.path, { environment: { GATEHOUSE_DRAIN_DELAY: '4' } });
    try {
      const url = await node.ready;
      const before = await fetch(`${url}/health/ready`);
      assert.equal(before.status, 200);
      assert.notEqual(before.headers.get('connection'), 'close');
      await before.body?.cancel();
      node.signal('SIGTERM');
      let ready = await fetch(`${url}/health/ready`);
      // The signal is on its way.
      while (ready.status === 200) {
        await ready.body?.cancel();
        await wait(10);
        ready = await fetch(`${url}/health/ready`);
      }
      await assertRefusal(ready, 'management.unavailable');
      for (const path of ['/v1/idp/oidc/jwks', '/.well-known/openid-configuration', '/health/live', '/v1/nothing']) {
        const response = await fetch(`${url}${path}`);
        assert.equal(response.status, path === '/v1/nothing' ? 404 : 200);
        assert.equal(response.headers.get('connection'), 'close', path);
        await response.body?.cancel();
      }
      assert.equal((await node.ended).code, 0);
      await assert.rejects(fetch(`${url}/health/live`));
    } finally {
      node.signal('SIGKILL');
      await node.ended;
      folder.remove();
    }
  });
  it('a delay out of bounds is refused with what was expected', async () => {
    const folder = createDataFolder();
    const { code, stderr } = await serveEmbedded(folder.path, { environment: { GATEHOUSE_DRAIN_DELAY: '301' } }).ended;
    folder.remove();
    assert.equal(code, 2);
    assert.match(stderr, /drain_delay: expected a whole number from 0 to 300, found 301/);
  });
});

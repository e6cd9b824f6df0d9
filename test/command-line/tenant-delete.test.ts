// `gatehouse tenant delete` beside a running server.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Running, startBesideCommands, untilStatus } from '../support/command-line.ts';
import { databases } from '../support/databases.ts';

for (const name of databases) {
  describe(`tenant delete on ${name}`, () => {
    let running: Running;
    before(async () => {
      running = await startBesideCommands(name);
    });
    after(() => running.stop());
    const fails: Running['fails'] = (...args) => running.fails(...args);

    it('tenant delete: only with its slug again, never the root tenant; the running server notices', async () => {
      const keys = (): Promise<Response> => fetch(`${running.url}/t/gone/v1/idp/oidc/jwks`);
      const { id } = await running.json<{ id: string }>('tenant', 'create', 'gone');
      await untilStatus(keys, 200);
      await fails(
        2,
        /--confirm: expected gone, found nothing\. .*Try: gatehouse tenant delete gone --confirm gone/,
        'tenant',
        'delete',
        'gone',
      );
      await fails(2, /--confirm: expected gone, found main\./, 'tenant', 'delete', 'gone', '--confirm', 'main');
      await fails(1, /the root tenant cannot be deleted/, 'tenant', 'delete', 'main', '--confirm', 'main');
      assert.equal((await keys()).status, 200);
      assert.deepEqual(await running.json('tenant', 'delete', 'gone', '--confirm', 'gone'), { id, slug: 'gone', deleted: true });
      await untilStatus(keys, 404);
      await fails(1, /expected one of .*, found gone/, 'tenant', 'delete', 'gone', '--confirm', 'gone');
    });
  });
}

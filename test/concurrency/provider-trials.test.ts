// A provider that is saved anew while somebody tries it: nobody tried it as it is now.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { openSetupWorld, upstreamSecret } from '../support/setup-world.ts';

for (const database of databases)
  describe(`a trial that is overtaken, ${database}`, async () => {
    const { server, upstream, organization, opened, act, acts, connect, goToTry, close } = await openSetupWorld(database);
    before(() => server.gatehouse.services.jobs.stop()); // what they write is not of the request in whose middle something happens
    after(close);

    it('a trial says nothing of a provider that is saved anew before it is noted', async () => {
      const browser = await opened(await organization());
      await connect(browser);
      const kept = await browser.send(
        upstream.signIn(await goToTry(browser), { sub: 'it', email: 'it@acme.example', email_verified: true }).href,
      );
      const { database: engine } = server.gatehouse.services;
      const { write } = engine;
      let writes = 0;
      Object.assign(engine, {
        write: async (...args: Parameters<typeof write>) => {
          writes += 1;
          if (writes === 2) {
            Object.assign(engine, { write });
            await acts(browser, '/provider', {
              kind: 'oidc',
              issuer: upstream.issuer,
              client_id: 'another',
              client_secret: upstreamSecret,
            });
          }
          return write(...args); // the first one uses the answer up, the second notes the trial
        },
      });
      await textOf(await browser.send(String(kept.headers.get('location'))), 200);
      assert.equal(writes, 2);
      assert.equal((await act(browser, '/provider/on')).status, 409);
    });
  });

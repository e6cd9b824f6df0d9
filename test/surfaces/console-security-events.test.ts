// The console's page "Security events": how each stream does, in words, and its buttons; what a reader of it does not see.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver, pushMethod, tellNow } from '../support/ssf.ts';
import { answerWith, loopbackAllowed, startWebhookReceiver, type WebhookReceiver } from '../support/webhooks.ts';

for (const database of databases) {
  describe(`console, security events, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let visitor: AppVisitor;
    let endpoint: WebhookReceiver;
    before(async () => {
      endpoint = await startWebhookReceiver();
      server = await startTestServer(database, { flags: loopbackAllowed });
      const made = await createConsoleTenant(server);
      tenant = made.tenant;
      ({ visitor } = await openConsole(server, tenant, made.email));
    });
    after(async () => {
      await server.close();
      await endpoint.close();
    });
    const show = async (): Promise<string> => (await visitor.page('/security-events')).text();

    it('nobody receives any: what they are, and how an application gets them', async () => {
      const page = await show();
      assert.match(page, /No application receives security events/);
      assert.match(page, /href="\/docs\/how-to\/security-events"/);
    });

    it('a stream in words; verification, pause, on again, removed', async () => {
      const receiver = await makeReceiver(tenant, { name: 'Shop' });
      endpoint.answer('/shop', answerWith(202));
      const stream = await receiver.makeStream({
        description: 'Of the shop',
        delivery: { method: pushMethod, endpoint_url: endpoint.url('/shop') },
      });
      const path = `/security-events/${stream.stream_id}`;
      const first = await show();
      for (const words of [
        new RegExp(`<h2><a href="[^"]+/clients/${receiver.clientId}">Shop</a></h2>`),
        /<span class="badge good">enabled<\/span>/,
        /<dt>Delivery<\/dt><dd>pushed to <code>http:\/\/127\.0\.0\.1:\d+\/shop<\/code>/,
        /<dt>Is told of<\/dt><dd>session revoked, credential change, account disabled, account enabled, account purged, identifier changed/,
        /<dt>Waiting<\/dt><dd>nothing/,
        /<dt>Last delivered<\/dt><dd>nothing yet/,
        /<dt>Its own note<\/dt><dd>Of the shop/,
      ])
        assert.match(first, words);
      assert.doesNotMatch(first, /Left out|urn:ietf|\{"/);
      assert.match(await visitor.act(`${path}/verify`, {}), /Shop gets a verification event\./);
      await tellNow(server);
      assert.match(await show(), /<dt>Last delivered<\/dt><dd><time/);
      const paused = await visitor.act(`${path}/pause`, {});
      assert.match(paused, /Shop is paused, and told so\./);
      assert.match(
        paused,
        /<b>Paused<\/b> <time[^<]+<\/time>\. Reason: Paused by an administrator\. What happens meanwhile is kept for it\./,
      );
      assert.match(paused, /<button>Go on/);
      assert.doesNotMatch(paused, /\/pause"/);
      assert.equal((await tenant.make('GET', `/ssf-streams/${stream.stream_id}`))['status'], 'paused');
      assert.match(await visitor.act(`${path}/go-on`, {}), /<span class="badge good">enabled<\/span>/);
      assert.match(
        await (await visitor.submit(`${path}/delete`, {})).text(),
        /Delete the stream of Shop\?.*Events that wait for it are lost/s,
      );
      assert.match(await visitor.act(`${path}/delete`, { sure: 'yes' }), /Shop has no stream any more\./);
      assert.equal((await visitor.submit(`${path}/pause`, {})).status, 404);
      assert.match(await show(), /No application receives security events/);
    });

    it('who may only read applications sees no buttons, and who may not read them no page', async () => {
      await (await makeReceiver(tenant, { name: 'Watched' })).makeStream();
      for (const [name, capabilities, sees] of [
        ['reader', ['clients:read'], true],
        ['stranger', ['groups:read'], false],
      ] as const) {
        await tenant.make('POST', '/roles', { name, capabilities });
        const email = `${name}@x.example`;
        await createTestUser(tenant, email, { admin_roles: [name] });
        const { visitor: own } = await openConsole(server, tenant, email);
        const page = await (await own.page('/security-events')).text();
        assert.equal(page.includes('Last delivered'), sees);
        assert.doesNotMatch(page, /Send verification/);
      }
    });

    it('what nobody takes for an hour is shown so; people left out are counted', async () => {
      const receiver = await makeReceiver(tenant, { name: 'Silent' });
      const stream = await receiver.makeStream();
      const user = await createTestUser(tenant, 'left-out@example.com');
      await tenant.make('POST', `/users/${user.id}/suspend`);
      await tellNow(server);
      assert.doesNotMatch(await show(), /takes nothing/);
      const subject = { format: 'email', email: 'left-out@example.com' };
      assert.equal((await receiver.call('POST', '/subjects/remove', { stream_id: stream.stream_id, subject })).status, 204);
      await server.clock.advance(3_700_000);
      const { visitor: later } = await openConsole(server, tenant, `admin@${tenant.slug}.example`);
      const page = await (await later.page('/security-events')).text();
      assert.match(page, /<span class="badge bad">takes nothing<\/span>/);
      assert.match(page, /<dt>Waiting<\/dt><dd>1 event, oldest: <time/);
      assert.match(page, /<dt>Left out<\/dt><dd>1 person, as the application asked/);
      assert.match(page, /fetched by the application \(poll\)/);
    });
  });
}

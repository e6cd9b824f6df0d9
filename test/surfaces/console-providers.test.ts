// The console's page of a service provider's metadata and keys: a ring of its own, its rotation, metadata read again, and the approval
// of hosts; every text of others escaped.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import type { Json } from '../support/management.ts';
import { acs, acsOf, entity, type MetadataWorld, openMetadataWorld, registeredAcs, role, simple } from '../support/metadata-host.ts';

for (const database of databases) {
  describe(`console, metadata of service providers, on ${database}`, () => {
    let world: MetadataWorld;
    let visitor: AppVisitor;
    before(async () => {
      let email = '';
      world = await openMetadataWorld(database, async (server) => {
        const created = await createConsoleTenant(server);
        ({ email } = created);
        return created.tenant;
      });
      ({ visitor } = await openConsole(world.server, world.tenant, email));
    });
    after(() => world.close());

    const noticeOf = (text: string): string => /id="notice">([^<]*)/.exec(text)?.[1] ?? '';
    const show = async (path: string): Promise<string> => {
      const response = await visitor.page(path);
      assert.equal(response.status, 200);
      return response.text();
    };
    /** Posts, follows the redirect, and gives the page. */
    const post = async (path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> => {
      const response = await visitor.submit(path, fields);
      assert.equal(response.status, 303, noticeOf(await response.clone().text()));
      return show((response.headers.get('location') ?? '').replace(/^.*\/console/, ''));
    };
    const ask = async (path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> => {
      const response = await visitor.submit(path, fields);
      assert.equal(response.status, 200);
      const text = await response.text();
      assert.match(text, /name="sure" value="yes"/);
      return text;
    };
    const sure = { sure: 'yes' };

    it('keys of its own: given, rotated twice, the second time against the rule, and put away', async () => {
      const one = await world.provider({ metadata_url: null });
      const at = `${one.at}/metadata`;
      const first = await show(at);
      assert.ok(first.includes(`${world.tenant.baseUrl}/v1/idp/saml/metadata/${one.id}`));
      assert.match(first, /key of the tenant/);
      assert.match(first, /not read again/);
      const given = await post(`${at}/key`, { signing_key: 'own' });
      assert.equal(noticeOf(given), 'It has keys of its own now. They sign from their first rotation.');
      assert.match(given, /until the first rotation/);
      assert.match(given, /has not fetched its metadata since/);
      await fetch(`${world.tenant.baseUrl}/v1/idp/saml/metadata/${one.id}`);
      assert.match(await show(at), /has fetched its metadata since/);
      assert.match(await ask(`${at}/rotate`), /The next certificate signs from now on/);
      const rotated = await post(`${at}/rotate`, sure);
      assert.equal(noticeOf(rotated), 'The next key signs from now on.');
      assert.match(rotated, /its own key/);
      assert.match(
        await ask(`${at}/rotate`),
        /may sign from \d{4}-\d\d-\d\d: before that.*name="force" value="yes"|name="force" value="yes".*may sign from/s,
      );
      const refused = await visitor.submit(`${at}/rotate`, sure);
      assert.equal(refused.status, 400);
      assert.match(noticeOf(await refused.text()), /next_key_too_young/);
      assert.equal(noticeOf(await post(`${at}/rotate`, { ...sure, force: 'yes' })), 'The next key signs from now on.');
      assert.match(await ask(`${at}/key`, { signing_key: 'tenant' }), /refuses sign-ins until it has it/);
      assert.equal(noticeOf(await post(`${at}/key`, { ...sure, signing_key: 'tenant' })), 'The key of the tenant signs for it again.');
      assert.equal((await visitor.submit(`${at}/rotate`, sure)).status, 400);
      assert.equal((await visitor.submit(`${at}/key`, { signing_key: 'theirs' })).status, 400);
    });

    it('metadata read again: not yet, taken, failed, and what waits is approved', async () => {
      const one = await world.provider();
      const at = `${one.at}/metadata`;
      assert.match(await show(at), /not read yet/);
      one.serve(
        entity(one.entityId, role(acs(registeredAcs) + acs('https://new.example/<acs>', 'index="1"').replace('<acs>', '&lt;acs&gt;'))),
      );
      const taken = await post(`${at}/refresh`);
      assert.equal(noticeOf(taken), 'Its metadata was read.');
      assert.match(taken, /Waiting for approval/);
      assert.match(
        taken,
        /https:\/\/new\.example\/(?:&lt;|&#60;)acs(?:&gt;|&#62;)/,
        taken.slice(taken.indexOf('id="waiting"'), taken.indexOf('id="waiting"') + 900),
      );
      assert.match(await ask(`${at}/approve`, { host: 'new.example' }), /Approve new\.example\?/);
      const wrong = await visitor.submit(`${at}/approve`, { ...sure, host: 'other.example' });
      assert.match(noticeOf(await wrong.text()), /These hosts wait for approval: new\.example/);
      const approved = await post(`${at}/approve`, { ...sure, host: 'new.example' });
      assert.doesNotMatch(approved, /Waiting for approval/);
      assert.deepEqual(acsOf(await one.read()), [registeredAcs, 'https://new.example/<acs>']);
      one.serve({ status: 503 });
      const failed = await visitor.submit(`${at}/refresh`, {});
      assert.equal(failed.status, 400);
      assert.match(await failed.text(), /The host answered 503\. What was taken before stays/);
      one.serve(simple('https://other.example'));
      assert.match(await (await visitor.submit(`${at}/refresh`, {})).text(), /does not describe this entity ID/);
      await world.tenant.make('PATCH', one.at, { metadata_url: null });
      assert.match(noticeOf(await (await visitor.submit(`${at}/refresh`, {})).text()), /Set one first/);
    });

    it('the form of the details takes and clears the address and the certificate', async () => {
      const one = await world.provider();
      const before: Json = await one.read();
      const page = await show(one.at);
      assert.match(page, /id="field-metadata_url"/);
      const typed: Record<string, string> = Object.fromEntries(
        [...page.matchAll(/<(?:input|textarea|select)[^>]* name="([^"]+)"/g)].map(([, name]) => [name!, '']),
      );
      for (const name of ['csrf', 'require_signed_requests', 'encrypt_assertions', 'idp_initiated_allowed']) delete typed[name];
      const response = await visitor.submit(one.at, {
        ...typed,
        name: 'Renamed',
        'acs.0.url': String((before['acs'] as readonly Json[])[0]?.['url']),
        signing: 'both',
        signing_key: 'tenant',
        name_id_formats: (before['name_id_formats'] as string[]).join('\n'),
        access_policy: 'everyone',
      });
      assert.equal(response.status, 303, noticeOf(await response.text()));
      const now = await one.read();
      assert.deepEqual([now['name'], now['metadata_url'], now['metadata_certificate']], ['Renamed', null, null]);
    });

    it('unknown providers are not found, and forged forms refused', async () => {
      assert.equal((await visitor.page('/service-providers/none/metadata')).status, 404);
      const one = await world.provider();
      for (const action of ['key', 'rotate', 'refresh', 'approve'])
        assert.equal((await visitor.submit(`${one.at}/metadata/${action}`, sure, { csrf: 'x' })).status, 403, action);
      assert.equal(one.asked().length, 0);
    });
  });
}

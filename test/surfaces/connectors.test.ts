// Connectors over HTTP (design 16, section 4): people and groups of one tenant provisioned to another's SCIM service, counted at a proxy
// between them: first everybody, then what changes, and nothing twice.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type ConnectorWorld, hourMs, scimTokenOf, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

for (const database of databases) {
  describe(`connectors on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    after(() => world?.close());

    it('everybody is brought once, a second run sends nothing, changes are sent alone, a burst is one request', async () => {
      await world.fresh();
      const ada = await createTestUser(world.tenant, 'ada@example.com', {
        name: { given_name: 'Ada', family_name: 'Lovelace' },
        title: 'Countess',
      });
      const bob = await createTestUser(world.tenant, 'bob@example.com');
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Staff' });
      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: ada.id });
      const { id } = await world.connect({ groups: ['Staff'], enabled: false });
      assert.deepEqual(((await world.tenant.make('POST', `/connectors/${id}/plan`))['counts'] as Json)['bring'], 2);
      assert.deepEqual(world.proxy.take(), [], 'a plan asks nobody');
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: true });
      await world.run();
      assert.deepEqual(world.proxy.take().toSorted(), [
        'GET /Groups',
        'GET /Users',
        'GET /Users',
        'POST /Groups',
        'POST /Users',
        'POST /Users',
      ]);
      const there = await world.userThere('ada@example.com');
      assert.ok(there !== undefined);
      assert.deepEqual(
        [
          there['externalId'],
          there.active,
          (there['name'] as Json)['familyName'],
          there['title'],
          (there['emails'] as readonly Json[])[0]?.['value'],
        ],
        [ada.id, true, 'Lovelace', 'Countess', 'ada@example.com'],
      );
      const groupsThere = async (): Promise<readonly Json[]> => (await world.scim('GET', '/Groups'))['Resources'] as readonly Json[];
      const membersThere = async (): Promise<readonly string[]> =>
        (((await groupsThere())[0]?.['members'] ?? []) as readonly Json[]).map(({ value }) => String(value));
      assert.deepEqual([(await groupsThere())[0]?.['displayName'], await membersThere()], ['Staff', [there?.id]]);
      const status = await world.statusOf(id);
      assert.deepEqual([status['state'], status['total'], status['done'], status.links['linked']], ['idle', 3, 3, 3]);

      await world.tenant.make('POST', `/connectors/${id}/sync`);
      await world.run();
      assert.deepEqual(world.proxy.take(), [], 'a second run sends nothing');

      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: false });
      for (const title of ['One', 'Two', 'Three']) await world.tenant.make('PATCH', `/users/${ada.id}`, { title });
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: true });
      await world.run();
      assert.deepEqual(world.proxy.take(), [`PATCH /Users/${there?.id}`], 'a burst is one request');
      assert.equal((await world.userThere('ada@example.com'))?.['title'], 'Three');
      await world.tenant.make('PATCH', `/users/${ada.id}`, { title: null });
      await world.run();
      assert.equal((await world.userThere('ada@example.com'))?.['title'], undefined, 'what is gone here is gone there');
      world.proxy.take();

      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: bob.id });
      await world.tenant.make('DELETE', `/groups/${group['id']}/members/${ada.id}`);
      await world.run();
      const bobThere = await world.userThere('bob@example.com');
      assert.deepEqual(await membersThere(), [bobThere?.id]);
      assert.equal(world.proxy.take().filter((one) => one.startsWith('PATCH /Groups')).length, 2, 'one takes away, one adds');

      await world.tenant.make('POST', `/users/${bob.id}/suspend`);
      await world.run();
      assert.equal((await world.userThere('bob@example.com'))?.active, false);
      await world.tenant.make('POST', `/users/${bob.id}/activate`);
      await world.run();
      assert.equal((await world.userThere('bob@example.com'))?.active, true);
      await world.tenant.make('DELETE', `/users/${bob.id}`);
      await world.run();
      assert.equal((await world.userThere('bob@example.com'))?.active, false, 'deactivated, not deleted');
      await world.tenant.make('PATCH', `/connectors/${id}`, { deprovision: 'delete' });
      await world.tenant.make('DELETE', `/groups/${group['id']}`);
      await world.tenant.make('DELETE', `/users/${ada.id}`);
      await world.run();
      assert.equal(await world.userThere('ada@example.com'), undefined);
      assert.deepEqual(await groupsThere(), []);
    });

    it('an account that matches is adopted; several, and a 409, wait for a person; a lost one is made again', async () => {
      await world.fresh();
      const adopted = await world.scim('POST', '/Users', {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: 'carol@example.com',
        emails: [{ value: 'carol@example.com', primary: true }],
      });
      const carol = await createTestUser(world.tenant, 'carol@example.com', { title: 'Chair' });
      const dan = await createTestUser(world.tenant, 'dan@example.com');
      const eve = await createTestUser(world.tenant, 'eve@example.com');
      world.proxy.intercept = ({ method, path, body }) => {
        if (method === 'GET' && path.includes('dan%40example.com'))
          return [200, {}, JSON.stringify({ totalResults: 2, Resources: [{ id: 'one' }, { id: 'two' }] })];
        return method === 'POST' && body['userName'] === 'eve@example.com' ? [409, {}, '{"detail":"taken"}'] : undefined;
      };
      const { id } = await world.connect();
      await world.run();
      assert.equal((await world.userThere('carol@example.com'))?.id, adopted['id']);
      assert.equal((await world.userThere('carol@example.com'))?.['title'], 'Chair');
      const waiting = await world.linksOf(id, '?state=conflict');
      const told = (user: string): readonly unknown[] => {
        const link = waiting.find((one) => one['id'] === user);
        return [link?.['state'], link?.['reason'], link?.['request'], link?.['answer']];
      };
      assert.deepEqual(told(dan.id), ['conflict', 'several_match', null, null]);
      assert.deepEqual(told(eve.id), ['conflict', 'status_409', 'POST /Users', '{"detail":"taken"}']);
      await world.tenant.make('PATCH', `/users/${dan.id}`, { title: 'Still' });
      world.proxy.take();
      await world.run();
      assert.deepEqual(world.proxy.take(), [], 'a conflict waits');
      const resolve = (user: string, body: Json): Promise<Response> =>
        world.tenant.call('POST', `/connectors/${id}/links/${user}/resolve`, body);
      await assertRefusal(await resolve(dan.id, { action: 'adopt' }), 'management.invalid_request', {
        ...{ text: 'This field is for the action adopt, which needs it.', kind: 'remote_id' },
      });
      await assertRefusal(await resolve(dan.id, { action: 'adopt', remote_id: String(adopted['id']) }), 'management.conflict', {
        ...{ text: 'Another person or group has this account.', kind: 'remote_id' },
      });
      await assertRefusal(await resolve(carol.id, { action: 'ignore' }), 'management.conflict', {
        ...{ text: 'Only a link that is in conflict, failed or ignored is resolved.', kind: 'state' },
      });
      world.proxy.intercept = undefined;
      assert.equal((await resolve(dan.id, { action: 'create' })).status, 200);
      assert.equal((await resolve(eve.id, { action: 'ignore' })).status, 200);
      await world.run();
      assert.equal((await world.userThere('dan@example.com'))?.['title'], 'Still');
      assert.equal(await world.userThere('eve@example.com'), undefined);
      assert.deepEqual(
        (await world.linksOf(id, '?state=ignored')).map(({ id: one }) => one),
        [eve.id],
      );

      await world.scim('DELETE', `/Users/${adopted['id']}`);
      await world.tenant.make('PATCH', `/users/${carol.id}`, { title: 'Again' });
      await world.run();
      const again = await world.userThere('carol@example.com');
      assert.ok(again !== undefined && again.id !== adopted['id'] && again['title'] === 'Again');
    });

    it('once a day the target is read, and what differs there is put right', async () => {
      await world.fresh();
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Night' });
      const gus = await createTestUser(world.tenant, 'gus@example.com', { title: 'Guard' });
      const hal = await createTestUser(world.tenant, 'hal@example.com');
      for (const { id: user } of [gus, hal]) await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: user });
      const { id } = await world.connect({ groups: [String(group['id'])] });
      await world.run();
      const there = await world.userThere('gus@example.com');
      const lost = await world.userThere('hal@example.com');
      await world.scim('PATCH', `/Users/${there?.id}`, {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
        Operations: [{ op: 'replace', path: 'title', value: 'Thief' }],
      });
      await world.scim('DELETE', `/Users/${lost?.id}`);
      await world.advance(24 * hourMs + 1);
      await world.run();
      await world.run();
      assert.equal((await world.userThere('gus@example.com'))?.['title'], 'Guard');
      const back = await world.userThere('hal@example.com');
      assert.ok(back !== undefined && back.id !== lost?.id);
      const [night] = (await world.scim('GET', '/Groups'))['Resources'] as readonly (Json & { readonly members: readonly Json[] })[];
      assert.deepEqual(night?.members.map(({ value }) => value).toSorted(), [there?.id, back.id].toSorted());
      assert.ok((await world.statusOf(id))['reconciled_at'] !== null);
    });

    it('members of groups alone, by rules, with PUT where the target has no PATCH; provision does one now', async () => {
      await world.fresh();
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Some' });
      const ian = await createTestUser(world.tenant, 'ian@example.com', { display_name: 'Ian' });
      const joy = await createTestUser(world.tenant, 'joy@example.com');
      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: ian.id });
      await world.tenant.make('PUT', '/mappings/scim', {
        rules: [
          { to: 'nickName', value: 'of all' },
          { to: 'title', value: null },
        ],
      });
      const mappings = [{ to: 'nickName', from: 'display_name', case: 'upper' }];
      world.proxy.intercept = ({ path }) => (path === '/ServiceProviderConfig' ? [200, {}, '{"patch":{"supported":false}}'] : undefined);
      const auth = { type: 'bearer', token: await scimTokenOf(world.remote) };
      const { id } = await world.connect({ users: 'groups', groups: ['Some'], mappings, auth, match: 'emails.value' });
      await world.run();
      assert.deepEqual(
        (await world.usersThere()).map(({ userName, nickName }) => [userName, nickName]),
        [['ian@example.com', 'IAN']],
      );
      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: joy.id });
      world.proxy.take();
      const done = await world.tenant.make('POST', `/connectors/${id}/provision`, { user_id: joy.id });
      assert.deepEqual([done['state'], done['remote_id']], ['linked', (await world.userThere('joy@example.com'))?.id]);
      assert.deepEqual(world.proxy.take(), ['GET /Users', 'POST /Users']);
      await world.run();
      const [some] = (await world.scim('GET', '/Groups'))['Resources'] as readonly (Json & { readonly members: readonly Json[] })[];
      assert.equal(some?.members.length, 2);
      assert.ok(world.proxy.take().some((one) => one.startsWith('PUT /Groups/')));
      await world.tenant.make('DELETE', `/groups/${group['id']}/members/${ian.id}`);
      await world.run();
      assert.equal((await world.userThere('ian@example.com'))?.active, false, 'out of the group is out of there');
      const preview = await world.tenant.make<{ readonly items: readonly Json[] }>('POST', '/mappings/preview', {
        kind: 'scim',
        target: id,
        user_id: ian.id,
      });
      assert.deepEqual(preview.items.find(({ to }) => to === 'nickName')?.['values'], ['IAN']);
    });

    it('management.invalid_request, conflict, not_found: what is refused; secrets are never shown and go nowhere else', async () => {
      await world.fresh();
      const body = {
        name: 'HR',
        base_url: 'https://hr.example/scim',
        enabled: false,
        auth: { type: 'basic', username: 'gate', password: 'hush-hush-1' },
      };
      const made = await world.tenant.make('POST', '/connectors', body);
      const { id, created_at: _created, updated_at: _updated, ...shown } = made;
      assert.deepEqual(shown, {
        ...{ name: 'HR', enabled: false, base_url: 'https://hr.example/scim', auth: { type: 'basic', username: 'gate' }, users: 'all' },
        ...{ groups: [], mappings: [], match: 'userName', deprovision: 'deactivate', rate: 10 },
      });
      const refuse = async (fields: Json, text: string, kind: string, method = 'POST', path = '/connectors'): Promise<unknown> =>
        assertRefusal(
          await world.tenant.call(method, path, method === 'POST' ? { ...body, name: 'Other', ...fields } : fields),
          'management.invalid_request',
          { text, kind },
        );
      await refuse({ base_url: 'http://hr.example/scim' }, 'This field must be an https URL.', 'base_url');
      await refuse({ base_url: 'https://hr.example/scim?x=1' }, 'This field must be an https URL without a query.', 'base_url');
      await refuse({ auth: { type: 'bearer' } }, 'This field of type bearer must have token.', 'auth');
      await refuse({ auth: { type: 'basic', password: 'x' } }, 'This field of type basic must have username.', 'auth');
      await refuse({ auth: { type: 'bearer', token: 'x', username: 'y' } }, 'This field of type bearer has no username.', 'auth');
      await refuse(
        { mappings: [{ to: 'active', value: true }] },
        'This field has a mistake in rule 1, to: active is not for rules to say.',
        'mappings',
      );
      const elsewhere = 'This field must be given again with its password, which would be told somewhere else.';
      await refuse({ base_url: 'https://thief.example/scim' }, elsewhere, 'auth', 'PATCH', `/connectors/${id}`);
      await world.tenant.make('PATCH', `/connectors/${id}`, {
        base_url: 'https://hr.example/v2',
        auth: { type: 'basic', username: 'gate2', password: 'hush-2' },
      });
      assert.doesNotMatch(JSON.stringify(await world.tenant.make('GET', '/connectors')), /hush/);
      await assertRefusal(await world.tenant.call('POST', '/connectors', body), 'management.conflict', {
        ...{ text: 'Another connector has this name.', kind: 'name' },
      });
      for (const [method, path] of [
        ['GET', '/connectors/none'],
        ['GET', '/connectors/none/status'],
        ['GET', '/connectors/none/links'],
        ['POST', '/connectors/none/sync'],
        ['POST', '/connectors/none/plan'],
        ['POST', '/connectors/none/resume'],
        ['POST', `/connectors/${id}/links/none/resolve`],
      ] as const) {
        const given = path.endsWith('resolve') ? { action: 'ignore' } : undefined;
        await assertRefusal(await world.tenant.call(method, path, given), 'management.not_found');
      }
      assert.equal((await world.statusOf(String(id)))['state'], 'disabled');
      assert.equal((await world.tenant.call('DELETE', `/connectors/${id}`)).status, 204);
    });
  });
}

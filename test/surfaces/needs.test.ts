// What a thing hands out its maker holds: connectors, webhooks and hooks are made, changed and given new secrets only by who may read
// what they hand out.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { makeReceiver } from '../support/ssf.ts';

const url = (): string => `https://${randomUUID()}.example/in`;
const connector = (fields: Json = {}): Json => ({
  name: randomUUID(),
  base_url: 'https://scim.example/v2',
  auth: { type: 'bearer', token: 'a-token' },
  ...fields,
});

for (const database of databases) {
  describe(`what the maker of a thing must hold, on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());

    const lacks = async (caller: Managed, capability: string, method: string, path: string, body?: Json): Promise<void> => {
      await assertRefusal(await caller.call(method, path, body), 'management.forbidden', {
        text: `The token lacks the capability ${capability}.`,
      });
    };

    it('connectors: users:read, and groups:read where groups are provisioned, before and after', async () => {
      const alone = await machineWith(tenant, ['connectors:write']);
      await lacks(alone, 'users:read', 'POST', '/connectors', connector());
      const { id } = await tenant.make('POST', '/connectors', connector());
      await lacks(alone, 'users:read', 'PATCH', `/connectors/${id}`, { rate: 5 });

      const people = await machineWith(tenant, ['connectors:write', 'users:read']);
      await people.make('POST', '/connectors', connector());
      await people.make('PATCH', `/connectors/${id}`, { rate: 5 });
      for (const groups of [{ users: 'groups' }, { groups: ['Staff'] }]) {
        await lacks(people, 'groups:read', 'POST', '/connectors', connector(groups));
        await lacks(people, 'groups:read', 'PATCH', `/connectors/${id}`, groups);
        const of = await tenant.make('POST', '/connectors', connector(groups));
        await lacks(people, 'groups:read', 'PATCH', `/connectors/${of['id']}`, { users: 'all', groups: [] });
        await people.make('DELETE', `/connectors/${of['id']}`);
      }
      assert.equal((await tenant.make('GET', `/connectors/${id}`))['users'], 'all', 'nothing of what was refused is kept');
      const groups = await machineWith(tenant, ['connectors:write', 'users:read', 'groups:read']);
      await groups.make('PATCH', `/connectors/${id}`, { groups: ['Staff'] });
    });

    it('connectors: what they send, and what came of it, is seen by who may read it; groups told by rules count', async () => {
      const { id } = await tenant.make('POST', '/connectors', connector({ enabled: false }));
      const user = await createTestUser(tenant, 'seen@needs.example');
      const reader = await machineWith(tenant, ['connectors:read', 'connectors:write']);
      for (const [method, below, body] of [
        ['POST', '/plan'],
        ['GET', '/links'],
        ['POST', '/provision', { user_id: user.id }],
        ['POST', `/links/${user.id}/resolve`, { action: 'ignore' }],
      ] as const)
        await lacks(reader, 'users:read', method, `/connectors/${id}${below}`, body);
      await reader.make('GET', `/connectors/${id}/status`);
      const people = await machineWith(tenant, ['connectors:read', 'connectors:write', 'users:read']);
      assert.ok((await people.make<{ differences: readonly Json[] }>('POST', `/connectors/${id}/plan`)).differences.length > 0);
      await people.make('GET', `/connectors/${id}/links`);
      for (const rule of [
        { to: 'title', from: 'groups', join: ',' },
        { to: 'title', value: 'x', when: { group: 'Staff' } },
      ]) {
        await lacks(people, 'groups:read', 'POST', '/connectors', connector({ mappings: [rule] }));
        await lacks(people, 'groups:read', 'PATCH', `/connectors/${id}`, { mappings: [rule] });
        const telling = await tenant.make('POST', '/connectors', connector({ enabled: false, mappings: [rule] }));
        await lacks(people, 'groups:read', 'POST', `/connectors/${telling['id']}/plan`);
      }
    });

    it('connectors: groups that the table of the tenant tells count too, but where a rule of the connector stands instead', async () => {
      const people = await machineWith(tenant, ['connectors:read', 'connectors:write', 'users:read']);
      const { id } = await people.make('POST', '/connectors', connector({ enabled: false }));
      await tenant.make('PUT', '/mappings/scim', { rules: [{ to: 'title', from: 'groups', join: ',' }] });
      await lacks(people, 'groups:read', 'POST', '/connectors', connector());
      await lacks(people, 'groups:read', 'PATCH', `/connectors/${id}`, { enabled: true });
      await lacks(people, 'groups:read', 'POST', `/connectors/${id}/plan`);
      const untold = { mappings: [{ to: 'title', from: 'title' }] };
      const { id: without } = await people.make('POST', '/connectors', connector({ ...untold, enabled: false }));
      await people.make('POST', `/connectors/${without}/plan`);
      await lacks(people, 'groups:read', 'PATCH', `/connectors/${without}`, { mappings: [] });
      await lacks(people, 'groups:read', 'PATCH', `/connectors/${id}`, untold);
      await tenant.make('PUT', '/mappings/scim', { rules: [] });
      await people.make('PATCH', `/connectors/${id}`, { rate: 5 });
    });

    it('webhooks: events:read, and users:read where a type tells of people; a new secret too', async () => {
      const alone = await machineWith(tenant, ['webhooks:write']);
      await lacks(alone, 'events:read', 'POST', '/webhooks', { url: url(), types: ['tenant.updated'] });
      const events = await machineWith(tenant, ['webhooks:write', 'events:read']);
      for (const types of [[], ['user.*'], ['tenant.updated', 'grant.created']])
        await lacks(events, 'users:read', 'POST', '/webhooks', { url: url(), types });
      const { id } = await events.make('POST', '/webhooks', { url: url(), types: ['tenant.updated'] });
      await lacks(alone, 'events:read', 'PATCH', `/webhooks/${id}`, { enabled: false });
      await lacks(alone, 'events:read', 'POST', `/webhooks/${id}/secret`);
      await events.make('POST', `/webhooks/${id}/secret`);
      await lacks(events, 'users:read', 'PATCH', `/webhooks/${id}`, { types: ['user.created'] });

      const { id: all } = await tenant.make('POST', '/webhooks', { url: url() });
      await lacks(events, 'users:read', 'PATCH', `/webhooks/${all}`, { url: url() });
      await lacks(events, 'users:read', 'PATCH', `/webhooks/${all}`, { types: ['tenant.updated'] });
      await lacks(events, 'users:read', 'POST', `/webhooks/${all}/secret`);
      assert.equal((await tenant.make('GET', `/webhooks/${all}`))['previous_secret_until'], null);
      const both = await machineWith(tenant, ['webhooks:write', 'events:read', 'users:read']);
      await both.make('PATCH', `/webhooks/${all}`, { url: url() });
      await both.make('POST', `/webhooks/${all}/secret`);
      await both.make('POST', '/webhooks', { url: url() });
      await alone.make('DELETE', `/webhooks/${id}`);
    });

    it('rules for people from other providers are of sign-in; those of every connector, and what rules give a person, of who may read that', async () => {
      const settings = await machineWith(tenant, ['settings:read', 'settings:write']);
      const inbound = { rules: [{ to: 'enterprise.department', value: 'Board', apply: 'always' }] };
      await lacks(settings, 'sign-in:write', 'PUT', '/mappings/inbound', inbound);
      const signIn = await machineWith(tenant, ['sign-in:read', 'sign-in:write']);
      await signIn.make('PUT', '/mappings/inbound', inbound);
      for (const reader of [settings, signIn]) assert.deepEqual(await reader.make('GET', '/mappings/inbound'), inbound);
      await signIn.make('PUT', '/mappings/inbound', { rules: [] });

      const [telling, naming] = [
        { to: 'nickName', from: 'display_name' },
        { to: 'title', from: 'groups', join: ',' },
      ];
      await lacks(settings, 'users:read', 'PUT', '/mappings/scim', { rules: [telling] });
      const people = await machineWith(tenant, ['settings:read', 'settings:write', 'users:read']);
      await people.make('PUT', '/mappings/scim', { rules: [telling] });
      await lacks(people, 'groups:read', 'PUT', '/mappings/scim', { rules: [naming] });
      await people.make('PUT', '/mappings/scim', { rules: [] });

      const user = await createTestUser(tenant, 'grouped@needs.example');
      const { id: group } = await tenant.make('POST', '/groups', { display_name: 'Secret project' });
      await tenant.make('POST', `/groups/${group}/members`, { user_id: user.id });
      const asked = { kind: 'oidc', user_id: user.id };
      await lacks(people, 'groups:read', 'POST', '/mappings/preview', {
        ...asked,
        rules: [{ to: 'of', from: 'groups', scope: 'profile' }],
      });
      const { items } = await people.make<{ items: readonly Json[] }>('POST', '/mappings/preview', asked);
      assert.deepEqual(items.find(({ to }) => to === 'groups')?.['values'], []);
      const groups = await machineWith(tenant, ['settings:read', 'users:read', 'groups:read']);
      const told = await groups.make<{ items: readonly Json[] }>('POST', '/mappings/preview', asked);
      assert.deepEqual(told.items.find(({ to }) => to === 'groups')?.['values'], ['Secret project']);
    });

    it('a preview of the rules of one thing: what reading that thing takes, beside reading settings and people', async () => {
      const own = (rule: Json): Json => ({ mappings: [{ to: 'department', value: 'kept-to-itself', ...rule }] });
      const user = await createTestUser(tenant, 'previewed@needs.example');
      const client = { name: 'Ruled', redirect_uris: ['https://ruled.example'], ...own({ scope: 'profile' }) };
      const provider = { name: 'Ruled', entity_id: 'https://ruled.example', acs: [{ url: 'https://ruled.example/acs' }], ...own({}) };
      const upstream = { alias: 'ruled', kind: 'oidc', name: 'Ruled', issuer: 'https://ruled.example', client_id: 'x' };
      const idOf = async (path: string, body: Json, name = 'id'): Promise<string> => String((await tenant.make('POST', path, body))[name]);
      for (const [kind, capability, target, of] of [
        ['oidc', 'clients:read', await idOf('/clients', client, 'client_id'), { user_id: user.id }],
        ['saml', 'service-providers:read', await idOf('/service-providers', provider), { user_id: user.id }],
        [
          'scim',
          'connectors:read',
          await idOf('/connectors', connector({ enabled: false, ...own({ to: 'title' }) })),
          { user_id: user.id },
        ],
        ['inbound', 'sign-in:read', await idOf('/identity-providers', { ...upstream, ...own({ to: 'title' }) }), { upstream: {} }],
      ] as const) {
        const asked = { kind, target, ...of };
        const all = ['clients:read', 'service-providers:read', 'connectors:read', 'sign-in:read'].filter((one) => one !== capability);
        const others = await machineWith(tenant, ['settings:read', 'users:read', 'groups:read', ...all]);
        await lacks(others, capability, 'POST', '/mappings/preview', asked);
        await lacks(others, capability, 'POST', '/mappings/preview', { ...asked, target: randomUUID() });
        const reader = await machineWith(tenant, ['settings:read', 'users:read', 'groups:read', capability]);
        assert.match(JSON.stringify(await reader.make('POST', '/mappings/preview', asked)), /kept-to-itself/);
        await others.make('POST', '/mappings/preview', { kind, ...of });
      }
    });

    it('attributes that people write themselves: users:write, before and after, since a NameID may be made of what they wrote', async () => {
      const settings = await machineWith(tenant, ['settings:read', 'settings:write']);
      const path = '/custom-attributes';
      await settings.make('POST', path, { name: 'staff_number', edit: 'admin' });
      await lacks(settings, 'users:write', 'POST', path, { name: 'nickname', edit: 'person' });
      await lacks(settings, 'users:write', 'PATCH', `${path}/staff_number`, { edit: 'person' });
      const users = await machineWith(tenant, ['settings:write', 'users:write']);
      await users.make('PATCH', `${path}/staff_number`, { edit: 'person' });
      await lacks(settings, 'users:write', 'PATCH', `${path}/staff_number`, { edit: 'admin' });
      await lacks(settings, 'users:write', 'DELETE', `${path}/staff_number`);
      await users.make('PATCH', `${path}/staff_number`, { edit: 'provisioning' });
      await settings.make('PATCH', `${path}/staff_number`, { label: 'Number' });
    });

    it('hooks: users:read; a new secret too', async () => {
      const hook = { point: 'token', url: url(), on_failure: 'continue' };
      const alone = await machineWith(tenant, ['sign-in:write']);
      await lacks(alone, 'users:read', 'POST', '/hooks', hook);
      const both = await machineWith(tenant, ['sign-in:write', 'users:read']);
      const { id } = await both.make('POST', '/hooks', hook);
      await lacks(alone, 'users:read', 'PATCH', `/hooks/${id}`, { enabled: false });
      await lacks(alone, 'users:read', 'POST', `/hooks/${id}/secret`);
      assert.equal((await tenant.make('GET', `/hooks/${id}`))['enabled'], true);
      await both.make('PATCH', `/hooks/${id}`, { enabled: false });
      await both.make('POST', `/hooks/${id}/secret`);
      await alone.make('DELETE', `/hooks/${id}`);
    });

    it('streams of security events: the capabilities of their receivers, to turn them on, off or away', async () => {
      const receiver = await makeReceiver(tenant);
      const stream = await receiver.makeStream();
      await receiver.setStatus(stream, 'paused');
      const alone = await machineWith(tenant, ['clients:read', 'clients:write']);
      const path = `/ssf-streams/${stream.stream_id}`;
      for (const status of ['enabled', 'paused', 'disabled']) await lacks(alone, 'ssf.read', 'POST', `${path}/status`, { status });
      await lacks(alone, 'ssf.read', 'DELETE', path);
      await lacks(await machineWith(tenant, ['clients:write', 'ssf.read']), 'ssf.manage', 'DELETE', path);
      assert.equal((await tenant.make('GET', path))['status'], 'paused');
      const both = await machineWith(tenant, ['clients:write', 'ssf.read', 'ssf.manage']);
      assert.equal((await both.make('POST', `${path}/status`, { status: 'enabled' }))['status'], 'enabled');
      await both.make('DELETE', path);
    });

    it('clients: the capabilities among their scopes, at creation, change, deletion and for a secret', async () => {
      const alone = await machineWith(tenant, ['clients:write', 'clients:read']);
      const strong = { name: 'Strong', grant_types: ['client_credentials'], scopes: ['users:read'] };
      await lacks(alone, 'users:read', 'POST', '/clients', strong);
      const { client_id: id } = await tenant.make('POST', '/clients', strong);
      await lacks(alone, 'users:read', 'PATCH', `/clients/${id}`, { scopes: [] });
      await lacks(alone, 'users:read', 'POST', `/clients/${id}/secret`);
      await lacks(alone, 'users:read', 'DELETE', `/clients/${id}`);
    });
  });
}

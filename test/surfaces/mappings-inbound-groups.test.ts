// Mapping rules that put people from other providers into groups (design 16, section 1): into groups that are the provider's own, made when a
// value names them first; at every sign-in, or when the account is made; and into nobody else's groups, whatever a claim says.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { callJson, createTestClient, type Json } from '../support/management.ts';
import { redirectUri } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { groupSchema, patchSchema } from '../support/scim.ts';
import { startUpstream } from '../support/upstream.ts';

type Group = Json & { readonly id: string };
const always = { to: 'groups', from: 'upstream.groups', only: { prefix: ['app-'] }, strip: 'app-', apply: 'always' };

for (const database of databases) {
  describe(`groups of people from other providers (${database})`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, upstream, register, begin, visit, finish } = world;
    const other = await startUpstream(server.clock.nowMs);
    let provider = '';
    let second = '';
    before(async () => {
      provider = (await register({ create_users: true, mappings: [always] })).id;
      const rules = [{ to: 'groups', from: 'upstream.groups', apply: 'always' }];
      second = (await register({ alias: 'second', name: 'Second', create_users: true, mappings: rules }, other)).id;
    });
    after(async () => {
      await upstream.close();
      await other.close();
      await server.close();
    });
    let people = 0;
    const newcomer = (): Json & { readonly sub: string; readonly email: string } => {
      people += 1;
      return { sub: `member-${people}`, email: `member${people}@acme.example`, email_verified: true };
    };
    const rules = (mappings: readonly Json[]): Promise<Json> => managed.make('PATCH', `/identity-providers/${provider}`, { mappings });
    /** Signs in there with these claims; gives the person's id here. */
    const come = async (claims: Json, at: 'acme' | 'second' = 'acme'): Promise<string> => {
      const visited = await begin();
      const answer = await visit(visited, claims as Parameters<typeof visit>[1], at === 'acme' ? upstream : other, at);
      assert.equal(answer.status, 200, await answer.text());
      return String((await finish(visited))['sub']);
    };
    const groups = async (): Promise<readonly Group[]> =>
      (await managed.make<{ items: readonly Group[] }>('GET', '/groups?limit=200')).items;
    const named = async (name: string): Promise<Group | undefined> =>
      (await groups()).find(({ display_name: displayName }) => displayName === name);
    const made = async (name: string): Promise<Group> => {
      const found = await named(name);
      assert.ok(found, `expected a group ${name}`);
      return found;
    };
    const membersOf = async (group: Group): Promise<readonly string[]> =>
      (await managed.make<{ items: readonly Json[] }>('GET', `/groups/${group.id}/members`)).items.map((item) => String(item['user_id']));
    /** The names of the groups a person is in. */
    const groupsOf = async (user: string): Promise<readonly string[]> => {
      const found = await Promise.all(
        (await groups()).map(async (group) => ((await membersOf(group)).includes(user) ? [String(group['display_name'])] : [])),
      );
      return found.flat().toSorted();
    };
    const scim = async (method: string, path: string, body?: Json): Promise<number> =>
      (await callJson(`${managed.baseUrl}/scim/v2${path}`, managed.token, method, body)).status;
    const events = async (query: string): Promise<readonly Json[]> =>
      (await managed.make<{ items: readonly Json[] }>('GET', `/events?${query}`)).items;

    it('a value nobody knows makes a group of the provider, with the person in it', async () => {
      const user = await come({ ...newcomer(), groups: ['app-dev', 'app-ops', 'staff'] });
      assert.deepEqual(await groupsOf(user), ['dev', 'ops']);
      const dev = await made('dev');
      assert.deepEqual([dev['origin'], dev['identity_provider_id'], dev['version']], ['identity_provider', provider, 2]);
      assert.equal(await named('staff'), undefined);
      const told = await events(`target=group:${dev.id}`);
      assert.deepEqual(told.map(({ type, actor, data }) => [type, actor, (data as Json | null)?.['user']]).toSorted(), [
        ['group.created', `provider:${provider}`, undefined],
        ['group.member_added', `provider:${provider}`, user],
      ]);
    });

    it('always follows at each sign-in, writes only what differs, and a claim that is absent ends all', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: ['app-dev', 'app-qa'] });
      const before = (await made('dev'))['version'];
      assert.equal(await come({ ...person, groups: ['app-DEV', 'app-new'] }), user);
      assert.deepEqual(await groupsOf(user), ['dev', 'new'], 'names compare folded');
      assert.equal((await made('dev'))['version'], before, 'who stays is not touched');
      assert.deepEqual(
        (await events(`type=group.member_removed&target=group:${(await made('qa')).id}`)).map(({ data }) => data),
        [{ user }],
      );
      await come(person);
      assert.deepEqual(await groupsOf(user), []);
      assert.deepEqual(await membersOf(await made('qa')), [], 'the group stays, without members');
    });

    it('create is for new accounts alone, and without a rule for groups memberships stay', async () => {
      await rules([{ to: 'groups', from: 'upstream.groups' }]);
      const person = newcomer();
      const user = await come({ ...person, groups: ['first'] });
      assert.deepEqual(await groupsOf(user), ['first']);
      await come({ ...person, groups: ['later'] });
      assert.deepEqual([await groupsOf(user), await named('later')], [['first'], undefined]);
      await rules([]);
      await come({ ...person, groups: ['later'] });
      assert.deepEqual(await groupsOf(user), ['first']);
      await rules([always]);
    });

    it('groups of the console and of SCIM, and of another provider, are never written, and an event says so', async () => {
      const ours = await managed.make<Group>('POST', '/groups', { display_name: 'Admins' });
      assert.equal(await scim('POST', '/Groups', { schemas: [groupSchema], displayName: 'Directory' }), 201);
      await come({ ...newcomer(), groups: ['Elsewhere'] }, 'second');
      const elsewhere = await made('Elsewhere');
      assert.equal(elsewhere['identity_provider_id'], second);
      const foreign = (): Promise<unknown> =>
        Promise.all(['Admins', 'Directory', 'Elsewhere'].map(async (name) => [await made(name), await membersOf(await made(name))]));
      const before = await foreign();
      const user = await come({ ...newcomer(), groups: ['app-admins', 'app-Directory', 'app-elsewhere', 'app-dev'] });
      assert.deepEqual(await groupsOf(user), ['dev']);
      assert.deepEqual(await foreign(), before);
      const told = (await events('type=mapping.group_withheld')).map(({ target, reason, data }) => [
        target,
        reason,
        (data as Json)['group'],
      ]);
      const target = `identity_provider:${provider}`;
      assert.deepEqual(told.toSorted(), [
        [target, 'group_of_others', 'Directory'],
        [target, 'group_of_others', 'admins'],
        [target, 'group_of_others', 'elsewhere'],
      ]);
      await come({ ...newcomer(), groups: ['app-admins'] });
      assert.equal((await events('type=mapping.group_withheld')).length, 3, 'once an hour');
      // Whoever is in a group of the console stays there, whatever the provider says.
      await managed.make('POST', `/groups/${ours.id}/members`, { user_id: user });
      assert.deepEqual(await groupsOf(user), ['Admins', 'dev']);
    });

    it('what each provider gives one person is its own', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: ['app-mine'] });
      assert.deepEqual(await groupsOf(user), ['mine']);
      const id = (await made('mine')).id;
      await come({ ...newcomer(), groups: ['theirs'] }, 'second');
      assert.deepEqual(await membersOf(await made('mine')), [user]);
      assert.equal((await made('mine')).id, id);
    });

    it('rules that would give too much give no group, and values that are no names are left out', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: ['app-dev'] });
      await come({ ...person, groups: [`app-${'x'.repeat(5000)}`, 'app-', 'app-ok', 'app-dev'] });
      assert.deepEqual(await groupsOf(user), ['dev', 'ok']);
      await come({ ...person, groups: Array.from({ length: 500 }, (_, at) => `app-a-group-of-some-length-${at}`) });
      assert.deepEqual(await groupsOf(user), []);
      const [told] = await events(`type=mapping.too_large&target=identity_provider:${provider}`);
      assert.deepEqual(told?.['data'], { to: 'groups', place: 'sign_in', bytes_max: 8192 });
      assert.equal(await named('a-group-of-some-length-1'), undefined);
    });

    it('people who come at once with one new name make one group', async () => {
      const users = await Promise.all([1, 2, 3, 4].map(() => come({ ...newcomer(), groups: ['app-crowded', 'app-dev'] })));
      assert.deepEqual((await membersOf(await made('crowded'))).toSorted(), users.toSorted());
      assert.equal((await events(`type=group.created&target=group:${(await made('crowded')).id}`)).length, 1);
    });

    it('two sign-ins of one person at once leave the groups of one of them', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: [] });
      const race = async (name: string): Promise<void> => void (await come({ ...person, groups: [`app-${name}`, 'app-both'] }));
      await Promise.all([race('race-a'), race('race-b')]);
      const left = await groupsOf(user);
      assert.ok(
        [
          ['both', 'race-a'],
          ['both', 'race-b'],
        ].some((one) => JSON.stringify(one) === JSON.stringify(left)),
        left.join(),
      );
    });

    const readOnly: readonly (readonly [
      string,
      'POST' | 'DELETE' | 'PATCH',
      (group: Group, user: string) => string,
      (user: string) => Json | undefined,
      string,
    ])[] = [
      ['a member added', 'POST', ({ id }) => `/groups/${id}/members`, (user) => ({ user_id: user }), 'origin'],
      ['a member taken out', 'DELETE', ({ id }, user) => `/groups/${id}/members/${user}`, () => undefined, 'origin'],
      ['another name', 'PATCH', ({ id }) => `/groups/${id}`, () => ({ display_name: 'renamed' }), 'display_name'],
    ];
    for (const [what, method, path, body, kind] of readOnly)
      it(`409 management.conflict: ${what}, in a group of a provider`, async () => {
        const user = await come({ ...newcomer(), groups: ['app-dev'] });
        const dev = await made('dev');
        const refused = await managed.call(method, path(dev, user), body(user));
        await assertRefusal(refused, 'management.conflict', { kind: kind as never, text: /^An identity provider manages this group/ });
        assert.deepEqual(await groupsOf(user), ['dev']);
        assert.deepEqual(await made('dev'), dev);
      });

    it('SCIM does not see a group of a provider, and cannot have its name', async () => {
      const dev = await made('dev');
      assert.equal(await scim('GET', `/Groups/${dev.id}`), 404);
      const members = { schemas: [patchSchema], Operations: [{ op: 'replace', path: 'members', value: [] }] };
      assert.equal(await scim('PATCH', `/Groups/${dev.id}`, members), 404);
      assert.equal(await scim('DELETE', `/Groups/${dev.id}`), 404);
      assert.equal(await scim('POST', '/Groups', { schemas: [groupSchema], displayName: 'DEV' }), 409);
    });

    it('a group of a provider opens an application, and no longer once the provider says so', async () => {
      const client = await createTestClient(managed, { access_policy: 'assigned', redirect_uris: [redirectUri], scopes: ['openid'] });
      const person = newcomer();
      await come({ ...person, groups: ['app-shop'] });
      await managed.make('POST', `/clients/${client.client_id}/assignments`, { group_id: (await made('shop')).id });
      const arrive = async (claims: Json): Promise<string> => {
        const at = await begin({ client_id: client.client_id, scope: 'openid' });
        assert.equal((await visit(at, claims as Parameters<typeof visit>[1])).status, 200);
        const { redirect_to: to } = await world.jsonOf(await world.post(at.browser, `${at.login}/finish`));
        return new URL(String(to)).searchParams.get('error') ?? 'code';
      };
      assert.equal(await arrive({ ...person, groups: ['app-shop'] }), 'code');
      assert.equal(await arrive(person), 'access_denied');
      assert.equal(await arrive({ ...person, groups: ['app-shop'] }), 'code');
      await managed.make('DELETE', `/groups/${(await made('shop')).id}`);
      assert.equal(await arrive({ ...person, groups: ['app-shop'] }), 'access_denied', 'made anew, without the assignment');
    });

    it('whoever is no longer linked is in none of the provider’s groups', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: ['app-dev'] });
      const { items } = await managed.make<{ items: readonly Group[] }>('GET', `/users/${user}/external-identities`);
      await managed.make('DELETE', `/users/${user}/external-identities/${items[0]!.id}`);
      assert.deepEqual(await groupsOf(user), []);
    });

    it('a preview shows the groups, and writes none', async () => {
      const body = { kind: 'inbound', target: provider, upstream: { groups: ['app-preview', 'staff'] } };
      const { items } = await managed.make<{ items: readonly Json[] }>('POST', '/mappings/preview', body);
      assert.deepEqual(items.at(-1), { to: 'groups', values: ['preview'], dropped: [{ value: 'staff', reason: 'prefix' }] });
      assert.equal(await named('preview'), undefined);
    });

    it('a provider that is deleted leaves its groups to the console, with members and assignments', async () => {
      const person = newcomer();
      const user = await come({ ...person, groups: ['left'] }, 'second');
      await managed.make('DELETE', `/identity-providers/${second}`);
      const left = await made('left');
      assert.deepEqual([left['origin'], left['identity_provider_id'], await membersOf(left)], ['console', null, [user]]);
      await managed.make('DELETE', `/groups/${left.id}/members/${user}`);
      assert.deepEqual(await membersOf(left), []);
    });
  });
}

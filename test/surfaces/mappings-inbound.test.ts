// Mapping rules for people from other providers (design 16, section 1, inbound): what OpenID and SAML providers say becomes attributes of
// new accounts, or of everybody at every sign-in; what is refused; and that nobody gets more than attributes by it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inboundTargets } from '../../src/domain/mappings/inbound-targets.ts';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { openSamlWorld } from '../support/external-saml.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

for (const database of databases) {
  describe(`mappings of people from OpenID providers (${database})`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, upstream, register, begin, post, jsonOf, visit, finish } = world;
    let provider = '';
    before(async () => {
      for (const attribute of [
        { name: 'cost_code' },
        { name: 'sites', list: true },
        { name: 'level', type: 'number' },
        { name: 'badge', unique: true },
      ])
        await managed.make('POST', '/custom-attributes', attribute);
      provider = (
        await register({ create_users: true, attribute_map: { department: 'enterprise.department', job: 'title', 'Job Title': 'title' } })
      ).id;
    });
    after(async () => {
      await upstream.close();
      await server.close();
    });
    const rules = (mappings: readonly Json[]): Promise<Json> => managed.make('PATCH', `/identity-providers/${provider}`, { mappings });
    const table = (own: readonly Json[]): Promise<Json> => managed.make('PUT', '/mappings/inbound', { rules: own });
    let people = 0;
    const newcomer = (claims: Json = {}): Json & { readonly sub: string; readonly email: string } => {
      people += 1;
      return { sub: `inbound-${people}`, email: `inbound${people}@acme.example`, email_verified: true, ...claims };
    };
    /** Signs in there with these claims; gives the person here. */
    const come = async (claims: Json): Promise<Json> => {
      const at = await begin();
      assert.equal((await visit(at, claims as Parameters<typeof visit>[1])).status, 200);
      const { sub } = await finish(at);
      return managed.make('GET', `/users/${String(sub)}`);
    };

    it('without rules a new account has names, and what attribute_map says, of two the last', async () => {
      const user = await come(newcomer({ given_name: 'Grace', department: 'Sales', job: 'Vendor', 'Job Title': 'Seller' }));
      assert.deepEqual(
        [(user['name'] as Json)['given_name'], (user['enterprise'] as Json)['department'], user['title']],
        ['Grace', 'Sales', 'Seller'],
      );
    });

    it('rules say what a new account has: values changed, lists, numbers, attributes of the tenant', async () => {
      await table([
        { to: 'title', from: 'upstream.roles', only: { prefix: ['acme-'] }, strip: 'acme-', values: { dev: 'Developer' }, first: true },
        { to: 'custom.cost_code', value: 'none' },
        { to: 'locale', value: null },
      ]);
      await rules([
        { to: 'custom.cost_code', template: '{upstream.company}-{upstream.unit}' },
        { to: 'custom.sites', from: 'upstream.sites' },
        { to: 'custom.level', from: 'upstream.level' },
      ]);
      const claims = { company: 'acme', unit: 7, sites: ['north', 'south'], level: '3', locale: 'de', job: undefined };
      const user = await come(newcomer({ ...claims, roles: ['other', 'acme-dev'] }));
      assert.deepEqual(user['custom'], { cost_code: 'acme-7', sites: ['north', 'south'], level: 3 });
      assert.deepEqual([user['title'], user['locale']], ['Developer', undefined]);
    });

    it('create is for new accounts alone; always writes at every sign-in, and only what differs', async () => {
      await table([]);
      await rules([
        { to: 'title', from: 'upstream.title' },
        { to: 'custom.cost_code', from: 'upstream.cost', apply: 'always' },
        { to: 'enterprise.department', from: 'upstream.department', case: 'upper', apply: 'always' },
      ]);
      const person = newcomer({ title: 'One', cost: 'c1', department: 'sales' });
      const first = await come(person);
      const again = await come({ ...person, title: 'Two', cost: 'c2', department: 'sales' });
      assert.deepEqual(
        [again['title'], again['custom'], (again['enterprise'] as Json)['department']],
        ['One', { cost_code: 'c2' }, 'SALES'],
      );
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/events?type=user.updated&target=user:${first['id']}`);
      assert.deepEqual(
        items.map(({ actor, data }) => [actor, (data as Json)['fields']]),
        [[`provider:${provider}`, ['custom']]],
      );
      const { cost: _cost, ...without } = person as Json;
      assert.deepEqual((await come(without))['custom'], { cost_code: 'c2' }, 'a claim that is missing changes nothing');
      const { items: since } = await managed.make<{ items: readonly Json[] }>(
        'GET',
        `/events?type=user.updated&target=user:${first['id']}`,
      );
      assert.equal(since.length, 1, 'what is the same is not written');
    });

    it('null takes away what the default table, and the standard claims, say', async () => {
      await table([{ to: 'custom.cost_code', value: 'everybody' }]);
      await rules([
        { to: 'custom.cost_code', value: null },
        { to: 'name.given_name', value: null },
      ]);
      const user = await come(newcomer({ given_name: 'Grace', family_name: 'Hopper' }));
      assert.deepEqual([user['custom'], user['name']], [undefined, { family_name: 'Hopper' }]);
      await table([]);
    });

    it('a value that is none of its attribute is left out', async () => {
      await rules([
        { to: 'custom.level', from: 'upstream.level' },
        { to: 'title', from: 'upstream.title' },
      ]);
      const user = await come(newcomer({ level: 'high', title: 'x'.repeat(10_000) }));
      assert.deepEqual([user['custom'], user['title']], [undefined, undefined]);
    });

    it('a value that must be one person’s and is another’s refuses the sign-in', async () => {
      await rules([{ to: 'custom.badge', from: 'upstream.badge' }]);
      await come(newcomer({ badge: 'b-1' }));
      const at = await begin();
      await assertRefusal(await visit(at, newcomer({ badge: 'b-1' }) as Parameters<typeof visit>[1]), 'login.external_refused');
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=external_login.failed&limit=1');
      assert.equal(items[0]!['reason'], 'value_taken');
    });

    it('the same once a newcomer has proven their email by its PIN', async () => {
      await rules([{ to: 'custom.badge', from: 'upstream.badge' }]);
      await come(newcomer({ badge: 'b-2' }));
      const second = newcomer({ badge: 'b-2', email_verified: false });
      const at = await begin();
      assert.equal((await jsonOf(await visit(at, second as Parameters<typeof visit>[1])))['state'], 'pin');
      const answer = await post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, second.email) });
      await assertRefusal(answer, 'login.external_refused');
    });

    it('a rule that would give too much gives nothing, the others do, and one event says so', async () => {
      await rules([
        { to: 'title', from: 'upstream.huge', template: `${'x'.repeat(100)}{value}`, join: ',' },
        { to: 'locale', from: 'upstream.locale' },
      ]);
      const user = await come(newcomer({ huge: Array.from({ length: 500 }, (_, at) => `v${at}`), locale: 'fr' }));
      assert.deepEqual([user['title'], user['locale']], [undefined, 'fr']);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=mapping.too_large');
      assert.deepEqual(
        items.map(({ target, data }) => [target, data]),
        [[`identity_provider:${provider}`, { to: 'title', place: 'sign_in', bytes_max: 8192 }]],
      );
    });

    it('nobody becomes more than a person: roles, names to sign in with and emails cannot be written', async () => {
      for (const to of ['roles', 'role', 'groups.id', 'emails', 'emails.primary', 'user_name', 'id', 'active', 'state']) {
        assert.ok(!inboundTargets.includes(to), to);
        const refused = await managed.call('PATCH', `/identity-providers/${provider}`, { mappings: [{ to, from: 'upstream.x' }] });
        await assertRefusal(refused, 'management.invalid_request', { kind: 'mappings', text: /cannot be written|claim of the protocol/ });
      }
      await rules([{ to: 'title', from: 'upstream.role', apply: 'always' }]);
      const user = await come(newcomer({ role: 'admin', roles: ['owner'], admin_roles: ['owner'] }));
      assert.deepEqual([user['title'], user['role']], ['admin', 'user']);
    });

    const mistakes: readonly (readonly [Json, RegExp])[] = [
      [{ to: 'title', from: 'department' }, /rule 1, from: "department" is not known; the nearest is "upstream\.department"/],
      [{ to: 'title', from: 'custom.cost_code' }, /the nearest is "upstream\.cost_code"/],
      [{ to: 'title', template: '{groups}' }, /rule 1, template: "groups" is not known; the nearest is "upstream\.groups"/],
      [{ to: 'titel', from: 'upstream.x' }, /rule 1, to: "titel" cannot be written; the nearest is "title"/],
      [{ to: 'sub', from: 'upstream.x' }, /"sub" is a claim of the protocol/],
      [{ to: 'custom.nobody', from: 'upstream.x' }, /"custom\.nobody" is no attribute of the tenant/],
      [{ to: 'title', from: 'upstream.x', apply: 'never' }, /must be one of create, always|apply/],
      [{ to: 'title', from: 'upstream.x', when: { group: 'Staff' } }, /group is not known before somebody is here/],
      [{ to: 'title', from: 'upstream.x', in: ['id_token'] }, /in: is no member of a rule here/],
    ];
    for (const [rule, text] of mistakes)
      it(`400 management.invalid_request for ${JSON.stringify(rule)}, at a provider, at the default table, in a preview`, async () => {
        const row = 'management.invalid_request';
        const path = `/identity-providers/${provider}`;
        await assertRefusal(await managed.call('PATCH', path, { mappings: [rule] }), row, { text, kind: /^mappings/ as never });
        await assertRefusal(await managed.call('PUT', '/mappings/inbound', { rules: [rule] }), row, { text, kind: /^rules/ as never });
        if (rule['apply'] === 'never') return;
        const preview = { kind: 'inbound', upstream: {}, rules: [rule] };
        await assertRefusal(await managed.call('POST', '/mappings/preview', preview), row, { kind: 'rules', text });
      });

    it('upstream paths are for identity providers alone', async () => {
      const refused = await managed.call('PUT', '/mappings/oidc', { rules: [{ to: 'x', from: 'upstream.department' }] });
      await assertRefusal(refused, 'management.invalid_request', {
        kind: 'rules',
        text: /"upstream\.department" is not known; the nearest/,
      });
    });

    it('a preview says what claims give and why values go, and reads nobody', async () => {
      await rules([{ to: 'custom.sites', from: 'upstream.groups', only: { prefix: ['site-'] }, strip: 'site-' }]);
      const body = { kind: 'inbound', target: provider, upstream: { given_name: 'Ada', groups: ['site-a', 'staff'] } };
      const { items } = await managed.make<{ items: readonly Json[] }>('POST', '/mappings/preview', body);
      assert.deepEqual(
        items.filter(({ values, dropped }) => (values as unknown[]).length > 0 || dropped !== undefined),
        [
          { to: 'name.given_name', values: ['Ada'] },
          { to: 'custom.sites', values: ['a'], dropped: [{ value: 'staff', reason: 'prefix' }] },
        ],
      );
      const tried = { ...body, rules: [{ to: 'title', from: 'upstream.given_name', case: 'upper' }] };
      const last = (await managed.make<{ items: readonly Json[] }>('POST', '/mappings/preview', tried)).items.at(-1);
      assert.deepEqual(last, { to: 'title', values: ['ADA'] });
      const row = 'management.invalid_request';
      const asked = (more: Json): Promise<Response> => managed.call('POST', '/mappings/preview', { kind: 'inbound', ...more });
      await assertRefusal(await asked({}), row, { kind: 'upstream', text: 'This field is required for inbound.' });
      await assertRefusal(await asked({ upstream: {}, user_id: 'x' }), row, { kind: 'user_id', text: /not for inbound/ });
      await assertRefusal(await managed.call('POST', '/mappings/preview', { kind: 'oidc' }), row, { kind: 'user_id', text: /required/ });
      await assertRefusal(await managed.call('POST', '/mappings/preview', { kind: 'oidc', user_id: 'x', upstream: {} }), row, {
        kind: 'upstream',
        text: /for inbound/,
      });
      await assertRefusal(await asked({ upstream: {}, target: 'nobody' }), 'management.not_found');
    });
  });

  describe(`mappings of people from SAML providers (${database})`, async () => {
    const world = await openSamlWorld(database);
    const { server, managed, registerSaml, begin, come, finish } = world;
    after(() => server.close());

    it('attributes by their whole names, with one value or several, at every sign-in', async () => {
      await managed.make('POST', '/custom-attributes', { name: 'sites', list: true });
      const department = 'http://schemas.example/claims/department';
      const provider = await registerSaml({
        create_users: true,
        mappings: [
          { to: 'enterprise.department', from: `upstream.${department}`, apply: 'always' },
          { to: 'custom.sites', from: 'upstream.sites', case: 'lower' },
        ],
      });
      assert.equal((provider['mappings'] as unknown[]).length, 2);
      const attribute = (name: string, ...values: readonly string[]): string =>
        `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`;
      const arrive = async (attributes: string): Promise<Json> => {
        const at = await begin();
        assert.equal((await come(at, { nameId: 'ada-in', email: 'ada.in@corp.example', attributes })).status, 200);
        return managed.make('GET', `/users/${String((await finish(at))['sub'])}`);
      };
      const made = await arrive(attribute(department, 'Sales') + attribute('sites', 'North', 'South') + attribute('givenName', 'Ada'));
      assert.deepEqual(
        [(made['enterprise'] as Json)['department'], made['custom'], (made['name'] as Json)['given_name']],
        ['Sales', { sites: ['north', 'south'] }, 'Ada'],
      );
      const again = await arrive(attribute(department, 'Research') + attribute('sites', 'East'));
      assert.deepEqual([(again['enterprise'] as Json)['department'], again['custom']], ['Research', { sites: ['north', 'south'] }]);
    });
  });
}

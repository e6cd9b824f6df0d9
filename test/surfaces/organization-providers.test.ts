// Providers of customers (design 19): each counts for the addresses of its customer's proven domains, fulfils what that customer asks of
// sign-ins and nobody else's, and is shown on no other page.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import type { Visit } from '../support/external.ts';
import type { TestUser } from '../support/fixtures.ts';
import { callJson, type Json, jsonOf as json } from '../support/management.ts';
import { openOrganizationWorld, verified } from '../support/organization-world.ts';
import { assertRefusal } from '../support/refusal.ts';
import { userSchema } from '../support/scim.ts';

const aliasesIn = (json: Json): readonly string[] => ((json['providers'] ?? []) as readonly Json[]).map(({ alias }) => String(alias));
const unknownAlias = { kind: 'alias', text: /./ } as const;

for (const database of databases)
  describe(`providers of customers on ${database}`, async () => {
    const world = await openOrganizationWorld(database);
    const { server, acme, globex, manage, rules, reset, person, join, organizationsOf, ask, at, now, step, byPin, there, finish, claims } =
      world;
    const { post, links } = world;
    after(() => world.close());
    beforeEach(async () => {
      await reset();
      await server.clock.advance(61_000);
    });
    const errorOf = (redirect: URL): string | null => redirect.searchParams.get('error');
    const silently = async ({ browser }: Visit, changes: Readonly<Record<string, string>>): Promise<URL> =>
      new URL((await ask(browser, { prompt: 'none', ...changes })).headers.get('location') ?? '');

    it('no page shows the provider of another customer, and naming it there is as naming one that nobody has', async () => {
      const shown = { acme: ['shared', 'acme'], globex: ['shared', 'globex'], none: ['shared'] };
      for (const [organization, aliases] of Object.entries(shown)) {
        const visit = await at(organization === 'none' ? {} : { organization });
        assert.deepEqual(aliasesIn(await now(visit)), aliases, organization);
        const others = ['acme', 'globex'].filter((alias) => !aliases.includes(alias));
        const page = await (await visit.browser.send(visit.login, { headers: { accept: 'text/html' } })).text();
        for (const alias of aliases) assert.match(page, new RegExp(`id="idp-${alias}"`));
        const bodies = new Set<string>();
        for (const alias of [...others, 'nobody']) {
          assert.doesNotMatch(page, new RegExp(`idp-${alias}`));
          bodies.add(
            await assertRefusal(await post(visit.browser, `${visit.login}/external`, { alias }), 'login.invalid_request', unknownAlias),
          );
        }
        assert.equal(bodies.size, 1);
      }
    });

    it('where people come by its own providers nothing else is offered or taken, whoever it is', async () => {
      await rules(acme, { sign_in: 'own_providers' });
      const ada = await person('acme.example');
      await join(acme, ada);
      const answers = new Set<string>();
      for (const identifier of [ada.email, 'nobody@acme.example', 'nobody@elsewhere.example']) {
        const visit = await at({ organization: 'acme' });
        const before = await now(visit);
        assert.deepEqual([before['methods'], aliasesIn(before)], [[], ['acme']]);
        const { redirect_to: to, ...answer } = await step(visit, 'identify', { identifier });
        assert.equal(new URL(String(to)).origin, world.upstream.origin);
        answers.add(JSON.stringify(answer));
        for (const method of ['email_pin', 'passkey', 'phone'])
          await assertRefusal(await post(visit.browser, `${visit.login}/method`, { method }), 'login.invalid_request', {
            kind: 'method',
            text: /./,
          });
        await assertRefusal(await post(visit.browser, `${visit.login}/recovery`, { code: 'AAAA-AAAA-AA' }), 'login.conflict');
        await assertRefusal(await post(visit.browser, `${visit.login}/passkey`, { response: '{}' }), 'login.invalid_request', {
          kind: 'response',
          text: /./,
        });
        await assertRefusal(
          await post(visit.browser, `${visit.login}/external`, { alias: 'shared' }),
          'login.invalid_request',
          unknownAlias,
        );
        const page = await (await visit.browser.send(visit.login, { headers: { accept: 'text/html' } })).text();
        assert.match(page, /id="idp-acme"/);
        assert.doesNotMatch(page, /use-email|use-phone|use-passkey|lost-phone|class="alert"/);
      }
      assert.deepEqual([...answers], [JSON.stringify({ state: 'choose', methods: [] })]);
      const elsewhere = await at();
      await rules(acme, { sign_in: 'any' });
      await byPin(elsewhere, ada);
      await rules(acme, { sign_in: 'own_providers' });
      assert.ok((await finish(elsewhere)).searchParams.has('code'));
      // The session is not by its provider: it is asked to come by that, and is not taken without asking.
      assert.equal(errorOf(await silently(elsewhere, { organization: 'acme' })), 'login_required');
      const again = await at({ organization: 'acme' }, elsewhere.browser);
      const asked = await now(again);
      assert.deepEqual([asked['state'], asked['methods'], aliasesIn(asked)], ['choose', [], ['acme']]);
      const done = await there(again, 'acme', verified(ada.email));
      assert.equal(done.status, 200, await done.text());
      await byPin(again, ada); // the account is proven once, and linked
      assert.equal((await claims(await finish(again)))['org_name'], 'acme');
      const linked = await at({ organization: 'acme' });
      await there(linked, 'acme', verified(ada.email));
      assert.equal((await claims(await finish(linked)))['org_name'], 'acme');
      // That session is.
      assert.ok((await silently(linked, { organization: 'acme' })).searchParams.has('code'));
    });

    it('addresses of no domain of the customer make no account and link none: another customer’s, nobody’s, none', async () => {
      const theirs = await person('globex.example');
      const plain = await person();
      const refusals = new Set<string>();
      for (const email of [theirs.email, plain.email, 'new@globex.example', 'new@elsewhere.example', 'new@sub.acme.example', undefined])
        for (const changes of [{ organization: 'acme' }, {}]) {
          const visit = await at(changes);
          const isHere = 'organization' in changes;
          if (!isHere) await step(visit, 'identify', { identifier: 'somebody@acme.example' }); // its domain leads there
          const response = await there(visit, 'acme', email === undefined ? { sub: 'mallory' } : verified(email, 'mallory'));
          refusals.add(await assertRefusal(response, 'login.external_refused'));
        }
      assert.equal(refusals.size, 1);
      assert.deepEqual(
        (await links()).filter(({ subject }) => subject === 'mallory'),
        [],
      );
      const { items } = await manage('GET', '/users?search=new@');
      assert.deepEqual(items, []);
      // Of its own it makes one.
      const made = await at({ organization: 'acme' });
      assert.equal((await there(made, 'acme', verified('new@acme.example'))).status, 200);
      assert.equal(errorOf(await finish(made)), 'access_denied', 'who may come is not who belongs');
    });

    it('its word is enough for whom its customer’s own directory made and nobody else has; everybody else proves the account first', async () => {
      const { token } = await manage('POST', `/organizations/${acme.id}/scim-tokens`, { name: 'directory', expires_in_days: null });
      let made = 0;
      const provisioned = async (domain = 'acme.example'): Promise<TestUser> => {
        made += 1;
        const email = `provisioned-${made}@${domain}`;
        const at = `${world.tenant.baseUrl}/v1/scim/organizations/${acme.id}/Users`;
        const body = { schemas: [userSchema], userName: email, emails: [{ value: email, primary: true }] };
        const { id } = await json<{ id: UserId }>(await callJson(at, String(token), 'POST', body), 201);
        return { id, email };
      };
      const come = async ({ email }: TestUser, alias = 'acme', said: Json = {}): Promise<Json> => {
        const visit = await at(alias === 'acme' ? { organization: 'acme' } : {});
        const response = await there(visit, alias, { ...verified(email), ...said });
        const answer = (await response.json()) as Json;
        return answer['state'] === 'approved' ? claims(await finish(visit)) : answer;
      };
      await rules(acme, { sign_in: 'own_providers' });
      const plain = await provisioned();
      const said = await come(plain);
      assert.deepEqual([said['sub'], said['org_name']], [plain.id, 'acme']);
      const proof = { state: 'choose', methods: ['email_pin'] };
      const unverified = await provisioned();
      assert.deepEqual(await come(unverified, 'acme', { email_verified: false }), { state: 'pin' });
      const byOthers = await provisioned();
      assert.deepEqual(await come(byOthers, 'shared'), proof, 'the word of a provider of everybody');
      const elsewhere = await provisioned();
      await join(globex, elsewhere);
      assert.deepEqual(await come(elsewhere), proof, 'another customer has them too');
      const byHand = await person('acme.example');
      await join(acme, byHand);
      assert.deepEqual(await come(byHand), proof, 'made by the tenant');
      const administrator = await provisioned();
      await manage('PATCH', `/users/${administrator.id}`, { role: 'admin' });
      assert.deepEqual(await come(administrator), proof, 'an administrator');
      const left = await provisioned();
      await manage('DELETE', `/organizations/${acme.id}/members/${left.id}`);
      assert.deepEqual(await come(left), proof, 'who is no member any more');
      const foreign = await provisioned('elsewhere.example');
      assert.equal((await come(foreign))['state'], undefined, 'an address that is not the customer’s');
      const events = await manage('GET', '/events?type=external_identity.linked&limit=200');
      const linked = (events['items'] as readonly Json[]).map(({ data }) => (data as Json)['user']);
      for (const { id } of [unverified, byOthers, elsewhere, byHand, administrator, left, foreign]) assert.ok(!linked.includes(id));
      assert.ok(linked.includes(plain.id));
    });

    it('whoever comes by it joins where the customer says so, with the roles it gives; roles of members stay', async () => {
      await rules(acme, { join: ['provider'], default_roles: ['approver'], sign_in: 'own_providers' });
      const visit = await at({ organization: 'acme' });
      await there(visit, 'acme', verified('joins@acme.example'));
      const said = await claims(await finish(visit));
      assert.deepEqual([said['org_name'], said['org_roles']], ['acme', ['approver']]);
      const id = String(said['sub']);
      await manage('PUT', `/organizations/${acme.id}/members/${id}`, { roles: [] });
      // At home, without the organisation in the request: the only one they are in.
      const again = await at({ scope: 'openid organization' });
      assert.match(String((await step(again, 'identify', { identifier: 'joins@acme.example' }))['redirect_to']), /^http/);
      await there(again, 'acme', verified('joins@acme.example'));
      assert.deepEqual((await claims(await finish(again)))['org_roles'], []);
      const { items } = await manage('GET', `/events?type=organization.member_added&target=organization:${acme.id}`);
      const added = (items as readonly Json[]).find(({ data }) => (data as Json)['user'] === id);
      assert.match(String(added?.['actor']), /^provider:/);
      assert.deepEqual(added?.['data'], { user: id, roles: ['approver'] });
    });

    it('its rules say roles: those of who joins, or those of every sign-in whatever was given by hand; names of no role give nothing', async () => {
      const { items } = await manage('GET', '/identity-providers?search=acme');
      const path = `/identity-providers/${String((items as readonly Json[]).find(({ alias }) => alias === 'acme')!['id'])}`;
      await manage('POST', '/organization-roles', { name: 'viewer', scopes: [] });
      const rule = { to: 'org.roles', from: 'upstream.groups', values: { buyers: 'approver', lookers: 'viewer', rest: 'nobody-made-it' } };
      const signIn = async (groups: unknown): Promise<Json> => {
        const visit = await at({ organization: 'acme' });
        await there(visit, 'acme', { ...verified('ruled@acme.example'), groups });
        return claims(await finish(visit));
      };
      await rules(acme, { join: ['provider'], default_roles: [] });
      await manage('PATCH', path, { mappings: [rule] });
      const first = await signIn(['buyers', 'rest', 'other']);
      assert.deepEqual(first['org_roles'], ['approver']);
      const member = `/organizations/${acme.id}/members/${String(first['sub'])}`;
      await manage('PUT', member, { roles: ['viewer'] });
      assert.deepEqual((await signIn(['buyers']))['org_roles'], ['viewer'], 'without apply it is for who joins');
      await manage('PATCH', path, { mappings: [{ ...rule, apply: 'always' }] });
      assert.deepEqual((await signIn(['buyers', 'lookers']))['org_roles'], ['approver', 'viewer']);
      await rules(acme, { default_roles: ['viewer'] });
      for (const groups of [['rest'], undefined, 7]) assert.deepEqual((await signIn(groups))['org_roles'], ['viewer']);
      // It says nothing of roles elsewhere.
      await join(globex, { id: String(first['sub']) }, ['approver']);
      await signIn([]);
      assert.deepEqual(await organizationsOf({ id: String(first['sub']) }), [
        ['acme', ['viewer']],
        ['globex', ['approver']],
      ]);
      await manage('PATCH', path, { mappings: [] });
    });

    it('an address joins where its domain is the customer’s and it is proven in this sign-in, and only then', async () => {
      await rules(acme, { join: ['domain'] });
      const ada = await person('acme.example');
      const bob = await person('elsewhere.example');
      for (const [user, organizations] of [
        [ada, [['acme', []]]],
        [bob, []],
      ] as const) {
        const visit = await at();
        await byPin(visit, user);
        await finish(visit);
        assert.deepEqual(await organizationsOf(user), organizations);
      }
      // By a provider whose word on addresses is taken, and not by one of another customer.
      const shared = await at({ organization: 'acme' });
      await there(shared, 'shared', verified('grace@acme.example'));
      assert.equal((await claims(await finish(shared)))['org_name'], 'acme');
      await rules(globex, { join: ['provider'] });
      const eve = await at({ organization: 'globex' });
      await there(eve, 'globex', verified('eve@globex.example', 'eve'));
      const { sub } = await claims(await finish(eve));
      const asAcme = await at({ organization: 'globex' });
      await there(asAcme, 'globex', verified('eve@acme.example', 'eve')); // linked, and now says an address of acme
      await finish(asAcme);
      assert.deepEqual(await organizationsOf({ id: String(sub) }), [['globex', []]]);
      // A word that is not taken proves nothing: the address is proven by PIN first.
      const { items } = await manage('GET', '/identity-providers?search=shared');
      const path = `/identity-providers/${String((items as readonly Json[])[0]!['id'])}`;
      await manage('PATCH', path, { trust_email: false });
      const carl = await person('acme.example');
      const unproven = await at();
      const answer = await there(unproven, 'shared', verified(carl.email, 'carl'));
      assert.deepEqual(await answer.json(), { state: 'pin' });
      assert.deepEqual(await organizationsOf(carl), []);
      await manage('PATCH', path, { trust_email: true });
    });

    it('a domain of a customer leads to its provider, beside the other ways, or alone where people come by its own', async () => {
      for (const sign_in of ['any', 'own_providers']) {
        await rules(acme, { sign_in });
        for (const changes of [{}, { organization: 'globex' }]) {
          const visit = await at(changes);
          const answer = await step(visit, 'identify', { identifier: 'anybody@acme.example' });
          assert.equal(new URL(String(answer['redirect_to'])).origin, world.upstream.origin);
          const isAlone = sign_in === 'own_providers' && !('organization' in changes);
          assert.deepEqual(answer['methods'], isAlone ? ['passkey'] : ['phone', 'passkey', 'email_pin']);
          assert.ok(aliasesIn(await now(visit)).includes('acme'), 'the way is found again');
          assert.match(await (await visit.browser.send(visit.login, { headers: { accept: 'text/html' } })).text(), /id="idp-acme"/);
        }
      }
      await rules(globex, { sign_in: 'own_providers' });
      const visit = await at({ organization: 'globex' });
      const { redirect_to: to } = await step(visit, 'identify', { identifier: 'anybody@acme.example' });
      assert.equal(new URL(String(to)).origin, world.theirs.origin);
      await rules(acme, { enabled: false });
      const closed = await at();
      assert.equal((await step(closed, 'identify', { identifier: 'anybody@acme.example' }))['redirect_to'], undefined);
    });

    it('it lifts nobody for another customer, nor for none: what it says of strength counts for its own alone', async () => {
      const { items } = await manage('GET', '/identity-providers?search=acme');
      const provider = (items as readonly Json[]).find(({ alias }) => alias === 'acme')!;
      await manage('PATCH', `/identity-providers/${String(provider['id'])}`, { acr_map: { gold: 'phr' } });
      await rules(acme, { join: ['provider'], acr_min: 'phr' });
      const strong = { ...verified('strong@acme.example'), acr: 'gold' };
      const visit = await at({ organization: 'acme' });
      assert.deepEqual(await (await there(visit, 'acme', strong)).json(), { state: 'approved' });
      const said = await claims(await finish(visit));
      assert.deepEqual([said['org_name'], said['acr']], ['acme', 'phr']);
      await manage('PUT', `/organizations/${globex.id}/members/${String(said['sub'])}`, {});
      // By the session: for its own as it is, for none as any other provider's, for another not enough.
      assert.equal((await claims(await silently(visit, { organization: 'acme' })))['acr'], 'phr');
      assert.equal((await claims(await silently(visit, {})))['acr'], 'fed');
      assert.equal(errorOf(await silently(visit, { acr_values: 'otp' })), 'interaction_required');
      assert.ok((await silently(visit, { organization: 'globex' })).searchParams.has('code'));
      await rules(globex, { acr_min: 'otp' });
      assert.equal(errorOf(await silently(visit, { organization: 'globex' })), 'interaction_required');
      await rules(globex, { acr_min: null, sign_in: 'own_providers' });
      assert.equal(errorOf(await silently(visit, { organization: 'globex' })), 'login_required');
      // By a fresh sign-in: the same.
      const none = await at({ acr_values: 'otp' });
      await step(none, 'identify', { identifier: 'strong@acme.example' });
      assert.equal(((await (await there(none, 'acme', strong)).json()) as Json)['state'], 'choose');
      await manage('PATCH', `/identity-providers/${String(provider['id'])}`, { acr_map: {} });
    });
  });

// Providers of customers (design 19): each counts for the addresses of its customer's proven domains, fulfils what that customer asks of
// sign-ins and nobody else's, and is shown on no other page.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { RequestOptions } from '../support/authenticator.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import type { Visit } from '../support/external.ts';
import type { Json } from '../support/management.ts';
import { challenge, decodeJwt, exchange, postAs, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { openOrganizationWorld, verified } from '../support/organization-world.ts';
import { givePasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';

const aliasesIn = (json: Json): readonly string[] => ((json['providers'] ?? []) as readonly Json[]).map(({ alias }) => String(alias));
const unknownAlias = { kind: 'alias', text: /./ } as const;

for (const database of databases)
  describe(`providers of customers on ${database}`, async () => {
    const world = await openOrganizationWorld(database);
    const { server, acme, globex, manage, rules, reset, person, join, organizationsOf, ask, at, now, step, byPin, there, finish, claims } =
      world;
    const { post, links, tokens } = world;
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

    it('what a customer asks for at least is met or proven besides, in a fresh sign-in and by the session', async () => {
      const ada = await person('acme.example');
      await join(acme, ada);
      const visit = await at({ organization: 'acme' });
      await there(visit, 'acme', verified(ada.email));
      await byPin(visit, ada);
      assert.ok((await finish(visit)).searchParams.has('code'));
      const linked = await at({ organization: 'acme' });
      assert.deepEqual(await (await there(linked, 'acme', verified(ada.email))).json(), { state: 'approved' });
      assert.ok((await finish(linked)).searchParams.has('code'));
      await rules(acme, { acr_min: 'otp', sign_in: 'own_providers' });
      const raised = await at({ organization: 'acme' });
      assert.equal(((await (await there(raised, 'acme', verified(ada.email))).json()) as Json)['state'], 'choose');
      assert.deepEqual((await now(raised))['methods'], ['phone', 'passkey', 'email_pin']);
      await byPin(raised, ada);
      const said = await claims(await finish(raised));
      assert.deepEqual([said['org_name'], said['acr'], said['sub']], ['acme', 'otp', ada.id]);
      await rules(acme, { acr_min: 'phone', sign_in: 'any' });
      assert.deepEqual((await now(await at({ organization: 'acme' })))['methods'], ['phone', 'passkey']);
      assert.equal(errorOf(await silently(raised, { organization: 'acme' })), 'interaction_required');
      assert.ok((await silently(raised, {})).searchParams.has('code'));
    });

    it('an organisation that is chosen is judged too: the same person goes on, nothing is finished before, and nobody else in their place', async () => {
      const scope = 'openid organization orders:approve';
      const chosen = async () => {
        const ada = await person('acme.example');
        await join(acme, ada, ['approver']);
        await join(globex, ada);
        const visit = await at({ scope });
        await rules(acme, { sign_in: 'any' });
        await byPin(visit, ada);
        assert.equal((await now(visit))['state'], 'organization');
        await rules(acme, { sign_in: 'own_providers' });
        await step(visit, 'organization', { organization: 'acme' });
        return { ada, visit };
      };
      const { ada, visit } = await chosen();
      await assertRefusal(await post(visit.browser, `${visit.login}/finish`), 'login.conflict');
      const raised = await now(visit);
      assert.deepEqual([raised['state'], raised['methods'], aliasesIn(raised)], ['choose', [], ['acme']]);
      const refused = await post(visit.browser, `${visit.login}/method`, { method: 'email_pin' });
      await assertRefusal(refused, 'login.invalid_request', { kind: 'method', text: /./ });
      await there(visit, 'acme', verified(ada.email));
      await byPin(visit, ada); // it is linked by that
      const said = await tokens(await finish(visit));
      assert.match(said.scope ?? '', /orders:approve/);
      const other = (await chosen()).visit;
      await now(other);
      await there(other, 'acme', verified('mallory@acme.example'));
      assert.equal(errorOf(await finish(other)), 'login_required');
      // Where its provider is away nobody gets in.
      const { items } = await manage('GET', '/identity-providers?search=acme');
      const path = `/identity-providers/${String((items as readonly Json[]).find(({ alias }) => alias === 'acme')!['id'])}`;
      await manage('PATCH', path, { enabled: false });
      const late = (await chosen()).visit;
      assert.equal((await now(late))['state'], 'approved');
      assert.equal(errorOf(await finish(late)), 'access_denied');
      await manage('PATCH', path, { enabled: true });
    });

    it('so is the only one somebody is in, in a sign-in and by the session', async () => {
      const scope = 'openid organization';
      const bob = await person();
      await join(acme, bob);
      const visit = await at({ scope });
      await byPin(visit, bob);
      await rules(acme, { acr_min: 'phone' });
      const raised = await now(visit);
      assert.deepEqual([raised['state'], raised['methods']], ['choose', ['phone', 'passkey']]);
      await assertRefusal(await post(visit.browser, `${visit.login}/finish`), 'login.conflict');
      await rules(acme, { acr_min: null });
      const next = await at({ scope });
      await byPin(next, bob);
      assert.equal((await claims(await finish(next)))['org_name'], 'acme');
      assert.ok((await silently(next, { scope })).searchParams.has('code'));
      await rules(acme, { acr_min: 'phone' });
      assert.equal(errorOf(await silently(next, { scope })), 'interaction_required');
      assert.deepEqual((await now(await at({ scope }, next.browser)))['methods'], ['phone', 'passkey']);
      await rules(acme, { acr_min: null, sign_in: 'own_providers' });
      assert.equal(errorOf(await silently(next, { scope })), 'login_required');
      const asked = await now(await at({ scope }, next.browser));
      assert.deepEqual([asked['methods'], aliasesIn(asked)], [[], ['acme']]);
    });

    it('an organisation beside a pushed request that names another is refused as an unknown client is, whichever asks for more', async () => {
      await rules(acme, { sign_in: 'own_providers', acr_min: 'phr' });
      const bodies = new Set<string>();
      const push = async (organization: string): Promise<string> => {
        const form = {
          ...{ response_type: 'code', client_id: world.client.clientId, redirect_uri: redirectUri, scope: 'openid', organization },
          ...{ code_challenge: challenge, code_challenge_method: 'S256' },
        };
        const answer = (await (await postAs(world.tenant, world.client, 'par', form)).json()) as Json;
        return String(answer['request_uri']);
      };
      for (const [pushed, beside] of [
        ['acme', 'globex'],
        ['acme', globex.id],
        ['globex', 'acme'],
        ['globex', 'nobody'],
      ] as const)
        bodies.add(
          await assertRefusal(
            await ask(openBrowser(), { request_uri: await push(pushed), organization: beside }),
            'authorize.unauthorized',
          ),
        );
      bodies.add(await assertRefusal(await ask(openBrowser(), { client_id: 'nobody' }), 'authorize.unauthorized'));
      assert.equal(bodies.size, 1);
      const visit = await at({ request_uri: await push('acme') });
      assert.deepEqual(aliasesIn(await now(visit)), ['acme']);
    });

    it('who proves themselves by a passkey has proven no address, and joins nothing by its domain', async () => {
      await rules(acme, { join: ['domain'] });
      const ada = await person('acme.example');
      const passkey = await givePasskey(server, world.tenant, ada);
      const visit = await at();
      await step(visit, 'identify', { identifier: ada.email });
      const { options } = await step(visit, 'method', { method: 'passkey' });
      await step(visit, 'passkey', { response: JSON.stringify(passkey.sign(options as RequestOptions)) });
      await finish(visit);
      assert.deepEqual(await organizationsOf(ada), []);
      // Who has joined once and was removed comes back by the domain, while the customer says so.
      const bob = await person('acme.example');
      for (let twice = 0; twice < 2; twice += 1) {
        const by = await at();
        await byPin(by, bob);
        await finish(by);
        assert.deepEqual(await organizationsOf(bob), [['acme', []]]);
        await manage('DELETE', `/organizations/${acme.id}/members/${bob.id}`).catch(() => undefined);
      }
      await rules(acme, { enabled: false });
      const closed = await at();
      await byPin(closed, bob);
      await finish(closed);
      assert.deepEqual(await organizationsOf(bob), []);
    });

    it('the pages of a sign-in for a customer have its name, picture and colour; those for another and for none do not', async () => {
      const logo = 'a'.repeat(64);
      await rules(acme, { branding: { name: 'Acme <b>Works</b>', accent: '#0a5c36' } });
      const page = async (changes: Readonly<Record<string, string>>): Promise<string> => {
        const { browser, login } = await at(changes);
        return (await browser.send(login, { headers: { accept: 'text/html' } })).text();
      };
      const own = await page({ organization: 'acme' });
      assert.match(own, /--accent:#0a5c36/);
      assert.match(own, /<span class="brand">Acme &#60;b&#62;Works&#60;\/b&#62;<\/span>/);
      await rules(acme, { branding: { logo } });
      assert.match(await page({ organization: 'acme' }), new RegExp(`<img class="logo" src="[^"]*/assets/${logo}"`));
      for (const changes of [{ organization: 'globex' }, {}]) assert.doesNotMatch(await page(changes), /Works|#0a5c36|class="logo"/);
    });

    it('a role taken away while a code is redeemed: roles and scopes of a token are of one moment, and no refresh gives them back', async () => {
      const ada = await person();
      for (let round = 0; round < 4; round += 1) {
        await join(acme, ada, ['approver']);
        const visit = await at({ organization: 'acme' }, openBrowser());
        await byPin(visit, ada);
        const code = (await finish(visit)).searchParams.get('code') ?? '';
        const [response] = await Promise.all([exchange(world.tenant, world.client, code), join(acme, ada, [])]);
        const got = await tokensOf(response);
        const { org_roles: roles, scope } = decodeJwt(got.access_token).claims;
        const hadRole = (roles as readonly string[]).includes('approver');
        assert.equal(String(scope).includes('orders:approve'), hadRole);
        const next = await tokensOf(await refresh(world.tenant, world.client, got.refresh_token));
        const claimsOfNext = decodeJwt(next.access_token).claims;
        assert.deepEqual(claimsOfNext['org_roles'], []);
        assert.doesNotMatch(String(claimsOfNext['scope']), /orders:approve/);
      }
    });
  });

// Service providers of one customer (design 19): whoever signs in there signs in for their organisation, by its rules, from the provider's
// request and from our side; and what attributes say of it. On both databases.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { readDeclarations } from '../../src/administration/declaration/reader.ts';
import { openSession, reconcile } from '../../src/administration/declaration/reconcile.ts';
import { openBrowser, type TestBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import type { Visit } from '../support/external.ts';
import { createTestTenant, type Json, jsonOf } from '../support/management.ts';
import { openOrganizationWorld, verified } from '../support/organization-world.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { assertDelivered } from '../support/saml-idp.ts';
import { buildAuthnRequest, buildRedirectQuery } from '../support/saml-requests.ts';

const aliasesIn = (json: Json): readonly string[] => ((json['providers'] ?? []) as readonly Json[]).map(({ alias }) => String(alias));
/** The attributes of an assertion with their values. */
const attributesIn = (xml: string): Json =>
  Object.fromEntries(
    [...xml.matchAll(/<saml:Attribute ([^>]*)>(.*?)<\/saml:Attribute>/g)].map(([, head = '', body = '']) => [
      /(?:^| )Name="([^"]*)"/.exec(head)?.[1] ?? '',
      [...body.matchAll(/<saml:AttributeValue[^>]*>([^<]*)</g)].map(([, value = '']) => value),
    ]),
  );

const told = [
  { to: 'org', from: 'org.id' },
  { to: 'company', from: 'org.name' },
  { to: 'role', from: 'org.roles' },
  { to: 'approves', value: 'yes', when: { path: 'org.roles', equals: 'approver' } },
];

for (const database of databases)
  describe(`SAML for organisations on ${database}`, async () => {
    const world = await openOrganizationWorld(database);
    const { server, managed, tenant, acme, globex, manage, rules, reset, person, join, now, step, byPin, there } = world;
    const ssoUrl = `${tenant.baseUrl}/v1/idp/saml/sso`;
    after(() => world.close());
    beforeEach(async () => {
      await reset();
      await server.clock.advance(61_000);
    });
    let made = 0;
    const provider = (fields: Json = {}): Promise<Json> => {
      made += 1;
      const own = { entity_id: `https://sp${made}.example`, acs: [{ url: `https://sp${made}.example/acs` }] };
      return manage('POST', '/service-providers', { ...own, attribute_map: {}, mappings: told, ...fields });
    };
    const change = (to: Json, fields: Json): Promise<Json> => manage('PATCH', `/service-providers/${String(to['id'])}`, fields);
    const ask = ({ entity_id: issuer }: Json, browser: TestBrowser = openBrowser(), attributes = ''): Promise<Response> => {
      made += 1;
      const issueInstant = new Date(server.clock.nowMs()).toISOString();
      const xml = buildAuthnRequest({ id: `_r${made}`, issuer: String(issuer), destination: ssoUrl, issueInstant, attributes });
      return browser.send(`${ssoUrl}?${buildRedirectQuery(xml)}`);
    };
    const opened = async (response: Response, browser: TestBrowser): Promise<Visit> => {
      const { login_url: login } = (await jsonOf(response, 200)) as { login_url: string };
      return { browser, login };
    };
    const at = async (to: Json, browser = openBrowser()): Promise<Visit> => opened(await ask(to, browser), browser);
    /** Where a finished sign-in leads: the post-back. */
    const back = async (visit: Visit): Promise<string> => String((await step(visit, 'finish'))['redirect_to']);
    const delivered = async (visit: Visit): Promise<Json> =>
      attributesIn((await assertDelivered(await visit.browser.send(await back(visit)))).xml);
    const eventsOf = async (type: string): Promise<readonly Json[]> =>
      (await manage('GET', `/events?type=${type}&limit=5`))['items'] as readonly Json[];

    it('a member signs in there for the organisation, and attributes say it; by a request and from our side', async () => {
      const to = await provider({ organization: acme.id, idp_initiated_allowed: true });
      assert.equal(to['organization'], acme.id);
      const ada = await person();
      await join(acme, ada, ['approver']);
      await join(globex, ada);
      const visit = await at(to);
      await byPin(visit, ada);
      const said = { org: [acme.id], company: ['acme'], role: ['approver'], approves: ['yes'] };
      assert.deepEqual(await delivered(visit), said);
      const [finished] = await eventsOf('login.finished');
      assert.equal((finished!['data'] as Json)['organization'], acme.id);
      const browser = openBrowser();
      const started = await opened(await browser.send(`${ssoUrl}?sp=${encodeURIComponent(String(to['entity_id']))}`), browser);
      await byPin(started, ada);
      assert.deepEqual(await delivered(started), said);
    });

    it('without an organisation these attributes are not there, for whoever is in one too', async () => {
      const to = await provider({ attribute_map: { 'org.name': 'named' } });
      assert.equal(to['organization'], null);
      const ada = await person();
      await join(acme, ada, ['approver']);
      const visit = await at(to);
      await byPin(visit, ada);
      assert.deepEqual(await delivered(visit), {});
      await change(to, { organization: acme.id, mappings: [] });
      const bound = await at(to);
      await byPin(bound, ada);
      assert.deepEqual(await delivered(bound), { named: ['acme'] });
    });

    it('a mapping of the tenant names them too, and the preview shows them', async () => {
      const to = await provider({ organization: acme.id, mappings: [] });
      const ada = await person();
      await join(acme, ada, ['approver']);
      const asked = { kind: 'saml', target: to['id'], user_id: ada.id, rules: told };
      const { items } = await manage('POST', '/mappings/preview', asked);
      assert.deepEqual(
        (items as readonly Json[]).map(({ to: name, values }) => [name, values]),
        [
          ['org', [acme.id]],
          ['company', ['acme']],
          ['role', ['approver']],
          ['approves', ['yes']],
        ],
      );
      for (const [kind, attribute] of [
        ['oidc', 'company'],
        ['scim', 'title'],
        ['inbound', 'title'],
      ]) {
        const response = await managed.call('PUT', `/mappings/${kind}`, { rules: [{ to: attribute, from: 'org.name' }] });
        assert.match(JSON.stringify(await jsonOf(response, 400)), /is not known/, kind);
      }
    });

    it('who is no member, is suspended there or left meanwhile gets no answer, and the provider none but a refusal', async () => {
      const to = await provider({ organization: acme.id });
      const eve = await person();
      await join(globex, eve);
      const visit = await at(to);
      await byPin(visit, eve);
      await assertRefusal(await visit.browser.send(await back(visit)), 'saml.invalid_grant');
      const [refused] = await eventsOf('login.refused');
      assert.equal(refused?.['reason'], 'not_a_member');
      const ada = await person();
      await join(acme, ada);
      const left = await at(to);
      await byPin(left, ada);
      const answer = await back(left);
      await manage('DELETE', `/organizations/${acme.id}/members/${ada.id}`);
      await assertRefusal(await left.browser.send(answer), 'saml.invalid_grant');
    });

    it('its rules hold: its own providers alone, at least so strong, its brand; sessions are judged by them', async () => {
      const to = await provider({ organization: acme.id });
      const ada = await person('acme.example');
      await join(acme, ada, ['approver']);
      const anywhere = await provider({ mappings: [] });
      const early = await at(anywhere);
      await byPin(early, ada);
      await delivered(early);
      await rules(acme, { sign_in: 'own_providers', branding: { name: 'The Acme Works' } });
      const passive = await ask(to, early.browser, ' IsPassive="true"');
      await assertRefusal(passive, 'saml.invalid_request');
      const visit = await at(to, early.browser);
      const shown = await now(visit);
      assert.deepEqual([shown['methods'], aliasesIn(shown)], [[], ['acme']]);
      const page = await visit.browser.send(visit.login, { headers: { accept: 'text/html' } });
      assert.match(await page.text(), /The Acme Works/);
      const mine = await at(to);
      await there(mine, 'acme', verified(ada.email));
      await rules(acme, { sign_in: 'any' }); // the link is proven by a code once
      await byPin(mine, ada);
      assert.deepEqual((await delivered(mine))['role'], ['approver']);
      await rules(acme, { sign_in: 'own_providers' });
      const own = await at(to);
      await there(own, 'acme', verified(ada.email));
      assert.deepEqual((await delivered(own))['company'], ['acme']);
      await rules(acme, { sign_in: 'any', acr_min: 'phone' });
      assert.deepEqual((await now(await at(to)))['methods'], ['phone', 'passkey']);
      assert.deepEqual(aliasesIn(await now(await at(anywhere))), ['shared']);
    });

    it('a session of this browser answers for the organisation, and no sooner than it meets its rules', async () => {
      const to = await provider({ organization: acme.id });
      const ada = await person();
      await join(acme, ada);
      const first = await at(to);
      await byPin(first, ada);
      await delivered(first);
      const again = await at(to, first.browser);
      assert.equal((await now(again))['state'], 'approved');
      assert.deepEqual((await delivered(again))['company'], ['acme']);
      const silent = await ask(to, first.browser, ' IsPassive="true"');
      assert.equal(silent.status, 200, await silent.text());
      await rules(acme, { acr_min: 'phr' });
      await assertRefusal(await ask(to, first.browser, ' IsPassive="true"'), 'saml.invalid_request');
    });

    it('whoever comes by its provider joins there', async () => {
      await rules(acme, { join: ['provider'], default_roles: ['approver'] });
      const to = await provider({ organization: acme.id });
      const visit = await at(to);
      await there(visit, 'acme', verified('newcomer@acme.example'));
      assert.deepEqual(await delivered(visit), { org: [acme.id], company: ['acme'], role: ['approver'], approves: ['yes'] });
    });

    it('a disabled organisation looks like an unknown provider, before and at the post-back', async () => {
      const to = await provider({ organization: acme.id, idp_initiated_allowed: true });
      const ada = await person();
      await join(acme, ada);
      const visit = await at(to);
      await byPin(visit, ada);
      const answer = await back(visit);
      await rules(acme, { enabled: false });
      const unknown = await (await ask({ entity_id: 'https://nobody.example' })).text();
      const withoutId = (text: string): string => text.replaceAll(/"(?:request_id|reference|trace_id)":"[^"]*"/g, '');
      const disabled = await ask(to);
      assert.equal(withoutId(await disabled.clone().text()), withoutId(unknown));
      await assertRefusal(disabled, 'saml.unauthorized');
      await assertRefusal(await openBrowser().send(`${ssoUrl}?sp=${encodeURIComponent(String(to['entity_id']))}`), 'saml.unauthorized');
      await assertRefusal(await visit.browser.send(answer), 'saml.invalid_grant');
    });

    it('a sign-in for one organisation, or for none, answers for no other', async () => {
      const to = await provider();
      const ada = await person();
      await join(acme, ada);
      await join(globex, ada);
      for (const [before, then] of [
        [null, acme.id],
        [acme.id, globex.id],
        [globex.id, null],
      ]) {
        await change(to, { organization: before });
        const visit = await at(to);
        await byPin(visit, ada);
        const answer = await back(visit);
        await change(to, { organization: then });
        await assertRefusal(await visit.browser.send(answer), 'saml.unauthorized');
      }
    });

    it('an assignment of the organisation admits its members, and one of another does not', async () => {
      const to = await provider({ organization: acme.id, access_policy: 'assigned' });
      const ada = await person();
      await join(acme, ada);
      await join(globex, ada);
      const assign = (id: string): Promise<Json> =>
        manage('POST', `/service-providers/${String(to['id'])}/assignments`, { organization_id: id });
      await assign(globex.id);
      const outside = await at(to);
      await byPin(outside, ada);
      await assertRefusal(await outside.browser.send(await back(outside)), 'saml.unauthorized');
      await assign(acme.id);
      const inside = await at(to);
      await byPin(inside, ada);
      assert.deepEqual((await delivered(inside))['company'], ['acme']);
    });

    it('the field is the id of one that is there, by whoever says how people sign in', async () => {
      const to = await provider();
      const at = `/service-providers/${String(to['id'])}`;
      const elsewhere = '0199a2b4-77aa-7bcd-8e9f-0a1b2c3d4e5f';
      for (const organization of ['acme', '', 1, true, [acme.id], {}, elsewhere, `${acme.id} `, acme.id.toUpperCase(), 'é'.repeat(36)])
        for (const response of [
          await managed.call('PATCH', at, { organization }),
          await managed.call('POST', '/service-providers', {
            entity_id: 'https://x.example',
            acs: [{ url: 'https://x.example/' }],
            organization,
          }),
        ])
          assert.match(String((await jsonOf(response, 400))['kind']), /^organization/, JSON.stringify(organization));
      const few = ['service-providers:read', 'service-providers:write', 'organizations:read'];
      const machine = await machineWith(managed, few);
      assert.equal((await machine.call('PATCH', at, { organization: acme.id })).status, 403);
      const blind = await machineWith(managed, ['service-providers:read', 'service-providers:write', 'sign-in:write']);
      assert.equal((await blind.call('PATCH', at, { organization: acme.id })).status, 403);
      const whole = await machineWith(managed, [...few, 'sign-in:read', 'sign-in:write']);
      assert.equal((await whole.call('PATCH', at, { organization: acme.id })).status, 200);
      for (const [method, body] of [
        ['PATCH', { organization: null }],
        ['PATCH', { organization: globex.id }],
        ['DELETE', undefined],
      ] as const)
        assert.equal((await machine.call(method, at, body)).status, 403, `${method} ${JSON.stringify(body)}`);
      assert.equal((await machine.call('PATCH', at, { name: 'Another' })).status, 200);
      assert.equal((await whole.call('PATCH', at, { organization: null })).status, 200);
      assert.equal((await machine.call('DELETE', at)).status, 204);
    });

    it('an organisation that service providers are bound to stays', async () => {
      const own = (await manage('POST', '/organizations', { name: 'bound' })) as Json & { readonly id: string };
      const to = await provider({ organization: own.id });
      const response = await managed.call('DELETE', `/organizations/${own.id}`);
      assert.equal(response.status, 409, await response.text());
      await manage('DELETE', `/service-providers/${String(to['id'])}`);
      assert.equal((await managed.call('DELETE', `/organizations/${own.id}`)).status, 204);
    });

    it('documents say it by name, before what is bound to it, and elsewhere it is that of the name', async () => {
      const { services } = server.gatehouse;
      const to = await provider({ organization: acme.id });
      const session = await openSession(services, tenant, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(session, { withSecrets: false, asJson: false })) text += part;
      const sectionOf = (name: string): string => new RegExp(`^${name}:\\n(?: .*\\n)*`, 'm').exec(text)?.[0] ?? '';
      assert.ok(text.indexOf('\norganizations:') < text.indexOf('\nservice_providers:'));
      const providers = sectionOf('service_providers');
      assert.match(providers, /organization: acme\n/);
      const other = await createTestTenant(server, { slug: 'other' });
      const lines = (document: string): readonly string[] => `gatehouse: 1\n${document}`.split('\n');
      const apply = (document: string) => applyDocument(services, other.slug, lines(document));
      const prune = async (document: string) => {
        const theirs = await openSession(services, (await services.tenants.bySlug(other.slug))!, { actor: 'operator' });
        return reconcile(theirs, readDeclarations(lines(document)), { write: true, prune: true });
      };
      const organizations = 'organizations:\n  - name: acme\n';
      for (let twice = 0; twice < 2; twice += 1) await apply(`${organizations}${providers}`);
      const { items } = await other.make<{ items: readonly Json[] }>('GET', `/service-providers?search=${String(to['entity_id'])}`);
      const theirs = (await other.make<{ items: readonly Json[] }>('GET', '/organizations')).items[0]!;
      assert.deepEqual(
        items.map(({ organization }) => organization),
        [theirs['id']],
      );
      const bound = `  - entity_id: https://one.example\n    acs: [{ url: https://one.example/acs }]\n    organization:`;
      await assert.rejects(
        apply(`service_providers:\n${bound} nobody\n`),
        /service_providers\[0\]\.organization: expected the name of an organisation/,
      );
      await assert.rejects(apply(`service_providers:\n${bound} [acme]\n`), /organization/);
      await assert.rejects(prune('organizations:\n  - name: another\n'), /a service provider is bound to/);
      await prune(
        `organizations:\n  - name: another\nservice_providers:\n  - entity_id: https://another.example\n    acs: [{ url: https://another.example/acs }]\n`,
      );
      const kept = (await other.make<{ items: readonly Json[] }>('GET', '/organizations')).items;
      assert.deepEqual(
        kept.map(({ name }) => name),
        ['another'],
      );
    });

    it('of a binding and a deletion at the same time, one comes too late', async () => {
      for (let round = 0; round < 6; round += 1) {
        const own = (await manage('POST', '/organizations', { name: `raced-${round}` })) as Json & { readonly id: string };
        const to = await provider();
        const [bound, gone] = await Promise.all([
          managed.call('PATCH', `/service-providers/${String(to['id'])}`, { organization: own.id }),
          managed.call('DELETE', `/organizations/${own.id}`),
        ]);
        const statuses = [bound.status, gone.status].join();
        assert.ok(['200,409', '400,204'].includes(statuses), statuses);
      }
    });
  });

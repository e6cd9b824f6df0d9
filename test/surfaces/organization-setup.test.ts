// Set-up links (design 19): somebody without an account connects a customer's own provider, tries it by a real sign-in, proves the domain,
// asks for it alone, and makes a token for SCIM; and nothing else is reached by the link.
import assert from 'node:assert/strict';
import { type KeyObject, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { organizationSetupBodyBytesMax, setupLinkSeconds, setupLinksPerOrganizationMax } from '../../src/contract/organization-limits.ts';
import { textOf, withoutRequest } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { openApp } from '../support/first-party-app.ts';
import { createTestTenant, createTestUser, type Json, jsonOf } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { machineWith } from '../support/roles.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { buildResponse, idpEntityId, idpMetadata, readAsked, signElement } from '../support/saml-upstream.ts';
import { openSetupWorld } from '../support/setup-world.ts';
import { startUpstream } from '../support/upstream.ts';

for (const database of databases)
  describe(`setting organisations up on ${database}`, async () => {
    const world = await openSetupWorld(database);
    const { server, tenant, dns, upstream, begin, post: send, visit, base } = world;
    const { organization, linkFor, tokenOf, open, opened, page, act, acts, connect, goToTry, trial } = world;
    const organizationOf = (id: string): Promise<Json> => tenant.make('GET', `/organizations/${id}`);
    const providersOf = async (id: string): Promise<readonly Json[]> => {
      const aliases = (await organizationOf(id))['identity_providers'] as readonly string[];
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?limit=200');
      return items.filter(({ alias }) => aliases.includes(String(alias)));
    };

    before(async () => {
      await tenant.make('POST', '/organization-roles', { name: 'manager', manage: true });
    });
    after(world.close);

    it('the whole way by the link alone, until a person of the customer signs in by it', async () => {
      const id = await organization({ display_name: 'Acme Ltd' });
      const browser = await opened(id);
      assert.match(await page(browser), /Set up Acme Ltd[\s\S]*Nothing is connected yet/);
      await acts(browser, '/domains', { domain: 'ACME.example' });
      const [proof] = (await organizationOf(id))['domain_proofs'] as readonly { name: string; value: string }[];
      assert.ok(proof && (await page(browser)).includes(proof.name));
      dns.records.set(proof.name, [proof.value]);
      await acts(browser, '/domains/check');
      assert.match(await page(browser), /acme\.example <span class="muted">proven</);
      await connect(browser);
      assert.match(await page(browser), /It is off\. Try it first/);
      assert.equal((await act(browser, '/provider/on')).status, 409);
      assert.equal((await act(browser, '/rule', { rule: 'own_providers' })).status, 409);
      assert.match(
        await textOf(await trial(browser, { sub: 'it', email: 'it@acme.example', email_verified: true }), 200),
        /you signed in as it@acme\.example/,
      );
      const [provider] = await providersOf(id);
      assert.deepEqual(
        [provider?.['enabled'], provider?.['acr_map'], provider?.['trust_email'], provider?.['create_users']],
        [false, {}, true, true],
      );
      const { items: nobody } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=it@acme.example');
      assert.deepEqual(nobody, []);
      await acts(browser, '/provider/on');
      await acts(browser, '/rule', { rule: 'own_providers' });
      assert.equal((await organizationOf(id))['sign_in'], 'own_providers');
      // The only way in is neither turned off nor made another.
      for (const [path, fields] of Object.entries({ '/provider/off': {}, '/provider': { kind: 'saml', metadata: '<x/>' } }))
        assert.match(await textOf(await act(browser, path, fields), 409), /sign in by this alone/, path);
      const shown = await textOf(await act(browser, '/tokens', { name: 'Entra ID' }), 200);
      const token = /id="token">([^<]+)</.exec(shown)?.[1];
      const scim = await fetch(`${tenant.baseUrl}/v1/scim/organizations/${id}/Users`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(scim.status, 200);
      assert.ok(!(await page(browser)).includes(String(token)));
      // People of the domain are sent there, and come in.
      const at = await begin({ organization: id });
      const identified = await send(at.browser, `${at.login}/identify`, { identifier: 'grace@acme.example' });
      assert.equal(identified.status, 200);
      const alias = String(provider?.['alias']);
      const back = await visit(at, { sub: 'grace', email: 'grace@acme.example', email_verified: true }, upstream, alias);
      assert.ok(back.status < 400, await back.text());
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=grace@acme.example');
      assert.equal(items.length, 1);
      const { items: events } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${id}&limit=200`);
      const byLink = events.filter(({ actor }) => String(actor).startsWith('setup_link:')).map(({ type }) => type);
      assert.ok(byLink.includes('organization.setup_link_used') && byLink.includes('organization.updated'));
    });

    it('a provider that is changed is off until it is tried again, and what an administrator said of its acr is gone', async () => {
      const id = await organization();
      const browser = await opened(id);
      await connect(browser);
      assert.match(
        await textOf(await trial(browser, { sub: 'it', email: 'it@other.example', email_verified: true }), 200),
        /only people of a proven domain/,
      );
      await acts(browser, '/provider/on');
      const [before] = await providersOf(id);
      const raised = await tenant.make('PATCH', `/identity-providers/${String(before?.['id'])}`, { acr_map: { gold: 'phone' } });
      assert.deepEqual(raised['acr_map'], { gold: 'phone' });
      const second = await startUpstream(server.clock.nowMs);
      await connect(browser, second);
      const [after_] = await providersOf(id);
      assert.deepEqual([after_?.['enabled'], after_?.['acr_map'], after_?.['issuer']], [false, {}, second.issuer]);
      assert.equal((await act(browser, '/provider/on')).status, 409);
      await second.close();
    });

    it('by SAML: our metadata is there as soon as theirs was pasted, and only an answer that stands turns it on', async () => {
      const id = await organization({ domains: ['saml.example'] });
      const browser = await opened(id);
      await acts(browser, '/provider', { kind: 'saml', metadata: await idpMetadata() });
      const [provider] = await providersOf(id);
      assert.deepEqual([provider?.['kind'], provider?.['enabled'], provider?.['trust_email']], ['saml', false, true]);
      const entityId = /<dd class="mono">([^<]+\/metadata)</.exec(await page(browser))![1]!;
      assert.match(await textOf(await fetch(entityId), 200), new RegExp(`entityID="${entityId}"`));
      const answered = async (email: string, element: 'Assertion' | undefined): Promise<Response> => {
        const asked = readAsked(await goToTry(browser));
        const response = buildResponse(asked, server.clock.nowMs(), { nameId: 'it', email });
        const xml = element === undefined ? response : signElement(response, element);
        const fields = { SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: asked.relayState };
        // The post comes from another site, without a cookie.
        const kept = await fetch(asked.acsUrl, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) });
        assert.equal(kept.status, 303, await kept.text());
        return browser.send(String(kept.headers.get('location')));
      };
      assert.equal((await answered('it@saml.example', undefined)).status, 400);
      assert.equal((await act(browser, '/provider/on')).status, 409);
      assert.match(await textOf(await answered('it@saml.example', 'Assertion'), 200), /only people of a proven domain/);
      await acts(browser, '/provider/on');
      assert.equal((await providersOf(id))[0]?.['enabled'], true);
      // Changed to OpenID Connect it is another provider, which nobody tried, and our metadata is gone.
      await connect(browser);
      assert.deepEqual(
        [(await providersOf(id)).map(({ kind, enabled }) => [kind, enabled]), (await fetch(entityId)).status],
        [[['oidc', false]], 404],
      );
      assert.equal((await act(browser, '/provider/on')).status, 409);
      await acts(browser, '/provider', {
        kind: 'saml',
        metadata: (await idpMetadata()).replaceAll(idpEntityId, 'https://other.example/saml'),
      });
      assert.equal((await answered('it@saml.example', 'Assertion')).status, 400);
      assert.equal((await act(browser, '/provider/on')).status, 409);
    });

    it('whoever sets one up as the SAML provider of another customer, with a key of their own, is nobody there', async () => {
      const [id, otherId] = [await organization({ domains: ['victim.example'] }), await organization({ domains: ['attacker.example'] })];
      const forged = rsaKeys('another-saml-upstream');
      const bare = async (keys: typeof forged): Promise<string> => (await certificatePem(keys)).replace(/-.*-\n|\n/g, '');
      const theirs = await idpMetadata();
      const ours = theirs.replace(/(?<=X509Certificate>)[^<]+/, await bare(forged));
      assert.notEqual(ours, theirs);
      /** Somebody there at the organisation's page, as its provider says by an assertion with the key. */
      const arrive = async (organizationId: string, person: Json, key?: KeyObject): Promise<Response> => {
        const at = await begin({ organization: organizationId });
        const asked = readAsked(await world.leave(at, String((await providersOf(organizationId))[0]?.['alias'])));
        const xml = signElement(buildResponse(asked, server.clock.nowMs(), person), 'Assertion', key === undefined ? {} : { key });
        const body = new URLSearchParams({ SAMLResponse: Buffer.from(xml).toString('base64'), RelayState: asked.relayState });
        const kept = await fetch(asked.acsUrl, { method: 'POST', redirect: 'manual', body });
        return at.browser.send(String(kept.headers.get('location')));
      };
      for (const [organizationId, metadata] of [
        [id, theirs],
        [otherId, ours],
      ] as const) {
        await acts(await opened(organizationId), '/provider', { kind: 'saml', metadata });
        for (const { name, value } of (await organizationOf(organizationId))['domain_proofs'] as readonly { name: string; value: string }[])
          dns.records.set(name, [value]);
        await tenant.make('POST', `/organizations/${organizationId}/check-domains`);
        const [provider] = await providersOf(organizationId);
        await tenant.make('PATCH', `/identity-providers/${String(provider?.['id'])}`, { enabled: true });
      }
      const victim = { nameId: 'victim', email: 'victim@victim.example' };
      assert.deepEqual(await jsonOf(await arrive(id, victim), 200), { state: 'approved' });
      const refusals = new Set<string>();
      for (const person of [victim, { nameId: 'victim', email: undefined }, { nameId: 'other', email: victim.email }])
        refusals.add(await assertRefusal(await arrive(otherId, person, forged.privateKey), 'login.external_refused'));
      // At the provider it claims to be its key is worth nothing, and theirs is worth nothing at its own.
      refusals.add(await assertRefusal(await arrive(id, victim, forged.privateKey), 'login.external_refused'));
      refusals.add(await assertRefusal(await arrive(otherId, victim), 'login.external_refused'));
      assert.equal(refusals.size, 1);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=victim@victim.example');
      const { items: links } = await tenant.make<{ items: readonly Json[] }>(
        'GET',
        `/users/${String(items[0]?.['id'])}/external-identities`,
      );
      assert.equal(links.length, 1);
    });

    it('what is of another organisation is as what nobody has, byte for byte: by a link, and by whoever manages one', async () => {
      const [id, otherId] = [await organization(), await organization()];
      const token = await tenant.make('POST', `/organizations/${otherId}/scim-tokens`, { name: 'theirs', expires_in_days: null });
      const forms = {
        '/domains': { domain: 'x.example' },
        '/domains/remove': { domain: 'x.example' },
        '/domains/check': {},
        '/provider': { kind: 'oidc', issuer: upstream.issuer, client_id: 'x' },
        '/provider/try': {},
        '/provider/on': {},
        '/provider/off': {},
        '/rule': { rule: 'own_providers' },
        '/tokens': { name: 'mine' },
      };
      const browser = await opened(id);
      const byLink = async (path: string): Promise<string> => withoutRequest(await textOf(await act(browser, path), 404));
      const nothing = await byLink(`/tokens/${randomUUID()}/revoke`);
      for (const unknown of [String(token['id']), 'x', encodeURIComponent(`${String(token['id'])}' OR '1`)])
        assert.equal(await byLink(`/tokens/${unknown}/revoke`), nothing, unknown);
      const email = `manager-${id}@x.example`;
      const user = await createTestUser(tenant, email);
      await tenant.make('PUT', `/organizations/${id}/members/${user.id}`, { roles: ['manager'] });
      await tenant.make('PUT', `/organizations/${otherId}/members/${user.id}`, { roles: [] }); // a member there, who manages nothing
      const { visitor } = await openApp(server, 'account', tenant, email);
      const foreign = await createTestTenant(server);
      const strangers = String((await foreign.make('POST', '/organizations', { name: 'strangers' }))['id']);
      const answer = async (response: Response): Promise<string> => withoutRequest(await textOf(response, 404));
      const unknown = await answer(await visitor.page(`/organizations/${randomUUID()}/setup`));
      for (const organizationId of [otherId, strangers, randomUUID(), 'x']) {
        const at = `/organizations/${organizationId}/setup`;
        for (const path of ['', '/return?state=x&answer=y'])
          assert.equal(await answer(await visitor.page(`${at}${path}`)), unknown, at + path);
        for (const [path, fields] of Object.entries({ ...forms, [`/tokens/${String(token['id'])}/revoke`]: {} }))
          assert.equal(await answer(await visitor.submit(`${at}${path}`, fields)), unknown, at + path);
      }
      const own = `/organizations/${id}/setup/tokens`;
      assert.equal(
        await answer(await visitor.submit(`${own}/${String(token['id'])}/revoke`, {})),
        await answer(await visitor.submit(`${own}/${randomUUID()}/revoke`, {})),
      );
      // Nothing came of any of it.
      const after_ = await organizationOf(otherId);
      assert.deepEqual([after_['domains'], after_['identity_providers'], after_['sign_in']], [[], [], 'any']);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${otherId}/scim-tokens`);
      assert.deepEqual(
        items.map((one) => one['id']),
        [token['id']],
      );
    });

    it('a sign-in that fails there turns nothing on; an answer of another browser or another organisation counts for nothing', async () => {
      const [id, otherId] = [await organization(), await organization()];
      const [browser, other] = [await opened(id), await opened(otherId)];
      await connect(browser);
      await connect(other);
      const there = await goToTry(browser);
      const kept = await browser.send(upstream.signIn(there, { sub: 'x', email: 'x@x.example' }).href);
      const back = String(kept.headers.get('location'));
      assert.equal((await other.send(back)).status, 400);
      assert.equal((await openBrowser().send(back)).status, 404);
      assert.equal((await act(browser, '/provider/on')).status, 409);
      assert.equal((await act(other, '/provider/on')).status, 409);
    });

    it('a link opens once, for one of many at once; it is taken back, ends in time, and with its organisation', async () => {
      const id = await organization();
      const link = await linkFor(id);
      for (const path of ['', `?token=${tokenOf(link)}`]) assert.equal((await fetch(`${base}${path}`)).status, 200);
      const all = await Promise.all(Array.from({ length: 6 }, async () => (await open(openBrowser(), tokenOf(link))).status));
      assert.deepEqual(all.toSorted(), [303, 404, 404, 404, 404, 404]);
      const second = await linkFor(id);
      const browser = openBrowser();
      assert.equal((await open(browser, tokenOf(second))).status, 303);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${id}/setup-links`);
      assert.deepEqual(
        items.map(({ state }) => state),
        ['used', 'used'],
      );
      assert.ok(!JSON.stringify(items).includes(tokenOf(second)));
      await tenant.make('PATCH', `/organizations/${id}`, { enabled: false });
      await page(browser, 404);
      await tenant.make('PATCH', `/organizations/${id}`, { enabled: true });
      await page(browser);
      assert.equal((await tenant.call('DELETE', `/organizations/${id}/setup-links/${String(second['id'])}`)).status, 204);
      assert.equal((await tenant.call('DELETE', `/organizations/${id}/setup-links/${String(second['id'])}`)).status, 404);
      await page(browser, 404);
      const third = await opened(id);
      await server.clock.advance(setupLinkSeconds * 1000 - 60_000);
      await page(third);
      await server.clock.advance(120_000);
      const gone = await page(third, 404);
      assert.equal(withoutRequest(gone), withoutRequest(await page(openBrowser(), 404)));
    });

    it(`an organisation has at most ${setupLinksPerOrganizationMax} that work; what a link takes to make; ids of others`, async () => {
      const id = await organization();
      for (let at = 0; at < setupLinksPerOrganizationMax - 1; at += 1) await linkFor(id);
      const answers = await Promise.all([1, 2, 3].map(async () => (await tenant.call('POST', `/organizations/${id}/setup-links`)).status));
      assert.deepEqual(answers.toSorted(), [201, 409, 409]);
      const needs = ['organizations:write', 'sign-in:write', 'scim:read', 'scim:write'];
      for (const lacking of needs) {
        const machine = await machineWith(
          tenant,
          needs.filter((one) => one !== lacking),
        );
        assert.equal((await machine.call('POST', `/organizations/${await organization()}/setup-links`)).status, 403, lacking);
      }
      const foreign = await createTestTenant(server);
      const theirs = String((await foreign.make('POST', '/organizations', { name: 'theirs' }))['id']);
      const unknown = await jsonOf(await tenant.call('POST', `/organizations/${randomUUID()}/setup-links`), 404);
      assert.deepEqual(await jsonOf(await tenant.call('POST', `/organizations/${theirs}/setup-links`), 404), unknown);
      assert.equal((await tenant.call('POST', `/organizations/${id}/setup-links`, { surprise: 1 })).status, 400);
    });

    it('nobody forges a form or goes elsewhere; wrong values are told and change nothing', async () => {
      const [id, otherId] = [await organization(), await organization()];
      const [browser, other] = [await opened(id), await opened(otherId)];
      await acts(other, '/tokens', { name: 'x' }).catch(() => undefined);
      for (const csrf of ['', 'x', /name="csrf" value="([^"]+)"/.exec(await page(other))?.[1] ?? ''])
        assert.equal(
          (await browser.send(`${base}/steps/rule`, { method: 'POST', body: new URLSearchParams({ csrf, rule: 'any' }) })).status,
          403,
        );
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${otherId}/scim-tokens`);
      assert.equal((await act(browser, `/tokens/${String(items[0]?.['id'])}/revoke`)).status, 404);
      for (const [path, fields] of [
        ['/domains', { domain: '' }],
        ['/domains', { domain: 'not a domain' }],
        ['/domains', { domain: 'x'.repeat(300) }],
        ['/provider', { kind: 'oidc', issuer: 'http://plain.example', client_id: 'x' }],
        ['/provider', { kind: 'oidc', issuer: '', client_id: '' }],
        ['/provider', { kind: 'saml', metadata: '<x/>' }],
        ['/provider', { kind: 'saml', metadata: '' }],
        ['/tokens', { name: '' }],
      ] as const)
        assert.equal((await act(browser, path, fields)).status, 400, JSON.stringify(fields));
      assert.deepEqual(await providersOf(id), []);
      const large = new URLSearchParams({ csrf: 'x', metadata: 'x'.repeat(organizationSetupBodyBytesMax) });
      assert.equal((await browser.send(`${base}/steps/provider`, { method: 'POST', body: large })).status, 413);
      assert.ok(Buffer.byteLength(await page(browser)) < 60_000);
    });

    it('whoever manages it does the same on the account page, after a fresh sign-in, and in no other organisation', async () => {
      const [id, otherId] = [await organization({ display_name: 'Managed' }), await organization()];
      const email = `boss-${id}@x.example`;
      const user = await createTestUser(tenant, email);
      await tenant.make('PUT', `/organizations/${id}/members/${user.id}`, { roles: ['manager'] });
      const { visitor } = await openApp(server, 'account', tenant, email);
      const at = `/organizations/${id}/setup`;
      assert.match(await textOf(await visitor.page(at), 200), /Set up Managed/);
      assert.equal((await visitor.submit(`${at}/domains`, { domain: `managed-${id}.example` })).status, 303);
      assert.deepEqual((await organizationOf(id))['domains'], [`managed-${id}.example`]);
      for (const path of ['', '/return']) assert.equal((await visitor.page(`/organizations/${otherId}/setup${path}`)).status, 404);
      for (const path of ['/domains', '/provider', '/provider/try', '/provider/on', '/rule', '/tokens'])
        assert.equal(
          (await visitor.submit(`/organizations/${otherId}/setup${path}`, { domain: 'a.example', name: 'x' })).status,
          404,
          path,
        );
      await server.clock.advance(11 * 60_000);
      const stale = await visitor.submit(`${at}/domains`, { domain: 'late.example' });
      assert.match(String(stale.headers.get('location')), /\/authorize\?/);
    });
  });

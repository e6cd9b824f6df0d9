// What an organisation asks of the sign-ins for it (design 19): met or proven besides, in a fresh sign-in and by the session, also where the
// organisation is chosen after the sign-in; and what its pages look like.
import assert from 'node:assert/strict';
import { after, beforeEach, describe, it } from 'node:test';
import type { RequestOptions } from '../support/authenticator.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import type { Visit } from '../support/external.ts';
import { clientCredentialsToken, type Json } from '../support/management.ts';
import { challenge, decodeJwt, exchange, postAs, redirectUri, refresh, tokensOf } from '../support/oidc.ts';
import { openOrganizationWorld, verified } from '../support/organization-world.ts';
import { givePasskey } from '../support/passkeys.ts';
import { uploadPicture } from '../support/pictures.ts';
import { assertRefusal } from '../support/refusal.ts';

const aliasesIn = (json: Json): readonly string[] => ((json['providers'] ?? []) as readonly Json[]).map(({ alias }) => String(alias));

for (const database of databases)
  describe(`sign-ins that a customer judges on ${database}`, async () => {
    const world = await openOrganizationWorld(database);
    const { server, acme, globex, manage, rules, reset, person, join, organizationsOf, ask, at, now, step, byPin, there, finish, claims } =
      world;
    const { post, tokens } = world;
    after(() => world.close());
    beforeEach(async () => {
      await reset();
      await server.clock.advance(61_000);
    });
    const errorOf = (redirect: URL): string | null => redirect.searchParams.get('error');
    const silently = async ({ browser }: Visit, changes: Readonly<Record<string, string>>): Promise<URL> =>
      new URL((await ask(browser, { prompt: 'none', ...changes })).headers.get('location') ?? '');

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
      // No write leaves it so; it may be so from before.
      const turnOff = () =>
        world.server.gatehouse.services.cache.write(world.tenant.id, (queries) =>
          queries
            .updateTable('identity_providers')
            .set({ enabled: 0 })
            .where('tenant_id', '=', world.tenant.id)
            .where('alias', '=', 'acme')
            .execute(),
        );
      const chosen = async (meanwhile?: () => Promise<unknown>) => {
        const ada = await person('acme.example');
        await join(acme, ada, ['approver']);
        await join(globex, ada);
        const visit = await at({ scope });
        await rules(acme, { sign_in: 'any' });
        await byPin(visit, ada);
        assert.equal((await now(visit))['state'], 'organization');
        await rules(acme, { sign_in: 'own_providers' });
        await meanwhile?.();
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
      const late = (await chosen(turnOff)).visit;
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
      const { managed } = world;
      const token = await clientCredentialsToken(managed.baseUrl, managed.adminClientId, managed.adminClientSecret);
      const logo = await uploadPicture(managed.managementApi, token);
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

// Domains a provider answers for (design 14, 2): proven by a TXT record at a name server, they send their addresses there, known or not,
// and are the one case in which a provider's word links.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { IdentityProviderId } from '../../src/domain/ids.ts';
import { rememberedDomainsMax } from '../../src/storage/registry/proven-domains.ts';
import type { RequestOptions } from '../support/authenticator.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import { startDns, type TestDns } from '../support/dns-server.ts';
import { eventually } from '../support/eventually.ts';
import { openExternalWorld } from '../support/external.ts';
import { openApp } from '../support/first-party-app.ts';
import { createUser } from '../support/fixtures.ts';
import { createTestTenant, createTestUser, type Json } from '../support/management.ts';
import { givePasskey } from '../support/passkeys.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startUpstream } from '../support/upstream.ts';

interface Proof {
  readonly domain: string;
  readonly name: string;
  readonly value: string;
  readonly proven_at: string | null;
}
const proofsIn = (provider: Json): readonly Proof[] => provider['domain_proofs'] as readonly Proof[];

for (const database of databases) {
  describe(`Domains of other providers on ${database}`, async () => {
    const dns: TestDns = await startDns();
    const world = await openExternalWorld(database, { dns_servers: dns.address });
    const { server, managed, tenant, upstream, register, begin, post, jsonOf, visit, finish, links } = world;
    const { services } = server.gatehouse;
    after(async () => {
      await upstream.close();
      await dns.close();
      await server.close();
    });
    let provider: Json & { readonly id: string };
    const check = (id = provider.id): Promise<Json> => managed.make('POST', `/identity-providers/${id}/check-domains`);
    const identify = async (identifier: string, changes: Readonly<Record<string, string>> = {}) => {
      const at = await begin(changes);
      return { at, answer: await jsonOf(await post(at.browser, `${at.login}/identify`, { identifier })) };
    };
    const linksOf = async (userId: string) => (await links()).filter((link) => link.user_id === userId);
    const hosted = (email: string, sub: string, hd: string | undefined = 'corp.example') => ({ sub, email, email_verified: true, hd });
    before(async () => {
      provider = await register({ domains: ['corp.example', 'xn--bcher-kva.example'] });
    });

    it('a domain that is named proves nothing: its addresses sign in here', async () => {
      assert.deepEqual(
        proofsIn(provider).map(({ domain, name, proven_at }) => [domain, name, proven_at]),
        [
          ['corp.example', '_gatehouse.corp.example', null],
          ['xn--bcher-kva.example', '_gatehouse.xn--bcher-kva.example', null],
        ],
      );
      assert.deepEqual(
        proofsIn(await check()).map(({ proven_at }) => proven_at),
        [null, null],
      );
      const { answer } = await identify('ada@corp.example');
      assert.deepEqual(answer, { state: 'choose', methods: ['phone', 'passkey', 'email_pin'] });
    });

    it('other texts, a part of it, and the record of another provider or tenant prove nothing', async () => {
      const [{ name = '', value = '' } = {}] = proofsIn(provider);
      const other = await register({ alias: 'other', domains: ['corp.example'] });
      const foreign = await createTestTenant(server);
      const theirs = await foreign.make('POST', '/identity-providers', {
        alias: 'acme',
        kind: 'oidc',
        name: 'A',
        issuer: 'https://a.example',
        client_id: 'x',
        domains: ['corp.example'],
      });
      const values = [proofsIn(other)[0]?.value ?? '', proofsIn(theirs)[0]?.value ?? ''];
      assert.equal(new Set([value, ...values]).size, 3);
      dns.records.set(name, ['v=spf1 -all', value.slice(0, -1), `${value}x`, value.toUpperCase(), ...values]);
      assert.equal(proofsIn(await check())[0]?.proven_at, null);
      assert.notEqual(proofsIn(await check(other.id))[0]?.proven_at, null);
      dns.records.set(name, ['v=spf1 -all', value]);
      assert.equal(proofsIn(await check())[0]?.proven_at, null, 'it is the other’s until that is checked again');
      assert.equal(proofsIn(await check(other.id))[0]?.proven_at, null);
      await managed.make('DELETE', `/identity-providers/${other.id}`);
    });

    it('the record proves the domain, also when it is checked many times at once', async () => {
      const all = await Promise.all(Array.from({ length: 8 }, () => check()));
      for (const one of all)
        assert.deepEqual(
          proofsIn(one).map(({ proven_at }) => typeof proven_at),
          ['string', 'object'],
        );
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=identity_provider.domain_proven');
      assert.equal(items.filter(({ target }) => target === `identity_provider:${provider.id}`).length, 1);
      await assertRefusal(await managed.call('POST', '/identity-providers/unknown/check-domains'), 'management.not_found');
    });

    it('its addresses go to the provider, whoever has them: the answers are the same', async () => {
      await createUser(services, tenant, 'known@corp.example');
      for (const identifier of [
        'known@corp.example',
        'nobody@corp.example',
        ' Known@CORP.example ',
        'known@ｃorp.example',
        'known@corp．example',
      ]) {
        const { at, answer } = await identify(identifier);
        assert.deepEqual([answer['state'], answer['methods']], ['choose', ['passkey']], identifier);
        const there = new URL(String(answer['redirect_to']));
        assert.equal(there.origin, upstream.origin);
        assert.equal(there.searchParams.get('login_hint'), identifier.trim());
        for (const method of ['phone', 'email_pin'])
          await assertRefusal(await post(at.browser, `${at.login}/method`, { method }), 'login.invalid_request', {
            kind: 'method',
            text: /./ as never,
          });
        await assertRefusal(await post(at.browser, `${at.login}/recovery`, { code: 'AAAA-AAAA-AA' }), 'login.conflict');
      }
      for (const identifier of [
        'a@sub.corp.example',
        'a@corp.example.evil.example',
        'corp.example',
        '@corp.example',
        'a@xn--bcher-kva.example',
      ])
        assert.equal((await identify(identifier)).answer['redirect_to'], undefined, identifier);
    });

    it(`${rememberedDomainsMax} domains are remembered together, of more each is looked up: the answers are the same`, async () => {
      const has = async (count: number): Promise<void> => {
        await services.cache.write(tenant.id, async (queries) => {
          const others = Array.from({ length: rememberedDomainsMax }, (_, at) => ({ domain: `d${at}.many.example`, proven_at: 1 }));
          const known = queries.deleteFrom('provider_domains').where('tenant_id', '=', tenant.id);
          const domains = others.map(({ domain }) => domain);
          await known.where('domain', 'in', domains).execute();
          const rows = others.slice(0, count - 1);
          const own = { tenant_id: tenant.id, provider_id: provider.id as IdentityProviderId };
          if (rows.length > 0)
            await queries
              .insertInto('provider_domains')
              .values(rows.map((row) => ({ ...own, ...row })))
              .execute();
        });
      };
      for (const count of [rememberedDomainsMax, rememberedDomainsMax + 1, 1]) {
        await has(count);
        for (const [identifier, isSent] of [
          ['nobody@corp.example', true],
          ['nobody@unknown.example', false],
          ['nobody@d0.many.example', false], // proven, and no longer named
        ] as const)
          assert.equal(typeof (await identify(identifier)).answer['redirect_to'], isSent ? 'string' : 'undefined', identifier);
        const remembered = await eventually(async () => {
          await identify('nobody@unknown.example');
          return services.cache.peek<ReadonlyMap<string, string> | undefined>(tenant.id, 'provider-domains');
        });
        assert.equal(remembered!.value?.size, count > rememberedDomainsMax ? undefined : count);
      }
    });

    it('a browser is sent there at once, and finds the way there again on the page it left', async () => {
      for (const identifier of ['known@corp.example', 'nobody@corp.example']) {
        const at = await begin();
        const page = { headers: { accept: 'text/html' } };
        const left = await at.browser.send(`${at.login}/identify`, { ...page, method: 'POST', body: new URLSearchParams({ identifier }) });
        assert.equal(left.status, 303);
        assert.equal(new URL(left.headers.get('location') ?? '').origin, upstream.origin);
        const back = await (await at.browser.send(at.login, page)).text();
        assert.match(back, /id="idp-acme"/);
        assert.match(back, /id="use-passkey"/);
        assert.doesNotMatch(back, /id="use-phone"|id="use-email"|lost-phone/);
      }
    });

    it('a provider that is down or disabled', async () => {
      upstream.setDown(true);
      await server.clock.advance(700_000);
      const at = await begin();
      await assertRefusal(
        await post(at.browser, `${at.login}/identify`, { identifier: 'known@corp.example' }),
        'login.external_unavailable',
      );
      assert.deepEqual((await jsonOf(await at.browser.send(at.login)))['methods'], ['passkey']);
      upstream.setDown(false);
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { enabled: false });
      assert.equal((await identify('known@corp.example')).answer['redirect_to'], undefined);
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { enabled: true });
    });

    it('its word links an account without phone, passkey and role admin, where it says that the domain is its own', async () => {
      const { id, email } = await createUser(services, tenant, 'grace@corp.example');
      const { at, answer } = await identify(email);
      assert.deepEqual(await jsonOf(await at.browser.send(upstream.signIn(String(answer['redirect_to']), hosted(email, 'grace')).href)), {
        state: 'approved',
      });
      assert.equal((await finish(at))['sub'], id);
      assert.equal((await linksOf(id)).length, 1);
      const again = await begin();
      await jsonOf(await visit(again, hosted('renamed@corp.example', 'grace')));
      assert.equal((await finish(again))['sub'], id);
    });

    for (const [what, changes] of [
      ['no hd', { hd: undefined }],
      ['another hd', { hd: 'evil.example' }],
      ['an hd that only ends so', { hd: 'evilcorp.example' }],
      ['an email it did not verify', { email_verified: false }],
    ] as const)
      it(`it does not with ${what}`, async () => {
        await server.clock.advance(2000);
        const { id, email } = await createUser(services, tenant, `${what.replaceAll(' ', '-')}@corp.example`);
        const answer = await jsonOf(await visit(await begin(), { ...hosted(email, what), ...changes }));
        assert.notEqual(answer['state'], 'approved');
        assert.deepEqual(await linksOf(id), []);
      });

    it('it does not for an address of another domain, nor where the hd names that and nobody proved it', async () => {
      const { id, email } = await createUser(services, tenant, 'ada@elsewhere.example');
      for (const hd of ['corp.example', 'elsewhere.example'])
        assert.deepEqual(await jsonOf(await visit(await begin(), hosted(email, `elsewhere-${hd}`, hd))), {
          state: 'choose',
          methods: ['email_pin'],
        });
      assert.deepEqual(await linksOf(id), []);
    });

    it('another provider with the same words does not', async () => {
      const evil = await startUpstream(server.clock.nowMs);
      await register({ alias: 'evil', name: 'Evil', domains: ['corp.example'] }, evil);
      const { id, email } = await createUser(services, tenant, 'mine@corp.example');
      assert.deepEqual(await jsonOf(await visit(await begin(), hosted(email, 'evil'), evil, 'evil')), {
        state: 'choose',
        methods: ['email_pin'],
      });
      assert.deepEqual(await linksOf(id), []);
      await evil.close();
    });

    it('it does not for an administrator, or with a passkey: they prove the account', async () => {
      const admin = await createUser(services, tenant, 'root@corp.example');
      await managed.make('PATCH', `/users/${admin.id}`, { role: 'admin' });
      const keyed = await createUser(services, tenant, 'keyed@corp.example');
      await givePasskey(server, tenant, keyed);
      for (const [user, methods] of [
        [admin, ['email_pin']],
        [keyed, ['passkey']],
      ] as const) {
        assert.deepEqual(await jsonOf(await visit(await begin(), hosted(user.email, user.id))), { state: 'choose', methods });
        assert.deepEqual(await linksOf(user.id), []);
      }
    });

    it('administrators may use a passkey; the same passkey of anybody else is refused', async () => {
      const admin = await createUser(services, tenant, 'chief@corp.example');
      await managed.make('PATCH', `/users/${admin.id}`, { role: 'admin' });
      const plain = await createUser(services, tenant, 'plain@corp.example');
      for (const user of [admin, plain]) {
        const passkey = await givePasskey(server, tenant, user);
        const { at } = await identify(user.email);
        const { options } = await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'passkey' }));
        const response = JSON.stringify(passkey.sign(options as RequestOptions));
        const answer = await post(at.browser, `${at.login}/passkey`, { response });
        if (user === admin) assert.deepEqual(await jsonOf(answer), { state: 'approved' });
        else await assertRefusal(answer, 'login.passkey_refused');
      }
      // Who came from the provider is asked for more as anybody is.
      const { at, answer } = await identify(plain.email, { acr_values: 'phr' });
      assert.deepEqual(
        await jsonOf(await at.browser.send(upstream.signIn(String(answer['redirect_to']), hosted(plain.email, 'plain')).href)),
        { state: 'choose', methods: ['passkey'] },
      );
    });

    it('without trust_email the address is proven by PIN first', async () => {
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { trust_email: false });
      const { id, email } = await createUser(services, tenant, 'distrusted@corp.example');
      assert.deepEqual(await jsonOf(await visit(await begin(), hosted(email, 'distrusted'))), { state: 'pin' });
      assert.deepEqual(await linksOf(id), []);
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { trust_email: true });
    });

    it('ten sign-ins of one account at once make one link', async () => {
      const { id, email } = await createUser(services, tenant, 'raced@corp.example');
      const answers = await Promise.all(Array.from({ length: 10 }, async () => visit(await begin(), hosted(email, 'raced'))));
      for (const answer of answers) assert.equal(answer.status, 200, await answer.text());
      assert.equal((await linksOf(id)).length, 1);
    });

    it('name servers that do not answer change nothing; a record that is gone ends the proof, and so does no longer naming the domain', async () => {
      dns.setBroken(true);
      assert.notEqual(proofsIn(await check())[0]?.proven_at, null);
      dns.setBroken(false);
      const [{ name = '', value = '' } = {}] = proofsIn(provider);
      dns.records.set(name, []);
      assert.equal(proofsIn(await check())[0]?.proven_at, null);
      assert.equal((await identify('known@corp.example')).answer['redirect_to'], undefined);
      dns.records.set(name, [value]);
      await check();
      assert.notEqual((await identify('known@corp.example')).answer['redirect_to'], undefined);
      await managed.make('PATCH', `/identity-providers/${provider.id}`, { domains: [] });
      assert.equal((await identify('known@corp.example')).answer['redirect_to'], undefined);
      const named = await managed.make('PATCH', `/identity-providers/${provider.id}`, { domains: ['corp.example'] });
      assert.equal(proofsIn(named)[0]?.proven_at, null, 'the proof went with the name');
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=identity_provider.domain_lapsed');
      assert.ok(items.length > 0);
    });

    it('the console shows the record to publish, and has it checked', async () => {
      const [{ name = '', value = '' } = {}] = proofsIn(
        await managed.make('PATCH', `/identity-providers/${provider.id}`, { domains: ['corp.example'] }),
      );
      await managed.make('PATCH', '/settings', { login_methods: ['phone', 'passkey', 'email_pin'] });
      await createTestUser(managed, 'operator@fed.example', { role: 'admin' });
      await server.clock.advance(2000);
      const { visitor } = await openApp(server, 'console', managed, 'operator@fed.example');
      const path = `/identity-providers/${provider.id}`;
      dns.records.set(name, [value]);
      const before = await (await visitor.page(path)).text();
      for (const shown of [name, value, 'not proven', 'Check the TXT records']) assert.ok(before.includes(shown), shown);
      const after = await visitor.act(`${path}/check-domains`, {});
      assert.match(after, />proven</);
      assert.doesNotMatch(after, /not proven/);
      assert.match(
        await (await visitor.page('/identity-providers/new?preset=saml')).text(),
        /<title>New other provider: Any SAML provider/,
      );
    });

    it('domains are written as DNS writes them', async () => {
      for (const domain of [
        'Corp.example',
        'corp',
        'corp.example.',
        '*.corp.example',
        'bücher.example',
        '-a.example',
        'a b.example',
        '1.2.3.4:5',
      ])
        await assertRefusal(
          await managed.call('PATCH', `/identity-providers/${provider.id}`, { domains: [domain] }),
          'management.invalid_request',
          {
            kind: 'domains',
            text: /./ as never,
          },
        );
      await assertRefusal(
        await openBrowser().send(`${tenant.baseUrl}/v1/management/identity-providers/${provider.id}/check-domains`, { method: 'POST' }),
        'management.unauthorized',
      );
    });
  });
}

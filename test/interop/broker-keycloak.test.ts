// Keycloak, unmodified, on either side of us. As a broker: by SAML from metadata alone, by OpenID Connect from discovery and a client. As
// the provider people come from, a customer's own too: by both, its SAML client made by its own import of our metadata. One process for all: it is slow to start.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { reachesLoopback } from '../support/ciba.ts';
import { connectByLink } from '../support/connect-by-link.ts';
import { startDns } from '../support/dns-server.ts';
import { openExternalWorld } from '../support/external.ts';
import { openSamlWorld } from '../support/external-saml.ts';
import { findJudge } from '../support/judge-binaries.ts';
import { type Keycloak, oidcRealm, samlRealms, startKeycloak } from '../support/keycloak.ts';
import { keycloakCompany, keycloakPerson, type PeopleRealm, peopleRealm, signInThere } from '../support/keycloak-people.ts';
import { openLogin, signInByPin } from '../support/login.ts';
import { pinOf } from '../support/mailbox.ts';
import { createTestClient, createTestUser, type Json } from '../support/management.ts';
import { openVisitor } from '../support/saml-website.ts';
import { person, tryWebsite } from '../support/saml-website-trial.ts';
import { startTestServer } from '../support/server.ts';

const program = findJudge('keycloak');
let keycloak: Keycloak;
let people: PeopleRealm;
if (program !== undefined)
  tryWebsite({
    name: 'Keycloak',
    open: async ({ metadata }) => {
      keycloak = await startKeycloak(program);
      return samlRealms(keycloak, metadata);
    },
    bindings: ['redirect', 'post'],
    encryption: 'aes256-gcm',
    refusesPlain: true,
    shows: [person.email, person.displayName],
    more: ({ server, tenant }) => {
      test('by OpenID Connect: discovery read, PKCE, the signature of our ID token checked', async () => {
        await tenant().make('PATCH', '/settings', { login_methods: ['email_pin'] });
        const email = 'ada@example.com';
        await createTestUser(tenant(), email, { name: { given_name: 'Ada', family_name: 'Lovelace' } });
        const realm = await oidcRealm('oidc', keycloak);
        const client = await createTestClient(tenant(), { redirect_uris: [realm.redirectUri], scopes: ['openid', 'profile', 'email'] });
        await realm.trust(`${tenant().baseUrl}/.well-known/openid-configuration`, client);
        const visitor = openVisitor();
        const authorize = `${tenant().baseUrl}/v1/idp/oidc/authorize`;
        const { query } = await visitor.ask(realm.startUrl, authorize);
        assert.match(query, /code_challenge_method=S256/);
        const login = openLogin(await fetch(`${authorize}?${query}`, { redirect: 'manual' }));
        const shown = JSON.parse(await visitor.go((await signInByPin(server(), login, email)).href));
        assert.deepEqual([shown.email, shown.email_verified, shown.given_name, shown.family_name], [email, true, 'Ada', 'Lovelace']);
      });
      test('people come from it by OpenID Connect, and are the same the second time', async () => {
        const world = await openExternalWorld('sqlite');
        const { managed, tenant: ours, register, begin, leave, finish, jsonOf } = world;
        try {
          const callback = `${ours.baseUrl}/login/callback/acme`;
          people = await peopleRealm(keycloak);
          await register({ ...(await people.trustByOpenId(callback)), create_users: true });
          const subjects: unknown[] = [];
          for (let time = 0; time < 2; time += 1) {
            const at = await begin();
            const { url } = await signInThere(await leave(at), callback);
            assert.deepEqual(await jsonOf(await at.browser.send(url)), { state: 'approved' });
            subjects.push((await finish(at))['sub']);
          }
          assert.equal(subjects[0], subjects[1]);
          const user = await managed.make('GET', `/users/${subjects[0]}`);
          assert.deepEqual(user['name'], { given_name: keycloakPerson.firstName, family_name: keycloakPerson.lastName });
        } finally {
          await world.upstream.close();
          await world.server.close();
        }
      });
      test('people come from it by SAML: signed requests, signed assertions, plain and encrypted', async () => {
        const world = await openSamlWorld('sqlite');
        const { managed, tenant: ours, registerSaml, begin, leave, post, jsonOf, finish } = world;
        try {
          const subjects: unknown[] = [];
          for (const encrypted of [false, true]) {
            const alias = encrypted ? 'encrypted' : 'plain';
            const callback = `${ours.baseUrl}/login/callback/${alias}`;
            await registerSaml({ alias, metadata: await people.metadata(), create_users: true });
            const metadata = await (await fetch(`${callback}/metadata`)).text();
            assert.match(metadata, /AuthnRequestsSigned="true"/);
            await people.trustBySaml(metadata, (client) => ({
              ...client,
              attributes: { ...(client['attributes'] as Json), 'saml.encrypt': String(encrypted) },
            }));
            const at = await begin();
            const { url, form } = await signInThere(await leave(at, alias), callback);
            const kept = await fetch(url, { method: 'POST', redirect: 'manual', body: form ?? null });
            const answer = await jsonOf(await at.browser.send(kept.headers.get('location') ?? ''));
            if (encrypted) {
              // The same address from another provider proves the account first.
              assert.deepEqual(answer, { state: 'choose', methods: ['email_pin'] });
              await jsonOf(await post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
              await jsonOf(await post(at.browser, `${at.login}/pin`, { pin: await pinOf(world.server, keycloakPerson.email) }));
            } else assert.deepEqual(answer, { state: 'approved' });
            subjects.push((await finish(at))['sub']);
          }
          assert.equal(subjects[0], subjects[1]);
          const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/users/${subjects[0]}/external-identities`);
          assert.deepEqual(new Set(items.map(({ issuer }) => issuer)), new Set([people.issuer]));
        } finally {
          await world.server.close();
        }
      });
      if (hasChromium)
        test('a customer whose own provider it is: connected by a set-up link alone, by both, in Chromium', async () => {
          const dns = await startDns();
          const ours = await startTestServer('sqlite', { flags: { dns_servers: dns.address, ...reachesLoopback } });
          const browser = await launchChromium();
          try {
            const provider = await keycloakCompany(keycloak);
            for (const kind of ['oidc', 'saml'] as const) await connectByLink({ server: ours, dns, browser, kind, provider });
          } finally {
            await browser.close();
            await ours.close();
            await dns.close();
          }
        });
    },
  });

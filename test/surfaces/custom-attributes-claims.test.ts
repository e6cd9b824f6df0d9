// What applications are told of the attributes a tenant adds: UserInfo by `claim`, SAML by attribute maps and as a NameID (design 10,
// section 2; design 15, "NameID"; design 16, section 1). On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { databases } from '../support/databases.ts';
import { createClient, createUser, rootTenant } from '../support/fixtures.ts';
import type { Json, Managed } from '../support/management.ts';
import { exchange, issueCode, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { assertDelivered, finishSignIn, openSamlIdp, postback, type SamlIdp, samlFlags, startSignIn } from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const unspecified = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const acs = [{ url: 'https://sp.example/acs' }];

for (const database of databases) {
  describe(`custom attributes in applications (${database})`, () => {
    let server: TestServer;
    let tenant: Tenant;
    let managed: Managed;
    let idp: SamlIdp;
    let ada: Awaited<ReturnType<typeof createUser>>;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      managed = await manageRootTenant(server);
      for (const definition of [
        { name: 'cost_code', claim: 'cost_code' },
        { name: 'skills', list: true, claim: 'https://example.com/skills' },
        { name: 'size', type: 'number' },
        { name: 'motto', edit: 'person', claim: 'motto' },
      ])
        await managed.make('POST', '/custom-attributes', definition);
      tenant = await rootTenant(server.gatehouse.services);
      idp = await openSamlIdp(server);
      ada = await createUser(server.gatehouse.services, tenant, 'ada@example.com');
      await managed.make('PATCH', `/users/${ada.id}`, { custom: { cost_code: 'K-17', skills: ['Chess', 'Go'], size: 42.5, motto: 'On' } });
    });
    after(() => server.close());

    it('UserInfo shows the claims of attributes to the scope profile, and no others; discovery lists them', async () => {
      const client = await createClient(server.gatehouse.services, tenant, {});
      const userInfo = async (scope: string): Promise<Json> => {
        const { access_token: token } = await tokensOf(
          await exchange(tenant, client, await issueCode(server, tenant, client, ada, { scope })),
        );
        const response = await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${token}` } });
        assert.equal(response.status, 200);
        return (await response.json()) as Json;
      };
      const shown = await userInfo('openid profile');
      assert.deepEqual([shown['cost_code'], shown['https://example.com/skills'], shown['motto']], ['K-17', ['Chess', 'Go'], 'On']);
      assert.equal(shown['size'], undefined);
      assert.deepEqual(Object.keys(await userInfo('openid email')), ['sub', 'email', 'email_verified']);
      const discovery = (await (await fetch(`${tenant.baseUrl}/.well-known/openid-configuration`)).json()) as Json;
      assert.deepEqual((discovery['claims_supported'] as readonly string[]).slice(-3), [
        'cost_code',
        'motto',
        'https://example.com/skills',
      ]);
    });

    it('a claim has one attribute: 409 management.conflict', async () => {
      await assertRefusal(await managed.call('POST', '/custom-attributes', { name: 'other', claim: 'motto' }), 'management.conflict', {
        kind: 'claim',
        text: 'The claim is in use.',
      });
      await assertRefusal(await managed.call('PATCH', '/custom-attributes/size', { claim: 'motto' }), 'management.conflict', {
        kind: 'claim',
        text: 'The claim is in use.',
      });
    });

    let requests = 0;
    const signedIn = async (entityId: string): Promise<Response> => {
      requests += 1;
      const started = await startSignIn(await idp.redirect(idp.request({ id: `_r${requests}`, issuer: entityId })));
      await finishSignIn(server, idp.tenant, started.sessionId, ada.id);
      return postback(idp.base, started.sessionId, started.cookie);
    };

    it('SAML: attribute maps name them as custom.<name>; an unknown one is 400', async () => {
      const map = { 'custom.cost_code': 'costCode', 'custom.skills': 'skill', 'custom.size': 'size' };
      const provider = await managed.make('POST', '/service-providers', { entity_id: 'https://map.example', acs, attribute_map: map });
      assert.deepEqual(provider['attribute_map'], map);
      const { xml } = await assertDelivered(await signedIn('https://map.example'));
      for (const value of ['K-17', 'Chess', 'Go', '42.5']) assert.match(xml, new RegExp(`AttributeValue[^>]*>${value}<`), value);
      const wrong = { attribute_map: { 'custom.nobody': 'x' } };
      for (const [method, path, body] of [
        ['POST', '/service-providers', { entity_id: 'https://wrong.example', acs, ...wrong }],
        ['PATCH', `/service-providers/${provider['id']}`, wrong],
      ] as const)
        await assertRefusal(await managed.call(method, path, body), 'management.invalid_request', {
          kind: 'attribute_map',
          text: /"custom.nobody" is no attribute of the tenant. Known: custom.cost_code/,
        });
    });

    it('SAML: a NameID is made of one, but never of one that people write, and of nobody else’s value', async () => {
      const provider = (path: string): Json => ({
        entity_id: 'https://named.example',
        acs,
        name_id_formats: [unspecified],
        name_id_sources: { [unspecified]: path },
      });
      for (const path of ['custom.motto', 'custom.skills', 'custom.nobody'])
        await assertRefusal(await managed.call('POST', '/service-providers', provider(path)), 'management.invalid_request', {
          kind: 'name_id_sources',
          text: /names nobody/,
        });
      await managed.make('POST', '/service-providers', provider('custom.cost_code'));
      assert.match((await assertDelivered(await signedIn('https://named.example'))).xml, /<saml2?:NameID[^>]*>K-17</);
      const eve = await createUser(server.gatehouse.services, tenant, 'eve@example.com');
      await managed.make('PATCH', `/users/${eve.id}`, { custom: { cost_code: 'k-17' } });
      assert.equal((await signedIn('https://named.example')).status, 400);
      await managed.make('PATCH', `/users/${eve.id}`, { custom: { cost_code: null } });
      await managed.make('PATCH', '/custom-attributes/cost_code', { edit: 'person' });
      assert.equal((await signedIn('https://named.example')).status, 400);
    });
  });
}

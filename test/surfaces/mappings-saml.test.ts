// What service providers are told by mapping rules (design 16, section 1): the default table, attribute_map and a provider's own rules,
// names and formats, REFEDS affiliation and the roles of AWS, refusals, and the event of a rule that gives too much. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { createUser, rootTenant } from '../support/fixtures.ts';
import { type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { assertDelivered, finishSignIn, openSamlIdp, postback, type SamlIdp, samlFlags, startSignIn } from '../support/saml-idp.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const acs = [{ url: 'https://sp.example/acs' }];
const format = 'urn:oasis:names:tc:SAML:2.0:attrname-format:';

interface Sent {
  readonly name: string;
  readonly format: string;
  readonly friendly: string | undefined;
  readonly values: readonly string[];
}

/** The attributes of an assertion, as they stand in it. */
const attributesIn = (xml: string): readonly Sent[] =>
  [...xml.matchAll(/<saml:Attribute ([^>]*)>(.*?)<\/saml:Attribute>/g)].map(([, head = '', body = '']) => ({
    name: /(?:^| )Name="([^"]*)"/.exec(head)?.[1] ?? '',
    format: /NameFormat="([^"]*)"/.exec(head)?.[1] ?? '',
    friendly: /FriendlyName="([^"]*)"/.exec(head)?.[1],
    values: [...body.matchAll(/<saml:AttributeValue[^>]*>([^<]*)</g)].map(([, value = '']) => value),
  }));

for (const database of databases) {
  describe(`mappings of SAML attributes (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    let idp: SamlIdp;
    let ada: Awaited<ReturnType<typeof createUser>>;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      managed = await manageRootTenant(server);
      idp = await openSamlIdp(server);
      ada = await createUser(server.gatehouse.services, await rootTenant(server.gatehouse.services), 'ada@example.com');
      for (const name of ['uni-staff', 'uni-alumni', 'aws-Admin', 'aws-ReadOnly']) {
        const group = await managed.make('POST', '/groups', { display_name: name });
        await managed.make('POST', `/groups/${group['id']}/members`, { user_id: ada.id });
      }
    });
    after(() => server.close());
    const table = (rules: readonly Json[]): Promise<Json> => managed.make('PUT', '/mappings/saml', { rules });
    let made = 0;
    const provider = (fields: Json): Promise<Json> => {
      made += 1;
      return managed.make('POST', '/service-providers', { entity_id: `https://sp${made}.example`, acs, ...fields });
    };
    const told = async ({ entity_id: issuer }: Json): Promise<readonly Sent[]> => {
      made += 1;
      const started = await startSignIn(await idp.redirect(idp.request({ id: `_r${made}`, issuer: String(issuer) })));
      await finishSignIn(server, idp.tenant, started.sessionId, ada.id);
      return attributesIn((await assertDelivered(await postback(idp.base, started.sessionId, started.cookie))).xml);
    };

    it('REFEDS: scoped affiliation, entitlement and assurance by rules alone, with names and formats', async () => {
      const registered = await provider({
        attribute_map: {},
        mappings: [
          {
            to: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9',
            friendly_name: 'eduPersonScopedAffiliation',
            from: 'groups',
            only: { prefix: ['uni-'] },
            strip: 'uni-',
            values: { staff: 'staff', students: 'student' },
            template: '{value}@uni.example',
          },
          { to: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.7', value: 'urn:mace:dir:entitlement:common-lib-terms', when: { group: 'uni-staff' } },
          { to: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.7', value: 'https://uni.example/entitlement/alumni', when: { group: 'uni-alumni' } },
          {
            to: 'eduPersonAssurance',
            value: ['https://refeds.org/assurance', 'https://refeds.org/assurance/ID/unique'],
            name_format: 'unspecified',
          },
          { to: 'never', value: 'x', when: { group: 'nobody' } },
        ],
      });
      assert.deepEqual(await told(registered), [
        {
          name: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.9',
          format: `${format}uri`,
          friendly: 'eduPersonScopedAffiliation',
          values: ['staff@uni.example'],
        },
        {
          name: 'urn:oid:1.3.6.1.4.1.5923.1.1.1.7',
          format: `${format}uri`,
          friendly: undefined,
          values: ['urn:mace:dir:entitlement:common-lib-terms', 'https://uni.example/entitlement/alumni'],
        },
        {
          name: 'eduPersonAssurance',
          format: `${format}unspecified`,
          friendly: undefined,
          values: ['https://refeds.org/assurance', 'https://refeds.org/assurance/ID/unique'],
        },
      ]);
    });

    it('AWS: roles from groups, session name and duration', async () => {
      const aws = 'https://aws.amazon.com/SAML/Attributes/';
      const registered = await provider({
        attribute_map: {},
        mappings: [
          {
            to: `${aws}Role`,
            from: 'groups',
            only: { prefix: ['aws-'] },
            strip: 'aws-',
            template: 'arn:aws:iam::123456789012:role/{value},arn:aws:iam::123456789012:saml-provider/{tenant.slug}',
          },
          { to: `${aws}RoleSessionName`, from: 'emails.primary' },
          { to: `${aws}SessionDuration`, value: 3600 },
        ],
      });
      const sent = await told(registered);
      assert.deepEqual(
        sent.map(({ name, values }) => [name.slice(aws.length), values]),
        [
          [
            'Role',
            ['Admin', 'ReadOnly'].map((role) => `arn:aws:iam::123456789012:role/${role},arn:aws:iam::123456789012:saml-provider/main`),
          ],
          ['RoleSessionName', ['ada@example.com']],
          ['SessionDuration', ['3600']],
        ],
      );
    });

    it('the default table is for every provider; attribute_map replaces its rules by name, and mappings both', async () => {
      await table([
        { to: 'mail', from: 'emails.primary' },
        { to: 'org', value: 'Uni' },
        { to: 'gone', value: 'x' },
      ]);
      const flat = async (fields: Json): Promise<Json> =>
        Object.fromEntries((await told(await provider(fields))).map(({ name, values }) => [name, values.join('|')]));
      assert.deepEqual(await flat({ attribute_map: {} }), { mail: 'ada@example.com', org: 'Uni', gone: 'x' });
      assert.deepEqual(await flat({ attribute_map: { user_name: 'org' } }), { mail: 'ada@example.com', gone: 'x', org: 'ada@example.com' });
      const own = {
        attribute_map: { user_name: 'org', 'name.given_name': 'given' },
        mappings: [
          { to: 'org', value: 'Own' },
          { to: 'gone', value: null },
        ],
      };
      assert.deepEqual(await flat(own), { mail: 'ada@example.com', given: 'Ada', org: 'Own' });
      await table([]);
      assert.deepEqual(await flat({ attribute_map: {} }), {});
    });

    it('client.id is the entityID and session.acr the class of the sign-in', async () => {
      const registered = await provider({ attribute_map: {}, mappings: [{ to: 'about', template: '{client.id} {session.acr}' }] });
      const [sent] = await told(registered);
      assert.match(
        sent!.values[0]!,
        new RegExp(`^${registered['entity_id']} urn:oasis:names:tc:SAML:2\\.0:ac:classes:|^${registered['entity_id']} http`),
      );
    });

    const mistakes: readonly (readonly [Json, RegExp])[] = [
      [{ to: 'x', from: 'email' }, /rule 1, from: "email" is not known; the nearest is "emails"\.$/],
      [{ to: 'x', from: 'addresses.primary' }, /an address is no text/],
      [{ to: 'x', value: 1, scope: 'profile' }, /rule 1, scope: is no member of a rule here/],
      [{ to: 'x', from: 'custom.nobody' }, /"custom\.nobody" is no attribute of the tenant. Known: none\.$/],
    ];
    for (const [rule, text] of mistakes)
      it(`400 management.invalid_request for ${JSON.stringify(rule)}`, async () => {
        const mappings = [rule];
        const { id } = await provider({});
        const row = 'management.invalid_request';
        await assertRefusal(await managed.call('PATCH', `/service-providers/${id}`, { mappings }), row, { kind: 'mappings', text });
        const creation = { entity_id: 'https://wrong.example', acs, mappings };
        await assertRefusal(await managed.call('POST', '/service-providers', creation), row, { kind: 'mappings', text });
        await assertRefusal(await managed.call('PUT', '/mappings/saml', { rules: mappings }), row, { kind: 'rules', text });
      });

    it('a rule that gives too much gives nothing, the others do, and one event says so', async () => {
      const registered = await provider({
        attribute_map: {},
        mappings: [
          { to: 'wide', value: Array.from({ length: 200 }, (_, at) => `v${at}`), template: `{value}${'x'.repeat(1000)}` },
          { to: 'small', value: 'one' },
        ],
      });
      for (const _ of [1, 2])
        assert.deepEqual(
          (await told(registered)).map(({ name, values }) => [name, values]),
          [['small', ['one']]],
        );
      const events = await jsonOf<{ readonly items: readonly Json[] }>(await managed.call('GET', '/events?type=mapping.too_large'), 200);
      assert.deepEqual(
        events.items.map(({ target, data }) => ({ target, data })),
        [{ target: `service_provider:${registered['id']}`, data: { to: 'wide', place: 'assertion', bytes_max: 65_536, user_id: ada.id } }],
      );
    });

    it('a preview tells what a provider gets', async () => {
      const registered = await provider({
        attribute_map: { user_name: 'uid' },
        mappings: [{ to: 'role', from: 'groups', only: { prefix: ['aws-'] }, first: true }],
      });
      const body = { kind: 'saml', target: registered['id'], user_id: ada.id };
      assert.deepEqual(await managed.make('POST', '/mappings/preview', body), {
        items: [
          { to: 'uid', values: ['ada@example.com'] },
          {
            to: 'role',
            values: ['aws-Admin'],
            dropped: [
              { value: 'aws-ReadOnly', reason: 'first' },
              { value: 'uni-alumni', reason: 'prefix' },
              { value: 'uni-staff', reason: 'prefix' },
            ],
          },
        ],
      });
    });
  });
}

// NameIDs from other values than those made here, and encrypted ones (design 15, "NameID"): registered over the Management API,
// asked for by AuthnRequests, read from the answer.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { samlNameIdCharsMax, samlXmlLimits } from '../../src/contract/limits.ts';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { allElements, attributeOf, textOf, type XmlElement } from '../../src/crypto/xml/tree.ts';
import type { UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import { assertDelivered, finishSignIn, openSamlIdp, postback, type SamlIdp, samlFlags, startSignIn } from '../support/saml-idp.ts';
import { openSchemaJudge } from '../support/saml-schema.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { openXmlSec } from '../support/xmlsec.ts';

const keys = rsaKeys();
const saml1 = 'urn:oasis:names:tc:SAML:1.1:nameid-format:';
const saml2 = 'urn:oasis:names:tc:SAML:2.0:nameid-format:';
const unspecified = `${saml1}unspecified`;
const email = `${saml1}emailAddress`;
const persistent = `${saml2}persistent`;
const transient = `${saml2}transient`;
const encrypted = `${saml2}encrypted`;
const limits = { ...samlXmlLimits, bytesMax: 1 << 20, namespaceDeclarationsMax: 500 };
const schemaJudge = openSchemaJudge();
const xmlsec = openXmlSec();

function named(xml: string, name: string): readonly XmlElement[] {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  assert.ok(reading.ok);
  return allElements(reading.root).filter((element) => element.localName === name);
}

for (const database of databases) {
  suite(`NameIDs of SAML on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let idp: SamlIdp;
    let ada: string;
    let names = 0;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      tenant = await createTestTenant(server);
      idp = await openSamlIdp(server, tenant.slug);
      ada = (
        await createTestUser(tenant, 'ada@example.com', {
          user_name: 'Ada',
          external_id: 'E-1',
          emails: [
            { value: 'home@ada.example', type: 'home' },
            { value: 'ada@example.com', type: 'other', primary: true },
            { value: 'ada@work.example', type: 'Work' },
          ],
        })
      ).id;
    });
    after(() => server.close());

    const body = (fields: Json): Json => ({
      entity_id: `https://named-${++names}.example`,
      acs: [{ url: 'https://sp.example/acs' }],
      ...fields,
    });
    const register = (fields: Json): Promise<Json> => tenant.make('POST', '/service-providers', body(fields));
    const refusedField = async (fields: Json, kind: string, text: RegExp): Promise<void> => {
      await assertRefusal(await tenant.call('POST', '/service-providers', body(fields)), 'management.invalid_request', { kind, text });
    };
    const policy = (format: string | undefined): Json =>
      format === undefined ? {} : { content: `<samlp:NameIDPolicy Format="${format}"/>` };
    const ask = (provider: Json, format?: string): Promise<Response> =>
      idp.redirect(idp.request({ issuer: String(provider['entity_id']), ...policy(format) }));
    const ready = async (provider: Json, format?: string, user = ada): Promise<() => Promise<Response>> => {
      const started = await startSignIn(await ask(provider, format));
      await finishSignIn(server, idp.tenant, started.sessionId, user as UserId);
      return () => postback(idp.base, started.sessionId, started.cookie);
    };
    const nameOf = async (
      provider: Json,
      format?: string,
      user = ada,
    ): Promise<readonly [format: string | undefined, value: string | undefined]> => {
      const { xml } = await assertDelivered(await (await ready(provider, format, user))());
      if (schemaJudge !== undefined) assert.equal(schemaJudge(xml, 'protocol'), '');
      const [nameId, ...rest] = named(xml, 'NameID');
      assert.ok(nameId !== undefined && rest.length === 0);
      return [attributeOf(nameId, 'Format'), textOf(nameId)];
    };

    test('each format has the value its source names', async () => {
      for (const [format, source, value] of [
        [unspecified, 'user_name', 'Ada'],
        [unspecified, 'external_id', 'E-1'],
        [`${saml1}X509SubjectName`, 'external_id', 'E-1'],
        [`${saml1}WindowsDomainQualifiedName`, 'user_name', 'Ada'],
        [email, 'emails.primary', 'ada@example.com'],
        [email, 'emails[work]', 'ada@work.example'],
        [email, 'user_name', 'Ada'],
        [persistent, 'external_id', 'E-1'],
      ] as const) {
        const provider = await register({ name_id_formats: [transient, format], name_id_sources: { [format]: source } });
        assert.deepEqual(provider['name_id_sources'], { [format]: source });
        assert.deepEqual(await nameOf(provider, format), [format, value], `${format} from ${source}`);
      }
    });
    test('no format, or unspecified where it is not enabled, is the first; unspecified where it is enabled is itself', async () => {
      const provider = await register({ name_id_formats: [email, unspecified], name_id_sources: { [unspecified]: 'user_name' } });
      assert.deepEqual(await nameOf(provider), [email, 'ada@example.com']);
      assert.deepEqual(await nameOf(provider, unspecified), [unspecified, 'Ada']);
      assert.deepEqual(await nameOf(await register({ name_id_formats: [email] }), unspecified), [email, 'ada@example.com']);
      const names = await (await fetch(`${tenant.baseUrl}/v1/idp/saml/metadata/${provider['id']}`)).text();
      assert.deepEqual(named(names, 'NameIDFormat').map(textOf), [email, unspecified]);
    });
    test('7.12 name_id_policy: a format that is not enabled, and one that no source is for', async () => {
      const provider = await register({});
      await assertRefusal(await ask(provider, `${saml1}X509SubjectName`), 'saml.name_id_policy');
      await assertRefusal(await ask(provider, `${saml2}kerberos`), 'saml.name_id_policy');
      await assertRefusal(await ask(provider, encrypted), 'saml.name_id_policy');
    });
    test('registration: a 1.1 format needs a source, and a source must be one', async () => {
      for (const format of [unspecified, `${saml1}X509SubjectName`, `${saml1}WindowsDomainQualifiedName`])
        await refusedField({ name_id_formats: [persistent, format] }, 'name_id_sources', /need a source: user_name, external_id, emails/);
      for (const source of ['given_name', 'emails', 'emails[]', 'emails[work', 'custom.', 'id', 'groups', '__proto__', '', 7, null])
        await refusedField({ name_id_sources: { [unspecified]: source } }, 'name_id_sources', /is no source of names/);
      await refusedField({ name_id_sources: { [`${saml2}kerberos`]: 'user_name' } }, 'name_id_sources', /is no NameID format/);
      await refusedField({ name_id_sources: { [transient]: 'user_name' } }, 'name_id_sources', /takes no source/);
      await refusedField({ name_id_sources: 'user_name' }, 'name_id_sources', /object/);
      const provider = await register({ name_id_formats: [unspecified], name_id_sources: { [unspecified]: 'user_name' } });
      const cleared = await tenant.call('PATCH', `/service-providers/${provider['id']}`, { name_id_sources: {} });
      await assertRefusal(cleared, 'management.invalid_request', { kind: 'name_id_sources', text: /need a source/ });
    });
    test('post-back 4: a name another user has too is nobody’s, and nothing is burnt', async () => {
      const [one, two] = await Promise.all(
        ['one', 'two'].map((name) => createTestUser(tenant, `${name}@shared.example`, { external_id: 'shared' })),
      );
      const provider = await register({ name_id_formats: [unspecified], name_id_sources: { [unspecified]: 'external_id' } });
      const send = await ready(provider, undefined, one!.id);
      await assertRefusal(await send(), 'saml.name_id_policy');
      await tenant.make('POST', `/users/${two!.id}/suspend`);
      await assertRefusal(await send(), 'saml.name_id_policy');
      await tenant.make('PATCH', `/users/${two!.id}`, { external_id: 'Shared' });
      assert.equal(textOf(named((await assertDelivered(await send())).xml, 'NameID')[0]!), 'shared');
      const again = await ready(provider, undefined, one!.id);
      await tenant.make('PATCH', `/users/${two!.id}`, { external_id: 'shared' });
      await assertRefusal(await again(), 'saml.name_id_policy');
      await tenant.make('DELETE', `/users/${two!.id}`);
      await assertDelivered(await again());
    });
    test('post-back 4: a user without the value has no name, nor has one whose value is too long', async () => {
      const bare = await createTestUser(tenant, 'bare@example.com');
      const provider = await register({ name_id_formats: [unspecified], name_id_sources: { [unspecified]: 'external_id' } });
      await assertRefusal(await (await ready(provider, undefined, bare.id))(), 'saml.name_id_policy');
      const work = await register({ name_id_formats: [email], name_id_sources: { [email]: 'emails[work]' } });
      await assertRefusal(await (await ready(work, undefined, bare.id))(), 'saml.name_id_policy');
      await tenant.make('PATCH', `/users/${bare.id}`, { external_id: 'é'.repeat(samlNameIdCharsMax) });
      assert.equal((await nameOf(provider, undefined, bare.id))[1]?.length, samlNameIdCharsMax);
      await tenant.make('PATCH', `/users/${bare.id}`, { external_id: 'é'.repeat(samlNameIdCharsMax + 1) });
      await assertRefusal(await (await ready(provider, undefined, bare.id))(), 'saml.name_id_policy');
    });
    test('post-back 4: a format that was disabled meanwhile', async () => {
      const provider = await register({ name_id_formats: [unspecified], name_id_sources: { [unspecified]: 'user_name' } });
      const send = await ready(provider);
      await tenant.make('PATCH', `/service-providers/${provider['id']}`, { name_id_formats: [email] });
      await assertRefusal(await send(), 'saml.name_id_policy');
    });
    test('encrypted: the default format as EncryptedID, asked for or listed first, and only with a key', async () => {
      await refusedField({ name_id_formats: [encrypted, email] }, 'name_id_formats', /encryption_key/);
      await refusedField(
        { name_id_formats: [encrypted], encryption_key: keys.publicPem },
        'name_id_formats',
        /list the format of the name/,
      );
      const fields = { encryption_key: keys.publicPem, encrypt_assertions: false, attribute_map: {} };
      const asked = await register({ ...fields, name_id_formats: [email] });
      const listed = await register({ ...fields, name_id_formats: [encrypted, email] });
      for (const send of [await ready(asked, encrypted), await ready(listed)]) {
        const { xml } = await assertDelivered(await send());
        assert.equal(named(xml, 'NameID').length, 0);
        assert.ok(!xml.includes('ada@example.com'));
        assert.deepEqual(
          named(xml, 'EncryptedID').map(({ parent }) => parent?.localName),
          ['Subject'],
        );
        if (schemaJudge !== undefined) assert.equal(schemaJudge(xml, 'protocol'), '');
        if (xmlsec === undefined) continue;
        const plain = xmlsec.decrypt(xml, keys.privateKey);
        assert.deepEqual(
          named(plain, 'NameID').map((name) => [attributeOf(name, 'Format'), textOf(name), name.parent?.localName]),
          [[email, 'ada@example.com', 'EncryptedID']],
        );
      }
      assert.deepEqual(await nameOf(listed, email), [email, 'ada@example.com'], 'plain when plain is asked for');
      const both = await register({ encryption_key: keys.publicPem, attribute_map: {} });
      const { xml } = await assertDelivered(await (await ready(both, encrypted))());
      assert.deepEqual([named(xml, 'EncryptedAssertion').length, named(xml, 'EncryptedID').length], [1, 0]);
      const send = await ready(asked, encrypted);
      await tenant.make('PATCH', `/service-providers/${asked['id']}`, { encryption_key: null });
      await assertRefusal(await send(), 'saml.name_id_policy');
    });
    test('an import takes the formats that have what they need, and tells of the others', async () => {
      const id = `https://imported-${++names}.example`;
      const send = async (formats: readonly string[], status: number): Promise<Json> => {
        const role = `${formats.map((format) => `<NameIDFormat>${format}</NameIDFormat>`).join('')}<AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example/acs" index="0"/>`;
        const response = await fetch(`${tenant.managementApi}/service-providers/import`, {
          method: 'POST',
          headers: { authorization: `Bearer ${tenant.token}`, 'content-type': 'application/xml' },
          body: `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${id}"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${role}</SPSSODescriptor></EntityDescriptor>`,
        });
        assert.equal(response.status, status);
        return (await response.json()) as Json;
      };
      const leftOut = (answer: Json): readonly string[] =>
        (answer['import'] as { left_out: readonly { item: string; reason: string }[] }).left_out.map(
          ({ item, reason }) => `${item}: ${reason}`,
        );
      const x509 = `${saml1}X509SubjectName`;
      const first = await send([unspecified, x509, encrypted, email], 201);
      assert.deepEqual(first['name_id_formats'], [email]);
      assert.deepEqual(leftOut(first), [
        `NameIDFormat ${x509}: say in name_id_sources what such names are made of, and enable it`,
        `NameIDFormat ${encrypted}: encrypted names need an encryption key`,
      ]);
      await tenant.make('PATCH', `/service-providers/${first['id']}`, {
        name_id_sources: { [x509]: 'external_id', [unspecified]: 'user_name' },
        encryption_key: keys.publicPem,
      });
      const second = await send([unspecified, x509, encrypted, email], 200);
      assert.deepEqual(second['name_id_formats'], [unspecified, x509, encrypted, email]);
      assert.deepEqual([leftOut(second), second['name_id_sources']], [[], { [x509]: 'external_id', [unspecified]: 'user_name' }]);
    });
  });
}

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { readXml } from '../../src/crypto/xml/reader.ts';
import { verifyEnvelopedSignature } from '../../src/crypto/xml/signature.ts';
import { allElements, attributeOf, childElements, textOf, type XmlElement } from '../../src/crypto/xml/tree.ts';
import type { GroupId } from '../../src/domain/ids.ts';
import type { ServiceProvider } from '../../src/domain/saml/service-provider.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { databases } from '../support/databases.ts';
import { rsaKeys } from '../support/rsa-keys.ts';
import {
  assertDelivered,
  finishSignIn,
  insertSamlUser,
  openSamlIdp,
  postback,
  type SamlIdp,
  samlFlags,
  startSignIn,
} from '../support/saml-idp.ts';
import { openSchemaJudge } from '../support/saml-schema.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { openXmlSec } from '../support/xmlsec.ts';

const keys = rsaKeys();
const limits = { bytesMax: 1 << 20, depthMax: 40, elementsMax: 5000, attributesPerElementMax: 64, namespaceDeclarationsMax: 500 };
const formats = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
};

function read(xml: string): XmlElement {
  const reading = readXml(Buffer.from(xml), { limits, comments: 'refused' });
  assert.ok(reading.ok);
  return reading.root;
}
const named = (root: XmlElement, name: string): readonly XmlElement[] => allElements(root).filter((element) => element.localName === name);
const one = (root: XmlElement, name: string): XmlElement => {
  const [found, ...rest] = named(root, name);
  assert.ok(found !== undefined && rest.length === 0, `${name}: ${rest.length + 1}`);
  return found;
};

const judge = openSchemaJudge();
const xmlsec = openXmlSec();

for (const database of databases) {
  suite(`SAML responses on ${database}`, () => {
    let server: TestServer;
    let idp: SamlIdp;
    let user: Awaited<ReturnType<typeof insertSamlUser>>;
    let idpKey: string;
    before(async () => {
      server = await startTestServer(database, { flags: samlFlags });
      idp = await openSamlIdp(server);
      user = await insertSamlUser(server, idp.tenant, { user_name: 'zoë', given_name: 'Zoë & <b>', family_name: '\u{1F600}' }, [
        { value: 'second@example.com' },
        { value: 'zoe@example.com', primary: true },
      ]);
      const pem = await (await fetch(`${idp.base}/v1/idp/saml/certificate`)).text();
      idpKey = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'pem' }).toString();
    });
    after(() => server.close());

    let providers = 0;
    const deliver = async (
      fields: Readonly<Record<string, unknown>> = {},
      parts = {},
      subject = user,
    ): Promise<{ readonly xml: string; readonly to: ServiceProvider }> => {
      providers += 1;
      const to = await idp.register({ entity_id: `https://sp-${providers}.example/?a=1&b=<é>`, ...fields });
      const started = await startSignIn(await idp.redirect(idp.request({ id: `_r${providers}`, issuer: to.entityId, ...parts })));
      await finishSignIn(server, idp.tenant, started.sessionId, subject);
      return { xml: (await assertDelivered(await postback(idp.base, started.sessionId, started.cookie))).xml, to };
    };

    test('says exactly what the profile asks for', async () => {
      const { xml, to } = await deliver({ attribute_map: {} });
      const root = read(xml);
      const nowMs = server.clock.nowMs();
      const entityId = `${idp.base}/v1/idp/saml/metadata`;
      assert.equal(attributeOf(root, 'Destination'), 'https://sp.example/acs');
      assert.equal(attributeOf(root, 'InResponseTo'), `_r${providers}`);
      assert.deepEqual(named(root, 'Issuer').map(textOf), [entityId, entityId]);
      assert.equal(attributeOf(one(root, 'StatusCode'), 'Value'), 'urn:oasis:names:tc:SAML:2.0:status:Success');
      const confirmation = one(root, 'SubjectConfirmationData');
      assert.equal(attributeOf(confirmation, 'Recipient'), 'https://sp.example/acs');
      assert.equal(attributeOf(confirmation, 'InResponseTo'), `_r${providers}`);
      assert.equal(attributeOf(confirmation, 'NotBefore'), undefined);
      const conditions = one(root, 'Conditions');
      const notBefore = Date.parse(attributeOf(conditions, 'NotBefore') ?? '');
      const notOnOrAfter = Date.parse(attributeOf(conditions, 'NotOnOrAfter') ?? '');
      assert.equal(notOnOrAfter - notBefore, 360_000);
      assert.ok(Math.abs(nowMs - 60_000 - notBefore) < 10_000);
      assert.equal(textOf(one(root, 'Audience')), to.entityId);
      const statement = one(root, 'AuthnStatement');
      assert.match(attributeOf(statement, 'SessionIndex') ?? '', /^_[0-9a-f]{40}$/);
      assert.ok(Math.abs(nowMs - Date.parse(attributeOf(statement, 'AuthnInstant') ?? '')) < 10_000);
      assert.equal(named(root, 'AttributeStatement').length, 0);
    });
    test('IdP-initiated answers no request and carries the registered RelayState', async () => {
      await idp.register({ entity_id: 'https://start.example', idp_initiated_allowed: true, relay_states: ['/home', '/a?b=c&d'] });
      const answers = [];
      for (const asked of ['', '&RelayState=%2Fa%3Fb%3Dc%26d', '&RelayState=https%3A%2F%2Fevil.example']) {
        const started = await startSignIn(await idp.get(`sp=https%3A%2F%2Fstart.example${asked}`));
        await finishSignIn(server, idp.tenant, started.sessionId, user);
        const { xml, relayState } = await assertDelivered(await postback(idp.base, started.sessionId, started.cookie));
        assert.doesNotMatch(xml, /InResponseTo/);
        answers.push(relayState);
      }
      assert.deepEqual(answers, ['/home', '/a?b=c&d', '/home']);
    });

    test('NameID: persistent is stable per provider and unlike for others; transient is fresh; email is the primary one', async () => {
      const nameOf = ({ xml }: { xml: string }): XmlElement => one(read(xml), 'NameID');
      const first = await deliver();
      const persistent = nameOf(first);
      assert.equal(attributeOf(persistent, 'Format'), formats.persistent);
      assert.equal(attributeOf(persistent, 'NameQualifier'), `${idp.base}/v1/idp/saml/metadata`);
      assert.equal(attributeOf(persistent, 'SPNameQualifier'), first.to.entityId);
      const again = await startSignIn(await idp.redirect(idp.request({ issuer: first.to.entityId })));
      await finishSignIn(server, idp.tenant, again.sessionId, user);
      assert.equal(textOf(nameOf(await assertDelivered(await postback(idp.base, again.sessionId, again.cookie)))), textOf(persistent));
      assert.notEqual(textOf(nameOf(await deliver())), textOf(persistent));
      assert.notEqual(textOf(nameOf(await deliver({}, {}, await insertSamlUser(server, idp.tenant)))), textOf(persistent));
      const transient = await Promise.all(
        [0, 1].map(() => deliver({}, { content: `<samlp:NameIDPolicy Format="${formats.transient}"/>` })),
      );
      assert.equal(new Set(transient.map((answer) => textOf(nameOf(answer)))).size, 2);
      const email = nameOf(await deliver({ name_id_formats: [formats.email] }));
      assert.equal(textOf(email), 'zoe@example.com');
      assert.equal(attributeOf(email, 'Format'), formats.email);
    });
    test('attributes: mapped names, primary email first, groups by name, nothing unmapped', async () => {
      await server.gatehouse.services.database.write(idp.tenant.id, async (queries) => {
        for (const name of ['staff', 'admins']) {
          const id = uuidV7(Date.now()) as GroupId;
          const times = { version: 1, created_at: 1, updated_at: 1 };
          await queries
            .insertInto('groups')
            .values({
              tenant_id: idp.tenant.id,
              id,
              display_name: name,
              display_name_key: name,
              origin: 'console',
              external_id: null,
              ...times,
            })
            .execute();
          await queries
            .insertInto('group_members')
            .values({ tenant_id: idp.tenant.id, group_id: id, user_id: user, created_at: 1 })
            .execute();
        }
      });
      const attribute_map = {
        user_name: 'uid',
        'name.given_name': 'givenName',
        'name.family_name': 'urn:oid:2.5.4.4',
        'name.middle_name': 'none',
        emails: 'mail',
        groups: 'memberOf',
      };
      const { xml } = await deliver({ attribute_map });
      const found = named(read(xml), 'Attribute').map((attribute) => [
        attributeOf(attribute, 'Name'),
        attributeOf(attribute, 'NameFormat')?.split(':').at(-1),
        childElements(attribute).map(textOf),
      ]);
      assert.deepEqual(found, [
        ['uid', 'basic', ['zoë']],
        ['givenName', 'basic', ['Zoë & <b>']],
        ['urn:oid:2.5.4.4', 'uri', ['\u{1F600}']],
        ['mail', 'basic', ['zoe@example.com', 'second@example.com']],
        ['memberOf', 'basic', ['admins', 'staff']],
      ]);
    });
    for (const signing of ['both', 'assertion', 'response'] as const) {
      test(`signing: ${signing}`, async () => {
        const { xml } = await deliver({ signing, attribute_map: { user_name: 'uid' } });
        const root = read(xml);
        const parents = named(root, 'Signature').map((signature) => signature.parent?.localName);
        assert.deepEqual(parents, { both: ['Response', 'Assertion'], assertion: ['Assertion'], response: ['Response'] }[signing]);
        for (const parent of parents) {
          if (xmlsec !== undefined)
            assert.ok(xmlsec.verify(xml, idpKey, `//*[local-name()='${parent}']/*[local-name()='Signature']`), parent);
        }
        if (judge !== undefined) assert.equal(judge(xml, 'protocol'), '');
      });
    }
    for (const algorithm of ['aes256-gcm', 'aes128-gcm', 'aes256-cbc'] as const) {
      test(`encryption: ${algorithm}, the Response signed even when only assertions are`, async () => {
        const fields = {
          encryption_key: keys.publicPem,
          encryption: { algorithm },
          signing: 'assertion',
          attribute_map: { user_name: 'uid' },
        };
        const { xml, to } = await deliver(fields);
        assert.equal(to.encryptAssertions, true);
        const root = read(xml);
        assert.equal(named(root, 'Assertion').length, 0);
        assert.ok(!xml.includes('zoë'));
        assert.deepEqual(
          named(root, 'Signature').map((signature) => signature.parent?.localName),
          ['Response'],
        );
        const verified = verifyEnvelopedSignature(root, [
          new X509Certificate(await (await fetch(`${idp.base}/v1/idp/saml/certificate`)).text()).publicKey,
        ]);
        assert.deepEqual(verified, { ok: true });
        if (judge !== undefined) assert.equal(judge(xml, 'protocol'), '');
        if (xmlsec === undefined) return;
        const plain = read(xmlsec.decrypt(xml, keys.privateKey));
        assert.deepEqual(
          named(plain, 'Signature').map((signature) => signature.parent?.localName),
          ['Response', 'Assertion'],
        );
        assert.equal(textOf(one(plain, 'AttributeValue')), 'zoë');
      });
    }
    test('encryption can be switched off by the provider with a key', async () => {
      const { xml } = await deliver({ encryption_key: keys.publicPem, encrypt_assertions: false });
      assert.equal(named(read(xml), 'Assertion').length, 1);
    });
  });
}

// Import of service provider metadata (design 15, "Import"): what the first one makes, what later ones may change, what is left
// out and what is refused.
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { generateServiceProviderMetadata } from '@node-saml/node-saml';
import { samlImportDigestChars } from '../../src/contract/saml-metadata-limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const keys = rsaKeys();
const privatePem = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const email = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient';
const xenc = 'http://www.w3.org/2001/04/xmlenc#';
const xenc11 = 'http://www.w3.org/2009/xmlenc11#';

interface Imported extends Json {
  readonly id: string;
  readonly import: {
    readonly applied: readonly string[];
    readonly left_out: readonly { readonly item: string; readonly reason: string }[];
    readonly warnings: readonly string[];
    readonly digest: string;
  };
}

let made = 0;
const entity = (): string => `https://imported-${++made}.example/metadata`;
const descriptor = (content: string, entityId = entity(), attributes = ''): string =>
  `<!-- as many generators write --><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}" ${attributes}>${content}</md:EntityDescriptor>`;
const role = (content: string, attributes = ''): string =>
  `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol" ${attributes}>${content}</md:SPSSODescriptor>`;
const service = (url = 'https://sp.example/acs', attributes = 'index="3"', binding = 'POST'): string =>
  `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${binding}" Location="${url}" ${attributes}/>`;
const x509 = (pem: string): string => `<ds:X509Data><ds:X509Certificate>${pem.replace(/-.*-\n/g, '')}</ds:X509Certificate></ds:X509Data>`;
const key = (info: string, use = '', methods: readonly string[] = []): string =>
  `<md:KeyDescriptor ${use === '' ? '' : `use="${use}"`}><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#">${info}</ds:KeyInfo>${methods.map((uri) => `<md:EncryptionMethod Algorithm="${uri}"/>`).join('')}</md:KeyDescriptor>`;
const keyName = '<ds:KeyName>x</ds:KeyName>';
const requested = (...names: readonly string[]): string =>
  `<md:AttributeConsumingService index="0"><md:ServiceName xml:lang="de">Lohn</md:ServiceName>${names.map((name) => `<md:RequestedAttribute Name="${name}"/>`).join('')}</md:AttributeConsumingService>`;

for (const database of databases) {
  suite(`import of metadata on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let good: string;
    let second: string;
    let tiny: string;
    let elliptic: string;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      good = x509(await certificatePem(keys));
      second = x509(await certificatePem(rsaKeys('second')));
      tiny = x509(await certificatePem(rsaKeys('tiny', 1024)));
      // What an X.509 reader cannot take and what is no RSA key are told apart by tests of the key reader.
      elliptic = x509(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ type: 'spki', format: 'pem' }).toString());
    });
    after(() => server.close());

    const send = (xml: string | Uint8Array, type = 'application/samlmetadata+xml', query = ''): Promise<Response> =>
      fetch(`${tenant.managementApi}/service-providers/import${query}`, {
        method: 'POST',
        body: xml,
        headers: { authorization: `Bearer ${tenant.token}`, 'content-type': type },
      });
    const imported = async (xml: string | Uint8Array, status: 200 | 201 = 201): Promise<Imported> =>
      jsonOf<Imported>(await send(xml), status);
    const leftOut = ({ import: report }: Imported): readonly string[] => report.left_out.map(({ item, reason }) => `${item}: ${reason}`);

    test('node-saml metadata makes a provider, and a second time updates it and keeps what metadata does not say', async () => {
      const publicCert = await certificatePem(keys);
      const issuer = entity();
      const metadata = (more: object): string =>
        generateServiceProviderMetadata({
          issuer,
          callbackUrl: 'https://sp.example/saml',
          identifierFormat: email,
          wantAssertionsSigned: true,
          ...more,
        });
      const signed = metadata({ publicCerts: publicCert, decryptionCert: publicCert, privateKey: privatePem, decryptionPvk: privatePem });
      const created = await imported(signed);
      assert.deepEqual(created['acs'], [{ url: 'https://sp.example/saml', index: 1, default: true }]);
      assert.deepEqual(created['name_id_formats'], [email]);
      assert.equal((created['signing_keys'] as string[]).length, 1);
      assert.deepEqual([created['require_signed_requests'], created['encrypt_assertions']], [true, true]);
      assert.deepEqual(created['encryption'], { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-mgf1p' });
      const { digest, ...report } = created.import;
      assert.equal(digest.length, samlImportDigestChars);
      assert.deepEqual(report, {
        applied: ['entity_id', 'acs', 'require_signed_requests', 'signing_keys', 'encryption_key', 'encryption', 'name_id_formats'],
        left_out: [],
        warnings: [],
      });
      await tenant.make('PATCH', `/service-providers/${created.id}`, {
        attribute_map: { emails: 'mail' },
        idp_initiated_allowed: true,
        name: 'Mine',
      });
      const updated = await jsonOf<Imported>(await send(metadata({ callbackUrl: 'https://new.example/saml' }), 'application/xml'), 200);
      assert.equal(updated.id, created.id);
      assert.deepEqual(updated['acs'], [{ url: 'https://new.example/saml', index: 1, default: true }]);
      assert.deepEqual([updated['attribute_map'], updated['name']], [{ emails: 'mail' }, 'Mine']);
      assert.equal(updated['require_signed_requests'], true, 'an import never lowers it');
      assert.deepEqual(updated['signing_keys'], created['signing_keys']);
    });
    test('a key without use counts for both; the marked service is the default', async () => {
      const created = await imported(
        descriptor(role(`${key(good)}${service()}${service('https://sp.example/two', 'index="4" isDefault="true"')}`)),
      );
      assert.equal((created['signing_keys'] as string[]).length, 1);
      assert.equal(created['encryption_key'], (created['signing_keys'] as string[])[0]);
      assert.deepEqual(created['acs'], [
        { url: 'https://sp.example/acs', index: 3, default: false },
        { url: 'https://sp.example/two', index: 4, default: true },
      ]);
      assert.deepEqual(created['name_id_formats'], [persistent, email, transient]);
    });
    test('AuthnRequestsSigned decides at first, and is never lowered later', async () => {
      const id = entity();
      const xml = (attributes: string): string => descriptor(role(`${key(good, 'signing')}${service()}`, attributes), id);
      const created = await imported(xml(''));
      assert.equal(created['require_signed_requests'], false);
      assert.match(created.import.warnings.join(), /does not say that it signs requests/);
      assert.equal((await imported(xml('AuthnRequestsSigned="1"'), 200))['require_signed_requests'], true);
      assert.equal((await imported(xml('AuthnRequestsSigned="false"'), 200))['require_signed_requests'], true);
    });
    test('what cannot be used is left out beside what can, and told', async () => {
      const services = [
        service(),
        service('https://sp.example/art', 'index="1"', 'Artifact'),
        service('http://sp.example/plain', 'index="2"'),
        service('https://sp.example/acs', 'index="9"'),
        service('https://sp.example/again', 'index="9"'),
      ];
      const formats = [
        'urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos',
        transient,
        'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
        persistent,
      ];
      const created = await imported(
        descriptor(
          role(
            `${key(elliptic, 'signing')}${key(tiny, 'signing')}${key(keyName, 'signing')}${key(good, 'signing')}${key(second, 'encryption')}${key(good, 'encryption')}` +
              formats.map((format) => `<md:NameIDFormat>${format}</md:NameIDFormat>`).join('') +
              services.join(''),
          ),
        ),
      );
      assert.equal((created['signing_keys'] as string[]).length, 1);
      assert.deepEqual(created['name_id_formats'], [transient, persistent]);
      assert.deepEqual(
        (created['acs'] as readonly Json[]).map(({ url, index }) => [url, index]),
        [
          ['https://sp.example/acs', 3],
          ['https://sp.example/acs', 9],
        ],
      );
      assert.deepEqual(leftOut(created), [
        'AssertionConsumerService https://sp.example/art: the binding is HTTP-Artifact, answers go by HTTP-POST',
        'AssertionConsumerService http://sp.example/plain: Each url is https, or http on loopback.',
        'AssertionConsumerService https://sp.example/again: the index 9 stands twice',
        'KeyDescriptor for signing: its certificate cannot be read',
        'KeyDescriptor for signing: its RSA key has fewer than 2048 bits',
        'KeyDescriptor for signing: it names a key and holds no certificate',
        'KeyDescriptor for encryption: the first encryption key is used',
        'NameIDFormat urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos: no name of this format is made',
      ]);
    });
    test('up to four signing keys; services without an index get one', async () => {
      const certificates = await Promise.all(
        ['k1', 'k2', 'k3', 'k4', 'k5'].map(async (name) => key(x509(await certificatePem(rsaKeys(name))), 'signing')),
      );
      const created = await imported(
        descriptor(role(`${certificates.join('')}${service(undefined, '')}${service('https://sp.example/b', '')}`)),
      );
      assert.equal((created['signing_keys'] as string[]).length, 4);
      assert.deepEqual(leftOut(created), ['KeyDescriptor for signing: a provider has at most 4 signing keys']);
      assert.deepEqual(
        (created['acs'] as readonly Json[]).map(({ index }) => index),
        [0, 1],
      );
      const services = [
        service('https://sp.example/c', ''),
        service('https://sp.example/d', ''),
        service('https://sp.example/e', 'index="0"'),
      ];
      const mixed = await imported(descriptor(role(services.join(''))));
      assert.deepEqual(leftOut(mixed), []);
      assert.deepEqual(
        (mixed['acs'] as readonly Json[]).map(({ index }) => index),
        [1, 2, 0],
      );
    });
    test('a byte-order mark and text/xml pass', async () => {
      const response = await send(
        Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(descriptor(role(service())))]),
        'text/xml; charset=utf-8',
      );
      await jsonOf(response, 201);
    });
    test('of an EntitiesDescriptor its only provider, or the one asked for', async () => {
      const entities = (content: string, attributes = ''): string =>
        `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ${attributes}>${content}</md:EntitiesDescriptor>`;
      const idp = descriptor(role('').replaceAll('SPSSO', 'IDPSSO'));
      const [one, two] = [entity(), entity()];
      assert.equal((await imported(entities(idp + entities(descriptor(role(service()), one)))))['entity_id'], one);
      const both = entities(idp + descriptor(role(service()), one) + descriptor(role(service()), two));
      await assertRefusal(await send(both), 'management.invalid_request', {
        kind: 'metadata',
        text: `Say which one with entity_id. The metadata has: ${one}, ${two}.`,
      });
      const chosen = await send(both, undefined, `?entity_id=${encodeURIComponent(two)}`);
      assert.equal((await jsonOf(chosen, 201))['entity_id'], two);
      await assertRefusal(await send(both, undefined, '?entity_id=urn%3Ax'), 'management.invalid_request', {
        kind: 'metadata',
        text: new RegExp(`does not name that entity once. It has: ${one}, ${two}\\.$`),
      });
      const many = Array.from({ length: 25 }, () => descriptor(role(service()))).join('');
      await assertRefusal(await send(entities(many)), 'management.invalid_request', {
        kind: 'metadata',
        text: /(https:[^,]+, ){19}https:\S+ and 5 more\.$/,
      });
      await assertRefusal(
        await send(entities(descriptor(role(service())), 'validUntil="2020-01-01T00:00:00Z"')),
        'management.invalid_request',
        { kind: 'metadata', text: /expired/ },
      );
    });
    test('the name at first import: the English display name, the first one, else the ServiceName', async () => {
      const display = (...names: readonly (readonly [string, string])[]): string =>
        `<md:Extensions><mdui:UIInfo xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui">${names.map(([lang, name]) => `<mdui:DisplayName xml:lang="${lang}">${name}</mdui:DisplayName>`).join('')}</mdui:UIInfo></md:Extensions>`;
      assert.equal((await imported(descriptor(role(display(['de', 'Lohn'], ['en', ' Pay\n roll ']) + service()))))['name'], 'Pay roll');
      assert.equal((await imported(descriptor(role(display(['de', 'Lohn'], ['fr', 'Paie']) + service()))))['name'], 'Lohn');
      assert.equal((await imported(descriptor(role(service() + requested()))))['name'], 'Lohn');
      const id = entity();
      assert.equal((await imported(descriptor(role(service()), id)))['name'], id);
    });
    test('requested attributes that are known become the map, under the Name asked; others are told', async () => {
      const names = [
        'urn:oid:0.9.2342.19200300.100.1.3',
        'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname',
        'lastName',
        'email',
        'urn:x:shoe-size',
        'constructor',
      ];
      const id = entity();
      const created = await imported(descriptor(role(service() + requested(...names)), id));
      assert.deepEqual(created['attribute_map'], { emails: names[0], 'name.given_name': names[1], 'name.family_name': 'lastName' });
      assert.deepEqual(leftOut(created), [
        'RequestedAttribute email: emails is sent as urn:oid:0.9.2342.19200300.100.1.3',
        'RequestedAttribute urn:x:shoe-size: no user field is known by this Name: map one by hand',
        'RequestedAttribute constructor: no user field is known by this Name: map one by hand',
      ]);
      const again = await imported(descriptor(role(service() + requested('mail')), id), 200);
      assert.deepEqual(again['attribute_map'], created['attribute_map'], 'a stored map stays');
      const nothing = await imported(descriptor(role(service())));
      assert.deepEqual(Object.values(nothing['attribute_map'] as object).toSorted(), [
        'urn:oid:0.9.2342.19200300.100.1.1', 'urn:oid:0.9.2342.19200300.100.1.3', 'urn:oid:2.16.840.1.113730.3.1.241', 'urn:oid:2.5.4.4', 'urn:oid:2.5.4.42',
      ]); // biome-ignore format: one list
      const anonymous = await imported(descriptor(role(`<md:NameIDFormat>${transient}</md:NameIDFormat>${service()}`)));
      assert.deepEqual(anonymous['attribute_map'], {});
    });

    const cbc = [`${xenc}aes128-cbc`, `${xenc}aes256-cbc`, `${xenc}rsa-oaep-mgf1p`];
    const gcm = [...cbc, `${xenc11}aes128-gcm`, `${xenc11}aes256-gcm`, `${xenc11}rsa-oaep`];
    const encryptionOf = async (id: string, methods: readonly string[], status: 200 | 201): Promise<readonly [Json, string]> => {
      const provider = await imported(descriptor(role(key(good, 'encryption', methods) + service()), id), status);
      return [provider['encryption'] as Json, provider.import.warnings.join()];
    };
    test('encryption: the best listed; CBC alone at first, with a warning; none possible is GCM with a warning', async () => {
      assert.deepEqual(await encryptionOf(entity(), gcm, 201), [{ algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-sha256' }, '']);
      assert.deepEqual((await encryptionOf(entity(), [...cbc, `${xenc11}aes128-gcm`], 201))[0], {
        algorithm: 'aes128-gcm',
        key_transport: 'rsa-oaep-mgf1p',
      });
      assert.deepEqual(await encryptionOf(entity(), [], 201), [{ algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-mgf1p' }, '']);
      const [algorithm, warning] = await encryptionOf(entity(), cbc, 201);
      assert.deepEqual(algorithm, { algorithm: 'aes256-cbc', key_transport: 'rsa-oaep-mgf1p' });
      assert.match(warning, /AES-CBC alone/);
      const [impossible, told] = await encryptionOf(entity(), [`${xenc}tripledes-cbc`], 201);
      assert.equal(impossible['algorithm'], 'aes256-gcm');
      assert.match(told, /lists no encryption algorithm that is made here/);
      assert.deepEqual(await encryptionOf(entity(), [`${xenc}rsa-oaep-mgf1p`], 201), [
        { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-mgf1p' },
        '',
      ]);
    });
    test('encryption: raised by later imports, never lowered', async () => {
      const id = entity();
      await encryptionOf(id, cbc, 201);
      assert.equal((await encryptionOf(id, [], 200))[0]['algorithm'], 'aes256-cbc', 'nothing listed says nothing');
      assert.deepEqual((await encryptionOf(id, gcm, 200))[0], { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-sha256' });
      const [kept, warning] = await encryptionOf(id, cbc, 200);
      assert.deepEqual(kept, { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-sha256' });
      assert.match(warning, /aes256-gcm stays/);
    });

    const refusals: readonly (readonly [kind: string, what: string, xml: () => string])[] = [
      ['metadata', 'not XML', () => 'hello'],
      ['metadata', 'a DOCTYPE', () => `<!DOCTYPE x>${descriptor(role(service()))}`],
      ['metadata', 'an entity bomb', () => `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${descriptor(role(service('https://&b;')))}`],
      ['metadata', 'an EntitiesDescriptor of 10,000', () => `<e:EntitiesDescriptor xmlns:e="urn:oasis:names:tc:SAML:2.0:metadata">${'<e:EntityDescriptor/>'.repeat(10_000)}</e:EntitiesDescriptor>`.slice(0, 200_000)],
      ['metadata', 'an EntitiesDescriptor of nobody', () => '<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"/>'],
      ['metadata', 'another document', () => descriptor(role(service())).replaceAll('EntityDescriptor', 'AffiliationDescriptor')],
      ['metadata', 'an identity provider', () => descriptor(role(service()).replaceAll('SPSSO', 'IDPSSO'))],
      ['metadata', 'two roles', () => descriptor(role(service()) + role(service()))],
      ['metadata', 'SAML 1.1', () => descriptor(role(service()).replaceAll('SAML:2.0:protocol', 'SAML:1.1:protocol'))],
      ['metadata', 'expired', () => descriptor(role(service()), entity(), 'validUntil="2020-01-01T00:00:00Z"')],
      ['metadata', 'an expired role', () => descriptor(role(service(), 'validUntil="2020-01-01T00:00:00Z"'))],
      ['entity_id', 'no entityID', () => descriptor(role(service())).replace(/ entityID="[^"]*"/, '')],
      ['entity_id', 'an empty entityID', () => descriptor(role(service()), '')],
      ['acs', 'no service', () => descriptor(role(''))],
      ['acs', 'no POST service', () => descriptor(role(service(undefined, undefined, 'Artifact')))],
      ['acs', 'an http service alone', () => descriptor(role(service('http://sp.example/acs')))],
      ['acs', 'javascript:', () => descriptor(role(service('javascript:alert(1)')))],
      ['signing_keys', 'signed requests and no key', () => descriptor(role(service(), 'AuthnRequestsSigned="true"'))],
      ['signing_keys', 'signed requests and a key by name', () => descriptor(role(key(keyName, 'signing') + service(), 'AuthnRequestsSigned="true"'))],
      ['signing_keys', 'signed requests and a small key', () => descriptor(role(key(tiny, 'signing') + service(), 'AuthnRequestsSigned="true"'))],
      ['encryption_key', 'an encryption key by name alone', () => descriptor(role(key(keyName, 'encryption') + service()))],
      ['encryption_key', 'a small encryption key alone', () => descriptor(role(key(good, 'signing') + key(tiny, 'encryption') + service()))],
      ['encryption_key', 'an elliptic encryption key alone', () => descriptor(role(key(elliptic, 'encryption') + service()))],
      ['encryption_key', 'an elliptic key for both that lists what to encrypt with', () => descriptor(role(key(elliptic, '', [`${xenc11}aes256-gcm`]) + service()))],
    ]; // biome-ignore format: a table
    for (const [kind, what, xml] of refusals) {
      test(`400 kind ${kind}: ${what}`, async () => {
        await assertRefusal(await send(xml()), 'management.invalid_request', { kind, text: /.+/ });
      });
    }
    test('a key by name alone where nothing is signed or encrypted is left out', async () => {
      const created = await imported(descriptor(role(key(keyName) + service())));
      assert.deepEqual([created['signing_keys'], created['encryption_key']], [[], null]);
      assert.deepEqual(leftOut(created), ['KeyDescriptor: it names a key and holds no certificate']);
    });
    test('a key for both that nothing can be encrypted to: taken, and told that assertions go out unencrypted', async () => {
      const created = await imported(descriptor(role(key(elliptic) + service())));
      assert.deepEqual([created['signing_keys'], created['encryption_key'], created['encrypt_assertions']], [[], null, false]);
      assert.match(created.import.warnings.join(), /None of its keys can be encrypted to.* unencrypted\.$/);
      const id = entity();
      await imported(descriptor(role(key(good) + service()), id));
      const again = await imported(descriptor(role(key(elliptic) + service()), id), 200);
      assert.deepEqual(
        [again['encrypt_assertions'], again.import.warnings.join().includes('unencrypted')],
        [true, false],
        'the key it had stays',
      );
      const beside = await imported(descriptor(role(key(elliptic) + key(second, 'encryption') + service())));
      assert.equal(beside.import.warnings.join().includes('unencrypted'), false);
    });
    test('import takes no JSON, and no parameter it does not know', async () => {
      const response = await tenant.call('POST', '/service-providers/import', { xml: descriptor(role(service())) });
      await assertRefusal(response, 'management.invalid_request', { kind: 'metadata', text: /.+/ });
      await assertRefusal(await send(descriptor(role(service())), undefined, '?entity=x'), 'management.invalid_request', {
        kind: 'entity',
        text: /.+/,
      });
    });
  });
}

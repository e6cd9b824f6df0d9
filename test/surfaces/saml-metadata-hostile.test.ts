// Hostile metadata addresses and documents (design 15, "Refresh by URL"): private and redirecting targets, bombs, too much of
// anything, and signatures moved about. Each is a failure that leaves the last copy. Names that change their mind: unit/outbound.test.ts.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { samlFetchedMetadataXmlLimits, samlMetadataEntitiesMax } from '../../src/contract/saml-metadata-limits.ts';
import { databases } from '../support/databases.ts';
import {
  acs,
  acsOf,
  entity,
  federation,
  type MetadataWorld,
  md,
  openMetadataWorld,
  registeredAcs,
  role,
  simple,
} from '../support/metadata-host.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { signMetadata } from '../support/saml-requests.ts';

for (const database of databases) {
  suite(`hostile metadata on ${database}`, () => {
    let world: MetadataWorld;
    let pem: string;
    before(async () => {
      world = await openMetadataWorld(database);
      pem = await certificatePem(rsaKeys());
    });
    after(() => world.close());

    test('with metadata_certificate the signature of the root must verify, and nothing but what it covers counts', async () => {
      const one = await world.provider({ metadata_certificate: pem });
      const path = 'https://sp.example/signed';
      const xml = entity(one.entityId, role(acs(path)), 'ID="_m1"');
      const signed = signMetadata(xml, rsaKeys().privateKey);
      const evil = entity(one.entityId, role(acs('https://sp.example/evil')), 'ID="_evil"');
      const wrapped = (inside: string): string => `<md:EntitiesDescriptor ${md} ID="_all">${inside}</md:EntitiesDescriptor>`;
      const signedAll = signMetadata(wrapped(simple('https://other.example')), rsaKeys().privateKey);
      for (const [what, body, failure] of [
        ['unsigned', xml, 'signature_missing'],
        ['by another key', signMetadata(xml, rsaKeys('second').privateKey), 'signature_mismatch'],
        ['changed', signed.replace('/signed', '/evil'), 'digest_mismatch'],
        [
          'an attribute added',
          signed.replace('<md:SPSSODescriptor ', '<md:SPSSODescriptor AuthnRequestsSigned="false" '),
          'digest_mismatch',
        ],
        [
          'the signed entity below an unsigned root',
          wrapped(signed.replace(one.entityId, 'https://signed.example') + evil),
          'signature_misplaced',
        ],
        [
          'the signature moved to a foreign root',
          evil.replace('<md:SPSSO', `${signed.match(/<ds:Signature.*<\/ds:Signature>/s)?.[0]}<md:SPSSO`),
          'signature_reference',
        ],
        [
          'the evil entity inside KeyInfo, which no signature covers',
          signedAll.replace('</ds:Signature>', `<ds:KeyInfo>${evil}</ds:KeyInfo></ds:Signature>`),
          'entity_not_in_metadata',
        ],
        [
          'the evil entity inside Object',
          signedAll.replace('</ds:Signature>', `<ds:Object>${evil}</ds:Object></ds:Signature>`),
          'entity_not_in_metadata',
        ],
        ['two signatures', signed.replace(/(<ds:Signature.*<\/ds:Signature>)/s, '$1$1'), 'signature_misplaced'],
        ['two elements of one ID', signed.replace('<md:AssertionConsumerService', '<md:AssertionConsumerService ID="_m1"'), 'duplicate_id'],
        ['comment in the entityID', signed.replace('?>', '').replace(`"${one.entityId}"`, `"${one.entityId}<!---->"`), 'not_well_formed'],
      ] as const) {
        one.serve(body);
        assert.equal((await one.refresh()).failure, failure, what);
        assert.deepEqual(acsOf(await one.read()), [registeredAcs], what);
      }
      one.serve(signed);
      assert.equal((await one.refresh()).failure, null);
      assert.deepEqual(acsOf(await one.read()), [path]);
      one.serve(signMetadata(wrapped(entity(one.entityId, role(acs('https://sp.example/in')))), rsaKeys().privateKey));
      assert.equal((await one.refresh()).failure, null);
      assert.deepEqual(acsOf(await one.read()), ['https://sp.example/in']);
    });
    test('hostile addresses: private, redirecting, silent ones and what is no https are refused', async () => {
      const one = await world.provider();
      for (const [url, failure] of [
        ['https://10.0.0.1/md', 'refused_address'],
        ['https://169.254.169.254/latest', 'refused_address'],
        ['https://[::1]/md', 'refused_address'],
        ['https://[::ffff:10.0.0.1]/md', 'refused_address'],
        ['http://10.0.0.1/md', 'refused_address'],
        ['https://metadata.invalid/md', 'unresolved'],
      ] as const) {
        await world.tenant.make('PATCH', one.at, { metadata_url: url });
        assert.equal((await one.refresh()).failure, failure, url);
      }
      await world.tenant.make('PATCH', one.at, { metadata_url: `${world.origin}${one.path}` });
      for (const status of [301, 302, 307, 308]) {
        world.answers.set('/target', { body: simple(one.entityId) });
        one.serve({ status, headers: { location: `${world.origin}/target` } });
        assert.equal((await one.refresh()).failure, `status_${status}`);
      }
      assert.equal(world.asked.filter(({ path }) => path === '/target').length, 0, 'redirects are not followed');
      for (const url of [
        'http://sp.example/md',
        'ftp://sp.example/md',
        'https://a:b@sp.example/md',
        'https://sp.example/md#x',
        'sp.example',
        '',
        5,
      ]) {
        const refused = await world.tenant.call('PATCH', one.at, { metadata_url: url });
        await assertRefusal(refused, 'management.invalid_request', { kind: 'metadata_url', text: /.+/ });
      }
    });
    test('hostile documents: bombs, too many bytes, elements or entities; n is taken, n + 1 is not', async () => {
      const one = await world.provider();
      const { bytesMax, elementsMax } = samlFetchedMetadataXmlLimits;
      const filled = (bytes: number): string => simple(one.entityId).padEnd(bytes, ' ');
      const inExtensions = (count: number): string =>
        entity(one.entityId, `<md:Extensions>${'<md:e/>'.repeat(count - 4)}</md:Extensions>${role(acs(registeredAcs))}`);
      const others = (count: number): string => federation(one.entityId, count);
      for (const [what, body, failure] of [
        ['bytes', filled(bytesMax), null],
        ['bytes + 1', filled(bytesMax + 1), 'too_large'],
        ['elements', inExtensions(elementsMax), null],
        ['elements + 1', inExtensions(elementsMax + 1), 'too_many_elements'],
        ['entities', others(samlMetadataEntitiesMax), null],
        ['entities + 1', others(samlMetadataEntitiesMax + 1), 'too_many_entities'],
        ['10,000 entities', others(10_000), 'too_many_entities'],
        ['an entity bomb', `<!DOCTYPE r [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>${simple(one.entityId)}`, 'doctype'],
        ['deep', entity(one.entityId, '<md:Extensions>'.repeat(40) + '</md:Extensions>'.repeat(40)), 'too_deep'],
      ] as const) {
        one.serve(body);
        assert.equal((await one.refresh()).failure, failure, what);
      }
      one.serve({ body: Buffer.from(filled(bytesMax * 4)), headers: { 'content-encoding': 'gzip' } });
      assert.equal((await one.refresh()).failure, 'too_large');
    });
    test('thousands of consumer services that cannot be used are read in seconds: nobody waits for minutes', async () => {
      const one = await world.provider();
      one.serve(entity(one.entityId, role(acs(registeredAcs) + '<md:AssertionConsumerService/>'.repeat(30_000))));
      const from = process.threadCpuUsage(); // the server runs in this thread; others may take its processor
      assert.equal((await one.refresh()).failure, null);
      const { user, system } = process.threadCpuUsage(from);
      assert.ok(user + system < 10_000_000, `${Math.round((user + system) / 1000)} ms`);
    });
    test('an upload of more entities than the limit is refused by their count', async () => {
      const send = (count: number): Promise<Response> =>
        fetch(`${world.tenant.managementApi}/service-providers/import?entity_id=u:picked-${database}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${world.tenant.token}`, 'content-type': 'application/samlmetadata+xml' },
          body: federation(`u:picked-${database}`, count),
        });
      assert.equal((await send(samlMetadataEntitiesMax)).status, 201);
      await assertRefusal(await send(samlMetadataEntitiesMax + 1), 'management.invalid_request', {
        kind: 'metadata',
        text: /describes 1001 entities; at most 1000 are read/,
      });
    });
  });
}

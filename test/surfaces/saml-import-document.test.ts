// A service provider from a document that somebody gives, as from one at an address (saml-import-address.test.ts): what a dry run shows and
// a digest holds to, who must have signed it, and what is refused before it is read. What a document does: saml-import.test.ts.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { samlEntityIdCharsMax, samlKeyPemCharsMax } from '../../src/contract/limits.ts';
import { samlImportDigestChars } from '../../src/contract/saml-metadata-limits.ts';
import { databases } from '../support/databases.ts';
import {
  clientCredentialsToken,
  createTestClient,
  createTestTenant,
  type Json,
  jsonOf,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { acs, acsOf, entity, key, md, role, simple } from '../support/metadata-host.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { signMetadata } from '../support/saml-requests.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const changed = 'This is not what was shown: the document is another, or the registration has changed since. Look at it again.';

interface Imported extends Json {
  readonly id: string | null;
  readonly import: { readonly applied: readonly string[]; readonly digest: string } & Json;
}
type Told = Readonly<Record<string, string>>;

for (const database of databases) {
  suite(`import of a document of metadata on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let pem: string;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      pem = await certificatePem(rsaKeys());
    });
    after(() => server.close());

    const fresh = (): string => `https://given-${++made}.example`;
    const send = (xml: string, told: Told = {}, by: Managed = tenant): Promise<Response> =>
      fetch(`${by.managementApi}/service-providers/import?${new URLSearchParams(told)}`, {
        method: 'POST',
        body: xml,
        headers: { authorization: `Bearer ${by.token}`, 'content-type': 'application/samlmetadata+xml' },
      });
    const imported = async (xml: string, told: Told, status: 200 | 201): Promise<Imported> =>
      jsonOf<Imported>(await send(xml, told), status);
    const registered = async (entityId: string): Promise<Json | undefined> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?limit=200')).items.find(
        (one) => one['entity_id'] === entityId,
      );
    const made201 = async (entityId: string): Promise<readonly Json[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=service_provider.created&limit=200')).items.filter(
        ({ data }) => (data as Json)['entity_id'] === entityId,
      );

    test('a dry run shows what would be registered and registers nothing; with its digest just that is', async () => {
      const entityId = fresh();
      const xml = entity(entityId, role(key(pem, 'signing') + acs('https://sp.example/acs', 'index="3"'), 'AuthnRequestsSigned="true"'));
      const shown = await imported(xml, { dry_run: 'true' }, 200);
      assert.deepEqual([shown.id, shown['created_at'], shown['updated_at']], [null, null, null]);
      assert.deepEqual([await registered(entityId), await made201(entityId)], [undefined, []]);
      assert.equal(shown.import.digest.length, samlImportDigestChars);
      const done = await imported(xml, { dry_run: 'false', digest: shown.import.digest }, 201);
      const { id, created_at: _made, updated_at: _changed, ...values } = done;
      const { id: _none, created_at: _never, updated_at: _ever, ...shownValues } = shown;
      assert.deepEqual(values, shownValues);
      assert.deepEqual(
        [values['entity_id'], values['metadata_url'], values['require_signed_requests'], values['acs']],
        [entityId, null, true, [{ url: 'https://sp.example/acs', index: 3, default: true }]],
      );
      const { last_sign_in_at: _nobody, ...kept } = await tenant.make<Json>('GET', `/service-providers/${id}`);
      const { import: _report, ...answered } = done;
      assert.deepEqual(kept, answered);
      assert.equal((await made201(entityId)).length, 1);
      const again = await imported(xml, { dry_run: 'true' }, 200);
      assert.deepEqual([again.id, again.import.digest], [id, shown.import.digest]);
    });

    test('another document than the one that was shown is refused; spaces and times of one are none', async () => {
      const entityId = fresh();
      const { digest } = (await imported(simple(entityId), { dry_run: 'true' }, 200)).import;
      for (const other of [entity(entityId, role(acs('https://evil.example/acs'))), simple('https://another.example')])
        await assertRefusal(await send(other, { digest }), 'management.conflict', { kind: 'digest', text: changed });
      assert.equal(await registered(entityId), undefined);
      await imported(` \n${simple(entityId, 'validUntil="2100-01-01T00:00:00Z"')}\n`.trim(), { digest }, 201);
    });

    test('one that is registered is shown as it would be changed, and a change of it meanwhile is refused', async () => {
      const entityId = fresh();
      const fields = { entity_id: entityId, name: 'Mine', acs: [{ url: 'https://sp.example/old' }], attribute_map: { emails: 'mail' } };
      const { id } = await tenant.make('POST', '/service-providers', fields);
      const xml = entity(entityId, role(acs('https://new.example/acs')));
      const shown = await imported(xml, { dry_run: 'true' }, 200);
      assert.deepEqual([shown.id, shown['name'], acsOf(shown)], [id, 'Mine', ['https://new.example/acs']]);
      assert.deepEqual(acsOf((await registered(entityId))!), ['https://sp.example/old']);
      const { digest } = shown.import;
      await tenant.make('PATCH', `/service-providers/${id}`, { name: 'Changed meanwhile' });
      await assertRefusal(await send(xml, { digest }), 'management.conflict', { kind: 'digest', text: changed });
      assert.deepEqual(acsOf((await registered(entityId))!), ['https://sp.example/old']);
      await tenant.make('DELETE', `/service-providers/${id}`);
      await assertRefusal(await send(xml, { digest }), 'management.conflict', { kind: 'digest', text: changed });
      await tenant.make('POST', '/service-providers', fields);
      const done = await imported(xml, { digest }, 200);
      assert.deepEqual([done['name'], done['attribute_map'], acsOf(done)], ['Mine', { emails: 'mail' }, ['https://new.example/acs']]);
    });

    test('20 at once of one that is shown: one is made, all others find just that, or that it is taken', async () => {
      const entityId = fresh();
      const { digest } = (await imported(simple(entityId), { dry_run: 'true' }, 200)).import;
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(simple(entityId), { digest })));
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, 1, statuses.join());
      assert.deepEqual(
        // Those that find no turn are told to come back.
        statuses.filter((status) => ![200, 201, 409, 503].includes(status)),
        [],
      );
      assert.equal((await made201(entityId)).length, 1);
    });

    test('a change beside an import to which nothing was shown: both are done', async () => {
      const entityId = fresh();
      const { id } = await imported(simple(entityId), {}, 201);
      const xml = entity(entityId, role(acs('https://new.example/acs')));
      await Promise.all([
        ...Array.from({ length: 4 }, () => imported(xml, {}, 200)),
        ...['a', 'b', 'c', 'd'].map((name) => tenant.make('PATCH', `/service-providers/${id}`, { name })),
      ]);
      assert.deepEqual(acsOf((await registered(entityId))!), ['https://new.example/acs']);
    });

    test('a signature that is asked for must hold: by the certificate given, and by the one a registration has', async () => {
      const entityId = fresh();
      const other = await certificatePem(rsaKeys('second'));
      const xml = entity(entityId, role(acs('https://sp.example/signed')), 'ID="_m"');
      const signed = signMetadata(xml, rsaKeys().privateKey);
      const unsigned = { kind: 'metadata', text: 'The document is not signed, and a signature is asked for.' };
      for (const told of [{}, { dry_run: 'true' }] as const) {
        await assertRefusal(await send(xml, { ...told, metadata_certificate: pem }), 'management.invalid_request', unsigned);
        await assertRefusal(await send(signed, { ...told, metadata_certificate: other }), 'management.invalid_request', {
          kind: 'metadata',
          text: 'The document is signed by another key.',
        });
        await assertRefusal(
          await send(signed.replace('sp.example/signed', 'evil.example/acs'), { ...told, metadata_certificate: pem }),
          'management.invalid_request',
          { kind: 'metadata', text: 'The document was changed after it was signed.' },
        );
        await assertRefusal(
          await send(signed.replace('<ds:SignedInfo>', '<ds:SignedInfo Id="x">'), { ...told, metadata_certificate: pem }),
          'management.invalid_request',
          { kind: 'metadata', text: /^The (?:signature|document) / },
        );
      }
      assert.equal(await registered(entityId), undefined);
      const shown = await imported(signed, { metadata_certificate: pem, dry_run: 'true' }, 200);
      const { digest } = shown.import;
      assert.deepEqual([shown['metadata_certificate'], shown.import.applied.at(-1)], [pem, 'metadata_certificate']);
      await assertRefusal(await send(signed, { digest }), 'management.conflict', { kind: 'digest', text: changed });
      assert.equal((await imported(signed, { metadata_certificate: pem, digest }, 201))['metadata_certificate'], pem);
      await assertRefusal(await send(xml), 'management.invalid_request', unsigned);
      assert.equal((await imported(signed, {}, 200))['metadata_certificate'], pem);
      const renewed = signMetadata(xml, rsaKeys('second').privateKey);
      assert.equal((await imported(renewed, { metadata_certificate: other }, 200))['metadata_certificate'], other);
      const { id } = (await registered(entityId))!;
      await tenant.make('PATCH', `/service-providers/${String(id)}`, { metadata_certificate: null });
      await imported(xml, {}, 200);
    });

    test('of several, the one that is named, in a dry run too', async () => {
      const [one, two] = [fresh(), fresh()];
      const xml = `<md:EntitiesDescriptor ${md}>${simple(one)}${simple(two)}</md:EntitiesDescriptor>`;
      await assertRefusal(await send(xml, { dry_run: 'true' }), 'management.invalid_request', { kind: 'metadata', text: /^Say which one/ });
      assert.equal((await imported(xml, { dry_run: 'true', entity_id: two }, 200))['entity_id'], two);
      assert.deepEqual([await registered(one), await registered(two)], [undefined, undefined]);
    });

    test('refused, and nothing is registered: without the capability, wrong and unknown parameters', async () => {
      const entityId = fresh();
      const reader = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [],
        grant_types: ['client_credentials'],
        scopes: ['service-providers:read', 'settings:write'],
      });
      const own = managedWith(await clientCredentialsToken(tenant.baseUrl, reader.client_id, reader.client_secret), tenant);
      await assertRefusal(await send(simple(entityId), { dry_run: 'true' }, own), 'management.forbidden', {
        text: 'The token lacks the capability service-providers:write.',
      });
      for (const [told, kind, text] of [
        [{ entity_id: '' }, 'entity_id', /1 to/],
        [{ entity_id: 'x'.repeat(samlEntityIdCharsMax + 1) }, 'entity_id', /1 to/],
        [{ entity_id: 'x'.repeat(samlEntityIdCharsMax) }, 'metadata', /does not name that entity once/],
        [{ metadata_certificate: '' }, 'metadata_certificate', /.+/],
        [{ metadata_certificate: 'no certificate' }, 'metadata_certificate', /not one PEM/],
        [{ metadata_certificate: 'x'.repeat(samlKeyPemCharsMax + 1) }, 'metadata_certificate', /.+/],
        [{ dry_run: 'yes' }, 'dry_run', /must be/],
        [{ dry_run: '' }, 'dry_run', /must be/],
        [{ dry_run: 'TRUE' }, 'dry_run', /must be/],
        [{ digest: 'x'.repeat(samlImportDigestChars - 1) }, 'digest', /.+/],
        [{ digest: 'x'.repeat(samlImportDigestChars + 1) }, 'digest', /.+/],
        [{ metadata_url: 'https://sp.example/metadata' }, 'metadata_url', 'This parameter is not known here.'],
      ] as const)
        await assertRefusal(await send(simple(entityId), told), 'management.invalid_request', { kind, text });
      await assertRefusal(await send(simple(entityId), { digest: 'x'.repeat(samlImportDigestChars) }), 'management.conflict', {
        kind: 'digest',
        text: changed,
      });
      assert.equal(await registered(entityId), undefined);
      const padded = pem.padEnd(5000, '\n'); // three bytes each in a query
      const signed = signMetadata(entity(entityId, role(acs('https://sp.example/acs')), 'ID="_m"'), rsaKeys().privateKey);
      await imported(signed, { metadata_certificate: padded }, 201);
    });
  });
}

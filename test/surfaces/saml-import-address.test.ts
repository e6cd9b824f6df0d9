// A service provider from the metadata at its address (design 23, part 3): what a dry run shows and a digest holds to, what is kept, who may,
// how often, and that nothing is said of addresses that are not public. Documents and addresses beyond that are those of the refresh, which
// reads by the same code: saml-metadata-hostile.test.ts.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { samlEntityIdCharsMax, samlKeyPemCharsMax, urlCharsMax } from '../../src/contract/limits.ts';
import {
  samlFetchedMetadataXmlLimits,
  samlImportDigestChars,
  samlMetadataReadsPerMinuteMax,
} from '../../src/contract/saml-metadata-limits.ts';
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
import {
  acs,
  acsOf,
  entity,
  key,
  type MetadataWorld,
  md,
  openMetadataWorld,
  type RefreshState,
  role,
  simple,
  timeToNext,
} from '../support/metadata-host.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { signMetadata } from '../support/saml-requests.ts';
import { startTestServer } from '../support/server.ts';

const at = '/service-providers/import/address';
const notReached =
  'The host of this address is not known, or is not public. Check the spelling. The operator of this server can allow a host of your own network (GATEHOUSE_EGRESS_ALLOW).';
const noMetadata = 'There is no SAML metadata at this address. Give the address of the metadata itself, not of a page about it.';

interface Imported extends Json {
  readonly id: string | null;
  readonly import: {
    readonly applied: readonly string[];
    readonly left_out: readonly Json[];
    readonly warnings: readonly string[];
    readonly digest: string;
  };
}

for (const database of databases) {
  suite(`import of metadata by address on ${database}`, () => {
    let world: MetadataWorld;
    let pem: string;
    let made = 0;
    before(async () => {
      world = await openMetadataWorld(database);
      pem = await certificatePem(rsaKeys());
    });
    after(() => world.close());

    /** An address of its own; `serve` says what is there. */
    function application() {
      made += 1;
      const path = `/app-${made}`;
      return {
        entityId: `https://addressed-${made}.example`,
        url: `${world.origin}${path}`,
        serve: (answer: { status?: number; headers?: Readonly<Record<string, string>>; body?: string | Buffer } | string) =>
          void world.answers.set(path, typeof answer === 'string' ? { body: answer } : answer),
        asked: () => world.asked.filter((request) => request.path === path).length,
      };
    }
    const send = (body: unknown, tenant: Managed = world.tenant): Promise<Response> => tenant.call('POST', at, body);
    const imported = async (body: Json, status: number): Promise<Imported> => jsonOf<Imported>(await send(body), status);
    const registered = async (entityId: string, tenant = world.tenant): Promise<Json | undefined> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', '/service-providers?limit=200')).items.find(
        (one) => one['entity_id'] === entityId,
      );

    test('a dry run shows what would be registered and registers nothing; with its digest just that is', async () => {
      const one = application();
      const tenant = await createTestTenant(world.server);
      one.serve({
        body: entity(
          one.entityId,
          role(key(pem, 'signing') + acs('https://sp.example/acs', 'index="3"'), 'AuthnRequestsSigned="true"'),
          'cacheDuration="PT5H"',
        ),
        headers: { etag: '"v1"' },
      });
      const shown = await jsonOf<Imported>(await send({ metadata_url: one.url, dry_run: true }, tenant), 200);
      assert.deepEqual([shown.id, shown['created_at'], shown['updated_at']], [null, null, null]);
      assert.equal(await registered(one.entityId, tenant), undefined);
      assert.equal(shown.import.digest.length, samlImportDigestChars);
      const done = await jsonOf<Imported>(await send({ metadata_url: one.url, digest: shown.import.digest }, tenant), 201);
      const { id, created_at: _made, updated_at: _changed, import: report, ...values } = done;
      const { id: _none, created_at: _never, updated_at: _ever, import: shownReport, ...shownValues } = shown;
      assert.deepEqual([values, report], [shownValues, shownReport]);
      assert.deepEqual(
        [values['entity_id'], values['metadata_url'], values['require_signed_requests'], values['acs']],
        [one.entityId, one.url, true, [{ url: 'https://sp.example/acs', index: 3, default: true }]],
      );
      assert.deepEqual(report.applied.slice(-1), ['metadata_url']);
      const state = await tenant.make<RefreshState & Json>('GET', `/service-providers/${id}/metadata-refresh`);
      assert.deepEqual([state.failure, state.waiting, timeToNext(state)], [null, [], 5 * 3_600_000], 'it was read just now');
      await world.run();
      assert.equal(one.asked(), 2, 'and is not read again at once');
      const read = await tenant.make<Json>('GET', `/service-providers/${id}`);
      const { last_sign_in_at: _nobody, ...kept } = read;
      assert.deepEqual(kept, { id, ...values, created_at: done['created_at'], updated_at: done['updated_at'] });
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/events?type=service_provider.created');
      assert.deepEqual(
        items.map((event) => [event['target'], event['data']]),
        [[`service_provider:${id}`, { entity_id: one.entityId }]],
      );
    });

    test('what changed between the two is refused, and nothing is registered', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      const { digest } = (await imported({ metadata_url: one.url, dry_run: true }, 200)).import;
      one.serve(entity(one.entityId, role(acs('https://evil.example/acs'))));
      const text = 'What is at the address has changed since it was shown. Look at it again.';
      await assertRefusal(await send({ metadata_url: one.url, digest }), 'management.conflict', { kind: 'digest', text });
      one.serve(simple('https://another.example'));
      await assertRefusal(await send({ metadata_url: one.url, digest }), 'management.conflict', { kind: 'digest', text });
      assert.equal(await registered(one.entityId), undefined);
      const other = application();
      other.serve(simple(one.entityId));
      await assertRefusal(await send({ metadata_url: other.url, digest }), 'management.conflict', { kind: 'digest', text });
      one.serve(simple(one.entityId, 'cacheDuration="PT2H"'));
      assert.equal(
        (await imported({ metadata_url: one.url, digest }, 201))['entity_id'],
        one.entityId,
        'what is not registered may be other',
      );
    });

    test('one that is registered is updated as by an upload, and a change of it meanwhile is refused', async () => {
      const one = application();
      const { id } = await world.tenant.make('POST', '/service-providers', {
        ...{
          entity_id: one.entityId,
          name: 'Mine',
          acs: [{ url: 'https://sp.example/old' }],
          enabled: false,
          attribute_map: { emails: 'mail' },
        },
        signing_keys: [pem],
      });
      one.serve(entity(one.entityId, role(acs('https://new.example/acs'), 'AuthnRequestsSigned="false"')));
      const shown = await imported({ metadata_url: one.url, dry_run: true }, 200);
      assert.deepEqual([shown.id, acsOf(shown)], [id, ['https://new.example/acs']]);
      assert.deepEqual(acsOf((await registered(one.entityId))!), ['https://sp.example/old']);
      await world.tenant.make('PATCH', `/service-providers/${id}`, { name: 'Changed meanwhile' });
      const { digest } = shown.import;
      await assertRefusal(await send({ metadata_url: one.url, digest }), 'management.conflict', { kind: 'digest', text: /changed since/ });
      await world.tenant.make('PATCH', `/service-providers/${id}`, { name: 'Mine' });
      const done = await imported({ metadata_url: one.url, digest }, 200);
      assert.deepEqual(
        [done.id, done['name'], done['enabled'], done['require_signed_requests'], done['attribute_map'], done['metadata_url'], acsOf(done)],
        [id, 'Mine', false, true, { emails: 'mail' }, one.url, ['https://new.example/acs']],
      );
      const again = await imported({ metadata_url: one.url }, 200);
      assert.deepEqual([again.id, again.import.digest], [id, digest]);
      assert.deepEqual((await world.tenant.make<RefreshState & Json>('GET', `/service-providers/${id}/metadata-refresh`)).waiting, []);
    });

    test('20 at once of one that is new: one is made, the others update it or are told that it is taken', async () => {
      const one = application();
      const tenant = await createTestTenant(world.server);
      one.serve(simple(one.entityId));
      const answers = await Promise.all(Array.from({ length: 20 }, () => send({ metadata_url: one.url }, tenant)));
      const statuses = answers.map(({ status }) => status);
      assert.equal(statuses.filter((status) => status === 201).length, 1, statuses.join());
      // Those that find no turn to be parsed in are told to come back.
      assert.deepEqual(
        statuses.filter((status) => ![200, 201, 409, 503].includes(status)),
        [],
      );
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/service-providers');
      assert.equal(items.length, 1);
    });

    test('a signature that is asked for must hold: by the certificate given, and by the one a registration has', async () => {
      const one = application();
      const other = await certificatePem(rsaKeys('second'));
      const xml = entity(one.entityId, role(acs('https://sp.example/signed')), 'ID="_m"');
      one.serve(xml);
      const refused = { kind: 'metadata_url', text: 'The document is not signed, and a signature is asked for.' };
      await assertRefusal(await send({ metadata_url: one.url, metadata_certificate: pem }), 'management.invalid_request', refused);
      one.serve(signMetadata(xml, rsaKeys().privateKey));
      const by = { kind: 'metadata_url', text: 'The document is signed by another key.' };
      await assertRefusal(await send({ metadata_url: one.url, metadata_certificate: other }), 'management.invalid_request', by);
      assert.equal((await imported({ metadata_url: one.url, metadata_certificate: pem }, 201))['metadata_certificate'], pem);
      const elsewhere = application();
      elsewhere.serve(xml);
      await assertRefusal(await send({ metadata_url: elsewhere.url }), 'management.invalid_request', refused);
      assert.equal((await registered(one.entityId))!['metadata_url'], one.url, 'an unsigned copy elsewhere takes nothing over');
      elsewhere.serve(signMetadata(xml, rsaKeys().privateKey));
      assert.equal((await imported({ metadata_url: elsewhere.url }, 200))['metadata_url'], elsewhere.url);
    });

    test('of several, the one that is named', async () => {
      const [one, two] = [application(), application()];
      one.serve(`<md:EntitiesDescriptor ${md}>${simple(one.entityId)}${simple(two.entityId)}</md:EntitiesDescriptor>`);
      await assertRefusal(await send({ metadata_url: one.url, dry_run: true }), 'management.invalid_request', {
        kind: 'entity_id',
        text: `Say which one with entity_id. The metadata has: ${one.entityId}, ${two.entityId}.`,
      });
      await assertRefusal(await send({ metadata_url: one.url, entity_id: 'urn:none' }), 'management.invalid_request', {
        kind: 'entity_id',
        text: `The metadata does not name that entity once. It has: ${one.entityId}, ${two.entityId}.`,
      });
      assert.equal((await imported({ metadata_url: one.url, entity_id: two.entityId }, 201))['entity_id'], two.entityId);
      assert.equal(await registered(one.entityId), undefined);
      const idp = application();
      idp.serve(simple(idp.entityId).replaceAll('SPSSODescriptor', 'IDPSSODescriptor'));
      await assertRefusal(await send({ metadata_url: idp.url }), 'management.invalid_request', {
        kind: 'metadata_url',
        text: 'The metadata at this address describes no application that people sign in to.',
      });
    });

    test('what cannot be used is said in words; n bytes are taken, n + 1 are not; redirects are not followed', async () => {
      const one = application();
      const tenant = await createTestTenant(world.server);
      const { bytesMax } = samlFetchedMetadataXmlLimits;
      const target = application();
      target.serve(simple(one.entityId));
      const answered = (status: number): string => `The host answered ${status}. Check the address, and that it opens without signing in.`;
      for (const [answer, text] of [
        [{ status: 404 }, answered(404)],
        [{ status: 500 }, answered(500)],
        [{ status: 304 }, /^The host answered 304/],
        [{ status: 301, headers: { location: target.url } }, 'The host answered 301: the address leads on to another one. Give that one.'],
        [
          { status: 307, headers: { location: 'http://10.0.0.1/' } },
          'The host answered 307: the address leads on to another one. Give that one.',
        ],
        ['', noMetadata],
        ['<!doctype html><html><body>Metadata</body></html>', noMetadata],
        ['{"entityID": "x"}', noMetadata],
        ['<html></html>', noMetadata],
        [simple(one.entityId, 'validUntil="2020-01-01T00:00:00Z"'), /^The metadata has expired\./],
        [entity(one.entityId, role('')), /^No AssertionConsumerService has the HTTP-POST binding/],
        [entity(one.entityId, role(acs('https://sp.example/acs'), 'AuthnRequestsSigned="true"')), /^It signs requests/],
        [`<!DOCTYPE r [<!ENTITY a "aa">]>${simple(one.entityId)}`, noMetadata],
        [simple(one.entityId).padEnd(bytesMax + 1, ' '), 'The document is too large.'],
      ] as const) {
        one.serve(answer);
        await assertRefusal(await send({ metadata_url: one.url }, tenant), 'management.invalid_request', { kind: 'metadata_url', text });
      }
      assert.equal(target.asked(), 0);
      assert.equal(await registered(one.entityId, tenant), undefined);
      one.serve({ body: simple(one.entityId).padEnd(bytesMax, ' '), headers: { 'content-type': 'text/plain' } });
      await jsonOf(await send({ metadata_url: one.url }, tenant), 201);
    });

    test('an address that is not public: one answer, whatever is there, and nobody is asked there', async () => {
      const closed = await startTestServer(database);
      const host = createServer((_request, response) => void response.end(simple('https://inside.example')));
      let asked = 0;
      host.on('connection', () => {
        asked += 1;
      });
      await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
      const { port } = host.address() as AddressInfo; // listening on TCP
      try {
        const tenant = await createTestTenant(closed);
        const answers = new Set<string>();
        for (const url of [
          `http://127.0.0.1:${port}/metadata`,
          `https://127.0.0.1:${port}/metadata`,
          'http://127.0.0.1:1/',
          'https://localhost/',
          'https://10.0.0.1/',
          'https://169.254.169.254/latest/meta-data/',
          'https://[::1]/',
          'https://[::ffff:10.0.0.1]/',
          'https://metadata.invalid/',
          'http://192.0.2.1/',
        ]) {
          const said = { kind: 'metadata_url', text: notReached };
          answers.add(await assertRefusal(await send({ metadata_url: url }, tenant), 'management.invalid_request', said));
        }
        assert.deepEqual([answers.size, asked], [1, 0]);
        const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/service-providers');
        assert.deepEqual(items, []);
      } finally {
        host.close();
        await closed.close();
      }
    });

    test('refused before anything is fetched: without the capability, another token, wrong and unknown members', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      const { tenant } = world;
      const reader = await createTestClient(tenant, {
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [],
        grant_types: ['client_credentials'],
        scopes: ['service-providers:read', 'settings:write'],
      });
      const own = managedWith(await clientCredentialsToken(tenant.baseUrl, reader.client_id, reader.client_secret), tenant);
      for (const dry of [true, false])
        await assertRefusal(await send({ metadata_url: one.url, dry_run: dry }, own), 'management.forbidden', {
          text: 'The token lacks the capability service-providers:write.',
        });
      await assertRefusal(await send({ metadata_url: one.url }, managedWith('nonsense', tenant)), 'management.unauthorized');
      const https = 'An https URL without fragment and credentials is required.';
      const pathOf = (chars: number): string => `${one.url}?${'x'.repeat(chars - one.url.length - 1)}`;
      for (const [body, kind, text] of [
        [{}, 'metadata_url', 'This field is required.'],
        [{ metadata_url: null }, 'metadata_url', /must be/],
        [{ metadata_url: 5 }, 'metadata_url', /must be/],
        [{ metadata_url: [one.url] }, 'metadata_url', /must be/],
        [{ metadata_url: '' }, 'metadata_url', /1 to/],
        [{ metadata_url: 'sp.example/metadata' }, 'metadata_url', https],
        [{ metadata_url: 'http://sp.example/metadata' }, 'metadata_url', https],
        [{ metadata_url: 'ftp://sp.example/metadata' }, 'metadata_url', https],
        [{ metadata_url: 'https://a:b@sp.example/' }, 'metadata_url', https],
        [{ metadata_url: `${one.url}#x` }, 'metadata_url', https],
        [{ metadata_url: 'https://sp.example/metädata' }, 'metadata_url', https],
        [{ metadata_url: `${one.url}\u0001` }, 'metadata_url', /Control characters/],
        [{ metadata_url: pathOf(urlCharsMax + 1) }, 'metadata_url', /1 to/],
        [{ metadata_url: one.url, entity_id: '' }, 'entity_id', /1 to/],
        [{ metadata_url: one.url, entity_id: 'x'.repeat(samlEntityIdCharsMax + 1) }, 'entity_id', /1 to/],
        [{ metadata_url: one.url, metadata_certificate: 'no certificate' }, 'metadata_certificate', /not one PEM/],
        [{ metadata_url: one.url, metadata_certificate: 'x'.repeat(samlKeyPemCharsMax + 1) }, 'metadata_certificate', /.+/],
        [{ metadata_url: one.url, metadata_certificate: null }, 'metadata_certificate', /must be/],
        [{ metadata_url: one.url, dry_run: 'yes' }, 'dry_run', /must be/],
        [{ metadata_url: one.url, digest: 'x'.repeat(samlImportDigestChars - 1) }, 'digest', /.+/],
        [{ metadata_url: one.url, digest: 'x'.repeat(samlImportDigestChars + 1) }, 'digest', /.+/],
        [{ metadata_url: one.url, access_policy: 'everyone' }, 'access_policy', 'This field is not known here.'],
        [{ metadata_url: one.url, organization: 'x' }, 'organization', 'This field is not known here.'],
      ] as const)
        await assertRefusal(await send(body), 'management.invalid_request', { kind, text });
      assert.equal(one.asked(), 0);
      const longest = pathOf(urlCharsMax);
      world.answers.set(longest.slice(world.origin.length), { body: simple(one.entityId) });
      assert.equal((await imported({ metadata_url: longest }, 201))['metadata_url'], longest);
      await assertRefusal(await send({ metadata_url: one.url, digest: 'x'.repeat(samlImportDigestChars) }), 'management.conflict', {
        kind: 'digest',
        text: /changed/,
      });
    });

    test('samlMetadataReadsPerMinuteMax: so many readings a minute of a tenant, by import and refresh together, and one more', async () => {
      const one = application();
      one.serve(simple(one.entityId));
      const tenant = await createTestTenant(world.server);
      const neighbour = await createTestTenant(world.server);
      const { id } = await jsonOf<Imported>(await send({ metadata_url: one.url }, tenant), 201);
      for (let at = 1; at < samlMetadataReadsPerMinuteMax; at += 1)
        await (at % 2 === 0
          ? jsonOf(await send({ metadata_url: one.url, dry_run: true }, tenant), 200)
          : tenant.make('POST', `/service-providers/${id}/metadata-refresh`));
      const before = one.asked();
      await assertRefusal(await send({ metadata_url: one.url, dry_run: true }, tenant), 'management.rate_limited');
      await assertRefusal(await tenant.call('POST', `/service-providers/${id}/metadata-refresh`), 'management.rate_limited');
      assert.equal(one.asked(), before);
      await jsonOf(await send({ metadata_url: one.url, dry_run: true }, neighbour), 200);
    });
  });
}

// Metadata of service providers read from its address (design 15, "Refresh by URL"): what is taken over, what waits for approval,
// and what leaves the last copy. Hostile addresses and documents: saml-metadata-hostile.test.ts.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { samlRefreshMsMax, samlRefreshMsMin } from '../../src/contract/saml-metadata-limits.ts';
import { databases } from '../support/databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, jsonOf, managedWith } from '../support/management.ts';
import {
  acs,
  acsOf,
  entity,
  key,
  type MetadataWorld,
  md,
  openMetadataWorld,
  type RefreshState,
  registeredAcs,
  role,
  simple,
  timeToNext,
} from '../support/metadata-host.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer } from '../support/server.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const xenc11 = 'http://www.w3.org/2009/xmlenc11#';

for (const database of databases) {
  suite(`refresh of metadata on ${database}`, () => {
    let world: MetadataWorld;
    let pem: string;
    let otherPem: string;
    before(async () => {
      world = await openMetadataWorld(database);
      pem = await certificatePem(rsaKeys());
      otherPem = await certificatePem(rsaKeys('second'));
    });
    after(() => world.close());

    test('read at once by the job, then daily, with If-None-Match; an unchanged answer changes nothing', async () => {
      const one = await world.provider();
      assert.equal((await one.state()).tried_at, null);
      one.serve({
        body: entity(one.entityId, role(acs(registeredAcs) + acs('https://sp.example/second', 'index="1"'))),
        headers: { etag: '"v1"' },
      });
      await world.run();
      const state = await one.state();
      assert.deepEqual([state.failure, state.waiting, state.refreshed_at, timeToNext(state)], [null, [], state.tried_at, dayMs]);
      assert.deepEqual(acsOf(await one.read()), [registeredAcs, 'https://sp.example/second']);
      assert.deepEqual(
        (await world.eventsOf('service_provider.refreshed', one.id)).map((event) => [event['actor'], event['data']]),
        [['system', { changed: ['acs'] }]],
      );
      await world.run();
      assert.equal(one.asked().length, 1, 'not due');
      one.serve({ status: 304 });
      await world.passTime(dayMs + 1000);
      await world.run();
      const [first, second, ...rest] = one.asked();
      assert.deepEqual([first?.headers['if-none-match'], second?.headers['if-none-match'], rest], [undefined, '"v1"', []]);
      assert.match(String(first?.headers.accept), /^application\/samlmetadata\+xml/);
      const later = await one.state();
      assert.deepEqual([later.failure, later.refreshed_at, timeToNext(later)], [null, later.tried_at, dayMs]);
      assert.equal((await world.eventsOf('service_provider.refreshed', one.id)).length, 1);
    });
    test('cacheDuration is obeyed from an hour to seven days; the shortest of several', async () => {
      const one = await world.provider();
      for (const [attributes, expected] of [
        ['cacheDuration="PT6H"', 6 * hourMs],
        ['cacheDuration="P2DT1H30M"', 49.5 * hourMs],
        ['cacheDuration="PT1H"', samlRefreshMsMin],
        ['cacheDuration="PT59M59S"', samlRefreshMsMin],
        ['cacheDuration="P7D"', samlRefreshMsMax],
        ['cacheDuration="P7DT1S"', samlRefreshMsMax],
        ['cacheDuration="P1Y"', samlRefreshMsMax],
        ['cacheDuration="-P1D"', dayMs],
        ['cacheDuration="soon"', dayMs],
        ['', dayMs],
      ] as const) {
        one.serve(simple(one.entityId, attributes));
        assert.equal(timeToNext(await one.refresh()), expected, attributes);
      }
      one.serve(
        `<md:EntitiesDescriptor ${md} cacheDuration="PT5H">${simple(one.entityId, 'cacheDuration="PT9H"')}</md:EntitiesDescriptor>`,
      );
      assert.equal(timeToNext(await one.refresh()), 5 * hourMs);
    });
    test('another entityID is refused; of a federation’s file the registeredAcs entity is read', async () => {
      const one = await world.provider();
      one.serve(simple('https://other.example'));
      assert.equal((await one.refresh()).failure, 'entity_not_in_metadata');
      const many = [simple('https://other.example'), entity(one.entityId, role(acs('https://sp.example/new')))].join('');
      one.serve(`<md:EntitiesDescriptor ${md}>${many}</md:EntitiesDescriptor>`);
      assert.equal((await one.refresh()).failure, null);
      assert.deepEqual(acsOf(await one.read()), ['https://sp.example/new']);
    });
    test('a failure keeps the last copy, is told once for a reason, and is tried again in an hour', async () => {
      const one = await world.provider();
      one.serve(entity(one.entityId, role(acs('https://sp.example/kept'))));
      await one.refresh();
      const before = await one.read();
      for (const [answer, failure] of [
        [{ status: 500 }, 'status_500'],
        [{ status: 500 }, 'status_500'],
        [{ status: 304 }, 'status_304'],
        [{ status: 204 }, 'status_204'],
        [{ body: '' }, 'not_well_formed'],
        [{ body: '<html></html>' }, 'not_metadata'],
        [{ body: simple(one.entityId, 'validUntil="2020-01-01T00:00:00Z"') }, 'metadata_expired'],
        [{ body: entity(one.entityId, role('')) }, 'no_usable_consumer_service'],
        [{ body: entity(one.entityId, role(acs(registeredAcs), 'AuthnRequestsSigned="true"')) }, 'no_usable_signing_key'],
      ] as const) {
        one.serve(answer);
        const state = await one.refresh();
        assert.deepEqual([state.failure, timeToNext(state)], [failure, hourMs], failure);
        assert.notEqual(state.refreshed_at, null);
      }
      assert.deepEqual(await one.read(), before);
      const told = (await world.eventsOf('service_provider.refresh_failed', one.id)).map((event) => (event['data'] as Json)['reason']);
      assert.deepEqual(told.toSorted(), [
        'metadata_expired',
        'no_usable_consumer_service',
        'no_usable_signing_key',
        'not_metadata',
        'not_well_formed',
        'status_204',
        'status_304',
        'status_500',
      ]);
      one.serve(entity(one.entityId, role(acs('https://sp.example/kept'))));
      await world.passTime(hourMs + 1000);
      await world.run();
      assert.equal((await one.state()).failure, null);
    });
    test('a host not seen before waits for approval; the rest is taken', async () => {
      const one = await world.provider();
      const far = 'https://evil.example/acs';
      one.serve(
        entity(
          one.entityId,
          role(
            key(pem, 'signing') +
              acs('https://sp.example/two', 'index="4"') +
              acs(far, 'index="5" isDefault="true"') +
              acs('https://sp.example:8443/x', 'index="6"'),
            'AuthnRequestsSigned="true"',
          ),
        ),
      );
      const state = await one.refresh();
      assert.deepEqual(state.waiting, [
        { url: far, index: 5, default: true },
        { url: 'https://sp.example:8443/x', index: 6, default: false },
      ]);
      assert.deepEqual(state.waiting_hosts, ['evil.example', 'sp.example:8443']);
      const taken = await one.read();
      assert.deepEqual(taken['acs'], [{ url: 'https://sp.example/two', index: 4, default: true }]);
      assert.equal(taken['require_signed_requests'], true);
      assert.deepEqual(
        (await world.eventsOf('service_provider.acs_waits', one.id)).map((event) => event['data']),
        [{ hosts: ['evil.example', 'sp.example:8443'] }],
      );
      await one.refresh();
      assert.equal((await world.eventsOf('service_provider.acs_waits', one.id)).length, 1, 'told once');

      const wrong = { kind: 'hosts', text: 'These hosts wait for approval: evil.example, sp.example:8443.' };
      await assertRefusal(await one.approve('evil.example', 'other.example'), 'management.invalid_request', wrong);
      await assertRefusal(await one.approve('sp.example'), 'management.invalid_request', wrong);
      assert.deepEqual(await one.read(), taken);
      const approved = await jsonOf<RefreshState>(await one.approve('evil.example'), 200);
      assert.deepEqual(approved.waiting_hosts, ['sp.example:8443']);
      assert.deepEqual((await one.read())['acs'], [
        { url: 'https://sp.example/two', index: 4, default: false },
        { url: far, index: 5, default: true },
      ]);
      assert.deepEqual(
        (await world.eventsOf('service_provider.acs_approved', one.id)).map((event) => event['data']),
        [{ hosts: ['evil.example'] }],
      );
      await assertRefusal(await one.approve('evil.example'), 'management.invalid_request', {
        kind: 'hosts',
        text: /wait for approval: sp/,
      });
      assert.deepEqual((await one.refresh()).waiting_hosts, ['sp.example:8443'], 'approved for good');
      assert.equal((await one.approve('sp.example:8443')).status, 200);
      await assertRefusal(await one.approve('sp.example:8443'), 'management.invalid_request', {
        kind: 'hosts',
        text: 'No host waits for approval.',
      });
    });
    test('where every address is new, the registered ones stay until one is approved', async () => {
      const one = await world.provider();
      one.serve(entity(one.entityId, role(acs('https://new.example/acs', 'index="0"'))));
      assert.deepEqual((await one.refresh()).waiting_hosts, ['new.example']);
      assert.deepEqual(acsOf(await one.read()), [registeredAcs]);
      assert.equal((await one.approve('new.example')).status, 200);
      assert.deepEqual((await one.read())['acs'], [{ url: 'https://new.example/acs', index: 0, default: true }]);
    });
    test('20 approvals at once: one', async () => {
      const one = await world.provider();
      one.serve(entity(one.entityId, role(acs(registeredAcs) + acs('https://new.example/acs', 'index="1"'))));
      await one.refresh();
      const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await one.approve('new.example')).status));
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join());
    });
    test('a refresh never lowers what protects', async () => {
      const one = await world.provider();
      const best = `<md:EncryptionMethod Algorithm="${xenc11}aes256-gcm"/><md:EncryptionMethod Algorithm="${xenc11}rsa-oaep"/>`;
      one.serve(
        entity(one.entityId, role(key(pem, 'signing') + key(pem, 'encryption', best) + acs(registeredAcs), 'AuthnRequestsSigned="true"')),
      );
      await one.refresh();
      const strong = await one.read();
      assert.deepEqual([strong['require_signed_requests'], strong['encrypt_assertions']], [true, true]);
      assert.deepEqual(strong['encryption'], { algorithm: 'aes256-gcm', key_transport: 'rsa-oaep-sha256' });
      const { updated_at: _before, ...kept } = strong;
      const worst = '<md:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/>';
      for (const weaker of [
        role(acs(registeredAcs)),
        role(key(pem, 'signing') + key(pem, 'encryption', worst) + acs(registeredAcs), 'AuthnRequestsSigned="false"'),
      ]) {
        one.serve(entity(one.entityId, weaker));
        assert.equal((await one.refresh()).failure, null);
        const { updated_at: _after, ...now } = await one.read();
        assert.deepEqual(now, kept);
      }
      assert.match((await one.state()).remarks?.warnings.join() ?? '', /aes256-gcm stays/);
      one.serve(entity(one.entityId, role(key(otherPem, 'signing') + key(otherPem, 'encryption', worst) + acs(registeredAcs))));
      await one.refresh();
      const rolled = await one.read();
      assert.notDeepEqual(rolled['signing_keys'], strong['signing_keys'], 'keys may roll');
      assert.deepEqual([rolled['encryption'], rolled['require_signed_requests']], [strong['encryption'], true]);
    });
    test('two runs at once read an address once', async () => {
      const one = await world.provider();
      one.serve(simple(one.entityId));
      const node =
        database === 'sqlite'
          ? world.server
          : await startTestServer(database, {
              flags: { egress_allow: '127.0.0.0/8' },
              database: world.server.database,
              clock: world.server.clock,
            });
      try {
        await Promise.all([world.run(), node.gatehouse.services.jobs.runNow('saml-metadata')]);
      } finally {
        if (node !== world.server) await node.close();
      }
      await world.passTime(hourMs); // the other node's lease
      assert.equal(one.asked().length, 1);
    });
    test('a new address or certificate is read anew without the old tag; no address, no state', async () => {
      const one = await world.provider();
      one.serve({ body: entity(one.entityId, role(acs('https://new.example/acs'))), headers: { etag: '"v1"' } });
      await one.refresh();
      await world.tenant.make('PATCH', one.at, { metadata_certificate: pem });
      const state = await one.state();
      assert.deepEqual([state.tried_at, state.waiting_hosts], [null, []]);
      await world.run();
      assert.equal(one.asked().at(-1)?.headers['if-none-match'], undefined);
      assert.equal((await one.state()).failure, 'signature_missing');
      await world.tenant.make('PATCH', one.at, { name: 'Another name' });
      assert.equal((await one.state()).failure, 'signature_missing', 'another field changes nothing');
      await world.tenant.make('PATCH', one.at, { metadata_url: null, metadata_certificate: null });
      assert.deepEqual(await one.state(), {
        metadata_url: null,
        next_at: null,
        tried_at: null,
        refreshed_at: null,
        failure: null,
        remarks: null,
        waiting: [],
        waiting_hosts: [],
      });
      const none = await world.tenant.call('POST', `${one.at}/metadata-refresh`);
      await assertRefusal(none, 'management.conflict', { kind: 'metadata_url', text: /Set one first/ });
      await assertRefusal(await one.approve('new.example'), 'management.invalid_request', { kind: 'hosts', text: /.+/ });
    });
    test('refused: unknown providers, another tenant, wrong fields, too few rights', async () => {
      const one = await world.provider();
      const stranger = await createTestTenant(world.server);
      for (const [method, path] of [
        ['GET', '/metadata-refresh'],
        ['POST', '/metadata-refresh'],
        ['POST', '/metadata-refresh/approve'],
      ] as const) {
        const body = path.endsWith('approve') ? { hosts: ['x'] } : undefined;
        await assertRefusal(await world.tenant.call(method, `/service-providers/none${path}`, body), 'management.not_found');
        await assertRefusal(await stranger.call(method, `${one.at}${path}`, body), 'management.not_found');
      }
      for (const hosts of [[], 'x', [5], undefined])
        await assertRefusal(
          await world.tenant.call('POST', `${one.at}/metadata-refresh/approve`, { hosts }),
          'management.invalid_request',
          {
            kind: 'hosts',
            text: /.+/,
          },
        );
      await assertRefusal(await world.tenant.call('PATCH', one.at, { metadata_certificate: 'x' }), 'management.invalid_request', {
        kind: 'metadata_certificate',
        text: /PEM/,
      });
      const weak = managedWith(
        await clientCredentialsToken(
          world.tenant.baseUrl,
          world.tenant.adminClientId,
          world.tenant.adminClientSecret,
          'service-providers:read',
        ),
        world.tenant,
      );
      await assertRefusal(await weak.call('POST', `${one.at}/metadata-refresh`), 'management.forbidden', {
        text: /service-providers:write/,
      });
    });
  });
}

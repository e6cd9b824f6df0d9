// Contract 7.13: the rows without scimType (401, 403, 404, 412), and what the HTTP layer refuses in the SCIM envelope.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { foldKey } from '../../src/domain/fold.ts';
import type { GroupId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertRevokedToken } from '../../src/storage/oidc/revoked-tokens.ts';
import { assertRefusal } from '../support/refusal.ts';
import { mintScimToken, patchBody, rootTenant, type ScimCaller, scimCaller, scimPlaces, startScim, userBody } from '../support/scim.ts';

const methods: readonly (readonly [string, string, unknown])[] = [
  ['GET', '/Users', undefined],
  ['POST', '/Users', {}],
  ['GET', '/Users/x', undefined],
  ['PUT', '/Users/x', {}],
  ['PATCH', '/Users/x', {}],
  ['DELETE', '/Users/x', undefined],
  ['GET', '/Groups', undefined],
  ['POST', '/Groups', {}],
  ['GET', '/Groups/x', undefined],
  ['PUT', '/Groups/x', {}],
  ['PATCH', '/Groups/x', {}],
  ['DELETE', '/Groups/x', undefined],
  ['POST', '/Users/.search', {}],
  ['POST', '/Groups/.search', {}],
  ['POST', '/.search', {}],
  ['POST', '/Bulk', {}],
  ['GET', '/Me', undefined],
  ['GET', '/Schemas', undefined],
  ['GET', '/ResourceTypes', undefined],
  ['GET', '/ServiceProviderConfig', undefined],
];
const isWrite = (method: string, path: string): boolean => method !== 'GET' && !path.endsWith('.search');
const isDiscovery = (path: string): boolean => /^\/(Schemas|ResourceTypes|ServiceProviderConfig)/.test(path);

for (const { database, directory } of scimPlaces) {
  describe(`7.13 statuses of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
    });
    after(() => scim.close());
    const as = (authorization: string | undefined): RequestInit => (authorization === undefined ? {} : { headers: { authorization } });

    it('7.13 scim.unauthorized: each reason is named', async () => {
      const expired = await mintScimToken(scim.server, { lifetimeSeconds: 0 });
      const audience = await mintScimToken(scim.server, { audience: 'https://other.example' });
      const broken = `${(await mintScimToken(scim.server)).slice(0, -4)}AAAA`;
      const cases: readonly (readonly [string | undefined, string])[] = [
        [undefined, 'The bearer access token is missing.'],
        ['Basic eDp5', 'The bearer access token is missing.'],
        ['Bearer', 'The bearer access token is missing.'],
        ['Bearer nonsense', 'The access token is not a token of this service.'],
        [`Bearer ${broken}`, 'The signature of the access token is not valid.'],
        [`Bearer ${expired}`, 'The access token has expired.'],
        [`Bearer ${audience}`, 'The access token is for another audience.'],
      ];
      for (const [authorization, text] of cases) {
        await assertRefusal(await fetch(`${scim.base}/Users`, as(authorization)), 'scim.unauthorized', { text });
      }
    });

    it('7.13 scim.unauthorized: a revoked token', { skip: directory !== 'tenant' }, async () => {
      const token = await mintScimToken(scim.server);
      const { jti, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
      const tenant = await rootTenant(scim.server);
      const url = `${scim.base}/Users`;
      assert.equal((await fetch(url, as(`Bearer ${token}`))).status, 200);
      await scim.server.gatehouse.services.database.write(tenant.id, (queries) => insertRevokedToken(queries, tenant.id, jti, exp));
      await assertRefusal(await fetch(url, as(`Bearer ${token}`)), 'scim.unauthorized', { text: 'The access token has been revoked.' });
    });

    for (const [method, path, body] of methods) {
      it(`7.13 scim.unauthorized, scim.forbidden: ${method} ${path}`, async () => {
        const nobody = await fetch(scim.base + path, { method });
        if (directory === 'organization' && path === '/Me') return void (await assertRefusal(nobody, 'scim.not_found')); // nobody's own
        await assertRefusal(nobody, 'scim.unauthorized', { text: 'The bearer access token is missing.' });
        if (directory === 'organization') return; // its tokens read and write; no other is for it
        const wrong = isDiscovery(path) ? 'users:read' : isWrite(method, path) ? 'scim:read' : 'scim:write';
        const needed = isDiscovery(path) ? 'scim:read or scim:write' : isWrite(method, path) ? 'scim:write' : 'scim:read';
        const caller = scimCaller(scim.server, await mintScimToken(scim.server, { scope: wrong }));
        await assertRefusal(await caller.fetch(method, path, body), 'scim.forbidden', { text: `The access token lacks ${needed}.` });
      });
    }

    it('7.13 scim.resource_not_found: unknown, deleted, console-managed and foreign are the same bytes', async () => {
      const { database: db, clock } = scim.server.gatehouse.services;
      const tenant = await rootTenant(scim.server);
      const consoleGroup = uuidV7(clock.nowMs()) as GroupId;
      await db.write(tenant.id, (queries) =>
        queries
          .insertInto('groups')
          .values({
            tenant_id: tenant.id,
            id: consoleGroup,
            display_name: 'Console',
            display_name_key: foldKey('Console'),
            origin: 'console',
            external_id: null,
            version: 1,
            created_at: 1,
            updated_at: 1,
          })
          .execute(),
      );
      const gone = await scim.newUser('gone');
      await scim.call('DELETE', `/Users/${gone.id}`);
      const patch = patchBody({ op: 'replace', path: 'displayName', value: 'x' });
      const bodies: string[] = [];
      const refused = async (method: string, path: string, body?: unknown): Promise<void> =>
        void bodies.push(await assertRefusal(await scim.fetch(method, path, body), 'scim.resource_not_found'));
      for (const path of ['/Users/nobody', `/Users/${gone.id}`, `/Groups/${consoleGroup}`, '/Groups/nothing', `/Groups/${gone.id}`]) {
        await refused('GET', path);
        await refused('PUT', path, { ...userBody('x'), displayName: 'x' });
        await refused('PATCH', path, patch);
        await refused('DELETE', path);
      }
      const mine = directory === 'tenant' ? ['/Me'] : [];
      for (const path of ['/Schemas/urn:nothing', '/ResourceTypes/Nothing', ...mine]) await refused('GET', path);
      assert.equal(new Set(bodies).size, 1);
      const groups = await scim.call('GET', `/Groups?filter=${encodeURIComponent('displayName eq "console"')}`);
      assert.equal(groups.body['totalResults'], 0);
      assert.equal((await scim.call('GET', '/Groups')).body['totalResults'], 0);
      if (directory === 'organization') return; // its groups' names are its own
      await assertRefusal(await scim.fetch('POST', '/Groups', { displayName: 'CONSOLE' }), 'scim.uniqueness', {
        text: 'The displayName is in use.',
      });
    });

    it('7.13 scim.precondition_failed: If-Match of another version, on every write', async () => {
      const user = await scim.newUser('versioned');
      const group = await scim.newGroup('Versioned');
      const stale = { 'if-match': 'W/"7"' };
      for (const [path, body] of [
        [`/Users/${user.id}`, userBody('versioned')],
        [`/Groups/${group.id}`, { displayName: 'Versioned' }],
      ] as const) {
        await assertRefusal(await scim.fetch('PUT', path, body, stale), 'scim.precondition_failed');
        await assertRefusal(await scim.fetch('PATCH', path, patchBody(), stale), 'scim.precondition_failed');
        await assertRefusal(await scim.fetch('DELETE', path, undefined, stale), 'scim.precondition_failed');
        for (const header of ['*', 'W/"1"', '"1"', 'W/"9", W/"1"']) {
          const result = await scim.call('PATCH', path, patchBody(), { 'if-match': header });
          assert.ok(result.status < 300, `${header}: ${result.status}`);
          assert.equal(result.headers.get('etag'), 'W/"1"');
        }
      }
    });

    it('scim.method_not_allowed, scim.not_found, scim.unsupported_media_type, scim.payload_too_large', async () => {
      await assertRefusal(await scim.fetch('PUT', '/Users', {}), 'scim.method_not_allowed');
      await assertRefusal(await scim.fetch('GET', '/Nothing'), 'scim.not_found');
      const xml = await scim.fetch('POST', '/Users', '<x/>', { 'content-type': 'application/xml' });
      await assertRefusal(xml, 'scim.unsupported_media_type');
      const gzip = await scim.fetch('POST', '/Users', '{}', { 'content-encoding': 'gzip' });
      await assertRefusal(gzip, 'scim.unsupported_media_type');
      const exact = JSON.stringify({ ...userBody('big'), ignored: '' });
      const padded = exact.replace('"ignored":""', `"ignored":"${'x'.repeat(1_048_576 - exact.length)}"`);
      assert.equal(Buffer.byteLength(padded), 1_048_576);
      assert.equal((await scim.call('POST', '/Users', padded)).status, 201);
      await assertRefusal(await scim.fetch('POST', '/Users', `${padded} `), 'scim.payload_too_large');
      assert.equal((await scim.call('POST', '/Users', userBody('plain'), { 'content-type': 'application/json' })).status, 201);
    });

    it('scim.malformed: percent-encoding of a query that means nothing', async () => {
      for (const query of ['filter=%zz', 'count=%E0%A4', '%'])
        await assertRefusal(await scim.fetch('GET', `/Users?${query}`), 'scim.malformed');
    });

    it('7.19 scim.rate_limited: the tenant may limit requests of a client', async () => {
      const { cache } = scim.server.gatehouse.services;
      const tenant = await rootTenant(scim.server);
      const limit = { rate_limits: { scim_requests_per_client: { limit: 1, period_seconds: 60 } } };
      await cache.write(tenant.id, (queries) =>
        queries
          .updateTable('tenants')
          .set({ settings: JSON.stringify(limit) })
          .where('tenant_id', '=', tenant.id)
          .execute(),
      );
      assert.equal((await scim.call('GET', '/Users?count=0')).status, 200);
      await assertRefusal(await scim.fetch('GET', '/Users?count=0'), 'scim.rate_limited', { fields: { retry_after_seconds: /^\d+$/ } });
    });
  });
}

describe('7.13 faults (sqlite)', () => {
  it('scim.unavailable: the disk is full; scim.server_error: a fault', async () => {
    const scim = await startScim('sqlite');
    try {
      const { database } = scim.server.gatehouse.services;
      await database.system((queries) => sql`PRAGMA max_page_count = 1`.execute(queries));
      const roles = Array.from({ length: 100 }, (_, at) => ({ value: `${at}${'x'.repeat(1000)}` }));
      await assertRefusal(await scim.fetch('POST', '/Users', { ...userBody('wide'), roles }), 'scim.unavailable');
      await database.system((queries) => sql`PRAGMA max_page_count = 4294967294`.execute(queries));
      await scim.newUser('jane');
      await database.system((queries) => sql`DROP TABLE user_addresses`.execute(queries));
      await assertRefusal(await scim.fetch('GET', '/Users'), 'scim.server_error');
    } finally {
      await scim.close();
    }
  });
});

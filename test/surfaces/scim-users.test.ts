// SCIM users end to end on both databases: representation, PUT, PATCH, ETag, projection, deletion, effects on sign-in.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ClientId, GrantId, TenantId, UserId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { findGrant, insertGrant } from '../../src/storage/oidc/grants.ts';
import {
  enterpriseSchema,
  type Json,
  patchBody,
  rootTenant,
  type ScimCaller,
  scimPlaces,
  startScim,
  userBody,
  userSchema,
} from '../support/scim.ts';

const full: Json = {
  schemas: [userSchema, enterpriseSchema],
  externalId: 'EXT-1',
  userName: 'Barbara.Jensen',
  name: {
    formatted: 'Ms. Barbara J Jensen, III',
    familyName: 'Jensen',
    givenName: 'Barbara',
    middleName: 'Jane',
    honorificPrefix: 'Ms.',
    honorificSuffix: 'III',
  },
  displayName: 'Babs Jensen',
  nickName: 'Babs',
  profileUrl: 'https://login.example.com/bjensen',
  title: 'Tour Guide',
  userType: 'Employee',
  preferredLanguage: 'en-US',
  locale: 'en-US',
  timezone: 'America/Los_Angeles',
  active: true,
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@jensen.example', display: 'Home', type: 'home' },
  ],
  phoneNumbers: [
    { value: '555-555-5555', type: 'work' },
    { value: '555-555-4444', type: 'mobile', primary: true },
  ],
  ims: [{ value: 'someaimhandle', type: 'aim' }],
  photos: [{ value: 'https://photos.example.com/F', type: 'photo' }],
  addresses: [
    {
      formatted: '100 Universal City Plaza',
      streetAddress: '100 Universal',
      locality: 'Hollywood',
      region: 'CA',
      postalCode: '91608',
      country: 'USA',
      type: 'work',
      primary: true,
    },
  ],
  entitlements: [{ value: 'vpn' }],
  roles: [{ value: 'admin', display: 'Administrator' }],
  x509Certificates: [{ value: 'MIIDQzCCAqygAwIBAgICEAAwDQYJKoZIhvcNAQEF' }],
  [enterpriseSchema]: {
    employeeNumber: '701984',
    costCenter: '4130',
    organization: 'Universal Studios',
    division: 'Theme Park',
    department: 'Tour Operations',
    manager: { value: 'm-1', displayName: 'John Smith' },
  },
};

/** A user as it is answered: every element says whether it is the primary one, the name of a manager is the manager's own. */
function shown({ [enterpriseSchema]: enterprise, ...sent }: Json): Json {
  const { manager, ...rest } = enterprise as Json;
  const { displayName: _displayName, ...named } = manager as Json;
  const elements = Object.entries(sent).map(([name, value]) =>
    name !== 'schemas' && Array.isArray(value) ? [name, value.map((element: Json) => ({ primary: false, ...element }))] : [name, value],
  );
  return { ...(Object.fromEntries(elements) as Json), [enterpriseSchema]: { ...rest, manager: named } };
}

function withoutOurs(resource: Json): Json {
  const { id: _id, meta: _meta, ...rest } = resource;
  const enterprise = structuredClone(rest[enterpriseSchema]) as { manager?: Json } | undefined;
  delete enterprise?.manager?.['$ref'];
  return enterprise === undefined ? rest : { ...rest, [enterpriseSchema]: enterprise };
}

for (const { database, directory } of scimPlaces) {
  describe(`SCIM users of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    let tenant: TenantId;
    before(async () => {
      scim = await startScim(database, {}, directory);
      tenant = (await rootTenant(scim.server)).id;
    });
    after(() => scim.close());
    const metaOf = (resource: Json): Json => resource['meta'] as Json;

    it('a whole user comes back as it was sent; 201 with Location and ETag', async () => {
      const created = await scim.call('POST', '/Users', {
        ...full,
        id: 'mine',
        password: 'secret',
        groups: [{ value: 'x' }],
        meta: { version: 'x' },
        unknown: 1,
        'urn:x': { y: 1 },
      });
      assert.equal(created.status, 201, JSON.stringify(created.body));
      assert.deepEqual(withoutOurs(created.body), shown(full));
      const location = `${scim.base}/Users/${created.body['id']}`;
      assert.equal(created.headers.get('location'), location);
      assert.equal(created.headers.get('etag'), 'W/"1"');
      assert.equal(created.headers.get('content-type'), 'application/scim+json; charset=utf-8');
      const { created: createdAt, lastModified, ...meta } = metaOf(created.body);
      assert.deepEqual(meta, { resourceType: 'User', location, version: 'W/"1"' });
      assert.equal(createdAt, lastModified);
      assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const read = await scim.call('GET', `/Users/${created.body['id']}`);
      assert.deepEqual(read.body, created.body);
      assert.equal(read.headers.get('etag'), 'W/"1"');
      assert.equal(JSON.stringify(read.body).includes('secret'), false);
    });

    it('names of attributes and schemas in any case; booleans as strings', async () => {
      const created = await scim.call('POST', '/Users', {
        USERNAME: 'cased',
        EMAILS: [{ VALUE: 'cased@example.com', Primary: 'True' }],
        Active: 'FALSE',
        [enterpriseSchema.toUpperCase()]: { Department: 'R' },
      });
      assert.equal(created.status, 201);
      assert.equal(created.body['active'], false);
      assert.deepEqual(created.body['emails'], [{ value: 'cased@example.com', primary: true }]);
      assert.deepEqual(created.body[enterpriseSchema], { department: 'R' });
    });

    it('PUT replaces: what is not sent goes, active stays, no-op leaves the version', async () => {
      const user = await scim.newUser('replaced', { title: 'Dr', phoneNumbers: [{ value: '1' }], active: false });
      const put = await scim.call('PUT', `/Users/${user.id}`, { ...userBody('replaced'), nickName: 'R' });
      assert.equal(put.status, 200);
      assert.equal(put.headers.get('etag'), 'W/"2"');
      assert.deepEqual(withoutOurs(put.body), { ...userBody('replaced'), nickName: 'R', active: false });
      const again = await scim.call('PUT', `/Users/${user.id}`, { ...userBody('replaced'), nickName: 'R' });
      assert.deepEqual(again.body, put.body);
      assert.equal(metaOf(put.body)['created'], metaOf(user)['created']);
    });

    it('PATCH: change bumps version and lastModified, no change neither; answers 200 with the user', async () => {
      const user = await scim.newUser('patched');
      await scim.server.clock.advance(1000);
      const path = `/Users/${user.id}`;
      const same = await scim.call(
        'PATCH',
        path,
        patchBody({ op: 'replace', path: 'userName', value: 'patched' }, { op: 'add', value: { active: true } }),
      );
      assert.equal(same.status, 200);
      assert.deepEqual(same.body, user);
      assert.deepEqual((await scim.call('PATCH', path, patchBody())).body, user);
      const changed = await scim.call('PATCH', path, patchBody({ op: 'replace', path: 'userName', value: 'Patched' }));
      assert.equal(metaOf(changed.body)['version'], 'W/"2"');
      assert.ok(String(metaOf(changed.body)['lastModified']) > String(metaOf(user)['lastModified']));
      assert.equal(metaOf(changed.body)['created'], metaOf(user)['created']);
    });

    it('If-None-Match answers 304 without a body', async () => {
      const user = await scim.newUser('cached');
      for (const tag of ['W/"1"', '"1"', '*', 'W/"0", W/"1"']) {
        const response = await scim.fetch('GET', `/Users/${user.id}`, undefined, { 'if-none-match': tag });
        assert.equal(response.status, 304);
        assert.equal(response.headers.get('etag'), 'W/"1"');
        assert.equal(await response.text(), '');
      }
      assert.equal((await scim.call('GET', `/Users/${user.id}`, undefined, { 'if-none-match': 'W/"2"' })).status, 200);
    });

    it('projection: attributes, excludedAttributes, unknown names, sub-attributes, on reads and writes', async () => {
      const user = await scim.newUser('projected', { name: { familyName: 'F', givenName: 'G' }, [enterpriseSchema]: { department: 'R' } });
      const schemas = [userSchema, enterpriseSchema];
      const get = async (query: string): Promise<Json> => (await scim.call('GET', `/Users/${user.id}?${query}`)).body;
      assert.deepEqual(await get('attributes=userName,name.familyName'), {
        schemas,
        id: user.id,
        userName: 'projected',
        name: { familyName: 'F' },
      });
      assert.deepEqual(await get('ATTRIBUTES=emails.value'), { schemas, id: user.id, emails: [{ value: 'projected@example.com' }] });
      assert.deepEqual(await get('attributes=nothing'), { schemas, id: user.id });
      assert.deepEqual(await get(`attributes=${enterpriseSchema}:department`), {
        schemas,
        id: user.id,
        [enterpriseSchema]: { department: 'R' },
      });
      const { emails: _emails, meta: _meta, ...rest } = user;
      assert.deepEqual(await get('excludedAttributes=emails,meta,id,schemas'), rest);
      const patched = await scim.call('PATCH', `/Users/${user.id}?attributes=title`, patchBody({ op: 'add', path: 'title', value: 'T' }));
      assert.deepEqual(patched.body, { schemas, id: user.id, title: 'T' });
    });

    it('infer_primary: a tenant may let the first email be primary', async () => {
      const { cache } = scim.server.gatehouse.services;
      const settings = (value: boolean): Promise<unknown> =>
        cache.write(tenant, (queries) =>
          queries
            .updateTable('tenants')
            .set({ settings: JSON.stringify({ scim: { infer_primary: value } }) })
            .where('tenant_id', '=', tenant)
            .execute(),
        );
      await settings(true);
      const created = await scim.call('POST', '/Users', { userName: 'inferred', emails: [{ value: 'i@example.com' }] });
      await settings(false);
      assert.equal(created.status, 201, JSON.stringify(created.body));
      assert.deepEqual(created.body['emails'], [{ value: 'i@example.com', primary: true }]);
    });

    const grantFor = async (userId: string): Promise<GrantId> => {
      const { database: db, clock } = scim.server.gatehouse.services;
      const id = uuidV7(clock.nowMs()) as GrantId;
      await db.write(tenant, async (queries) => {
        const client = await queries.selectFrom('clients').select('client_id').where('tenant_id', '=', tenant).executeTakeFirstOrThrow();
        const grant = {
          id,
          clientId: client.client_id as ClientId,
          userId: userId as UserId,
          scope: 'openid',
          resource: undefined,
          authTimeSeconds: 1,
          acr: undefined,
          amr: [],
          nonce: undefined,
          maxAgeSeconds: undefined,
          dpopJkt: undefined,
        };
        await insertGrant(queries, tenant, grant, 3600);
      });
      return id;
    };
    const revokedAt = async (grant: GrantId): Promise<number | null | undefined> =>
      (await scim.server.gatehouse.services.database.read(tenant, (queries) => findGrant(queries, tenant, grant)))?.revoked_at;
    const auditOf = async (userId: string): Promise<readonly string[]> => {
      const rows = await scim.server.gatehouse.services.database.read(tenant, (queries) =>
        queries
          .selectFrom('audit_events')
          .select('type')
          .where('tenant_id', '=', tenant)
          .where('target', '=', `user:${userId}`)
          .limit(100)
          .orderBy('id')
          .execute(),
      );
      return rows.map((row) => row.type).toSorted();
    };

    it('active false suspends: grants end in the same transaction; active true again; audited', async () => {
      const user = await scim.newUser('suspended');
      const grant = await grantFor(user.id);
      assert.equal(await revokedAt(grant), null);
      await scim.call('PATCH', `/Users/${user.id}`, patchBody({ op: 'Replace', path: 'active', value: 'False' }));
      assert.equal(typeof (await revokedAt(grant)), 'number');
      const back = await scim.call('PATCH', `/Users/${user.id}`, patchBody({ op: 'replace', value: { active: true } }));
      assert.equal(back.body['active'], true);
      assert.deepEqual(await auditOf(user.id), ['user.activated', 'user.created', 'user.suspended', 'user.updated', 'user.updated']);
    });

    it('DELETE: gone for SCIM, grants ended, name and email free again, group versions move', async () => {
      const user = await scim.newUser('deleted');
      const group = await scim.newGroup('Of the deleted', [user.id]);
      const grant = await grantFor(user.id);
      const response = await scim.fetch('DELETE', `/Users/${user.id}`);
      assert.equal(response.status, 204);
      assert.equal(await response.text(), '');
      assert.equal(typeof (await revokedAt(grant)), 'number');
      for (const method of ['GET', 'DELETE']) assert.equal((await scim.call(method, `/Users/${user.id}`)).status, 404);
      const found = await scim.call('GET', `/Users?filter=${encodeURIComponent(`id eq "${user.id}" or userName eq "deleted"`)}`);
      assert.equal(found.body['totalResults'], 0);
      const after = (await scim.call('GET', `/Groups/${group.id}`)).body;
      assert.equal(after['members'], undefined);
      assert.equal(metaOf(after)['version'], 'W/"2"');
      const again = await scim.newUser('Deleted');
      assert.notEqual(again.id, user.id);
    });
  });
}

// What a directory gave by SCIM is in a document, and a document restores it: SCIM takes longer values and more of them than the Management
// API does, and the export of a tenant is one that can be applied.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { applyDocument } from '../../src/administration/declaration/apply.ts';
import { exportDocument } from '../../src/administration/declaration/export.ts';
import { openSession } from '../../src/administration/declaration/reconcile.ts';
import { directoryKeyBytesMax, directoryValueCharsMax, directoryValuesMax, profileCharsMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { groupSchema, userSchema } from '../support/scim.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`documents of directories on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const provision = async ({ baseUrl, token }: Managed, path: string, body: Json): Promise<Json> =>
      jsonOf(
        await fetch(`${baseUrl}/scim/v2${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        }),
        201,
      );
    const exported = async ({ slug }: Managed): Promise<readonly string[]> => {
      const { services } = server.gatehouse;
      const session = await openSession(services, (await services.tenants.bySlug(slug))!, { actor: 'operator' });
      let text = '';
      for await (const part of exportDocument(session, { withSecrets: false, asJson: false })) text += part;
      return text.split('\n');
    };
    const apply = ({ slug }: Managed, lines: readonly string[]) => applyDocument(server.gatehouse.services, slug, lines);

    it('the longest values there are, and as many, are exported and applied, here and in another tenant', async () => {
      const tenant = await createTestTenant(server);
      const long = 'x'.repeat(directoryValueCharsMax);
      const many = Array.from({ length: directoryValuesMax }, (_, at) => ({
        value: `${at}${long}`.slice(0, directoryValueCharsMax),
        type: long,
      }));
      const { id } = await provision(tenant, '/Users', {
        ...{ schemas: [userSchema], userName: 'long', emails: [{ value: 'long@x.example', primary: true, display: long }] },
        ...{ displayName: long, title: long, externalId: long, name: { givenName: long, formatted: long } },
        ...{ phoneNumbers: many, addresses: [{ formatted: long, locality: long }] },
      });
      const group = { schemas: [groupSchema], displayName: `g${long}`.slice(0, directoryValueCharsMax), externalId: long };
      await provision(tenant, '/Groups', { ...group, members: [{ value: id }] });
      const lines = await exported(tenant);
      assert.ok(lines.some((line) => line.includes(long)));
      const again = await apply(tenant, lines);
      assert.deepEqual([again.created, again.updated, again.conflicts], [0, 0, []]);
      const other = await createTestTenant(server);
      await apply(other, lines);
      const { items } = await other.make<{ items: readonly Json[] }>('GET', '/users?search=long');
      const [{ display_name: name, phone_numbers: phones } = {}] = items;
      assert.deepEqual([name, (phones as readonly Json[]).length], [long, directoryValuesMax]);
    });

    it('one more is refused where it stands, and so is what no index could hold; the Management API takes no more than it did', async () => {
      const tenant = await createTestTenant(server);
      const person = (fields: Json): readonly string[] => [
        JSON.stringify({ gatehouse: 1, users: [{ user_name: 'one', emails: [{ value: 'one@x.example' }], ...fields }] }),
      ];
      const values = (count: number): Json => ({ phone_numbers: Array.from({ length: count }, (_, at) => ({ value: `${at}` })) });
      await apply(tenant, person(values(directoryValuesMax)));
      await assert.rejects(apply(tenant, person(values(directoryValuesMax + 1))), /users\[0\]\.phone_numbers/);
      const title = (count: number): Json => ({ title: 'x'.repeat(count) });
      await apply(tenant, person(title(directoryValueCharsMax)));
      await assert.rejects(apply(tenant, person(title(directoryValueCharsMax + 1))), /users\[0\]\.title/);
      // Two bytes each.
      const wide = (bytes: number): string => 'é'.repeat(bytes / 2);
      await apply(tenant, person({ display_name: wide(directoryKeyBytesMax) }));
      const wider = wide(directoryKeyBytesMax).replace(/é$/, '€');
      await assert.rejects(
        apply(tenant, person({ display_name: wider })),
        /users\[0\]\.display_name: expected a text of at most 2048 bytes/,
      );
      const named = (name: string): readonly string[] => [JSON.stringify({ gatehouse: 1, groups: [{ display_name: name }] })];
      await apply(tenant, named(wide(directoryKeyBytesMax)));
      await assert.rejects(apply(tenant, named(wider)), /groups\[0\]\.display_name: expected a text of at most 2048 bytes/);
      await assert.rejects(apply(tenant, named('x'.repeat(directoryValueCharsMax + 1))), /groups\[0\]\.display_name/);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?search=one');
      const path = `/users/${String(items[0]!['id'])}`;
      assert.equal((await tenant.call('PATCH', path, title(profileCharsMax))).status, 200);
      assert.equal((await tenant.call('PATCH', path, title(profileCharsMax + 1))).status, 400);
    });
  });

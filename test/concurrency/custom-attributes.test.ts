// Races on the attributes a tenant adds, with real parallel requests on both databases: one owner of a unique value whoever asks,
// no lost value, and exactly as many attributes as a tenant may have.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { customAttributesPerTenantMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { customSchema, patchBody, type ScimCaller, startScim, userBody } from '../support/scim.ts';

const atOnce = 40;
const tally = (statuses: readonly number[]): Readonly<Record<number, number>> =>
  Object.fromEntries(Object.entries(Object.groupBy(statuses, String)).map(([status, list]) => [status, list!.length]));
const together = async (ask: (at: number) => Promise<{ readonly status: number }>): Promise<Readonly<Record<number, number>>> =>
  tally((await Promise.all(Array.from({ length: atOnce }, (_, at) => ask(at)))).map(({ status }) => status));

for (const database of databases) {
  describe(`races on custom attributes (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      await managed.make('POST', '/custom-attributes', { name: 'badge', unique: true, list: true });
      for (let at = 0; at < atOnce; at += 1) await managed.make('POST', '/custom-attributes', { name: `field_${at}` });
    });
    after(() => scim.close());
    const userOf = (name: string, custom: Json): Json => ({ user_name: name, emails: [{ value: `${name}@example.com` }], custom });

    it('one unique value, many creations by both surfaces: one is made', async () => {
      const made = await together((at) =>
        at % 2 === 0
          ? managed.call('POST', '/users', userOf(`new${at}`, { badge: [`x${at}`, 'The One'] }))
          : scim.fetch('POST', '/Users', { ...userBody(`new${at}`), [customSchema]: { badge: ['THE ONE', `x${at}`] } }),
      );
      assert.deepEqual(made, { 201: 1, 409: atOnce - 1 });
    });

    it('one unique value, many people changed at once: one has it', async () => {
      const ids: string[] = [];
      for (let at = 0; at < atOnce; at += 1) ids.push((await scim.newUser(`old${at}`)).id);
      const changed = await together((at) =>
        at % 2 === 0
          ? managed.call('PATCH', `/users/${ids[at]}`, { custom: { badge: ['wanted', `y${at}`] } })
          : scim.fetch('PATCH', `/Users/${ids[at]}`, patchBody({ op: 'add', path: `${customSchema}:badge`, value: [`y${at}`, 'WANTED'] })),
      );
      assert.deepEqual(changed, { 200: 1, 409: atOnce - 1 });
      const { body } = await scim.call('GET', `/Users?filter=${encodeURIComponent(`${customSchema}:badge eq "wanted"`)}`);
      assert.equal(body['totalResults'], 1);
    });

    it('many changes of one person, each of another attribute: none is lost', async () => {
      const { id } = await scim.newUser('contended');
      const changed = await together((at) => managed.call('PATCH', `/users/${id}`, { custom: { [`field_${at}`]: `v${at}` } }));
      assert.deepEqual(changed, { 200: atOnce });
      const { custom } = await managed.make<{ custom: Json }>('GET', `/users/${id}`);
      assert.equal(Object.keys(custom).length, atOnce);
    });

    it('more attributes at once than a tenant may have, some of one name: as many as it may have', async () => {
      const left = customAttributesPerTenantMax - atOnce - 1;
      for (let at = 0; at < left - 10; at += 1) await managed.make('POST', '/custom-attributes', { name: `more_${at}` });
      const made = await together((at) => managed.call('POST', '/custom-attributes', { name: `last_${at % 20}` }));
      assert.equal(made[201], 10);
      assert.equal((made[409] ?? 0) + (made[400] ?? 0), atOnce - 10);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/custom-attributes?limit=200');
      assert.equal(items.length, customAttributesPerTenantMax);
      assert.equal(new Set(items.map(({ name }) => name)).size, customAttributesPerTenantMax);
    });
  });
}

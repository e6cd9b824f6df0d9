// Design 10, "One person": every attribute of the table is written by the Management API at its path, read and found by SCIM at
// its own, named by SAML attribute maps, and stands in the console's form; lists alike. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attributeRulesOf, attributesOf } from '../../src/domain/mappings/attributes.ts';
import { samlSources, userAttributes } from '../../src/domain/people/user-attributes.ts';
import { findUser } from '../../src/storage/people/users.ts';
import { openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { Json, Managed } from '../support/management.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { enterpriseSchema, rootTenant, type ScimCaller, startScim } from '../support/scim.ts';

const sample = (path: string): string => `Value of ${path}`;
/** What a dotted path of the table stands for in JSON. */
const memberAt = (json: Json, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Json | undefined)?.[name], json);

function bodyOf(paths: readonly string[], value: (path: string) => string | null): Json {
  const body: Record<string, unknown> = {};
  for (const path of paths) {
    const [head, part] = path.split('.') as [string, string?];
    body[head] = part === undefined ? value(path) : { ...(body[head] as Json | undefined), [part]: value(path) };
  }
  return body;
}

for (const database of databases) {
  describe(`attributes of a person (${database})`, () => {
    let scim: ScimCaller;
    let managed: Managed;
    let id: string;
    const paths = userAttributes.map(({ path }) => path);
    before(async () => {
      scim = await startScim(database);
      managed = await manageRootTenant(scim.server);
      const emails = [{ value: 'ada@example.com' }];
      ({ id } = await managed.make<{ id: string }>('POST', '/users', { ...bodyOf(paths, sample), emails }));
    });
    after(() => scim.close());

    it('Management API: shown where they were written, enterprise ones included', async () => {
      const shown = await managed.make('GET', `/users/${id}`);
      for (const path of paths) assert.equal(memberAt(shown, path), sample(path), path);
      assert.equal((await managed.make<{ items: Json[] }>('GET', '/users')).items.length, 1);
    });

    it('SCIM: read and found at the path of the table', async () => {
      const { body } = await scim.call('GET', `/Users/${id}`);
      const flat = { ...body, enterprise: body[enterpriseSchema] } as Json;
      for (const { scim: name, path, computed } of userAttributes) {
        if (computed === true) continue;
        assert.equal(memberAt(flat, name), sample(path), name);
        const named = name.replace(/^enterprise\./, `${enterpriseSchema}:`);
        const filter = encodeURIComponent(`${named} eq "${sample(path)}"`);
        assert.equal((await scim.call('GET', `/Users?filter=${filter}`)).body['totalResults'], 1, name);
      }
    });

    it('SAML: attribute maps may name each, and carry its value', async () => {
      const map = Object.fromEntries(samlSources.map((path) => [path, `urn:x:${path}`]));
      const provider = { entity_id: 'https://sp.example', acs: [{ url: 'https://sp.example/acs' }], attribute_map: map };
      const registered = await managed.make('POST', '/service-providers', provider);
      assert.deepEqual(registered['attribute_map'], map);
      const { id: tenant } = await rootTenant(scim.server);
      const user = await scim.server.gatehouse.services.database.read(tenant, (queries) => findUser(queries, tenant, id));
      const person = { user: user!, lists: {}, address: undefined, groups: [], custom: {} };
      const rules = attributeRulesOf([], { attributeMap: map, mappings: [] });
      const { attributes: sent } = attributesOf(rules, { person, clientId: '', tenantSlug: 'main', acr: undefined });
      for (const path of paths) assert.deepEqual(sent.find(({ name }) => name === `urn:x:${path}`)?.values, [sample(path)], path);
    });

    it('console: a field for each, in the form of a person', async () => {
      const admin = { user_name: 'root@example.com', role: 'admin', emails: [{ value: 'root@example.com' }] };
      await managed.make('POST', '/users', admin);
      await managed.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      const { visitor } = await openConsole(scim.server, managed, 'root@example.com');
      const page = await (await visitor.page(`/users/${id}/edit`)).text();
      for (const path of paths) assert.match(page, new RegExp(`name="${path}"[^>]*value="${sample(path)}"`), path);
    });

    it('null clears one, and an object of them all', async () => {
      const cleared = await managed.make('PATCH', `/users/${id}`, { title: null, name: null, enterprise: { department: null } });
      assert.deepEqual([cleared['title'], cleared['name'], memberAt(cleared, 'enterprise.department')], [undefined, undefined, undefined]);
      assert.equal(memberAt(cleared, 'enterprise.division'), sample('enterprise.division'));
      const refused = await managed.call('PATCH', `/users/${id}`, { enterprise: { shoe_size: '39' } });
      assert.equal(refused.status, 400);
    });
  });
}

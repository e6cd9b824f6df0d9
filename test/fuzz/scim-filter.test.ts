// The two back ends of a filter held together: over random filters and awkward data, SQL on each database must give exactly
// the resources that the in-memory evaluator gives. FUZZ_FILTERS sets how many filters a database gets.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { userNameFault } from '../../src/domain/people/user-name.ts';
import type { Document } from '../../src/scim/document.ts';
import { matches } from '../../src/scim/filter/filter-evaluator.ts';
import { parseFilter } from '../../src/scim/filter/filter-parser.ts';
import { resolveFilter } from '../../src/scim/filter/filter-resolver.ts';
import { filterCondition } from '../../src/scim/filter/filter-sql.ts';
import { documentOfGroup } from '../../src/scim/groups.ts';
import { everything } from '../../src/scim/list/projection.ts';
import { creationOrder } from '../../src/scim/list/sort-order.ts';
import { groupIndex, isUsers, type TypeIndex, userIndexOf } from '../../src/scim/schema/schema-lookup.ts';
import { completeUsers } from '../../src/scim/user-loader.ts';
import { type Order, scanRows } from '../../src/storage/people/directory-scan.ts';
import { listGroupsById, listMembers } from '../../src/storage/people/groups.ts';
import { listUsersById } from '../../src/storage/people/users.ts';
import { databases } from '../support/databases.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { customSchema, enterpriseSchema, type Json, rootTenant, type ScimCaller, startScim } from '../support/scim.ts';
import { type FilterPools, filterArbitrary, textArbitrary } from '../support/scim-filters.ts';

const filtersPerDatabase = Number(process.env['FUZZ_FILTERS'] ?? 1500);
const usersCount = 40;

const plural = fc.array(
  fc.record({ value: textArbitrary, type: fc.constantFrom('work', 'Home', 'ß'), display: textArbitrary }, { requiredKeys: ['value'] }),
  { minLength: 1, maxLength: 3 },
);
const extras = fc.record(
  {
    externalId: textArbitrary,
    displayName: textArbitrary,
    nickName: textArbitrary,
    title: textArbitrary,
    userType: textArbitrary,
    profileUrl: textArbitrary,
    preferredLanguage: textArbitrary,
    locale: textArbitrary,
    timezone: textArbitrary,
    active: fc.boolean(),
    name: fc.record(
      {
        formatted: textArbitrary,
        familyName: textArbitrary,
        givenName: textArbitrary,
        middleName: textArbitrary,
        honorificPrefix: textArbitrary,
        honorificSuffix: textArbitrary,
      },
      { requiredKeys: [] },
    ),
    phoneNumbers: plural,
    ims: plural,
    photos: plural,
    roles: plural,
    entitlements: plural,
    x509Certificates: plural.map((list) => list.map((one) => ({ ...one, value: Buffer.from(one.value).toString('base64') }))),
    addresses: fc.array(
      fc.record(
        {
          formatted: textArbitrary,
          streetAddress: textArbitrary,
          locality: textArbitrary,
          region: textArbitrary,
          postalCode: textArbitrary,
          country: textArbitrary,
          type: textArbitrary,
        },
        { requiredKeys: ['country'] },
      ),
      { maxLength: 2 },
    ),
    [enterpriseSchema]: fc.record(
      {
        employeeNumber: textArbitrary,
        costCenter: textArbitrary,
        organization: textArbitrary,
        division: textArbitrary,
        department: textArbitrary,
        manager: fc.record({ value: textArbitrary }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    ),
    [customSchema]: fc.record(
      {
        words: textArbitrary,
        number: fc.constantFrom(-3, -0.5, 0, 1e-9, 2, 1e21),
        flag: fc.boolean(),
        day: fc.constantFrom('1969-12-31T23:59:59.999Z', '2026-01-01T00:00:00Z', '2026-01-01'),
        lines: fc.array(textArbitrary, { minLength: 1, maxLength: 3 }),
        counts: fc.array(fc.constantFrom(-1, 0, 7), { minLength: 1, maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

/** What of a text may be in a userName. */
const nameable = (text: string): string => [...text].filter((character) => userNameFault(character) === undefined).join('');

const customTypes = { words: 'string', number: 'number', flag: 'boolean', day: 'date', lines: 'string', counts: 'number' } as const;

/** Creates users and groups of random values through the API, a second apart. */
async function populate(scim: ScimCaller, seed: number): Promise<void> {
  const managed = await manageRootTenant(scim.server);
  for (const [name, type] of Object.entries(customTypes))
    await managed.make('POST', '/custom-attributes', { name, type, list: name === 'lines' || name === 'counts' });
  const ids: string[] = [];
  const texts = fc.sample(textArbitrary, { seed, numRuns: usersCount });
  for (const [at, more] of fc.sample(extras, { seed, numRuns: usersCount }).entries()) {
    const emails = [
      { value: `${at}-${texts[at]!.replaceAll(/[\s@]/g, '')}@Example.com`, type: 'work', primary: true, display: texts[at]! },
      { value: `${at}@home.test`, ...(at % 3 === 0 ? { type: 'HOME' } : {}) },
    ].slice(0, 1 + (at % 2));
    const result = await scim.call('POST', '/Users', { ...(more as Json), userName: `${nameable(texts[at]!)}${at}`, emails });
    assert.equal(result.status, 201, JSON.stringify(result.body));
    ids.push(String(result.body['id']));
    await scim.server.clock.advance(1000 + at);
  }
  for (let at = 0; at < 6; at += 1)
    await scim.newGroup(`${texts[at]}g${at}`, ids.filter((_id, user) => user % (at + 2) === 0).slice(0, at * 3));
  await scim.call('DELETE', `/Users/${ids[7]}`);
  await scim.call('PATCH', `/Users/${ids[8]}`, { Operations: [{ op: 'replace', path: 'title', value: 'abc' }] });
}

for (const database of databases) {
  describe(`filters: SQL and evaluator agree (${database})`, () => {
    let scim: ScimCaller;
    const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000);
    before(async () => {
      scim = await startScim(database);
      await populate(scim, seed);
    });
    after(() => scim.close());

    it(`users, ${filtersPerDatabase} filters`, async () => {
      const documents = await allUsers(scim);
      assert.ok(documents.length >= usersCount - 1);
      const { customAttributes } = await rootTenant(scim.server);
      await compare(scim, userIndexOf(customAttributes), documents, { seed, runs: filtersPerDatabase });
    });

    it(`groups, ${Math.ceil(filtersPerDatabase / 5)} filters`, async () => {
      const documents = await allGroups(scim);
      assert.equal(documents.length, 6);
      await compare(scim, groupIndex, documents, { seed, runs: Math.ceil(filtersPerDatabase / 5) });
    });
  });
}

async function compare(
  scim: ScimCaller,
  index: TypeIndex,
  documents: readonly Document[],
  { seed, runs }: { seed: number; runs: number },
): Promise<void> {
  const { database } = scim.server.gatehouse.services;
  const tenant = await rootTenant(scim.server);
  const alias = isUsers(index) ? 'u' : 'g';
  let found = 0;
  await fc.assert(
    fc.asyncProperty(filterArbitrary(index, poolsOf(documents)), fc.constantFrom('trigrams', 'common', 'scanned'), async (text, mode) => {
      const filter = resolveFilter(
        index,
        parseFilter(text, { lengthMax: 100_000, depthMax: 100, comparisonsMax: 1000, valuePathsMax: 1000 }),
      );
      const { dialect } = database;
      const scanned = mode === 'scanned';
      const where = filterCondition(
        { dialect, directory: { tenant: tenant.id }, index, scanned, isCommon: () => mode === 'common' },
        filter,
      );
      const order = scanned ? creationOrder(alias) : byId(alias);
      const { rows } = await database.read(tenant.id, (queries) =>
        scanRows(
          { queries, dialect, directory: { tenant: tenant.id }, order, where, indexed: !scanned },
          { after: undefined, skip: 0, limit: 1000 },
        ),
      );
      const expected = documents.filter((document) => matches(index, filter, document)).map((document) => document['id']);
      found += expected.length > 0 && expected.length < documents.length ? 1 : 0;
      assert.deepEqual(rows.map((row) => row.id).toSorted(), expected);
    }),
    { seed, numRuns: runs, endOnFailure: false },
  );
  assert.ok(found > runs / 10, 'too few filters tell resources apart');
}

const byId = (alias: 'u' | 'g'): Order => ({ alias, columns: ['id'], descending: false });

async function allUsers(scim: ScimCaller): Promise<readonly Document[]> {
  const { database } = scim.server.gatehouse.services;
  const tenant = await rootTenant(scim.server);
  return database.read(tenant.id, async (queries) => {
    const { rows: page } = await scanRows(
      { queries, dialect: database.dialect, directory: { tenant: tenant.id }, order: byId('u'), indexed: false },
      { after: undefined, skip: 0, limit: 1000 },
    );
    const rows = await listUsersById(
      queries,
      database.dialect,
      tenant.id,
      page.map((row) => row.id),
    );
    const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return completeUsers(
      { tenant, directory: { tenant: tenant.id }, services: scim.server.gatehouse.services },
      queries,
      sorted,
      everything,
    );
  });
}

async function allGroups(scim: ScimCaller): Promise<readonly Document[]> {
  const { database } = scim.server.gatehouse.services;
  const tenant = await rootTenant(scim.server);
  return database.read(tenant.id, async (queries) => {
    const { rows: page } = await scanRows(
      { queries, dialect: database.dialect, directory: { tenant: tenant.id }, order: byId('g'), indexed: false },
      { after: undefined, skip: 0, limit: 1000 },
    );
    const rows = await listGroupsById(
      queries,
      database.dialect,
      { tenant: tenant.id },
      page.map((row) => row.id),
    );
    const documents: Document[] = [];
    for (const row of rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
      const members = await listMembers(queries, { tenant: tenant.id }, row.id, { after: '', limit: 1000 });
      documents.push({
        ...documentOfGroup(row),
        members: members.map((member) => ({ value: member.user_id, display: member.display ?? undefined, type: 'User' })),
      });
    }
    return documents;
  });
}

/** No date is further from the epoch (ECMA-262 21.4.1.1); a custom number may be, and is no instant to ask for. */
const lastInstantMs = 8.64e15;

function poolsOf(documents: readonly Document[]): FilterPools {
  const texts = new Set<string>(['x']);
  const instants = new Set<number>();
  for (const document of documents) {
    for (const value of Object.values(document)) {
      if (typeof value === 'number' && Math.abs(value) < lastInstantMs) instants.add(value);
      if (typeof value === 'string') texts.add(value);
      if (Array.isArray(value))
        for (const element of value) for (const part of Object.values(element)) if (typeof part === 'string') texts.add(part);
    }
  }
  return { instants: [...instants], texts: [...texts] };
}

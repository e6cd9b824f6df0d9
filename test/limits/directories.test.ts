// Limits of directories of LDAP at n and n + 1: how many there are, what they are told, how often they are read, whom a test shows and a plan
// looks at.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  bindPasswordCharsMax,
  directoriesPerTenantMax,
  directoryCaCharsMax,
  distinguishedNameCharsMax,
  everyMinutesMax,
  everyMinutesMin,
  fullEveryHoursMax,
  ldapFilterCharsMax,
  testedPeopleMax,
} from '../../src/contract/directory-limits.ts';
import { planDifferencesMax, planPeopleMax } from '../../src/contract/limits.ts';
import { findLdapDirectory } from '../../src/storage/registry/extending/ldap-directories.ts';
import { databases } from '../support/databases.ts';
import { answerInstead, directoryBody, whoseOf } from '../support/directories.ts';
import { answeredDirectory, nodeReading, personEntry } from '../support/directory-runs.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { certificatePem, rsaKeys } from '../support/rsa-keys.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`limits of directories on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());
    const body = (fields: Json): Json => directoryBody({ enabled: false, ...fields });
    const statusOf = async (fields: Json): Promise<number> => {
      const response = await tenant.call('POST', '/directories', body({ name: 'Tried', ...fields }));
      if (response.status === 201) await tenant.make('DELETE', `/directories/${((await response.json()) as Json)['id']}`);
      return response.status;
    };

    it('names, filters, passwords, certificates, minutes and hours', async () => {
      const name = (chars: number): string => `dc=${'x'.repeat(chars - 3)}`;
      const filter = (chars: number): string => `(a=${'x'.repeat(chars - 4)})`;
      const pem = await certificatePem(rsaKeys());
      const padded = (chars: number): string => pem.trim() + '\n'.repeat(chars - pem.trim().length);
      for (const [most, over] of [
        [{ base_dn: name(distinguishedNameCharsMax) }, { base_dn: name(distinguishedNameCharsMax + 1) }],
        [{ bind_dn: name(distinguishedNameCharsMax) }, { bind_dn: name(distinguishedNameCharsMax + 1) }],
        [{ user_filter: filter(ldapFilterCharsMax) }, { user_filter: filter(ldapFilterCharsMax + 1) }],
        [{ bind_password: 'x'.repeat(bindPasswordCharsMax) }, { bind_password: 'x'.repeat(bindPasswordCharsMax + 1) }],
        [{ ca: padded(directoryCaCharsMax) }, { ca: padded(directoryCaCharsMax + 1) }],
        [{ every_minutes: everyMinutesMax }, { every_minutes: everyMinutesMax + 1 }],
        [{ every_minutes: everyMinutesMin }, { every_minutes: everyMinutesMin - 1 }],
        [{ full_every_hours: fullEveryHoursMax }, { full_every_hours: fullEveryHoursMax + 1 }],
        [{ full_every_hours: 1 }, { full_every_hours: 0 }],
      ] as const)
        assert.deepEqual([await statusOf(most), await statusOf(over)], [201, 400], Object.keys(most)[0]);
    });

    it('as many directories as may, and the people of one test', async () => {
      const made: Json[] = [];
      for (let at = 0; at < directoriesPerTenantMax; at += 1)
        made.push(await tenant.make('POST', '/directories', body({ name: `D${at}` })));
      await assertRefusal(await tenant.call('POST', '/directories', body({ name: 'One more' })), 'management.invalid_request', {
        ...{ text: `A tenant has at most ${directoriesPerTenantMax} directories.`, kind: 'name' },
      });
      const people = Array.from({ length: testedPeopleMax + 1 }, (_, at) => ({
        remote_id: `${at}`,
        dn: `uid=${at}`,
        active: true,
        values: {},
      }));
      for (const [count, shown] of [
        [testedPeopleMax, testedPeopleMax],
        [testedPeopleMax + 1, testedPeopleMax],
      ] as const) {
        answerInstead(server, { test: { people: people.slice(0, count) } });
        const tested = await tenant.make<{ readonly people: readonly Json[] }>('POST', `/directories/${made[0]!['id']}/test`);
        assert.equal(tested.people.length, shown);
      }
    });

    it('people a plan looks at, and differences it shows', async () => {
      const directory = answeredDirectory();
      const node = nodeReading(server, directory.open);
      const mine = await createTestTenant(server);
      const { id } = await mine.make('POST', '/directories', body({}));
      const { tenant: tenantId, directory: directoryId } = whoseOf(mine, id);
      const { tenants, database: store } = server.gatehouse.services;
      const registered = (await store.read(tenantId, (queries) => findLdapDirectory(queries, tenantId, directoryId)))!;
      const told = (await tenants.byId(tenantId))!;
      for (const [count, complete] of [
        [planPeopleMax, true],
        [planPeopleMax + 1, false],
      ] as const) {
        directory.answered.people = Array.from({ length: count }, (_, at) => personEntry(`p${at}`));
        const plan = (await node.plan(told, registered, async () => undefined))!;
        assert.deepEqual([plan.counts.create, plan.differences.length, plan.complete], [planPeopleMax, planDifferencesMax, complete]);
      }
      directory.answered.people = Array.from({ length: planDifferencesMax - 1 }, (_, at) => personEntry(`p${at}`));
      assert.equal((await node.plan(told, registered, async () => undefined))?.differences.length, planDifferencesMax - 1);
    });
  });
}

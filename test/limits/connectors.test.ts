// Limits of connectors at n and n + 1: how many there are, what they name, what one PATCH, one plan and one link hold.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  connectorAnswerBytesMax,
  connectorGroupsMax,
  connectorRateMax,
  connectorSecretCharsMax,
  connectorsPerTenantMax,
  endingsUnasked,
  membersPerPatchMax,
  planDifferencesMax,
  planPeopleMax,
} from '../../src/contract/limits.ts';
import type { ConnectorId, TenantId } from '../../src/domain/ids.ts';
import { markLinks } from '../../src/storage/records/connector-links.ts';
import { type ConnectorWorld, startConnectorWorld } from '../support/connectors.ts';
import { databases } from '../support/databases.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

for (const database of databases) {
  describe(`limits of connectors on ${database}`, () => {
    let world: ConnectorWorld;
    before(async () => {
      world = await startConnectorWorld(database);
    });
    after(() => world?.close());
    const body = (name: string, fields: Json = {}): Json => ({
      ...{ name, enabled: false, base_url: 'https://hr.example/scim', auth: { type: 'bearer', token: 'token' }, ...fields },
    });
    const statusOf = async (fields: Json): Promise<number> => {
      const response = await world.tenant.call('POST', '/connectors', body('Tried', fields));
      if (response.status === 201) await world.tenant.make('DELETE', `/connectors/${((await response.json()) as Json)['id']}`);
      return response.status;
    };
    const makePeople = async (from: number, to: number): Promise<readonly string[]> => {
      const ids: string[] = [];
      for (let at = from; at < to; at += 5) {
        const some = Array.from({ length: Math.min(5, to - at) }, (_, one) => createTestUser(world.tenant, `n${at + one}@example.com`));
        ids.push(...(await Promise.all(some)).map(({ id }) => id));
      }
      return ids;
    };

    it('as many connectors, groups, requests a second and letters of a secret as may', async () => {
      await world.fresh();
      const groups = (count: number): Json => ({ groups: Array.from({ length: count }, (_, at) => `g${at}`) });
      const token = (chars: number): Json => ({ auth: { type: 'bearer', token: 'x'.repeat(chars) } });
      for (const [most, over] of [
        [groups(connectorGroupsMax), groups(connectorGroupsMax + 1)],
        [{ rate: connectorRateMax }, { rate: connectorRateMax + 1 }],
        [{ rate: 1 }, { rate: 0 }],
        [token(connectorSecretCharsMax), token(connectorSecretCharsMax + 1)],
      ] as const)
        assert.deepEqual([await statusOf(most), await statusOf(over)], [201, 400]);
      for (let at = 0; at < connectorsPerTenantMax; at += 1) await world.tenant.make('POST', '/connectors', body(`C${at}`));
      await assertRefusal(await world.tenant.call('POST', '/connectors', body('One more')), 'management.invalid_request', {
        ...{ text: `A tenant has at most ${connectorsPerTenantMax} connectors.`, kind: 'name' },
      });
    });

    it('a kept answer, the members of one PATCH, and the differences of one plan', async () => {
      await world.fresh();
      const [first, ...others] = await makePeople(0, planDifferencesMax);
      const group = await world.tenant.make('POST', '/groups', { display_name: 'Large' });
      for (const user of [first!, ...others.slice(0, membersPerPatchMax)])
        await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: user });
      const members: number[] = [];
      world.proxy.intercept = ({ method, path, body: sent }) => {
        if (path === '/ServiceProviderConfig') return [200, {}, '{"patch":{"supported":true}}'];
        if (method === 'GET') return [200, {}, '{"totalResults":0}'];
        if (sent['userName'] === 'n1@example.com') return [400, {}, 'x'.repeat(connectorAnswerBytesMax + 1)];
        if (path === '/Groups') members.push((sent['members'] as readonly Json[]).length);
        if (method === 'PATCH')
          members.push(...(sent['Operations'] as readonly Json[]).map(({ value }) => (value as readonly Json[]).length));
        return [201, {}, JSON.stringify({ id: randomUUID() })];
      };
      const { id } = await world.connect({ enabled: false, users: 'groups', groups: ['Large'] });
      const all = await world.connect({ name: 'All', enabled: false });
      const plan = (): Promise<Json & { readonly differences: readonly Json[] }> => world.tenant.make('POST', `/connectors/${all.id}/plan`);
      assert.deepEqual([(await plan()).differences.length, (await plan())['complete']], [planDifferencesMax, true]);
      await makePeople(planDifferencesMax, planDifferencesMax + 1);
      const more = await plan();
      assert.deepEqual([more.differences.length, (more['counts'] as Json)['bring']], [planDifferencesMax, planDifferencesMax + 1]);
      await world.tenant.make('PATCH', `/connectors/${id}`, { enabled: true });
      await world.run();
      assert.deepEqual(members, [membersPerPatchMax], 'all but the one who failed, in one request');
      const [failed] = await world.linksOf(id, '?state=failed');
      assert.equal(failed?.['answer'], 'x'.repeat(connectorAnswerBytesMax));
      await world.tenant.make('POST', `/groups/${group['id']}/members`, { user_id: others.at(-1)! });
      await world.run();
      assert.deepEqual(members, [membersPerPatchMax, 1]);
    });

    it('a plan looks at as many people as may, and says when there are more', async () => {
      await world.fresh();
      const { id } = await world.connect({ enabled: false });
      const whose = { tenant: world.tenant.id as TenantId, connector: id as ConnectorId }; // ids of the server
      const mark = (count: number): Promise<void> =>
        world.server.gatehouse.services.database.write(whose.tenant, (queries) =>
          markLinks(
            queries,
            whose,
            'user',
            Array.from({ length: count }, () => randomUUID()),
          ),
        );
      for (let made = 0; made < planPeopleMax; made += 1000) await mark(Math.min(1000, planPeopleMax - made));
      assert.equal((await world.tenant.make('POST', `/connectors/${id}/plan`))['complete'], true);
      await mark(1);
      assert.equal((await world.tenant.make('POST', `/connectors/${id}/plan`))['complete'], false);
    });

    it('accounts that end unasked', () => assert.equal(endingsUnasked, 20)); // 20 and 21 are in test/surfaces/connector-guards.test.ts
  });
}

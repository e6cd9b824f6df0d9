// How many groups the rules of one provider make: at n the last is made, beyond it none, and an event says so.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { groupsPerProviderMax, nameCharsMax } from '../../src/contract/limits.ts';
import type { GroupId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertGroups } from '../../src/storage/people/group-writer.ts';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import type { Json } from '../support/management.ts';

for (const database of databases) {
  describe(`Limits of groups of a provider (${database})`, async () => {
    const world = await openExternalWorld(database);
    const { server, tenant, managed, upstream, register, begin, visit, finish } = world;
    after(async () => {
      await upstream.close();
      await server.close();
    });
    let people = 0;
    const come = async (groups: readonly string[]): Promise<string> => {
      people += 1;
      const at = await begin();
      const claims = { sub: `limit-${people}`, email: `limit${people}@acme.example`, email_verified: true, groups };
      assert.equal((await visit(at, claims)).status, 200);
      return String((await finish(at))['sub']);
    };
    const groupsOf = async (user: string): Promise<readonly string[]> => {
      const rules = [{ to: 'groups', from: 'groups' }];
      const body = { kind: 'oidc', user_id: user, rules };
      const { items } = await managed.make<{ items: readonly Json[] }>('POST', '/mappings/preview', body);
      return items.at(-1)!['values'] as readonly string[]; // display names
    };

    it('groupsPerProviderMax', async () => {
      const provider = await register({ create_users: true, mappings: [{ to: 'groups', from: 'upstream.groups', apply: 'always' }] });
      const made = Array.from({ length: groupsPerProviderMax - 1 }, (_, at) => ({
        id: uuidV7(server.clock.nowMs()) as GroupId, // made here
        display_name: `group-${at}`,
        external_id: null,
        origin: 'identity_provider',
        identity_provider_id: provider.id,
      }));
      await server.gatehouse.services.database.write(tenant.id, (queries) => insertGroups(queries, tenant.id, made));
      const withheld = async (): Promise<unknown> =>
        (await managed.make<{ items: readonly Json[] }>('GET', '/events?type=mapping.group_withheld')).items.map(({ reason, data }) => [
          reason,
          data,
        ]);
      assert.deepEqual(await groupsOf(await come(['last', 'group-0'])), ['group-0', 'last']);
      assert.deepEqual(await withheld(), []);
      assert.deepEqual(await groupsOf(await come(['beyond', 'group-0', 'last'])), ['group-0', 'last']);
      assert.deepEqual(await withheld(), [['too_many_groups', { group: 'beyond' }]]);
      // One that goes makes room.
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/groups?search=last');
      await managed.make('DELETE', `/groups/${String(items[0]!['id'])}`);
      assert.deepEqual(await groupsOf(await come(['beyond'])), ['beyond']);
    });

    it('groupsPerProviderMax at one sign-in: all come, and all go', async () => {
      const [provider] = (await managed.make<{ items: readonly Json[] }>('GET', '/identity-providers')).items;
      for (const { id } of (await managed.make<{ items: readonly Json[] }>('GET', '/groups?search=beyond')).items)
        await managed.make('DELETE', `/groups/${String(id)}`);
      // Deleted and registered again, the provider has no groups: those before are the console's.
      await managed.make('DELETE', `/identity-providers/${String(provider!['id'])}`);
      await register({ create_users: true, mappings: [{ to: 'groups', from: 'upstream.groups', apply: 'always' }] });
      const names = Array.from({ length: groupsPerProviderMax + 1 }, (_, at) => `g${at}`);
      const user = await come(names);
      assert.deepEqual(await groupsOf(user), names.slice(0, -1).toSorted());
      people -= 1;
      assert.equal(await come([]), user);
      assert.deepEqual(await groupsOf(user), []);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/groups?search=g1&limit=2');
      await managed.make('DELETE', `/groups/${String(items[0]!['id'])}`);
    });

    it('nameCharsMax', async () => {
      const [fits, tooLong] = ['n'.repeat(nameCharsMax), 'm'.repeat(nameCharsMax + 1)];
      assert.deepEqual(await groupsOf(await come([fits, tooLong])), [fits]);
    });
  });
}

// Turns of directories in a process: there are few, so whoever has a slow server, or is one's friend, is kept from having them all.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import { directoryRunMinutesCrowdedMax } from '../../src/contract/directory-limits.ts';
import { createDirectories, createRunTurns, engineLimits } from '../../src/directories/engine.ts';
import { DirectoryFault, type OpenDirectory } from '../../src/directories/reading.ts';
import type { Directories } from '../../src/domain/extending/directory-runs.ts';
import type { LdapDirectoryId, TenantId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { directoryBody, whoseOf } from '../support/directories.ts';
import { answeredDirectory, leaveUnread, personEntry } from '../support/directory-runs.ts';
import { eventually } from '../support/eventually.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const turns = 4;

describe('a turn that a run lost to a tenant', () => {
  const [acme, globex, initech] = ['acme', 'globex', 'initech'] as unknown as readonly [TenantId, TenantId, TenantId];
  let begun: string[];
  let runs: ReturnType<typeof createRunTurns>;
  /** Work that goes on until its turn is another's. */
  const begin = (tenant: TenantId, directory: string): void =>
    runs.begin(tenant, directory as LdapDirectoryId, async (crowded) => {
      begun.push(directory);
      await once(crowded, 'abort');
    });
  beforeEach(async () => {
    begun = [];
    runs = createRunTurns(0);
    for (const name of ['a1', 'a2', 'a3']) begin(acme, name);
    for (const name of ['g1', 'g2', 'g3']) begin(globex, name);
    assert.deepEqual(begun, ['a1', 'a2', 'g1', 'g2']);
    assert.deepEqual([runs.mayBegin(acme), runs.mayBegin(globex), runs.mayBegin(initech)], [false, false, true]);
    const [longest] = runs.works();
    runs.makeRoom(initech);
    runs.makeRoom('hooli' as TenantId);
    begin(initech, 'i0'); // not before the other has ended
    await longest;
    assert.equal(runs.works().length, turns - 1);
  });

  it('is that tenant’s alone, and one run ends for it', () => {
    begin(acme, 'a3');
    assert.equal(runs.mayBegin(acme), false);
    begin(initech, 'i1');
    assert.deepEqual(begun.slice(turns), ['i1']);
  });

  it('is offered to those without a run first, and anybody’s when that tenant took none', async () => {
    const asked: TenantId[] = [];
    await runs.offer([globex, acme, initech], async (tenant) => {
      asked.push(tenant);
      if (tenant !== initech) begin(tenant, `${tenant}-again`);
    });
    assert.deepEqual([asked, begun.slice(turns)], [[initech, acme, globex], []]);
    begin(acme, 'a3');
    assert.deepEqual(begun.slice(turns), ['a3']);
  });
});

for (const database of databases) {
  describe(`turns of directories on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
      leaveUnread(server);
    });
    after(() => server?.close());

    /** A tenant with so many directories, which are due. */
    const tenantOf = async (directories: number) => {
      const tenant = await createTestTenant(server);
      for (let made = 0; made < directories; made += 1)
        await tenant.make('POST', '/directories', directoryBody({ name: `Directory ${made}` }));
      return { tenant, id: whoseOf(tenant, '').tenant };
    };
    const statusesOf = async (tenant: Managed): Promise<readonly Json[]> => {
      const { items } = await tenant.make<{ readonly items: readonly { readonly id: string }[] }>('GET', '/directories');
      return Promise.all(items.map(({ id }) => tenant.make('GET', `/directories/${id}/status`)));
    };
    const isRead = async (tenant: Managed): Promise<boolean> => (await statusesOf(tenant)).every((status) => status['last_run'] !== null);
    const countRunning = async (tenant: Managed): Promise<number> =>
      (await statusesOf(tenant)).filter(({ state }) => state === 'running').length;
    const failuresOf = async (tenants: readonly Managed[]): Promise<readonly unknown[]> =>
      (await Promise.all(tenants.map(statusesOf))).flat().flatMap(({ failure }) => failure ?? []);

    /** A node for which the servers of these tenants accept a connection, and say nothing more. */
    const nodeWith = (slow: readonly TenantId[], limits = engineLimits as Parameters<typeof createDirectories>[2]) => {
      const others = answeredDirectory();
      others.answered.people = [personEntry('ada')];
      // As a connection does: what is waited for ends with the signal.
      const open: OpenDirectory = async (tenant, one, password, signal) => {
        if (!slow.includes(tenant)) return others.open(tenant, one, password, signal);
        await once(signal, 'abort');
        throw new DirectoryFault({ reason: 'timeout', detail: 'no answer in time' });
      };
      return createDirectories(() => server.gatehouse.services, open, limits);
    };
    const beginAll = async (node: Directories, ids: readonly TenantId[]): Promise<void> => {
      for (const id of ids) await node.begin(id);
    };

    it('a tenant whose directories are slow keeps no other waiting', async () => {
      const slow = await tenantOf(6);
      const other = await tenantOf(1);
      const node = nodeWith([slow.id]);
      await beginAll(node, [slow.id, other.id]);
      await eventually(() => isRead(other.tenant), 'the other is read');
      assert.equal(await countRunning(slow.tenant), 2);
      await node.stop();
    });

    it('two tenants whose directories are slow have every turn, and lose one to a third once they had it long enough', async () => {
      assert.equal(engineLimits.crowdedRunMs, directoryRunMinutesCrowdedMax * 60_000);
      const slow = [await tenantOf(3), await tenantOf(3)];
      const [ids, tenants] = [slow.map(({ id }) => id), slow.map(({ tenant }) => tenant)];
      const third = await tenantOf(1);
      // Nobody else's is due, of whom the node would read.
      await server.gatehouse.services.database.system((queries) =>
        queries
          .updateTable('tenants')
          .set({ directories_due_at: null })
          .where('tenant_id', 'not in', [...ids, third.id])
          .execute(),
      );
      const countTaken = async (): Promise<number> => (await Promise.all(tenants.map(countRunning))).reduce((sum, count) => sum + count, 0);

      const patient = nodeWith(ids);
      await beginAll(patient, ids);
      await eventually(async () => (await countTaken()) === turns, 'every turn is taken');
      await beginAll(patient, [third.id, ...ids, third.id]);
      assert.deepEqual([await countTaken(), await isRead(third.tenant)], [turns, false], 'none was long enough');
      await patient.stop();
      assert.deepEqual(await failuresOf(tenants), []);

      const node = nodeWith(ids, { ...engineLimits, crowdedRunMs: 0 });
      await beginAll(node, ids);
      await eventually(async () => (await countTaken()) === turns, 'every turn is taken again');
      await beginAll(node, ids);
      assert.deepEqual(await failuresOf(tenants), [], 'they end nothing for one another');
      await eventually(() => {
        node.wake();
        return isRead(third.tenant);
      }, 'the third is read');
      const late = { reason: 'timeout', detail: 'the whole took longer than a run may while others wait' };
      assert.deepEqual(await failuresOf(tenants), [late], 'one lost its turn, and to nobody but the third');
      await node.stop();
    });
  });
}

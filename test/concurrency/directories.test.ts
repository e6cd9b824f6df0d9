// Directories read by several at once, and runs that end before their end: one run at a time whoever asks, nobody twice, nothing written by a
// run that is another's.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { directoryAskMinutesMax, directoryAsksPerTenantMax, directoryRunHoursMax } from '../../src/contract/directory-limits.ts';
import { createDirectories, engineLimits } from '../../src/directories/engine.ts';
import { DirectoryFault, type OpenDirectory } from '../../src/directories/reading.ts';
import type { Directories } from '../../src/domain/extending/directory-runs.ts';
import { writeLinks } from '../../src/storage/records/directory-links.ts';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { entry, linksAt, takeRun, whoseOf } from '../support/directories.ts';
import {
  type Answered,
  answeredDirectory,
  type DirectoryWorld,
  directoryWorld,
  leaveUnread,
  nodeReading,
  personEntry,
} from '../support/directory-runs.ts';
import { eventually } from '../support/eventually.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const crowd = (count: number) => Array.from({ length: count }, (_, at) => personEntry(`p${at}`));

/** Closed until it is opened. */
function gate(): { readonly reached: Promise<void>; readonly pass: () => Promise<void>; readonly open: () => void } {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  return {
    reached,
    pass: async () => {
      reach();
      await opened;
    },
    open,
  };
}

for (const database of databases) {
  describe(`directories at once on ${database}`, () => {
    let server: TestServer;
    let nodes: readonly Directories[];
    let world: DirectoryWorld;
    let answered: Answered;
    let begin: Directories['begin'];
    before(async () => {
      server = await startTestServer(database);
      begin = leaveUnread(server);
    });
    beforeEach(async () => {
      const directory = answeredDirectory();
      answered = directory.answered;
      nodes = [nodeReading(server, directory.open), nodeReading(server, directory.open)];
      world = await directoryWorld(server, nodes[0]!);
    });
    after(() => server?.close());

    const beginAll = async (tenant = whoseOf(world.tenant, '').tenant): Promise<void> => {
      await Promise.all(nodes.map((node) => node.begin(tenant)));
    };
    const settled = async (): Promise<void> => {
      await Promise.all(nodes.map((node) => node.settled()));
    };

    it('two nodes have one run', async () => {
      answered.people = crowd(30);
      answered.size = 10;
      const { id } = await world.make();
      for (let round = 0; round < 5; round += 1) {
        await world.tenant.make('POST', `/directories/${id}/sync`, { full: true });
        await beginAll();
        await settled();
      }
      assert.equal(answered.opened.length, 5);
      assert.deepEqual(answered.opened[0], 'a-kept-password');
      assert.equal((await world.people()).length, 30);
    });

    it('one that is stopped in the middle is taken up by another node, and nobody is made twice', async () => {
      answered.people = crowd(50);
      answered.size = 10;
      const at = gate();
      let pages = 0;
      answered.before = async () => {
        pages += 1;
        if (pages === 3) await at.pass();
      };
      const { id } = await world.make();
      await nodes[0]!.begin(whoseOf(world.tenant, id).tenant);
      await at.reached;
      const stopping = nodes[0]!.stop();
      at.open();
      await stopping;
      const made = (await world.people()).map(({ id: user }) => user);
      assert.equal(made.length, 20);
      await nodes[1]!.begin(whoseOf(world.tenant, id).tenant);
      await nodes[1]!.settled();
      const last = await world.lastOf(id);
      assert.deepEqual([last['full'], last['unchanged'], last['created'], last['ended']], [true, 20, 30, 0]);
      const people = await world.people();
      assert.equal(people.length, 50);
      assert.ok(made.every((user) => people.some((one) => one.id === user)));
    });

    it('one whose node died is taken up when its time is over; what the dead one still does is written by nobody', async () => {
      answered.people = crowd(20);
      answered.size = 10;
      const at = gate();
      let pages = 0;
      answered.before = async () => {
        pages += 1;
        if (pages === 2) await at.pass();
      };
      const { id } = await world.make();
      const { tenant } = whoseOf(world.tenant, id);
      await nodes[0]!.begin(tenant);
      await at.reached;
      await nodes[1]!.begin(tenant);
      await nodes[1]!.settled();
      assert.equal(answered.opened.length, 1, 'it has its time');
      await server.clock.advance(121_000);
      await nodes[1]!.begin(tenant);
      await nodes[1]!.settled();
      assert.equal((await world.lastOf(id))['created'], 10);
      answered.people = [...crowd(20), personEntry('late')];
      at.open();
      await nodes[0]!.settled();
      assert.equal((await world.people()).length, 20);
      assert.deepEqual([(await world.statusOf(id))['failures'], (await world.statusOf(id))['state']], [0, 'idle']);
    });

    it('a directory that is changed, or deleted, meanwhile is read no further', async () => {
      answered.people = crowd(20);
      answered.size = 10;
      for (const change of ['PATCH', 'DELETE'] as const) {
        const at = gate();
        answered.before = at.pass;
        const { id } = await world.make({ name: change });
        await nodes[0]!.begin(whoseOf(world.tenant, id).tenant);
        await at.reached;
        await world.tenant.make(change, `/directories/${id}`, change === 'PATCH' ? { enabled: false } : undefined);
        at.open();
        await nodes[0]!.settled();
        assert.equal((await world.people()).length, 0, change);
      }
    });

    it('one that is changed before its run is taken up is read as it is then', async () => {
      const { services } = server.gatehouse;
      const { id } = await world.make();
      const read: typeof services.database.read = async (tenant, work) => {
        const found = await services.database.read(tenant, work);
        await world.tenant.make('PATCH', `/directories/${id}`, { user_filter: '(uid=ann)' });
        return found;
      };
      const filters: unknown[] = [];
      const node = createDirectories(
        () => ({ ...services, database: { ...services.database, read } }),
        async (_tenant, { userFilter }) => {
          filters.push(userFilter);
          throw new DirectoryFault({ reason: 'unreachable', detail: null });
        },
      );
      await node.begin(whoseOf(world.tenant, id).tenant);
      await node.stop();
      assert.deepEqual(filters, ['(uid=ann)']);
    });

    it('values of an attribute that the tenant has only since a run began stay', async () => {
      await world.tenant.make('POST', '/custom-attributes', { name: 'badge' });
      const numbered = (badge: string) => {
        const { attributes, ...entry } = personEntry('ann');
        return { ...entry, attributes: { ...attributes, employeenumber: [badge] } };
      };
      answered.people = [numbered('1')];
      const { id } = await world.make({ mappings: [{ to: 'custom.badge', from: 'upstream.employeeNumber' }] });
      await world.run();
      answered.people = [numbered('2')];
      const at = gate();
      answered.before = at.pass;
      await world.tenant.make('POST', `/directories/${id}/sync`, { full: true });
      await nodes[0]!.begin(whoseOf(world.tenant, id).tenant);
      await at.reached;
      await world.tenant.make('POST', '/custom-attributes', { name: 'motto' });
      const ann = await world.person('ann');
      await world.tenant.make('PATCH', `/users/${ann?.id}`, { custom: { motto: 'On' } });
      at.open();
      await nodes[0]!.settled();
      assert.deepEqual((await world.person('ann'))?.['custom'], { badge: '2', motto: 'On' });
    });

    it('somebody who is asked for meanwhile is read again behind the run', async () => {
      answered.people = crowd(1);
      const at = gate();
      answered.before = at.pass;
      const { id } = await world.make();
      await nodes[0]!.begin(whoseOf(world.tenant, id).tenant);
      await at.reached;
      await world.tenant.make('POST', `/directories/${id}/sync`, { full: true });
      at.open();
      await nodes[0]!.settled();
      assert.equal((await world.statusOf(id))['state'], 'idle');
      await world.run();
      assert.equal(answered.opened.length, 2);
    });

    it('values that somebody has cost their entries alone, however many come in one page', async () => {
      await world.tenant.make('POST', '/custom-attributes', { name: 'badge', type: 'string', unique: true });
      await createTestUser(world.tenant, 'taken@corp.example', { custom: { badge: 'b7' } });
      answered.people = Array.from({ length: 20 }, (_, at) => {
        const entry = personEntry(`p${at}`);
        return { ...entry, attributes: { ...entry.attributes, employeenumber: [`b${at === 12 ? 3 : at}`] } };
      });
      const { id } = await world.make({ mappings: [{ to: 'custom.badge', from: 'upstream.employeeNumber' }] });
      await world.run();
      const last = await world.lastOf(id);
      assert.deepEqual([last['read'], last['created'], last['conflicts']], [20, 18, 2]);
      assert.deepEqual((await world.linksOf(id, '?state=conflict')).map(({ dn, reason }) => `${dn}: ${reason}`).toSorted(), [
        'uid=p12,dc=corp: Somebody else here has its value of badge.',
        'uid=p7,dc=corp: Somebody else here has its value of badge.',
      ]);
    });

    it('names that people are given while a page is written are conflicts, and both have what they were told', async () => {
      answered.people = crowd(40);
      answered.size = 5;
      const { id } = await world.make();
      const { tenant } = whoseOf(world.tenant, id);
      await nodes[0]!.begin(tenant);
      const given = await Promise.all(
        Array.from({ length: 40 }, (_, at) => world.tenant.call('POST', '/users', { user_name: `p${39 - at}` })),
      );
      await settled();
      const people = await world.people();
      assert.equal(people.length, 40);
      const conflicts = (await world.lastOf(id))['conflicts'];
      assert.equal(conflicts, given.filter(({ status }) => status === 201).length);
    });

    it('a server that gives a page now and then has a run, a plan or a test no longer than may be, and its tenant two of these at once', async () => {
      const { id } = await world.make();
      const directory = answeredDirectory();
      directory.answered.people = crowd(1000);
      directory.answered.size = 1;
      directory.answered.before = () => setTimeout(50);
      // As a connection does: what is waited for ends with the signal.
      const open: OpenDirectory = async (tenant, one, password, signal) => {
        const reader = await directory.open(tenant, one, password, signal);
        return {
          ...reader,
          people: async function* (since) {
            for await (const page of reader.people(since)) {
              if (signal.aborted) throw new DirectoryFault({ reason: 'timeout', detail: 'no answer in time' });
              yield page.entries.length > 0 ? { entries: [], skipped: [] } : page;
            }
          },
        };
      };
      const node = createDirectories(() => server.gatehouse.services, open, { ...engineLimits, runMs: 1000, askMs: 1000, waitMs: 200 });
      await node.begin(whoseOf(world.tenant, id).tenant);
      await node.settled();
      const { failure } = await world.statusOf(id);
      assert.deepEqual(failure, { reason: 'timeout', detail: 'the whole took longer than a run may' });
      const { services } = server.gatehouse;
      const { plan, test } = services.directories;
      Object.assign(services.directories, { plan: node.plan, test: node.test });
      try {
        const ask = (what: string): Promise<Response> => world.tenant.call('POST', `/directories/${id}/${what}`);
        const [first, second, third] = await Promise.all([ask('plan'), ask('test'), setTimeout(100).then(() => ask('test'))]);
        for (const response of [first, second]) {
          const answer = (await response.json()) as { readonly failure: { readonly reason: string } };
          assert.deepEqual([response.status, answer.failure.reason], [200, 'timeout']);
        }
        await assertRefusal(third, 'management.unavailable');
        assert.equal((await ask('test')).status, 200, 'when the others are done');
      } finally {
        Object.assign(services.directories, { plan, test });
        await node.stop();
      }
      assert.deepEqual(
        [engineLimits.runMs, engineLimits.askMs, directoryAsksPerTenantMax],
        [directoryRunHoursMax * 3_600_000, directoryAskMinutesMax * 60_000, 2],
      );
    });

    if (database === 'postgres') {
      const link = (name: string) => (user: string) =>
        `UPDATE directory_links SET state = 'linked', local_id = '${user}' WHERE directory_id = $1 AND remote_id = 'id-of-${name}'`;
      const drop = () => "DELETE FROM directory_links WHERE directory_id = $1 AND remote_id = 'id-of-ann'";
      for (const [what, action, meanwhile, row, expected] of [
        ['an entry that a run settles meanwhile is not decided again', 'ignore', link('ann'), 'management.conflict', { kind: 'state' }],
        ['an entry that a run drops meanwhile is unknown', 'create', drop, 'management.not_found', {}],
        ['somebody whom a run links meanwhile is no other entry', 'adopt', link('bob'), 'management.conflict', { kind: 'local_id' }],
      ] as const)
        it(what, async () => {
          const { id } = await world.make();
          const { write, whose } = linksAt(server, world.tenant, id);
          const { id: user } = await createTestUser(world.tenant, 'ann@corp.example');
          const entries = ['ann', 'bob'].map((name) => entry(name, { state: 'conflict' }));
          await write((queries) => writeLinks(queries, whose, 1, entries));
          const body = { action, ...(action === 'adopt' && { local_id: user }) };
          let links: readonly Json[] = [];
          await onServer(server.database.databaseUrl!, async (session) => {
            await session.query('BEGIN');
            await session.query('SELECT FROM directory_states WHERE directory_id = $1 FOR UPDATE', [id]); // as a run has it
            const resolving = world.tenant.call('POST', `/directories/${id}/links/id-of-ann/resolve`, body);
            await someoneWaitsFor(session);
            await session.query(meanwhile(user), [id]);
            await session.query('COMMIT');
            links = await world.linksOf(id);
            const text = row === 'management.conflict' && { text: /./ };
            await assertRefusal(await resolving, row, { ...expected, ...text });
          });
          assert.deepEqual(await world.linksOf(id), links, 'as the run left them');
        });
    }

    it('a run that others took by hand is begun by nobody', async () => {
      const { id } = await world.make();
      const whose = whoseOf(world.tenant, id);
      assert.ok((await takeRun(server, whose)) !== undefined);
      await beginAll();
      await settled();
      assert.equal(answered.opened.length, 0);
    });

    it('the server’s own turns read what is due', async () => {
      const { directories } = server.gatehouse.services;
      Object.assign(directories, { begin });
      try {
        const { id } = await world.make();
        await eventually(async () => (await world.statusOf(id))['failures'] === 1); // its host is nowhere
      } finally {
        leaveUnread(server);
        await directories.settled();
      }
    });
  });
}

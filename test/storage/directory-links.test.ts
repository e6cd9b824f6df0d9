// Runs of directories of LDAP and their links at the level of their SQL, on both databases: one run at a time, ended by a change; what a run
// did not see; how many would end.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Queries } from '../../src/storage/engine/database.ts';
import {
  countEnding,
  endEntries,
  findDirectoryLink,
  freeLocal,
  holdEntries,
  holdUnseen,
  idOfName,
  listDirectoryLinks,
  listLinksOfEntries,
  listLinksOfLocal,
  listLinksOfNames,
  noteEntriesSeen,
  type OfDirectory,
  releaseEnding,
  type WrittenLink,
  writeLinks,
} from '../../src/storage/records/directory-links.ts';
import {
  askForRun,
  endHold,
  endRun,
  failRun,
  findDirectoryState,
  holdRun,
  keepRun,
  listTenantsWithDueDirectories,
  noteDue,
} from '../../src/storage/registry/extending/ldap-directories.ts';
import { databases } from '../support/databases.ts';
import { directoryBody, entry, figures, takeRun, whoseOf } from '../support/directories.ts';
import { leaveUnread } from '../support/directory-runs.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const minuteMs = 60_000;

for (const database of databases) {
  describe(`runs of directories on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      leaveUnread(server);
      tenant = await createTestTenant(server);
    });
    after(() => server?.close());

    const made = async (fields: Json = {}): Promise<OfDirectory> =>
      whoseOf(tenant, (await tenant.make('POST', '/directories', directoryBody({ name: randomUUID().slice(0, 30), ...fields })))['id']);
    const write = <T>(work: (queries: Queries) => Promise<T>): Promise<T> =>
      server.gatehouse.services.database.write(whoseOf(tenant, '').tenant, work);
    const dueTenants = async (): Promise<boolean> =>
      (await server.gatehouse.services.database.system((queries) => listTenantsWithDueDirectories(queries, 10))).some(
        (id) => id === tenant.id,
      );
    const end = { figures, everyMinutes: 15, mark: null, server: null };

    it('one takes a run up, keeps it, and another has it when they are silent', async () => {
      const whose = await made();
      const first = (await takeRun(server, whose))!;
      assert.equal(await takeRun(server, whose), undefined);
      await server.clock.advance(1.5 * minuteMs);
      assert.equal(await write((queries) => keepRun(queries, first)), true);
      await server.clock.advance(1.5 * minuteMs);
      assert.equal(await takeRun(server, whose), undefined);
      await server.clock.advance(minuteMs);
      const second = (await takeRun(server, whose))!;
      assert.equal(second.run, first.run + 1);
      assert.equal(await write((queries) => keepRun(queries, first)), false);
      await write((queries) => endRun(queries, first, end));
      assert.equal(await write((queries) => failRun(queries, first, { reason: 'timeout', detail: null }, minuteMs)), 0);
      assert.equal(await write((queries) => keepRun(queries, second)), true, 'the other one ended nothing');
      await write((queries) => endRun(queries, second, end));
      assert.equal(await takeRun(server, whose), undefined);
      await server.clock.advance(15 * minuteMs);
      assert.equal((await takeRun(server, whose))?.run_full, 0);
      await tenant.make('PATCH', `/directories/${whose.directory}`, { enabled: false });
    });

    it('who is due is known of the tenant, and corrected', async () => {
      const whose = await made({ enabled: false });
      await write((queries) => noteDue(queries, whose.tenant));
      assert.equal(await dueTenants(), false);
      await tenant.make('PATCH', `/directories/${whose.directory}`, { enabled: true });
      assert.equal(await dueTenants(), true);
      const run = (await takeRun(server, whose))!;
      assert.equal(await dueTenants(), false);
      await server.clock.advance(3 * minuteMs);
      assert.equal(await dueTenants(), true, 'it may be silent');
      await write((queries) => keepRun(queries, run));
      await write((queries) => noteDue(queries, whose.tenant));
      assert.equal(await dueTenants(), false);
      await tenant.make('DELETE', `/directories/${whose.directory}`);
      await server.clock.advance(5 * minuteMs);
      await write((queries) => noteDue(queries, whose.tenant));
      assert.equal(await dueTenants(), false);
    });

    it('a change of the directory ends the run; what is read otherwise is read whole', async () => {
      const whose = await made();
      const patch = (change: Json): Promise<Json> => tenant.make('PATCH', `/directories/${whose.directory}`, change);
      const first = (await takeRun(server, whose))!;
      await patch({ every_minutes: 30 });
      assert.equal(await write((queries) => keepRun(queries, first)), false);
      const second = (await takeRun(server, whose))!;
      await write((queries) => endRun(queries, second, { ...end, mark: '7', server: 'dc1' }));
      await patch({ name: 'Another name' });
      const third = (await takeRun(server, whose))!;
      assert.deepEqual([third.run_full, third.change_mark], [0, '7']);
      await write((queries) => holdRun(queries, third));
      await patch({ user_filter: '(uid=*)' });
      const fourth = (await takeRun(server, whose))!;
      assert.deepEqual([fourth.run_full, fourth.change_mark, fourth.change_server, fourth.held_since], [1, null, null, null]);
      await patch({ enabled: false });
    });

    it('who asks while a run is under way has another behind it', async () => {
      const whose = await made();
      const first = (await takeRun(server, whose))!;
      await write((queries) => endRun(queries, first, end));
      await write((queries) => askForRun(queries, whose.tenant, whose.directory, { full: false }));
      const second = (await takeRun(server, whose))!;
      assert.equal(second.run_full, 0);
      await server.clock.advance(1000);
      await write((queries) => askForRun(queries, whose.tenant, whose.directory, { full: true }));
      assert.equal(await takeRun(server, whose), undefined);
      await write((queries) => endRun(queries, second, end));
      const third = (await takeRun(server, whose))!;
      assert.equal(third.run_full, 1);
      await write((queries) => endRun(queries, third, end));
      assert.equal(await takeRun(server, whose), undefined);
      const { asked_at: askedAt, asked_full: askedFull } = (await write((queries) =>
        findDirectoryState(queries, whose.tenant, whose.directory),
      ))!;
      assert.deepEqual([askedAt, askedFull], [null, 0]);
    });

    it('failures are counted one after the other; a hold is one', async () => {
      const whose = await made();
      for (const count of [1, 2]) {
        const run = (await takeRun(server, whose))!;
        assert.equal(await write((queries) => failRun(queries, run, { reason: 'unreachable', detail: 'ECONNREFUSED' }, minuteMs)), count);
        await server.clock.advance(minuteMs);
      }
      const run = (await takeRun(server, whose))!;
      assert.deepEqual([await write((queries) => holdRun(queries, run)), await write((queries) => holdRun(queries, run))], [true, false]);
      await write((queries) => endHold(queries, run));
      assert.equal(await write((queries) => endRun(queries, run, end)), 2, 'it failed twice before');
      const state = await write((queries) => findDirectoryState(queries, whose.tenant, whose.directory));
      assert.deepEqual([state?.failure, state?.failures, state?.held_since], [null, 0, null]);
    });

    it('links of a page are written, found by ids, names and people, and counted where they end', async () => {
      const whose = await made();
      const people = Array.from({ length: 500 }, (_, at) => entry(`p${String(at).padStart(3, '0')}`, { local_id: randomUUID() }));
      const strange: WrittenLink = entry('skipped', {
        remote_id: idOfName('uid=skipped,dc=corp'),
        state: 'skipped',
        reason: 'no_id',
        hash: null,
      });
      await write((queries) => writeLinks(queries, whose, 1, [...people, strange]));
      const ids = people.map((link) => link.remote_id);
      const found = await write((queries) => listLinksOfEntries(queries, whose, [...ids.slice(0, 3), 'nobody']));
      assert.deepEqual(found.map((link) => link.hash).toSorted(), ['hash-of-p000', 'hash-of-p001', 'hash-of-p002']);
      assert.equal((await write((queries) => listLinksOfNames(queries, whose, ['uid=p007,dc=corp'])))[0]?.remote_id, 'id-of-p007');
      assert.equal((await write((queries) => listLinksOfLocal(queries, whose.tenant, [people[9]!.local_id!])))[0]?.remote_id, 'id-of-p009');

      // The next run sees all but 60, of whom one is nobody here.
      await write((queries) => noteEntriesSeen(queries, whose, 2, ids.slice(0, 440)));
      await write((queries) => writeLinks(queries, whose, 2, [entry('p440', { local_id: people[440]!.local_id, hash: 'new' })]));
      let after: string | undefined = '';
      for (let pages = 0; after !== undefined; pages += 1) {
        const page: string = after;
        after = await write((queries) => holdUnseen(queries, whose, 2, { after: page, limit: 200 }));
        assert.ok(pages < 5);
      }
      assert.deepEqual(await write((queries) => countEnding(queries, whose, 0)), { held: 59, ended: 0, linked: 500 });
      assert.equal(await write((queries) => findDirectoryLink(queries, whose, strange.remote_id)), undefined, 'nobody ends by it');
      // One is back.
      await write((queries) => noteEntriesSeen(queries, whose, 3, ['id-of-p499']));
      assert.equal(await write((queries) => releaseEnding(queries, whose)), 58);
      const { ended } = await write((queries) => countEnding(queries, whose, server.clock.nowMs() - minuteMs));
      assert.equal(ended, 58);
      await write((queries) => endEntries(queries, whose, ['id-of-p441'], { areDeleted: false }));
      await write((queries) => endEntries(queries, whose, ['id-of-p442'], { areDeleted: true }));
      const off = await write((queries) => listDirectoryLinks(queries, whose, { after: '', limit: 10, state: 'off' }));
      assert.deepEqual(
        off.map((link) => [link.remote_id, link.local_id]),
        [
          ['id-of-p441', people[441]!.local_id],
          ['id-of-p442', null],
        ],
      );
      await write((queries) => holdEntries(queries, whose, ['id-of-p441', 'id-of-p000']));
      assert.equal((await write((queries) => countEnding(queries, whose, 0))).held, 1, 'who ended does not end again');
    });

    it('nobody here is two entries, whatever directory; who ended gives them up', async () => {
      const [one, other] = [await made(), await made()];
      const somebody = randomUUID();
      await write((queries) => writeLinks(queries, one, 1, [entry('old', { local_id: somebody })]));
      const adopt = (): Promise<void> => write((queries) => writeLinks(queries, other, 1, [entry('new', { local_id: somebody })]));
      await assert.rejects(adopt());
      await write((queries) => freeLocal(queries, one.tenant, [somebody]));
      await assert.rejects(adopt(), 'it has not ended');
      await write((queries) => endEntries(queries, one, ['id-of-old'], { areDeleted: false }));
      await write((queries) => freeLocal(queries, one.tenant, [somebody]));
      await adopt();
    });
  });
}

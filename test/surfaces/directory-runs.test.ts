// Runs of directories over HTTP, of a real directory (design 20, 1): people and groups of slapd come, are kept as they are there, and end.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { Attribute, Change } from 'ldapts';
import { databases } from '../support/databases.ts';
import { type DirectoryWorld, directoryWorld, leaveUnread } from '../support/directory-runs.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { slapdGroups, slapdPath, slapdPeople, slapdReader, startSlapd, type TestSlapd } from '../support/slapd.ts';
import { loopbackAllowed } from '../support/webhooks.ts';

const dnOf = (uid: string): string => `uid=${uid},${slapdPeople}`;
const namesOf = (people: readonly { readonly user_name: string }[]): readonly string[] => people.map((one) => one.user_name).toSorted();

if (slapdPath !== undefined)
  for (const database of databases) {
    describe(`runs of directories on ${database}`, () => {
      let server: TestServer;
      let slapd: TestSlapd;
      let world: DirectoryWorld;
      before(async () => {
        slapd = await startSlapd();
        server = await startTestServer(database, { flags: loopbackAllowed });
        const begin = leaveUnread(server);
        const { settled } = server.gatehouse.services.directories;
        world = await directoryWorld(server, { begin, settled }, () => ({
          ...{ name: 'Corp', kind: 'openldap', url: slapd.url, ca: slapd.ca, base_dn: slapdPeople },
          ...{ bind_dn: slapdReader.dn, bind_password: slapdReader.password },
        }));
      });
      beforeEach(async () => {
        await world.fresh();
        await slapd.change(async (client) => {
          for (const base of [slapdPeople, slapdGroups]) {
            const { searchEntries } = await client.search(base, { scope: 'one', attributes: ['1.1'] });
            for (const { dn } of searchEntries) await client.del(dn);
          }
        });
      });
      after(async () => {
        await server?.close();
        await slapd?.stop();
      });

      const add = (uid: string, fields: Readonly<Record<string, string | string[]>> = {}): Promise<void> =>
        slapd.change((client) =>
          client.add(dnOf(uid), {
            ...{ objectClass: 'inetOrgPerson', uid, cn: `${uid} Doe`, sn: 'Doe', givenName: uid, mail: `${uid}@corp.example` },
            ...fields,
          }),
        );
      const set = (dn: string, type: string, values: string[]): Promise<void> =>
        slapd.change((client) => client.modify(dn, new Change({ operation: 'replace', modification: new Attribute({ type, values }) })));
      const remove = (...uids: readonly string[]): Promise<void> =>
        slapd.change(async (client) => {
          for (const uid of uids) await client.del(dnOf(uid));
        });

      it('people come with what their entry says, and without anything to sign in with; a second run writes nothing', async () => {
        await add('ann', { mail: 'Ann.Doe@corp.example', givenName: 'Ann' });
        await add('bob');
        await add('nameless', { uid: ['nameless', ' '] });
        const { id } = await world.make();
        await world.run();
        const last = await world.lastOf(id);
        assert.deepEqual([last['full'], last['read'], last['created'], last['skipped'], last['referrals']], [true, 3, 3, 0, 0]);
        const ann = await world.person('ann');
        assert.deepEqual(
          [ann?.state, ann?.emails, ann?.['name'], ann?.['role']],
          ['active', [{ value: 'Ann.Doe@corp.example', primary: true }], { given_name: 'Ann', family_name: 'Doe' }, 'user'],
        );
        assert.deepEqual(await world.eventsOf(`user:${ann?.id}`), ['user.created']);
        const before = [await world.people(), await world.countEvents(), await world.linksOf(id)];
        const { unchanged, created, updated } = await world.sync(id);
        assert.deepEqual([unchanged, created, updated], [3, 0, 0]);
        assert.deepEqual([await world.people(), (await world.countEvents()) - 1, await world.linksOf(id)], before, 'but for the asking');
        assert.deepEqual([(await world.statusOf(id))['state'], (await world.statusOf(id))['users']], ['idle', 3]);
      });

      it('what changes there changes here, what is taken away goes, and by an incremental run; who is renamed or moved stays who they are', async () => {
        await add('ann', { title: 'Clerk' });
        await add('bob');
        const { id } = await world.make({ mappings: [{ to: 'title', from: 'upstream.TITLE' }] });
        await world.run();
        const ann = await world.person('ann');
        assert.equal(ann?.['title'], 'Clerk');
        await set(dnOf('ann'), 'mail', ['ann@new.example']);
        await set(dnOf('ann'), 'title', []);
        const last = await world.sync(id, false);
        assert.deepEqual([last['full'], last['updated']], [false, 1]);
        const changed = await world.person('ann');
        assert.deepEqual([changed?.id, changed?.emails[0]?.['value'], changed?.['title']], [ann?.id, 'ann@new.example', undefined]);
        const [, newest] = [await world.eventsOf(`user:${ann?.id}`), (await world.eventsOf(`user:${ann?.id}`))[0]];
        assert.equal(newest, 'user.updated');
        await slapd.change((client) => client.modifyDN(dnOf('ann'), `uid=anna,${slapdPeople}`));
        await world.sync(id, false);
        assert.deepEqual([(await world.person('anna'))?.id, (await world.people()).length], [ann?.id, 2]);
        const [link] = (await world.linksOf(id)).filter(({ local_id: localId }) => localId === ann?.id);
        assert.equal(link?.['dn'], `uid=anna,${slapdPeople}`);
      });

      it('who is gone ends by a full run alone, and comes back with their entry; whom an administrator suspended stays so', async () => {
        for (const uid of ['ann', 'bob', 'cid']) await add(uid);
        const { id } = await world.make();
        await world.run();
        const ann = await world.person('ann');
        await remove('ann');
        await world.sync(id, false);
        assert.equal((await world.person('ann'))?.state, 'active', 'changes do not say who is gone');
        assert.equal((await world.sync(id))['ended'], 1);
        assert.equal((await world.person('ann'))?.state, 'suspended');
        assert.deepEqual(await world.eventsOf(`user:${ann?.id}`), ['user.suspended', 'user.created']);
        assert.equal((await world.linksOf(id, '?state=off')).length, 1);
        assert.equal((await world.sync(id))['ended'], 0, 'once');
      });

      it('conflicts are settled: adopted, made anew, or ignored; who holds a role is never adopted', async () => {
        for (const uid of ['ann', 'bob', 'cid', 'eve']) await add(uid);
        const ann = await createTestUser(world.tenant, 'ann', { emails: [] });
        const bob = await createTestUser(world.tenant, 'bob@corp.example', { user_name: 'robert' });
        await createTestUser(world.tenant, 'cid', { emails: [] });
        const eve = await createTestUser(world.tenant, 'eve', { emails: [], admin_roles: ['owner'] });
        const { id } = await world.make();
        await world.run();
        const conflicts = await world.linksOf(id, '?state=conflict');
        assert.deepEqual(conflicts.map(({ dn, reason }) => `${String(dn).split(',')[0]}: ${String(reason)}`).toSorted(), [
          'uid=ann: Somebody else here has this user name.',
          'uid=bob: Somebody else here has this email address.',
          'uid=cid: Somebody else here has this user name.',
          'uid=eve: Somebody else here has this user name.',
        ]);
        const linkOf = (uid: string): Json => conflicts.find(({ dn }) => dn === dnOf(uid))!;
        const resolve = (uid: string, body: Json): Promise<Json> =>
          world.tenant.make('POST', `/directories/${id}/links/${linkOf(uid)['id']}/resolve`, body);
        await resolve('ann', { action: 'adopt', local_id: ann.id });
        await world.tenant.make('PATCH', `/users/${bob.id}`, { emails: [] });
        await resolve('bob', { action: 'create' });
        await resolve('cid', { action: 'ignore' });
        await resolve('eve', { action: 'adopt', local_id: eve.id });
        await world.run();
        const adopted = await world.person('ann');
        assert.deepEqual([adopted?.id, adopted?.emails[0]?.['value']], [ann.id, 'ann@corp.example']);
        const made = await world.person('bob');
        assert.ok(made !== undefined && made.id !== bob.id);
        const rest = await world.linksOf(id);
        assert.deepEqual(
          rest.map(({ state, local_id: localId }) => [state, localId]).toSorted(),
          [
            ['conflict', null],
            ['ignored', null],
            ['linked', ann.id],
            ['linked', made.id],
          ].toSorted(),
        );
        const owner = await world.person('eve');
        assert.deepEqual([owner?.emails, owner?.['name']], [[], undefined]);
      });

      it('a match adopts whoever is meant, but nobody with a role', async () => {
        for (const uid of ['ann', 'bob']) await add(uid);
        const ann = await createTestUser(world.tenant, 'ANN@corp.example', { user_name: 'other', title: 'Kept' });
        await createTestUser(world.tenant, 'bob@corp.example', { admin_roles: ['owner'] });
        const { id } = await world.make({ match: 'email' });
        await world.run();
        const adopted = await world.person('ann');
        assert.deepEqual([adopted?.id, adopted?.['title'], adopted?.emails.length], [ann.id, 'Kept', 1]);
        const [conflict] = await world.linksOf(id, '?state=conflict');
        assert.match(String(conflict?.['reason']), /holds a role/);
      });

      it('groups come with their members, change, and end; one that is here already is a conflict', async () => {
        for (const uid of ['ann', 'bob', 'cid']) await add(uid);
        const addGroup = (cn: string, members: readonly string[]): Promise<void> =>
          slapd.change((client) => client.add(`cn=${cn},${slapdGroups}`, { objectClass: 'groupOfNames', cn, member: members.map(dnOf) }));
        await addGroup('staff', ['ann', 'bob']);
        await addGroup('taken', ['cid']);
        const own = await world.tenant.make<{ readonly id: string }>('POST', '/groups', { display_name: 'Taken' });
        const { id } = await world.make({ groups: 'all', group_base_dn: slapdGroups });
        await world.run();
        const groups = async (): Promise<readonly (Json & { readonly id: string })[]> =>
          (await world.tenant.make<{ readonly items: readonly (Json & { readonly id: string })[] }>('GET', '/groups')).items;
        const membersOf = async (group: string): Promise<readonly string[]> =>
          namesOf(
            (await world.tenant.make<{ readonly items: readonly { readonly user_name: string }[] }>('GET', `/groups/${group}/members`))
              .items,
          );
        const staff = (await groups()).find((group) => group['display_name'] === 'staff');
        assert.ok(staff);
        assert.deepEqual([await membersOf(staff.id), await membersOf(own.id)], [['ann', 'bob'], []]);
        const [conflict] = await world.linksOf(id, '?state=conflict');
        assert.deepEqual([conflict?.['kind'], conflict?.['reason']], ['group', 'Another group here has this name.']);
        const events = await world.countEvents();
        await world.sync(id);
        assert.equal(await world.countEvents(), events + 1, 'nothing but the asking');
        await set(`cn=staff,${slapdGroups}`, 'member', ['bob', 'cid'].map(dnOf));
        await world.sync(id, false);
        assert.deepEqual(await membersOf(staff.id), ['bob', 'cid']);
        assert.deepEqual(await world.eventsOf(`group:${staff.id}`), ['group.updated', 'group.created']);
        await slapd.change((client) => client.del(`cn=staff,${slapdGroups}`));
        await world.sync(id);
        assert.deepEqual(
          (await groups()).map(({ id: group }) => group),
          [own.id],
        );
        const adopt = { action: 'adopt', local_id: own.id };
        await world.tenant.make('POST', `/directories/${id}/links/${conflict?.['id']}/resolve`, adopt);
        await world.run();
        const [adopted] = await groups();
        assert.deepEqual([adopted?.id, adopted?.['display_name'], await membersOf(own.id)], [own.id, 'taken', ['cid']]);
      });

      it('plan and test write nothing and say what a run does', async () => {
        for (const uid of ['ann', 'bob', 'cid']) await add(uid);
        const { id } = await world.make({ enabled: false });
        const tested = await world.tenant.make<{ readonly failure: unknown; readonly people: readonly Json[] }>(
          'POST',
          `/directories/${id}/test`,
        );
        assert.equal(tested.failure, null);
        assert.deepEqual(tested.people.map(({ values }) => (values as Json)['user_name']).toSorted(), [['ann'], ['bob'], ['cid']]);
        const plan = (): Promise<Json & { readonly counts: Json; readonly differences: readonly Json[] }> =>
          world.tenant.make('POST', `/directories/${id}/plan`);
        assert.deepEqual([(await plan()).counts['create'], (await world.people()).length], [3, 0]);
        await world.tenant.make('PATCH', `/directories/${id}`, { enabled: true });
        await world.run();
        await remove('cid');
        await set(dnOf('bob'), 'sn', ['Smith']);
        const { counts, differences, complete, failure } = await plan();
        assert.deepEqual([counts['unchanged'], counts['update'], counts['suspend'], complete, failure], [1, 1, 1, true, null]);
        assert.deepEqual(differences.map(({ action }) => action).toSorted(), ['suspend', 'update']);
        assert.equal((await world.person('cid'))?.state, 'active');
      });

      it('what cannot be read fails, is tried again later and later, is told of once, and recovers', async () => {
        await add('ann');
        const owner = await createTestUser(world.tenant, `owner@${database}.example`, { admin_roles: ['owner'] });
        const { id } = await world.make({ bind_password: 'not-this-one' });
        const failures: unknown[] = [];
        for (let at = 0; at < 5; at += 1) {
          await world.run();
          const status = await world.statusOf(id);
          const nextMs = Date.parse(String(status['next_run_at'])) - server.clock.nowMs();
          failures.push([status['failures'], Math.round(nextMs / 60_000)]);
          await server.clock.advance(nextMs + 1000);
        }
        assert.deepEqual(failures, [
          [1, 1],
          [2, 2],
          [3, 4],
          [4, 8],
          [5, 16],
        ]);
        const status = await world.statusOf(id);
        assert.deepEqual([status['state'], (status['failure'] as Json)['reason']], ['failing', 'refused']);
        assert.deepEqual(await world.eventsOf(`directory:${id}`), ['directory.failed', 'directory.created']);
        assert.equal((await world.people()).length, 1, `${owner.id} alone`);
        await world.tenant.make('PATCH', `/directories/${id}`, { bind_password: slapdReader.password });
        await world.run();
        assert.deepEqual((await world.eventsOf(`directory:${id}`))[0], 'directory.recovered');
        assert.deepEqual(namesOf(await world.people()), ['ann', `owner@${database}.example`]);
        assert.equal((await world.statusOf(id))['failure'], null);
      });
    });
  }

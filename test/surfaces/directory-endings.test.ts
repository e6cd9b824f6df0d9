// Who ends by a directory and who does not (design 20, 1): the guard, answers that say too little, people who are disabled there, suspended by
// an administrator, or hold a role, and what a directory may never change.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { TenantId, UserId } from '../../src/domain/ids.ts';
import { databases } from '../support/databases.ts';
import { type Answered, type AnsweredWorld, crowd, groupEntry, openAnsweredWorld, personEntry } from '../support/directory-runs.ts';
import { createClient } from '../support/fixtures.ts';
import { issueTokens } from '../support/issued-tokens.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import type { TestServer } from '../support/server.ts';

const hourMs = 3_600_000;

for (const database of databases) {
  describe(`ends by directories on ${database}`, () => {
    let world: AnsweredWorld;
    let server: TestServer;
    let answered: Answered;
    before(async () => {
      world = await openAnsweredWorld(database);
      ({ server, answered } = world);
    });
    beforeEach(() => world.begin());
    after(() => world?.close());
    const copied: AnsweredWorld['copied'] = (people, fields) => world.copied(people, fields);
    const states = (): Promise<readonly string[]> => world.states();
    const suspended = (): Promise<number> => world.suspended();

    it('more than 20 people and 10 % wait for approval, which is of one run; 20 do not', async () => {
      await createTestUser(world.tenant, `guard@${database}.example`, { admin_roles: ['owner'] });
      const { id } = await copied(crowd(0, 60));
      answered.people = crowd(20, 60);
      assert.equal((await world.sync(id))['ended'], 20);
      await server.clock.advance(hourMs + 1000);
      answered.people = crowd(41, 60);
      assert.equal((await world.sync(id))['ended'], 0);
      assert.equal(await suspended(), 20);
      const status = await world.statusOf(id);
      assert.deepEqual([status['state'], status['waiting_for_approval']], ['waiting_for_approval', 21]);
      await world.sync(id);
      assert.deepEqual(
        (await world.eventsOf(`directory:${id}`)).filter((type) => type === 'directory.held'),
        ['directory.held'],
      );
      const mails = await mailsTo(server, `guard@${database}.example`);
      assert.deepEqual(
        mails.map(({ subject }) => subject),
        [`The directory Corp of Tenant ${world.tenant.slug} has stopped`],
      );
      assert.match(mails[0]?.text ?? '', /waits for your approval/);
      answered.people = crowd(40, 60);
      await world.sync(id);
      assert.equal((await world.statusOf(id))['state'], 'idle', 'who came back makes them 20');
      assert.equal(await suspended(), 40);
    });

    it('what is approved ends, also where the entries are still there and disabled; then nothing is approved any more', async () => {
      const { id } = await copied(crowd(0, 50));
      answered.people = crowd(0, 50).map((entry, at) => ({ ...entry, isDisabled: at < 25 }));
      await world.sync(id);
      assert.equal(await suspended(), 0);
      assert.deepEqual(await world.tenant.make('POST', `/directories/${id}/approve`), { approved: 25 });
      assert.equal((await world.sync(id))['ended'], 25);
      assert.equal(await suspended(), 25);
      await assertRefusal(await world.tenant.call('POST', `/directories/${id}/approve`), 'management.conflict', {
        ...{ kind: 'approval', text: /./ },
      });
      answered.people = crowd(0, 50);
      assert.equal((await world.sync(id))['updated'], 25);
      assert.equal(await suspended(), 0);
    });

    it('nothing is read of a directory that is not enabled, also where an end is approved; they end when it is again', async () => {
      const { id } = await copied(crowd(0, 50));
      answered.people = crowd(25, 50);
      await world.sync(id);
      await world.tenant.make('PATCH', `/directories/${id}`, { enabled: false });
      const opened = answered.opened.length;
      assert.deepEqual(await world.tenant.make('POST', `/directories/${id}/approve`), { approved: 25 });
      await world.run();
      assert.deepEqual([answered.opened.length, await suspended()], [opened, 0]);
      assert.equal((await world.statusOf(id))['next_run_at'], null);
      await world.tenant.make('PATCH', `/directories/${id}`, { enabled: true });
      await world.run();
      assert.equal(await suspended(), 25);
    });

    it('runs that follow one another count together, also where those who end are deleted', async () => {
      const { id } = await copied(crowd(0, 60), { deprovision: 'delete' });
      answered.people = crowd(15, 60);
      assert.equal((await world.sync(id))['ended'], 15);
      await world.sync(id);
      answered.people = crowd(30, 60);
      assert.equal((await world.sync(id))['ended'], 0);
      assert.equal((await world.statusOf(id))['waiting_for_approval'], 15);
      assert.equal((await world.people()).length, 45);
    });

    it('an empty answer, and one that breaks off, end nobody; what came before is kept', async () => {
      const { id } = await copied(crowd(0, 5), { groups: 'all' });
      answered.people = [];
      assert.deepEqual([(await world.sync(id))['read'], await suspended()], [0, 0]);
      answered.people = [personEntry('new')];
      answered.failure = { reason: 'partial', detail: 'size limit', afterPages: 1 };
      await world.sync(id);
      const status = await world.statusOf(id);
      assert.deepEqual(status['failure'], { reason: 'partial', detail: 'size limit' });
      assert.deepEqual([(await world.people()).length, await suspended()], [6, 0]);
      answered.failure = undefined;
      assert.equal((await world.sync(id))['ended'], 5);
    });

    it('no groups at all end none, and those that are copied no more stay', async () => {
      answered.groups = [groupEntry('staff', ['p0', 'p1'])];
      const { id } = await copied(crowd(0, 3), { groups: 'all' });
      const groups = async (): Promise<number> =>
        (await world.tenant.make<{ readonly items: readonly Json[] }>('GET', '/groups')).items.length;
      answered.groups = [];
      await world.sync(id);
      assert.equal(await groups(), 1);
      await world.tenant.make('PATCH', `/directories/${id}`, { groups: 'none' });
      await world.run();
      assert.deepEqual([await groups(), (await world.statusOf(id))['groups']], [1, 0]);
    });

    it('who is disabled there is suspended, and let in again; an administrator’s suspension stays, made before or after', async () => {
      const people = ['ann', 'bob', 'cid'].map((name) => personEntry(name));
      const { id } = await copied([...people, personEntry('never', { isDisabled: true })]);
      assert.deepEqual(await states(), ['ann: active', 'bob: active', 'cid: active'], 'nobody is made of a disabled entry');
      const idOf = async (name: string): Promise<string> => (await world.person(name))!.id;
      await world.tenant.make('POST', `/users/${await idOf('bob')}/suspend`);
      answered.people = people.map((entry) => ({ ...entry, isDisabled: true }));
      assert.equal((await world.sync(id))['ended'], 3);
      assert.deepEqual(await states(), ['ann: suspended', 'bob: suspended', 'cid: suspended']);
      await world.tenant.make('POST', `/users/${await idOf('cid')}/suspend`);
      answered.people = people;
      await world.sync(id);
      assert.deepEqual(await states(), ['ann: active', 'bob: suspended', 'cid: suspended']);
      assert.deepEqual(await world.eventsOf(`user:${await idOf('ann')}`), ['user.activated', 'user.suspended', 'user.created']);
    });

    it('sessions end with a suspension, as with any, and the record says by which directory', async () => {
      const { id } = await copied([personEntry('ann')]);
      const ann = (await world.person('ann'))!.id as UserId;
      const { services } = server.gatehouse;
      const tenant = (await services.tenants.byId(world.tenant.id as TenantId))!;
      const { refreshToken, accessToken } = await issueTokens(services, tenant, await createClient(services, tenant), ann);
      assert.ok(refreshToken);
      const userInfo = async (): Promise<number> =>
        (await fetch(`${tenant.baseUrl}/v1/idp/oidc/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } })).status;
      assert.equal(await userInfo(), 200);
      answered.people = [personEntry('ann', { isDisabled: true })];
      await world.sync(id);
      assert.equal(await userInfo(), 401);
      const events = await world.tenant.make<{ readonly items: readonly Json[] }>('GET', `/events?target=user:${ann}`);
      assert.deepEqual(
        events.items.map(({ type, actor }) => [type, actor]),
        [
          ['user.suspended', `directory:${id}`],
          ['user.created', `directory:${id}`],
        ],
      );
    });

    it('whom an administrator lets in stays so until the directory says something new', async () => {
      const { id } = await copied([personEntry('ann')]);
      const ann = (await world.person('ann'))!.id;
      answered.people = [personEntry('ann', { isDisabled: true })];
      await world.sync(id);
      await world.tenant.make('POST', `/users/${ann}/activate`);
      await world.sync(id);
      assert.deepEqual(await states(), ['ann: active']);
      answered.people = [personEntry('ann')];
      await world.sync(id);
      answered.people = [personEntry('ann', { isDisabled: true })];
      await world.sync(id);
      assert.deepEqual(await states(), ['ann: suspended']);
    });

    it('whoever an entry was to be does not end with it before it was read', async () => {
      const ann = await createTestUser(world.tenant, 'ann', { emails: [] });
      const { id } = await copied([personEntry('ann'), personEntry('bob')]);
      const [conflict] = await world.linksOf(id, '?state=conflict');
      await world.tenant.make('POST', `/directories/${id}/links/${conflict?.['id']}/resolve`, { action: 'adopt', local_id: ann.id });
      answered.people = [personEntry('bob')];
      await world.run();
      assert.deepEqual(await states(), ['ann: active', 'bob: active']);
      assert.equal((await world.linksOf(id)).length, 1);
    });

    it('who comes to be somebody by changes alone is in the groups that did not change', async () => {
      answered.groups = [groupEntry('staff', ['ann', 'bob'])];
      answered.mark = { mark: '1', server: 'here' };
      const { id } = await copied([personEntry('ann'), personEntry('bob', { isDisabled: true })], { groups: 'all' });
      const { items } = await world.tenant.make<{ readonly items: readonly Json[] }>('GET', '/groups');
      const members = async (): Promise<number> =>
        (await world.tenant.make<{ readonly items: readonly Json[] }>('GET', `/groups/${items[0]?.['id']}/members`)).items.length;
      assert.equal(await members(), 1);
      answered.people = [personEntry('bob')];
      const last = await world.sync(id, false);
      assert.deepEqual([last['full'], last['created'], last['ended']], [false, 1, 0]);
      assert.equal(await members(), 2);
    });

    it('they are deleted where the directory says so, and left where it says that', async () => {
      const { id } = await copied(
        ['ann', 'bob'].map((name) => personEntry(name)),
        { deprovision: 'delete' },
      );
      answered.people = [personEntry('bob')];
      await world.sync(id);
      assert.deepEqual(await states(), ['bob: active']);
      answered.people = [personEntry('ann'), personEntry('bob')];
      assert.equal((await world.sync(id))['created'], 1, 'who comes back is somebody new');
      await world.tenant.make('PATCH', `/directories/${id}`, { deprovision: 'leave' });
      answered.people = [personEntry('ann')];
      assert.equal((await world.sync(id))['ended'], 1);
      assert.deepEqual(await states(), ['ann: active', 'bob: active']);
    });

    it('what cannot be taken is named by its entry, and nothing of it is written; what is told twice is one', async () => {
      const { id } = await copied([
        personEntry('ann'),
        personEntry('ann'),
        personEntry('no-name', { attributes: { mail: ['a@corp.example'] } }),
        personEntry('no-address', { attributes: { uid: ['x'], mail: ['none'] } }),
        personEntry('bad', { attributes: { uid: ['a  b'] } }),
        personEntry('same', { attributes: { uid: ['ANN'] } }),
      ]);
      assert.deepEqual(await states(), ['ann: active']);
      const reasons = Object.fromEntries((await world.linksOf(id)).map(({ dn, state, reason }) => [dn, [state, reason]]));
      assert.deepEqual(reasons, {
        'uid=ann,dc=corp': ['linked', null],
        'uid=bad,dc=corp': ['skipped', 'Its user name has a space at an end or two in a row.'],
        'uid=no-address,dc=corp': ['skipped', 'Its email address is none.'],
        'uid=no-name,dc=corp': ['skipped', 'It says no user name.'],
        'uid=same,dc=corp': ['conflict', 'Somebody else here has this user name.'],
      });
      answered.people = [personEntry('ann')];
      answered.skipped = [{ remoteId: undefined, dn: 'uid=lost,dc=corp', dnKey: 'uid=lost,dc=corp', reason: 'It says no id.' }];
      await world.sync(id);
      assert.deepEqual((await world.linksOf(id)).map(({ dn, state }) => `${dn} ${state}`).toSorted(), [
        'uid=ann,dc=corp linked',
        'uid=lost,dc=corp skipped',
      ]);
    });

    it('who is there and says too little does not end, whether by an id or by the name alone', async () => {
      const { id } = await copied(['ann', 'bob', 'cid'].map((name) => personEntry(name)));
      const lost = ({ dn, dnKey }: { readonly dn: string; readonly dnKey: string }) => ({
        dn,
        dnKey,
        remoteId: undefined,
        reason: 'It says no id.',
      });
      answered.people = [personEntry('ann', { attributes: {} })];
      answered.skipped = [lost(personEntry('bob'))];
      assert.deepEqual([(await world.sync(id))['ended'], await states()], [1, ['ann: active', 'bob: active', 'cid: suspended']]);
      assert.deepEqual((await world.linksOf(id, '?state=skipped')).map(({ dn, reason }) => `${dn} ${reason}`).toSorted(), [
        'uid=ann,dc=corp It says no user name.',
        'uid=bob,dc=corp It says no id.',
      ]);
      answered.people = [];
      answered.skipped = [lost(personEntry('somebody'))];
      assert.equal((await world.sync(id))['ended'], 0, 'an answer of which nothing can be taken says nothing');
      answered.people = ['ann', 'bob', 'cid'].map((name) => personEntry(name));
      answered.skipped = [];
      await world.sync(id);
      assert.deepEqual(await states(), ['ann: active', 'bob: active', 'cid: active']);
      assert.equal((await world.linksOf(id, '?state=linked')).length, 3);
    });

    it('a person or a group that was deleted here comes back when everything is read', async () => {
      answered.groups = [groupEntry('staff', ['ann'])];
      const { id } = await copied([personEntry('ann')], { groups: 'all' });
      const before = (await world.person('ann'))!.id;
      const groups = async (): Promise<readonly Json[]> =>
        (await world.tenant.make<{ readonly items: readonly Json[] }>('GET', '/groups')).items;
      await world.tenant.make('DELETE', `/users/${before}`);
      await world.tenant.make('DELETE', `/groups/${(await groups())[0]?.['id']}`);
      await world.sync(id);
      assert.notEqual((await world.person('ann'))?.id, before);
      assert.equal((await groups()).length, 1);
    });

    it('other addresses of a person stay beside the main one, which the directory says', async () => {
      const ann = await createTestUser(world.tenant, 'ann@corp.example', {
        user_name: 'ann',
        emails: [{ value: 'old@home.example', primary: true }, { value: 'ANN@corp.example' }, { value: 'third@home.example' }],
      });
      const { id } = await copied([personEntry('ann')], { match: 'userName' });
      assert.equal((await world.linksOf(id))[0]?.['local_id'], ann.id);
      assert.deepEqual((await world.person('ann'))?.emails, [
        { value: 'ann@corp.example', primary: true },
        { value: 'third@home.example', primary: false },
      ]);
      answered.people = [personEntry('ann', { attributes: { uid: ['ann'] } })];
      await world.sync(id);
      assert.deepEqual((await world.person('ann'))?.emails, [{ value: 'third@home.example', primary: false }]);
      answered.people = [personEntry('ann', { attributes: { uid: ['ann'], sn: ['Roe'] } })];
      await world.sync(id);
      assert.deepEqual((await world.person('ann'))?.emails, [{ value: 'third@home.example', primary: false }]);
      answered.people = [personEntry('ann')];
      await world.sync(id);
      assert.equal((await world.person('ann'))?.emails.length, 2);
    });
  });
}

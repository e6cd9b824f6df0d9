// The trial of a directory that others wrote (design 20, 1): a server of ours copies its people and groups, asked through the Management API alone,
// while its administrator changes it. Each test has a unit of its own there and a tenant of its own here; both databases share the directory.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { makeIdentity } from './certificates.ts';
import { assertWell, type CopiedKind, openWorld, type World } from './copied-directory.ts';
import { databases } from './databases.ts';
import type { LdapServer, Reader } from './directory-server.ts';
import { added, changed, removed, renamed } from './ldif.ts';
import type { Json } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';
import { loopbackAllowed } from './webhooks.ts';

export interface DirectoryKind extends CopiedKind {
  readonly open: () => Promise<LdapServer>;
  /** More tests of this kind alone. */
  readonly more?: (trial: Trial) => void;
}

export interface Trial {
  readonly ldap: () => LdapServer;
  readonly openWorld: () => Promise<World>;
}

export function tryDirectory(kind: DirectoryKind): void {
  let ldap: LdapServer;
  describe(`${kind.name} as a source of people`, () => {
    before(async () => {
      ldap = await kind.open();
    });
    after(() => ldap?.close());
    for (const database of databases)
      describe(`on ${database}`, () => {
        let server: TestServer;
        before(async () => {
          server = await startTestServer(database, { flags: loopbackAllowed });
        });
        after(() => server?.close());
        const trial: Trial = { ldap: () => ldap, openWorld: () => openWorld(kind, server, ldap) };
        tryPeople(kind, trial);
        tryEnds(kind, trial);
        tryGroups(trial);
        tryFailures(kind, trial);
        kind.more?.(trial);
      });
  });
}

function tryPeople(kind: DirectoryKind, { openWorld: open }: Trial): void {
  it('people arrive with name, address, given and family name, and a second run that reads everything writes nothing', async () => {
    const { personOf, write, copy, user, users, tenant } = await open();
    const people = ['ada', 'bob', 'eve'].map((uid) => personOf(uid));
    await write(people.map(({ ldif }) => ldif).join(''));
    const directory = await copy({ enabled: false });
    const tested = await directory.ask('test');
    assert.deepEqual([tested['failure'], (tested['people'] as readonly Json[]).length], [null, 3]);
    const planned = await directory.ask('plan');
    assert.deepEqual([planned['failure'], planned['complete'], (planned['counts'] as Json)['create']], [null, true, 3]);
    assert.deepEqual(await users(), [], 'neither wrote');
    await tenant.make('PATCH', `/directories/${directory.id}`, { enabled: true });
    const first = assertWell(await directory.run({ full: true }));
    assert.equal(first.full, true);
    for (const { uid, givenName, sn, mail } of people) {
      const { name, emails, state } = await user(uid);
      assert.deepEqual([name.given_name, name.family_name, emails.map(({ value }) => value), state], [givenName, sn, [mail], 'active']);
    }
    const before = await users();
    const again = assertWell(await directory.run({ full: true }));
    assert.deepEqual([again.read, again.unchanged, again.created, again.updated, again.ended], [3, 3, 0, 0, 0]);
    assert.deepEqual(await users(), before);
    const counts = (await directory.ask('plan'))['counts'] as Json;
    assert.deepEqual([counts['unchanged'], counts['create'], counts['update']], [3, 0, 0]);
    assert.equal((await tenant.make<{ readonly items: readonly Json[] }>('GET', '/groups')).items.length, 0);
  });

  it('whatever they are called: separators, quotes, spaces at both ends, letters of two bytes and of four', async () => {
    const { personOf, groupOf, write, copy, user, members } = await open();
    const odd = [
      'Smith, John',
      'a+b=c',
      '"Q" <q>; \\back',
      '# first',
      ' both ends ',
      'Zoë Ångström-Łuć',
      '山田 🦊 太郎',
      '/slash/',
      "O'Brien (x)*",
    ];
    const people = odd.map((cn, index) => personOf(`odd${index}`, { cn, givenName: `${cn.trim()}`, sn: 'Ünïcødé 🦊' }));
    const group = groupOf(
      'everybody',
      people.map(({ dn }) => dn),
    );
    await write(people.map(({ ldif }) => ldif).join('') + group.ldif);
    const directory = await copy({ groups: 'all' });
    const { skipped } = assertWell(await directory.run());
    assert.equal(skipped, 0, JSON.stringify(await directory.links()));
    for (const { uid, givenName, sn } of people) {
      const { name } = await user(uid);
      assert.deepEqual([name.given_name, name.family_name], [givenName, sn]);
    }
    assert.deepEqual((await members())['everybody'], people.map(({ uid }) => uid.replace(/\..*/, '')).sort());
  });

  it('renamed and moved, it is the same person, read with what changed alone', async () => {
    const { base, personOf, write, copy, user, users } = await open();
    const below = `ou=elsewhere,${base}`;
    const [ada, bob] = [personOf('ada'), personOf('bob')];
    await write(added(below, { objectClass: 'organizationalUnit', ou: 'elsewhere' }) + ada.ldif + bob.ldif);
    const directory = await copy();
    assertWell(await directory.run());
    const { id } = await user(ada.uid);
    const [link] = (await directory.links()).filter(({ local_id: local }) => local === id);
    const moved = `cn=King\\, Ada,${below}`;
    await write(renamed(ada.dn, 'cn=King\\, Ada', below) + changed(moved, { sn: 'King' }));
    const run = assertWell(await directory.run());
    assert.deepEqual([run.full, run.created, run.updated, run.ended], [false, 0, 1, 0]);
    if (kind.numbersChanges) assert.equal(run.read, 1);
    assert.equal((await user(ada.uid)).name.family_name, 'King');
    assert.deepEqual((await users()).map((one) => one.id).includes(id), true);
    const [after] = (await directory.links()).filter(({ local_id: local }) => local === id);
    assert.deepEqual([after?.id, after?.dn.toLowerCase().replace('\\2c', '\\,')], [link?.id, moved.toLowerCase()]); // both are one name
    const whole = assertWell(await directory.run({ full: true }));
    assert.deepEqual([whole.created, whole.updated, whole.ended, whole.unchanged], [0, 0, 0, 2]);
  });

  it('names of attributes are written in any case, and what is mapped follows', async () => {
    const { personOf, write, copy, user } = await open();
    const ada = personOf('ada');
    await write(ada.ldif + changed(ada.dn, { title: 'Countess', telephoneNumber: '+44 20 7946 0000' }));
    const directory = await copy({
      mappings: [
        { to: 'title', from: 'upstream.TITLE' },
        { to: 'name.family_name', from: 'upstream.Sn', case: 'upper' },
      ],
    });
    assertWell(await directory.run());
    const { title, name } = await user(ada.uid);
    assert.deepEqual([title, name.family_name, name.given_name], ['Countess', ada.sn.toUpperCase(), ada.givenName]);
    await write(changed(ada.dn, { title: [] }));
    assertWell(await directory.run());
    assert.ok(!(await user(ada.uid))['title'], 'what is gone there is gone here');
  });
}

function tryEnds(kind: DirectoryKind, { ldap, openWorld: open }: Trial): void {
  for (const [way, { off, on }] of Object.entries(kind.disabling ?? {}))
    it(`disabled by ${way}, a person who is here is suspended, and active again when enabled`, async () => {
      const { personOf, write, copy, user, users } = await open();
      const [ada, bob] = [personOf('ada'), personOf('bob')];
      await write(ada.ldif + bob.ldif + changed(bob.dn, off));
      const directory = await copy();
      assertWell(await directory.run());
      // Nobody is made of who may not sign in anyway.
      assert.deepEqual(
        (await users()).map(({ user_name: name, state }) => [name, state]),
        [[ada.uid, 'active']],
      );
      await write(changed(ada.dn, off) + changed(bob.dn, on));
      const run = assertWell(await directory.run());
      assert.equal(run.full, false);
      assert.deepEqual([(await user(ada.uid)).state, (await user(bob.uid)).state], ['suspended', 'active']);
      await write(changed(ada.dn, on));
      assertWell(await directory.run());
      assert.equal((await user(ada.uid)).state, 'active');
    });

  it('who is deleted there ends with a run that reads everything, and no sooner', async () => {
    const { personOf, write, copy, user, users } = await open();
    const [ada, bob] = [personOf('ada'), personOf('bob')];
    await write(ada.ldif + bob.ldif);
    const directory = await copy();
    assertWell(await directory.run());
    const { id } = await user(ada.uid);
    await write(removed(ada.dn));
    assertWell(await directory.run());
    assert.equal((await user(ada.uid)).state, 'active');
    assert.equal(assertWell(await directory.run({ full: true })).ended, 1);
    assert.deepEqual([(await user(ada.uid)).state, (await user(bob.uid)).state], ['suspended', 'active']);
    // Another entry of the same name is another person there.
    await write(ada.ldif);
    await directory.run({ full: true });
    const conflicts = (await directory.links()).filter(({ state }) => state === 'conflict');
    assert.equal(conflicts.length, 1, JSON.stringify(await directory.links()));
    assert.deepEqual(
      (await users()).filter(({ user_name: name }) => name === ada.uid).map((one) => one.id),
      [id],
    );
  });

  it('where many would end at once, nobody does until an administrator approves', async () => {
    const { personOf, write, copy, users } = await open();
    const people = Array.from({ length: 23 }, (_, index) => personOf(`p${index}`));
    await write(people.map(({ ldif }) => ldif).join(''));
    const directory = await copy();
    assertWell(await directory.run());
    const active = async (): Promise<number> => (await users()).filter(({ state }) => state === 'active').length;
    assert.equal(await active(), 23);
    await write(
      people
        .slice(0, 21)
        .map(({ dn }) => removed(dn))
        .join(''),
    );
    const held = await directory.run({ full: true });
    assert.deepEqual([held.state, held.waiting_for_approval, await active()], ['waiting_for_approval', 21, 23]);
    assert.deepEqual(await directory.ask('approve'), { approved: 21 });
    const ended = await directory.run({ full: true });
    assert.deepEqual([ended.state, await active()], ['idle', 2]);
  });

  it('an empty answer ends nobody', async () => {
    const { personOf, write, copy, user } = await open();
    const ada = personOf('ada');
    await write(ada.ldif);
    const directory = await copy();
    assertWell(await directory.run());
    await write(removed(ada.dn));
    await directory.run({ full: true });
    assert.equal((await user(ada.uid)).state, 'active');
  });

  if (kind.limits)
    it('a server that gives fewer than there are ends nobody', async () => {
      const { personOf, write, copy, users, tenant } = await open();
      const people = Array.from({ length: 8 }, (_, index) => personOf(`p${index}`));
      await write(people.map(({ ldif }) => ldif).join(''));
      const directory = await copy();
      assertWell(await directory.run());
      const as = ({ dn, password }: Reader): Promise<Json> =>
        tenant.make('PATCH', `/directories/${directory.id}`, { bind_dn: dn, bind_password: password });
      const { limited, reader } = ldap();
      assert.ok(limited);
      await as(limited);
      const { failure } = await directory.run({ full: true });
      assert.equal(failure?.reason, 'partial', JSON.stringify(failure));
      assert.deepEqual(new Set((await users()).map(({ state }) => state)), new Set(['active']));
      await as(reader);
      assert.equal(assertWell(await directory.run({ full: true })).unchanged, 8);
    });
}

function tryGroups({ openWorld: open }: Trial): void {
  it('groups have members of groups within them, in circles too, and lose them', async () => {
    const { personOf, groupOf, write, copy, members } = await open();
    const [ada, bob, eve] = [personOf('ada'), personOf('bob'), personOf('eve')];
    const team = groupOf('team', [ada.dn]);
    const staff = groupOf('staff', [bob.dn, team.dn]);
    const all = groupOf('all', [staff.dn, eve.dn]);
    await write([ada, bob, eve, team, staff, all].map(({ ldif }) => ldif).join(''));
    await write(changed(team.dn, { member: [ada.dn, all.dn] })); // a circle
    const directory = await copy({ groups: 'all' });
    assertWell(await directory.run());
    const everybody = ['ada', 'bob', 'eve'];
    assert.deepEqual(await members(), { team: everybody, staff: everybody, all: everybody });
    await write(changed(team.dn, { member: [ada.dn] }));
    assertWell(await directory.run());
    assert.deepEqual(await members(), { team: ['ada'], staff: ['ada', 'bob'], all: everybody });
    await write(changed(staff.dn, { member: [bob.dn] }));
    assertWell(await directory.run());
    assert.deepEqual(await members(), { team: ['ada'], staff: ['bob'], all: ['bob', 'eve'] });
    await write(removed(team.dn));
    assertWell(await directory.run({ full: true }));
    assert.deepEqual((await members())['staff'], ['bob']);
  });

  it('those that a filter finds are copied alone, and a member who moves stays one', async () => {
    const { base, personOf, groupOf, write, copy, members } = await open();
    const ada = personOf('ada');
    const [wanted, other] = [groupOf('wanted', [ada.dn]), groupOf('other', [ada.dn])];
    await write(ada.ldif + wanted.ldif + other.ldif);
    const directory = await copy({ groups: 'listed', group_filter: '(cn=wanted*)' });
    assertWell(await directory.run());
    assert.deepEqual(await members(), { wanted: ['ada'] });
    await write(renamed(ada.dn, 'cn=Ada King') + changed(wanted.dn, { member: [`cn=Ada King,${base}`] }));
    assertWell(await directory.run());
    assert.deepEqual(await members(), { wanted: ['ada'] });
    const bob = personOf('bob');
    await write(bob.ldif + changed(wanted.dn, { member: [bob.dn, `cn=Ada King,${base}`] }));
    assertWell(await directory.run());
    assert.deepEqual(await members(), { wanted: ['ada', 'bob'] });
  });
}

function tryFailures(kind: DirectoryKind, { ldap, openWorld: open }: Trial): void {
  it('a password, an authority, a name or an entry that is not theirs is told, and ends nobody', async () => {
    const { base, personOf, write, copy, tenant, user } = await open();
    const ada = personOf('ada');
    await write(ada.ldif);
    const directory = await copy();
    assertWell(await directory.run());
    const { reader, url, ca } = ldap();
    const stranger = await makeIdentity({ subject: 'CN=Another authority', isAuthority: true });
    const { password } = reader;
    const right = { url, ca, base_dn: base, bind_password: password };
    const wrong: readonly (readonly [string, Json])[] = [
      ['refused', { bind_password: 'not-the-password' }],
      ['certificate', { ca: stranger.cert, bind_password: password }],
      ['certificate', { ca: null, bind_password: password }],
      ...(url.includes('127.0.0.1')
        ? [['certificate', { url: url.replace('127.0.0.1', 'localhost'), bind_password: password }] as const]
        : []),
      ['no_entry', { base_dn: `ou=nobody,${ldap().suffix}` }],
    ];
    for (const [reason, fields] of wrong) {
      await tenant.make('PATCH', `/directories/${directory.id}`, fields);
      const tested = await directory.ask('test');
      assert.equal((tested['failure'] as Json)['reason'], reason, JSON.stringify([fields, tested]));
      const status = await directory.run({ full: true });
      assert.deepEqual([status.state, status.failure?.reason], ['failing', reason], JSON.stringify([fields, status]));
      assert.ok(!JSON.stringify([status, tested]).includes('not-the-password'));
      assert.equal((await user(ada.uid)).state, 'active');
      await tenant.make('PATCH', `/directories/${directory.id}`, right);
    }
    assertWell(await directory.run({ full: true }));
  });

  it('STARTTLS, with the same certificate', async () => {
    const { personOf, write, copy, user } = await open();
    const ada = personOf('ada');
    await write(ada.ldif);
    const directory = await copy({ url: ldap().plainUrl, starttls: true });
    assertWell(await directory.run());
    assert.equal((await user(ada.uid)).state, 'active');
  });

  if (kind.refers ?? true)
    it('an entry that refers to another server has nobody contacted', async () => {
      const { base, personOf, write, copy, user, tenant } = await open();
      let calls = 0;
      const elsewhere = await new Promise<Server>((resolve) => {
        const listening = createServer((socket) => {
          calls += 1;
          socket.destroy();
        }).listen(0, '127.0.0.1', () => resolve(listening));
      });
      try {
        const address = elsewhere.address();
        assert.ok(address !== null && typeof address === 'object');
        const ada = personOf('ada');
        const ref = `ldap://127.0.0.1:${address.port}/${base}`;
        await write(ada.ldif + added(`cn=elsewhere,${base}`, { objectClass: ['referral', 'extensibleObject'], cn: 'elsewhere', ref }));
        const directory = await copy({ groups: 'all' });
        assertWell(await directory.run());
        assert.equal((await user(ada.uid)).state, 'active');
        // All there is lies elsewhere: some say so, others that nothing is here.
        await tenant.make('PATCH', `/directories/${directory.id}`, { base_dn: `cn=elsewhere,${base}` });
        await directory.run({ full: true });
        assert.equal((await user(ada.uid)).state, 'active');
        assert.equal(calls, 0);
      } finally {
        elsewhere.close();
      }
    });
}

// The client of LDAP against slapd (OpenLDAP): what is read of people and groups, over ldaps and STARTTLS, by pages and without.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Attribute, Change } from 'ldapts';
import { directoryEntryBytesMax, directoryValueCharsMax } from '../../src/contract/directory-limits.ts';
import type { LdapDirectory } from '../../src/domain/extending/ldap-directory.ts';
import { failureOf, ldapDirectory, openDirectory, readAll, readDirectory } from '../support/directory-readers.ts';
import { playSocket } from '../support/ldap-server.ts';
import {
  personLdif,
  type SlapdOptions,
  slapdGroups,
  slapdPath,
  slapdPeople,
  slapdReader,
  slapdSuffix,
  startSlapd,
  type TestSlapd,
} from '../support/slapd.ts';

const peopleOfPages = 1203;
const groupLdif = (cn: string, members: readonly string[], fields: readonly string[] = []): string =>
  [`dn: cn=${cn},${slapdGroups}`, 'objectClass: groupOfNames', `cn: ${cn}`, ...members.map((dn) => `member: ${dn}`), ...fields, ''].join(
    '\n',
  );
const dnOf = (uid: string): string => `uid=${uid},${slapdPeople}`;

if (slapdPath !== undefined)
  describe('LDAP of slapd', () => {
    let slapd: TestSlapd;
    const at = (fields: Partial<LdapDirectory> = {}): LdapDirectory => ldapDirectory({ url: slapd.url, ca: slapd.ca, ...fields });
    before(async () => {
      const people = Array.from({ length: peopleOfPages }, (_, number) => personLdif(`p${number}`));
      slapd = await startSlapd({ ldif: [...people, groupLdif('staff', [dnOf('p1'), dnOf('P2')])].join('\n') });
    });
    after(() => slapd?.stop());

    it('gives everybody, by pages of 500, with what the rules name and nothing else', async () => {
      const { people, groups, mark, referrals } = await readDirectory(at());
      assert.deepEqual(people.pages, [500, 500, 203]);
      assert.equal(new Set(people.entries.map(({ remoteId }) => remoteId)).size, peopleOfPages);
      assert.deepEqual(people.skipped, []);
      const one = people.entries.find(({ dn }) => dn === dnOf('p7'));
      assert.match(one?.remoteId ?? '', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.deepEqual(one, {
        ...{ remoteId: one?.remoteId, dn: dnOf('p7'), dnKey: 'uid=p7,ou=people,dc=corp,dc=example', isDisabled: false },
        attributes: { uid: ['p7'], mail: ['p7@corp.example'], givenname: ['p7'], sn: ['Doe'] },
      });
      assert.deepEqual(
        groups.entries.map(({ name, members }) => ({ name, members })),
        [{ name: 'staff', members: [dnOf('p1'), dnOf('p2')] }],
      );
      assert.match(mark?.mark ?? '', /^\d{14}Z$/);
      assert.equal(referrals, 0);
    });

    it('does so by STARTTLS', async () => {
      const { people } = await readDirectory(at({ url: slapd.plainUrl, starttls: true }));
      assert.equal(people.entries.length, peopleOfPages);
    });

    it('a wrong password is refused, and said nowhere', async () => {
      for (const fields of [{}, { bindDn: 'cn=nobody,dc=corp,dc=example' }]) {
        const { reason, detail } = await failureOf(openDirectory(at(fields), { password: 'not-this-one' }));
        assert.deepEqual([reason, detail], ['refused', 'result 49']);
      }
      assert.equal((await failureOf(openDirectory(at({ bindDn: 'no name' })))).reason, 'refused');
    });

    it('a certificate of an authority that nobody trusts is refused, over STARTTLS too', async () => {
      for (const fields of [{ ca: undefined }, { ca: undefined, url: slapd.plainUrl, starttls: true }])
        assert.equal((await failureOf(openDirectory(at(fields)))).reason, 'certificate');
    });

    it('an address is looked for in the certificate as an address', async () => {
      await (await openDirectory(at({ url: slapd.url.replace('localhost', '127.0.0.1') }))).close();
    });

    it('a base that is not there, for people and for groups', async () => {
      assert.equal((await failureOf(readDirectory(at({ baseDn: 'ou=nowhere,dc=corp,dc=example' })))).reason, 'no_entry');
      assert.equal((await failureOf(readDirectory(at({ groupBaseDn: 'ou=nowhere,dc=corp,dc=example' })))).reason, 'no_entry');
    });

    it('gives up where nobody reads on, and reads other things by the same connection', async () => {
      const reader = await openDirectory(at());
      for await (const { entries } of reader.people()) {
        assert.equal(entries.length, 500);
        break;
      }
      assert.equal((await readAll(reader.groups())).entries.length, 1);
      assert.equal((await readAll(reader.people())).entries.length, peopleOfPages);
      await reader.close();
    });

    it('filters: who they find, with letters of others and bytes', async () => {
      await slapd.change((client) =>
        client.add(dnOf('müller'), { objectClass: 'inetOrgPerson', uid: 'müller', cn: 'Müller (Ada)', sn: 'Müller' }),
      );
      for (const userFilter of ['(uid=müller)', '(uid=m\\c3\\bcller)', '(cn=*\\28Ada\\29)', '(&(sn=M*r)(!(uid=p1)))', '(2.5.4.4=müller)'])
        assert.deepEqual(
          (await readDirectory(at({ userFilter, groups: 'none' }))).people.entries.map(({ dnKey }) => dnKey),
          ['uid=müller,ou=people,dc=corp,dc=example'],
          userFilter,
        );
      assert.deepEqual((await readDirectory(at({ userFilter: '(uid=nobody)', groups: 'none' }))).people.entries, []);
      await slapd.change((client) => client.del(dnOf('müller')));
    });

    it('what is longer than may be is skipped with its reason, and the others go on', async () => {
      await slapd.change((client) =>
        client.add(dnOf('long'), { objectClass: 'inetOrgPerson', uid: 'long', cn: 'Long', sn: 'x'.repeat(directoryValueCharsMax + 1) }),
      );
      const { people } = await readDirectory(at({ groups: 'none' }));
      assert.equal(people.entries.length, peopleOfPages);
      assert.deepEqual(
        people.skipped.map(({ dn, reason }) => [dn, reason]),
        [[dnOf('long'), 'Its sn is longer than 1024 characters.']],
      );
      await slapd.change((client) => client.del(dnOf('long')));
    });
  });

if (slapdPath !== undefined)
  describe('changes of slapd', () => {
    let slapd: TestSlapd;
    const changedAt = (time: string): string => `modifyTimestamp: ${time}`;
    before(async () => {
      slapd = await startSlapd({
        ldif: [
          personLdif('ada', [changedAt('20200101000000Z')]),
          personLdif('bob', [changedAt('20200101000200Z')]),
          personLdif('cy', [changedAt('20200101000300Z')]),
          ...['ou=staff', 'ou=north,ou=staff'].map(
            (dn) =>
              `dn: ${dn},${slapdSuffix}\nobjectClass: organizationalUnit\nou: ${/\w+$/.exec(dn.split(',')[0]!)}\n${changedAt('20200101000000Z')}\n`,
          ),
          personLdif('dee', [changedAt('20200101000000Z')]).replace(slapdPeople, `ou=north,ou=staff,${slapdSuffix}`),
          groupLdif('staff', [dnOf('ada')], [changedAt('20200101000000Z')]),
          groupLdif('all', [`cn=staff,${slapdGroups}`, dnOf('cy')], [changedAt('20200101000000Z')]),
          groupLdif('others', [dnOf('cy')], [changedAt('20200101000000Z')]),
        ].join('\n'),
      });
    });
    after(() => slapd?.stop());
    it('a renamed unit gives everybody, as none of them says that their name is another', async () => {
      const directory = ldapDirectory({ url: slapd.url, ca: slapd.ca, groups: 'none', baseDn: `ou=staff,${slapdSuffix}` });
      const since = { mark: '20200101000500Z', server: 'modifyTimestamp' };
      assert.deepEqual((await readDirectory(directory, {}, since)).people.entries, []);
      await slapd.change((client) => client.modifyDN(`ou=north,ou=staff,${slapdSuffix}`, `ou=south,ou=staff,${slapdSuffix}`));
      assert.deepEqual(
        (await readDirectory(directory, {}, since)).people.entries.map(({ dn }) => dn),
        [`uid=dee,ou=south,ou=staff,${slapdSuffix}`],
      );
    });

    const namesOf = ({ people, groups }: Awaited<ReturnType<typeof readDirectory>>) => [
      people.entries.map(({ attributes: { uid } }) => uid?.[0]).toSorted(),
      groups.entries.map(({ name }) => name).toSorted(),
    ];
    const secondsOf = (time = ''): number => Date.parse(time.replace(/(....)(..)(..)(..)(..)(..)Z/, '$1-$2-$3T$4:$5:$6Z')) / 1000;

    it('are those since a minute before a run, whatever our clock says, with groups whose groups changed', async () => {
      const directory = ldapDirectory({ url: slapd.url, ca: slapd.ca });
      const first = await readDirectory(directory, { nowMs: Date.UTC(2090, 0, 1) });
      assert.deepEqual(namesOf(first), [
        ['ada', 'bob', 'cy'],
        ['all', 'others', 'staff'],
      ]);
      // The last change that was seen, less what the run took.
      const { mark } = first;
      assert.equal(mark?.server, 'modifyTimestamp');
      assert.ok(secondsOf(mark?.mark) <= secondsOf('20200101000300Z') && secondsOf(mark?.mark) > secondsOf('20200101000200Z'), mark?.mark);
      const since = { ...mark, mark: '20200101000300Z' };
      const nothing = await readDirectory(directory, { nowMs: 0 }, since);
      assert.deepEqual([namesOf(nothing), nothing.mark?.mark], [[['bob', 'cy'], []], since.mark]);
      await slapd.change(async (client) => {
        await client.modify(
          dnOf('ada'),
          new Change({ operation: 'replace', modification: new Attribute({ type: 'sn', values: ['Roe'] }) }),
        );
        await client.modify(
          `cn=staff,${slapdGroups}`,
          new Change({ operation: 'add', modification: new Attribute({ type: 'member', values: [dnOf('bob')] }) }),
        );
      });
      const changed = await readDirectory(directory, {}, { ...since, mark: '20200101000500Z' });
      assert.deepEqual(namesOf(changed), [['ada'], ['all', 'staff']]);
      assert.deepEqual(changed.people.entries[0]?.attributes['sn'], ['Roe']);
      assert.deepEqual(Object.fromEntries(changed.groups.entries.map(({ name, members }) => [name, members.length])), { all: 3, staff: 2 });
      assert.ok(secondsOf(changed.mark?.mark) > secondsOf('20260101000000Z'));
      const reader = await openDirectory(directory);
      assert.equal(reader.canReadSince(since), true);
      assert.equal(reader.canReadSince({ mark: '12', server: 'cn=dc1' }), false);
      await reader.close();
    });
  });

/** How many people a read by pages finds, or why it does not. */
async function readOf(slapd: TestSlapd): Promise<string> {
  const read = readDirectory(ldapDirectory({ url: slapd.url, ca: slapd.ca, groups: 'none' }));
  try {
    const { people } = await read;
    return people.pages.join(' ');
  } catch {
    const { reason, detail } = await failureOf(read);
    return `${reason}: ${detail}`;
  }
}

if (slapdPath !== undefined)
  describe('limits of slapd', () => {
    const people = Array.from({ length: 1100 }, (_, number) => personLdif(`p${number}`)).join('\n');
    const reading = async (options: SlapdOptions): Promise<string> => {
      const slapd = await startSlapd({ ldif: people, ...options });
      try {
        return await readOf(slapd);
      } finally {
        await slapd.stop();
      }
    };

    it('fewer than there are is partial, never everybody', async () => {
      assert.equal(await reading({ sizeLimit: 1000 }), 'partial: result 4');
      assert.equal(await reading({ sizeLimit: 1099 }), 'partial: result 4');
      assert.equal(await reading({ sizeLimit: 1100 }), '500 500 100');
      assert.match(await reading({ database: [`limits dn.exact="${slapdReader.dn}" size=700`] }), /^partial: /);
    });

    it('a server that gives no pages is read as pages all the same', async () => {
      assert.equal(await reading({ database: [`limits dn.exact="${slapdReader.dn}" size.prtotal=disabled`] }), '500 500 100');
      assert.equal(await reading({ database: [`limits dn.exact="${slapdReader.dn}" size.pr=noEstimate`] }), '500 500 100');
    });
  });

if (slapdPath !== undefined)
  describe('groups, referrals and locks of slapd', () => {
    let slapd: TestSlapd;
    const at = (fields: Partial<LdapDirectory> = {}): LdapDirectory => ldapDirectory({ url: slapd.url, ca: slapd.ca, ...fields });
    const dnOfGroup = (cn: string): string => `cn=${cn},${slapdGroups}`;
    const key = (uid: string): string => `uid=${uid},ou=people,dc=corp,dc=example`;
    let elsewhere: Awaited<ReturnType<typeof playSocket>>;
    const crowd = Array.from({ length: 6000 }, (_, number) => `uid=somebody-of-many-${number},${slapdPeople}`);
    before(async () => {
      elsewhere = await playSocket(() => undefined);
      slapd = await startSlapd({
        global: ['moduleload ppolicy'],
        database: ['overlay ppolicy'],
        ldif: [
          ...['ada', 'bob', 'cy'].map((uid) => personLdif(uid)),
          personLdif('locked', ['pwdAccountLockedTime: 000001010000Z']),
          personLdif('waiting', ['pwdAccountLockedTime: 20260101000000Z']),
          groupLdif('circle-1', [dnOfGroup('circle-2'), dnOf('ada')]),
          groupLdif('circle-2', [dnOfGroup('circle-1'), dnOf('bob'), 'UID = Bob , ou=People,dc=corp,dc=example', 'cn=nobody\\, here,dc=x']),
          `dn: cn=unique,${slapdGroups}\nobjectClass: groupOfUniqueNames\ncn: unique\nuniqueMember: ${dnOf('cy')}#'0101'B\nuniqueMember: ${dnOfGroup('circle-2')}\n`,
          `dn: ou=elsewhere,${slapdPeople}\nobjectClass: referral\nobjectClass: extensibleObject\nou: elsewhere\nref: ldap://127.0.0.1:${elsewhere.port}/ou=elsewhere,dc=other\n`,
        ].join('\n'),
      });
    });
    after(async () => {
      await slapd?.stop();
      await elsewhere?.stop();
    });

    it('are flattened, circles and spellings and all; a referral is counted and asked nobody', async () => {
      const { people, groups, referrals } = await readDirectory(at());
      assert.deepEqual(Object.fromEntries(groups.entries.map(({ name, members }) => [name, members.toSorted()])), {
        'circle-1': ['cn=nobody\\, here,dc=x', key('ada'), key('bob')],
        'circle-2': ['cn=nobody\\, here,dc=x', key('ada'), key('bob')],
        unique: ['cn=nobody\\, here,dc=x', key('ada'), key('bob'), key('cy')],
      });
      assert.equal(referrals, 1);
      assert.equal(elsewhere.connections(), 0);
      assert.deepEqual(Object.fromEntries(people.entries.map(({ attributes: { uid }, isDisabled }) => [uid?.[0], isDisabled])), {
        ...{ ada: false, bob: false, cy: false, locked: true, waiting: false },
      });
    });

    it('listed ones alone, with members by groups that are not', async () => {
      const { groups } = await readDirectory(at({ groups: 'listed', groupFilter: '(cn=unique)' }));
      assert.deepEqual(
        groups.entries.map(({ name, members }) => [name, members.length]),
        [['unique', 4]],
      );
      assert.deepEqual((await readDirectory(at({ groups: 'none' }))).groups.entries, []);
    });

    it('a group of many members is no entry that is too large', async () => {
      await slapd.change((client) => client.add(dnOfGroup('many'), { objectClass: 'groupOfNames', cn: 'many', member: crowd }));
      assert.ok(Buffer.byteLength(crowd.join('')) > directoryEntryBytesMax);
      const { groups } = await readDirectory(at({ groups: 'listed', groupFilter: '(cn=many)' }));
      assert.deepEqual(
        groups.entries.map(({ name, members }) => [name, members.length]),
        [['many', crowd.length]],
      );
      await slapd.change((client) => client.del(dnOfGroup('many')));
    });

    it('people below people are found, and a base that is a referral is none', async () => {
      assert.equal((await failureOf(readDirectory(at({ baseDn: `ou=elsewhere,${slapdPeople}` })))).reason, 'no_entry');
    });
  });

// The client of LDAP against slapd (OpenLDAP): what is read of people and groups, over ldaps and STARTTLS, by pages and without.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LdapDirectory } from '../../src/domain/extending/ldap-directory.ts';
import { failureOf, ldapDirectory, openDirectory, readAll, readDirectory } from '../support/directory-readers.ts';
import { personLdif, slapdGroups, slapdPath, slapdPeople, startSlapd, type TestSlapd } from '../support/slapd.ts';

const peopleOfPages = 1203;
const groupLdif = (cn: string, members: readonly string[]): string =>
  [`dn: cn=${cn},${slapdGroups}`, 'objectClass: groupOfNames', `cn: ${cn}`, ...members.map((dn) => `member: ${dn}`), ''].join('\n');
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
      const { reason, detail } = await failureOf(openDirectory(at(), { password: 'not-this-one' }));
      assert.equal(reason, 'refused');
      assert.equal(detail, 'result 49');
    });

    it('gives up where nobody reads on, and reads other things by the same connection', async () => {
      const reader = await openDirectory(at());
      for await (const { entries } of reader.people()) {
        assert.equal(entries.length, 500);
        break;
      }
      assert.equal((await readAll(reader.groups())).entries.length, 1);
      await reader.close();
    });
  });

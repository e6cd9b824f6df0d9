// Samba as a domain controller, unmodified, as Active Directory: GUIDs, numbered changes, accounts that are disabled or expire, groups of more
// members than one answer has, and what a domain refers to elsewhere.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertWell } from '../support/copied-directory.ts';
import type { LdapServer } from '../support/directory-server.ts';
import { tryDirectory } from '../support/directory-trial.ts';
import { added, changed } from '../support/ldif.ts';
import { hasSambaAd, startSambaAd } from '../support/samba-ad.ts';

/** NORMAL_ACCOUNT, PASSWD_NOTREQD; and ACCOUNTDISABLE. */
const enabled = '544';
const disabled = '546';
/** Of accountExpires: in 2020, and never. */
const expired = '132223104000000000';
const never = '9223372036854775807';

/** 1,598 who sign in nowhere and are nobody here, made once for both databases. */
let contacts: readonly string[] | undefined;
async function contactsOf({ suffix, write }: LdapServer): Promise<readonly string[]> {
  if (contacts !== undefined) return contacts;
  const unit = `ou=contacts,${suffix}`;
  const dns = Array.from({ length: 1598 }, (_, index) => `cn=contact ${index},${unit}`);
  await write(added(unit, { objectClass: 'organizationalUnit' }) + dns.map((dn) => added(dn, { objectClass: 'contact' })).join(''));
  contacts = dns;
  return dns;
}

if (hasSambaAd())
  tryDirectory({
    name: 'Samba as a domain controller',
    open: startSambaAd,
    fields: { kind: 'active_directory' },
    person: ({ uid, givenName, sn, mail }) => ({
      ...{ objectClass: 'user', sAMAccountName: uid, userPrincipalName: `${uid}@corp.example` },
      ...{ userAccountControl: enabled, givenName, sn, mail },
    }),
    group: (cn, member) => ({ objectClass: 'group', sAMAccountName: cn, member }),
    disabling: {
      userAccountControl: { off: { userAccountControl: disabled }, on: { userAccountControl: enabled } },
      accountExpires: { off: { accountExpires: expired }, on: { accountExpires: never } },
    },
    numbersChanges: true,
    refers: false,
    more: ({ ldap, openWorld }) => {
      it('a group of 1,600 members, more than one answer has', async () => {
        const { personOf, groupOf, write, copy, members } = await openWorld();
        const [first, last] = [personOf('first'), personOf('last')];
        await write(first.ldif + last.ldif);
        await write(groupOf('large', [first.dn, ...(await contactsOf(ldap())), last.dn]).ldif);
        const directory = await copy({ groups: 'all' });
        assertWell(await directory.run());
        assert.deepEqual(await members(), { large: ['first', 'last'] });
      });

      it('its GUIDs are written as everybody there writes them, and computers are no people', async () => {
        const { base, personOf, write, copy, users } = await openWorld();
        const ada = personOf('ada');
        const computer = { objectClass: 'computer', sAMAccountName: `${base.replace(/^ou=|,.*/g, '')}$`, userAccountControl: '4096' };
        await write(ada.ldif + added(`cn=box,${base}`, computer));
        const directory = await copy();
        assertWell(await directory.run());
        assert.deepEqual(
          (await users()).map(({ user_name: name }) => name),
          [ada.uid],
        );
        const [link] = await directory.links();
        const found = await ldap().search(base, `(sAMAccountName=${ada.uid})`, 'objectGUID');
        const bytes = Buffer.from(/^objectGUID:: (\S+)$/m.exec(found)?.[1] ?? '', 'base64');
        // The first three fields have their bytes in reverse (MS-DTYP 2.3.4.2).
        const order = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
        const hex = Buffer.from(order.map((at) => bytes[at] ?? 0)).toString('hex');
        assert.equal(link?.id, hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
      });

      it('from the top of the domain, whose other parts it refers to, and by a name with @', async () => {
        const { personOf, write, copy, users, user, tenant } = await openWorld();
        const ada = personOf('ada');
        await write(ada.ldif);
        const directory = await copy({
          base_dn: ldap().suffix,
          bind_dn: 'reader@corp.example',
          user_filter: `(sAMAccountName=${ada.uid})`,
        });
        assertWell(await directory.run());
        assert.deepEqual(
          (await users()).map(({ id }) => id),
          [(await user(ada.uid)).id],
        );
        await write(changed(ada.dn, { sn: 'King' }));
        assert.deepEqual(assertWell(await directory.run()).read, 1);
        // All of them: those of the domain itself too, who have no address.
        await tenant.make('PATCH', `/directories/${directory.id}`, { user_filter: null });
        assertWell(await directory.run());
        const names = (await users()).map(({ user_name: name }) => name);
        assert.deepEqual(names.filter((name) => /^(administrator|reader)$/i.test(name)).length, 2, names.join());
        assert.ok(!names.some((name) => /^(guest|krbtgt)$/i.test(name)), 'those are disabled');
      });
    },
  });

// 389 Directory Server, unmodified, as a source of people: `other`, by the entryUUID that its plug-in gives, and `freeipa`, whose server it is, by
// entries as FreeIPA makes them. Its own nsUniqueId stays with an entry too, but is no id_attribute: an instance made before version 1.4.3 needs
// the plug-in's fix-up task first.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import { assertWell } from '../support/copied-directory.ts';
import type { LdapServer } from '../support/directory-server.ts';
import { tryDirectory } from '../support/directory-trial.ts';
import { hasDs389, startDs389 } from '../support/ds389.ts';
import { added, changed, removed } from '../support/ldif.ts';

/** The part of FreeIPA's schema that is read. */
const freeIpaSchema = `dn: cn=schema
changetype: modify
add: attributeTypes
attributeTypes: ( 1.3.6.1.4.1.99999.2.1 NAME 'ipaUniqueID' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
-
add: objectClasses
objectClasses: ( 1.3.6.1.4.1.99999.2.2 NAME 'ipaObject' AUXILIARY MUST ipaUniqueID )
objectClasses: ( 1.3.6.1.4.1.99999.2.3 NAME 'ipaUserGroup' SUP groupOfNames STRUCTURAL )

`;
let hasSchema = false;
async function addFreeIpaSchema({ write }: LdapServer): Promise<void> {
  if (!hasSchema) await write(freeIpaSchema);
  hasSchema = true;
}

if (hasDs389())
  tryDirectory({
    name: '389 Directory Server',
    open: startDs389,
    fields: { kind: 'other' },
    person: ({ uid, cn, givenName, sn, mail }) => ({ objectClass: 'inetOrgPerson', uid, cn, givenName, sn, mail }),
    group: (cn, member) => ({ objectClass: 'groupOfNames', cn, member }),
    disabling: { nsAccountLock: { off: { nsAccountLock: 'TRUE' }, on: { nsAccountLock: [] } } },
    limits: true,
    more: ({ ldap, openWorld }) => {
      it('as FreeIPA has them: by ipaUniqueID, those with an account alone, in its groups alone', async () => {
        await addFreeIpaSchema(ldap());
        const { base, personOf, write, copy, users, members } = await openWorld();
        const [ada, bob, service] = ['ada', 'bob', 'service'].map((uid) => personOf(uid));
        assert.ok(ada && bob && service);
        const account = (uid: string, id: string) => ({
          ...{ objectClass: ['inetOrgPerson', 'posixAccount', 'ipaObject'], ipaUniqueID: id, homeDirectory: `/home/${uid}` },
          ...{ uidNumber: '1001', gidNumber: '1001' },
        });
        const [adaId, bobId] = [randomUUID(), randomUUID()];
        const group = (cn: string, objectClass: readonly string[]): string =>
          added(`cn=${cn},${base}`, {
            ...{ objectClass, cn, member: [ada.dn, bob.dn] },
            ...(objectClass.includes('ipaObject') && { ipaUniqueID: randomUUID() }),
          });
        await write(ada.ldif + bob.ldif + service.ldif + changed(ada.dn, account('ada', adaId)) + changed(bob.dn, account('bob', bobId)));
        await write(group('editors', ['ipaUserGroup', 'ipaObject']) + group('netgroup', ['groupOfNames']));
        const directory = await copy({ kind: 'freeipa', groups: 'all' });
        assert.equal(assertWell(await directory.run()).skipped, 0);
        assert.deepEqual((await users()).map(({ user_name: name }) => name).sort(), [ada.uid, bob.uid]);
        assert.deepEqual(await members(), { editors: ['ada', 'bob'] });
        const ids = (await directory.links()).filter(({ kind }) => kind === 'user').map(({ id }) => id);
        assert.deepEqual(ids.sort(), [adaId, bobId].sort());
        // A preserved user lies in another tree there, and is no account any more here.
        await write(removed(bob.dn));
        assert.equal(assertWell(await directory.run({ full: true })).ended, 1);
        assert.deepEqual((await users()).find(({ user_name: name }) => name === bob.uid)?.state, 'suspended');
      });

      it('an entry without the id is skipped by its name, and costs nobody else', async () => {
        const { personOf, write, copy, users } = await openWorld();
        await addFreeIpaSchema(ldap());
        const [ada, bob] = [personOf('ada'), personOf('bob')];
        const withId = { objectClass: ['inetOrgPerson', 'ipaObject'], ipaUniqueID: randomUUID() };
        await write(ada.ldif + bob.ldif + changed(ada.dn, withId));
        const directory = await copy({ id_attribute: 'ipaUniqueID' });
        assert.equal(assertWell(await directory.run()).skipped, 1);
        assert.deepEqual(
          (await users()).map(({ user_name: name }) => name),
          [ada.uid],
        );
        const [skipped] = (await directory.links()).filter(({ state }) => state === 'skipped');
        assert.equal(skipped?.dn, bob.dn);
      });
    },
  });

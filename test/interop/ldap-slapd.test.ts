// OpenLDAP's slapd, unmodified, as a source of people, with its overlay for passwords.

import type { LdapServer } from '../support/directory-server.ts';
import { tryDirectory } from '../support/directory-trial.ts';
import { hasLdapUtils, searchLdap, writeLdif } from '../support/ldif.ts';
import { makeServerIdentity, slapdAdmin, slapdPath, slapdReader, slapdSuffix, startSlapd } from '../support/slapd.ts';

const limited = { dn: `cn=limited,${slapdSuffix}`, password: 'password-of-the-limited' };

async function open(): Promise<LdapServer> {
  const { authority, identity } = await makeServerIdentity(['127.0.0.1']);
  const slapd = await startSlapd({
    identity,
    global: ['moduleload ppolicy'],
    database: [`limits dn.exact="${limited.dn}" size.soft=3 size.hard=3 size.prtotal=3`, 'overlay ppolicy'],
    ldif: `dn: ${limited.dn}\nobjectClass: person\ncn: limited\nsn: limited\nuserPassword: ${limited.password}\n`,
  });
  const plainUrl = `ldap://127.0.0.1:${slapd.ports.ldap}`;
  const access = { url: plainUrl, bindDn: slapdAdmin.dn, password: slapdAdmin.password };
  return {
    ...{ url: `ldaps://127.0.0.1:${slapd.ports.ldaps}`, plainUrl, ca: authority.cert, suffix: slapdSuffix, reader: slapdReader, limited },
    write: (ldif) => writeLdif(access, ldif),
    search: searchLdap(access),
    close: slapd.stop,
  };
}

if (slapdPath !== undefined && hasLdapUtils())
  tryDirectory({
    name: 'slapd',
    open,
    fields: { kind: 'openldap' },
    person: ({ uid, cn, givenName, sn, mail }) => ({ objectClass: 'inetOrgPerson', uid, cn, givenName, sn, mail }),
    group: (cn, member) => ({ objectClass: 'groupOfNames', cn, member }),
    disabling: { pwdAccountLockedTime: { off: { pwdAccountLockedTime: '000001010000Z' }, on: { pwdAccountLockedTime: [] } } },
    limits: true,
  });

// What somebody types about a directory of LDAP: addresses, names of entries (RFC 4514) and filters (RFC 4515), and what each kind means
// where nothing is said.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ldapFilterDepthMax } from '../../src/contract/directory-limits.ts';
import { readingOf } from '../../src/domain/extending/ldap-directory.ts';
import { ldapPresets } from '../../src/domain/extending/ldap-presets.ts';
import { distinguishedNameFault, ldapAddressOf, ldapFilterFault } from '../../src/domain/extending/ldap-syntax.ts';
import { rulesFault } from '../../src/domain/mappings/rule-faults.ts';

describe('syntax of LDAP', () => {
  it('an address is a scheme, a host and a port', () => {
    for (const [url, scheme, host, port] of [
      ['ldaps://DC1.Corp.example', 'ldaps', 'dc1.corp.example', 636],
      ['ldap://dc1', 'ldap', 'dc1', 389],
      ['ldaps://10.0.0.1:3269/', 'ldaps', '10.0.0.1', 3269],
      ['ldaps://[FD00::1]:65535', 'ldaps', 'fd00::1', 65_535],
    ] as const)
      assert.deepEqual(ldapAddressOf(url), { scheme, host, port });
    for (const url of [
      ...[
        '',
        'ldaps://',
        'ldaps:dc1',
        'https://dc1',
        'ldapi://dc1',
        'ldaps://a b',
        'ldaps://u:p@dc1',
        'ldaps://dc1:0',
        'ldaps://dc1:65536',
      ],
      ...['ldaps://dc1/dc=example', 'ldaps://dc1?sub', 'ldaps://dc1#a', 'ldaps://dc1 ', 'ldaps://-dc1', 'ldaps://dc1\0', 'ldaps://[dc1]'],
    ])
      assert.equal(ldapAddressOf(url), undefined, url);
  });

  it('names of entries', () => {
    for (const name of ['dc=example', 'ou=People, dc=example', 'cn=Lovelace\\, Ada+uid=ada,dc=x', '2.5.4.3=Ada', 'cn=a\\=b=c', 'cn=Zoë'])
      assert.equal(distinguishedNameFault(name), undefined, name);
    for (const name of ['', 'people', 'dc=', '=x', 'dc=a,', ',dc=a', 'dc=a,,dc=b', 'd c=a', 'dc=a\0', 'dc=a,b'])
      assert.notEqual(distinguishedNameFault(name), undefined, name);
  });

  it('filters', () => {
    for (const filter of [
      ...[
        '(a=b)',
        '(objectClass=*)',
        '(&(a=b)(!(c=d)))',
        '(|(a=b)(c>=1)(d~=e))',
        '(cn=Ada \\28x\\29)',
        '(memberOf:1.2.840.113556.1.4.1941:=cn=a,dc=b)',
      ],
      ...['(a=)', '(cn=Zoë*)'],
    ])
      assert.equal(ldapFilterFault(filter), undefined, filter);
    for (const filter of [
      ...[
        '',
        'a=b',
        '(a=b',
        'a=b)',
        '(a=b))',
        '(a=b)(c=d)',
        '()',
        '(a)',
        '(&)',
        '(!(a=b)(c=d))',
        '(&(a=b)',
        '(&a=b)',
        '(a=(b)',
        '(a=\\2)',
        '(a=b) ',
      ],
      '(a=\0)',
    ])
      assert.notEqual(ldapFilterFault(filter), undefined, filter);
    const deep = (depth: number): string => `${'(!'.repeat(depth)}(a=b)${')'.repeat(depth)}`;
    assert.equal(ldapFilterFault(deep(ldapFilterDepthMax)), undefined);
    assert.notEqual(ldapFilterFault(deep(ldapFilterDepthMax + 1)), undefined);
  });

  it('what each kind means is well said, and what is said of a directory comes before', () => {
    for (const [kind, { userFilter, groupFilter, rules }] of Object.entries(ldapPresets)) {
      assert.deepEqual([ldapFilterFault(userFilter), ldapFilterFault(groupFilter)], [undefined, undefined], kind);
      const asWritten = rules.map((rule) => ({ ...rule, to: rule.to.replace(/^(user_name|emails\.primary)$/, 'title') }));
      assert.equal(rulesFault('inbound', asWritten), undefined, kind);
      assert.deepEqual(
        rules.map(({ to }) => to),
        ['user_name', 'emails.primary', 'name.given_name', 'name.family_name'],
      );
    }
    const said = { userFilter: undefined, groupFilter: undefined, groupBaseDn: undefined, idAttribute: undefined };
    const meant = readingOf({ kind: 'active_directory', baseDn: 'dc=a', ...said });
    assert.deepEqual([meant.idAttribute, meant.groupBaseDn], ['objectGUID', 'dc=a']);
    const own = { ...said, userFilter: '(a=b)', groupBaseDn: 'dc=g', idAttribute: 'entryUUID' } as const;
    const { userFilter, groupBaseDn, idAttribute } = readingOf({ kind: 'active_directory', baseDn: 'dc=a', ...own });
    assert.deepEqual([userFilter, groupBaseDn, idAttribute], ['(a=b)', 'dc=g', 'entryUUID']);
  });
});

// Names of entries as they are compared (RFC 4514; older spellings of RFC 2253): what is one name, and what is not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { directoryMessageBytesMax, distinguishedNameCharsMax } from '../../src/contract/directory-limits.ts';
import { dnKeyOf } from '../../src/directories/ldap/dn-key.ts';
import { assertLinear } from '../support/linear-time.ts';

const same: readonly (readonly string[])[] = [
  ['uid=ada,ou=People,dc=corp', 'UID=Ada,OU=people,DC=CORP', 'uid = ada , ou = People,  dc = corp', 'uid=ada;ou=People;dc=corp'],
  ['cn=Lovelace\\, Ada,dc=x', 'cn=Lovelace\\2c Ada,dc=x', 'CN=Lovelace\\2C Ada,dc=x', 'cn="Lovelace, Ada",dc=x'],
  ['cn=a\\+b\\=c,dc=x', 'cn=a\\2bb\\3dc,dc=x', 'cn=a\\+b=c,dc=x'],
  ['cn=Ada+uid=ada1,dc=x', 'uid=ada1+cn=Ada,dc=x', 'UID=ADA1 + CN=ada,dc=x'],
  ['cn=Zoë,dc=x', 'cn=Zo\\c3\\ab,dc=x', 'cn=ZOË,dc=x', 'cn=Zoe\u0308,dc=x'],
  ['cn=a  b,dc=x', 'cn=a b,dc=x', 'cn=a\\20b,dc=x', 'cn=\\ a b\\ ,dc=x'],
  ['cn=\\#1,dc=x', 'cn=\\231,dc=x'],
  ['cn=#04024869,dc=x', 'CN=#04024869,dc=x'],
  ['cn=a\\\\b,dc=x', 'cn=a\\5cb,dc=x', 'cn=a\\5Cb,dc=x'],
  ['cn=Doe\\0ACNF:1,dc=x', 'cn=doe\\0acnf:1,dc=x'],
  ['cn=😀\\,,dc=x', 'cn=\\f0\\9f\\98\\80\\2c,dc=x', 'cn=\\😀\\2c,dc=x'],
  ['', ' '],
];

describe('names of entries as they are compared', () => {
  it('spellings of one name are one', () => {
    for (const spellings of same) assert.equal(new Set(spellings.map(dnKeyOf)).size, 1, spellings.map(dnKeyOf).join('\n'));
  });

  it('other names are others', () => {
    const names = [
      ...same.map(([name]) => name!),
      ...[
        'uid=ada,ou=people',
        'ou=people,uid=ada,dc=corp',
        'uid=ada\\,ou=people,dc=corp',
        'uid=adaou=people,dc=corp',
        'uid=ad a,ou=people,dc=corp',
      ],
      ...['cn=Lovelace,cn=Ada,dc=x', 'cn=Lovelace+cn=Ada,dc=x', 'cn=a,b=c,dc=x', 'cn=a+b=c,dc=x', 'cn=1,dc=x', 'cn=#31,dc=x'],
      ...[
        'cn=\\23\\30\\34024869,dc=x0',
        'cn=\\ff,dc=x',
        'cn=\\fe,dc=x',
        'cn=\\\\xff,dc=x',
        'cn=xff,dc=x',
        'cn=ab,dc=x',
        'cn=,dc=x',
        'cn,dc=x',
        'dc=x',
      ],
      ...['cn=a\\0a,dc=x', 'cn=a\\09,dc=x', 'no name', '=', ',', '+'],
    ];
    const keys = new Map<string, string>();
    for (const name of names) {
      const key = dnKeyOf(name);
      assert.ok(!keys.has(key), `${name} and ${keys.get(key)} are both ${key}`);
      keys.set(key, name);
    }
  });

  it('a name that is longer than any that is taken is like itself alone, and costs no more than its characters', () => {
    const [longest, longer] = [0, 1].map((more) => `cn=${'A'.repeat(2 * distinguishedNameCharsMax - 3 + more)}`) as [string, string];
    assert.equal(dnKeyOf(longest), longest.toLowerCase());
    assert.notEqual(dnKeyOf(longer), dnKeyOf(longer.toLowerCase()));
    assert.equal(dnKeyOf(longer), dnKeyOf(longer));
    const before = performance.now();
    assert.ok(dnKeyOf('\\2c'.repeat(directoryMessageBytesMax / 3)).length < 100);
    assert.ok(performance.now() - before < 1000);
  });

  it('a value spelled in any way is the value', () => {
    const character = fc.constantFrom(...'aZ,+="<>;#\\é😀ß', '\0', '\n');
    fc.assert(
      fc.property(
        fc.array(character, { minLength: 1, maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 12 }),
        (value, ways) => {
          const spelled = value.map((one, at) => {
            if (ways[at] === 0) return [...Buffer.from(one)].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
            return /[,+="<>;#\\]/.test(one) ? `\\${one}` : one;
          });
          const hex = [...Buffer.from(value.join(''))].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
          assert.equal(dnKeyOf(`cn=${spelled.join('')},dc=x`), dnKeyOf(`CN = ${hex} , DC=X`));
        },
      ),
    );
  });

  it('a key is its own key', () => {
    const part = fc.string({ unit: fc.constantFrom(...'ab=,+;#"\\ é'), maxLength: 30 });
    fc.assert(fc.property(part, (dn) => assert.equal(typeof dnKeyOf(dn), 'string')));
    for (const [name] of same.filter(([one]) => !/#|0A/.test(one!))) assert.equal(dnKeyOf(dnKeyOf(name!)), dnKeyOf(name!));
  });

  it('takes time in proportion to their length', () => {
    for (const piece of [',', '+', '\\', '"', ' ', 'a=b,', 'a=b+', '\\2c', '#', '=', 'a', 'a= \\ ,', '"a', ' ,'])
      assertLinear((n) => {
        const dn = piece.repeat(n / piece.length);
        return () => void dnKeyOf(dn);
      }, distinguishedNameCharsMax / 2);
  });
});

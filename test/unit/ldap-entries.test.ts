// Entries of a directory: what identifies them, what is text of them, who is disabled, what is asked for; and why one is skipped, at n and n + 1.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  directoryDetailCharsMax,
  directoryEntryBytesMax,
  directoryIdCharsMax,
  directoryMessageBytesMax,
  directoryValueCharsMax,
  distinguishedNameCharsMax,
} from '../../src/contract/directory-limits.ts';
import { type RawEntry, readAnswer } from '../../src/directories/ldap/answers.ts';
import { fileTimeOf } from '../../src/directories/ldap/disabled.ts';
import { guidText } from '../../src/directories/ldap/entry.ts';
import { faultOf, shownText } from '../../src/directories/ldap/faults.ts';
import { attributesOf, personOf } from '../../src/directories/ldap/people.ts';
import { ldapDirectory } from '../support/directory-readers.ts';
import { type Attributes, entryMessage } from '../support/ldap-messages.ts';

const rawOf = (dn: string | Buffer, attributes: Attributes): RawEntry => readAnswer(entryMessage(2, dn, attributes)).is as RawEntry;
const how = { idAttribute: 'entryUUID', attributes: ['uid', 'mail'], nowMs: Date.UTC(2026, 0, 1) };
const take = (attributes: Attributes, dn: string | Buffer = 'uid=ada,dc=x', idAttribute = 'entryUUID') =>
  personOf(rawOf(dn, idAttribute === 'entryUUID' ? { entryUUID: ['ID-1'], ...attributes } : attributes), { ...how, idAttribute });
const reasonOf = (taken: ReturnType<typeof take>): string | undefined => (taken.isTaken ? undefined : taken.entry.reason);

describe('entries of a directory', () => {
  it('a person is what the rules name, by an id in lower case', () => {
    assert.deepEqual(take({ UID: ['ada'], mail: ['a@x', 'b@x'], description: ['not asked'], 'mail;lang-de': ['c@x'] }), {
      isTaken: true,
      entry: {
        ...{ remoteId: 'id-1', dn: 'uid=ada,dc=x', dnKey: 'uid=ada,dc=x', isDisabled: false },
        attributes: { uid: ['ada'], mail: ['a@x', 'b@x'] },
      },
    });
  });

  it('an objectGUID is spelled as Microsoft spells it', () => {
    const bytes = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
    assert.equal(guidText(bytes), '33221100-5544-7766-8899-aabbccddeeff');
    const taken = take({ objectGUID: [bytes], uid: ['ada'] }, 'cn=ada', 'objectGUID');
    assert.equal(taken.entry.remoteId, '33221100-5544-7766-8899-aabbccddeeff');
    for (const length of [15, 17])
      assert.equal(
        reasonOf(take({ objectGUID: [Buffer.alloc(length)] }, 'cn=ada', 'objectGUID')),
        'It says no objectGUID that can be read.',
      );
  });

  it('an ipaUniqueID is one, in lower case', () => {
    assert.equal(take({ ipaUniqueID: ['6F1A-X'], uid: ['ada'] }, 'uid=ada', 'ipaUniqueID').entry.remoteId, '6f1a-x');
  });

  it('one without an id, with two, or with one that is no visible text is skipped', () => {
    for (const ids of [[], ['a', 'b'], [''], ['a b'], ['a\u0007'], ['a\u202eb'], [Buffer.from([0xff])], ['a\0']])
      assert.deepEqual(take({ entryUUID: ids }), {
        isTaken: false,
        entry: { remoteId: undefined, dn: 'uid=ada,dc=x', dnKey: 'uid=ada,dc=x', reason: 'It says no entryUUID that can be read.' },
      });
    assert.equal(take({ entryUUID: ['x'.repeat(directoryIdCharsMax)] }).isTaken, true);
    assert.equal(take({ entryUUID: ['x'.repeat(directoryIdCharsMax + 1)] }).isTaken, false);
  });

  it('values, names and entries are taken to their limits, and skipped beyond with their reason', () => {
    const names = (chars: number): string => `uid=${'x'.repeat(chars - 4)}`;
    for (const character of ['x', 'é', '😀']) {
      assert.equal(take({ uid: [character.repeat(directoryValueCharsMax)] }).isTaken, true);
      assert.deepEqual(reasonOf(take({ uid: [character.repeat(directoryValueCharsMax + 1)] })), 'Its uid is longer than 1024 characters.');
    }
    assert.equal(take({}, names(distinguishedNameCharsMax)).isTaken, true);
    const named = take({}, names(distinguishedNameCharsMax + 1));
    assert.equal(reasonOf(named), 'Its name is longer than 1024 characters.');
    assert.deepEqual([named.entry.remoteId, named.entry.dn.length], ['id-1', distinguishedNameCharsMax]);
    const without = rawOf('uid=ada,dc=x', { entryUUID: ['ID-1'], other: [''] }).bytes;
    // The length of a longer value takes four bytes more, as do those of what holds it.
    const padded = (more: number): Attributes => ({ other: ['x'.repeat(directoryEntryBytesMax - without - 20 + more)] });
    const sizeOf = (more: number): number => rawOf('uid=ada,dc=x', { entryUUID: ['ID-1'], ...padded(more) }).bytes;
    const fitting = directoryEntryBytesMax - sizeOf(0);
    assert.deepEqual([sizeOf(fitting), sizeOf(fitting + 1)], [directoryEntryBytesMax, directoryEntryBytesMax + 1]);
    assert.equal(take(padded(fitting)).isTaken, true);
    assert.equal(reasonOf(take(padded(fitting + 1))), 'It is larger than 256 KiB.');
  });

  it('NUL and what is no UTF-8 are skipped, in values that are asked for and in names', () => {
    for (const value of ['a\0b', Buffer.from([0x61, 0xff]), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from([0xc0, 0x80])]) {
      assert.equal(reasonOf(take({ mail: ['a@x', value] })), 'Its mail is no text.');
      assert.equal(take({ other: [value] }).isTaken, true);
    }
    const named = take({}, Buffer.from([0x63, 0x6e, 0x3d, 0xff, 0x1b]));
    assert.deepEqual(named.entry, { remoteId: 'id-1', dn: 'cn=\ufffd', dnKey: '\\x636e3dff1b', reason: 'Its name is no text.' });
    assert.notEqual(take({}, Buffer.from([0xfe])).entry.dnKey, take({}, Buffer.from([0xff])).entry.dnKey);
  });

  it('disabled, expired and locked by an administrator; not locked by passwords', () => {
    const isDisabled = (attributes: Attributes): boolean => {
      const { entry } = take(attributes);
      assert.ok('isDisabled' in entry);
      return entry.isDisabled;
    };
    for (const attributes of [
      ...[{ userAccountControl: ['514'] }, { userAccountControl: ['2'] }, { userAccountControl: ['66050'] }, { nsAccountLock: ['TRUE'] }],
      ...[{ nsaccountlock: ['true'] }, { pwdAccountLockedTime: ['000001010000Z'] }, { accountExpires: [String(fileTimeOf(how.nowMs))] }],
      ...[{ accountExpires: ['1'] }, { accountExpires: ['116444736000000000'] }],
    ])
      assert.equal(isDisabled(attributes as Attributes), true, JSON.stringify(attributes));
    for (const attributes of [
      ...[
        {},
        { userAccountControl: ['512'] },
        { userAccountControl: ['66048'] },
        { userAccountControl: ['two'] },
        { userAccountControl: [] },
      ],
      ...[{ nsAccountLock: ['FALSE'] }, { pwdAccountLockedTime: ['20260101000000Z'] }, { accountExpires: ['0'] }],
      ...[{ accountExpires: ['9223372036854775807'] }, { accountExpires: [String(fileTimeOf(how.nowMs) + 1n)] }],
    ])
      assert.equal(isDisabled(attributes as Attributes), false, JSON.stringify(attributes));
    assert.equal(fileTimeOf(0), 116_444_736_000_000_000n);
  });

  it('what rules and their conditions read is asked for, and neither bytes nor passwords are', () => {
    const mappings = [
      { to: 'user_name', from: 'upstream.sAMAccountName' },
      { to: 'title', from: 'upstream.title', when: { path: 'upstream.employeeType', op: 'equals' as const, value: 'x' } },
      { to: 'nick_name', template: '{upstream.givenName} {upstream.2.5.4.4}' },
      { to: 'locale', from: 'upstream.userPassword' },
      { to: 'nick_name', template: '{upstream.2.5.4.35}{upstream.1.2.840.113556.1.4.90}' },
      { to: 'timezone', from: 'upstream.jpegPhoto' },
      { to: 'profile_url', from: 'upstream.a)(b=*' },
    ];
    assert.deepEqual(attributesOf(ldapDirectory({ mappings: mappings as never })).toSorted(), [
      ...['2.5.4.4', 'employeetype', 'givenname', 'mail', 'samaccountname', 'sn', 'title'],
    ]);
    assert.deepEqual(attributesOf(ldapDirectory()), ['uid', 'mail', 'givenname', 'sn']);
  });
});

describe('why a directory cannot be read', () => {
  it('is shown as one line of at most so many characters, and does nothing to a terminal', () => {
    assert.equal(shownText('a\u001b[31m\r\nb\u202ec\u2028d\0'), 'a [31m b c d');
    assert.equal(shownText('x'.repeat(directoryDetailCharsMax)).length, directoryDetailCharsMax);
    assert.equal(shownText('x'.repeat(directoryDetailCharsMax + 1)).length, directoryDetailCharsMax);
    assert.equal(shownText(`${'x'.repeat(directoryDetailCharsMax - 1)}😀`), 'x'.repeat(directoryDetailCharsMax - 1));
    const before = performance.now();
    shownText('a\u0001'.repeat(directoryMessageBytesMax / 2));
    assert.ok(performance.now() - before < 500, 'others of the process wait meanwhile');
  });

  it('has no password in it, even where it would be cut', () => {
    const password = 'p@ss "word"';
    const said = `${password} ${encodeURIComponent(password)} ${Buffer.from(password).toString('base64')} ${JSON.stringify(password)}`;
    const { detail } = faultOf('refused', 'x'.repeat(directoryDetailCharsMax - 5) + password, password).failure;
    assert.ok(!detail?.includes('p@'), detail ?? '');
    assert.equal(faultOf('refused', said, password).failure.detail, '*** *** *** "***"');
    assert.equal(faultOf('refused', ' ').failure.detail, null);
  });
});

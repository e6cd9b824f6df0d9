// What a server of LDAP answers, byte by byte (RFC 4511), and what no server may: lengths that lie, what is missing and what is too much. Filters
// as they are sent, against another writer of them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BerWriter, FilterParser } from 'ldapts';
import { readAnswer } from '../../src/directories/ldap/answers.ts';
import { berReader, MalformedAnswer, readBerHead } from '../../src/directories/ldap/ber.ts';
import { writeFilter } from '../../src/directories/ldap/filter-bytes.ts';
import { ldapFilterFault } from '../../src/domain/extending/ldap-syntax.ts';
import { ber, doneMessage, entryMessage, message, octets, pageControls, text } from '../support/ldap-messages.ts';

const refusedOf = (bytes: Buffer): void => assert.throws(() => readAnswer(bytes), MalformedAnswer, bytes.toString('hex'));

describe('answers of LDAP', () => {
  it('an entry with its attributes, types in lower case, values as bytes', () => {
    const bytes = entryMessage(7, 'uid=ada,dc=x', { UID: ['ada'], 'Member;Range=0-1': ['a', 'b'], none: [] });
    assert.deepEqual(readAnswer(bytes), {
      messageId: 7,
      is: {
        ...{ kind: 'entry', dn: Buffer.from('uid=ada,dc=x'), bytes: bytes.length },
        attributes: [
          { type: 'uid', values: [Buffer.from('ada')] },
          { type: 'member;range=0-1', values: [Buffer.from('a'), Buffer.from('b')] },
          { type: 'none', values: [] },
        ],
      },
    });
  });

  it('lengths need not be the shortest: Active Directory takes four bytes for each', () => {
    const long = (tag: number, body: Buffer): Buffer => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      return Buffer.concat([Buffer.from([tag, 0x84]), length, body]);
    };
    const body = Buffer.concat([ber(0x0a, Buffer.from([0])), octets(''), octets('')]);
    const { is } = readAnswer(long(0x30, Buffer.concat([ber(2, Buffer.from([9])), long(0x61, body)])));
    assert.deepEqual(is, { kind: 'done', operation: 'bind', code: 0, text: '', cookie: undefined });
  });

  it('how an operation ended, with referrals and the cookie of the next page', () => {
    assert.deepEqual(readAnswer(doneMessage(3, 4, 'too many', { cookie: Buffer.from('c') })).is, {
      ...{ kind: 'done', operation: 'search', code: 4, text: 'too many', cookie: Buffer.from('c') },
    });
    const referral = ber(0xa3, octets('ldap://elsewhere'));
    const referred = message(3, ber(0x65, Buffer.concat([ber(0x0a, Buffer.from([10])), octets('dc=x'), octets(''), referral])));
    assert.equal((readAnswer(referred).is as { code: number }).code, 10);
    assert.equal(readAnswer(message(3, ber(0x73, octets('ldap://elsewhere')))).is.kind, 'reference');
    const none = readAnswer(doneMessage(3, 0, '', { cookie: Buffer.alloc(0) })).is;
    assert.equal(none.kind === 'done' && none.cookie, undefined);
    const another = ber(0x30, Buffer.concat([octets('1.2.3'), ber(0x01, Buffer.from([0xff])), octets('x')]));
    const withOthers = message(
      3,
      ber(0x65, Buffer.concat([ber(0x0a, Buffer.from([0])), octets(''), octets('')])),
      ber(0xa0, Buffer.concat([another, pageControls(Buffer.from('d'))])),
    );
    assert.deepEqual((readAnswer(withOthers).is as { cookie: Buffer }).cookie, Buffer.from('d'));
  });

  it('every prefix of an answer, and every answer with something behind it, is refused', () => {
    for (const whole of [entryMessage(7, 'uid=ada', { uid: ['ada'] }), doneMessage(3, 0, 'x', { cookie: Buffer.from('c') })]) {
      for (let length = 0; length < whole.length; length += 1) refusedOf(whole.subarray(0, length));
      refusedOf(Buffer.concat([whole, Buffer.from([0])]));
    }
  });

  it('an attribute list, a set or a reference that says it is longer than its message is refused at once', () => {
    const lying = (tag: number): Buffer => Buffer.from([tag, 0x84, 0x7f, 0xff, 0xff, 0xff]);
    refusedOf(message(2, ber(0x64, Buffer.concat([octets('cn=x'), lying(0x30)]))));
    refusedOf(message(2, ber(0x64, Buffer.concat([octets('cn=x'), ber(0x30, ber(0x30, Buffer.concat([octets('a'), lying(0x31)])))]))));
    refusedOf(message(2, ber(0x65, Buffer.concat([ber(0x0a, Buffer.from([0])), octets(''), lying(0x04)]))));
    refusedOf(message(2, ber(0x64, Buffer.concat([octets('cn=x'), ber(0x04, Buffer.from('no list'))]))));
  });

  it('tags and lengths that LDAP has not are refused', () => {
    for (const bytes of [
      [0x1f, 0x81, 0x01],
      [0x30, 0x80, 0, 0],
      [0x30, 0x85, 0, 0, 0, 0, 1, 0],
    ])
      assert.throws(() => readBerHead(Buffer.from(bytes), 0, bytes.length), MalformedAnswer);
    assert.equal(readBerHead(Buffer.from([0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), 0, 6)?.bytes, 0xffff_ffff);
    assert.equal(readBerHead(Buffer.from([0x30, 0x84, 0xff]), 0, 3), undefined);
    refusedOf(message(2, ber(0x63, Buffer.alloc(0))));
    assert.throws(() => berReader(Buffer.from([2, 5, 1, 1, 1, 1, 1])).integer(2), MalformedAnswer);
    assert.throws(() => berReader(Buffer.from([2, 0])).integer(2), MalformedAnswer);
  });

  it('bytes of any kind are read or refused, and nothing else', () => {
    const whole = entryMessage(7, 'uid=ada', { uid: ['ada', 'b'], cn: ['x'] });
    const isEnded = (bytes: Buffer): void => {
      try {
        readAnswer(bytes);
      } catch (error) {
        assert.ok(error instanceof MalformedAnswer, String(error));
      }
    };
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => isEnded(Buffer.from(bytes))));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(whole);
        changed[at] = byte;
        isEnded(changed);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('filters as they are sent', () => {
  const sent = (filter: string): string => {
    const writer = new BerWriter();
    writeFilter(writer, filter);
    return writer.buffer.toString('hex');
  };
  const byLdapts = (filter: string): string => {
    const writer = new BerWriter();
    FilterParser.parseString(filter).write(writer);
    return writer.buffer.toString('hex');
  };

  it('as another writer sends them', () => {
    for (const filter of [
      ...[
        '(a=b)',
        '(objectClass=*)',
        '(&(a=b)(!(c=d)))',
        '(|(a=b)(c>=1)(d<=2)(e~=f))',
        '(cn=Ada \\28x\\29\\2a)',
        '(cn=a*b*c)',
        '(cn=*b*)',
        '(cn=Zoë)',
      ],
      ...[
        '(userAccountControl:1.2.840.113556.1.4.803:=2)',
        '(cn:dn:2.4.6.8.10:=Barney)',
        '(o:dn:=Ace)',
        '(:1.2.3:=Wilma)',
        '(:dn:2.4.6.8.10:=Dino)',
        '(cn=)',
      ],
      ...['(cn:=x)', '(memberOf:1.2.840.113556.1.4.1941:=cn=a,dc=b)', '(cn=a<b>c~d:e)', '(&(objectCategory=person)(objectClass=user))'],
    ])
      assert.equal(sent(filter), byLdapts(filter), filter);
  });

  it('an escaped byte is a byte, and attributes may have options and numbers', () => {
    const equality = (type: string, value: Buffer): string => ber(0xa3, Buffer.concat([octets(type), octets(value)])).toString('hex');
    assert.equal(sent('(cn=M\\c3\\bcller)'), equality('cn', text('Müller')));
    assert.equal(sent('(objectGUID=\\ff\\00)'), equality('objectGUID', Buffer.from([0xff, 0])));
    assert.equal(sent('(cn;lang-de=x)'), equality('cn;lang-de', text('x')));
    assert.equal(sent('(2.5.4.3=x)'), equality('2.5.4.3', text('x')));
  });

  it('whatever may be typed can be sent, but for what is told of rules where there are none', () => {
    const item = fc
      .tuple(
        fc.constantFrom('cn', '2.5.4.3', 'cn;lang-de', 'cn:dn:', 'cn:1.2.3:'),
        fc.constantFrom('=', '>=', '<=', '~='),
        fc.string({ unit: fc.constantFrom(...'a*é \\28:=<>~'), maxLength: 12 }),
      )
      .map(([type, operator, value]) => (type.endsWith(':') ? `(${type}=${value})` : `(${type}${operator}${value})`));
    const { filter } = fc.letrec<{ filter: string }>((tie) => ({
      filter: fc.oneof(
        { depthSize: 'small' },
        item,
        fc
          .tuple(fc.constantFrom('&', '|'), fc.array(tie('filter'), { minLength: 1, maxLength: 3 }))
          .map(([operator, filters]) => `(${operator}${filters.join('')})`),
        tie('filter').map((one) => `(!${one})`),
      ),
    }));
    let typed = 0;
    fc.assert(
      fc.property(filter, (one) => {
        if (ldapFilterFault(one) !== undefined) return;
        typed += 1;
        assert.doesNotThrow(() => sent(one), one);
      }),
      { numRuns: 2000 },
    );
    assert.ok(typed > 200, String(typed));
  });

  it('what is none is an error', () => {
    for (const filter of ['(a=b', 'a=b', '(&(a=b)', '(a)', '(a=b)x', '(', '((a=b))', '(cn:dn=x)'])
      assert.throws(() => sent(filter), Error, filter);
  });
});

// Whose address counts: the socket's, or what trusted proxies say; and the block that rate limits count.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { addressBlock, createAddressOf } from '../../src/http/client-address.ts';

const requestOf = (peer: string, forwarded?: string): IncomingMessage =>
  // Only what createAddressOf reads.
  ({ socket: { remoteAddress: peer }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as IncomingMessage;

describe('client address', () => {
  const cases: readonly [title: string, trusted: readonly string[], peer: string, forwarded: string | undefined, expected: string][] = [
    ['no proxy is trusted: the header means nothing', [], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the peer is no trusted proxy', ['10.0.0.0/8'], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['a trusted proxy names the client', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['what the client itself sent in front is not believed', ['10.0.0.0/8'], '10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    [
      'several trusted proxies are passed over',
      ['10.0.0.0/8', '192.0.2.7'],
      '10.1.2.3',
      '1.1.1.1, 198.51.100.1, 192.0.2.7, 10.9.9.9',
      '198.51.100.1',
    ],
    ['only proxies: the outermost', ['10.0.0.0/8'], '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['no header from a trusted proxy', ['10.0.0.0/8'], '10.1.2.3', undefined, '10.1.2.3'],
    ['nonsense stops the walk', ['10.0.0.0/8'], '10.1.2.3', '198.51.100.1, unknown, 10.0.0.2', '10.0.0.2'],
    ['a bare number is no address', ['10.0.0.0/8'], '10.1.2.3', '3', '10.1.2.3'],
    ['an IPv4-mapped peer is IPv4', ['10.0.0.0/8'], '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['an IPv4-mapped entry is IPv4', ['10.0.0.0/8'], '10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['an IPv4-mapped trusted range', ['::ffff:10.0.0.0/104'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['IPv6 proxies and clients', ['2001:db8::/32'], '2001:db8::1', '2606:4700::1111', '2606:4700::1111'],
    ['an IPv6 zone is no part of the address', [], 'fe80::1%eth0', undefined, 'fe80::1'],
  ];
  for (const [title, trusted, peer, forwarded, expected] of cases)
    it(title, () => assert.equal(createAddressOf(trusted)(requestOf(peer, forwarded)), expected));

  it('blocks: IPv4 whole, IPv6 by its /64, however it is written', () => {
    assert.equal(addressBlock('198.51.100.1'), '198.51.100.1');
    assert.equal(addressBlock('::ffff:198.51.100.1'), '198.51.100.1');
    assert.equal(addressBlock('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
    assert.equal(addressBlock('2001:0DB8:0001:0002::9'), addressBlock('2001:db8:1:2:ffff::'));
    assert.notEqual(addressBlock('2001:db8:1:3::1'), addressBlock('2001:db8:1:2::1'));
  });
  it('a list that cannot be read stops the start', () => {
    for (const bad of ['10.0.0.0/33', 'ten', '10.0.0.0/8,'.repeat(1).concat('x')])
      assert.throws(() => readConfig({ trusted_proxies: bad }, {}, '/nonexistent'), /trusted_proxies: expected an address or CIDR/);
    assert.deepEqual(readConfig({ trusted_proxies: '10.0.0.0/8, ::1' }, {}, '/nonexistent').trustedProxies, ['10.0.0.0/8', '::1']);
  });
});

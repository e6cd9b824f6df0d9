// Who is calling: the socket's address, unless the peer is a trusted proxy; then the right-most untrusted X-Forwarded-For entry.
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isInCidrs, parseCidrs } from '../platform/net/address-ranges.ts';

export type AddressOf = (request: {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}) => string;

/** Whether the other end of the connection is a proxy we trust. */
export type IsTrustedPeer = (request: { readonly socket: { readonly remoteAddress?: string | undefined } }) => boolean;

export function createIsTrustedPeer(trustedProxies: readonly string[]): IsTrustedPeer {
  const trusted = parseCidrs(trustedProxies);
  return ({ socket }) => isInCidrs(plainAddress(socket.remoteAddress ?? ''), trusted);
}

/** @param trustedProxies CIDRs; a mistake throws when the server is composed. */
export function createAddressOf(trustedProxies: readonly string[]): AddressOf {
  const trusted = parseCidrs(trustedProxies);
  const isTrusted = (address: string): boolean => isInCidrs(address, trusted);
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '');
    const forwarded = request.headers['x-forwarded-for'];
    if (trusted.length === 0 || forwarded === undefined || !isTrusted(peer)) return peer;
    const hops = String(forwarded)
      .split(',')
      .map((hop) => plainAddress(hop.trim()));
    let client = peer;
    while (hops.length > 0) {
      const hop = hops.pop()!;
      if (isIP(hop) === 0) break;
      client = hop;
      if (!isTrusted(hop)) break;
    }
    return client;
  };
}

/** The key rate limits count an address under: IPv4 whole, IPv6 by its /64. */
export function addressBlock(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4'
    ? parsed.toString()
    : `${(parsed as ipaddr.IPv6).parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`;
}

/** IPv4-mapped IPv6 addresses as IPv4, without a zone. */
function plainAddress(address: string): string {
  const bare = address.split('%', 1)[0]!;
  return bare.toLowerCase().startsWith('::ffff:') && bare.includes('.') ? bare.slice(7) : bare;
}

// Which network addresses are public, and lists of CIDRs. Used by outgoing calls and by the trusted-proxy rule.
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Cidr = readonly [Address, number];

/** Reads CIDRs; a bare address means itself. @throws Error when one cannot be read, naming it */
export function parseCidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.map((text) => {
    try {
      const [address, bits] = ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`);
      if (address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress() && bits >= 96)
        return [(address as ipaddr.IPv6).toIPv4Address(), bits - 96];
      return [address, bits];
    } catch (error) {
      throw new Error(`expected an address or CIDR such as 10.0.0.0/8, found ${text}`, { cause: error });
    }
  });
}

/** True when the address lies in one of the networks; IPv4-mapped IPv6 counts as IPv4. */
export function isInCidrs(address: string, cidrs: readonly Cidr[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return cidrs.some(([network, bits]) => parsed.kind() === network.kind() && parsed.match(network, bits));
}

const globalUnicastV6 = ipaddr.parseCIDR('2000::/3');

/** True for addresses anyone on the internet may have: no private, loopback, link-local, shared, multicast, translated or reserved range. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address) || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicastV6));
}

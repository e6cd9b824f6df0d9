// What may be in a Host header as somebody's domain: a DNS name (RFC 1035 2.3.4; the underscore is lived) or an address, with or
// without port. The URL parser takes more: quotes, braces and semicolons are host names to it.
import { hostBytesMax } from '../../contract/limits.ts';

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const dnsName = new RegExp(`^${label}(?:\\.${label})*$`, 'i');
const port = /:\d{1,5}$/;
const ipv6Literal = /^\[[0-9a-f:.]{2,45}\]$/i;

/** Whether a text is a DNS name or an IPv4 address, without port. */
export const isDnsName = (text: string): boolean => text.length <= hostBytesMax && dnsName.test(text);

/** Whether a Host could be somebody's domain. */
export function isHost(host: string): boolean {
  const name = host.replace(port, '');
  return isDnsName(name) || ipv6Literal.test(name);
}

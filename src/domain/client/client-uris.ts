// Which URIs a client may register (RFC 8252, RFC 9700 2.1): absolute, no fragment, https; http on loopback only;
// private-use schemes for public (native) clients only.
import { urlCharsMax } from '../../contract/limits.ts';

export const isLoopbackHost = (host: string): boolean => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
const isAddress = (host: string): boolean => host.startsWith('[') || /^\d{1,3}(\.\d{1,3}){3}$/.test(host);

/**
 * What is wrong with a redirect URI, or undefined. Compared later byte for byte, so nothing is normalised: it must be spelled as
 * a URL parser would spell it (a bare origin aside), or some clients would send another text for the same address.
 */
export function redirectUriFault(uri: string, isPublic: boolean): string | undefined {
  const url = parse(uri);
  if (url === undefined) return 'must hold absolute URIs';
  if (uri.includes('#')) return 'must hold URIs without a fragment';
  if (uri.includes('*')) return 'must hold whole URIs, without *';
  if (url.port === '0') return 'must hold URIs with a port from 1 to 65535';
  if (url.href !== uri && url.href !== `${uri}/`) return `must hold URIs as they are serialised: ${url.href}`;
  if (url.username !== '' || url.password !== '') return 'must hold URIs without credentials';
  if (url.protocol === 'https:') return undefined;
  if (url.protocol === 'http:') return isLoopbackHost(url.hostname) ? undefined : 'must hold https URIs, or http on a loopback address';
  // RFC 8252 7.1: a private-use scheme is a reversed domain name, so it has a dot.
  if (!/^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol)) return 'must hold https URIs, or private-use schemes with a dot';
  return isPublic ? undefined : 'may hold private-use schemes for public clients only';
}

/** What is wrong with an address this service calls: https, or http on loopback and addresses (egress_allow decides there). */
export function calledUriFault(uri: string): string | undefined {
  const url = parse(uri);
  if (url === undefined || uri.includes('#') || url.username !== '' || url.password !== '')
    return 'must be an https URL without fragment and credentials';
  if (url.protocol === 'https:') return undefined;
  return url.protocol === 'http:' && (isLoopbackHost(url.hostname) || isAddress(url.hostname)) ? undefined : 'must be an https URL';
}

/** What is wrong with an address that people open. */
export function pageUriFault(uri: string): string | undefined {
  const url = parse(uri);
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? undefined : 'must be an https URL without credentials';
}

/** What is wrong with an audience: an absolute URI without a fragment (RFC 8707 2). */
export function audienceFault(uri: string): string | undefined {
  return parse(uri) === undefined || uri.includes('#') ? 'must be an absolute URI without a fragment' : undefined;
}

function parse(uri: string): URL | undefined {
  if (uri.length > urlCharsMax || /[^\x21-\x7e]/.test(uri)) return undefined;
  return URL.parse(uri) ?? undefined;
}

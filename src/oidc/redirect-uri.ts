// Whether a redirect_uri is on a client's allow-list: byte for byte, except the port of a loopback address for public native
// clients (RFC 8252 7.3). No wildcards, no case folding, no normalisation.
import type { Client } from '../domain/client.ts';

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?((?:[/?].*)?)$/s;

export function isRegisteredRedirectUri(client: Client, uri: string): boolean {
  if (client.redirectUris.includes(uri)) return true;
  if (client.type !== 'public') return false;
  const bare = withoutLoopbackPort(uri);
  return bare !== undefined && client.redirectUris.some((registered) => withoutLoopbackPort(registered) === bare);
}

function withoutLoopbackPort(uri: string): string | undefined {
  const match = loopback.exec(uri);
  return match === null ? undefined : `${match[1]}${match[2]}`;
}

/** A redirect_uri with an authorization response in its query (RFC 6749 4.1.2, RFC 9207). */
export function redirectWith(uri: string, answer: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) query.set(name, value);
  const text = query.toString();
  return text === '' ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${text}`;
}

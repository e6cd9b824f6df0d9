// Whether a redirect_uri is on a client's allow-list: byte for byte, except the port of a loopback address for public native
// clients (RFC 8252 7.3; `localhost` is one, because agents register it). No wildcards, no case folding, no normalisation.
import type { Client } from '../../domain/client/client.ts';

const loopback = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::(\d{1,5}))?((?:[/?].*)?)$/s;
const portMax = 65_535;

export function isRegisteredRedirectUri(client: Client, uri: string): boolean {
  if (client.redirectUris.includes(uri)) return true;
  if (client.type !== 'public') return false;
  const bare = withoutLoopbackPort(uri);
  return bare !== undefined && client.redirectUris.some((registered) => withoutLoopbackPort(registered) === bare);
}

function withoutLoopbackPort(uri: string): string | undefined {
  const match = loopback.exec(uri);
  const port = Number(match?.[2] ?? 1);
  return match === null || port < 1 || port > portMax ? undefined : `${match[1]}${match[3]}`;
}

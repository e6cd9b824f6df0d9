// A server on loopback that publishes keys, for tests of tokens that others issue: platforms of programs, providers that vouch for people.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type KeyPair, makeKeyPair } from './client-credentials.ts';
import type { Json } from './management.ts';

export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>;

/** An issuer of tokens: its discovery document and its keys, as they are at the moment. */
export async function startTokenIssuer() {
  let keys: readonly KeyPair[] = [makeKeyPair('RS256')];
  let isAway = false;
  let asked = 0;
  let said: Json = {};
  const server: Server = createServer((request, response) => {
    asked += 1;
    if (isAway) return void response.writeHead(500).end();
    const body =
      request.url === '/keys' ? { keys: keys.map(({ publicJwk }) => publicJwk) } : { issuer: url, jwks_uri: `${url}/keys`, ...said };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // listening on TCP
  return {
    url,
    asked: () => asked,
    key: () => keys[0]!,
    rotate: (...next: readonly KeyPair[]) => {
      keys = next;
    },
    away: (is: boolean) => {
      isAway = is;
    },
    says: (more: Json) => {
      said = more;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

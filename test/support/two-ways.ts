// The same bytes on both ways through the server: as they are, so that the fast path may answer them, and behind an empty line,
// which RFC 9112 2.2 lets a client send and which the fast path leaves to Node's parser.
import { setTimeout as wait } from 'node:timers/promises';
import { openSocket } from './raw-http.ts';

export interface BothWays {
  readonly plain: string;
  readonly parsed: string;
}

/** Sends bytes both ways and gives everything that came back, without what differs from request to request. */
export async function sendBothWays(url: string, bytes: Buffer, patienceMs = 200): Promise<BothWays> {
  const plain = await answersTo(url, bytes, patienceMs);
  const parsed = await answersTo(url, Buffer.concat([Buffer.from('\r\n'), bytes]), patienceMs);
  if (plain === parsed || patienceMs > 2000) return { plain, parsed };
  return sendBothWays(url, bytes, patienceMs * 4); // one of them may only have been slow
}

/** What a connection of its own says to these bytes until it ends, or is silent for a while. */
export async function answersTo(url: string, bytes: Buffer, patienceMs: number): Promise<string> {
  const socket = await openSocket(url);
  let text = '';
  let ended = false;
  socket.setEncoding('latin1');
  socket.on('error', () => undefined);
  socket.on('close', () => {
    ended = true;
  });
  const heard = new Promise<void>((resolve) => {
    socket.on('data', (part: string) => {
      text += part;
      if (isWhole(text)) resolve();
    });
    socket.on('close', () => resolve());
  });
  socket.write(bytes);
  await Promise.race([heard, wait(patienceMs)]);
  // Bytes behind the first request have answers, too.
  for (let length = -1; !ended && length !== text.length; ) {
    length = text.length;
    await wait(text === '' ? 0 : 15);
  }
  socket.destroy();
  return `${withoutChance(text)}${ended ? '<closed>' : ''}`;
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)/im.exec(text)?.[1];
  return end !== -1 && length !== undefined && text.length >= end + 4 + Number(length);
}

/** Ids, times and random references become names; of a JWT the claims that stay are kept. */
function withoutChance(text: string): string {
  return text
    .replace(/^(x-request-id|date|dpop-nonce): .*$/gim, '$1: *')
    .replace(/eyJ[\w-]+\.([\w-]+)\.[\w-]+/g, (_jwt, payload: string) => claimsThatStay(payload))
    .replace(/request_uri:[\w-]+/g, 'request_uri:*')
    .replace(/"(auth_req_id|refresh_token)":"[\w-]+"/g, '"$1":"*"');
}

function claimsThatStay(payload: string): string {
  const { jti: _jti, iat: _iat, exp: _exp, ...rest } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
  return `<${JSON.stringify(rest)}>`;
}

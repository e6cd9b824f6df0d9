// HTTP as bytes: for requests that no client library would send. Reads one answer and gives it as a Response.
import { connect, type Socket } from 'node:net';

/** Opens a connection to a server's URL. */
export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Sends the bytes on a connection of their own and reads the answer until the other side ends or the body is whole. */
export async function sendRaw(url: string, bytes: string | Uint8Array): Promise<Response> {
  const socket = await openSocket(url);
  socket.on('error', () => undefined); // the other side may hang up while we still send
  socket.write(bytes);
  try {
    return await readAnswer(socket);
  } finally {
    socket.destroy();
  }
}

/** Reads one HTTP answer from a connection. */
export function readAnswer(socket: Socket): Promise<Response> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const finish = (): void => {
      const answer = parseAnswer(received, true);
      if (answer === undefined) reject(new Error(`no whole answer: ${received.toString('latin1').slice(0, 200)}`));
      else resolve(answer);
    };
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const answer = parseAnswer(received, false);
      if (answer !== undefined) resolve(answer);
    });
    socket.on('end', finish);
    socket.on('close', finish);
  });
}

function parseAnswer(bytes: Buffer, ended: boolean): Response | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine, ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine!)?.[1]);
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = bytes.subarray(end + 4);
  const length = headers.get('content-length');
  if (!ended && (length === null || body.length < Number(length))) return undefined;
  return new Response(status === 204 || status === 304 ? null : new Uint8Array(body), { status, headers });
}

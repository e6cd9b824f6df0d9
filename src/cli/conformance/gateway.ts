// Stands before a server and does to the requests of a phone what bad networks do: loses requests or answers, answers something else, or
// tells that the moment has come to kill the phone.
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FaultKind = 'request lost' | 'answer lost' | 'sent twice' | 'killed before the request' | 'killed before the answer';

export interface Fault {
  /** The end of the path, as a pattern. */
  readonly path: RegExp;
  readonly kind: FaultKind | { readonly status: number; readonly body: object; readonly headers?: Readonly<Record<string, string>> };
}

export interface Gateway {
  readonly url: string;
  readonly forwardTo: (port: number) => void;
  /** The next request that matches meets the fault; `onKill` is called where the phone is to die. */
  readonly plan: (fault: Fault, onKill?: () => void) => void;
  /** Whether the planned fault has happened. */
  readonly isMet: () => boolean;
  /** The signatures of the requests for a path since the last plan; a request the network sends twice has one. */
  readonly asked: (path: RegExp) => ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Listens on a free port of localhost, which browsers take for a secure context. */
export async function openGateway(): Promise<Gateway> {
  let port = 0;
  let planned: { readonly fault: Fault; readonly onKill: () => void } | undefined;
  let asked: { readonly path: string; readonly signature: string }[] = [];
  const take = (path: string, signature: string): typeof planned => {
    asked.push({ path, signature });
    if (planned === undefined || !planned.fault.path.test(path)) return undefined;
    const met = planned;
    planned = undefined;
    return met;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    const body = await read(request);
    const met = take(path, String(request.headers['x-signature']));
    const kind = met?.fault.kind;
    if (typeof kind === 'object') {
      response.writeHead(kind.status, { 'content-type': 'application/json', ...kind.headers }).end(JSON.stringify(kind.body));
      return;
    }
    if (kind === 'request lost' || kind === 'killed before the request') {
      if (kind === 'killed before the request') met?.onKill();
      request.socket.destroy();
      return;
    }
    if (kind === 'sent twice') await forward(port, request, body); // as browsers do when a kept connection ends
    const answer = await forward(port, request, body);
    if (kind === 'killed before the answer') met?.onKill();
    if (kind !== undefined && kind !== 'sent twice') request.socket.destroy();
    else response.writeHead(answer.status, answer.headers as NodeJS.Dict<string | string[]>).end(answer.body); // as it came
  };
  const server = createServer((request, response) => void serve(request, response).catch(() => request.socket.destroy()));
  await listen(server);
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    forwardTo: (target) => {
      port = target;
    },
    plan: (fault, onKill = () => undefined) => {
      asked = [];
      planned = { fault, onKill };
    },
    isMet: () => planned === undefined,
    asked: (wanted) => new Set(asked.filter(({ path }) => wanted.test(path)).map(({ signature }) => signature)),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(port: number, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const call = httpRequest({ host: '127.0.0.1', port, method, path: url, headers }, async (answer) => {
    resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: await read(answer) });
  });
  call.on('error', reject);
  call.end(body);
  return promise;
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const listen = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

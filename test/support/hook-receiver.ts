// A hook of the test: keeps every call, checked by the library of the Standard Webhooks project, and answers as it is told.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

type Json = Readonly<Record<string, unknown>>;

export interface HookCall {
  readonly headers: IncomingHttpHeaders;
  readonly raw: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Json };
}

/** A status with a body and headers, `hang` for no answer, `drop` for a closed connection. */
export type HookReply =
  | { readonly status: number; readonly json?: unknown; readonly text?: string; readonly headers?: Record<string, string> }
  | 'hang'
  | 'drop';

export interface HookReceiver {
  readonly url: string;
  readonly calls: HookCall[];
  /** How each call is answered from now on. */
  reply: (call: HookCall) => HookReply | Promise<HookReply>;
  /** Calls being answered at this moment at most. */
  readonly atOnce: () => number;
  /** Connections that were opened. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export const silent: HookReply = { status: 204 };
export const claims = (given: Json): HookReply => ({ status: 200, json: { claims: given } });
export const deny = (reason: string): HookReply => ({ status: 200, json: { deny: { reason } } });

export async function startHookReceiver(): Promise<HookReceiver> {
  const calls: HookCall[] = [];
  let running = 0;
  let most = 0;
  let connections = 0;
  const server = createServer(async (request, response) => {
    running += 1;
    most = Math.max(most, running);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString('utf8');
    const call = { headers: request.headers, raw, body: JSON.parse(raw) };
    calls.push(call);
    const reply = await receiver.reply(call);
    running -= 1;
    if (reply === 'hang') return;
    if (reply === 'drop') {
      request.socket.destroy();
      return;
    }
    const text = reply.text ?? (reply.json === undefined ? undefined : JSON.stringify(reply.json));
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers }).end(text);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listening on TCP
  const receiver: HookReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    reply: () => silent,
    atOnce: () => most,
    connections: () => connections,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

/** Throws unless the call carries a signature by this secret. */
export const verifyHookCall = (secret: string, { raw, headers }: HookCall): void =>
  void new Webhook(secret).verify(raw, headers as Record<string, string>); // Node joins repeated ones

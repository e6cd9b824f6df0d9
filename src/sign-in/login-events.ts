// GET /login/{tx}/events: the state of a sign-in as server-sent events, for pages that wait. Says a state and nothing else.
// One query a second while somebody waits; the stream ends with the wait, with the server, or with the browser. A page that gets no
// stream asks every two seconds instead (login-script.ts).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { loginEventStreamsMax, loginEventStreamsPerAddressMax, loginEventStreamsPerLoginMax } from '../contract/limits.ts';
import type { TransactionId } from '../domain/ids.ts';
import { addressBlock } from '../http/client-address.ts';
import { type LoginDeps, type LoginNow, loadLogin, stateOf } from './login-view.ts';

const pollEveryMs = 1000;
const retrySeconds = 5;

type CloseStream = () => void;

/** Who has a place. */
interface Waiting {
  readonly login: TransactionId;
  readonly address: string;
}

type OpenStreams = Map<CloseStream, Waiting>;

interface LoginEvents {
  /** Answers with the stream; the login has been opened for this browser. */
  readonly stream: (request: FastifyRequest, reply: FastifyReply, login: LoginNow) => Promise<FastifyReply>;
}

export function createLoginEvents(app: FastifyInstance, services: LoginDeps): LoginEvents {
  const open: OpenStreams = new Map();
  app.addHook('preClose', async () => {
    for (const close of open.keys()) close();
  });
  /** Whoever begins one sign-in, or many from one address, takes few of the places, and few of the queries a second. */
  const isFull = ({ login, address }: Waiting): boolean => {
    const others = [...open.values()];
    return (
      others.length >= loginEventStreamsMax ||
      others.filter((other) => other.address === address).length >= loginEventStreamsPerAddressMax ||
      others.filter((other) => other.login === login).length >= loginEventStreamsPerLoginMax
    );
  };
  return {
    stream: async (request, reply, login) => {
      const waiting = { login: login.row.id, address: addressBlock(request.clientAddress) };
      if (isFull(waiting))
        throw reject('management.rate_limited', 'too_many_streams', {
          retryAfterSeconds: retrySeconds,
          fields: { retry_after_seconds: retrySeconds },
        });
      reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' });
      if (request.method === 'HEAD') return reply.send();
      reply.hijack();
      const headers = Object.entries(reply.getHeaders()).map(([name, value]): [string, string] => [name, String(value)]);
      reply.raw.writeHead(200, Object.fromEntries(headers));
      follow({ services, open, waiting }, reply, login);
      return reply;
    },
  };
}

interface Place {
  readonly services: LoginDeps;
  readonly open: OpenStreams;
  readonly waiting: Waiting;
}

function follow({ services, open, waiting }: Place, reply: FastifyReply, login: LoginNow): void {
  const { raw } = reply;
  let timer: NodeJS.Timeout | undefined;
  let last: string | undefined;
  const close = (): void => {
    clearTimeout(timer);
    open.delete(close);
    raw.end();
  };
  const tell = (state: string): void => {
    // A comment every turn keeps proxies from closing a silent stream.
    raw.write(state === last ? ':\n\n' : `event: state\ndata: ${JSON.stringify({ state })}\n\n`);
    last = state;
  };
  const turn = async (): Promise<void> => {
    const now = await loadLogin(services, login.tenant, login.row.id, undefined).catch(() => undefined);
    if (!open.has(close)) return;
    const state = now === undefined ? 'expired' : stateOf(now.row);
    tell(state);
    if (isWaiting(state)) timer = setTimeout(() => void turn(), pollEveryMs);
    else close();
  };
  open.set(close, waiting);
  raw.on('close', close);
  tell(login.state);
  if (isWaiting(login.state)) timer = setTimeout(() => void turn(), pollEveryMs);
  else close();
}

const isWaiting = (state: string): boolean => state === 'identify' || state === 'choose' || state === 'waiting' || state === 'pin';

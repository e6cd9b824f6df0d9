// The push vendors as servers of our own: Apple's HTTP/2 one, and one for Google's token and message endpoints and the push services
// of browsers. Each keeps what it got and answers what it is told, 'hang' included.
import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { freshRsaKeys } from './rsa-keys.ts';

export interface Captured {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

type VendorAnswer = 'hang' | { readonly status: number; readonly body?: unknown };

export type PushVendors = Awaited<ReturnType<typeof startPushVendors>>;

const granted = { access_token: 'access', expires_in: 3600 };

export async function startPushVendors() {
  const captured = { apns: [] as Captured[], token: [] as Captured[], fcm: [] as Captured[], web: [] as Captured[] };
  const answers: Record<keyof typeof captured, VendorAnswer[]> = { apns: [], token: [], fcm: [], web: [] };
  const sessions = new Set<ServerHttp2Session>();
  const apple = createHttp2Server();
  apple.on('session', (session) => sessions.add(session));
  apple.on('stream', async (stream: ServerHttp2Stream, { ':path': path = '', ':method': method = '', ...headers }) => {
    stream.on('error', () => undefined);
    captured.apns.push({ method, path, headers, body: await read(stream) });
    const answer = answers.apns.shift() ?? { status: 200 };
    if (answer === 'hang' || stream.destroyed) return;
    stream.respond({ ':status': answer.status });
    stream.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
  });
  const listenerOf =
    (of: (path: string) => Exclude<keyof typeof captured, 'apns'>): RequestListener =>
    async (request, response) => {
      const [path, headers] = [request.url ?? '', request.headers as IncomingHttpHeaders];
      const kind = of(path);
      captured[kind].push({ method: request.method ?? '', path, headers, body: await read(request) });
      const answer = answers[kind].shift() ?? { status: kind === 'web' ? 201 : 200, body: kind === 'token' ? granted : {} };
      if (answer === 'hang') return;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body ?? {}));
    };
  const google = createServer(listenerOf((path) => (path === '/token' ? 'token' : 'fcm')));
  const browsers = createServer(listenerOf(() => 'web'));
  const [apns, googleOrigin, web] = await Promise.all([apple, google, browsers].map(listen));
  return {
    origins: { apns: apns!, fcm: { token: googleOrigin!, messages: googleOrigin! }, web: web! },
    captured,
    /** What the next request of a kind is answered. */
    answer: (kind: keyof typeof captured, ...next: readonly VendorAnswer[]): void => void answers[kind].push(...next),
    connections: () => sessions.size,
    clear: (): void => {
      for (const list of Object.values(captured)) list.length = 0;
      for (const list of Object.values(answers)) list.length = 0;
    },
    close: async (): Promise<void> => {
      for (const session of sessions) session.destroy();
      google.closeAllConnections();
      browsers.closeAllConnections();
      await Promise.all([apple, google, browsers].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** Accounts as an administrator pastes them, and their public keys. */
export function pushAccounts() {
  const apple = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const google = freshRsaKeys();
  const pem = { format: 'pem', type: 'pkcs8' } as const;
  return {
    apnsKey: apple.publicKey,
    fcmKey: google.publicKey,
    apns: { key_id: 'KEYID12345', team_id: 'TEAMID1234', topic: 'org.example.app', private_key: apple.privateKey.export(pem).toString() },
    fcm: {
      type: 'service_account',
      project_id: 'example-project',
      private_key_id: '0123456789abcdef',
      client_email: 'push@example-project.iam.gserviceaccount.com',
      private_key: google.privateKey.export(pem).toString(),
      token_uri: 'https://attacker.example/token',
    },
  };
}

async function read(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

// The other side of whole code flows, in its own process: N browsers with a relying party each, over keep-alive connections.
// Started by code-flow.ts with its job as JSON in argv; prints `{"flows": n, "seconds": s}`.
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { emailOf, type FlowJob } from './flow-job.ts';

const job: FlowJob = JSON.parse(process.argv[2]!);
const agent = new Agent({ keepAlive: true, maxSockets: 128 });

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  readonly cookies: readonly string[];
  readonly body: string;
}

function call(method: string, url: string, headers: Readonly<Record<string, string>>, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method, agent, headers: { ...headers, ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }) } },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk: string) => {
          text += chunk;
        });
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            location: incoming.headers.location,
            cookies: (incoming.headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0]!),
            body: text,
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function flow(email: string): Promise<void> {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: job.clientId,
    redirect_uri: job.redirectUri,
    scope: 'openid email',
    state: 's',
    nonce: 'n',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const started = await call('GET', `${job.authorizeUrl}?${query}`, {});
  const callback = await signIn(started, email);
  const code = new URL(callback).searchParams.get('code');
  if (code === null) throw new Error(`no code in ${callback}`);
  const tokens = await call(
    'POST',
    job.tokenUrl,
    form,
    new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: job.redirectUri,
      code_verifier: verifier,
      client_id: job.clientId,
      client_secret: job.clientSecret,
    }).toString(),
  );
  if (tokens.status !== 200 || !tokens.body.includes('id_token')) throw new Error(`token: ${tokens.status} ${tokens.body}`);
}

async function signIn(started: Answer, email: string): Promise<string> {
  if (started.location === undefined) throw new Error(`authorize: ${started.status} ${started.body}`);
  const login = new URL(started.location, job.authorizeUrl).href;
  const headers = { ...form, accept: 'application/json', cookie: started.cookies.join('; ') };
  await call('POST', `${login}/identify`, headers, new URLSearchParams({ identifier: email }).toString());
  const pin = await readPin(email);
  const verified = await call('POST', `${login}/pin`, headers, new URLSearchParams({ pin }).toString());
  if (verified.status !== 200) throw new Error(`pin: ${verified.status} ${verified.body}`);
  const finished = await call('POST', `${login}/finish`, headers, '');
  return (JSON.parse(finished.body) as { redirect_to: string }).redirect_to;
}

/** Messages read before, by mailbox: a person reads the new mail only. */
const lastRead = new Map<string, string>();

async function readPin(email: string): Promise<string> {
  const after = lastRead.get(email);
  const query = new URLSearchParams({ to: email, ...(after === undefined ? {} : { after }) });
  const outbox = await call('GET', `${job.outboxUrl}?${query}`, { authorization: `Bearer ${job.operatorToken}` });
  const { messages } = JSON.parse(outbox.body) as { messages: { id: string; text: string }[] };
  const message = messages.at(-1);
  if (message !== undefined) lastRead.set(email, message.id);
  return /\b\d{6}\b/.exec(message?.text ?? '')?.[0] ?? '';
}

const until = Date.now() + job.seconds * 1000;
const startedAt = Date.now();
let flows = 0;
await Promise.all(
  Array.from({ length: job.connections }, async (_item, connection) => {
    // Each connection has people of its own and takes them in turn: a mailbox gets at most one PIN a second.
    const own = Math.floor(job.people / job.connections);
    for (let turn = 0; Date.now() < until; turn += 1) {
      await flow(emailOf(connection + (turn % own) * job.connections));
      flows += 1;
    }
  }),
);
console.log(JSON.stringify({ flows, seconds: (Date.now() - startedAt) / 1000 }));
process.exit(0);

// E16: whether the clock tells a known person or client from an unknown one. Interleaved pairs in random order; the figure is
// the AUC of telling them apart by latency (0.5: chance), with the upper end of its 95 % interval against the bar.
import { Agent, request } from 'node:http';
import { startGatehouse } from './process.ts';
import { createParty, createUser, type Party } from './sign-in.ts';
import type { Bench, Figure } from './table.ts';
import { createTenant } from './tenant.ts';

const pairs = 2000;
const warmUpPairs = 200;
const people = 250;
const bar = 0.55;

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ms: number;
}

/** One socket, kept open: what is measured is the server, not connecting to it. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

function send(url: string, method: string, headers: Readonly<Record<string, string>>, body = ''): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now();
    const call = request(url, { method, agent, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, ms: performance.now() - startedAt }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

export const timing: Bench = async () => {
  const gatehouse = await startGatehouse();
  try {
    const party = await createParty(await createTenant(gatehouse));
    for (let index = 0; index < people; index += 1) await createUser(party.tenant, nameOf('known', index));
    return [
      await compare('person at identify, PIN mailed', (kind, index) => timeIdentify(party, nameOf(kind, index % people))),
      await compare('client with a wrong secret', (kind) => timeClient(party, kind)),
    ];
  } finally {
    await gatehouse.stop();
    agent.destroy();
  }
};

type Kind = 'known' | 'unknown';

const nameOf = (kind: Kind, index: number): string =>
  `${kind === 'known' ? 'person' : 'nobody'}-${String(index).padStart(4, '0')}@people.example`;

/** Starts a sign-in untimed, then times the step that looks the person up and mails the PIN (or nothing). */
async function timeIdentify(party: Party, identifier: string): Promise<number> {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: party.clientId,
    redirect_uri: party.redirectUri,
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const started = await send(`${party.tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, 'GET', {});
  const cookie = [started.headers['set-cookie'] ?? []]
    .flat()
    .map((line) => line.split(';', 1)[0])
    .join('; ');
  const headers = { accept: 'application/json', 'content-type': 'application/json', cookie };
  const answer = await send(`${String(started.headers['location'])}/identify`, 'POST', headers, JSON.stringify({ identifier }));
  if (answer.status !== 200) throw new Error(`identify answered ${answer.status}`);
  return answer.ms;
}

async function timeClient(party: Party, kind: Kind): Promise<number> {
  const clientId = kind === 'known' ? party.clientId : 'AAAAAAAAAAAAAAAAAAAAAA';
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: 'wrong'.repeat(8) });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await send(`${party.tenant.baseUrl}/v1/idp/oidc/token`, 'POST', headers, body.toString());
  if (answer.status !== 401) throw new Error(`token answered ${answer.status}`);
  return answer.ms;
}

async function compare(what: string, time: (kind: Kind, index: number) => Promise<number>): Promise<Figure> {
  const known: number[] = [];
  const unknown: number[] = [];
  for (let pair = -warmUpPairs; pair < pairs; pair += 1) {
    const order: readonly Kind[] = Math.random() < 0.5 ? ['known', 'unknown'] : ['unknown', 'known'];
    for (const kind of order) {
      const ms = await time(kind, pair + warmUpPairs);
      if (pair >= 0) (kind === 'known' ? known : unknown).push(ms);
    }
  }
  const { auc, upper } = areaUnderCurve(known, unknown);
  const middle = (values: readonly number[]): number => values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
  return {
    id: 'E16',
    what: `AUC of known against unknown: ${what}`,
    value: upper,
    unit: 'upper',
    bar: `<= ${bar}`,
    met: upper <= bar,
    more: { auc, known_ms: middle(known), unknown_ms: middle(unknown), pairs },
  };
}

/** Mann-Whitney AUC, folded to at least 0.5, and the upper end of its 95 % interval (Hanley and McNeil 1982). */
function areaUnderCurve(left: readonly number[], right: readonly number[]): { readonly auc: number; readonly upper: number } {
  const ranked = [...left.map((ms) => ({ ms, isLeft: true })), ...right.map((ms) => ({ ms, isLeft: false }))].sort((a, b) => a.ms - b.ms);
  let rankSum = 0;
  ranked.forEach(({ isLeft }, index) => {
    if (isLeft) rankSum += index + 1;
  });
  const [n, m] = [left.length, right.length];
  const raw = (rankSum - (n * (n + 1)) / 2) / (n * m);
  const auc = Math.max(raw, 1 - raw);
  const q1 = auc / (2 - auc);
  const q2 = (2 * auc * auc) / (1 + auc);
  const error = Math.sqrt((auc * (1 - auc) + (n - 1) * (q1 - auc * auc) + (m - 1) * (q2 - auc * auc)) / (n * m));
  return { auc, upper: auc + 1.96 * error };
}

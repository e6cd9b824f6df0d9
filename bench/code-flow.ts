// P3: the whole code flow with PKCE: authorize, identify, mailed PIN, finish, exchange with an RS256 ID token, each step durable.
// Its processor time in RSA-2048 signatures of the same machine. Reading the outbox, which no deployment does, is in it.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { emailOf, type FlowJob } from './flow-job.ts';
import { type GatehouseProcess, root, startGatehouse } from './process.ts';
import { createParty, createUser } from './sign-in.ts';
import { callsOfSignIn } from './sign-in-calls.ts';
import { type Bench, interleave, ownCpuMs } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 24;
const people = 150 * connections;
const signaturesMax = 5;

export const codeFlow: Bench = async () => {
  const gatehouse = await startGatehouse();
  try {
    const tenant = await createTenant(gatehouse);
    const { clientId, clientSecret, redirectUri } = await createParty(tenant);
    for (let index = 0; index < people; index += 1) await createUser(tenant, emailOf(index));
    const job: FlowJob = {
      authorizeUrl: `${tenant.baseUrl}/v1/idp/oidc/authorize`,
      tokenUrl: `${tenant.baseUrl}/v1/idp/oidc/token`,
      clientId,
      clientSecret,
      redirectUri,
      people,
      connections,
      outboxUrl: `${gatehouse.url}/v1/system/outbox`,
      operatorToken: gatehouse.operatorToken,
      seconds,
    };
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const data = Buffer.alloc(600, 'x');
    const contenders = {
      ours: () => flowCost(gatehouse, job),
      rsa: async () => ({ cpuMs: await ownCpuMs(1000, () => sign('sha256', data, privateKey)), rate: 0 }),
    };
    await interleave(1, contenders);
    const { ours, rsa } = await interleave(rounds, contenders);
    const value = ours.cpuMs / rsa.cpuMs;
    const more = { flow_ms: ours.cpuMs, rsa_ms: rsa.cpuMs, flows_per_second: ours.rate };
    const met = value <= signaturesMax;
    return [
      { id: 'P3', what: 'code flow with mailed PIN, in RSA-2048 signatures', value, unit: 'x', bar: `<= ${signaturesMax}`, met, more },
      ...(await callsOfSignIn()),
    ];
  } finally {
    await gatehouse.stop();
  }
};

async function flowCost(gatehouse: GatehouseProcess, job: FlowJob): Promise<{ readonly cpuMs: number; readonly rate: number }> {
  const before = gatehouse.cpuMs();
  const { flows, seconds: taken } = await drive(job);
  return { cpuMs: (gatehouse.cpuMs() - before) / flows, rate: flows / taken };
}

function drive(job: FlowJob): Promise<{ readonly flows: number; readonly seconds: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(root, 'bench', 'flow-driver.ts'), JSON.stringify(job)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`the flow driver ended with ${code}`))));
  });
}

// P3: the whole code flow with PKCE, login step, exchange and an RS256 ID token, against oidc-provider with a stub login,
// and against the raw RSA-2048 signing rate of the same machine.
import { spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import type { FlowJob } from './flow-driver.ts';
import { root, startGatehouse, startPeer } from './process.ts';
import { createParty, createUser } from './sign-in.ts';
import { type Bench, interleave, ratio } from './table.ts';
import { createTenant } from './tenant.ts';

const rounds = 5;
const seconds = 4;
const connections = 24;
const people = 60 * connections;

export const codeFlow: Bench = async () => {
  const [gatehouse, provider] = [await startGatehouse(), await startPeer('oidc-provider')];
  try {
    const tenant = await createTenant(gatehouse);
    const party = await createParty(tenant);
    const emails = Array.from({ length: people }, (_item, index) => `person-${index}@bench.example`);
    for (const email of emails) await createUser(tenant, email);
    const ours: FlowJob = {
      kind: 'gatehouse',
      authorizeUrl: `${tenant.baseUrl}/v1/idp/oidc/authorize`,
      tokenUrl: `${tenant.baseUrl}/v1/idp/oidc/token`,
      clientId: party.clientId,
      clientSecret: party.clientSecret,
      redirectUri: party.redirectUri,
      emails,
      connections,
      outboxUrl: `${gatehouse.url}/v1/system/outbox`,
      operatorToken: gatehouse.operatorToken,
      seconds,
    };
    const theirs: FlowJob = {
      kind: 'oidc-provider',
      authorizeUrl: `${provider.url}/auth`,
      tokenUrl: `${provider.url}/token`,
      clientId: 'party',
      clientSecret: 'party-secret-party-secret-party-secret-party',
      redirectUri: 'https://party.example/callback',
      emails,
      connections,
      seconds,
    };
    const contenders = {
      ours: () => flowsPerSecond(ours),
      provider: () => flowsPerSecond(theirs),
      rsa: async () => rsaSignaturesPerSecond(),
    };
    await interleave(1, contenders);
    const rates = await interleave(rounds, contenders);
    return [
      ratio('P3', 'code flow over oidc-provider', rates.ours / rates.provider, 3, { ours: rates.ours, peer: rates.provider }),
      ratio('P3', 'code flow over raw RSA-2048 signing', rates.ours / rates.rsa, 0.6, { ours: rates.ours, rsa: rates.rsa }),
    ];
  } finally {
    await Promise.all([gatehouse.stop(), provider.stop()]);
  }
};

function flowsPerSecond(job: FlowJob): Promise<number> {
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
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`the flow driver ended with ${code}`));
      const { flows, seconds: taken } = JSON.parse(text) as { flows: number; seconds: number };
      resolve(flows / taken);
    });
  });
}

function rsaSignaturesPerSecond(): number {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const data = Buffer.alloc(600, 'x');
  const startedAt = performance.now();
  let count = 0;
  for (; performance.now() - startedAt < 1000; count += 1) sign('sha256', data, privateKey);
  return count / ((performance.now() - startedAt) / 1000);
}

// `npm run bench [name …]`: runs the benchmarks, prints the figures of each as it ends, writes bench/results/<name>.json.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root } from './process.ts';
import { type Bench, ownCpuMs, printTable } from './table.ts';

const benches: Readonly<Record<string, () => Promise<Bench>>> = {
  startup: async () => (await import('./startup.ts')).startup,
  'client-credentials': async () => (await import('./client-credentials.ts')).clientCredentials,
  introspection: async () => (await import('./introspection.ts')).introspection,
  'code-flow': async () => (await import('./code-flow.ts')).codeFlow,
  refresh: async () => (await import('./refresh.ts')).refresh,
  scim: async () => (await import('./scim.ts')).scim,
  saml: async () => (await import('./saml.ts')).saml,
  workers: async () => (await import('./workers.ts')).workers,
  mappings: async () => (await import('./mappings.ts')).mappings,
  'token-hook': async () => (await import('./token-hook.ts')).tokenHook,
  neighbour: async () => (await import('./neighbour.ts')).neighbour,
  webhooks: async () => (await import('./webhooks.ts')).webhooks,
  'outbound-scim': async () => (await import('./outbound-scim.ts')).outboundScim,
  directories: async () => (await import('./directories.ts')).directoriesBench,
  organizations: async () => (await import('./organizations.ts')).organizationsBench,
  device: async () => (await import('./device.ts')).device,
  'phone-page': async () => (await import('./phone-page.ts')).phonePage,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`expected names out of ${Object.keys(benches).join(', ')}, found ${unknown.join(', ')}`);
  process.exit(2);
}
const results = join(root, 'bench', 'results');
mkdirSync(results, { recursive: true });
const own = await ownSpeed();
console.error(
  `this machine: ${Object.entries(own)
    .map(([name, ms]) => `${name} ${ms.toPrecision(3)} ms`)
    .join(', ')}`,
);
for (const [name, load] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.error(`measuring ${name} …`);
  const beganMs = performance.now();
  const figures = await (await load())();
  printTable(figures); // at once: a run that is stopped has told what it measured
  console.error(`  ${Math.round((performance.now() - beganMs) / 1000)} s`);
  if (figures.length === 0) continue;
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, ...own };
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}

/** How fast this machine is by itself, in milliseconds (the start by the clock): most bars are ratios to one of these. */
async function ownSpeed(): Promise<Readonly<Record<string, number>>> {
  const data = Buffer.alloc(600, 'x');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const timed = (count: number, key: KeyObject): Promise<number> => ownCpuMs(count, () => sign('sha256', data, key));
  await timed(200, rsa);
  const [rsaMs, ecMs] = [await timed(1000, rsa), await timed(5000, ec)];
  const startedAt = performance.now();
  for (let run = 0; run < 5; run += 1) spawnSync(process.execPath, ['-e', '0']);
  return { 'RSA-2048 signature': rsaMs, 'ES256 signature': ecMs, 'start of bare Node': (performance.now() - startedAt) / 5 };
}

// `npm run bench [name …]`: runs the benchmarks, prints a table, writes bench/results/<name>.json.
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root } from './process.ts';
import { type Bench, type Figure, printTable } from './table.ts';

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
const all: Figure[] = [];
for (const [name, load] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.error(`measuring ${name} …`);
  const figures = await (await load())();
  all.push(...figures);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length };
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify({ machine, figures }, null, 2)}\n`);
}
printTable(all);

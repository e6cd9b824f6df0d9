// What a start loads, by groups of modules, each with its budget: whoever makes a start load more says so here.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root, startGatehouse } from './process.ts';

interface Group {
  readonly name: string;
  readonly modules: number;
  readonly kib: number;
  /** The most modules a start may load of it. */
  readonly budget: number;
}

/** What is none of these is of the last group. Fastify and Pino count with what they bring. */
const groups: readonly (readonly [name: string, budget: number, packages: RegExp])[] = [
  ['storage', 186, /\/src\/storage\//],
  ['domain', 85, /\/src\/domain\//],
  ['oidc and tokens', 85, /\/src\/(oidc|tokens)\//],
  ['sign-in and approvals', 70, /\/src\/(sign-in|approvals)\//],
  ['scim', 55, /\/src\/scim\//],
  ['saml and federation', 32, /\/src\/(saml|federation)\//],
  ['device', 38, /\/src\/device\//],
  ['platform, http, crypto', 110, /\/src\/(platform|http|crypto)\//],
  ['the rest of ours', 162, /\/src\//],
  ['Kysely', 265, /\/kysely\//],
  ['Fastify', 135, /\/(fastify|avvio|find-my-way|ret|semver|fast-[a-z-]+|@fastify\/[a-z-]+|fastq|reusify|rfdc|safe-regex2)\//],
  ['rate-limiter-flexible', 38, /\/rate-limiter-flexible\//],
  ['Pino', 28, /\/(pino|pino-std-serializers|thread-stream|sonic-boom|@pinojs\/redact)\//],
  ['Node’s own', 80, /^node:/],
  ['other libraries', 35, /./],
];

/** Starts a server on that folder and says what it had loaded when it was ready to be stopped. */
export async function modulesOfStart(folder: string): Promise<readonly Group[]> {
  const noted = join(folder, 'modules.json');
  const hook = pathToFileURL(join(root, 'bench', 'note-modules.mjs')).href;
  const gatehouse = await startGatehouse(folder, { NODE_OPTIONS: `--import=${hook}`, NOTED_MODULES: noted });
  await gatehouse.stop();
  const loaded = JSON.parse(readFileSync(noted, 'utf8')) as readonly { readonly url: string; readonly bytes: number }[]; // note-modules.mjs
  rmSync(noted);
  const byGroup = Map.groupBy(loaded, ({ url }) => groups.find(([, , has]) => has.test(ofPackage(url)))![0]);
  return groups.map(([name, budget]) => {
    const of = byGroup.get(name) ?? [];
    return { name, budget, modules: of.length, kib: of.reduce((sum, { bytes }) => sum + bytes, 0) / 1024 };
  });
}

/** A package's own address, wherever it is installed: its folder may be below another's. */
const ofPackage = (url: string): string => url.slice(Math.max(0, url.lastIndexOf('/node_modules/')));

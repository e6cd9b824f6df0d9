// The routers of docs/how-to/tenant-groups.md in front of two groups, as real programs: each reads its configuration as the document has
// it and the map that `gatehouse group map` wrote. Only addresses and TLS are changed.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blocksOf } from './documents.ts';
import { findJudge } from './judge-binaries.ts';
import { nginx, spawnNginx, takesConnections } from './nginx.ts';

export interface RouterPlace {
  readonly port: number;
  /** Host and port of the first and the second group. */
  readonly groups: readonly [string, string];
  /** The text of the map. */
  readonly map: string;
}

export interface RouterProgram {
  readonly format: 'nginx' | 'caddy' | 'haproxy';
  readonly start: (folder: string, place: RouterPlace) => ChildProcess;
  /** What it says of a configuration without running it; undefined: nothing against it. */
  readonly judge: (folder: string, place: RouterPlace) => string | undefined;
}

const document = 'docs/how-to/tenant-groups.md';
const blockOf = (language: string, { groups: [first, second] }: RouterPlace): string =>
  blocksOf(document)
    .find((block) => block.language === language)!
    .text.replaceAll('10.0.1.10:8080', first)
    .replaceAll('10.0.2.10:8080', second);

function nginxSite(folder: string, place: RouterPlace): string {
  const map = join(folder, 'groups.conf');
  writeFileSync(map, place.map);
  return blockOf('nginx', place)
    .replace('/etc/nginx/gatehouse-groups.conf', map)
    .replace('listen 443 ssl http2 default_server;', `listen 127.0.0.1:${place.port};`)
    .replace(/^ *ssl_certificate.*\n/gm, '');
}

function caddyFile(folder: string, place: RouterPlace): string {
  const [map, file] = [join(folder, 'groups.caddy'), join(folder, 'Caddyfile')];
  writeFileSync(map, place.map);
  const site = blockOf('caddyfile', place)
    .replace('/etc/caddy/gatehouse-groups.caddy', map)
    .replace('id.example.com, login.acme.example {', `http://:${place.port} {\n\tbind 127.0.0.1`);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  return file;
}

function haproxyFile(folder: string, place: RouterPlace): string {
  const [map, file] = [join(folder, 'groups.map'), join(folder, 'haproxy.cfg')];
  writeFileSync(map, place.map);
  const site = blockOf('haproxy', place)
    .replaceAll('/etc/haproxy/gatehouse-groups.map', map)
    .replace('bind :443 ssl crt /etc/haproxy/certs/', `bind 127.0.0.1:${place.port}`);
  writeFileSync(file, `defaults\n    timeout connect 5s\n    timeout client 60s\n    timeout server 60s\n${site}`);
  return file;
}

const caddy = findJudge('caddy');
const haproxy = findJudge('haproxy');
const saidBy = (command: string, args: readonly string[]): string | undefined => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: tmpdir() } });
  return status === 0 ? undefined : `${stdout}${stderr}`;
};
const stdio = ['ignore', 'ignore', 'pipe'] as const;

export const routerPrograms: readonly RouterProgram[] = [
  ...(nginx === undefined
    ? []
    : [
        {
          format: 'nginx',
          start: (folder, place) => spawnNginx(folder, nginxSite(folder, place)),
          judge: (folder, place) => {
            const file = join(folder, 'nginx.conf');
            writeFileSync(file, `pid ${folder}/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${nginxSite(folder, place)}}\n`);
            return saidBy(nginx!, ['-t', '-p', folder, '-e', 'stderr', '-c', file]);
          },
        } satisfies RouterProgram,
      ]),
  ...(caddy === undefined
    ? []
    : [
        {
          format: 'caddy',
          start: (folder, place) =>
            spawn(caddy, ['run', '--adapter', 'caddyfile', '--config', caddyFile(folder, place)], {
              env: { PATH: process.env['PATH'], HOME: folder },
              stdio: [...stdio],
            }),
          judge: (folder, place) => saidBy(caddy, ['validate', '--adapter', 'caddyfile', '--config', caddyFile(folder, place)]),
        } satisfies RouterProgram,
      ]),
  ...(haproxy === undefined
    ? []
    : [
        {
          format: 'haproxy',
          start: (folder, place) => spawn(haproxy, ['-db', '-f', haproxyFile(folder, place)], { stdio: [...stdio] }),
          judge: (folder, place) => saidBy(haproxy, ['-c', '-f', haproxyFile(folder, place)]),
        } satisfies RouterProgram,
      ]),
];

/** Runs a router until `stop`. */
export async function startRouterProgram(program: RouterProgram, place: RouterPlace): Promise<{ readonly stop: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-router-'));
  const child = program.start(folder, place);
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  if (!(await takesConnections(child, place.port))) throw new Error(`${program.format}: ${said}`);
  return {
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

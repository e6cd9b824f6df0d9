// A real nginx of a test's own, in front of servers under test. Where it is not installed tests that need it are not defined, unless
// GATEHOUSE_TEST_REQUIRE names it.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findJudge } from './judge-binaries.ts';

export const nginx = findJudge('nginx');

/** Starts it with what stands in `http {}`; all its files are in the folder. */
export function spawnNginx(folder: string, site: string): ChildProcess {
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n');
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${paths}\n${site}}\n`,
  );
  return spawn(nginx!, ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Resolves with true when the port takes connections, with false when the process ends first. */
export async function takesConnections(child: ChildProcess, port: number): Promise<boolean> {
  while (child.exitCode === null) {
    const connected = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (connected) return true;
    await wait(20);
  }
  return false;
}

export interface Nginx {
  /** What it said of errors. */
  readonly said: () => string;
  readonly stop: () => Promise<void>;
}

/** An nginx that listens at the port, which `site` names. */
export async function startNginx(site: string, port: number): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const child = spawnNginx(folder, site);
  let said = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  if (!(await takesConnections(child, port))) throw new Error(`nginx: ${said}`);
  return {
    said: () => said,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// After an install: starts the server once in a throw-away folder and stops it, so that Node's compile cache is filled and
// the first real start is as quick as every other. A failure here costs only that and never fails the install.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const timeoutMs = 20_000;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-warm-'));
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_')));
const server = spawn(join(root, 'bin', 'gatehouse'), ['serve', '--listen', '127.0.0.1:0', '--data', folder], {
  cwd: folder,
  env: environment,
  stdio: ['ignore', 'pipe', 'ignore'],
});
const timer = setTimeout(() => server.kill('SIGKILL'), timeoutMs);
server.stdout.once('data', () => server.kill('SIGTERM'));
server.once('error', () => undefined);
server.once('close', () => {
  clearTimeout(timer);
  rmSync(folder, { recursive: true, force: true });
});

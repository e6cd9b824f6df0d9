// P8: from the start of the process to the ready line, on a new folder and on existing data, and memory when idle,
// beside a Node process that does nothing; and the modules a start loads, by groups.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startGatehouse } from './process.ts';
import { modulesOfStart } from './start-modules.ts';
import { atMost, type Bench, type Figure, median } from './table.ts';

const turns = 5;
const idleMs = 2000;

export const startup: Bench = async () => {
  const first: number[] = [];
  const existing: number[] = [];
  const memory: number[] = [];
  const bare: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
    bare.push(await bareNodeMs());
    const fresh = await startGatehouse(folder);
    first.push(fresh.readyMs);
    await fresh.stop();
    const again = await startGatehouse(folder);
    existing.push(again.readyMs);
    await wait(idleMs);
    memory.push(again.residentMib());
    await again.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return [
    atMost('P8', 'first start to ready', median(first), 'ms', 1500),
    atMost('P8', 'start on existing data to ready', median(existing), 'ms', 700),
    atMost('P8', 'resident memory idle', median(memory), 'MiB', 110),
    { id: 'P8', what: 'a bare Node process from start to end', value: median(bare), unit: 'ms' },
    ...(await loadedModules()),
  ];
};

async function loadedModules(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  await (await startGatehouse(folder)).stop();
  const groups = await modulesOfStart(folder);
  rmSync(folder, { recursive: true, force: true });
  return groups.map(({ name, modules, kib, budget }) => ({
    ...atMost('P8', `loaded at a start: ${name}`, modules, 'modules', budget + 1),
    more: { KiB: kib },
  }));
}

async function bareNodeMs(): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await new Promise((done) => child.once('exit', done));
  return performance.now() - startedAt;
}

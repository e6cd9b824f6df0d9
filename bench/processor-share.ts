// Holds processes to a share of a core, as a container's quota does, so that a machine whose cores others use still says what more
// processes would give: a process that has used its share is stopped until its time has come (SIGSTOP, SIGCONT).
import { cpuMs } from './process.ts';

const everyMs = 4;

export interface Held {
  /** Lets them go; gives the share of a core each used. */
  readonly release: () => readonly number[];
}

/** @param share of one core, above 0 and at most 1, for each of the processes */
export function holdToShare(pids: readonly number[], share: number): Held {
  const startedAt = performance.now();
  const before = pids.map(cpuMs);
  const isStopped = pids.map(() => false);
  const look = (): void => {
    const allowedMs = (performance.now() - startedAt) * share;
    for (const [index, pid] of pids.entries()) {
      const isOver = cpuMs(pid) - before[index]! > allowedMs;
      if (isOver !== isStopped[index]) process.kill(pid, isOver ? 'SIGSTOP' : 'SIGCONT');
      isStopped[index] = isOver;
    }
  };
  const timer = setInterval(look, everyMs);
  return {
    release: () => {
      clearInterval(timer);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      const tookMs = performance.now() - startedAt;
      return pids.map((pid, index) => (cpuMs(pid) - before[index]!) / tookMs);
    },
  };
}

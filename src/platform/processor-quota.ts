// How many cores a process may use: those there are, and of them what the quota of its container allows. Node asks for quotas too, but
// not where the first version of cgroups has `cpu` in a hierarchy of its own.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

/** Where Linux tells a process its groups, and where the groups are. Elsewhere there is no such file, and no quota. */
interface CgroupPlace {
  readonly groupsFile: string;
  readonly mountedAt: string;
}

const ownPlace: CgroupPlace = { groupsFile: '/proc/self/cgroup', mountedAt: '/sys/fs/cgroup' };

/** Whole cores, at least one. */
export function usableCores(place: CgroupPlace = ownPlace): number {
  return Math.max(1, Math.floor(Math.min(availableParallelism(), findQuota(place) ?? Number.POSITIVE_INFINITY)));
}

/** The least quota of the groups a process is in, in cores; undefined when none of them has one. */
export function findQuota({ groupsFile, mountedAt }: CgroupPlace): number | undefined {
  const quotas = (read(groupsFile) ?? '').split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    if (controllers === '') return above(path).map((group) => readVersion2(join(mountedAt, group)));
    return controllers.split(',').includes('cpu') ? above(path).map((group) => readVersion1(join(mountedAt, controllers, group))) : [];
  });
  const found = quotas.filter((quota) => quota !== undefined);
  return found.length === 0 ? undefined : Math.min(...found);
}

/** The group and those it is in, up to the root: in a container the path may be that of its host, of which only the root is there. */
const above = (path: string): readonly string[] => (path === '/' ? ['/'] : [path, ...above(dirname(path))]);

/** `cpu.max`: a quota and its period in microseconds; `max` is none. */
function readVersion2(folder: string): number | undefined {
  const [quota, period] = (read(join(folder, 'cpu.max')) ?? '').trim().split(' ').map(Number);
  return ratioOf(quota, period);
}

/** A quota of -1 is none. */
function readVersion1(folder: string): number | undefined {
  const [quota, period] = ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((file) => Number(read(join(folder, file))));
  return ratioOf(quota, period);
}

const ratioOf = (quota: number | undefined, period: number | undefined): number | undefined =>
  quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : undefined;

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // no such group here, or no Linux
  }
}

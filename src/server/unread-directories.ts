// Stands where the runs of directories of LDAP are made: nothing is read yet, and whoever asks is told so.
import { type Directories, type DirectoryFailure, type DirectoryPlan, plannedCounts } from '../domain/extending/directory-runs.ts';

const failure: DirectoryFailure = { reason: 'unreachable', detail: 'directories are not read yet' };
const counts = Object.fromEntries(plannedCounts.map((name) => [name, 0])) as DirectoryPlan['counts']; // each of them

export const unreadDirectories: Directories = {
  begin: async () => undefined,
  plan: async () => ({ counts, differences: [], complete: false, failure }),
  test: async () => ({ failure, people: [] }),
  settled: async () => undefined,
  stop: async () => undefined,
};

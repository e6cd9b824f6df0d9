// The map of a router as it is when a tenant has moved. It is written before the tenant is open at its new group, and put back if it
// never is: until then nobody serves it, whichever way the router sends.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { replaceFile } from '../../platform/replace-file.ts';
import { usage } from '../failure.ts';
import { mapMode, openGroups } from '../groups/group.ts';
import { readGroups } from '../groups/group-calls.ts';
import { loadMap } from '../groups/group-tenants.ts';
import { type RouterFormat, writeMap } from '../groups/router-formats.ts';
import type { Options } from '../registry/administrator.ts';

export interface MoveMap {
  readonly file: string;
  /** Writes the map with the tenant at the group that it moves to. @throws CommandFailure */
  readonly write: () => Promise<void>;
  /** Writes it again where somebody else has written it meanwhile, who knew nothing of the tenant's new place. @throws CommandFailure */
  readonly keep: () => Promise<void>;
  /** Puts back what was there, unless somebody has written it since. */
  readonly putBack: () => void;
}

/** The map that flags ask for, if they do; each group answers. @throws CommandFailure */
export async function prepareMap(options: Options, tenantId: string, to: string): Promise<MoveMap | undefined> {
  const { map: given, format } = options;
  const groups = readGroups(options);
  if (given === undefined) {
    if (groups.length > 0 || format !== undefined) throw usage('--group and --format: expected --map <file> with them, found none');
    return undefined;
  }
  if (format === undefined) throw usage('--map: expected --format with it, found none. Try: --format nginx');
  if (!groups.some(({ url }) => url === to)) throw usage(`--to: expected the address of one of the groups, found ${to}`);
  const file = String(given);
  const callers = await openGroups(options, groups);
  await loadMap(callers);
  const read = (): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  let before: string | undefined;
  let written: string | undefined;
  const write = async (): Promise<void> => {
    const map = await loadMap(callers, (tenant, { group }) =>
      group.url === to && tenant.id === tenantId ? { ...tenant, moving: null } : tenant,
    );
    const text = writeMap(format as RouterFormat, map); // one of the choices
    before = read();
    replaceFile(file, text, mapMode);
    written = text;
  };
  return {
    file,
    write,
    keep: async () => {
      if (read() !== written) await write();
    },
    putBack: () => {
      if (written === undefined || read() !== written) return; // what somebody wrote since has this tenant where it is
      if (before === undefined) rmSync(file, { force: true });
      else replaceFile(file, before, mapMode);
    },
  };
}

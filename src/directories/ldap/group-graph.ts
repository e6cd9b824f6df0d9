// Groups and who is in them, of a whole directory: names once, members as numbers, so that millions of memberships are megabytes. Groups within
// groups are followed 5 deep, each once, so that circles end. Pure but for what it holds.
import { directoryNestingMax } from '../../contract/directory-limits.ts';
import type { DirectoryFault } from '../reading.ts';
import type { Known } from './entry.ts';
import { faultOf } from './faults.ts';

interface Group extends Known {
  readonly name: string;
  readonly members: Uint32Array;
}

export interface GroupGraph {
  /** @param members as their names are compared @throws DirectoryFault for too many */
  readonly add: (group: Known & { readonly name: string }, members: Iterable<string>) => void;
  readonly groups: () => Iterable<Group>;
  /** @throws DirectoryFault for too many */
  readonly membersOf: (group: Group) => Flattened;
}

interface Flattened {
  /** Who is no group of these, each once. */
  readonly members: readonly string[];
  /** Itself and those within it, as their names are compared. */
  readonly groups: readonly string[];
}

export function createGroupGraph(most: { readonly members: number; readonly nestedMembers: number }): GroupGraph {
  const numbers = new Map<string, number>();
  const names: string[] = [];
  /** By the number of its name. */
  const groups = new Map<number, Group>();
  let [memberships, followed] = [0, 0];
  // In which flattening each name was seen last.
  let seen = new Uint32Array(0);
  let flattening = 0;
  const tooMany = (count: number): DirectoryFault => faultOf('too_many', `more than ${count} members of groups`);
  const numberOf = (name: string): number => {
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, names.length);
    return names.push(name) - 1;
  };
  return {
    add: (group, members) => {
      const own = new Set<number>();
      for (const member of members) {
        own.add(numberOf(member));
        if (memberships + own.size > most.members) throw tooMany(most.members);
      }
      memberships += own.size;
      groups.set(numberOf(group.dnKey), { ...group, members: Uint32Array.from(own) });
    },
    groups: () => groups.values(),
    membersOf: (group) => {
      if (seen.length < names.length) seen = new Uint32Array(names.length);
      flattening += 1;
      const found = { members: [] as string[], groups: [group.dnKey] };
      let level = [group];
      seen[numbers.get(group.dnKey)!] = flattening; // a group has its number
      for (let depth = 0; depth <= directoryNestingMax && level.length > 0; depth += 1) {
        const next: Group[] = [];
        for (const { members } of level) {
          if (level[0] !== group) followed += members.length;
          if (followed > most.nestedMembers) throw tooMany(most.nestedMembers);
          for (const member of members) {
            if (seen[member] === flattening) continue;
            seen[member] = flattening;
            const within = groups.get(member);
            if (within === undefined) found.members.push(names[member]!);
            else {
              next.push(within);
              if (depth < directoryNestingMax) found.groups.push(within.dnKey);
            }
          }
        }
        level = next;
      }
      return found;
    },
  };
}

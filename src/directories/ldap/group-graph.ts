// Groups and who is in them, of a whole directory: names once, members as numbers, so that millions of memberships are megabytes, and what is
// held is bounded whoever sends it. Groups within groups are followed 5 deep, each once, so that circles end.
import { directoryNestingMax } from '../../contract/directory-limits.ts';
import type { SkippedEntry } from '../reading.ts';
import type { Known } from './entry.ts';
import { faultOf } from './faults.ts';

interface Group extends Known {
  readonly name: string;
  readonly members: Uint32Array;
}

interface Flattened {
  /** Who is no group of these, each once. */
  readonly members: readonly string[];
  /** Itself and those within it, as their names are compared. */
  readonly groups: readonly string[];
}

export interface GroupGraph {
  /**
   * Adds a group; gives what adds members to it, as their names are compared. Those of one are added before the next is.
   * @throws DirectoryFault for too many
   */
  readonly add: (group: Known & { readonly name: string }) => (members: Iterable<string>) => void;
  /** @throws DirectoryFault for too many */
  readonly skip: (entry: SkippedEntry) => void;
  readonly skipped: () => readonly SkippedEntry[];
  readonly groups: () => Iterable<Group>;
  /** @throws DirectoryFault for too many */
  readonly membersOf: (group: Group) => Flattened;
}

interface GraphLimits {
  /** Of all groups. */
  readonly members: number;
  /** That groups have by others. */
  readonly nestedMembers: number;
  /** Different names of members and groups. */
  readonly names: number;
  /** Characters of all that is held. */
  readonly chars: number;
}

type Counted = keyof GraphLimits;
const counted: Readonly<Record<Counted, string>> = {
  members: 'members of groups',
  nestedMembers: 'members of groups by others',
  names: 'different members of groups',
  chars: 'characters in names of members and groups',
};

/** Counts what is held, to so much. */
function createCounter(most: GraphLimits): (what: Counted, count: number) => void {
  const counts: Record<Counted, number> = { members: 0, nestedMembers: 0, names: 0, chars: 0 };
  return (what, count) => {
    counts[what] += count;
    if (counts[what] > most[what]) throw faultOf('too_many', `more than ${most[what]} ${counted[what]}`);
  };
}

interface Names {
  readonly numberOf: (name: string) => number;
  readonly at: (number: number) => string;
  readonly count: () => number;
}

function createNames(count: ReturnType<typeof createCounter>): Names {
  const numbers = new Map<string, number>();
  const names: string[] = [];
  return {
    numberOf: (name) => {
      const known = numbers.get(name);
      if (known !== undefined) return known;
      count('names', 1);
      count('chars', name.length);
      numbers.set(name, names.length);
      return names.push(name) - 1;
    },
    at: (number) => names[number]!, // of a name that has it
    count: () => names.length,
  };
}

export function createGroupGraph(most: GraphLimits): GroupGraph {
  const count = createCounter(most);
  const names = createNames(count);
  /** By the number of its name. */
  const groups = new Map<number, Group>();
  const skipped: SkippedEntry[] = [];
  let endLast = (): void => undefined;
  // In which flattening each name was seen last.
  let seen = new Uint32Array(0);
  let flattening = 0;
  const levelBelow = (level: readonly Group[], found: string[]): Group[] => {
    const below: Group[] = [];
    for (const { members } of level)
      for (const member of members) {
        if (seen[member] === flattening) continue;
        seen[member] = flattening;
        const within = groups.get(member);
        if (within === undefined) found.push(names.at(member));
        else below.push(within);
      }
    return below;
  };
  return {
    add: (group) => {
      endLast();
      const { dn, dnKey, name, remoteId } = group;
      count('chars', dn.length + name.length + remoteId.length);
      const own = new Set<number>();
      const number = names.numberOf(dnKey);
      endLast = () => {
        groups.set(number, { ...group, members: Uint32Array.from(own) });
        own.clear();
      };
      return (members) => {
        for (const member of members) {
          const before = own.size;
          own.add(names.numberOf(member));
          count('members', own.size - before);
        }
      };
    },
    skip: (entry) => {
      count('chars', entry.dn.length + entry.dnKey.length);
      skipped.push(entry);
    },
    skipped: () => skipped,
    groups: () => {
      endLast();
      endLast = () => undefined;
      return groups.values();
    },
    membersOf: (group) => {
      if (seen.length < names.count()) seen = new Uint32Array(names.count());
      flattening += 1;
      seen[names.numberOf(group.dnKey)] = flattening;
      const members: string[] = [];
      const within = [group.dnKey];
      let level = levelBelow([group], members);
      for (let depth = 1; depth <= directoryNestingMax && level.length > 0; depth += 1) {
        for (const { dnKey, members: theirs } of level) {
          within.push(dnKey);
          count('nestedMembers', theirs.length);
        }
        level = levelBelow(level, members);
      }
      return { members, groups: within };
    },
  };
}

// Names that have no tenant, remembered so that asking again costs no look-up. Anybody can invent names, so they are bounded by
// number and by bytes, apart from the names that mean something; the one not asked for longest goes first.

interface UnknownNames {
  readonly has: (name: string) => boolean;
  readonly add: (name: string) => void;
  readonly clear: () => void;
}

export function createUnknownNames(namesMax: number, bytesMax: number): UnknownNames {
  const names = new Set<string>();
  let bytes = 0;
  const drop = (name: string): void => {
    if (names.delete(name)) bytes -= Buffer.byteLength(name);
  };
  const add = (name: string): void => {
    drop(name);
    names.add(name);
    bytes += Buffer.byteLength(name);
    while (names.size > namesMax || bytes > bytesMax) drop(names.values().next().value!);
  };
  return {
    has: (name) => {
      if (!names.has(name)) return false;
      add(name);
      return true;
    },
    add,
    clear: () => {
      names.clear();
      bytes = 0;
    },
  };
}

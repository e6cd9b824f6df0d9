// JSON of recorded answers without what is named.

/** JSON without members of these names, wherever they are and `which` says so of their values, and without their names in lists. */
export function withoutMembers(value: unknown, names: readonly string[], which: (value: unknown) => boolean = () => true): unknown {
  if (Array.isArray(value)) return value.filter((item) => !names.includes(item)).map((item) => withoutMembers(item, names, which));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]) => !(names.includes(name) && which(member)));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutMembers(member, names, which)]));
}

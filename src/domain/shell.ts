// Words of a POSIX shell, for lines that people copy. Pure.

/** A word of a line, which expands nothing in it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

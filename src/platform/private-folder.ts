// The data folder is its owner's alone: files 0600 in a folder 0700, whatever made them before. SQLite gives a journal the mode of its
// database, so a database that is private from its first byte keeps its journals private too.
import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const othersBits = 0o077;

/** Makes the folder, or takes from group and others what they may do with it and its files; what belongs to another user is left to it. */
export function makePrivate(folder: string): void {
  makeFolder(folder);
  for (const { path, mode } of wideIn(folder)) unlessImpossible(() => chmodSync(path, mode & ~othersBits));
}

/**
 * Makes a folder of mode 0700 with those above it; whether it was not there. Node's own way to do so tries for ever where what is above
 * takes no folders, as /proc does. @throws what the system says
 */
export function makeFolder(folder: string): boolean {
  if (existsSync(folder)) return false;
  const above = dirname(folder);
  if (above !== folder) makeFolder(above);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // another process was first
  }
  return true;
}

/** Makes an empty file of mode 0600 unless there is one: SQLite would make it as wide as the umask lets it. */
export function ensurePrivateFile(path: string): string {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  return path;
}

/** What of a folder somebody else than its owner may read or write, with its mode: `gatehouse.db 0644`. */
export function listWide(folder: string): readonly string[] {
  return wideIn(folder).map(({ name, mode }) => `${name} 0${mode.toString(8)}`);
}

interface Wide {
  readonly name: string;
  readonly path: string;
  readonly mode: number;
}

function wideIn(folder: string): readonly Wide[] {
  if (!existsSync(folder)) return [];
  const found: Wide[] = [];
  const look = (name: string, path: string, stats: Stats | undefined): void => {
    if (stats !== undefined && (stats.mode & othersBits) !== 0) found.push({ name, path, mode: stats.mode & 0o7777 });
  };
  look(folder, folder, statSync(folder));
  for (const name of unlessImpossible(() => readdirSync(folder)) ?? []) {
    const path = join(folder, name);
    const stats = lstatSync(path, { throwIfNoEntry: false }); // a link is not followed: what it names is not of this folder
    if (stats?.isFile() === true) look(name, path, stats);
  }
  return found;
}

/** A file that is gone by now, one of another user's, or a disk that is read only: whoever asks `doctor` hears of what stays wide. */
function unlessImpossible<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'EPERM', 'EACCES', 'EROFS', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

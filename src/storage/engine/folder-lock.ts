// The exclusive lock on a data folder (R10): an open exclusive transaction on a small database, which the operating system
// releases however the process ends. The pid beside it only serves the message for the second process.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ensurePrivateFile } from '../../platform/private-folder.ts';

class FolderLocked extends Error {
  constructor(folder: string, pid: string) {
    super(`the data folder ${folder} is in use by process ${pid}. Stop that process, or start this one with another --data folder`);
    this.name = 'FolderLocked';
  }
}

export interface FolderLock {
  readonly release: () => void;
}

/** Takes the lock or throws FolderLocked, naming the pid that holds it. */
export function lockFolder(folder: string): FolderLock {
  const pidFile = join(folder, 'serve.pid');
  const database = new DatabaseSync(ensurePrivateFile(join(folder, 'serve.lock')), { timeout: 0 });
  try {
    database.exec('PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch {
    database.close();
    throw new FolderLocked(folder, readPid(pidFile)); // what SQLite says of it adds nothing
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => database.close() };
}

function readPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, 'utf8').trim();
  } catch {
    return '(unknown)';
  }
}

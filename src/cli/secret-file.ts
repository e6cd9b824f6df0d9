// Files of secrets a command leaves behind, `NAME=value` a line, for `node --env-file`, a shell or a container: readable by their owner
// only, in a folder that git leaves alone.
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder } from '../platform/private-folder.ts';
import { usage } from './failure.ts';

/** Before anything is made whose secret is shown once. @throws CommandFailure when the file is there */
export function requireNewFile(file: string): void {
  if (existsSync(file)) throw usage(`--env: expected a file that is not there yet, found ${file}. Remove it, or name another`);
}

/** Writes the file; a folder that is made for it, or named `.gatehouse`, gets a `.gitignore` of everything. */
export function writeSecretFile(file: string, values: Readonly<Record<string, string>>): void {
  const folder = dirname(file);
  const isNew = makeFolder(folder);
  const ignore = join(folder, '.gitignore');
  if ((isNew || basename(folder) === '.gatehouse') && !existsSync(ignore)) writeFileSync(ignore, '*\n');
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(file, lines.join(''), { flag: 'wx', mode: 0o600 });
}

// A file that others read while it is written: they find what was in it or what is, and nothing between.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomId } from './random.ts';

/** Puts a text into a file, which is made if it is not there. `mode` is of a file that is made. */
export function replaceFile(file: string, text: string, mode: number): void {
  const beside = `${file}.${randomId()}`;
  try {
    writeFileSync(beside, text, { flag: 'wx', mode, flush: true });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

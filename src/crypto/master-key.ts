// The master key: from the configuration, or a file of mode 0600 in the data folder that is made on the first start.
import { closeSync, existsSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomId, takeRandom } from '../platform/random.ts';

const masterKeyBytes = 32;

/**
 * Gives the 32 bytes; throws with what was expected and found when the text is not a key.
 * @param mayCreate False when data encrypted under a key exists: a lost key file must not be replaced by a new one.
 */
export function loadMasterKey(configured: string | undefined, dataFolder: string, mayCreate: boolean): Buffer {
  if (configured !== undefined) return decodeMasterKey(configured, 'master_key');
  const file = join(dataFolder, 'master.key');
  if (!existsSync(file)) {
    if (!mayCreate)
      throw new Error(
        `master_key: expected the key this database was written with in ${file}, found no file. Restore it, or set GATEHOUSE_MASTER_KEY`,
      );
    createKeyFile(file);
  }
  return decodeMasterKey(readFileSync(file, 'utf8').trim(), file);
}

/** The file appears whole and on disk, or not at all; a file made by another process meanwhile is kept. */
function createKeyFile(file: string): void {
  const unfinished = `${file}.${randomId()}`;
  try {
    writeFileSync(unfinished, `${takeRandom(masterKeyBytes).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true });
    linkSync(unfinished, file);
    const folder = openSync(join(file, '..'), 'r');
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    if (existsSync(unfinished)) unlinkSync(unfinished);
  }
}

/** The 32 bytes that a text is; throws with what was expected and found, the text itself not among it. */
export function decodeMasterKey(text: string, where: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== masterKeyBytes || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    throw new Error(`${where}: expected ${masterKeyBytes} bytes in base64, found ${bytes.length}. Make one with: openssl rand -base64 32`);
  }
  return bytes;
}

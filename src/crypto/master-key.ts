// The master key: from the configuration, or a file of mode 0600 in the data folder that is made on the first start.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { takeRandom } from '../platform/random.ts';

export const masterKeyBytes = 32;

/** Gives the 32 bytes; throws with what was expected and found when the text is not a key. */
export function loadMasterKey(configured: string | undefined, dataFolder: string): Buffer {
  if (configured !== undefined) return decodeKey(configured, 'master_key');
  const file = join(dataFolder, 'master.key');
  if (!existsSync(file)) writeFileSync(file, `${takeRandom(masterKeyBytes).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  return decodeKey(readFileSync(file, 'utf8').trim(), file);
}

function decodeKey(text: string, where: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length !== masterKeyBytes || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) {
    throw new Error(`${where}: expected ${masterKeyBytes} bytes in base64, found ${bytes.length}. Make one with: openssl rand -base64 32`);
  }
  return bytes;
}

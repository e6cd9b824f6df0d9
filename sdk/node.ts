// The SDK on Node: state in files, keys in a store in software. For simulators, tests and machines that act as phones.
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPurpose, KeyVault } from './key-vault.ts';
import { createMutex, type StateStore } from './state.ts';

export type SoftwareAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

const lockedPauseMs = 50;

/** A store in one JSON file, readable by its owner only and replaced in one step; makes its folder. A lock file keeps other processes out. */
export function fileStore<Value>(path: string): StateStore<Value> {
  const mutex = createMutex();
  return {
    load: async () => {
      const text = await readFile(path, 'utf8').catch(unlessCode('ENOENT'));
      return text === undefined ? undefined : (JSON.parse(text) as Value); // this store wrote the file itself
    },
    save: async (value) => {
      const file = await open(`${path}.new`, 'w', 0o600);
      await file.writeFile(JSON.stringify(value));
      await file.sync();
      await file.close();
      await rename(`${path}.new`, path);
    },
    exclusive: (work) =>
      mutex(async () => {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await takeLock(`${path}.lock`);
        try {
          return await work();
        } finally {
          await rm(`${path}.lock`, { force: true });
        }
      }),
  };
}

/** A vault that keeps PKCS#8 keys in a store. Anyone who reads the store has the keys. */
export function createSoftwareVault(
  store: StateStore<Readonly<Record<string, string>>>,
  algorithms: Readonly<Record<KeyPurpose, SoftwareAlgorithm>> = { pop: 'ES256', uv: 'ES256' },
): KeyVault {
  const change = (make: (keys: Readonly<Record<string, string>>) => Readonly<Record<string, string>>) =>
    store.exclusive(async () => store.save(make((await store.load()) ?? {})));
  return {
    create: async (purpose) => {
      const alg = algorithms[purpose];
      const { privateKey, publicKey } = generate(alg);
      const handle = randomUUID();
      const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
      await change((keys) => ({ ...keys, [handle]: pkcs8 }));
      return { handle, alg, publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
    },
    sign: async (handle, text) => {
      const pkcs8 = (await store.load())?.[handle];
      if (pkcs8 === undefined) throw new Error(`expected a private key under ${handle}, found none`);
      return signText(createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' }), text);
    },
    remove: (handle) => change(({ [handle]: _removed, ...rest }) => rest),
    list: async () => Object.keys((await store.load()) ?? {}),
  };
}

/** One signature as the device plane wants it: P1363 for ES256, 64 bytes for EdDSA, PKCS#1 v1.5 for RS256. */
export function signText(key: KeyObject, text: Uint8Array | string): Buffer {
  const bytes = Buffer.from(text);
  if (key.asymmetricKeyType === 'ec') return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
  return sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, key);
}

function generate(alg: SoftwareAlgorithm): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

// The lock file names its process; one whose process is gone is taken over.
async function takeLock(path: string): Promise<void> {
  for (;;) {
    const file = await open(path, 'wx', 0o600).catch(unlessCode('EEXIST'));
    if (file !== undefined) {
      await file.writeFile(String(process.pid));
      return file.close();
    }
    const owner = Number(await readFile(path, 'utf8').catch(unlessCode('ENOENT')));
    if (owner > 0 && !isAlive(owner)) await rm(path, { force: true });
    else await pause(lockedPauseMs);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const unlessCode =
  (code: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== code) throw error;
  };

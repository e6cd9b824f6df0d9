// What a device remembers between starts, and where. Private keys are not in here: they live in the KeyVault.
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { KeyAlgorithm } from './key-vault.ts';

export type KeyPurpose = 'pop' | 'uv';

export interface KeySlot {
  readonly keyId: string;
  readonly purpose: KeyPurpose;
  readonly alg: KeyAlgorithm;
  readonly handle: string;
  readonly publicKey: string;
}

export interface Registration {
  readonly token: string;
  readonly challenge?: string;
}

/** A rotation whose confirmation may or may not have arrived: the exact body is kept, so a retry is identical. */
export interface PendingRotation {
  readonly rotationId: string;
  readonly body: string;
  readonly newSlots: readonly KeySlot[];
}

export interface DeviceState {
  readonly phase: 'new' | 'registering' | 'enrolled' | 'wiped' | 'update_required';
  readonly deviceId: string;
  readonly slots: readonly KeySlot[];
  /** Server time minus phone time, in milliseconds. */
  readonly clockOffsetMs: number;
  readonly registration?: Registration;
  readonly rotation?: PendingRotation;
}

export interface StateStore<Value> {
  readonly load: () => Promise<Value | undefined>;
  readonly save: (value: Value) => Promise<void>;
}

/** A store that forgets when the process ends. */
export function memoryStore<Value>(): StateStore<Value> {
  let kept: Value | undefined;
  return {
    load: async () => kept,
    save: async (value) => {
      kept = value;
    },
  };
}

/** A store in one JSON file, readable by its owner only and replaced in one step. */
export function fileStore<Value>(path: string): StateStore<Value> {
  return {
    load: async () => {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      return text === undefined ? undefined : (JSON.parse(text) as Value); // this store wrote the file itself
    },
    save: async (value) => {
      await writeFile(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
  };
}

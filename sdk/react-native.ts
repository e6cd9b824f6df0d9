// What an app for React Native brings: native code for keys and hashing, and a store that survives. Hand them to createDevice.
import type { Attestor } from './enrollment.ts';
import type { KeyVault } from './key-vault.ts';
import type { Platform } from './platform.ts';
import { createMutex, type PhoneState, type StateStore } from './state.ts';

/** Implement on Secure Enclave or Android Keystore; `digest` and `uuid` natively too, Hermes has no Web Crypto. */
export interface NativeParts {
  readonly vault: KeyVault;
  readonly platform: Platform;
  /** Reads and replaces one text, atomically: MMKV, SQLite or a file renamed over its predecessor. */
  readonly storage: { readonly read: () => Promise<string | undefined>; readonly write: (text: string) => Promise<void> };
  readonly attestor?: Attestor;
}

/** The members of createDevice's options that come from native code. One JavaScript runtime owns the storage. */
export function nativeOptions(parts: NativeParts) {
  const store: StateStore<PhoneState> = {
    load: async () => {
      const text = await parts.storage.read();
      return text === undefined ? undefined : (JSON.parse(text) as PhoneState); // this store wrote it
    },
    save: (value) => parts.storage.write(JSON.stringify(value)),
    exclusive: createMutex(),
  };
  const attestor = parts.attestor === undefined ? {} : { attestor: parts.attestor };
  return { store, vault: parts.vault, platform: parts.platform, ...attestor };
}

// Where private keys live. A phone implements KeyVault on its secure hardware; the software vault serves simulators.
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { StateStore } from './state.ts';

export type KeyAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

export interface VaultKey {
  /** Names the private key inside the vault. */
  readonly handle: string;
  /** SPKI DER in base64. */
  readonly publicKey: string;
}

export interface KeyVault {
  readonly create: (alg: KeyAlgorithm) => Promise<VaultKey>;
  readonly sign: (handle: string, alg: KeyAlgorithm, text: Uint8Array) => Promise<Uint8Array>;
  readonly remove: (handle: string) => Promise<void>;
}

/** A vault that keeps PKCS#8 keys in a store. Anyone who reads the store has the keys. */
export function createSoftwareVault(store: StateStore<Readonly<Record<string, string>>>): KeyVault {
  return {
    create: async (alg) => {
      const { privateKey, publicKey } = generate(alg);
      const handle = randomUUID();
      const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
      await store.save({ ...((await store.load()) ?? {}), [handle]: pkcs8 });
      return { handle, publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64') };
    },
    sign: async (handle, alg, text) => {
      const pkcs8 = (await store.load())?.[handle];
      if (pkcs8 === undefined) throw new Error(`expected a private key under ${handle}, found none`);
      return signText(createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' }), alg, text);
    },
    remove: async (handle) => {
      const { [handle]: _removed, ...rest } = (await store.load()) ?? {};
      await store.save(rest);
    },
  };
}

/** One signature as the device plane wants it: P1363 for ES256, 64 bytes for EdDSA, PKCS#1 v1.5 for RS256. */
export function signText(key: KeyObject, alg: KeyAlgorithm, text: Uint8Array): Buffer {
  if (alg === 'ES256') return sign('sha256', text, { key, dsaEncoding: 'ieee-p1363' });
  return sign(alg === 'EdDSA' ? null : 'sha256', text, key);
}

function generate(alg: KeyAlgorithm): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' });
  if (alg === 'EdDSA') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('rsa', { modulusLength: 2048 });
}

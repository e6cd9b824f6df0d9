// Where private keys live: interfaces only. A phone implements KeyVault on its secure hardware.

export type KeyPurpose = 'pop' | 'uv';

export interface VaultKey {
  /** Names the private key inside the vault. */
  readonly handle: string;
  /** SPKI DER in base64. */
  readonly publicKey: string;
  /** As the server knows it: `ES256`, `EdDSA`, `RS256`, `WebAuthn-ES256` or `WebAuthn-RS256`. */
  readonly alg: string;
}

/** Private keys: `pop` signs silently, `uv` only after the person's biometrics or passcode. */
export interface KeyVault {
  /** Makes a key; the vault picks the algorithm. */
  readonly create: (purpose: KeyPurpose) => Promise<VaultKey>;
  /**
   * Signs with a key. `popHandle` names the silent key of the same device: a vault whose `uv` keys are WebAuthn credentials
   * signs with that one too, others ignore it.
   */
  readonly sign: (handle: string, text: Uint8Array, popHandle?: string) => Promise<Uint8Array>;
  /** Deletes a key; one that is not there is no error. */
  readonly remove: (handle: string) => Promise<void>;
  /** The handles of every key in the vault. */
  readonly list: () => Promise<readonly string[]>;
}

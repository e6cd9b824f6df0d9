// The SDK in a browser: state and the silent key in IndexedDB, the latter as a CryptoKey no script can export; the uv key is a
// platform credential of WebAuthn, so that only the authenticator, after verifying the person, can sign with it.
import type { KeyVault, VaultKey } from './key-vault.ts';
import { toBase64 } from './platform.ts';
import type { StateStore } from './state.ts';

const databaseName = 'gatehouse-phone';
const promptTimeoutMs = 120_000;
const userIdBytes = 32;
const challengeBytes = 32;

type StoredKey = { readonly purpose: 'pop'; readonly key: CryptoKey } | { readonly purpose: 'uv'; readonly credentialId: ArrayBuffer };

/** A store under one name in IndexedDB; a Web Lock of that name keeps other tabs out. */
export function indexedDbStore<Value>(name: string): StateStore<Value> {
  return {
    load: () => inStore('state', 'readonly', (state) => state.get(name)) as Promise<Value | undefined>, // this store wrote it
    save: async (value) => {
      await inStore('state', 'readwrite', (state) => state.put(value, name));
    },
    // The type of request() loses the promise's own type.
    exclusive: (work) => navigator.locks.request(`${databaseName}:${name}`, work) as ReturnType<typeof work>,
  };
}

/** True when this browser has a platform authenticator that verifies its person. */
export async function hasPlatformAuthenticator(): Promise<boolean> {
  if (typeof PublicKeyCredential === 'undefined') return false;
  return PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable();
}

/** `person` names the credential in the browser's own prompt. */
export function createBrowserVault(names: { readonly site: string; readonly person: string }): KeyVault {
  return {
    create: (purpose) => (purpose === 'pop' ? createPop() : createCredential(names)),
    sign: async (handle, text, popHandle) => {
      const stored = await loadKey(handle);
      return stored.purpose === 'pop' ? signSilently(stored.key, text) : signVerified(stored.credentialId, text, popHandle);
    },
    remove: async (handle) => {
      await inStore('keys', 'readwrite', (keys) => keys.delete(handle));
    },
    list: async () => ((await inStore('keys', 'readonly', (keys) => keys.getAllKeys())) as readonly IDBValidKey[]).map(String),
  };
}

async function createPop(): Promise<VaultKey> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
  const spki = new Uint8Array(await crypto.subtle.exportKey('spki', pair.publicKey));
  return keep({ purpose: 'pop', key: pair.privateKey }, 'ES256', spki);
}

// A random user id: the credential overwrites no passkey of the person's, and is not discoverable.
async function createCredential(names: { readonly site: string; readonly person: string }): Promise<VaultKey> {
  const created = await navigator.credentials.create({
    publicKey: {
      rp: { name: names.site },
      user: { id: crypto.getRandomValues(new Uint8Array(userIdBytes)), name: names.person, displayName: names.person },
      challenge: crypto.getRandomValues(new Uint8Array(challengeBytes)),
      pubKeyCredParams: [
        { type: 'public-key', alg: -7 },
        { type: 'public-key', alg: -257 },
      ],
      authenticatorSelection: { authenticatorAttachment: 'platform', residentKey: 'discouraged', userVerification: 'required' },
      attestation: 'none',
      timeout: promptTimeoutMs,
    },
  });
  if (!(created instanceof PublicKeyCredential)) throw new Error('expected a platform credential, found none');
  const response = created.response as AuthenticatorAttestationResponse; // what create() resolves with
  const spki = response.getPublicKey();
  if (spki === null) throw new Error('expected a public key the browser can read, found none');
  const alg = response.getPublicKeyAlgorithm() === -7 ? 'WebAuthn-ES256' : 'WebAuthn-RS256';
  return keep({ purpose: 'uv', credentialId: created.rawId }, alg, new Uint8Array(spki));
}

async function signSilently(key: CryptoKey, text: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, new Uint8Array(text)));
}

// authenticatorData, clientDataJSON and the authenticator's signature, each behind its length in two bytes, then 64 bytes of pop.
async function signVerified(credentialId: ArrayBuffer, text: Uint8Array, popHandle: string | undefined): Promise<Uint8Array> {
  const pop = await loadKey(popHandle ?? '');
  if (pop.purpose !== 'pop') throw new Error('expected the silent key beside a platform credential');
  const challenge = await crypto.subtle.digest('SHA-256', new Uint8Array(text));
  const assertion = await navigator.credentials.get({
    publicKey: {
      challenge,
      allowCredentials: [{ type: 'public-key', id: credentialId, transports: ['internal'] }],
      userVerification: 'required',
      timeout: promptTimeoutMs,
    },
  });
  if (!(assertion instanceof PublicKeyCredential)) throw new Error('expected an assertion of the platform credential, found none');
  const { authenticatorData, clientDataJSON, signature } = assertion.response as AuthenticatorAssertionResponse; // what get() resolves with
  const parts = [authenticatorData, clientDataJSON, signature].flatMap((part) => [lengthOf(part.byteLength), new Uint8Array(part)]);
  return concatenate([...parts, await signSilently(pop.key, text)]);
}

const lengthOf = (length: number): Uint8Array => Uint8Array.of(length >> 8, length & 0xff);

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.byteLength;
  }
  return joined;
}

async function keep(stored: StoredKey, alg: string, spki: Uint8Array): Promise<VaultKey> {
  const handle = crypto.randomUUID();
  await inStore('keys', 'readwrite', (keys) => keys.put(stored, handle));
  return { handle, alg, publicKey: toBase64(spki) };
}

async function loadKey(handle: string): Promise<StoredKey> {
  const stored = (await inStore('keys', 'readonly', (keys) => keys.get(handle))) as StoredKey | undefined; // this vault wrote it
  if (stored === undefined) throw new Error('expected a key of this browser, found none: its storage was cleared');
  return stored;
}

async function inStore(name: 'keys' | 'state', mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await openDatabase();
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(name, mode, { durability: 'strict' });
      const request = work(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(databaseName, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('keys');
      request.result.createObjectStore('state');
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

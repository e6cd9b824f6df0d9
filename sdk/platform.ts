// What the core takes from the runtime beyond fetch: SHA-256 and random UUIDs. Web Crypto by default; React Native brings its own.

export interface Platform {
  /** SHA-256. */
  readonly digest: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** A random UUID, version 4. */
  readonly uuid: () => string;
}

/** The platform of browsers (in secure contexts) and of Node. */
export const webPlatform: Platform = {
  digest: async (bytes) => new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))),
  uuid: () => crypto.randomUUID(),
};

export const encodeText = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Lower-case hex SHA-256. */
export async function sha256Hex(platform: Platform, bytes: Uint8Array): Promise<string> {
  const digest = await platform.digest(bytes);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

// Sealing a file to one deployment: an X25519 key pair that derives from its master key, a one-time key pair of the sender, and the
// content in pieces under AES-256-GCM whose nonces count them and mark the last (the STREAM construction, as age has it). Who lacks
// the master key reads nothing; a piece that is changed, moved, missing or added is noticed. docs/decisions/0022-tenant-moves.md
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hash,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

/** Bytes of content in a piece; the last one may have fewer. */
export const pieceBytes = 64 * 1024;
const tagBytes = 16;
export const sealedPieceBytes = pieceBytes + tagBytes;

export interface ImportKey {
  /** What the sender is given: `gatehouse-import-` and 36 bytes. */
  readonly text: string;
  readonly privateKey: KeyObject;
}

const keyPrefix = 'gatehouse-import-';
const keyBytes = 32;
const checkBytes = 4;
/** RFC 8410: what stands before the 32 bytes of an X25519 key in PKCS #8 and SPKI. */
const pkcs8Start = Buffer.from('302e020100300506032b656e04220420', 'hex');
const spkiStart = Buffer.from('302a300506032b656e032100', 'hex');

/** The key pair of a deployment for bundles that are meant for it. The same at every call. */
export function importKeyOf(masterKey: Uint8Array): ImportKey {
  const seed = Buffer.from(hkdfSync('sha256', masterKey, '', 'gatehouse tenant import v1', keyBytes));
  const privateKey = createPrivateKey({ key: Buffer.concat([pkcs8Start, seed]), format: 'der', type: 'pkcs8' });
  return { privateKey, text: textOf(rawOf(createPublicKey(privateKey))) };
}

/** The public key of a text that importKeyOf made; undefined when it is none, also when a character is wrong. */
export function parseImportKey(text: string): KeyObject | undefined {
  if (!text.startsWith(keyPrefix)) return undefined;
  const bytes = Buffer.from(text.slice(keyPrefix.length), 'base64url');
  if (bytes.length !== keyBytes + checkBytes) return undefined;
  const raw = bytes.subarray(0, keyBytes);
  return textOf(raw) === text ? publicOf(raw) : undefined;
}

const rawOf = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(spkiStart.length);
const publicOf = (raw: Uint8Array): KeyObject => createPublicKey({ key: Buffer.concat([spkiStart, raw]), format: 'der', type: 'spki' });
const textOf = (raw: Uint8Array): string =>
  keyPrefix + Buffer.concat([raw, hash('sha256', raw, 'buffer').subarray(0, checkBytes)]).toString('base64url');

/** Works on one piece of the content after the other, in order; `isLast` ends it. */
type Pieces = (piece: Uint8Array, isLast: boolean) => Buffer;

/** Seals to a public key. `header` comes first and in clear: it says for whom, and nothing opens under another. */
export function sealTo(recipient: KeyObject, headerOf: (oneTimeKey: string) => string): { readonly header: string; readonly seal: Pieces } {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const header = headerOf(rawOf(publicKey).toString('base64url'));
  const key = keyFor(diffieHellman({ privateKey, publicKey: recipient }), header);
  const nextNonce = countNonces();
  return {
    header,
    seal: (piece, isLast) => {
      const cipher = createCipheriv('aes-256-gcm', key, nextNonce(isLast), { authTagLength: tagBytes });
      return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
    },
  };
}

/** The opposite; what it gives throws for a piece that is not the next one as it was sealed. */
export function openWith(privateKey: KeyObject, oneTimeKey: string, header: string): Pieces {
  const publicKey = publicOf(Buffer.from(oneTimeKey, 'base64url'));
  const key = keyFor(diffieHellman({ privateKey, publicKey }), header);
  const nextNonce = countNonces();
  return (piece, isLast) => {
    if (piece.length < tagBytes) throw new Error('a piece without its tag');
    const decipher = createDecipheriv('aes-256-gcm', key, nextNonce(isLast), { authTagLength: tagBytes });
    decipher.setAuthTag(piece.subarray(-tagBytes));
    return Buffer.concat([decipher.update(piece.subarray(0, -tagBytes)), decipher.final()]);
  };
}

/** The one-time key makes the secret new each time, so a counter suffices as nonce; both public keys are in the header. */
const keyFor = (secret: Uint8Array, header: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, header, 'gatehouse tenant bundle v1', 32));

function countNonces(): (isLast: boolean) => Buffer {
  let count = 0;
  return (isLast) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(count, 5, 6);
    nonce[11] = isLast ? 1 : 0;
    count += 1;
    return nonce;
  };
}

// Randomness: ids and secrets. Secrets are 256-bit, base64url. Bytes are drawn from the system in blocks: one call serves many ids.
import { randomBytes, randomInt } from 'node:crypto';

const blockBytes = 4096;
let block = randomBytes(0);
let used = 0;

/** Cryptographically random bytes; each byte is handed out once and wiped from the block. */
export function takeRandom(bytes: number): Buffer {
  if (bytes > blockBytes) return randomBytes(bytes);
  const start = takeFromBlock(bytes);
  const taken = Buffer.from(block.subarray(start, used));
  block.fill(0, start, used);
  return taken;
}

/** The same as base64url, without a buffer of its own. At most a block. */
function takeRandomText(bytes: number): string {
  const start = takeFromBlock(bytes);
  const text = block.toString('base64url', start, used);
  block.fill(0, start, used);
  return text;
}

/** Moves past so many bytes of the block, a new one when they are not left; gives where they start. */
function takeFromBlock(bytes: number): number {
  if (used + bytes > block.length) {
    block = randomBytes(blockBytes);
    used = 0;
  }
  used += bytes;
  return used - bytes;
}

/** A secret or token of 256 bits: 43 base64url characters. */
export const randomSecret = (): string => takeRandomText(32);

/** An identifier of 128 bits without order: 22 base64url characters (client_ids, jti). The first is no dash: people type them behind commands. */
export function randomId(): string {
  for (;;) {
    const id = takeRandomText(16);
    if (!id.startsWith('-')) return id;
  }
}

const momentBytes = 6;

/** A request id: its millisecond since the epoch, then 80 random bits; 22 base64url characters, the first no dash until the year 5429. */
export function requestIdAt(nowMs: number): string {
  const bytes = takeRandom(16);
  bytes.writeUIntBE(nowMs, 0, momentBytes);
  return bytes.toString('base64url');
}

/** The millisecond a request id begins with; undefined when it is none of ours. */
export function momentOfRequestId(id: string): number | undefined {
  return /^[A-Za-z0-9_-]{22}$/.test(id) ? Buffer.from(id, 'base64url').readUIntBE(0, momentBytes) : undefined;
}

const countedBits = 26;
let countedMs = -1;
let counted = 0;

/**
 * A UUID version 7 (RFC 9562 5.7): sorts by creation time in milliseconds and, of one process, within a millisecond by order of creation:
 * 26 bits count on by random steps from a random start with its highest bit clear (6.2, method 2), 48 are random.
 * The steps tell nobody how many others were made between two of theirs.
 */
export function uuidV7(nowMs: number): string {
  const bytes = takeRandom(17);
  counted = nowMs === countedMs ? counted + 1 + bytes[16]! : bytes.readUInt32BE(6) >>> (33 - countedBits);
  countedMs = nowMs;
  bytes.writeUIntBE(nowMs, 0, momentBytes);
  bytes[6] = 0x70 | ((counted >>> 22) & 0x0f);
  bytes[7] = (counted >>> 14) & 0xff;
  bytes[8] = 0x80 | ((counted >>> 8) & 0x3f);
  bytes[9] = counted & 0xff;
  const hex = bytes.toString('hex', 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Letters of an alphabet drawn uniformly. */
export function randomLetters(alphabet: string, count: number): string {
  let letters = '';
  while (letters.length < count) letters += alphabet.charAt(randomInt(alphabet.length));
  return letters;
}

/** Decimal digits drawn uniformly, leading zeros kept. */
export function randomDigits(count: number): string {
  return randomLetters('0123456789', count);
}

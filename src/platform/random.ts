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

/** An identifier of 128 bits without order: 22 base64url characters (request ids, client_ids, jti). The first is no dash: people type them behind commands. */
export function randomId(): string {
  for (;;) {
    const id = takeRandomText(16);
    if (!id.startsWith('-')) return id;
  }
}

/** A UUID version 7 (RFC 9562 5.7): sorts by creation time in milliseconds. */
export function uuidV7(nowMs: number): string {
  const bytes = takeRandom(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Decimal digits drawn uniformly, leading zeros kept. */
export function randomDigits(count: number): string {
  let digits = '';
  while (digits.length < count) digits += String(randomInt(10));
  return digits;
}

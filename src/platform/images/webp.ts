// WebP (RFC 9649): its size, and the same picture with the chunks that draw it alone. What is dropped: profiles, metadata, unknown chunks
// and whatever stands behind the end. Animations are refused.
import type { Picture } from './picture.ts';

export const isWebp = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP';

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Undefined for a file that is damaged, moves, or has more than `sideMax` pixels a side. */
export function readWebp(bytes: Buffer, sideMax: number): Picture | undefined {
  if (bytes.length < 12) return undefined;
  const end = Math.min(bytes.length, 8 + bytes.readUInt32LE(4));
  const kept: Buffer[] = [];
  let size: Size | undefined;
  for (let at = 12; at + 8 <= end; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const next = at + 8 + length + (length % 2);
    if (at + 8 + length > end) return undefined;
    const body = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'ANIM' || name === 'ANMF') return undefined;
    if (name === 'VP8 ' || name === 'VP8L') {
      if (size !== undefined) return undefined;
      size = name === 'VP8 ' ? lossySize(body) : losslessSize(body);
      if (size === undefined) return undefined;
      kept.push(chunk(name, body));
    } else if (name === 'ALPH') kept.push(chunk(name, body));
    else if (name === 'VP8X') {
      if (kept.length > 0 || length !== 10) return undefined;
      kept.push(chunk(name, Buffer.concat([Buffer.from([body[0]! & alphaFlag]), body.subarray(1)])));
    }
    at = next;
  }
  if (size === undefined || size.width > sideMax || size.height > sideMax) return undefined;
  const [first] = kept;
  // The canvas of an extended file is that of its one picture.
  if (first?.toString('latin1', 0, 4) === 'VP8X' && (canvas(first, 12) !== size.width || canvas(first, 15) !== size.height))
    return undefined;
  const body = Buffer.concat(kept);
  const head = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  head.writeUInt32LE(4 + body.length, 4);
  return { type: 'image/webp', ...size, bytes: Buffer.concat([head, body]) };
}

const alphaFlag = 0x10;
const canvas = (chunkBytes: Buffer, at: number): number => chunkBytes.readUIntLE(at, 3) + 1;

function lossySize(body: Buffer): Size | undefined {
  const isKeyFrame = body.length >= 10 && (body[0]! & 1) === 0 && body[3] === 0x9d && body[4] === 0x01 && body[5] === 0x2a;
  if (!isKeyFrame) return undefined;
  const size = { width: body.readUInt16LE(6) & 0x3fff, height: body.readUInt16LE(8) & 0x3fff };
  return size.width === 0 || size.height === 0 ? undefined : size;
}

function losslessSize(body: Buffer): Size | undefined {
  if (body.length < 5 || body[0] !== 0x2f) return undefined;
  const bits = body.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function chunk(name: string, body: Buffer): Buffer {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

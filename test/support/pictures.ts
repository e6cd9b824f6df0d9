// Pictures as files, good and hostile: PNG that is drawn here, JPEG and WebP of the fewest bytes their readers take.
import { crc32, deflateSync } from 'node:zlib';

export const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function pngChunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  return pngChunk('IHDR', header);
}

/** One colour all over. `extra` stands before the data, `behind` after the end. */
export function pngOf(
  width: number,
  height: number,
  {
    color = [0x1a, 0x4d, 0x8f],
    extra = [],
    behind = Buffer.alloc(0),
  }: { color?: readonly number[]; extra?: readonly Buffer[]; behind?: Buffer } = {},
): Buffer {
  const row = Buffer.concat([Buffer.from([0]), Buffer.concat(Array.from({ length: width }, () => Buffer.from(color)))]);
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([
    pngSignature,
    pngHeader(width, height),
    ...extra,
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
    behind,
  ]);
}

/** A PNG of exactly so many bytes: noise in one row, in stored blocks. */
export function pngOfBytes(bytes: number): Buffer {
  const empty = pngOf(1, 1);
  const filler = (length: number): Buffer => pngOf(1, 1, { extra: [pngChunk('tRNS', Buffer.alloc(length))] });
  return filler(bytes - empty.length - 12);
}

const segment = (marker: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(data.length + 2, 2);
  return Buffer.concat([head, data]);
};

/** The segments of a JPEG without its tables. */
export function jpegOf(width: number, height: number, options: { comment?: string; behind?: Buffer } = {}): Buffer {
  const frame = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 1);
  frame.writeUInt16BE(width, 3);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...(options.comment === undefined ? [] : [segment(0xfe, Buffer.from(options.comment)), segment(0xe1, Buffer.from(options.comment))]),
    segment(0xc0, frame),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0xff, 0x00, 0x34]),
    Buffer.from([0xff, 0xd9]),
    options.behind ?? Buffer.alloc(0),
  ]);
}

const riff = (name: string, data: Buffer): Buffer => {
  const head = Buffer.from(`${name}\0\0\0\0`, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};

/** A lossless WebP's frame header. */
export function webpOf(width: number, height: number, extra: readonly Buffer[] = []): Buffer {
  const frame = Buffer.alloc(6);
  frame[0] = 0x2f;
  frame.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
  return riff('RIFF', Buffer.concat([Buffer.from('WEBP'), riff('VP8L', frame), ...extra]));
}

export const webpChunk = riff;

/** Uploads a picture to a tenant; gives its name. */
export async function uploadPicture(managementApi: string, token: string, bytes: Buffer = pngOf(2, 2)): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'image/png' };
  const response = await fetch(`${managementApi}/images`, { method: 'POST', headers, body: new Uint8Array(bytes) });
  return String(((await response.json()) as { sha256: unknown }).sha256);
}

// JPEG (ITU-T T.81): its size, and the same picture with the segments that draw it alone. What is dropped: comments, the camera's notes,
// thumbnails, profiles, and whatever stands behind the end.
import type { Picture } from './picture.ts';

export const isJpeg = (bytes: Buffer): boolean => bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff;

const [soi, eoi, sos] = [0xd8, 0xd9, 0xda];
/** Baseline, extended and progressive: what browsers draw. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xc2;
/** Huffman and quantization tables, restart interval, frame, scan; APP14 says what the colours mean. */
const isDrawing = (marker: number): boolean =>
  isFrame(marker) || marker === 0xc4 || marker === 0xdb || marker === 0xdd || marker === sos || marker === 0xee;

/** Scans of one picture: a progressive one has a dozen, and each more costs who draws it another pass. */
const scansMax = 64;

/** Undefined for a file that is damaged, or has more than `sideMax` pixels a side. */
export function readJpeg(bytes: Buffer, sideMax: number): Picture | undefined {
  const kept: Buffer[] = [Buffer.from([0xff, soi])];
  let size: { readonly width: number; readonly height: number } | undefined;
  let scans = 0;
  for (let at = 2; ; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1];
    if (marker === undefined) return undefined;
    if (marker === 0xff) {
      at += 1; // fill bytes
      continue;
    }
    if (marker === eoi) break;
    if (at + 4 > bytes.length) return undefined;
    const segment = at + 2 + bytes.readUInt16BE(at + 2);
    if (segment < at + 4 || segment > bytes.length) return undefined;
    if (isFrame(marker)) {
      if (size !== undefined || segment < at + 10) return undefined;
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    const end = marker === sos ? endOfScan(bytes, segment) : segment;
    if (marker === sos) scans += 1;
    if (isDrawing(marker)) kept.push(bytes.subarray(at, end));
    at = end;
  }
  if (size === undefined || scans === 0 || scans > scansMax) return undefined;
  const { width, height } = size;
  if (width === 0 || height === 0 || width > sideMax || height > sideMax) return undefined;
  return { type: 'image/jpeg', width, height, bytes: Buffer.concat([...kept, Buffer.from([0xff, eoi])]) };
}

/** Coded data goes on to the next marker that is no restart; 0xFF 0x00 is a byte of it. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at;
  }
  return bytes.length;
}

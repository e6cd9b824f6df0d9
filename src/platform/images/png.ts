// PNG (ISO/IEC 15948): its size, and the same picture with the parts that draw it alone. What is dropped: texts, profiles, animation and
// whatever stands behind the end, where a second file could hide. The data must inflate to the size the header declares, and no further.
import { crc32, inflateSync } from 'node:zlib';
import type { Picture } from './picture.ts';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const drawing: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND']);
const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export const isPng = (bytes: Buffer): boolean => bytes.subarray(0, 8).equals(signature);

/** Undefined for a file that is damaged, or declares more than `sideMax` pixels a side. */
export function readPng(bytes: Buffer, sideMax: number): Picture | undefined {
  const kept: Buffer[] = [signature];
  const data: Buffer[] = [];
  let header: Buffer | undefined;
  let at = 8;
  for (let name = ''; name !== 'IEND'; ) {
    if (at + 12 > bytes.length) return undefined;
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length || crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
    name = bytes.toString('latin1', at + 4, at + 8);
    const body = bytes.subarray(at + 8, end - 4);
    if ((header === undefined) !== (name === 'IHDR')) return undefined; // first, and once
    if (name === 'IHDR') header = body;
    if (name === 'IDAT') data.push(body);
    if (drawing.has(name)) kept.push(bytes.subarray(at, end));
    at = end;
  }
  if (header === undefined || header.length !== 13 || data.length === 0) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  if (width === 0 || height === 0 || width > sideMax || height > sideMax) return undefined;
  return fills(Buffer.concat(data), header, width, height) ? { type: 'image/png', width, height, bytes: Buffer.concat(kept) } : undefined;
}

/** Whether the data is as many rows as the header says, by the way it says. */
function fills(data: Buffer, header: Buffer, width: number, height: number): boolean {
  const bits = (samplesOf[header[9]!] ?? 0) * header[8]!;
  if (bits === 0 || header[12]! > 1) return false;
  const size = header[12] === 1 ? passes.reduce((sum, pass) => sum + passBytes(pass, width, height, bits), 0) : rows(width, height, bits);
  try {
    return inflateSync(data, { maxOutputLength: size }).length === size;
  } catch {
    return false;
  }
}

/** Each row begins with the filter it uses. */
const rows = (width: number, height: number, bits: number): number => (width === 0 ? 0 : height * (1 + Math.ceil((width * bits) / 8)));

/** Adam7: first column and row of a pass, and the steps between. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

const passBytes = ([x, y, stepX, stepY]: (typeof passes)[number], width: number, height: number, bits: number): number =>
  rows(Math.ceil(Math.max(0, width - x) / stepX), Math.ceil(Math.max(0, height - y) / stepY), bits);

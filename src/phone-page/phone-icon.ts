// The icon of the installed web phone: a tick on the tenant's colour, drawn as PNG because phones take no SVG for their home screen.
// Everything stands in the middle, so that a phone may cut the corners as it likes.
import { crc32, deflateSync } from 'node:zlib';
import { inkOn } from '../domain/appearance/colors.ts';

/** Pixels; 180 is what iOS asks for. */
export const iconSizes = [180, 192, 512] as const;

const iconsKeptMax = 300;
const drawn = new Map<string, Buffer>();

/** A PNG (ISO/IEC 15948) of a colour `#rrggbb`. */
export function phoneIcon(color: string, size: number): Buffer {
  const id = `${color}:${size}`;
  const known = drawn.get(id);
  if (known !== undefined) return known;
  const icon = draw(color, size);
  if (drawn.size >= iconsKeptMax) drawn.clear();
  drawn.set(id, icon);
  return icon;
}

/** The tick, in parts of the side; its two strokes. */
const corners = [
  [0.3, 0.52],
  [0.44, 0.66],
  [0.71, 0.36],
] as const;
const strokeRadius = 0.055;

function draw(color: string, size: number): Buffer {
  const ground = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const ink = inkOn(color) === '#fff' ? 255 : 0;
  const rows = Buffer.alloc(size * (size * 3 + 1)); // each row begins with the filter it uses: 0, none
  for (let y = 0; y < size; y += 1)
    for (let x = 0; x < size; x += 1) {
      const share = coverage((x + 0.5) / size, (y + 0.5) / size, size);
      const at = y * (size * 3 + 1) + 1 + x * 3;
      for (const [channel, value] of ground.entries()) rows[at + channel] = Math.round(value + (ink - value) * share);
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2], 8); // eight bits a channel, red green blue
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]);
}

/** How much of a pixel the tick covers, 0 to 1. */
function coverage(x: number, y: number, size: number): number {
  const [first, middle, last] = corners;
  const distance = Math.min(distanceToStroke(x, y, first, middle), distanceToStroke(x, y, middle, last));
  return Math.min(1, Math.max(0, (strokeRadius - distance) * size + 0.5));
}

type Point = readonly [number, number];

function distanceToStroke(x: number, y: number, [fromX, fromY]: Point, [toX, toY]: Point): number {
  const [dx, dy] = [toX - fromX, toY - fromY];
  const along = Math.min(1, Math.max(0, ((x - fromX) * dx + (y - fromY) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - fromX - along * dx, y - fromY - along * dy);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const whole = Buffer.alloc(named.byteLength + 8);
  whole.writeUInt32BE(data.byteLength, 0);
  whole.set(named, 4);
  whole.writeUInt32BE(crc32(named), named.byteLength + 4);
  return whole;
}

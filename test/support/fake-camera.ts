// What Chromium's fake camera sees: a file of one uncompressed picture (YUV4MPEG2) that a test writes a QR code into.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'qrcode';

const width = 640;
const height = 480;
const grey = 128;
const wall = 90;

export interface FakeCamera {
  /** Arguments for the browser. */
  readonly args: readonly string[];
  /** From the next time the camera is switched on. */
  readonly show: (text: string) => void;
  readonly close: () => void;
}

export function createFakeCamera(): FakeCamera {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-camera-'));
  const file = join(folder, 'picture.y4m');
  const show = (text: string): void => writeFileSync(file, picture(text));
  writeFileSync(file, picture(undefined));
  return {
    args: ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', `--use-file-for-fake-video-capture=${file}`],
    show,
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// The code off the middle on a grey wall, as a hand would hold it; the wall alone without one.
function picture(text: string | undefined): Buffer {
  const luma = Buffer.alloc(width * height, wall);
  if (text !== undefined) drawCode(luma, text);
  const chroma = Buffer.alloc((width * height) / 2, grey);
  return Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\nFRAME\n`), luma, chroma]);
}

function drawCode(luma: Buffer, text: string): void {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const scale = Math.floor((height - 80) / (modules.size + 8));
  const side = (modules.size + 8) * scale;
  for (let y = 0; y < side; y += 1)
    for (let x = 0; x < side; x += 1) {
      const [column, row] = [Math.floor(x / scale) - 4, Math.floor(y / scale) - 4];
      const inside = column >= 0 && row >= 0 && column < modules.size && row < modules.size;
      const isDark = inside && modules.data[row * modules.size + column] === 1;
      luma[(y + 30) * width + x + 60] = isDark ? 20 : 230;
    }
}

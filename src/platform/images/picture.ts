// What a picture is by its bytes: PNG, JPEG or WebP, whatever it is called. What comes out is a file of one kind that draws one picture,
// so that nothing else (a page, an archive, a script) is in it. Pixels are never decoded here.
import { isJpeg, readJpeg } from './jpeg.ts';
import { isPng, readPng } from './png.ts';
import { isWebp, readWebp } from './webp.ts';

export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
type PictureType = (typeof pictureTypes)[number];

export interface Picture {
  readonly type: PictureType;
  readonly width: number;
  readonly height: number;
  /** Without what draws nothing. Reading it again gives the same bytes. */
  readonly bytes: Buffer;
}

/** Undefined for what is none of them, is damaged, moves, or has more than `sideMax` pixels a side. */
export function readPicture(bytes: Buffer, sideMax: number): Picture | undefined {
  if (isPng(bytes)) return readPng(bytes, sideMax);
  if (isJpeg(bytes)) return readJpeg(bytes, sideMax);
  return isWebp(bytes) ? readWebp(bytes, sideMax) : undefined;
}

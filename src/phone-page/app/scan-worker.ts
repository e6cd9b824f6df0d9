// Reads QR codes in camera pictures where the browser cannot do it itself: one picture in, its text or nothing out.
import decodeQR from 'qr/decode.js';

interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

addEventListener('message', ({ data: picture }: MessageEvent<Picture>) => {
  (self as unknown as Worker).postMessage(read(picture)); // in a worker this is its global scope
});

function read(picture: Picture): string | undefined {
  try {
    return decodeQR(picture);
  } catch {
    return undefined; // no code in sight
  }
}

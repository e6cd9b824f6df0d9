// The camera: shows what it sees until it sees a QR code. The browser's own detector reads it, else a worker that is loaded now.
import { show, texts } from './context.ts';
import { h } from './dom.ts';
import { startScanner } from './trusted.ts';

const lookEveryMs = 150;
/** Wider pictures take longer and show no code better. */
const pictureWidthMax = 960;

interface Detector {
  readonly detect: (video: HTMLVideoElement) => Promise<readonly { readonly rawValue: string }[]>;
}
interface DetectorClass {
  new (options: { readonly formats: readonly string[] }): Detector;
  readonly getSupportedFormats: () => Promise<readonly string[]>;
}

interface Reader {
  readonly read: (video: HTMLVideoElement) => Promise<string | undefined>;
  readonly close: () => void;
}

/** The text of the first code the camera sees; undefined when the person stops. Throws when there is no camera or it is not allowed. */
export async function scanCode(): Promise<string | undefined> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment', width: { ideal: 1280 } } });
  const video = h('video', { playsinline: true, muted: true, 'aria-label': texts.scanLead }) as HTMLVideoElement;
  const reader = await openReader();
  try {
    return await new Promise((resolve, reject) => {
      const stop = (): void => resolve(undefined);
      show(
        h('h1', {}, texts.scan),
        h('p', { class: 'lead' }, texts.scanLead),
        video,
        h('button', { class: 'plain', click: stop }, texts.cancel),
      );
      document.addEventListener('visibilitychange', stop, { once: true });
      video.srcObject = stream;
      video.play().then(() => look(video, reader, resolve), reject);
    });
  } finally {
    for (const track of stream.getTracks()) track.stop();
    reader.close();
  }
}

async function look(video: HTMLVideoElement, reader: Reader, done: (text: string) => void): Promise<void> {
  while (video.isConnected && (video.srcObject as MediaStream).active) {
    const text = video.videoWidth === 0 ? undefined : await reader.read(video).catch(() => undefined);
    if (text !== undefined) return done(text);
    await new Promise((next) => setTimeout(next, lookEveryMs));
  }
}

async function openReader(): Promise<Reader> {
  const { BarcodeDetector: Detects } = globalThis as { readonly BarcodeDetector?: DetectorClass };
  const formats = (await Detects?.getSupportedFormats().catch(() => [])) ?? [];
  if (Detects === undefined || !formats.includes('qr_code')) return workerReader();
  const detector = new Detects({ formats: ['qr_code'] });
  return { read: async (video) => (await detector.detect(video))[0]?.rawValue, close: () => undefined };
}

function workerReader(): Reader {
  const worker = startScanner();
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  const read = (video: HTMLVideoElement): Promise<string | undefined> =>
    new Promise((resolve) => {
      const scale = Math.min(1, pictureWidthMax / video.videoWidth);
      canvas.width = Math.round(video.videoWidth * scale);
      canvas.height = Math.round(video.videoHeight * scale);
      context?.drawImage(video, 0, 0, canvas.width, canvas.height);
      const picture = context?.getImageData(0, 0, canvas.width, canvas.height);
      if (picture === undefined) return resolve(undefined);
      worker.onmessage = ({ data }: MessageEvent<string | undefined>) => resolve(data);
      const { width, height, data } = picture;
      worker.postMessage({ width, height, data }, [data.buffer]);
    });
  return { read, close: () => worker.terminate() };
}

// The files of the web phone as browsers get them: the app's modules and the SDK's, their types stripped once, and the reader of QR
// codes as its package has it, under an address that names their content. In a package they are JavaScript already. Read at first use.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';

export interface PhoneFiles {
  /** Names the content of all files together. */
  readonly hash: string;
  /** `app/main.js`, `sdk/device.js`, …: those the page loads, the workers and what only they load not among them. */
  readonly modules: readonly string[];
  readonly read: (name: string) => PhoneFile | undefined;
  readonly worker: PhoneFile;
}

export interface PhoneFile {
  readonly text: string;
  /** The same, compressed. */
  readonly brotli: () => Promise<Buffer>;
}

const appFolder = join(import.meta.dirname, 'app');
const sdkFolder = join(import.meta.dirname, '..', '..', 'sdk');
const extension = extname(import.meta.filename);
/** What pages of the console call a browser by, too. */
const wordsFile = join(import.meta.dirname, '..', 'pages', `browser-words${extension}`);
const workerFile = `worker${extension}`;
/** Loaded with the camera only. */
export const scannerFile = 'app/scan-worker.js';
const readerFiles = ['decode.js', 'index.js'];
/** Entries of the SDK that are for other platforms. */
const elsewhere = new Set(['node', 'react-native'].map((name) => name + extension));

let loaded: PhoneFiles | undefined;

export function loadPhoneFiles(): PhoneFiles {
  loaded ??= readFiles();
  return loaded;
}

function readFiles(): PhoneFiles {
  const texts = new Map<string, string>();
  for (const [folder, files] of [
    ['app', appFolder],
    ['sdk', sdkFolder],
  ] as const)
    for (const file of readdirSync(files).sort())
      if (file.endsWith(extension) && !file.endsWith('.d.ts') && !elsewhere.has(file))
        texts.set(`${folder}/${nameOf(file)}`, toScript(readFileSync(join(files, file), 'utf8')));
  texts.set(`app/${nameOf(basename(wordsFile))}`, toScript(readFileSync(wordsFile, 'utf8')));
  const modules = [...texts.keys()].filter((name) => name !== scannerFile && name !== `app/${nameOf(workerFile)}`);
  for (const file of readerFiles) texts.set(`qr/${file}`, readFileSync(new URL(file, import.meta.resolve('qr')), 'utf8'));
  const worker = texts.get(`app/${nameOf(workerFile)}`) ?? '';
  texts.delete(`app/${nameOf(workerFile)}`);
  const hash = createHash('sha256')
    .update(JSON.stringify([...texts, worker]))
    .digest('base64url')
    .slice(0, 16);
  const files = new Map([...texts].map(([name, text]) => [name, fileOf(text)]));
  return { hash, modules, read: (name) => files.get(name), worker: fileOf(worker) };
}

/** Compressed at the first wish, once. */
function fileOf(text: string): PhoneFile {
  let compressed: Promise<Buffer> | undefined;
  const brotli = (): Promise<Buffer> => {
    compressed ??= promisify(brotliCompress)(text);
    return compressed;
  };
  return { text, brotli };
}

const nameOf = (file: string): string => file.replace(/\.ts$/, '.js');

// In the tree the SDK lies beside src/; for a browser both folders lie side by side.
function toScript(source: string): string {
  const script = extension === '.ts' ? stripTypeScriptTypes(source) : source;
  return script
    .replaceAll("'../../../sdk/", "'../sdk/")
    .replaceAll("'../../pages/", "'./")
    .replaceAll("'qr/", "'../qr/")
    .replace(/(from '\.[^']+)\.ts'/g, "$1.js'");
}

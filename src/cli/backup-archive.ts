// The file of a backup: a tar archive (POSIX ustar) of manifest.json and its parts, so that any tar can look into it.
// The manifest stands first and has the digest of every part. Written by `backup`, read by `restore`.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { CommandFailure } from './failure.ts';

export const archiveFormat = 'gatehouse-backup-1';
export const partNames = ['gatehouse.db', 'database.dump', 'master.key'] as const;
export type PartName = (typeof partNames)[number];

export interface Manifest {
  readonly format: string;
  readonly version: string;
  readonly dialect: 'sqlite' | 'postgres';
  /** Numbers of the migrations the database has. */
  readonly schema: readonly number[];
  readonly created: string;
  readonly parts: readonly { readonly name: PartName; readonly bytes: number; readonly sha256: string }[];
}

export interface PartFile {
  readonly name: PartName;
  readonly file: string;
}

const blockBytes = 512;
const manifestName = 'manifest.json';
const manifestBytesMax = 1024 * 1024;

/** Size and SHA-256 of a file, read as a stream. */
export async function digestOf(file: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return { bytes: (await stat(file)).size, sha256: hash.digest('hex') };
}

/** Writes the archive, mode 0600; fails when the file exists. */
export async function writeArchive(
  file: string,
  manifest: Manifest,
  parts: readonly PartFile[],
  onBytes: (done: number, whole: number) => void,
): Promise<void> {
  const whole = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await once(output, 'open');
  const write = async (bytes: Buffer): Promise<void> => {
    if (!output.write(bytes)) await once(output, 'drain');
  };
  const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  await write(Buffer.concat([header(manifestName, text.length), text, padding(text.length)]));
  let done = 0;
  for (const part of parts) {
    const { bytes } = manifest.parts.find(({ name }) => name === part.name)!; // the manifest was made from these parts
    await write(header(part.name, bytes));
    for await (const chunk of createReadStream(part.file) as AsyncIterable<Buffer>) {
      await write(chunk);
      done += chunk.length;
      onBytes(done, whole);
    }
    await write(padding(bytes));
  }
  await write(Buffer.alloc(2 * blockBytes));
  output.end();
  await once(output, 'close');
}

/** Reads the manifest, then gives each part to `extract`, in order, while its digest is checked. @throws CommandFailure */
export async function readArchive(
  file: string,
  accept: (manifest: Manifest) => Promise<void>,
  extract: (part: PartName) => string,
  onBytes: (done: number, whole: number) => void,
): Promise<Manifest> {
  const handle = await open(file, 'r');
  try {
    const manifest = await readManifest(handle, file);
    await accept(manifest);
    const whole = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
    let at = blockBytes + padded((await headerAt(handle, 0, file)).bytes);
    let done = 0;
    for (const part of manifest.parts) {
      const { name, bytes } = await headerAt(handle, at, file);
      if (name !== part.name || bytes !== part.bytes)
        throw damaged(file, `${part.name} of ${part.bytes} bytes`, `${name} of ${bytes} bytes`);
      const sha256 = await copyPart(handle, at + blockBytes, bytes, extract(part.name), (copied) => onBytes(done + copied, whole));
      if (sha256 !== part.sha256) throw damaged(file, `${part.name} with SHA-256 ${part.sha256}`, sha256);
      done += bytes;
      at += blockBytes + padded(bytes);
    }
    return manifest;
  } finally {
    await handle.close();
  }
}

async function readManifest(handle: FileHandle, file: string): Promise<Manifest> {
  const { name, bytes } = await headerAt(handle, 0, file);
  if (name !== manifestName || bytes > manifestBytesMax) throw damaged(file, `a backup that starts with ${manifestName}`, name);
  const text = Buffer.alloc(bytes);
  await handle.read(text, 0, bytes, blockBytes);
  const manifest = parseManifest(text.toString());
  if (manifest === undefined) throw damaged(file, `a manifest of format ${archiveFormat}`, text.toString().slice(0, 60));
  return manifest;
}

function parseManifest(text: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(text) as Manifest; // checked below
    const known = manifest.format === archiveFormat && ['sqlite', 'postgres'].includes(manifest.dialect) && Array.isArray(manifest.schema);
    return known && manifest.parts.every((part) => partNames.includes(part.name)) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function copyPart(
  handle: FileHandle,
  start: number,
  bytes: number,
  target: string,
  onCopied: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256');
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true });
  await once(output, 'open');
  let copied = 0;
  if (bytes > 0)
    for await (const chunk of handle.createReadStream({ start, end: start + bytes - 1, autoClose: false }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      if (!output.write(chunk)) await once(output, 'drain');
      copied += chunk.length;
      onCopied(copied);
    }
  output.end();
  await once(output, 'close');
  return hash.digest('hex');
}

const padded = (bytes: number): number => Math.ceil(bytes / blockBytes) * blockBytes;
const padding = (bytes: number): Buffer => Buffer.alloc(padded(bytes) - bytes);

const damaged = (file: string, expected: string, found: string): CommandFailure =>
  new CommandFailure(`${file}: expected ${expected}, found ${found}. The file is damaged or no backup of Gatehouse; take another one`);

const octalBytesMax = 8 ** 11 - 1;

function header(name: string, bytes: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(name, 0);
  block.write('0000600\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  if (bytes <= octalBytesMax) block.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  else {
    block[124] = 0x80; // base 256, for parts above 8 GiB
    block.writeBigUInt64BE(BigInt(bytes), 128);
  }
  block.write('00000000000\0', 136);
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\u000000', 257);
  block.write(`${sumOf(block).toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

const sumOf = (block: Buffer): number => block.reduce((sum, byte) => sum + byte, 0);

async function headerAt(handle: FileHandle, at: number, file: string): Promise<{ readonly name: string; readonly bytes: number }> {
  const block = Buffer.alloc(blockBytes);
  const { bytesRead } = await handle.read(block, 0, blockBytes, at);
  const told = Number.parseInt(block.toString('latin1', 148, 154), 8);
  const blank = Buffer.from(block);
  blank.fill(' ', 148, 156);
  if (bytesRead < blockBytes || told !== sumOf(blank)) throw damaged(file, `an archive entry at byte ${at}`, 'none');
  const bytes = block[124] === 0x80 ? Number(block.readBigUInt64BE(128)) : Number.parseInt(block.toString('latin1', 124, 135), 8);
  return { name: block.toString('latin1', 0, 100).replace(/\0.*$/s, ''), bytes };
}

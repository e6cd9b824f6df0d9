// The file of a backup: a tar archive of manifest.json and its parts, so that any tar can look into it.
// The manifest stands first and has the digest of every part. Written by `backup`, read by `restore`.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { extract as createReader, pack as createWriter, type Header } from 'tar-stream';
import { CommandFailure } from '../failure.ts';

export const archiveFormat = 'gatehouse-backup-1';
const partNames = ['gatehouse.db', 'database.dump', 'master.key'] as const;
export type PartName = (typeof partNames)[number];

export interface Manifest {
  readonly format: string;
  readonly version: string;
  readonly dialect: 'sqlite' | 'postgres';
  /** Numbers of the migrations the database has. */
  readonly schema: readonly number[];
  /** Of the schema; release 0.1.0 wrote none. */
  readonly level?: number;
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

type Entry = AsyncIterable<unknown> & { readonly header: Header };
type OnBytes = (done: number, whole: number) => void;

/** Writes the archive, mode 0600. It has its name once it is whole, and what did not become one goes. */
export async function writeArchive(file: string, manifest: Manifest, parts: readonly PartFile[], onBytes: OnBytes): Promise<void> {
  const archive = createWriter();
  const attributes = { mode: 0o600, mtime: new Date(0) };
  const fill = async (): Promise<void> => {
    archive.entry({ name: manifestName, ...attributes }, `${JSON.stringify(manifest, null, 2)}\n`);
    const onChunk = totalling(manifest, onBytes);
    for (const { name, file: source } of parts) {
      const { bytes } = manifest.parts.find((part) => part.name === name)!; // the manifest was made from these parts
      await pipeline(createReadStream(source), passing(onChunk), archive.entry({ name, size: bytes, ...attributes }));
    }
    archive.finalize();
  };
  const writing = `${file}.${process.pid}.archive`;
  try {
    await Promise.all([pipeline(archive, createWriteStream(writing, { flags: 'wx', mode: 0o600, flush: true })), fill()]);
    await rename(writing, file);
  } finally {
    await rm(writing, { force: true });
  }
}

/** Reads the manifest, then gives each part to `extract`, in order, while its digest is checked. @throws CommandFailure */
export async function readArchive(
  file: string,
  accept: (manifest: Manifest) => Promise<void>,
  extract: (part: PartName) => string,
  onBytes: OnBytes,
): Promise<Manifest> {
  const reader = createReader();
  const reading = pipeline(createReadStream(file), reader);
  reading.catch(() => undefined); // the entries fail with it
  const entries = reader[Symbol.asyncIterator]();
  let at = 0;
  const next = async (): Promise<Entry> => {
    const entry = await entries.next().catch(() => undefined);
    if (entry === undefined || entry.done === true) throw damaged(file, `an archive entry at byte ${at}`, 'none');
    at += blockBytes + Math.ceil(entry.value.header.size / blockBytes) * blockBytes;
    return entry.value;
  };
  try {
    const manifest = await readManifest(await next(), file);
    await accept(manifest);
    const onChunk = totalling(manifest, onBytes);
    for (const part of manifest.parts) {
      const entry = await next();
      const { name, size } = entry.header;
      if (name !== part.name || size !== part.bytes) throw damaged(file, `${part.name} of ${part.bytes} bytes`, `${name} of ${size} bytes`);
      const sha256 = await copyPart(entry, extract(part.name), onChunk);
      if (sha256 !== part.sha256) throw damaged(file, `${part.name} with SHA-256 ${part.sha256}`, sha256);
    }
    return manifest;
  } catch (error) {
    if (error instanceof CommandFailure || (error instanceof Error && 'code' in error)) throw error; // ours, or the disk's
    throw damaged(file, 'every byte its entries have', 'fewer');
  } finally {
    reader.destroy();
  }
}

async function readManifest(entry: Entry, file: string): Promise<Manifest> {
  const { name, size } = entry.header;
  if (name !== manifestName || size > manifestBytesMax) throw damaged(file, `a backup that starts with ${manifestName}`, name);
  const json = await text(entry);
  const manifest = parseManifest(json);
  if (manifest === undefined) throw damaged(file, `a manifest of format ${archiveFormat}`, json.slice(0, 60));
  return manifest;
}

function parseManifest(json: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(json) as Manifest; // checked below
    const known = manifest.format === archiveFormat && ['sqlite', 'postgres'].includes(manifest.dialect) && Array.isArray(manifest.schema);
    return known && manifest.parts.every((part) => partNames.includes(part.name)) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function copyPart(entry: Entry, target: string, onChunk: OnChunk): Promise<string> {
  const hash = createHash('sha256');
  const digest = passing((chunk) => {
    hash.update(chunk);
    onChunk(chunk);
  });
  await pipeline(entry, digest, createWriteStream(target, { flags: 'wx', mode: 0o600, flush: true }));
  return hash.digest('hex');
}

type OnChunk = (chunk: Buffer) => void;

function totalling(manifest: Manifest, onBytes: OnBytes): OnChunk {
  const whole = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
  let done = 0;
  return (chunk) => {
    done += chunk.length;
    onBytes(done, whole);
  };
}

const passing = (onChunk: OnChunk): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      onChunk(chunk);
      done(null, chunk);
    },
  });

const damaged = (file: string, expected: string, found: string): CommandFailure =>
  new CommandFailure(`${file}: expected ${expected}, found ${found}. The file is damaged or no backup of Gatehouse; take another one`);

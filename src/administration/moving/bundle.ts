// The file a whole tenant travels in: a line that says for which deployment, then lines of JSON sealed to it piece by piece
// (crypto/bundle-seal.ts). The first of them is the head; then each table names itself and its columns, a line a row; the last
// counts the rows. Whoever cannot trust it to the end writes nothing.
import type { KeyObject } from 'node:crypto';
import { tenantBundleRowBytesMax } from '../../contract/limits.ts';
import { type ImportKey, openWith, pieceBytes, sealedPieceBytes, sealTo } from '../../crypto/bundle-seal.ts';

export const bundleFormat = 'gatehouse-tenant-1';

/** Why a bundle is refused, as what was expected, what was found and what to do. */
export class BundleFault extends Error {}

export interface BundleHead {
  readonly id: string;
  readonly created: string;
  readonly release: string;
  /** Numbers of the migrations its rows have. */
  readonly migrations: readonly number[];
  readonly tenant_id: string;
  readonly slug: string;
  readonly domain: string | null;
  readonly base_url: string;
}

const firstLineBytesMax = 256;
const newline = 0x0a;

/** Seals lines, without their ends, to a deployment. */
export async function* sealBundle(
  lines: AsyncIterable<string>,
  recipient: { readonly key: KeyObject; readonly text: string },
): AsyncGenerator<Buffer> {
  const { header, seal } = sealTo(recipient.key, (oneTimeKey) => `${bundleFormat} ${recipient.text} ${oneTimeKey}\n`);
  yield Buffer.from(header);
  for await (const { piece, isLast } of piecesOf(bytesOf(lines), pieceBytes)) yield seal(piece, isLast);
}

/** The lines of a bundle, each as soon as its piece is found whole. @throws BundleFault */
export async function* openBundle(chunks: AsyncIterable<Buffer>, { text, privateKey }: ImportKey): AsyncGenerator<string> {
  const { header, rest } = await takeHeader(chunks);
  const [format, recipient, oneTimeKey] = header.trimEnd().split(' ');
  if (format !== bundleFormat || recipient === undefined || oneTimeKey === undefined)
    throw new BundleFault(
      `expected a bundle of format ${bundleFormat}, found ${JSON.stringify(header.slice(0, 40))}. Make one with: gatehouse export --complete`,
    );
  if (recipient !== text)
    throw new BundleFault(
      `expected a bundle for this deployment, ${text}, found one for ${recipient}. Export it again with: --for ${text}`,
    );
  yield* linesOf(opened(rest, privateKey, oneTimeKey, header));
}

async function* opened(rest: AsyncIterable<Buffer>, privateKey: KeyObject, oneTimeKey: string, header: string): AsyncGenerator<Buffer> {
  const open = attempt(() => openWith(privateKey, oneTimeKey, header));
  for await (const { piece, isLast } of piecesOf(rest, sealedPieceBytes)) yield attempt(() => open(piece, isLast));
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new BundleFault(
      'expected every byte as it was sealed, found a change, a gap or an end too early. Copy the file again, or export the tenant again',
      {
        cause: error,
      },
    );
  }
}

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const line of lines) {
    const bytes = Buffer.from(`${line}\n`);
    if (bytes.length - 1 > tenantBundleRowBytesMax) throw new BundleFault(tooLong(bytes.length - 1));
    yield bytes;
  }
}

const tooLong = (found: number): string => `expected rows of at most ${tenantBundleRowBytesMax} bytes, found one of ${found} or more`;

/** The bytes in pieces of one size; the last may be smaller. */
async function* piecesOf(
  chunks: AsyncIterable<Buffer>,
  size: number,
): AsyncGenerator<{ readonly piece: Buffer; readonly isLast: boolean }> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    bytes += chunk.length;
    if (bytes <= size) continue;
    let whole = Buffer.concat(held);
    for (; whole.length > size; whole = whole.subarray(size)) yield { piece: whole.subarray(0, size), isLast: false };
    held = [whole];
    bytes = whole.length;
  }
  yield { piece: Buffer.concat(held), isLast: true };
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = Buffer.concat([...held, chunk.subarray(start, end)]);
      if (line.length > tenantBundleRowBytesMax) throw new BundleFault(tooLong(line.length));
      yield line.toString();
      held = [];
      bytes = 0;
      start = end + 1;
    }
    held.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > tenantBundleRowBytesMax) throw new BundleFault(tooLong(bytes));
  }
}

async function takeHeader(chunks: AsyncIterable<Buffer>): Promise<{ readonly header: string; readonly rest: AsyncIterable<Buffer> }> {
  const source = chunks[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    held = Buffer.concat([held, next.value]);
    if (held.includes(newline) || held.length > firstLineBytesMax) break;
  }
  const end = held.indexOf(newline) + 1;
  return {
    header: held.subarray(0, Math.min(end === 0 ? held.length : end, firstLineBytesMax)).toString(),
    rest: following(held.subarray(end), source),
  };
}

async function* following(first: Buffer, source: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield next.value;
}

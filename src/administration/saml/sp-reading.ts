// Reads a service provider's metadata, at its address or as somebody gives it: the one place where it is fetched, bounded, parsed and its
// signature judged. For imports and for the refresh; what is done with what was read is theirs.
import { samlFetchedMetadataXmlLimits } from '../../contract/saml-metadata-limits.ts';
import type { XmlLimits } from '../../crypto/xml/reader.ts';
import { verifyMetadataSignature } from '../../crypto/xml/signature.ts';
import type { XmlElement } from '../../crypto/xml/tree.ts';
import type { TenantId } from '../../domain/ids.ts';
import { readRsaPublicKey } from '../../domain/rsa-public-key.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import type { Pace } from '../../platform/turns/pace.ts';
import { parseSpMetadata, type SpMetadata, type SpMetadataRefusal } from './sp-metadata.ts';

export interface ReadingDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

interface Wanted {
  /** Which one of a document that describes several; undefined: its only one. */
  readonly entityId: string | undefined;
  /** Who must have signed the document, by whom it describes; undefined: nobody. */
  readonly signerOf: (entityId: string) => Promise<string | undefined>;
}

export interface MetadataSource extends Wanted {
  readonly url: string;
  /** Of the last copy, where there is one. */
  readonly etag: string | null;
  /** What the document is parsed in, once it is here: a turn where that is long work of somebody who waits. */
  readonly inTurn: <T>(parse: (pace: Pace) => Promise<T>) => Promise<T>;
}

export interface Unread {
  readonly kind: 'failed';
  /** Why it could not be fetched (a failure of the way out, `status_404`), or what is wrong with the document. */
  readonly reason: string;
  /** Of a document, in words. */
  readonly text?: string;
  /** The field of a registration that it is about. */
  readonly field?: SpMetadataRefusal['field'];
}
export interface Given {
  readonly kind: 'given';
  readonly metadata: SpMetadata;
}
export interface Fetched {
  readonly kind: 'fetched';
  readonly metadata: SpMetadata;
  readonly etag: string | null;
}

const timeoutMs = 10_000;
const etagCharsMax = 1024;

export async function readMetadata(
  deps: ReadingDeps,
  tenant: TenantId,
  { url, entityId, signerOf, etag, inTurn }: MetadataSource,
): Promise<Unread | Fetched | { readonly kind: 'unchanged' }> {
  const limits = samlFetchedMetadataXmlLimits;
  const result = await deps.outbound.fetch({
    url,
    share: tenant,
    method: 'GET',
    headers: {
      accept: 'application/samlmetadata+xml, application/xml;q=0.9, text/xml;q=0.9',
      ...(etag === null ? {} : { 'if-none-match': etag }),
    },
    timeoutMs,
    responseBytesMax: limits.bytesMax,
  });
  if (!result.ok) return { kind: 'failed', reason: result.reason };
  if (result.status === 304 && etag !== null) return { kind: 'unchanged' };
  if (result.status !== 200) return { kind: 'failed', reason: `status_${result.status}` };
  return inTurn(async (pace) => {
    const read = await readDocument(deps, Buffer.from(result.body), { entityId, signerOf }, { limits, pace });
    if (read.kind === 'failed') return read;
    const given = result.headers['etag'] ?? '';
    return { kind: 'fetched', metadata: read.metadata, etag: /^[\x21-\x7e]+$/.test(given) && given.length <= etagCharsMax ? given : null };
  });
}

/** What a document says, once its signature was judged. */
export async function readDocument(
  { clock }: Pick<ReadingDeps, 'clock'>,
  bytes: Uint8Array,
  { entityId, signerOf }: Wanted,
  { limits, pace }: { readonly limits?: XmlLimits; readonly pace: Pace },
): Promise<Unread | Given> {
  const read = await parseSpMetadata(bytes, { nowMs: clock.nowMs(), entityId, limits, pace });
  if (!read.ok) return { kind: 'failed', reason: read.reason, text: read.text, field: read.field };
  const fault = await signatureFault(await signerOf(read.metadata.entityId), read.root, pace);
  return fault === undefined ? { kind: 'given', metadata: read.metadata } : { kind: 'failed', reason: fault };
}

async function signatureFault(certificate: string | undefined, root: XmlElement, pace: Pace): Promise<string | undefined> {
  if (certificate === undefined) return undefined;
  const key = readRsaPublicKey(certificate);
  if (!key.ok) return key.reason;
  const verification = await verifyMetadataSignature(root, [key.key], pace);
  return verification.ok ? undefined : verification.reason;
}

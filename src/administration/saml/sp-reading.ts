// Reads a service provider's metadata at its address: the one place where it is fetched, bounded, parsed and its signature judged. For the
// import by address and for the refresh; what is done with what was read is theirs.
import { samlFetchedMetadataXmlLimits } from '../../contract/saml-metadata-limits.ts';
import { verifyMetadataSignature } from '../../crypto/xml/signature.ts';
import type { XmlElement } from '../../crypto/xml/tree.ts';
import type { TenantId } from '../../domain/ids.ts';
import { readRsaPublicKey } from '../../domain/rsa-public-key.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Outbound } from '../../platform/net/outbound.ts';
import type { Pace } from '../../platform/turns/pace.ts';
import { parseSpMetadata, type SpMetadata } from './sp-metadata.ts';

export interface ReadingDeps {
  readonly outbound: Outbound;
  readonly clock: Clock;
}

export interface MetadataSource {
  readonly url: string;
  /** Which one of a document that describes several; undefined: its only one. */
  readonly entityId: string | undefined;
  /** Who must have signed the document, by whom it describes; undefined: nobody. */
  readonly signerOf: (entityId: string) => Promise<string | undefined>;
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
    const read = await parseSpMetadata(Buffer.from(result.body), { nowMs: deps.clock.nowMs(), entityId, limits, pace });
    if (!read.ok) return { kind: 'failed', reason: read.reason, text: read.text };
    const fault = await signatureFault(await signerOf(read.metadata.entityId), read.root, pace);
    if (fault !== undefined) return { kind: 'failed', reason: fault };
    const given = result.headers['etag'] ?? '';
    return { kind: 'fetched', metadata: read.metadata, etag: /^[\x21-\x7e]+$/.test(given) && given.length <= etagCharsMax ? given : null };
  });
}

async function signatureFault(certificate: string | undefined, root: XmlElement, pace: Pace): Promise<string | undefined> {
  if (certificate === undefined) return undefined;
  const key = readRsaPublicKey(certificate);
  if (!key.ok) return key.reason;
  const verification = await verifyMetadataSignature(root, [key.key], pace);
  return verification.ok ? undefined : verification.reason;
}

// Takes the SAML message out of its binding: base64 and DEFLATE of HTTP-Redirect, base64 of HTTP-POST (SAML bindings 3.4,
// 3.5), and checks the query signature of Redirect over the raw substrings. Called by sso.ts. Must not read the XML.
import { type KeyObject, verify } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { samlXmlLimits } from '../contract/limits.ts';
import { findSignatureHash } from '../crypto/xml/algorithms.ts';
import { parseBase64 } from '../crypto/xml/characters.ts';
import type { RawParameter } from './parameters.ts';

type MessageRefusal = 'not_base64' | 'not_deflate' | 'inflated_too_large' | 'bytes_after_deflate' | 'unknown_encoding';

type MessageReading = { readonly ok: true; readonly xml: Buffer } | { readonly ok: false; readonly reason: MessageRefusal };

const deflateEncoding = 'urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE';

/** The XML bytes of a Redirect message. */
export function readRedirectMessage(parameters: ReadonlyMap<string, RawParameter>): MessageReading {
  const encoding = parameters.get('SAMLEncoding')?.value;
  if (encoding !== undefined && encoding !== deflateEncoding) return { ok: false, reason: 'unknown_encoding' };
  const deflated = parseBase64(parameters.get('SAMLRequest')?.value ?? '', 'refused');
  return deflated === undefined ? { ok: false, reason: 'not_base64' } : inflate(deflated);
}

/** The XML bytes of a POST message. */
export function readPostMessage(parameters: ReadonlyMap<string, RawParameter>): MessageReading {
  const xml = parseBase64(parameters.get('SAMLRequest')?.value ?? '', 'allowed');
  return xml === undefined ? { ok: false, reason: 'not_base64' } : { ok: true, xml };
}

type QuerySignatureRefusal = 'signature_incomplete' | 'signature_algorithm' | 'signature_encoding' | 'signature_mismatch';

type QuerySignature =
  | { readonly state: 'absent' }
  | { readonly state: 'verified' }
  /** `received`: the algorithm that was refused. */
  | { readonly state: 'refused'; readonly reason: QuerySignatureRefusal; readonly received?: string };

/** Whether the query is signed by one of the keys, over exactly the text that was sent (SAML bindings 3.4.4.1). */
export function verifyQuerySignature(parameters: ReadonlyMap<string, RawParameter>, keys: readonly KeyObject[]): QuerySignature {
  const algorithm = parameters.get('SigAlg');
  const signature = parameters.get('Signature');
  if (algorithm === undefined && signature === undefined) return { state: 'absent' };
  if (algorithm === undefined || signature === undefined) return { state: 'refused', reason: 'signature_incomplete' };
  const hash = findSignatureHash(algorithm.value);
  if (hash === undefined) return { state: 'refused', reason: 'signature_algorithm', received: algorithm.value };
  const value = parseBase64(signature.value, 'refused');
  if (value === undefined) return { state: 'refused', reason: 'signature_encoding' };
  const relayState = parameters.get('RelayState');
  const signed = Buffer.from(
    `SAMLRequest=${parameters.get('SAMLRequest')?.raw ?? ''}${relayState === undefined ? '' : `&RelayState=${relayState.raw}`}&SigAlg=${algorithm.raw}`,
  );
  return keys.some((key) => verify(hash, signed, key, value)) ? { state: 'verified' } : { state: 'refused', reason: 'signature_mismatch' };
}

function inflate(deflated: Buffer): MessageReading {
  try {
    // `info` tells how many bytes the stream took: what follows it would be unread, and so is refused.
    const { buffer, engine } = inflateRawSync(deflated, {
      maxOutputLength: samlXmlLimits.bytesMax,
      info: true,
    }) as unknown as {
      readonly buffer: Buffer; // node:zlib answers this shape with `info`, which its types leave out
      readonly engine: { readonly bytesWritten: number };
    };
    return engine.bytesWritten === deflated.length ? { ok: true, xml: buffer } : { ok: false, reason: 'bytes_after_deflate' };
  } catch (error) {
    const tooLarge = error instanceof RangeError; // ERR_BUFFER_TOO_LARGE; anything else is a broken stream
    return { ok: false, reason: tooLarge ? 'inflated_too_large' : 'not_deflate' };
  }
}

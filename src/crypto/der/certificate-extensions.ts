// Reads the extensions of an X.509 certificate (RFC 5280 section 4.1), which node:crypto does not expose.
// Called by the attestation verifiers; judges no signature and no date. Throws MalformedBytes.
import { MalformedBytes } from '../malformed.ts';
import { derTag, expectDer, readDer, readDerChildren, readDerObjectIdentifier, readDerOctets, readDerSequence } from './reader.ts';

/** The extensions of a certificate by their object identifier, the value being the octets inside the extension. */
export function readCertificateExtensions(certificate: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const [tbs] = readDerSequence(readDer(certificate));
  const wrapper = readDerSequence(tbs).find((field) => field.class === 'context' && field.tag === 3);
  const extensions = new Map<string, Uint8Array>();
  if (wrapper === undefined) return extensions;
  const [list, ...rest] = readDerChildren(wrapper);
  if (rest.length > 0) throw new MalformedBytes('more than one extension list');
  for (const entry of readDerSequence(list)) {
    const fields = readDerSequence(entry);
    const oid = readDerObjectIdentifier(fields[0]);
    const value = readDerOctets(expectDer(fields.at(-1), derTag.octetString));
    if (fields.length > 3 || extensions.has(oid)) throw new MalformedBytes('bad or repeated certificate extension');
    extensions.set(oid, value);
  }
  return extensions;
}

// Reads the extensions of an X.509 certificate (RFC 5280 section 4.1), which node:crypto does not expose.
// Called by the attestation verifiers; judges no signature and no date. Throws MalformedBytes.
import { MalformedBytes } from '../malformed.ts';
import {
  type DerElement,
  derTag,
  expectDer,
  readDer,
  readDerBoolean,
  readDerChildren,
  readDerInteger,
  readDerObjectIdentifier,
  readDerOctets,
  readDerSequence,
} from './reader.ts';

export const basicConstraintsOid = '2.5.29.19';

interface Extension {
  readonly isCritical: boolean;
  /** The octets inside. */
  readonly value: Uint8Array;
}

/** The extensions of a certificate by their object identifier, the value being the octets inside the extension. */
export function readCertificateExtensions(certificate: Uint8Array): ReadonlyMap<string, Uint8Array> {
  return new Map([...readExtensions(certificate)].map(([oid, { value }]) => [oid, value]));
}

/** The object identifiers of those that who does not know them must refuse (RFC 5280 section 4.2). */
export function readCriticalExtensions(certificate: Uint8Array): readonly string[] {
  return [...readExtensions(certificate)].flatMap(([oid, { isCritical }]) => (isCritical ? [oid] : []));
}

/** How many authorities may stand below a certificate; undefined: any number (RFC 5280 section 4.2.1.9). */
export function readPathLength(certificate: Uint8Array): bigint | undefined {
  const constraints = readCertificateExtensions(certificate).get(basicConstraintsOid);
  if (constraints === undefined) return undefined;
  const [isAuthority, pathLength, ...rest] = readDerSequence(readDer(constraints));
  if (rest.length > 0 || (pathLength !== undefined && !readDerBoolean(isAuthority))) throw new MalformedBytes('bad basic constraints');
  const length = pathLength === undefined ? undefined : readDerInteger(pathLength);
  if (length !== undefined && length < 0n) throw new MalformedBytes('bad basic constraints');
  return length;
}

function readExtensions(certificate: Uint8Array): ReadonlyMap<string, Extension> {
  const [tbs] = readDerSequence(readDer(certificate));
  const wrapper = readDerSequence(tbs).find((field) => field.class === 'context' && field.tag === 3);
  const extensions = new Map<string, Extension>();
  if (wrapper === undefined) return extensions;
  const [list, ...rest] = readDerChildren(wrapper);
  if (rest.length > 0) throw new MalformedBytes('more than one extension list');
  for (const entry of readDerSequence(list)) {
    const fields = readDerSequence(entry);
    const oid = readDerObjectIdentifier(fields[0]);
    if (fields.length > 3 || extensions.has(oid)) throw new MalformedBytes('bad or repeated certificate extension');
    extensions.set(oid, readExtension(fields));
  }
  return extensions;
}

function readExtension(fields: readonly DerElement[]): Extension {
  const isCritical = fields.length === 3 && readDerBoolean(fields[1]);
  return { isCritical, value: readDerOctets(expectDer(fields.at(-1), derTag.octetString)) };
}

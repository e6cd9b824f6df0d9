// The certificate a client's connection was made with (RFC 8705): its thumbprint, and whether it holds a name. Reading names
// costs a library, so it is loaded when the first one is compared.
import { hash, X509Certificate } from 'node:crypto';
import { clientCertificateBytesMax } from '../contract/limits.ts';

export interface ClientCertificate {
  /** DER. */
  readonly raw: Buffer;
  /** SHA-256 of it, base64url: `x5t#S256` (RFC 8705 3.1). */
  readonly thumbprint: string;
  /** True when its chain ends at an authority the server, or its proxy, trusts, and it is in time. */
  readonly isVerified: boolean;
}

/** A certificate from its DER or PEM; undefined when it is none, or too large. */
export function readCertificate(bytes: Buffer | string, isVerified: boolean): ClientCertificate | undefined {
  try {
    const { raw } = new X509Certificate(bytes);
    return raw.length > clientCertificateBytesMax ? undefined : { raw, thumbprint: hash('sha256', raw, 'base64url'), isVerified };
  } catch {
    return undefined; // OpenSSL throws for whatever is no certificate
  }
}

export type NamePlace = 'subject' | 'dns' | 'url' | 'ip' | 'email';

/** Whether the certificate holds the name: its subject in the order of RFC 4514, or one alternative name. */
export async function holdsName({ raw }: ClientCertificate, place: NamePlace, name: string): Promise<boolean> {
  await import('reflect-metadata'); // @peculiar/x509 asks for it
  const { Name, SubjectAlternativeNameExtension, X509Certificate: Parsed } = await import('@peculiar/x509');
  try {
    const certificate = new Parsed(raw);
    // RFC 4514 2.1: the string starts with the last part of the sequence.
    if (place === 'subject') return sameName(new Name(withKnownTypes(name)).toJSON(), certificate.subjectName.toJSON().toReversed());
    const wanted = place === 'dns' || place === 'ip' ? name.toLowerCase() : name;
    const items = certificate.getExtension(SubjectAlternativeNameExtension)?.names.items ?? [];
    return items.some(({ type, value }) => type === place && (place === 'dns' || place === 'ip' ? value.toLowerCase() : value) === wanted);
  } catch {
    return false; // the library throws for names it cannot read
  }
}

/** Types of RFC 4519 and of certificates that the library calls otherwise, or by their number. */
const knownAs: Readonly<Record<string, string>> = {
  EMAILADDRESS: 'E',
  GIVENNAME: 'G',
  SURNAME: 'SN',
  SERIALNUMBER: '2.5.4.5',
  STREET: '2.5.4.9',
  UID: '0.9.2342.19200300.100.1.1',
};

/** RFC 4514 3: names of types have no case. */
const withKnownTypes = (name: string): string =>
  name.replace(/(^|(?<!\\)[,+])\s*([A-Za-z]+)(?==)/g, (_, before: string, type: string) => {
    const plain = type.toUpperCase();
    return `${before}${knownAs[plain] ?? plain}`;
  });

type Parts = readonly Readonly<Record<string, unknown>>[];

const sameName = (left: Parts, right: Parts): boolean => JSON.stringify(left.map(inOrder)) === JSON.stringify(right.map(inOrder));

/** A part of several values has no order of its own. */
const inOrder = (part: Readonly<Record<string, unknown>>): unknown => Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1));

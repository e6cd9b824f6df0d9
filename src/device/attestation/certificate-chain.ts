// Verifies an attestation's certificate chain up to one of the given roots. Called by the attestation verifiers.
// Roots and time are parameters; no root is trusted because a chain brings it along.
import { X509Certificate } from 'node:crypto';
import { basicConstraintsOid, readCriticalExtensions, readPathLength } from '../../crypto/der/certificate-extensions.ts';
import { MalformedBytes } from '../../crypto/malformed.ts';

const chainLengthMax = 8;
const certificateBytesMax = 16_384;

interface ChainPolicy {
  readonly roots: readonly X509Certificate[];
  readonly at: Date;
  /** Android's leaf certificates carry meaningless dates. */
  readonly leafDatesIgnored: boolean;
  /** The vendor's own extension, which the caller reads. */
  readonly extensionRead: string;
}

/** The parsed certificates, leaf first, once each is signed by the next and the last by a root; else MalformedBytes. */
export function verifyCertificateChain(chain: readonly Uint8Array[], policy: ChainPolicy): readonly X509Certificate[] {
  if (chain.length === 0 || chain.length > chainLengthMax) throw new MalformedBytes('chain_length');
  const certificates = chain.map(parseCertificate);
  const root = findRoot(certificates.at(-1)!, policy.roots); // the chain has at least one certificate
  if (root === undefined) throw new MalformedBytes('chain_root_unknown');
  if (!isValidAt(root, policy.at)) throw new MalformedBytes('chain_root_expired');
  for (const [index, certificate] of certificates.entries()) {
    if (!isSignedBy(certificate, certificates[index + 1] ?? root)) throw new MalformedBytes('chain_signature');
    const dateless = (index === 0 && policy.leafDatesIgnored) || isCopyOf(certificate, root);
    if (!dateless && !isValidAt(certificate, policy.at)) throw new MalformedBytes('chain_expired');
    if (index > 0 && !certificate.ca) throw new MalformedBytes('chain_issuer_is_no_authority');
    if (!readCriticalExtensions(certificate.raw).every((oid) => understood.has(oid) || oid === policy.extensionRead))
      throw new MalformedBytes('chain_critical_extension_unknown');
  }
  demandPathLengths(certificates, root);
  return certificates;
}

const keyUsageOid = '2.5.29.15';
/** Their effect is in `ca` and in the path lengths. */
const understood: ReadonlySet<string> = new Set([basicConstraintsOid, keyUsageOid]);

// RFC 5280 section 6.1.4: below an authority stand at most as many others as it says; those that issued themselves do not count.
function demandPathLengths(certificates: readonly X509Certificate[], root: X509Certificate): void {
  const authorities = certificates.slice(1).filter((certificate) => !isCopyOf(certificate, root));
  for (const [index, authority] of [...authorities, root].entries()) {
    const below = authorities.slice(0, index).filter((other) => other.issuer !== other.subject).length;
    const allowed = readPathLength(authority.raw);
    if (allowed !== undefined && BigInt(below) > allowed) throw new MalformedBytes('chain_path_too_long');
  }
}

/** One certificate from exactly its DER. */
function parseCertificate(der: Uint8Array): X509Certificate {
  if (der.byteLength > certificateBytesMax) throw new MalformedBytes('certificate_too_large');
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch (cause) {
    throw new MalformedBytes('certificate_unreadable', { cause });
  }
  if (!certificate.raw.equals(der)) throw new MalformedBytes('certificate_not_canonical');
  return certificate;
}

// A chain may end below the root or bring the root itself, also in an older edition; the trusted copy decides.
function findRoot(certificate: X509Certificate, roots: readonly X509Certificate[]): X509Certificate | undefined {
  return roots.find((root) => isSignedBy(certificate, root));
}

// Phones carry older editions of a root: same name, same key, other dates. The trusted edition's dates count.
function isCopyOf(certificate: X509Certificate, root: X509Certificate): boolean {
  return certificate.subject === root.subject && certificate.publicKey.equals(root.publicKey);
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.issuer === issuer.subject;
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return isIssuedBy(certificate, issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // a key of another type than the signature's
  }
}

function isValidAt(certificate: X509Certificate, at: Date): boolean {
  return certificate.validFromDate <= at && at <= certificate.validToDate;
}

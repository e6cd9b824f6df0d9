// Verifies Android key attestation (source.android.com "Key and ID attestation"): one certificate chain per key slot.
// Pure: roots, time, revoked serials and expected values are parameters. Called by the enrolment.
import type { X509Certificate } from 'node:crypto';
import { readCertificateExtensions } from '../../crypto/der/certificate-extensions.ts';
import { verifyCertificateChain } from './certificate-chain.ts';
import {
  authorizationTag,
  type KeyDescription,
  keyDescriptionOid,
  readApplicationId,
  readIntegerSet,
  readKeyDescription,
  readRootOfTrust,
  readSmallInteger,
} from './key-description.ts';
import { type AttestationOutcome, attestationOutcome, demand } from './outcome.ts';

export interface AndroidPolicy {
  readonly roots: readonly X509Certificate[];
  readonly at: Date;
  readonly packages: readonly string[];
  /** Lower-case hex SHA-256 of the certificates that may sign the app. */
  readonly signingDigests: readonly string[];
  /** Whether a certificate's lower-case hex serial, without leading zeros, is on the status list. */
  readonly isRevokedSerial: (serial: string) => boolean;
}

interface AndroidEvidence {
  readonly securityLevel: 'tee' | 'strongbox';
  readonly packages: readonly string[];
}

const securityLevelTee = 1;
const securityLevelStrongbox = 2;
const purposeSign = 2;
const originGenerated = 0;
const bootStateVerified = 0;
/** How long one unlocking may serve a key that approves. */
const authTimeoutSecondsMax = 30;

/** Whether a chain attests that `spki` was made in this phone's secure hardware, for this challenge, by an allowed app. */
export function verifyAndroidKey(
  input: {
    readonly chain: readonly Uint8Array[];
    readonly spki: Uint8Array;
    readonly challenge: Uint8Array;
    readonly userAuthenticationRequired: boolean;
  },
  policy: AndroidPolicy,
): AttestationOutcome<AndroidEvidence> {
  return attestationOutcome(() => {
    const chain = verifyCertificateChain(input.chain, {
      roots: policy.roots,
      at: policy.at,
      leafDatesIgnored: true,
      extensionRead: keyDescriptionOid,
    });
    for (const certificate of chain) {
      demand(!policy.isRevokedSerial(normalSerial(certificate.serialNumber)), 'certificate_revoked');
    }
    const description = readLeafDescription(chain);
    const leafKey = chain[0]!.publicKey.export({ format: 'der', type: 'spki' }); // a verified chain is not empty
    demand(leafKey.equals(input.spki), 'leaf_key_mismatch');
    demand(Buffer.from(description.challenge).equals(input.challenge), 'challenge_mismatch');
    demandHardware(description);
    demandUserAuthentication(description, input.userAuthenticationRequired);
    const packages = demandApplication(description, policy);
    const strongbox = description.attestationSecurityLevel === securityLevelStrongbox;
    return { securityLevel: strongbox ? 'strongbox' : 'tee', packages };
  });
}

// Only the hardware's own leaf carries the extension: an attested key that signs a further certificate proves nothing.
function readLeafDescription(chain: readonly X509Certificate[]): KeyDescription {
  for (const issuer of chain.slice(1)) {
    demand(!readCertificateExtensions(issuer.raw).has(keyDescriptionOid), 'key_description_above_leaf');
  }
  const value = readCertificateExtensions(chain[0]!.raw).get(keyDescriptionOid); // a verified chain is not empty
  demand(value !== undefined, 'key_description_missing');
  return readKeyDescription(value);
}

function demandHardware(description: KeyDescription): void {
  const { hardwareEnforced: hardware } = description;
  for (const level of [description.attestationSecurityLevel, description.keyMintSecurityLevel]) {
    demand(level === securityLevelTee || level === securityLevelStrongbox, 'security_level');
  }
  demand(readSmallInteger(hardware.get(authorizationTag.origin)) === originGenerated, 'key_not_generated');
  demand(readIntegerSet(hardware.get(authorizationTag.purpose)).includes(purposeSign), 'purpose_not_sign');
  demand(!hardware.has(authorizationTag.allApplications), 'key_of_all_applications');
  const root = readRootOfTrust(hardware.get(authorizationTag.rootOfTrust));
  demand(root.deviceLocked, 'boot_loader_unlocked');
  demand(root.verifiedBootState === bootStateVerified, 'boot_not_verified');
}

function demandUserAuthentication(description: KeyDescription, required: boolean): void {
  if (!required) return;
  const { hardwareEnforced: hardware, softwareEnforced: software } = description;
  const open = hardware.has(authorizationTag.noAuthRequired) || software.has(authorizationTag.noAuthRequired);
  demand(!open, 'user_authentication_not_required');
  const type = hardware.get(authorizationTag.userAuthType);
  demand(type !== undefined && readSmallInteger(type) !== 0, 'user_authentication_not_required');
  for (const list of [hardware, software]) {
    const timeout = list.get(authorizationTag.authTimeout); // none: each use asks
    demand(timeout === undefined || readSmallInteger(timeout) <= authTimeoutSecondsMax, 'user_authentication_lasts_too_long');
  }
}

function demandApplication(description: KeyDescription, policy: AndroidPolicy): readonly string[] {
  const id = readApplicationId(description.softwareEnforced.get(authorizationTag.attestationApplicationId));
  demand(id.packages.length > 0 && id.packages.every((name) => policy.packages.includes(name)), 'package_not_allowed');
  demand(
    id.signingDigests.length > 0 && id.signingDigests.every((digest) => policy.signingDigests.includes(digest)),
    'signing_digest_not_allowed',
  );
  return id.packages;
}

function normalSerial(serial: string): string {
  return serial.toLowerCase().replace(/^0+(?=.)/, '');
}

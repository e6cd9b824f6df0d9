// Judges the `attestation` member of an enrolment by the tenant's settings: one entry per format. Called by the enrolment.
// Never throws for what a phone sent; a wrong shape is a failure like any other (contract 7.18).
import { decodeBase64 } from '../../crypto/base64.ts';
import { attestationClientData, sha256 } from '../../crypto/signed-string.ts';
import {
  type AttestationFormat,
  androidFormat,
  appleFormat,
  attestationFormatNames,
  attestationFormats,
  isAttestationFormat,
  playFormat,
} from '../../domain/device/attestation-formats.ts';
import type { Settings } from '../../domain/tenant/settings.ts';
import type { DeviceAttestation, NewSlot } from '../../storage/device/devices.ts';
import { type Fields, isObject, own } from '../body-fields.ts';
import { verifyAndroidKey } from './android-key.ts';
import { type AppleEnvironment, verifyAppleAttestation } from './apple-appattest.ts';
import type { AttestationTrust } from './attestation-trust.ts';
import { type AttestationOutcome, attestationOutcome, demand } from './outcome.ts';
import { parsePlayVerificationKey, verifyPlayIntegrity } from './play-integrity.ts';

interface AttestationContext {
  readonly settings: Settings['attestation'];
  readonly trust: AttestationTrust;
  /** Gives the decryption key of Play Integrity in base64, when there is one. */
  readonly playDecryptionKey: () => string | undefined;
  readonly issuer: string;
  readonly deviceId: string;
  readonly challenge: string;
  readonly slots: readonly NewSlot[];
  readonly at: Date;
}

type Check = (
  fields: Fields,
  context: AttestationContext,
) => AttestationOutcome<DeviceAttestation> | Promise<AttestationOutcome<DeviceAttestation>>;

const chainsMax = 2;
const certificatesPerChainMax = 8;

const checks: Readonly<Record<AttestationFormat, Check>> = {
  [appleFormat]: checkApple,
  [androidFormat]: checkAndroid,
  [playFormat]: checkPlay,
};

/** The formats a tenant can judge, for the phone to choose from. */
export function configuredFormats(settings: Settings['attestation']): readonly string[] {
  if (settings.mode === 'off') return [];
  return attestationFormatNames.filter((name) => attestationFormats[name].isConfigured(settings));
}

/** Whether the attestation vouches for this device, its keys and this challenge. */
export async function checkAttestation(attestation: unknown, context: AttestationContext): Promise<AttestationOutcome<DeviceAttestation>> {
  if (attestation === undefined || attestation === null) return { ok: false, subreason: 'attestation_missing' };
  if (!isObject(attestation)) return { ok: false, subreason: 'attestation_shape' };
  const name = own(attestation, 'format');
  if (!isAttestationFormat(name)) return { ok: false, subreason: 'format_unknown' };
  if (!attestationFormats[name].isConfigured(context.settings)) return { ok: false, subreason: 'format_not_configured' };
  return checks[name](attestation, context);
}

function checkApple(fields: Fields, context: AttestationContext): AttestationOutcome<DeviceAttestation> {
  const keyId = decodeMember(fields, 'key_id');
  const attestationObject = decodeMember(fields, 'attestation_object');
  if (keyId === undefined || attestationObject === undefined) return { ok: false, subreason: 'attestation_shape' };
  const clientDataHash = sha256(clientData(context));
  const outcome = verifyAppleAttestation(
    { attestationObject, keyId, clientDataHash },
    {
      roots: context.trust.appleRoots,
      at: context.at,
      appIds: context.settings.apple.app_ids,
      environments: context.settings.apple.environments as readonly AppleEnvironment[], // validated when the settings were written
    },
  );
  if (!outcome.ok) return outcome;
  const { appId, publicKey } = outcome.evidence;
  return { ok: true, evidence: { format: appleFormat, appId, publicKey: publicKey.toString('base64') } };
}

// One chain per slot, so that the keys themselves are vouched for.
function checkAndroid(fields: Fields, context: AttestationContext): AttestationOutcome<DeviceAttestation> {
  return attestationOutcome(() => {
    const items = own(fields, 'keys');
    demand(Array.isArray(items) && items.length <= chainsMax && items.every(isObject), 'attestation_shape');
    demand(items.length === context.slots.length, 'chain_missing');
    let packages: readonly string[] = [];
    for (const slot of context.slots) {
      const item = items.find((candidate) => String(own(candidate, 'key_id')).toLowerCase() === slot.keyId.toLowerCase());
      demand(item !== undefined, 'chain_missing');
      const outcome = verifyAndroidKey(
        {
          chain: decodeChain(own(item, 'x5c')),
          spki: Buffer.from(slot.publicKey, 'base64'),
          challenge: Buffer.from(context.challenge, 'utf8'),
          userAuthenticationRequired: slot.purpose === 'uv',
        },
        {
          roots: context.trust.androidRoots,
          at: context.at,
          packages: context.settings.android.packages,
          signingDigests: context.settings.android.signing_digests,
          isRevokedSerial: (serial) => context.trust.revokedSerials.has(serial),
        },
      );
      demand(outcome.ok, outcome.ok ? '' : outcome.subreason);
      packages = outcome.evidence.packages;
    }
    return { format: androidFormat, appId: packages[0] ?? null, publicKey: null };
  });
}

// The nonce of the token is the base64url SHA-256 of the same client data Apple's attestation covers.
async function checkPlay(fields: Fields, context: AttestationContext): Promise<AttestationOutcome<DeviceAttestation>> {
  const token = own(fields, 'token');
  const decryptionKey = decodeBase64(context.playDecryptionKey() ?? '');
  const verificationKey = parsePlayVerificationKey(String(own(context.settings.play_integrity ?? {}, 'verification_key')));
  if (decryptionKey?.byteLength !== 32 || verificationKey === undefined) return { ok: false, subreason: 'format_not_configured' };
  if (typeof token !== 'string') return { ok: false, subreason: 'attestation_shape' };
  const outcome = await verifyPlayIntegrity(
    { token, nonce: sha256(clientData(context)).toString('base64url') },
    {
      decryptionKey,
      verificationKey,
      at: context.at,
      packages: context.settings.android.packages,
      signingDigests: context.settings.android.signing_digests,
    },
  );
  if (!outcome.ok) return outcome;
  return { ok: true, evidence: { format: playFormat, appId: outcome.evidence.packageName, publicKey: null } };
}

function clientData(context: AttestationContext): Buffer {
  const keys = context.slots.map((slot) => ({ keyId: slot.keyId, spki: Buffer.from(slot.publicKey, 'base64') }));
  return attestationClientData({ issuer: context.issuer, deviceId: context.deviceId, challenge: context.challenge, keys });
}

function decodeMember(fields: Fields, name: string): Buffer | undefined {
  const value = own(fields, name);
  return typeof value === 'string' ? decodeBase64(value) : undefined;
}

function decodeChain(value: unknown): readonly Buffer[] {
  demand(Array.isArray(value) && value.length <= certificatesPerChainMax, 'attestation_shape');
  return value.map((text) => {
    const der = typeof text === 'string' ? decodeBase64(text) : undefined;
    demand(der !== undefined, 'attestation_shape');
    return der;
  });
}

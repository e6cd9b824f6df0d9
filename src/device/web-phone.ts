// What holds for web phones alone: their keys, where a tenant allows them, and what a key's protection is worth by its evidence.
import { reject } from '../contract/contract-error.ts';
import {
  isBackupEligible,
  isPlatformCredentialAlg,
  keyAlgOf,
  parsePlatformSignature,
  platformCredentialAlgs,
} from '../crypto/platform-credential.ts';
import { areWebPhonesAllowed } from '../domain/device/web-phones.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { NewSlot } from '../storage/device/devices.ts';
import { badField } from './body-fields.ts';

/** How a device's uv key is kept: attested, a platform credential (bound to one machine or synced), or as the phone claims. */
export type KeyProtection = 'attested' | 'webauthn' | 'webauthn_synced' | 'claimed';

/** The algorithms a phone of this platform may bring. */
export function algsOfPlatform(platform: string, allowed: readonly string[]): readonly string[] {
  if (platform !== 'web') return allowed;
  return ['ES256', ...platformCredentialAlgs].filter((alg) => allowed.includes(keyAlgOf(alg)));
}

/** A web phone has a pop key of ES256 and a platform credential as its uv key, no less. */
export function demandKeysOfPlatform(platform: string, slots: readonly NewSlot[]): void {
  if (platform !== 'web') return;
  const algOf = (purpose: string): string => slots.find((slot) => slot.purpose === purpose)?.alg ?? '';
  if (algOf('pop') !== 'ES256' || !isPlatformCredentialAlg(algOf('uv')))
    throw badField('keys', 'an ES256 pop key and a platform credential as the uv key of a web phone');
}

/** Refuses what a web phone may not do where the tenant has none; looking and denying it may. */
export function demandWebPhonesAllowed(tenant: Tenant, platform: string): void {
  if (platform !== 'web' || areWebPhonesAllowed(tenant)) return;
  const reason = tenant.settings.device.web_phones ? 'attestation.mode' : 'device.web_phones';
  throw reject('device.web_phone_disabled', { reason, expected: true, received: false });
}

/** From the evidence of the enrolment: attestation, or the flags of the authenticator that proved the uv key. */
export function keyProtectionOf(slots: readonly NewSlot[], uvProof: Buffer | undefined, isAttested: boolean): KeyProtection {
  if (isAttested) return 'attested';
  const uv = slots.find((slot) => slot.purpose === 'uv');
  if (uv === undefined || !isPlatformCredentialAlg(uv.alg)) return 'claimed';
  const parts = uvProof && parsePlatformSignature(uvProof);
  return parts !== undefined && isBackupEligible(parts) ? 'webauthn_synced' : 'webauthn';
}

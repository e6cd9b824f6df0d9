// The formats in which a phone's app proves itself (contract 7.18): one registry for the device plane, which needs a verifier for
// each, and for settings.
import type { Settings } from '../tenant/settings.ts';

type AttestationSettings = Settings['attestation'];

export const appleFormat = 'apple-appattest';
export const androidFormat = 'android-key';
export const playFormat = 'play-integrity';

export const attestationFormats = {
  [appleFormat]: { isConfigured: ({ apple }: AttestationSettings) => apple.app_ids.length > 0 },
  [androidFormat]: { isConfigured: ({ android }: AttestationSettings) => android.packages.length > 0 },
  [playFormat]: { isConfigured: (settings: AttestationSettings) => settings.play_integrity !== null },
} as const;

export type AttestationFormat = keyof typeof attestationFormats;
export const attestationFormatNames = Object.keys(attestationFormats) as readonly AttestationFormat[]; // its own keys

export const isAttestationFormat = (name: unknown): name is AttestationFormat =>
  typeof name === 'string' && Object.hasOwn(attestationFormats, name);

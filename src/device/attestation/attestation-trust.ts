// What attestations are checked against in this process: roots and revoked serials, read once when the surface is made.
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { androidRoots, appleRoots, parseRootsPem, parseStatusList } from './roots.ts';

export interface AttestationTrust {
  readonly appleRoots: readonly X509Certificate[];
  readonly androidRoots: readonly X509Certificate[];
  readonly revokedSerials: ReadonlySet<string>;
}

/** Reads the configured files, or takes the built-in roots. */
export function loadAttestationTrust(config: Config): AttestationTrust {
  const { attestationRootsApple: apple, attestationRootsAndroid: android, attestationStatusList: statusList } = config;
  return {
    appleRoots: apple === undefined ? appleRoots() : parseRootsPem(readFileSync(apple, 'utf8')),
    androidRoots: android === undefined ? androidRoots() : parseRootsPem(readFileSync(android, 'utf8')),
    revokedSerials: statusList === undefined ? new Set() : parseStatusList(readFileSync(statusList, 'utf8')),
  };
}

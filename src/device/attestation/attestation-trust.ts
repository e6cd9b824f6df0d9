// What attestations are checked against in this process: roots and revoked serials, read once when the surface is made.
import type { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Config, ConfigError } from '../../config.ts';
import { androidRoots, appleRoots, parseRootsPem, parseStatusList } from './roots.ts';

export interface AttestationTrust {
  readonly appleRoots: readonly X509Certificate[];
  readonly androidRoots: readonly X509Certificate[];
  readonly revokedSerials: ReadonlySet<string>;
}

/** Reads the configured files, or takes the built-in roots. @throws ConfigError that names the setting */
export function loadAttestationTrust(config: Config): AttestationTrust {
  const { attestationRootsApple: apple, attestationRootsAndroid: android, attestationStatusList: statusList } = config;
  return {
    appleRoots: apple === undefined ? appleRoots() : read('attestation_roots_apple', apple, parseRootsPem),
    androidRoots: android === undefined ? androidRoots() : read('attestation_roots_android', android, parseRootsPem),
    revokedSerials: statusList === undefined ? new Set() : read('attestation_status_list', statusList, parseStatusList),
  };
}

function read<Parsed>(setting: string, file: string, parse: (text: string) => Parsed): Parsed {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(`${setting}: expected a readable file, found none at ${file}`, { cause: error });
  }
  try {
    return parse(text);
  } catch (error) {
    const { message } = error as Error; // both parsers throw Errors
    throw new ConfigError(`${setting}: ${file}: ${message}`, { cause: error });
  }
}

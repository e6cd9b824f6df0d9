// COSE_Key (RFC 9052 7, RFC 9053 7) of the algorithms a passkey may use, held to the same rules as the keys of phones.
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { expectCborBytes, expectCborMap, readCbor } from './cbor/reader.ts';
import { type DeviceAlgorithmName, parseDevicePublicKey } from './device-algorithms.ts';

/** The algorithm of a COSE_Key that is one usable public key; undefined for every other. */
export function algorithmOfCoseKey(bytes: Uint8Array): DeviceAlgorithmName | undefined {
  try {
    const key = expectCborMap(readCbor(bytes));
    const text = (label: number): string => Buffer.from(expectCborBytes(key.get(label))).toString('base64url');
    const [name, jwk] = namedKey(`${key.get(1)} ${key.get(3)} ${key.get(1) === 3 ? '' : key.get(-1)}`, text);
    const spki = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' });
    return parseDevicePublicKey(name, spki) === undefined ? undefined : name;
  } catch {
    return undefined; // CBOR that is malformed, or coordinates that are no key
  }
}

/** By kty, alg and curve. */
function namedKey(kind: string, text: (label: number) => string): readonly [DeviceAlgorithmName, JsonWebKey] {
  switch (kind) {
    case '2 -7 1':
      return ['ES256', { kty: 'EC', crv: 'P-256', x: text(-2), y: text(-3) }];
    case '1 -8 6':
      return ['EdDSA', { kty: 'OKP', crv: 'Ed25519', x: text(-2) }];
    case '3 -257 ':
      return ['RS256', { kty: 'RSA', n: text(-1), e: text(-2) }];
    default:
      throw new Error(`no algorithm of ours: ${kind}`);
  }
}

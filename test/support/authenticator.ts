// A software authenticator (WebAuthn 6): ES256 keys, user verification, a signature counter. It answers options as a browser
// at `origin` would, and does what it is told about every field, so that tests can lie in each of them.
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { cbor } from './cbor-build.ts';

export interface RequestOptions {
  readonly challenge: string;
  readonly timeout: number;
  readonly rpId: string;
  readonly allowCredentials: readonly { readonly id: string; readonly type: string }[];
  readonly userVerification: string;
}

export interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly excludeCredentials: readonly { readonly id: string }[];
}

/** What a response says; each absent field is the honest value. */
export interface Lies {
  readonly type?: string;
  readonly challenge?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly userHandle?: string;
  /** Sign with another key. */
  readonly key?: KeyObject;
  readonly credentialId?: string;
}

export interface AssertionJson {
  readonly id: string;
  readonly rawId: string;
  readonly type: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle: string;
  };
  readonly clientExtensionResults: object;
}

export interface TestPasskey {
  readonly credentialId: string;
  readonly privateKey: KeyObject;
  /** COSE_Key, base64url. */
  readonly publicKey: string;
  /** RegistrationResponseJSON for creation options. */
  readonly register: (options: CreationOptions, lies?: Lies) => Record<string, unknown>;
  /** AuthenticationResponseJSON for request options; the counter moves on. */
  readonly sign: (options: RequestOptions, lies?: Lies) => AssertionJson;
}

export const flags = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08, backedUp: 0x10, attestedData: 0x40 };
const honest = flags.userPresent | flags.userVerified;

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();

/** @param counter What its signature counter says first; undefined for an authenticator without one. */
export function createPasskey(origin: string, userHandle: string, counter?: number): TestPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = publicKey.export({ format: 'jwk' });
  const entries: readonly [number, number | Uint8Array][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x!, 'base64url')],
    [-3, Buffer.from(y!, 'base64url')],
  ];
  const coseKey = cbor(new Map(entries));
  const id = randomBytes(20);
  const credentialId = id.toString('base64url');
  let uses = counter;
  const clientData = (type: string, options: { readonly challenge: string }, lies: Lies): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? options.challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  const next = (): number => {
    if (uses === undefined) return 0;
    uses += 1;
    return uses;
  };
  return {
    credentialId,
    privateKey,
    publicKey: coseKey.toString('base64url'),
    register: (options, lies = {}) => {
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.of(0, id.length), id, coseKey]);
      const authData = authenticatorData(
        lies.rpId ?? options.rp.id,
        (lies.flags ?? honest) | flags.attestedData,
        lies.counter ?? next(),
        attested,
      );
      const data = clientData('webauthn.create', options, lies);
      const signature = createSign('sha256')
        .update(authData)
        .update(sha256(data))
        .sign(lies.key ?? privateKey);
      const statement = new Map<string, number | Uint8Array>([
        ['alg', -7],
        ['sig', signature],
      ]); // packed, self attestation
      const attestationObject = cbor(
        new Map<string, string | Uint8Array | Map<string, number | Uint8Array>>([
          ['fmt', 'packed'],
          ['attStmt', statement],
          ['authData', authData],
        ]),
      );
      return {
        id: lies.credentialId ?? credentialId,
        rawId: lies.credentialId ?? credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          attestationObject: attestationObject.toString('base64url'),
          transports: ['internal', 'hybrid'],
        },
        clientExtensionResults: {},
      };
    },
    sign: (options, lies = {}) => {
      const authData = authenticatorData(lies.rpId ?? options.rpId, lies.flags ?? honest, lies.counter ?? next());
      const data = clientData('webauthn.get', options, lies);
      const signature = createSign('sha256')
        .update(authData)
        .update(sha256(data))
        .sign(lies.key ?? privateKey);
      return {
        id: lies.credentialId ?? credentialId,
        rawId: lies.credentialId ?? credentialId,
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: lies.userHandle ?? userHandle,
        },
        clientExtensionResults: {},
      };
    },
  };
}

function authenticatorData(rpId: string, flagBits: number, counter: number, attested: Uint8Array = Buffer.alloc(0)): Buffer {
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  return Buffer.concat([sha256(rpId), Buffer.of(flagBits), count, attested]);
}

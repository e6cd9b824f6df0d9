// A web phone for black-box tests: its uv key is a platform credential that says what an authenticator and a browser would say,
// or lies in any part of it, as told.
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { signText } from '../../sdk/node.ts';
import { createPhone, type Phone, type PhoneKey } from './phone.ts';
import { freshRsaKeys } from './rsa-keys.ts';

export interface CredentialLies {
  readonly type?: string;
  /** The text the browser says was asked about. */
  readonly text?: string;
  readonly origin?: string;
  readonly crossOrigin?: boolean;
  readonly topOrigin?: string;
  readonly rpId?: string;
  readonly flags?: number;
  /** Signs instead of the credential, or of the silent key. */
  readonly credential?: PhoneKey;
  readonly pop?: PhoneKey;
  /** More members of the client data. */
  readonly more?: Readonly<Record<string, unknown>>;
  /** Changes the authenticator's signature, or the whole. */
  readonly spoilSignature?: (signature: Buffer) => Buffer;
  readonly spoil?: (whole: Buffer) => Buffer;
}

export const credentialFlags = { userPresent: 0x01, userVerified: 0x04, backupEligible: 0x08 };
const honest = credentialFlags.userPresent | credentialFlags.userVerified;

export interface WebPhone extends Phone {
  /** What the credential says from now on. */
  readonly lie: (lies: CredentialLies) => void;
}

export function createWebPhone(
  baseUrl: string,
  nowMs: () => number,
  alg: 'WebAuthn-ES256' | 'WebAuthn-RS256' = 'WebAuthn-ES256',
): WebPhone {
  const phone = createPhone(baseUrl, nowMs);
  let lies: CredentialLies = {};
  phone.keys.uv = makeCredential(
    baseUrl,
    alg,
    () => phone.keys.pop,
    () => lies,
  );
  return {
    ...phone,
    lie: (told) => {
      lies = told;
    },
  };
}

/** A uv key that is a platform credential of a base_url. */
export function makeCredential(
  baseUrl: string,
  alg: 'WebAuthn-ES256' | 'WebAuthn-RS256',
  popOf: () => PhoneKey,
  liesOf: () => CredentialLies = () => ({}),
): PhoneKey {
  const pair = alg === 'WebAuthn-ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : freshRsaKeys();
  const { origin, hostname } = new URL(baseUrl);
  const assertion = (text: string): Buffer => {
    const lies = liesOf();
    const clientData = Buffer.from(
      JSON.stringify({
        type: lies.type ?? 'webauthn.get',
        challenge: sha256(lies.text ?? text).toString('base64url'),
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
        ...(lies.topOrigin === undefined ? {} : { topOrigin: lies.topOrigin }),
        ...lies.more,
      }),
    );
    const authenticatorData = Buffer.concat([sha256(lies.rpId ?? hostname), Buffer.of(lies.flags ?? honest, 0, 0, 0, 0)]);
    const key = lies.credential?.privateKey ?? pair.privateKey;
    const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), key); // DER, as authenticators sign
    const parts = [authenticatorData, clientData, lies.spoilSignature?.(signature) ?? signature];
    const pop = signText((lies.pop ?? popOf()).privateKey, text);
    const whole = Buffer.concat([...parts.flatMap((part) => [lengthOf(part), part]), pop]);
    return lies.spoil?.(whole) ?? whole;
  };
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  return { keyId: randomUUID(), purpose: 'uv', alg, privateKey: pair.privateKey, publicKey, sign: assertion };
}

const lengthOf = (part: Buffer): Buffer => Buffer.of(part.byteLength >> 8, part.byteLength & 0xff);
const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

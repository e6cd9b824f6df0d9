// WebAuthn responses: parsed within limits, then verified by @simplewebauthn/server, which is loaded at first use so that a
// server nobody signs in to by passkey pays nothing for it. Knows no user and no storage; every failure is a stable word.
import { createHash } from 'node:crypto';
import { passkeyCredentialIdBytesMax, passkeyTextCharsMax, passkeyTransportsMax } from '../contract/limits.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { decodeBase64Url } from './base64.ts';
import { algorithmOfCoseKey } from './cose-key.ts';
import { isStrictEcdsaDer } from './device-algorithms.ts';

/** Who the credentials are made for: `id` is the host, `origin` what the browser must name exactly. */
export interface PasskeyParty {
  readonly id: string;
  readonly origin: string;
}

/** COSE algorithms a passkey may use, most wanted first: EdDSA, ES256, RS256. */
export const passkeyAlgorithms = [-8, -7, -257] as const;

interface CollectedClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
  readonly crossOrigin: boolean;
}

/** An AuthenticationResponseJSON whose texts are base64url and within limits. */
export interface Assertion {
  readonly credentialId: string;
  readonly clientDataJson: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle: string | undefined;
  readonly clientData: CollectedClientData;
}

/** A RegistrationResponseJSON whose texts are base64url and within limits. */
export interface Attestation {
  readonly credentialId: string;
  readonly clientDataJson: string;
  readonly attestationObject: string;
  readonly transports: readonly string[];
  readonly clientData: CollectedClientData;
}

export interface StoredCredential {
  readonly credentialId: string;
  /** COSE_Key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
}

interface NewCredential extends StoredCredential {
  readonly transports: readonly string[];
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
  readonly aaguid: string;
}

export type PasskeyFault =
  | 'type'
  | 'challenge'
  | 'origin'
  | 'cross_origin'
  | 'rp_id'
  | 'user_verification'
  | 'counter'
  | 'backup_flags'
  | 'signature'
  | 'credential';

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** WebAuthn 5.1.8.1; undefined for anything that is not one. */
export function parseAssertion(value: unknown): Assertion | undefined {
  const credential = parseCredential(value);
  if (credential === undefined) return undefined;
  const { authenticatorData, signature, userHandle } = credential.response;
  if (!isText(authenticatorData) || !isText(signature)) return undefined;
  if (userHandle !== undefined && userHandle !== null && !isText(userHandle)) return undefined;
  return { ...credential, authenticatorData, signature, userHandle: userHandle ?? undefined };
}

/** WebAuthn 5.1.8.1; undefined for anything that is not one. */
export function parseAttestation(value: unknown): Attestation | undefined {
  const credential = parseCredential(value);
  if (credential === undefined) return undefined;
  const { attestationObject, transports = [] } = credential.response;
  if (!isText(attestationObject)) return undefined;
  if (!Array.isArray(transports) || transports.length > passkeyTransportsMax) return undefined;
  if (!transports.every((transport) => typeof transport === 'string' && /^[a-z-]{1,32}$/.test(transport))) return undefined;
  return { ...credential, attestationObject, transports };
}

function parseCredential(value: unknown) {
  if (!isObject(value) || !isObject(value['response'])) return undefined;
  const { id, rawId, type, response } = value as Json & { readonly response: Json };
  if (type !== 'public-key' || !isText(id) || id !== rawId) return undefined;
  if (id.length > Math.ceil((passkeyCredentialIdBytesMax * 4) / 3)) return undefined;
  const { clientDataJSON: clientDataJson } = response;
  if (!isText(clientDataJson)) return undefined;
  const clientData = parseClientData(clientDataJson);
  return clientData === undefined ? undefined : { credentialId: id, clientDataJson, clientData, response };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= passkeyTextCharsMax && decodeBase64Url(value) !== undefined;
}

function parseClientData(text: string): CollectedClientData | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!isObject(value)) return undefined;
    const { type, challenge, origin, crossOrigin } = value;
    if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string') return undefined;
    return { type, challenge, origin, crossOrigin: crossOrigin !== undefined && crossOrigin !== false };
  } catch {
    return undefined;
  }
}

const library = (): Promise<typeof import('@simplewebauthn/server')> => import('@simplewebauthn/server');

/** WebAuthn 7.2, the user verified. The caller has checked whose credential it is, and consumes the challenge afterwards. */
export async function verifyAssertion(
  party: PasskeyParty,
  credential: StoredCredential,
  assertion: Assertion,
  isChallenge: (challenge: string) => boolean,
): Promise<Outcome<{ readonly counter: number; readonly backedUp: boolean }, PasskeyFault>> {
  const { verifyAuthenticationResponse } = await library();
  const fault =
    clientDataFault(assertion.clientData, 'webauthn.get', party, isChallenge) ??
    authenticatorDataFault(Buffer.from(assertion.authenticatorData, 'base64url'), party, credential.counter);
  if (fault !== undefined) return fail(fault);
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: assertion.credentialId,
        rawId: assertion.credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: assertion.clientDataJson,
          authenticatorData: assertion.authenticatorData,
          signature: assertion.signature,
        },
      },
      expectedChallenge: isChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: { id: credential.credentialId, publicKey: bytesOf(credential.publicKey), counter: credential.counter },
    });
    if (!verified || !isOneEncoding(credential, assertion)) return fail('signature');
    return { ok: true, counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp };
  } catch {
    return fail('signature'); // what the checks above let pass and the library does not: a signature or data that cannot be read
  }
}

/** The library reads loose DER; a response has one form only, so that no second one passes for another. */
function isOneEncoding(credential: StoredCredential, assertion: Assertion): boolean {
  if (algorithmOfCoseKey(bytesOf(credential.publicKey)) !== 'ES256') return true; // EdDSA and RSA signatures have a fixed length
  return isStrictEcdsaDer(bytesOf(assertion.signature));
}

/** WebAuthn 7.1, the user verified, attestation not asked for. */
export async function verifyAttestation(
  party: PasskeyParty,
  attestation: Attestation,
  isChallenge: (challenge: string) => boolean,
): Promise<Outcome<{ readonly credential: NewCredential }, PasskeyFault>> {
  const { verifyRegistrationResponse } = await library();
  const fault = clientDataFault(attestation.clientData, 'webauthn.create', party, isChallenge);
  if (fault !== undefined) return fail(fault);
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: attestation.credentialId,
        rawId: attestation.credentialId,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: attestation.clientDataJson, attestationObject: attestation.attestationObject },
      },
      expectedChallenge: isChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...passkeyAlgorithms],
    });
    if (!verified || registrationInfo.credential.id !== attestation.credentialId) return fail('credential');
    if (algorithmOfCoseKey(registrationInfo.credential.publicKey) === undefined) return fail('credential');
    const { credential, credentialDeviceType, credentialBackedUp, aaguid } = registrationInfo;
    return {
      ok: true,
      credential: {
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        counter: credential.counter,
        transports: attestation.transports,
        backupEligible: credentialDeviceType === 'multiDevice',
        backedUp: credentialBackedUp,
        aaguid,
      },
    };
  } catch {
    return fail('credential'); // the rest of WebAuthn 7.1: flags, rpIdHash, key, algorithm, statement
  }
}

function clientDataFault(
  data: CollectedClientData,
  type: string,
  party: PasskeyParty,
  isChallenge: (challenge: string) => boolean,
): PasskeyFault | undefined {
  if (data.type !== type) return 'type';
  if (!isChallenge(data.challenge)) return 'challenge';
  if (data.origin !== party.origin) return 'origin';
  return data.crossOrigin ? 'cross_origin' : undefined; // our pages are never framed
}

const userPresent = 0x01;
const userVerified = 0x04;
const backupEligible = 0x08;
const backedUp = 0x10;

/** WebAuthn 6.1: rpIdHash, flags, signature counter. */
function authenticatorDataFault(data: Buffer, party: PasskeyParty, counter: number): PasskeyFault | undefined {
  if (data.length < 37) return 'signature';
  if (!createHash('sha256').update(party.id).digest().equals(data.subarray(0, 32))) return 'rp_id';
  const flags = data[32]!;
  if ((flags & userPresent) === 0 || (flags & userVerified) === 0) return 'user_verification';
  if ((flags & backedUp) !== 0 && (flags & backupEligible) === 0) return 'backup_flags'; // WebAuthn 6.1.3
  const presented = data.readUInt32BE(33);
  return presented <= counter && (presented !== 0 || counter !== 0) ? 'counter' : undefined;
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, 'base64url'));

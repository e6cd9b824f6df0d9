// Who signed a request: the second half of the documented order of checks, after the headers. Gives the caller to the
// endpoint or throws the row. The replay set is written only after a signature verified, in a transaction of its own.
import type { FastifyRequest } from 'fastify';
import type { PinDeps } from '../approvals/mailed/pin.ts';
import { reject } from '../contract/contract-error.ts';
import { findDeviceAlgorithm } from '../crypto/device-algorithms.ts';
import { isPlatformCredentialAlg, keyAlgOf, type PlatformCredentialAlg } from '../crypto/platform-credential.ts';
import { sha256Hex, signedRequestBytes } from '../crypto/signed-string.ts';
import type { DeviceId, UserId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { enforceRateLimit, giveBack } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Parts } from '../http/services.ts';
import { rawTargetOf } from '../http/tenant-name.ts';
import { listRegistrationsOfDevice } from '../storage/device/device-registrations.ts';
import { consumeSignedRequest } from '../storage/device/device-requests.ts';
import { findSigningKey, holdDevice, listDeviceKeys, type NewSlot, type SigningKey, setDeviceSeen } from '../storage/device/devices.ts';
import type { Queries } from '../storage/engine/database.ts';
import { checkAssertion } from './attestation/assertion-check.ts';
import { readStoredSlots } from './payloads.ts';
import { verifyWithCredential, verifyWithStoredKey } from './public-keys.ts';
import { splitTarget } from './request-target.ts';
import { type SignedHeaders, signedHeadersOf } from './signed-headers.ts';

/** What the endpoints of devices use of the server. */
type DeviceDeps = PinDeps & Parts<'config' | 'hooks' | 'rateLimiter'>;

/** One signed request on its way through an endpoint. */
export interface SignedRequest {
  readonly services: DeviceDeps;
  readonly tenant: Tenant;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly headers: SignedHeaders;
  readonly rawQuery: string;
  readonly bodyBytes: Buffer;
  readonly signedBytes: Buffer;
  /** Accept-Language, when sent: for mails to people who have no language of their own. */
  readonly acceptLanguage: string | undefined;
  /** Cookie, when sent: a web phone is a browser that may be signing in. */
  readonly cookies: string | undefined;
  /** X-App-Assertion, when sent. */
  readonly assertion: string | undefined;
  readonly setActor: (actor: string) => void;
  /** True once the phone has hung up or the server stops: an answer that waits must not wait longer. */
  readonly isGone: () => boolean;
}

/** An enrolled device. */
export interface DeviceCaller {
  readonly deviceId: DeviceId;
  readonly userId: UserId;
  readonly keyId: string;
  readonly purpose: 'pop' | 'uv';
  /** ios | android | web | other */
  readonly platform: string;
  /** True when the signature is by the key before the last rotation. */
  readonly byPreviousKey: boolean;
}

/** The key of a registration that is not a device yet. */
export interface RegistrationCaller {
  readonly deviceId: string;
  readonly keyId: string;
}

const replayMarginMs = 60_000;
const empty = Buffer.alloc(0);

/** The signed request a checked HTTP request is. */
export function toSignedRequest(services: DeviceDeps, request: FastifyRequest, isClosing: () => boolean): SignedRequest {
  const headers = signedHeadersOf(request);
  const target = splitTarget(rawTargetOf(request.raw));
  const assertion = request.headers['x-app-assertion'];
  const bodyBytes = Buffer.isBuffer(request.body) ? request.body : empty;
  const signedBytes = signedRequestBytes({
    protocolVersion: headers.protocolVersion,
    issuer: request.tenant.baseUrl,
    method: request.method,
    ...target,
    timestamp: headers.timestamp,
    deviceId: headers.sentDeviceId,
    keyId: headers.sentKeyId,
    bodySha256: sha256Hex(bodyBytes),
  });
  return {
    services,
    tenant: request.tenant,
    requestId: request.id,
    clientAddress: request.clientAddress,
    headers,
    rawQuery: target.rawQuery,
    bodyBytes,
    signedBytes,
    acceptLanguage: request.headers['accept-language'],
    cookies: request.headers.cookie,
    assertion: typeof assertion === 'string' && assertion !== '' ? assertion : undefined,
    setActor: (actor) => {
      request.auditActor = actor;
    },
    isGone: () => isClosing() || request.raw.socket.destroyed,
  };
}

/** The enrolled device that signed the request. */
export async function authenticateDevice(signed: SignedRequest): Promise<DeviceCaller> {
  const caller = await findDeviceCaller(signed);
  if (caller === undefined) throw keyRevoked('unknown_or_revoked');
  return caller;
}

/** As authenticateDevice, or undefined when no device in force has that key. */
export async function findDeviceCaller(signed: SignedRequest): Promise<DeviceCaller | undefined> {
  const { services, tenant, headers } = signed;
  const key = await services.database.read(tenant.id, (queries) => findSigningKey(queries, tenant.id, headers.deviceId, headers.keyId));
  if (key === undefined) return undefined;
  signed.setActor(`device:${headers.deviceId}`);
  demandUsableAlgorithm(signed, key.alg);
  const byPreviousKey = isPlatformCredentialAlg(key.alg) ? await verifyCredential(signed, key, key.alg) : verifyEither(signed, key);
  await finish(signed);
  // The limit of an address is there for strangers: many enrolled phones may share one.
  await giveBack(services.rateLimiter, tenant, 'device_requests_per_ip', addressBlock(signed.clientAddress));
  await checkAssertion(signed, key);
  if (key.unseen === 1) await services.database.write(tenant.id, (queries) => setDeviceSeen(queries, tenant.id, key.device_id));
  return {
    deviceId: key.device_id,
    userId: key.user_id,
    keyId: headers.keyId,
    platform: key.platform,
    byPreviousKey,
    purpose: key.purpose as 'pop' | 'uv', // checked by the table
  };
}

/** Refuses a device that was revoked, or whose person was suspended, since the request was let in. Until the transaction ends neither comes. */
export async function demandStillInForce(queries: Queries, { services, tenant }: SignedRequest, caller: DeviceCaller): Promise<void> {
  if (!(await holdDevice(queries, services.database.dialect, tenant.id, caller.deviceId))) throw keyRevoked('revoked_meanwhile');
}

/** The registration key that signed the request: any registration of this device id that named the key. */
export async function authenticateRegistration(signed: SignedRequest): Promise<RegistrationCaller> {
  const { services, tenant, headers } = signed;
  const rows = await services.database.read(tenant.id, (queries) => listRegistrationsOfDevice(queries, tenant.id, headers.deviceId));
  const slot = rows.flatMap((row) => readStoredSlots(row.keys)).find((candidate) => candidate.keyId === headers.keyId);
  if (slot === undefined) throw keyRevoked('no_registration_with_this_key');
  await verifyAndFinish(signed, slot);
  return { deviceId: headers.deviceId, keyId: headers.keyId };
}

/** Checks a first call against the key in its own body; the caller has parsed that key. */
export async function authenticateNewKey(signed: SignedRequest, slot: NewSlot): Promise<void> {
  await verifyAndFinish(signed, slot);
}

export function keyRevoked(reason: string): Error {
  return reject('device.key_revoked', reason);
}

export function badSignature(reason: string): Error {
  return reject('device.bad_signature', reason);
}

async function verifyAndFinish(signed: SignedRequest, slot: NewSlot): Promise<void> {
  demandUsableAlgorithm(signed, slot.alg);
  if (!verifyWithStoredKey(slot.alg, slot.publicKey, signed.signedBytes, signed.headers.signature)) throw badSignature('signature');
  await finish(signed);
}

function demandUsableAlgorithm(signed: SignedRequest, alg: string): void {
  const allowed: readonly string[] = signed.tenant.settings.device.allowed_algs;
  if (findDeviceAlgorithm(keyAlgOf(alg)) === undefined || !allowed.includes(keyAlgOf(alg))) {
    throw reject('device.unsupported_key_alg', { reason: 'unsupported_key_alg', received: alg, expected: allowed.join(' ') });
  }
}

// A platform credential says nothing without a silent key of its device, the present one or, during overlap, the one before.
async function verifyCredential(signed: SignedRequest, key: SigningKey, alg: PlatformCredentialAlg): Promise<boolean> {
  const { services, tenant, headers } = signed;
  const slots = await services.database.read(tenant.id, (queries) => listDeviceKeys(queries, tenant.id, key.device_id));
  const pops = slots
    .filter((slot) => slot.purpose === 'pop' && slot.revoked_at === null)
    .flatMap((slot) => [slot.public_key, ...(slot.overlap === 1 && slot.previous_public_key !== null ? [slot.previous_public_key] : [])]);
  const about = { baseUrl: tenant.baseUrl, text: signed.signedBytes, signature: headers.signature };
  if (verifyWithCredential({ alg, publicKey: key.public_key }, pops, about)) return false;
  throw badSignature('platform_credential');
}

function verifyEither(signed: SignedRequest, key: SigningKey): boolean {
  const { signedBytes } = signed;
  const { signature } = signed.headers;
  if (verifyWithStoredKey(key.alg, key.public_key, signedBytes, signature)) return false;
  const { previous_alg: alg, previous_public_key: publicKey } = key;
  if (key.overlap === 1 && alg !== null && publicKey !== null && verifyWithStoredKey(alg, publicKey, signedBytes, signature)) return true;
  throw badSignature('neither_current_nor_previous_key');
}

// The digest is over the signed bytes, not the signature: a malleated twin is the same request. A timestamp may lie a
// whole window ahead, so a row is kept for the window on both sides.
async function finish(signed: SignedRequest): Promise<void> {
  const { services, tenant, headers } = signed;
  const keptMs = 2 * tenant.settings.device.clock_skew_seconds * 1000 + replayMarginMs;
  const digest = sha256Hex(signed.signedBytes);
  const fresh = await services.database.write(tenant.id, (queries) => consumeSignedRequest(queries, tenant.id, digest, keptMs));
  if (!fresh) throw reject('device.replayed_request', 'replayed_request');
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'device_requests_per_device', headers.deviceId);
}

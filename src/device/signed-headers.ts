// The checks of a signed request that need no body, in the documented order: rate limit by address, protocol version,
// presence, form and age of the signature headers, no content encoding. Runs before the body is read.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { deviceSignatureCharsMax } from '../contract/limits.ts';
import { decodeBase64 } from '../crypto/base64.ts';
import type { Settings } from '../domain/tenant/settings.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { addressBlock } from '../http/client-address.ts';
import type { Clock } from '../platform/clock.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';

interface HeaderDeps {
  readonly clock: Clock;
  readonly rateLimiter: RateLimiter;
}

export interface SignedHeaders {
  readonly protocolVersion: string;
  /** As sent; look-ups use the lower-case forms. */
  readonly sentDeviceId: string;
  readonly sentKeyId: string;
  readonly deviceId: string;
  readonly keyId: string;
  readonly timestamp: string;
  readonly signature: Buffer;
}

const checkedHeaders = new WeakMap<FastifyRequest, SignedHeaders>();
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Checks the headers of a routed request and keeps them for its handler; throws the row of the first failure. */
export async function checkSignedHeaders({ rateLimiter, clock }: HeaderDeps, request: FastifyRequest): Promise<void> {
  const { tenant } = request;
  await enforceRateLimit(rateLimiter, tenant, 'management', 'device_requests_per_ip', addressBlock(request.clientAddress));
  const protocolVersion = readProtocolVersion(request, tenant.settings.device);
  checkedHeaders.set(request, readSignatureHeaders(request, protocolVersion, tenant.settings.device, clock.nowMs()));
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined) throw reject('management.unsupported_media_type', { reason: 'content_encoding', received: encoding });
}

/** The headers a request passed with. */
export function signedHeadersOf(request: FastifyRequest): SignedHeaders {
  const headers = checkedHeaders.get(request);
  if (headers === undefined) throw new Error('the headers of this request were not checked');
  return headers;
}

// Contract 7.15, 9. A version above the current one is accepted.
function readProtocolVersion(request: FastifyRequest, device: Settings['device']): string {
  const text = headerOf(request, 'x-protocol-version');
  if (text !== undefined && /^\d{1,6}$/.test(text) && Number(text) >= device.protocol_version_min) return text;
  const fields = { min_supported: device.protocol_version_min, current: device.protocol_version_current };
  throw reject(
    'device.upgrade_required',
    { reason: 'protocol_version', received: text, expected: device.protocol_version_min },
    { fields },
  );
}

function readSignatureHeaders(request: FastifyRequest, protocolVersion: string, device: Settings['device'], nowMs: number): SignedHeaders {
  const sentDeviceId = headerOf(request, 'x-device-id');
  const sentKeyId = headerOf(request, 'x-device-key-id');
  const timestamp = headerOf(request, 'x-timestamp');
  const encodedSignature = headerOf(request, 'x-signature');
  if (sentDeviceId === undefined || sentKeyId === undefined || timestamp === undefined || encodedSignature === undefined) {
    throw reject('device.signature_required', 'signature_header_missing');
  }
  const signature = decodeBase64(encodedSignature);
  if (!uuid.test(sentDeviceId)) throw reject('device.bad_signed_headers', { reason: 'device_id', received: sentDeviceId });
  if (!uuid.test(sentKeyId)) throw reject('device.bad_signed_headers', { reason: 'key_id', received: sentKeyId });
  if (!/^\d{13}$/.test(timestamp)) throw reject('device.bad_signed_headers', { reason: 'timestamp', received: timestamp });
  if (signature === undefined || encodedSignature.length > deviceSignatureCharsMax)
    throw reject('device.bad_signed_headers', 'signature_not_base64');
  if (Math.abs(nowMs - Number(timestamp)) > device.clock_skew_seconds * 1000) {
    throw reject('device.clock_skew', { reason: 'clock_skew', received: timestamp, expected: nowMs }, { fields: { server_time: nowMs } });
  }
  return {
    protocolVersion,
    sentDeviceId,
    sentKeyId,
    deviceId: sentDeviceId.toLowerCase(),
    keyId: sentKeyId.toLowerCase(),
    timestamp,
    signature,
  };
}

/** A header's value; an empty one counts as missing, repeated ones arrive joined and fail the form. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === '' ? undefined : text;
}

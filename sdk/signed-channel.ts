// Sends signed requests and reacts to what concerns every call: repeats what was not answered, corrects the clock once, keeps
// the notice of a forced update. Knows no endpoint.
import { DeviceError, NoAnswerError } from './device-error.ts';
import type { KeyPurpose, KeyVault } from './key-vault.ts';
import { encodeText, type Platform, sha256Hex, toBase64 } from './platform.ts';
import { protocolVersion, requestText } from './signing.ts';
import { type KeySlot, type Memory, withServer } from './state.ts';

export const sdkVersion = '0.2.0';

export interface ChannelOptions {
  readonly baseUrl: string;
  readonly vault: KeyVault;
  readonly fetch: typeof globalThis.fetch;
  /** Phone time in milliseconds since the epoch. */
  readonly now: () => number;
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly platform: Platform;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the issuer, such as `/v1/device/self`. */
  readonly path: string;
  readonly query?: string;
  readonly body?: string;
  readonly purpose?: KeyPurpose;
  /** Signs with this slot instead of the stored one of the purpose. */
  readonly slot?: KeySlot;
  readonly signal?: AbortSignal;
  /** Never repeated: what it asks for may not happen twice. */
  readonly once?: boolean;
}

/** Whose keys sign: an account, or an enrolment on its way. */
export interface Signer {
  readonly deviceId: string;
  readonly slots: readonly KeySlot[];
}

/** The answer of a success; throws DeviceError for a refusal and NoAnswerError for silence. */
export type Send = (memory: Memory, signer: Signer, call: Call) => Promise<Answer>;

const repetitionsMax = 4;
const firstPauseMs = 500;
const retryAfterSecondsMax = 30;
const upgradeQuietMs = 60_000;

export function createSignedChannel(options: ChannelOptions): Send {
  let lastTimestamp = 0;
  const { baseUrl } = options;

  const sendOnce = async (memory: Memory, signer: Signer, call: Call): Promise<Answer> => {
    const { clockOffsetMs } = await serverOf(memory, baseUrl);
    // Two equal requests in one millisecond would be one request to the replay check.
    lastTimestamp = Math.max(Math.trunc(options.now() + clockOffsetMs), lastTimestamp + 1);
    const { url, init } = await signCall(options, signer, call, String(lastTimestamp));
    const { response, text } = await exchange(options, url, init, call.signal);
    const body = parseBody(text, response.headers.get('retry-after'));
    await keepNotice(memory, options, response.status, body);
    if (response.ok) return { status: response.status, body };
    // The network sent it twice, as browsers do when a kept connection ends: the answer to the first is lost.
    if (body['kind'] === 'replayed_request') throw new NoAnswerError('the answer went to a twin of the request');
    if (body['kind'] !== 'clock_skew' || typeof body['server_time'] !== 'number') throw new DeviceError(response.status, body);
    return correctClock(memory, body['server_time'], new DeviceError(response.status, body));
  };

  const correctClock = async (memory: Memory, serverTime: number, refusal: DeviceError): Promise<never> => {
    lastTimestamp = 0;
    const clockOffsetMs = serverTime - options.now();
    await memory.update((state) => withServer(state, baseUrl, { ...state.servers[baseUrl], clockOffsetMs }));
    throw refusal;
  };

  return async (memory, signer, call) => {
    await demandNoNotice(memory, options);
    let unknown = false;
    let corrected = false;
    for (let repetition = 0; ; ) {
      try {
        return await sendOnce(memory, signer, call);
      } catch (error) {
        if (!corrected && error instanceof DeviceError && error.kind === 'clock_skew') {
          corrected = true;
          continue; // refused before anything was looked at: no repetition of an effect
        }
        const waitMs = call.once === true || repetition === repetitionsMax ? undefined : pauseBefore(error, repetition);
        if (waitMs === undefined) throw error instanceof DeviceError ? new DeviceError(error.status, error.body, unknown) : error;
        unknown ||= !(error instanceof DeviceError) || error.status >= 500;
        await options.pause(waitMs);
        repetition += 1;
      }
    }
  };
}

/** The slot of a purpose; a device without it cannot make that call. */
export function slotOf(signer: Signer, purpose: KeyPurpose): KeySlot {
  const slot = signer.slots.find((candidate) => candidate.purpose === purpose);
  if (slot === undefined) throw new Error(`expected a ${purpose} key on this device, found none`);
  return slot;
}

/** One signature; a uv key is told which silent key stands beside it. */
export function signWith(vault: KeyVault, signer: Signer, slot: KeySlot, text: string): Promise<Uint8Array> {
  const pop = slot.purpose === 'uv' ? slotOf(signer, 'pop').handle : undefined;
  return vault.sign(slot.handle, encodeText(text), pop);
}

async function serverOf(memory: Memory, baseUrl: string) {
  return (await memory.load()).servers[baseUrl] ?? { clockOffsetMs: 0 };
}

async function demandNoNotice(memory: Memory, options: ChannelOptions): Promise<void> {
  const { notice } = await serverOf(memory, options.baseUrl);
  if (notice === undefined || notice.sdkVersion !== sdkVersion) return;
  const ageMs = options.now() - notice.at;
  if (ageMs < 0 || ageMs >= upgradeQuietMs) return;
  throw new DeviceError(426, { error: 'upgrade_required', min_supported: notice.minSupported, current: notice.current });
}

async function keepNotice(memory: Memory, options: ChannelOptions, status: number, body: Readonly<Record<string, unknown>>): Promise<void> {
  const { baseUrl } = options;
  const { clockOffsetMs, notice } = await serverOf(memory, baseUrl);
  if (status !== 426 && notice === undefined) return;
  const made = { minSupported: Number(body['min_supported']), current: Number(body['current']), sdkVersion, at: options.now() };
  await memory.update((state) => withServer(state, baseUrl, status === 426 ? { clockOffsetMs, notice: made } : { clockOffsetMs }));
}

// How long to wait before a repetition; undefined: there is none.
function pauseBefore(error: unknown, repetition: number): number | undefined {
  const backoffMs = firstPauseMs * 2 ** repetition;
  if (error instanceof NoAnswerError) return backoffMs;
  if (!(error instanceof DeviceError)) return undefined;
  if (error.status >= 500) return backoffMs;
  if (error.status !== 429) return undefined;
  const retryAfterSeconds = Number(error.body['retry_after_seconds'] ?? 0);
  return retryAfterSeconds > retryAfterSecondsMax ? undefined : Math.max(backoffMs, retryAfterSeconds * 1000);
}

async function exchange(options: ChannelOptions, url: string, init: RequestInit, signal: AbortSignal | undefined) {
  try {
    const response = await options.fetch(url, init);
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted === true) throw cause; // the caller's own wish
    throw new NoAnswerError('the server did not answer', { cause });
  }
}

async function signCall(
  options: ChannelOptions,
  signer: Signer,
  call: Call,
  timestamp: string,
): Promise<{ readonly url: string; readonly init: RequestInit }> {
  const slot = call.slot ?? slotOf(signer, call.purpose ?? 'pop');
  const query = call.query ?? '';
  const text = requestText({
    protocolVersion,
    issuer: options.baseUrl,
    method: call.method,
    path: call.path,
    query,
    timestamp,
    deviceId: signer.deviceId,
    keyId: slot.keyId,
    bodySha256: await sha256Hex(options.platform, encodeText(call.body ?? '')),
  });
  const headers: Record<string, string> = {
    'X-Protocol-Version': protocolVersion,
    'X-Device-Id': signer.deviceId,
    'X-Device-Key-Id': slot.keyId,
    'X-Timestamp': timestamp,
    'X-Signature': toBase64(await signWith(options.vault, signer, slot, text)),
  };
  if (call.body !== undefined) headers['Content-Type'] = 'application/json';
  return {
    url: `${options.baseUrl}${call.path}${query === '' ? '' : `?${query}`}`,
    init: {
      method: call.method,
      headers,
      redirect: 'error',
      ...(call.body === undefined ? {} : { body: call.body }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    },
  };
}

function parseBody(text: string, retryAfter: string | null): Readonly<Record<string, unknown>> {
  const waited = retryAfter === null ? {} : { retry_after_seconds: Number(retryAfter) };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...waited, ...value } : waited;
  } catch {
    return waited;
  }
}

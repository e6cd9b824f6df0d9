// Sends signed requests and reacts to what concerns every call: corrects the clock once, wipes on a revoked key, stops on
// a forced update. Called by device.ts and its parts; knows no endpoint.
import { DeviceError } from './device-error.ts';
import type { KeyVault } from './key-vault.ts';
import { protocolVersion, requestText } from './signing.ts';
import type { DeviceState, KeyPurpose, KeySlot, StateStore } from './state.ts';

export interface ChannelOptions {
  readonly baseUrl: string;
  readonly store: StateStore<DeviceState>;
  readonly vault: KeyVault;
  readonly fetch: typeof globalThis.fetch;
  /** Phone time in milliseconds since the epoch. */
  readonly now: () => number;
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
}

export interface SignedChannel {
  readonly state: () => Promise<DeviceState>;
  readonly save: (change: Partial<DeviceState>) => Promise<DeviceState>;
  readonly replace: (change: (state: DeviceState) => DeviceState) => Promise<void>;
  /** The answer of a success; throws DeviceError for a refusal and what `fetch` throws when nothing was answered. */
  readonly send: (call: Call) => Promise<Answer>;
}

/** A channel over one stored device. */
export function createSignedChannel(options: ChannelOptions, initial: () => DeviceState): SignedChannel {
  let lastTimestamp = 0;
  const state = async () => (await options.store.load()) ?? initial();
  const save = async (change: Partial<DeviceState>) => {
    const next = { ...(await state()), ...change };
    await options.store.save(next);
    return next;
  };

  const sendOnce = async (call: Call): Promise<Answer> => {
    const current = await state();
    // Two equal requests in one millisecond would be one request to the replay check.
    lastTimestamp = Math.max(Math.trunc(options.now() + current.clockOffsetMs), lastTimestamp + 1);
    const { url, init } = await signCall(options, current, call, String(lastTimestamp));
    const response = await options.fetch(url, init);
    const body = parseBody(await response.text());
    if (!response.ok) throw new DeviceError(response.status, body);
    return { status: response.status, body };
  };

  const send = async (call: Call): Promise<Answer> => {
    const { phase } = await state();
    if (phase === 'wiped' || phase === 'update_required') throw new Error(`this device is ${phase}`);
    try {
      return await sendOnce(call);
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      if (error.kind === 'clock_skew' && typeof error.body['server_time'] === 'number') {
        lastTimestamp = 0;
        await save({ clockOffsetMs: error.body['server_time'] - options.now() });
        return await sendOnce(call);
      }
      if (error.kind === 'device_key_revoked') await wipe(options, await state());
      if (error.status === 426) await save({ phase: 'update_required' });
      throw error;
    }
  };
  const replace = async (change: (state: DeviceState) => DeviceState) => options.store.save(change(await state()));
  return { state, save, replace, send };
}

/** The stored slot of a purpose; a device without it cannot make that call. */
export function slotOf(state: DeviceState, purpose: KeyPurpose): KeySlot {
  const slot = state.slots.find((candidate) => candidate.purpose === purpose);
  if (slot === undefined) throw new Error(`expected a ${purpose} key on this device, found none`);
  return slot;
}

async function signCall(
  options: ChannelOptions,
  state: DeviceState,
  call: Call,
  timestamp: string,
): Promise<{ readonly url: string; readonly init: RequestInit }> {
  const slot = call.slot ?? slotOf(state, call.purpose ?? 'pop');
  const query = call.query ?? '';
  const text = requestText({
    protocolVersion,
    issuer: options.baseUrl,
    method: call.method,
    path: call.path,
    query,
    timestamp,
    deviceId: state.deviceId,
    keyId: slot.keyId,
    body: Buffer.from(call.body ?? '', 'utf8'),
  });
  const signature = await options.vault.sign(slot.handle, slot.alg, text);
  const headers: Record<string, string> = {
    'X-Protocol-Version': protocolVersion,
    'X-Device-Id': state.deviceId,
    'X-Device-Key-Id': slot.keyId,
    'X-Timestamp': timestamp,
    'X-Signature': Buffer.from(signature).toString('base64'),
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

// The server's word is final: keys and registration go, only the fact stays.
async function wipe(options: ChannelOptions, state: DeviceState): Promise<void> {
  const { registration: _registration, rotation, ...kept } = state;
  const handles = [...state.slots, ...(rotation?.newSlots ?? [])].map((slot) => slot.handle);
  await options.store.save({ ...kept, phase: 'wiped', slots: [] });
  for (const handle of handles) await options.vault.remove(handle);
}

function parseBody(text: string): Readonly<Record<string, unknown>> {
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}; // an object
  } catch {
    return {};
  }
}

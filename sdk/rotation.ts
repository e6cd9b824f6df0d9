// Key rotation that survives a crash at any point: the new keys and the exact confirmation are stored before it is sent,
// and an unanswered confirmation is repeated identically. Called through device.ts.
import { DeviceError } from './device-error.ts';
import type { KeyVault } from './key-vault.ts';
import type { SignedChannel } from './signed-channel.ts';
import { slotOf } from './signed-channel.ts';
import { rotateText } from './signing.ts';
import type { DeviceState, KeySlot, PendingRotation } from './state.ts';

/** Replaces the private keys of every slot the server lets rotate; resumes a confirmation that went unanswered. */
export async function rotateKeys(baseUrl: string, vault: KeyVault, channel: SignedChannel): Promise<void> {
  const unfinished = (await channel.state()).rotation;
  if (unfinished !== undefined && (await confirm(vault, channel, unfinished))) return;
  const { body } = await channel.send({ method: 'POST', path: '/v1/device/keys/rotate/start', body: '{}' });
  const rotation = await prepare(baseUrl, vault, await channel.state(), body);
  await channel.save({ rotation });
  await confirm(vault, channel, rotation);
}

/** Ends the overlap early: requests signed with the old keys stop working. */
export async function completeRotation(channel: SignedChannel, rotationId: string): Promise<void> {
  const body = JSON.stringify({ rotation_id: rotationId });
  await channel.send({ method: 'POST', path: '/v1/device/keys/rotate/complete', body });
}

async function prepare(
  baseUrl: string,
  vault: KeyVault,
  state: DeviceState,
  started: Readonly<Record<string, unknown>>,
): Promise<PendingRotation> {
  const nonce = String(started['nonce']);
  const named = new Set((started['keys'] as readonly { readonly key_id: string }[]).map((key) => key.key_id)); // 200 shape
  const newSlots: KeySlot[] = [];
  const keys: Readonly<Record<string, string>>[] = [];
  for (const old of state.slots.filter((slot) => named.has(slot.keyId))) {
    const slot: KeySlot = { ...old, ...(await vault.create(old.alg)) };
    const text = rotateText(baseUrl, state.deviceId, slot, nonce);
    const fields = { key_id: slot.keyId, alg: slot.alg, public_key: slot.publicKey };
    const signature = base64(await vault.sign(slot.handle, slot.alg, text));
    const oldSignature = slot.purpose === 'uv' ? base64(await vault.sign(old.handle, old.alg, text)) : undefined;
    keys.push({ ...fields, signature, ...(oldSignature === undefined ? {} : { old_signature: oldSignature }) });
    newSlots.push(slot);
  }
  return { rotationId: String(started['rotation_id']), body: JSON.stringify({ nonce, keys }), newSlots };
}

// True when the server has the new keys. A refusal means it never took them: the new keys are dropped, the old ones stay.
async function confirm(vault: KeyVault, channel: SignedChannel, rotation: PendingRotation): Promise<boolean> {
  const path = '/v1/device/keys/rotate/confirm';
  const state = await channel.state();
  try {
    await channel.send({ method: 'POST', path, body: rotation.body, slot: slotOf(state, 'pop') });
  } catch (error) {
    if (!(error instanceof DeviceError) || error.status !== 400) throw error;
    await forget(vault, channel, rotation.newSlots, state.slots);
    return false;
  }
  const replaced = state.slots.map((old) => rotation.newSlots.find((slot) => slot.keyId === old.keyId) ?? old);
  const outdated = state.slots.filter((slot) => !replaced.includes(slot));
  await forget(vault, channel, outdated, replaced);
  return true;
}

async function forget(vault: KeyVault, channel: SignedChannel, dropped: readonly KeySlot[], slots: readonly KeySlot[]): Promise<void> {
  await channel.replace((state) => {
    const { rotation: _done, ...rest } = state;
    return { ...rest, slots };
  });
  for (const slot of dropped) await vault.remove(slot.handle);
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

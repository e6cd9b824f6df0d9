// Key rotation that survives a crash at any point: the new keys and the exact confirmation are stored before it is sent,
// and an unanswered confirmation is repeated identically. Runs while the store is held; called through device.ts.
import { DeviceError, isRefusal } from './device-error.ts';
import { callAs, type Phone, postCall, publicKeySha256, removeOrphans } from './phone.ts';
import { toBase64 } from './platform.ts';
import { signWith, slotOf } from './signed-channel.ts';
import { rotateText } from './signing.ts';
import { type Account, type KeySlot, type Memory, type PendingRotation, withAccount } from './state.ts';

/** Replaces the private keys of every slot the server lets rotate; first finishes a confirmation that went unanswered. */
export async function rotateKeys(phone: Phone, memory: Memory, account: Account): Promise<void> {
  if (await finishRotation(phone, memory, account)) return;
  const { rotation: _refused, ...plain } = account;
  // A platform credential belongs to its device for good: only the silent key beside it is replaced.
  const replaceable = plain.slots.filter((slot) => !slot.alg.startsWith('WebAuthn-'));
  const named = replaceable.length === plain.slots.length ? {} : { key_ids: replaceable.map((slot) => slot.keyId) };
  const { body } = await callAs(phone, memory, plain, postCall('/keys/rotate/start', named));
  const rotation = await prepare(phone, plain, body);
  const rotating = { ...plain, rotation };
  await memory.update((state) => withAccount(state, rotating));
  if (!(await finishRotation(phone, memory, rotating))) throw new Error('the server refused the rotation; the keys are as before');
}

/** Confirms a rotation that was prepared: true when the server has the new keys, false when there is none or it was refused. */
export async function finishRotation(phone: Phone, memory: Memory, account: Account): Promise<boolean> {
  const { rotation, ...rest } = account;
  if (rotation === undefined) return false;
  const accepted = await confirm(phone, memory, account, rotation);
  const slots = account.slots.map((old) => (accepted ? rotation.newSlots.find((slot) => slot.keyId === old.keyId) : undefined) ?? old);
  await memory.update((state) => withAccount(state, { ...rest, slots }));
  await removeOrphans(phone, memory);
  return accepted;
}

// A refusal by 400 means the server never took the new keys. A bad signature means that it did so long ago that the old key
// counts no more: the same body, signed by the new one, is answered as then.
async function confirm(phone: Phone, memory: Memory, account: Account, rotation: PendingRotation): Promise<boolean> {
  const call = { method: 'POST', path: '/v1/device/keys/rotate/confirm', body: rotation.body } as const;
  const newPop = rotation.newSlots.find((slot) => slot.purpose === 'pop');
  try {
    await callAs(phone, memory, account, { ...call, slot: slotOf(account, 'pop') }).catch((error: unknown) => {
      if (newPop === undefined || !isRefusal(error, 'bad_signature')) throw error;
      return callAs(phone, memory, { ...account, slots: rotation.newSlots }, { ...call, slot: newPop });
    });
    return true;
  } catch (error) {
    if (error instanceof DeviceError && error.status === 400) return false;
    throw error;
  }
}

async function prepare(phone: Phone, account: Account, started: Readonly<Record<string, unknown>>): Promise<PendingRotation> {
  const nonce = String(started['nonce']);
  const named = new Set((started['keys'] as readonly { readonly key_id: string }[]).map((key) => key.key_id)); // 200 shape
  const newSlots: KeySlot[] = [];
  const keys: Readonly<Record<string, string>>[] = [];
  for (const old of account.slots.filter((slot) => named.has(slot.keyId))) {
    const slot: KeySlot = { ...old, ...(await phone.vault.create(old.purpose)) };
    const { keyId, alg, publicKey } = slot;
    const digest = await publicKeySha256(phone, slot);
    const text = rotateText({ issuer: phone.baseUrl, deviceId: account.deviceId, keyId, nonce, alg, publicKeySha256: digest });
    const signature = toBase64(await signWith(phone.vault, account, slot, text));
    const oldSignature = slot.purpose === 'uv' ? { old_signature: toBase64(await signWith(phone.vault, account, old, text)) } : {};
    keys.push({ key_id: keyId, alg, public_key: publicKey, signature, ...oldSignature });
    newSlots.push(slot);
  }
  return { rotationId: String(started['rotation_id']), body: JSON.stringify({ nonce, keys }), newSlots };
}

// What every part of the SDK works with: the channel, the vault, the memory, and the rules that hold for all drafts and accounts.
import { isRefusal } from './device-error.ts';
import type { KeyVault } from './key-vault.ts';
import { fromBase64, type Platform, sha256Hex } from './platform.ts';
import { type Answer, type Call, type Send, slotOf } from './signed-channel.ts';
import { type Account, type Draft, handlesOf, type Memory, withAccount, withDraft } from './state.ts';

export interface Phone {
  readonly baseUrl: string;
  readonly vault: KeyVault;
  readonly platform: Platform;
  readonly send: Send;
}

/** The draft of this tenant; throws when there is none. */
export async function draftOf(phone: Phone, memory: Memory): Promise<Draft> {
  const { draft } = await memory.load();
  if (draft?.baseUrl === phone.baseUrl) return draft;
  throw new Error('expected an enrolment in progress, found none');
}

export async function changeDraft(memory: Memory, draft: Draft): Promise<Draft> {
  await memory.update((state) => withDraft(state, draft));
  return draft;
}

/** Forgets the draft, then its keys. Accounts are not touched. */
export async function dropDraft(phone: Phone, memory: Memory): Promise<void> {
  await memory.update((state) => withDraft(state, undefined));
  await removeOrphans(phone, memory);
}

/** Deletes the keys nothing refers to: left by a process that died, or just let go. The caller holds the store. */
export async function removeOrphans(phone: Pick<Phone, 'vault'>, memory: Memory): Promise<void> {
  const kept = handlesOf(await memory.load());
  for (const handle of await phone.vault.list()) if (!kept.has(handle)) await phone.vault.remove(handle);
}

export const postCall = (path: string, fields: object, options: Partial<Call> = {}): Call => ({
  method: 'POST',
  path: `/v1/device${path}`,
  body: JSON.stringify(fields),
  ...options,
});

/** A call of an enrolled device. A revoked key is believed when the device's own record says so too. */
export async function callAs(phone: Phone, memory: Memory, account: Account, call: Call): Promise<Answer> {
  try {
    return await phone.send(memory, account, call);
  } catch (error) {
    if (isRefusal(error, 'device_key_revoked')) await confirmRevocation(phone, memory, account);
    throw error;
  }
}

/** The `/self` of a device, or undefined when the server knows no such device. */
export async function askSelf(
  phone: Phone,
  memory: Memory,
  signer: Account | Draft,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    return (await phone.send(memory, signer, { method: 'GET', path: '/v1/device/self', slot: slotOf(signer, 'pop') })).body;
  } catch (error) {
    if (isRefusal(error, 'device_key_revoked')) return undefined;
    throw error;
  }
}

export async function publicKeySha256(phone: Phone, slot: { readonly publicKey: string }): Promise<string> {
  return sha256Hex(phone.platform, fromBase64(slot.publicKey));
}

async function confirmRevocation(phone: Phone, memory: Memory, account: Account): Promise<void> {
  if ((await askSelf(phone, memory, account)) !== undefined) return;
  const { rotation, ...rest } = account;
  await memory.update((state) => withAccount(state, { ...rest, phase: 'revoked', slots: [] }));
  for (const { handle } of [...account.slots, ...(rotation?.newSlots ?? [])]) await phone.vault.remove(handle);
}

// The silent key is replaced when the person asks for it, and by itself after ninety days.
import type { Device } from '../../../sdk/device.ts';
import { say, texts } from './context.ts';

const daysMax = 90;

interface SelfKey {
  readonly purpose: string;
  readonly created_at: string;
  readonly rotated_at: string | null;
}

export async function renewKey(phone: Device): Promise<void> {
  await phone.rotateKeys();
  say(texts.keyRenewed);
}

/** Asks the server how old the key is, by the server's own clock; without a connection the next visit does. */
export async function renewOldKey(phone: Device): Promise<void> {
  try {
    const { keys, server_time: now } = await phone.self();
    const pop = (keys as readonly SelfKey[]).find((key) => key.purpose === 'pop'); // the 200 shape of the endpoint
    if (pop !== undefined && Number(now) - Date.parse(pop.rotated_at ?? pop.created_at) > daysMax * 86_400_000) await phone.rotateKeys();
  } catch {
    // Old keys work: nothing is lost by waiting.
  }
}

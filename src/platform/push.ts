// Push notifications: one sending function per provider. A push says only that something waits; the phone then asks the
// server over its signed channel, so a push carries nothing of the person. Which provider is real is the composition's choice.
import type { Log } from './log.ts';

export type PushOutcome =
  | 'sent'
  /** The token is dead: forget it. */
  | 'gone'
  /** Try again later. */
  | 'failed';

export type PushSender = (token: string) => Promise<PushOutcome>;

export interface PushSenders {
  readonly apns: PushSender;
  readonly fcm: PushSender;
}

/** Stands in for a provider that is not configured: says that a push would go out, never to which token. */
export function createLogPush(log: Log, provider: 'apns' | 'fcm'): PushSender {
  return async () => {
    log.debug({ provider }, 'a push would be sent; configure the provider to send it');
    return 'sent';
  };
}

// Hands queued pushes to their provider after the commit. A dead token is forgotten; a failure is tried again while the push
// is of use. Phones that get no push find the approval by asking, so nothing rests on this.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { PushOutcome, PushSenders } from '../platform/push.ts';
import type { Database } from '../storage/database.ts';
import { findDevice, setPushToken } from '../storage/devices.ts';
import { claimPushMessages, deletePushMessage, hasDuePushMessages, type PushMessageTable } from '../storage/push-messages.ts';

export interface PushDeps {
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly push: PushSenders;
  readonly log: Log;
}

const batchMax = 50;
const retryMs = 10_000;

/** What a push token is encrypted for. */
export const pushTokenPurpose = (tenant: string, device: string): string => `push-token:${tenant}:${device}`;

/** Sends what waits; every process may run it. */
export function createPushDeliveryJob(deps: PushDeps): Job {
  return {
    name: 'push-delivery',
    everyMs: 500,
    run: async (signal) => {
      if (!(await deps.database.systemRead(hasDuePushMessages))) return;
      const messages = await deps.database.system((queries) => claimPushMessages(queries, batchMax, retryMs));
      for (const message of messages) {
        if (signal.aborted) return;
        await deliver(deps, message);
      }
    },
  };
}

async function deliver(deps: PushDeps, message: PushMessageTable): Promise<void> {
  const { database, encryption } = deps;
  const { tenant_id: tenant, device_id: id } = message;
  const device = await database.read(tenant, (queries) => findDevice(queries, tenant, id));
  const encrypted = device?.state === 'active' ? device.push_token_encrypted : null;
  const token = encrypted === null ? undefined : encryption.decrypt(encrypted, pushTokenPurpose(tenant, id)).toString();
  const outcome = token === undefined ? 'sent' : await send(deps, message, token);
  if (outcome === 'gone') await database.write(tenant, (queries) => setPushToken(queries, tenant, id, 'none', null));
  if (outcome !== 'failed') await database.system((queries) => deletePushMessage(queries, message.id));
}

async function send({ push, log }: PushDeps, message: PushMessageTable, token: string): Promise<PushOutcome> {
  try {
    return await (message.provider === 'apns' ? push.apns(token) : push.fcm(token));
  } catch (error) {
    log.warn({ err: error, provider: message.provider, attempts: message.attempts }, 'a push was not taken by its provider');
    return 'failed';
  }
}

// Hands queued pushes to their vendors after the commit. A failure is tried again while the push is of use; a push whose approval is
// decided by then goes, as does that of a recovery that was used or stopped. Phones that get no push find the approval by asking, so nothing rests on this.
import { type Attempted, type Carrier, eachAlone } from '../../deliveries/carrier.ts';
import type { TenantId } from '../../domain/ids.ts';
import { findDevice } from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import type { PushMessage } from '../../storage/records/push-messages.ts';
import type { TenantDirectory } from '../../storage/registry/tenant-directory.ts';
import { approvalStateOf, findApproval } from '../../storage/sign-in/approvals.ts';
import { findOpenRecovery } from '../../storage/sign-in/invitations.ts';
import { type PushAttempt, type PushParts, type PushSubject, sendPush } from './push-sending.ts';

interface PushDeliveryParts extends PushParts {
  readonly tenants: TenantDirectory;
}

/** @param parts read at each delivery, because the carrier is made before the services are whole. */
export const createPushCarrier = (parts: () => PushDeliveryParts): Carrier<PushMessage> =>
  eachAlone(async (message) => {
    const { database, tenants } = parts();
    const tenant = await tenants.byId(message.tenant_id);
    const { device, subject } = await database.read(message.tenant_id, async (queries) => ({
      device: await findDevice(queries, message.tenant_id, message.device_id),
      subject: await subjectOf(queries, message.tenant_id, message.id.slice(0, message.id.indexOf(':'))),
    }));
    if (tenant === undefined || device === undefined || subject === undefined) return undefined;
    return { send: async (signal) => attemptedOf(await sendPush(parts(), tenant, device, subject, signal)) };
  });

/** What a push says; undefined: it says nothing of use any more. */
async function subjectOf(queries: Queries, tenant: TenantId, id: string): Promise<PushSubject | undefined> {
  const approval = await findApproval(queries, tenant, id);
  if (approval !== undefined)
    return approvalStateOf(approval) === 'pending' ? { type: 'approval', id, expiresAtMs: approval.expires_at } : undefined;
  const recovery = await findOpenRecovery(queries, tenant, id);
  return recovery && { type: 'recovery', id, expiresAtMs: recovery.expires_at };
}

/** What became of it stands on the device. */
function attemptedOf(attempt: PushAttempt | undefined): Attempted {
  if (attempt === undefined || attempt.outcome === 'sent') return { result: 'taken' };
  const reason = attempt.reason ?? attempt.outcome;
  if (attempt.outcome !== 'failed') return { result: 'refused', reason };
  return { result: reason === 'timeout' ? 'timeout' : 'failed', reason };
}

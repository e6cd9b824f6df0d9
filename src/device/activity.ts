// What the user decided lately, for the phone's own history: read from the audit record, so that nothing is kept for it.
import type { Queries } from '../storage/engine/database.ts';
import { listDecisionsOfUser } from '../storage/records/audit-events.ts';
import { describeRequester } from './approvals.ts';
import { badField } from './body-fields.ts';
import type { DeviceCaller, SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

const itemsMax = 100;
const itemsDefault = 20;
const periodMs = 30 * 86_400_000;

interface DecisionData {
  readonly kind: string;
  readonly client: string | null;
  readonly service_provider: string | null;
  readonly device?: string;
  readonly initiated?: { readonly at: string; readonly ip: string | null; readonly user_agent: string | null };
}

/** GET /activity[?limit=20]: the user's decisions of 30 days, newest first. */
export async function listActivity(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const limit = parseLimit(signed.rawQuery);
  const { services, tenant } = signed;
  const fromMs = services.clock.nowMs() - periodMs;
  return services.database.read(tenant.id, async (queries) => {
    const events = await listDecisionsOfUser(queries, tenant.id, caller.userId, { fromMs, limit });
    const items = [];
    for (const event of events) {
      const data = JSON.parse(event.data ?? '{}') as DecisionData; // written by resolveApproval
      items.push(await describeDecision(queries, signed, caller, { type: event.type, atMs: event.created_at, data }));
    }
    return { items };
  });
}

async function describeDecision(
  queries: Queries,
  signed: SignedRequest,
  caller: DeviceCaller,
  decision: { readonly type: string; readonly atMs: number; readonly data: DecisionData },
): Promise<object> {
  const { data } = decision;
  return {
    at: isoTime(decision.atMs),
    type: data.kind,
    client: await describeRequester(queries, signed.tenant.id, data.client, data.service_provider),
    initiated: data.initiated ?? null,
    state: decision.type === 'approval.approved' ? 'approved' : 'denied',
    by_this_device: data.device === caller.deviceId,
  };
}

function parseLimit(rawQuery: string): number {
  const limit = new URLSearchParams(rawQuery).get('limit') ?? String(itemsDefault);
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > itemsMax) throw badField('limit', `a number from 1 to ${itemsMax}`);
  return Number(limit);
}

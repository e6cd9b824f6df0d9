// What a person decides on an enrolled phone. A decision that was repeated and is found decided was one's own.
import { isRefusal } from './device-error.ts';
import { callAs, type Phone, postCall } from './phone.ts';
import type { Account, Memory } from './state.ts';

export interface Approval {
  readonly id: string;
  readonly type: 'oidc_login' | 'saml_login' | 'ciba' | 'device_add';
  readonly client: Readonly<Record<string, unknown>> | null;
  readonly binding_message: string | null;
  readonly scopes: readonly string[];
  readonly initiated: Readonly<Record<string, unknown>>;
  /** Of `device_add`: what is to be added. */
  readonly device?: { readonly platform: string | null; readonly name: string | null; readonly model: string | null };
  readonly match: { readonly required: boolean; readonly digits: number };
  readonly expires_at: string;
  readonly context_sha256: string;
}

export interface PastDecision {
  readonly at: string;
  readonly type: Approval['type'];
  readonly client: Readonly<Record<string, unknown>> | null;
  readonly initiated: Readonly<Record<string, unknown>> | null;
  readonly state: 'approved' | 'denied';
  readonly by_this_device: boolean;
}

export type DenyReason = 'not_me' | 'mistake' | 'other';

/** `decided`: an earlier attempt whose answer was lost decided it. */
export interface Decided {
  readonly id: string;
  readonly state: 'approved' | 'denied' | 'decided';
}

export async function listApprovals(
  phone: Phone,
  memory: Memory,
  account: Account,
  wait: { readonly seconds?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly Approval[]> {
  const query = wait.seconds === undefined ? 'state=pending' : `state=pending&wait=${wait.seconds}`;
  const signal = wait.signal === undefined ? {} : { signal: wait.signal };
  const { body } = await callAs(phone, memory, account, { method: 'GET', path: '/v1/device/approvals', query, ...signal });
  return body['items'] as readonly Approval[]; // the 200 shape of the endpoint
}

/** Claims what the code names. A code works once: after a lost answer the claimed approval is the listed one it begins with. */
export async function claimApproval(
  phone: Phone,
  memory: Memory,
  account: Account,
  { code, scanned }: { readonly code: string; readonly scanned: boolean },
): Promise<Approval> {
  try {
    const { body } = await callAs(phone, memory, account, postCall('/approvals/claim', { code, ...(scanned && { scanned }) }));
    return body as unknown as Approval; // the 200 shape of the endpoint
  } catch (error) {
    if (!isRefusal(error, 'not_found') || !error.repeated) throw error;
    const items = await listApprovals(phone, memory, account);
    const claimed = items.find((item) => item.id === code.split('.')[0]);
    if (claimed === undefined) throw error;
    return claimed;
  }
}

export async function decide(
  phone: Phone,
  memory: Memory,
  account: Account,
  decision:
    | { readonly approval: Approval; readonly match?: string | undefined }
    | { readonly approval: Approval; readonly deny: DenyReason },
): Promise<Decided> {
  const { id, context_sha256: context } = decision.approval;
  const call =
    'deny' in decision
      ? postCall(`/approvals/${id}/deny`, { reason: decision.deny })
      : postCall(
          `/approvals/${id}/approve`,
          { context_sha256: context, ...(decision.match === undefined ? {} : { match: decision.match }) },
          { purpose: 'uv' },
        );
  try {
    await callAs(phone, memory, account, call);
    return { id, state: 'deny' in decision ? 'denied' : 'approved' };
  } catch (error) {
    if (isRefusal(error, 'approval_not_pending') && error.repeated) return { id, state: 'decided' };
    throw error;
  }
}

export async function listActivity(phone: Phone, memory: Memory, account: Account, limit: number): Promise<readonly PastDecision[]> {
  const { body } = await callAs(phone, memory, account, { method: 'GET', path: '/v1/device/activity', query: `limit=${limit}` });
  return body['items'] as readonly PastDecision[]; // the 200 shape of the endpoint
}

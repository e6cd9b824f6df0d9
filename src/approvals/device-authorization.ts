// A person lets a device without a browser in, or not (RFC 8628 3.3): found by the code they typed, decided once, with what their own
// sign-in was worth. Called by the account's pages; the device hears of it when it polls.
import type { Client } from '../domain/client/client.ts';
import { deviceCodeGrantType } from '../domain/oidc/grant-types.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database, Queries } from '../storage/engine/database.ts';
import { insertConsent } from '../storage/oidc/consents.ts';
import { type DeviceAuthorization, decideDeviceAuthorization, findWaitingDevice } from '../storage/oidc/device-authorizations.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { findClient } from '../storage/registry/clients/clients.ts';
import { findClientRefusal } from './authorization-answer.ts';

export interface WaitingDevice {
  readonly authorization: DeviceAuthorization;
  readonly client: Client;
}

/** The device that waits with this code (parseUserCode), and the application it runs, which may still use the grant. */
export async function findDevice(queries: Queries, tenant: Tenant, userCode: string): Promise<WaitingDevice | undefined> {
  const authorization = await findWaitingDevice(queries, tenant.id, userCode);
  const client = authorization && (await findClient(queries, tenant.id, authorization.client_id));
  const mayWait = client?.enabled === true && client.grantTypes.includes(deviceCodeGrantType);
  return authorization === undefined || client === undefined || !mayWait ? undefined : { authorization, client };
}

interface DeviceVerdict {
  readonly userCode: string;
  readonly allow: boolean;
  readonly user: UserRow;
  /** How and when (seconds since the epoch) that person signed in. */
  readonly signedIn: { readonly authTimeSeconds: number; readonly acr: string | undefined; readonly amr: readonly string[] };
  /** Whether that sign-in still counts; who ends it meanwhile waits. */
  readonly holdSession: (queries: Queries) => Promise<boolean>;
  readonly requestId: string;
}

/**
 * Decides in one transaction with its audit record; one conditional UPDATE says who was first (`not_waiting` for the others).
 * `session_ended`: the person's own sign-in did, meanwhile. `refused`: the person allowed it but may not use the application; the device
 * hears access_denied as if they had not.
 */
export async function decideDevice(
  { clock, database }: { readonly clock: Clock; readonly database: Database },
  tenant: Tenant,
  { userCode, allow, user, signedIn, holdSession, requestId }: DeviceVerdict,
): Promise<Outcome<{ readonly client: Client }, 'not_waiting' | 'session_ended' | 'refused'>> {
  return database.write(tenant.id, async (queries) => {
    if (!(await holdSession(queries))) return fail('session_ended');
    const device = await findDevice(queries, tenant, userCode);
    if (device === undefined) return fail('not_waiting');
    const { authorization, client } = device;
    const refusal = allow ? await findClientRefusal(queries, tenant, client, user) : undefined;
    const isApproved = allow && refusal === undefined;
    const isFirst = await decideDeviceAuthorization(queries, tenant.id, userCode, {
      state: isApproved ? 'approved' : 'denied',
      user_id: user.id,
      auth_time: signedIn.authTimeSeconds,
      acr: signedIn.acr ?? null,
      amr: JSON.stringify(signedIn.amr),
    });
    if (!isFirst) return fail('not_waiting');
    if (isApproved && client.requireConsent)
      await insertConsent(queries, tenant.id, user.id, client.clientId, { scope: authorization.scope, resource: undefined });
    await insertAuditEvent(queries, tenant.id, clock.nowMs(), {
      type: isApproved ? 'device_authorization.approved' : 'device_authorization.denied',
      requestId,
      actor: `user:${user.id}`,
      target: `client:${client.clientId}`,
      reason: refusal,
      data: {
        device_authorization: authorization.id,
        scope: authorization.scope,
        initiated: {
          at: new Date(authorization.created_at).toISOString(),
          ip: authorization.initiated_ip,
          user_agent: authorization.initiated_user_agent,
        },
      },
    });
    return refusal === undefined ? { ok: true, client } : fail('refused');
  });
}

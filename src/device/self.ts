// A device about itself and the user's other devices: look, rename, set where to push, revoke.
import { pushTokenPurpose } from '../approvals/push-delivery.ts';
import { reject } from '../contract/contract-error.ts';
import { deviceNameCharsMax } from '../contract/limits.ts';
import type { DeviceId } from '../domain/ids.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { Queries } from '../storage/database.ts';
import { type DeviceTable, findDevice, listDeviceKeys, revokeDevice, setPushToken, updateDevice } from '../storage/devices.ts';
import { findUser, listUserEmails } from '../storage/users.ts';
import { badField, optionalText, own, parseBody, requireOneOf, requireText } from './body-fields.ts';
import { deviceFactCharsMax } from './payloads.ts';
import { type DeviceCaller, keyRevoked, type SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

export const pushTokenCharsMax = 4096;

/** GET /self */
export async function showSelf(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  return signed.services.database.read(signed.tenant.id, (queries) => describeSelf(queries, signed, caller.deviceId));
}

/** PATCH /self */
export async function changeSelf(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const body = parseBody(signed.bodyBytes);
  const change = {
    name: optionalText(body, 'name', deviceNameCharsMax),
    os_version: optionalText(body, 'os_version', deviceFactCharsMax),
    app_version: optionalText(body, 'app_version', deviceFactCharsMax),
  };
  const { services, tenant } = signed;
  return services.database.write(tenant.id, async (queries) => {
    await updateDevice(queries, tenant.id, caller.deviceId, change);
    return describeSelf(queries, signed, caller.deviceId);
  });
}

/** DELETE /self: the phone revokes itself. */
export async function revokeSelf(signed: SignedRequest, caller: DeviceCaller): Promise<undefined> {
  await revoke(signed, caller, caller.deviceId);
  return undefined;
}

/** POST /devices/{id}/revoke: another device of the same user, with the uv key. */
export async function revokeOther(signed: SignedRequest, caller: DeviceCaller, id: string): Promise<undefined> {
  demandUserVerification(caller);
  if (!(await revoke(signed, caller, id.toLowerCase()))) throw reject('device.not_found', 'no_such_device');
  return undefined;
}

/** PUT /push-token */
export async function registerPushToken(signed: SignedRequest, caller: DeviceCaller): Promise<undefined> {
  const { services, tenant } = signed;
  const body = parseBody(signed.bodyBytes);
  const provider = requireOneOf(body, 'provider', ['apns', 'fcm', 'none']);
  const token = provider === 'none' ? undefined : requireText(body, 'token', pushTokenCharsMax);
  if (provider === 'none' && typeof (own(body, 'token') ?? '') !== 'string') throw badField('token', 'a text');
  const encrypted = token === undefined ? null : services.encryption.encrypt(token, pushTokenPurpose(tenant.id, caller.deviceId));
  await services.database.write(tenant.id, (queries) => setPushToken(queries, tenant.id, caller.deviceId, provider, encrypted));
  return undefined;
}

/** Approvals and the revocation of other devices need the key behind the user's biometrics or passcode. */
export function demandUserVerification(caller: DeviceCaller): void {
  if (caller.purpose !== 'uv') throw reject('approval.user_verification_required', 'pop_key');
}

/** The user as a phone may show it. */
export async function describeUser(queries: Queries, signed: SignedRequest, userId: DeviceTable['user_id']): Promise<object> {
  const user = await findUser(queries, signed.tenant.id, userId);
  const emails = await listUserEmails(queries, signed.tenant.id, userId);
  const primary = emails.find((email) => email.is_primary === 1) ?? emails[0];
  return {
    id: userId,
    user_name: user?.user_name ?? null,
    display_name: user?.display_name ?? user?.name_formatted ?? null,
    given_name: user?.given_name ?? null,
    family_name: user?.family_name ?? null,
    email: primary?.value ?? null,
  };
}

async function describeSelf(queries: Queries, signed: SignedRequest, id: DeviceId): Promise<object> {
  const device = await findDevice(queries, signed.tenant.id, id);
  if (device === undefined) throw keyRevoked('deleted_meanwhile');
  const keys = await listDeviceKeys(queries, signed.tenant.id, id);
  return {
    device_id: device.id,
    platform: device.platform,
    name: device.name,
    model: device.model,
    os_version: device.os_version,
    app_version: device.app_version,
    push_provider: device.push_provider,
    created_at: isoTime(device.created_at),
    user: await describeUser(queries, signed, device.user_id),
    keys: keys
      .filter((key) => key.revoked_at === null)
      .map((key) => ({
        key_id: key.key_id,
        purpose: key.purpose,
        alg: key.alg,
        created_at: isoTime(key.created_at),
        rotated_at: key.rotated_at === null ? null : isoTime(key.rotated_at),
      })),
    server_time: signed.services.clock.nowMs(),
  };
}

async function revoke(signed: SignedRequest, caller: DeviceCaller, id: string): Promise<boolean> {
  const { services, tenant } = signed;
  return services.database.write(tenant.id, async (queries) => {
    if (!(await revokeDevice(queries, tenant.id, id, caller.userId))) return false;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: 'device.revoked',
      requestId: signed.requestId,
      actor: `device:${caller.deviceId}`,
      target: `device:${id}`,
      data: { user: caller.userId },
    });
    return true;
  });
}

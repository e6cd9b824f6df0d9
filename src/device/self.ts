// A device about itself and the user's other devices: look, rename, set where to push, revoke.
import { letInSomewhereNew } from '../approvals/attack.ts';
import { vapidPublicKey } from '../approvals/pushed/push-sending.ts';
import { reject } from '../contract/contract-error.ts';
import { deviceNameCharsMax, pushTokenCharsMax } from '../contract/limits.ts';
import { pushTokenPurpose } from '../crypto/sealed-columns.ts';
import type { DeviceId, UserId } from '../domain/ids.ts';
import { parseSubscription } from '../platform/push/web.ts';
import { findDevice, listDeviceKeys, revokeDevice, updateDevice } from '../storage/device/devices.ts';
import { pushProviderOf, pushProviders, setPushTarget } from '../storage/device/push-targets.ts';
import type { Queries } from '../storage/engine/database.ts';
import { listUserEmails } from '../storage/people/user-lists.ts';
import { findUser } from '../storage/people/users.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { badField, optionalText, own, parseBody, requireOneOf, requireText } from './body-fields.ts';
import { deviceFactCharsMax } from './payloads.ts';
import { type DeviceCaller, demandStillInForce, keyRevoked, type SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

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

/** POST /sign-in/open: "Let me in somewhere new". */
export async function openSignIn(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  const { services, tenant, requestId } = signed;
  const by = { actor: `device:${caller.deviceId}`, requestId };
  const expiresAtMs = await services.database.write(tenant.id, async (queries) => {
    await demandStillInForce(queries, signed, caller);
    return letInSomewhereNew(queries, services, tenant, caller.userId, by);
  });
  return { expires_at: isoTime(expiresAtMs) };
}

/** GET /push-token: where this device is pushed to, and the key a browser subscribes with. */
export async function showPushToken({ services, tenant }: SignedRequest, caller: DeviceCaller): Promise<object> {
  const device = await services.database.read(tenant.id, (queries) => findDevice(queries, tenant.id, caller.deviceId));
  if (device === undefined) throw keyRevoked('deleted_meanwhile');
  return { provider: pushProviderOf(device), vapid_public_key: await vapidPublicKey(services, tenant.id) };
}

/** PUT /push-token */
export async function registerPushToken(signed: SignedRequest, caller: DeviceCaller): Promise<undefined> {
  const { services, tenant } = signed;
  const body = parseBody(signed.bodyBytes);
  const provider = requireOneOf(body, 'provider', [...pushProviders, 'none']);
  const token = provider === 'none' ? undefined : requireText(body, 'token', pushTokenCharsMax);
  if (provider === 'none' && typeof (own(body, 'token') ?? '') !== 'string') throw badField('token', 'a text');
  const subscription = provider === 'web' ? parseSubscription(token ?? '') : undefined;
  if (provider === 'web' && subscription === undefined) throw badField('token', 'the JSON of a push subscription of this browser’s vendor');
  const tokenEncrypted = token === undefined ? '' : services.encryption.encrypt(token, pushTokenPurpose(tenant.id, caller.deviceId));
  const target = provider === 'none' ? undefined : { provider, tokenEncrypted, vendor: subscription?.vendor };
  if (!(await services.database.write(tenant.id, (queries) => setPushTarget(queries, tenant.id, caller.deviceId, target))))
    throw keyRevoked('revoked_meanwhile');
  return undefined;
}

/** Approvals and the revocation of other devices need the key behind the user's biometrics or passcode. */
export function demandUserVerification(caller: DeviceCaller): void {
  if (caller.purpose !== 'uv') throw reject('approval.user_verification_required', 'pop_key');
}

/** The user as a phone may show it. */
export async function describeUser(queries: Queries, signed: SignedRequest, userId: UserId): Promise<object> {
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
    push_provider: pushProviderOf(device),
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
    // Of two that revoke one another one stays.
    if (id !== caller.deviceId) await demandStillInForce(queries, signed, caller);
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

// Makes a device of a registration inside the caller's transaction: consumes the token, claims identifiers and keys for
// good, activates, audits, mails the user. Called by enroll.ts only. A refusal throws, and the transaction rolls back.
import { mailUser } from '../approvals/user-mail.ts';
import { reject } from '../contract/contract-error.ts';
import type { DeviceId, UserId } from '../domain/ids.ts';
import type { Language } from '../domain/language.ts';
import type { Message } from '../platform/mail.ts';
import { uuidV7 } from '../platform/random.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import type { Queries } from '../storage/database.ts';
import { consumeRegistration, type Registration } from '../storage/device-registrations.ts';
import { claimDeviceIdentifiers, claimKeyFingerprints, type DeviceAttestation, insertDevice, type NewSlot } from '../storage/devices.ts';
import { insertSignupUser } from '../storage/signup-users.ts';
import { deviceAddedMail } from './device-mail.ts';
import type { DeviceDescription } from './payloads.ts';
import { tokenInvalid } from './registration-token.ts';
import { describeUser } from './self.ts';
import { keyRevoked, type SignedRequest } from './signed-call.ts';

/** The device, and the answer that tells the phone about it. */
export async function activateDevice(
  queries: Queries,
  signed: SignedRequest,
  registration: Registration,
  userId: UserId,
  slots: readonly NewSlot[],
  attestation: DeviceAttestation | undefined,
): Promise<object> {
  const { services, tenant } = signed;
  const consumed = await consumeRegistration(queries, tenant.id, registration.id, ['verified', 'pending_approval']);
  if (!consumed) throw tokenInvalid('consumed_meanwhile');
  const deviceId = signed.headers.deviceId as DeviceId; // becomes one here
  const keyIds = slots.map((slot) => slot.keyId);
  if (!(await claimDeviceIdentifiers(queries, [deviceId, ...keyIds]))) throw keyRevoked('identifier_used_before');
  const fingerprints = slots.map((slot) => slot.fingerprint);
  if (!(await claimKeyFingerprints(queries, tenant.id, fingerprints))) throw reject('device.bad_proof', 'key_used_before');
  const device = JSON.parse(registration.device) as DeviceDescription; // written from parseDevice
  await insertDevice(queries, tenant.id, {
    id: deviceId,
    userId,
    platform: device.platform,
    name: device.name,
    model: device.model,
    osVersion: device.os_version,
    appVersion: device.app_version,
    attestation,
    slots,
  });
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: 'device.enrolled',
    requestId: signed.requestId,
    actor: `user:${userId}`,
    target: `device:${deviceId}`,
    data: { kind: registration.kind, attestation: attestation?.format ?? null },
  });
  const mail = (to: string, language: Language): Message =>
    deviceAddedMail({ deviceName: device.name, tenantName: tenant.name, language }, to);
  await mailUser(queries, services, tenant, userId, mail, signed.acceptLanguage);
  return {
    device_id: deviceId,
    user: await describeUser(queries, signed, userId),
    keys: slots.map((slot) => ({ key_id: slot.keyId, purpose: slot.purpose, alg: slot.alg })),
    server_time: services.clock.nowMs(),
  };
}

/** The user a proven signup becomes; refuses when the email was taken meanwhile. */
export async function createSignupUser(queries: Queries, signed: SignedRequest, registration: Registration): Promise<UserId> {
  const { services, tenant } = signed;
  const id = uuidV7(services.clock.nowMs()) as UserId; // made here
  const made = await insertSignupUser(queries, tenant.id, {
    id,
    email: registration.email ?? '',
    givenName: registration.given_name,
    familyName: registration.family_name,
    locale: registration.locale,
  });
  if (!made) throw reject('registration.email_exists', 'taken_meanwhile');
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: 'user.signed_up',
    requestId: signed.requestId,
    actor: `user:${id}`,
    target: `user:${id}`,
  });
  return id;
}

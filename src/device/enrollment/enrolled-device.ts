// Makes a device of a registration inside the caller's transaction: consumes the token, claims identifiers and keys for
// good, activates, audits, mails the user. Called by enroll.ts only. A refusal throws, and the transaction rolls back.

import { mailUser } from '../../approvals/mailed/user-mail.ts';
import { reject } from '../../contract/contract-error.ts';
import type { DeviceId, UserId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Letter } from '../../mails/letter.ts';
import { mails } from '../../mails/registry.ts';
import { uuidV7 } from '../../platform/random.ts';
import { consumeRegistration, type Registration } from '../../storage/device/device-registrations.ts';
import {
  claimDeviceIdentifiers,
  claimKeyFingerprints,
  type DeviceAttestation,
  insertDevice,
  type NewSlot,
} from '../../storage/device/devices.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { ValueTaken } from '../../storage/engine/unique-violation.ts';
import { insertUser } from '../../storage/people/user-writer.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import type { DeviceDescription } from '../payloads.ts';
import { describeUser } from '../self.ts';
import { keyRevoked, type SignedRequest } from '../signed-call.ts';
import type { KeyProtection } from '../web-phone.ts';
import { tokenInvalid } from './registration-token.ts';

interface Activation {
  readonly registration: Registration;
  readonly userId: UserId;
  readonly slots: readonly NewSlot[];
  readonly attestation: DeviceAttestation | undefined;
  readonly protection: KeyProtection;
}

/** The device, and the answer that tells the phone about it. */
export async function activateDevice(queries: Queries, signed: SignedRequest, made: Activation): Promise<object> {
  const { services, tenant } = signed;
  const { registration, userId, slots, attestation, protection } = made;
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
    user_id: userId,
    ...device,
    key_protection: protection,
    attestation,
    slots,
  });
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: 'device.enrolled',
    requestId: signed.requestId,
    actor: `user:${userId}`,
    target: `device:${deviceId}`,
    data: { kind: registration.kind, attestation: attestation?.format ?? null, key_protection: protection },
  });
  const mail = (to: string, language: Language): Letter =>
    mails.deviceAdded.make({ deviceName: device.name, tenantName: tenant.name, language }, to);
  await mailUser(queries, services, tenant, { userId, asked: signed.acceptLanguage }, mail);
  return {
    device_id: deviceId,
    user: await describeUser(queries, signed, userId),
    keys: slots.map((slot) => ({ key_id: slot.keyId, purpose: slot.purpose, alg: slot.alg })),
    server_time: services.clock.nowMs(),
  };
}

/** Asked when a signup begins, and again before it makes somebody. */
export function demandSignupEnabled({ settings }: Tenant): void {
  if (!settings.signup_enabled) throw reject('device.signup_disabled', { reason: 'signup_enabled', expected: true, received: false });
}

/** The user a proven signup becomes; refuses when the email was taken meanwhile. */
export async function createSignupUser(queries: Queries, signed: SignedRequest, registration: Registration): Promise<UserId> {
  const { services, tenant } = signed;
  demandSignupEnabled(tenant);
  const id = uuidV7(services.clock.nowMs()) as UserId; // made here
  const { email, given_name, family_name, locale } = registration;
  const lists = { emails: [{ value: email ?? '', type: null, display: null, is_primary: 1 }] };
  const profile = { user_name: email ?? '', given_name, family_name, locale };
  const user = { id, state: 'active', origin: 'signup', profile, lists } as const;
  await insertUser(queries, tenant.id, user).catch((error: unknown) => {
    throw error instanceof ValueTaken ? reject('registration.email_exists', 'taken_meanwhile') : error;
  });
  await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
    type: 'user.signed_up',
    requestId: signed.requestId,
    actor: `user:${id}`,
    target: `user:${id}`,
  });
  return id;
}

// Starting, completing and abandoning a key rotation (contract 7.16). Confirming one is in rotation-confirm.ts.
import { reject } from '../contract/contract-error.ts';
import { isPlatformCredentialAlg } from '../crypto/platform-credential.ts';
import { randomSecret, uuidV7 } from '../platform/random.ts';
import { endRotation, findRotation, lockRotations, startRotation } from '../storage/device/device-rotations.ts';
import { type DeviceSlot, endOverlap, listDeviceKeys } from '../storage/device/devices.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { own, parseBody } from './body-fields.ts';
import { badSignature, type DeviceCaller, type SignedRequest } from './signed-call.ts';
import { isoTime } from './times.ts';

/** POST /keys/rotate/start: a snapshot of the slots to rotate and a nonce their new keys sign. */
export async function rotateStart(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  demandCurrentKey(caller);
  const { services, tenant } = signed;
  const wanted = parseKeyIds(own(parseBody(signed.bodyBytes), 'key_ids'));
  const rotation = {
    id: uuidV7(services.clock.nowMs()),
    nonce: randomSecret(),
    lifetimeMs: tenant.settings.device.rotation_nonce_lifetime_seconds * 1000,
  };
  const started = await services.database.write(tenant.id, async (queries) => {
    // Slots that a confirmation is replacing are not rotated again, and its answer stays for whoever asks once more.
    await lockRotations(queries, services.database.dialect, tenant.id, caller.deviceId);
    const slots = await listDeviceKeys(queries, tenant.id, caller.deviceId);
    const set = slots.filter((slot) => isRotatable(slot) && (wanted === undefined || wanted.has(slot.key_id)));
    if (set.length === 0) return undefined;
    const expiresAt = await startRotation(queries, tenant.id, caller.deviceId, { ...rotation, keyIds: set.map((slot) => slot.key_id) });
    return { set, expiresAt };
  });
  if (started === undefined) throw reject('rotation.no_keys_to_rotate', 'no_slot_out_of_overlap');
  const keys = started.set.map((slot) => ({ key_id: slot.key_id, purpose: slot.purpose, alg: slot.alg }));
  return { rotation_id: rotation.id, nonce: rotation.nonce, expires_at: isoTime(started.expiresAt), keys };
}

/** POST /keys/rotate/complete: ends the overlap of a confirmed rotation early. */
export async function rotateComplete(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  return end(signed, caller, 'confirmed', 'completed');
}

/** POST /keys/rotate/abort: abandons a rotation that was not confirmed. */
export async function rotateAbort(signed: SignedRequest, caller: DeviceCaller): Promise<object> {
  return end(signed, caller, 'open', 'aborted');
}

/** Rotation calls take the current key only: a thief of the old key must not be able to rotate. */
export function demandCurrentKey(caller: DeviceCaller): void {
  if (caller.byPreviousKey) throw badSignature('previous_key_may_not_rotate');
}

async function end(
  signed: SignedRequest,
  caller: DeviceCaller,
  from: 'open' | 'confirmed',
  status: 'completed' | 'aborted',
): Promise<object> {
  demandCurrentKey(caller);
  const { services, tenant } = signed;
  const named = own(parseBody(signed.bodyBytes), 'rotation_id');
  const ended = await services.database.write(tenant.id, async (queries) => {
    await lockRotations(queries, services.database.dialect, tenant.id, caller.deviceId);
    const rotation = await findRotation(queries, tenant.id, caller.deviceId);
    if (rotation === undefined || (named !== undefined && named !== rotation.id) || (named === undefined && from === 'confirmed'))
      return undefined;
    if (!(await endRotation(queries, tenant.id, caller.deviceId, rotation.id, from))) return undefined;
    if (from === 'confirmed') await endOverlap(queries, tenant.id, caller.deviceId);
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      type: `device.rotation_${status}`,
      requestId: signed.requestId,
      actor: `device:${caller.deviceId}`,
      target: `device:${caller.deviceId}`,
    });
    return rotation.id;
  });
  if (ended === undefined) throw reject('rotation.no_rotation_in_progress', { reason: 'no_rotation_in_this_state', expected: from });
  return { rotation_id: ended, status };
}

function isRotatable(slot: DeviceSlot): boolean {
  // A platform credential stays for the life of its device; a new one enrols anew.
  return slot.revoked_at === null && slot.overlap === 0 && !isPlatformCredentialAlg(slot.alg);
}

// `key_ids` that are no list of texts name none of the device's slots.
function parseKeyIds(value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined;
  return new Set(Array.isArray(value) ? value.filter((id) => typeof id === 'string').map((id) => id.toLowerCase()) : []);
}

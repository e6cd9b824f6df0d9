// The first signed call of a phone that is no device yet: its key is in its own body. Body, identifiers and algorithms are
// checked before the signature can be.

import { listRegistrationsOfDevice } from '../../storage/device/device-registrations.ts';
import { areFingerprintsKnown, areIdentifiersClaimed, type NewSlot } from '../../storage/device/devices.ts';
import { badField, type Fields, parseBody } from '../body-fields.ts';
import { type DeviceDescription, parseDevice, parseKeys, readStoredSlots } from '../payloads.ts';
import { authenticateNewKey, keyRevoked, type SignedRequest } from '../signed-call.ts';
import { algsOfPlatform, demandKeysOfPlatform, demandWebPhonesAllowed } from '../web-phone.ts';

export interface FirstCall<Values> {
  readonly device: DeviceDescription;
  readonly slots: readonly NewSlot[];
  readonly fields: Values;
}

/**
 * The parsed and authenticated first call; `parseRest` reads the members the endpoint adds, `refuseAgain` answers a first call whose
 * identifiers were enrolled before by throwing where the endpoint has an answer of its own.
 */
export async function parseFirstCall<Values>(
  signed: SignedRequest,
  parseRest: (body: Fields) => Values,
  refuseAgain?: (fields: Values) => Promise<void>,
): Promise<FirstCall<Values>> {
  const { services, tenant, headers } = signed;
  const body = parseBody(signed.bodyBytes);
  const device = parseDevice(body);
  const slots = parseKeys(body, headers.deviceId, algsOfPlatform(device.platform, tenant.settings.device.allowed_algs));
  demandKeysOfPlatform(device.platform, slots);
  const fields = parseRest(body);
  const pop = slots.find((slot) => slot.purpose === 'pop' && slot.keyId === headers.keyId);
  if (pop === undefined) throw badField('keys', 'a list with the pop slot that X-Device-Key-Id names');
  const ids = [headers.deviceId, ...slots.map((slot) => slot.keyId)];
  const known = await services.database.read(tenant.id, async (queries) => ({
    claimed: await areIdentifiersClaimed(queries, ids),
    keyUsed: await areFingerprintsKnown(
      queries,
      tenant.id,
      slots.map((slot) => slot.fingerprint),
    ),
    registrations: await listRegistrationsOfDevice(queries, tenant.id, headers.deviceId),
  }));
  if (known.claimed) {
    await refuseAgain?.(fields);
    throw keyRevoked('identifier_used_before');
  }
  if (known.registrations.some((row) => !isSamePhone(readStoredSlots(row.keys), slots)))
    throw keyRevoked('device_id_of_another_registration');
  if (known.keyUsed) throw badField('public_key', 'a key that was never enrolled');
  await authenticateNewKey(signed, pop);
  demandWebPhonesAllowed(tenant, device.platform);
  return { device, slots, fields };
}

// A phone may start again with the very keys of an earlier start; nobody else may take its device id.
function isSamePhone(earlier: readonly NewSlot[], slots: readonly NewSlot[]): boolean {
  return earlier.length === slots.length && slots.every((slot) => earlier.some((other) => isSameSlot(other, slot)));
}

const isSameSlot = (one: NewSlot, other: NewSlot): boolean =>
  one.keyId === other.keyId && one.fingerprint === other.fingerprint && one.purpose === other.purpose && one.alg === other.alg;

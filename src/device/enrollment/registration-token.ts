// Registration tokens: finding the registration a call is about, and the reasons it may not be used.
import { reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import { findRegistrationByToken, type Registration } from '../../storage/device/device-registrations.ts';
import { findUser } from '../../storage/people/users.ts';
import { type Fields, requireText } from '../body-fields.ts';
import { readStoredSlots } from '../payloads.ts';
import type { RegistrationCaller, SignedRequest } from '../signed-call.ts';

const tokenCharsMax = 200;

/** The registration that `registration_token` names, alive and in one of the given states (contract 7.17). */
export async function loadRegistration(
  signed: SignedRequest,
  caller: RegistrationCaller,
  body: Fields,
  states: readonly Registration['state'][],
): Promise<Registration> {
  const token = requireText(body, 'registration_token', tokenCharsMax);
  const { services, tenant } = signed;
  const found = await services.database.read(tenant.id, async (queries) => {
    const registration = await findRegistrationByToken(queries, tenant.id, hashSecret(token));
    // Looked up for registrations of nobody too: they cost the same.
    const user = await findUser(queries, tenant.id, registration?.user_id ?? '');
    return { registration, userGone: registration?.user_id != null && user?.state !== 'active' };
  });
  const { registration } = found;
  if (registration === undefined) throw tokenInvalid('unknown');
  if (!isOfCaller(registration, caller)) throw tokenInvalid('other_device_or_key');
  if (!states.includes(registration.state)) throw tokenInvalid(`state_${registration.state}`);
  if (found.userGone) throw tokenInvalid('user_gone');
  if (registration.expired === 1) throw reject('registration.token_expired', 'token_expired');
  return registration;
}

export function tokenInvalid(reason: string): Error {
  return reject('registration.token_invalid', reason);
}

// Later calls are signed by the pop key the registration began with.
function isOfCaller(registration: Registration, caller: RegistrationCaller): boolean {
  const pop = readStoredSlots(registration.keys).find((slot) => slot.purpose === 'pop');
  return registration.device_id === caller.deviceId && pop?.keyId === caller.keyId;
}

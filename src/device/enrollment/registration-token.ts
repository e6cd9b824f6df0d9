// Registration tokens: finding the registration a call is about, and the reasons it may not be used.
import { reject } from '../../contract/contract-error.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { findRegistrationByToken, type Registration } from '../../storage/device/device-registrations.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findUser } from '../../storage/people/users.ts';
import { type Fields, requireText } from '../body-fields.ts';
import { readStoredSlots } from '../payloads.ts';
import type { RegistrationCaller, SignedRequest } from '../signed-call.ts';

const tokenCharsMax = 200;

/** What a call says of its registration: the token, who signed, and the states in which the call may come. */
interface Named {
  readonly token: string;
  readonly caller: RegistrationCaller;
  readonly states: readonly Registration['state'][];
}

/** The registration that `registration_token` names, alive and in one of the given states (contract 7.17). */
export async function loadRegistration(
  signed: SignedRequest,
  caller: RegistrationCaller,
  body: Fields,
  states: readonly Registration['state'][],
): Promise<Registration> {
  const { services, tenant } = signed;
  const token = registrationTokenOf(body);
  const found = await services.database.read(tenant.id, (queries) => judgeRegistration(queries, tenant, { token, caller, states }));
  if (found instanceof Error) throw found;
  return found;
}

export const registrationTokenOf = (body: Fields): string => requireText(body, 'registration_token', tokenCharsMax);

/** As loadRegistration, in the caller's transaction: the registration, or why it may not be used. */
export async function judgeRegistration(queries: Queries, tenant: Tenant, { token, caller, states }: Named): Promise<Registration | Error> {
  const registration = await findRegistrationByToken(queries, tenant.id, hashSecret(token));
  // Looked up for registrations of nobody too: they cost the same.
  const user = await findUser(queries, tenant.id, registration?.user_id ?? '');
  if (registration === undefined) return tokenInvalid('unknown');
  if (!isOfCaller(registration, caller)) return tokenInvalid('other_device_or_key');
  if (!states.includes(registration.state)) return tokenInvalid(`state_${registration.state}`);
  if (registration.user_id !== null && user?.state !== 'active') return tokenInvalid('user_gone');
  if (registration.expired === 1) return reject('registration.token_expired', 'token_expired');
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

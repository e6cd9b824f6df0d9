// Registration, signup, PIN, enrolment tokens and enrolment itself. Called through device.ts.
import { randomUUID } from 'node:crypto';
import type { KeyAlgorithm, KeyVault } from './key-vault.ts';
import type { SignedChannel } from './signed-channel.ts';
import { attestationText, enrollText } from './signing.ts';
import type { DeviceState, KeySlot } from './state.ts';

export interface DeviceDescription {
  readonly platform: 'ios' | 'android' | 'other';
  readonly name: string;
  readonly model?: string;
  readonly os_version?: string;
  readonly app_version?: string;
}

export interface Person {
  readonly email: string;
  readonly device: DeviceDescription;
  readonly given_name?: string;
  readonly family_name?: string;
  readonly locale?: string;
}

/** Makes the `attestation` member of the enrolment from the challenge; the platform's attestation service does the work. */
export type Attestor = (input: {
  readonly challenge: string;
  readonly clientData: Uint8Array;
  readonly slots: readonly KeySlot[];
}) => Promise<Readonly<Record<string, unknown>>>;

export type EnrollOutcome =
  | { readonly status: 'enrolled'; readonly user: unknown }
  | { readonly status: 'pending_approval'; readonly number: string };

export interface EnrollmentOptions {
  readonly baseUrl: string;
  readonly vault: KeyVault;
  readonly algorithms: Readonly<Record<'pop' | 'uv', KeyAlgorithm>>;
}

/** Starts a registration or a signup: makes both keys and sends their public halves. */
export async function startEnrollment(
  options: EnrollmentOptions,
  channel: SignedChannel,
  path: '/v1/device/registration/start' | '/v1/device/signup/start' | '/v1/device/enrollment/redeem',
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const slots = await makeSlots(options);
  await channel.save({ phase: 'registering', deviceId: randomUUID(), slots });
  const keys = slots.map(publicFields);
  const { body } = await channel.send({ method: 'POST', path, body: JSON.stringify({ ...fields, keys }) });
  await keepRegistration(channel, String(body['registration_token']), body);
}

/** Proves the mailbox with the PIN of the mail. */
export async function verifyPin(channel: SignedChannel, pin: string): Promise<void> {
  const token = await tokenOf(channel);
  const body = JSON.stringify({ registration_token: token, pin });
  const answer = await channel.send({ method: 'POST', path: '/v1/device/pin/verify', body });
  await keepRegistration(channel, token, answer.body);
}

/** Asks for another mail. */
export async function resendPin(channel: SignedChannel): Promise<void> {
  const body = JSON.stringify({ registration_token: await tokenOf(channel) });
  await channel.send({ method: 'POST', path: '/v1/device/pin/resend', body });
}

/** Proves every key and becomes an enrolled device, or waits for a person to approve it on another device. */
export async function enroll(options: EnrollmentOptions, channel: SignedChannel, attestor: Attestor | undefined): Promise<EnrollOutcome> {
  const state = await channel.state();
  const token = await tokenOf(channel);
  const challenge = state.registration?.challenge ?? (await freshChallenge(channel, token));
  const proofs = await Promise.all(state.slots.map((slot) => prove(options, state, slot, challenge)));
  const clientData = attestationText(options.baseUrl, state.deviceId, challenge, state.slots);
  const attestation = attestor && (await attestor({ challenge, clientData, slots: state.slots }));
  // A challenge serves once; the next attempt asks for another.
  await channel.save({ registration: { token } });
  const fields = { registration_token: token, proofs, ...(attestation === undefined ? {} : { attestation }) };
  const answer = await channel.send({ method: 'POST', path: '/v1/device/enroll', body: JSON.stringify(fields) });
  if (answer.status === 202) {
    await channel.save({ registration: { token, challenge } });
    return { status: 'pending_approval', number: String(answer.body['number']) };
  }
  await channel.save({ phase: 'enrolled' });
  return { status: 'enrolled', user: answer.body['user'] };
}

async function makeSlots(options: EnrollmentOptions): Promise<readonly KeySlot[]> {
  const make = async (purpose: 'pop' | 'uv'): Promise<KeySlot> => {
    const alg = options.algorithms[purpose];
    const key = await options.vault.create(alg);
    return { keyId: randomUUID(), purpose, alg, ...key };
  };
  return [await make('pop'), await make('uv')];
}

async function freshChallenge(channel: SignedChannel, token: string): Promise<string> {
  const body = JSON.stringify({ registration_token: token });
  const answer = await channel.send({ method: 'POST', path: '/v1/device/attestation/challenge', body });
  return String(answer.body['challenge']);
}

async function prove(options: EnrollmentOptions, state: DeviceState, slot: KeySlot, challenge: string) {
  const text = enrollText(options.baseUrl, state.deviceId, slot.keyId, slot.publicKey, challenge);
  const signature = await options.vault.sign(slot.handle, slot.alg, text);
  return { key_id: slot.keyId, signature: Buffer.from(signature).toString('base64') };
}

async function keepRegistration(channel: SignedChannel, token: string, body: Readonly<Record<string, unknown>>) {
  const attestation = body['attestation'] as { readonly challenge?: string } | undefined; // shape of 7.17's success
  const challenge = attestation?.challenge;
  await channel.save({ registration: challenge === undefined ? { token } : { token, challenge } });
}

async function tokenOf(channel: SignedChannel): Promise<string> {
  const token = (await channel.state()).registration?.token;
  if (token === undefined) throw new Error('expected a registration in progress, found none');
  return token;
}

function publicFields(slot: KeySlot) {
  return { key_id: slot.keyId, purpose: slot.purpose, alg: slot.alg, public_key: slot.publicKey };
}

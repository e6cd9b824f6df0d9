// Enrolment, state by state (design 12): what is saved before each call, and what becomes of a call that was not answered.
// Runs while the store is held; called through device.ts.
import { DeviceError, isRefusal, isUnknownOutcome } from './device-error.ts';
import type { KeyPurpose } from './key-vault.ts';
import { askSelf, changeDraft, draftOf, dropDraft, type Phone, postCall, publicKeySha256, removeOrphans } from './phone.ts';
import { encodeText, toBase64 } from './platform.ts';
import { signWith } from './signed-channel.ts';
import { attestationText, enrollText } from './signing.ts';
import { type Draft, type DraftStatus, type KeySlot, type Memory, withAccount, withDraft } from './state.ts';

export interface DeviceDescription {
  readonly platform: 'ios' | 'android' | 'web' | 'other';
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
  | { readonly status: 'enrolled'; readonly deviceId: string; readonly user: unknown }
  | { readonly status: 'pending_approval'; readonly number: string };

export type StartPath = '/registration/start' | '/signup/start' | '/enrollment/redeem';

const attemptsMax = 3;
const deadToken = ['token_invalid', 'token_expired', 'device_key_revoked'];

/** Makes both keys, keeps the exact call, and sends it. A draft that was there before is replaced. */
export async function startEnrollment(
  phone: Phone,
  memory: Memory,
  path: StartPath,
  fields: Readonly<Record<string, unknown>>,
): Promise<DraftStatus> {
  const slots = [await makeSlot(phone, 'pop'), await makeSlot(phone, 'uv')];
  const body = JSON.stringify({ ...fields, keys: slots.map(publicFields) });
  const { baseUrl, platform } = phone;
  const draft: Draft = { baseUrl, status: 'starting', deviceId: platform.uuid(), slots, start: { path: `/v1/device${path}`, body } };
  await changeDraft(memory, draft);
  await removeOrphans(phone, memory);
  return sendStart(phone, memory, draft);
}

/** Sends, or sends again, the call a draft began with. */
export async function sendStart(phone: Phone, memory: Memory, draft: Draft): Promise<DraftStatus> {
  try {
    const { status, body } = await phone.send(memory, draft, { method: 'POST', ...draft.start });
    const verified = status === 200;
    await changeDraft(memory, {
      ...draft,
      status: verified ? 'verified' : 'unverified',
      token: String(body['registration_token']),
      expiresAt: String(body['expires_at']),
      ...(verified ? challengeIn(body) : {}),
    });
    return verified ? 'verified' : 'unverified';
  } catch (error) {
    if (error instanceof DeviceError && error.status < 500 && error.status !== 426) await dropDraft(phone, memory);
    throw error;
  }
}

/** Proves the mailbox with the PIN of the mail. The PIN is neither kept nor sent twice. */
export async function verifyPin(phone: Phone, memory: Memory, pin: string): Promise<void> {
  const draft = await changeDraft(memory, { ...(await draftOf(phone, memory)), status: 'verifying' });
  try {
    const call = postCall('/pin/verify', { registration_token: tokenOf(draft), pin }, { once: true });
    const { body } = await phone.send(memory, draft, call);
    await changeDraft(memory, { ...draft, status: 'verified', expiresAt: String(body['expires_at']), ...challengeIn(body) });
  } catch (error) {
    if (isUnknownOutcome(error) && (await learnWhetherVerified(phone, memory, draft)) === 'verified') return;
    if (isRefusal(error, 'email_exists', ...deadToken)) await dropDraft(phone, memory);
    else if (error instanceof DeviceError) await changeDraft(memory, { ...draft, status: 'unverified' });
    throw error;
  }
}

/** After a verification without an answer: only a proven mailbox is given a challenge. */
export async function learnWhetherVerified(phone: Phone, memory: Memory, draft: Draft): Promise<DraftStatus> {
  try {
    const challenge = await freshChallenge(phone, memory, draft);
    return (await changeDraft(memory, { ...draft, status: 'verified', challenge })).status;
  } catch (error) {
    if (!isRefusal(error, 'token_invalid')) throw error;
    return (await changeDraft(memory, { ...draft, status: 'unverified' })).status;
  }
}

/** Asks for another mail. */
export async function resendPin(phone: Phone, memory: Memory): Promise<void> {
  const draft = await draftOf(phone, memory);
  await phone.send(memory, draft, postCall('/pin/resend', { registration_token: tokenOf(draft) }, { once: true }));
}

/** Proves every key and becomes an enrolled device, or waits for a person to approve it on another device. */
export async function enroll(phone: Phone, memory: Memory, attestor: Attestor | undefined): Promise<EnrollOutcome> {
  let draft = await draftOf(phone, memory);
  // A process died over this: whether the call arrived is asked before anything is signed.
  if (draft.status === 'enrolling') {
    const found = await findEnrolled(phone, memory, draft);
    if (found !== undefined) return found;
    draft = await freshlyProven(phone, memory, draft, attestor);
  } else if (draft.status === 'verified') draft = await prepare(phone, memory, draft, attestor);
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await sendEnrollment(phone, memory, draft, attempt === attemptsMax);
    if (outcome !== 'again') return outcome;
    draft = await freshlyProven(phone, memory, draft, attestor);
  }
}

async function sendEnrollment(phone: Phone, memory: Memory, draft: Draft, isLast: boolean): Promise<EnrollOutcome | 'again'> {
  try {
    if (draft.enrollBody === undefined) throw new Error(`expected a proven mailbox, found an enrolment that is ${draft.status}`);
    const call = { method: 'POST', path: '/v1/device/enroll', body: draft.enrollBody, once: true } as const;
    const { status, body } = await phone.send(memory, draft, call);
    if (status === 201) return await finish(memory, draft, body['user']);
    const number = String(body['number']);
    if (draft.status !== 'pending_approval' || draft.number !== number)
      await changeDraft(memory, { ...draft, status: 'pending_approval', number });
    return { status: 'pending_approval', number };
  } catch (error) {
    return await settleRefusal(phone, memory, draft, error, isLast);
  }
}

// A consumed registration, a consumed challenge and silence may all mean that the call succeeded before.
async function settleRefusal(
  phone: Phone,
  memory: Memory,
  draft: Draft,
  error: unknown,
  isLast: boolean,
): Promise<EnrollOutcome | 'again'> {
  if (isRefusal(error, ...deadToken, 'bad_proof') || isUnknownOutcome(error)) {
    const found = await findEnrolled(phone, memory, draft);
    if (found !== undefined) return found;
    if (isRefusal(error, ...deadToken)) await dropDraft(phone, memory);
    else if (!isLast) return 'again';
  } else if (isRefusal(error, 'device_denied')) await dropDraft(phone, memory);
  else if (error instanceof DeviceError && draft.status === 'enrolling' && error.status !== 426) {
    const { challenge: _used, enrollBody: _refused, ...rest } = draft;
    await changeDraft(memory, { ...rest, status: 'verified' });
  }
  throw error;
}

async function findEnrolled(phone: Phone, memory: Memory, draft: Draft): Promise<EnrollOutcome | undefined> {
  const self = await askSelf(phone, memory, draft);
  return self && finish(memory, draft, self['user']);
}

// The account appears and the draft goes in one write.
async function finish(memory: Memory, draft: Draft, user: unknown): Promise<EnrollOutcome> {
  const { baseUrl, deviceId, slots } = draft;
  await memory.update((state) => withAccount(withDraft(state, undefined), { baseUrl, deviceId, phase: 'enrolled', slots, user }));
  return { status: 'enrolled', deviceId, user };
}

async function freshlyProven(phone: Phone, memory: Memory, draft: Draft, attestor: Attestor | undefined): Promise<Draft> {
  const { challenge: _used, ...rest } = draft;
  return prepare(phone, memory, rest, attestor);
}

// Signs every key's proof and keeps the exact body before it is sent.
async function prepare(phone: Phone, memory: Memory, draft: Draft, attestor: Attestor | undefined): Promise<Draft> {
  const challenge = draft.challenge ?? (await challengeOrDrop(phone, memory, draft));
  const proofs = [];
  for (const slot of draft.slots) proofs.push(await prove(phone, draft, slot, challenge));
  const attestation = attestor && (await attest(phone, draft, challenge, attestor));
  const fields = { registration_token: tokenOf(draft), proofs, ...(attestation === undefined ? {} : { attestation }) };
  return changeDraft(memory, { ...draft, status: 'enrolling', enrollBody: JSON.stringify(fields) });
}

async function attest(phone: Phone, draft: Draft, challenge: string, attestor: Attestor) {
  const keys = [];
  for (const slot of draft.slots) keys.push({ keyId: slot.keyId, publicKeySha256: await publicKeySha256(phone, slot) });
  const text = attestationText({ issuer: phone.baseUrl, deviceId: draft.deviceId, challenge, keys });
  return attestor({ challenge, clientData: encodeText(text), slots: draft.slots });
}

async function prove(phone: Phone, draft: Draft, slot: KeySlot, challenge: string) {
  const { keyId } = slot;
  const digest = await publicKeySha256(phone, slot);
  const text = enrollText({ issuer: phone.baseUrl, deviceId: draft.deviceId, keyId, publicKeySha256: digest, challenge });
  return { key_id: keyId, signature: toBase64(await signWith(phone.vault, draft, slot, text)) };
}

async function challengeOrDrop(phone: Phone, memory: Memory, draft: Draft): Promise<string> {
  try {
    return await freshChallenge(phone, memory, draft);
  } catch (error) {
    if (isRefusal(error, ...deadToken)) await dropDraft(phone, memory);
    throw error;
  }
}

async function freshChallenge(phone: Phone, memory: Memory, draft: Draft): Promise<string> {
  const { body } = await phone.send(memory, draft, postCall('/attestation/challenge', { registration_token: tokenOf(draft) }));
  return String(body['challenge']);
}

async function makeSlot(phone: Phone, purpose: KeyPurpose): Promise<KeySlot> {
  return { keyId: phone.platform.uuid(), purpose, ...(await phone.vault.create(purpose)) };
}

function challengeIn(body: Readonly<Record<string, unknown>>): { readonly challenge: string } {
  const attestation = body['attestation'] as { readonly challenge: string }; // shape of the 200
  return { challenge: attestation.challenge };
}

function tokenOf(draft: Draft): string {
  if (draft.token === undefined) throw new Error(`expected a registration that was answered, found one that is ${draft.status}`);
  return draft.token;
}

const publicFields = (slot: KeySlot) => ({ key_id: slot.keyId, purpose: slot.purpose, alg: slot.alg, public_key: slot.publicKey });

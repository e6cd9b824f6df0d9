// Contract 7.14-7.18: the device plane rows (management envelope).
import { defineRows } from './row.ts';

const signed = { envelope: 'management', status: 401, opaque: true, section: '7.14' } as const;
const rotation = { envelope: 'management', status: 400, opaque: true, section: '7.16' } as const;
const pin = { envelope: 'management', opaque: true, section: '7.17' } as const;
const design = { envelope: 'management', opaque: true, section: 'design' } as const;

// biome-ignore format: a table, one row a line
export const deviceRows = defineRows({
  'device.signature_required': { ...signed, code: 'signature_required', text: 'The request must be signed.', when: 'A signature header is missing.' },
  'device.bad_signed_headers': { ...signed, code: 'unauthorized', kind: 'bad_signed_headers', text: 'The signature headers are malformed.', when: 'Device or key id not a UUID, timestamp not parseable, or signature not base64.' },
  'device.clock_skew': { ...signed, code: 'unauthorized', kind: 'clock_skew', text: 'The clock of the device is off.', fields: ['server_time'], when: 'X-Timestamp outside the allowed window.' },
  'device.key_revoked': { ...signed, code: 'unauthorized', kind: 'device_key_revoked', text: 'The device key is not valid.', when: 'Key unknown or revoked, or user suspended or deleted.' },
  'device.unsupported_key_alg': { ...signed, code: 'unauthorized', kind: 'unsupported_key_alg', text: 'The key algorithm is not supported.', when: 'Registered algorithm not verifiable by this build.' },
  'device.bad_signature': { ...signed, code: 'unauthorized', kind: 'bad_signature', text: 'The signature does not verify.', when: 'Signature verifies against neither current nor previous key.' },
  'device.replayed_request': { ...signed, code: 'unauthorized', kind: 'replayed_request', text: 'The request was already used.', when: 'The exact signed request was used before.' },
  'device.upgrade_required': { envelope: 'management', status: 426, opaque: true, section: '7.15', code: 'upgrade_required', text: 'A newer protocol version is required.', fields: ['min_supported', 'current'], when: 'X-Protocol-Version absent, non-integer or below the floor.' },
  'rotation.no_keys_to_rotate': { ...rotation, code: 'no_keys_to_rotate', text: 'No key of this device can be rotated now.', when: 'Every slot is in overlap, or key_ids names none.' },
  'rotation.bad_nonce': { ...rotation, code: 'bad_nonce', text: 'The nonce is not base64url of 32 bytes.', when: 'Malformed nonce.' },
  'rotation.no_rotation_in_progress': { ...rotation, code: 'no_rotation_in_progress', text: 'No rotation is in progress.', when: 'Confirm, complete or abort without a rotation.' },
  'rotation.rotation_nonce_expired': { ...rotation, code: 'rotation_nonce_expired', text: 'The rotation nonce has expired.', when: 'The nonce is past its lifetime.' },
  'rotation.rotation_nonce_mismatch': { ...rotation, code: 'rotation_nonce_mismatch', text: 'The nonce is not the one of this rotation.', when: 'Another nonce.' },
  'rotation.rotation_set_mismatch': { ...rotation, code: 'rotation_set_mismatch', text: 'The keys are not exactly the rotation set.', when: 'Missing, extra or duplicate keys.' },
  'rotation.bad_new_key_bytes': { ...rotation, code: 'bad_new_key_bytes', text: 'A new key cannot be used.', when: 'Not canonical, wrong type, not allowed or used before.' },
  'rotation.bad_new_key_signature': { ...rotation, code: 'bad_new_key_signature', text: 'A proof of a new key does not verify.', when: 'Proof missing or wrong.' },
  'pin.invalid': { ...pin, status: 401, code: 'pin_invalid', text: 'The PIN is wrong.', fields: ['attempts_left'], when: 'Wrong PIN.' },
  'pin.locked': { ...pin, status: 403, code: 'pin_locked', text: 'The PIN is locked.', when: 'Attempts exhausted.' },
  'pin.expired': { ...pin, status: 410, code: 'pin_expired', text: 'There is no active PIN.', when: 'No active PIN or its TTL elapsed.' },
  'pin.cooldown_active': { ...pin, status: 429, code: 'cooldown_active', text: 'A PIN was sent a moment ago.', header: 'retry-after', when: 'Resend cooldown in effect.' },
  'registration.token_invalid': { ...pin, status: 401, code: 'token_invalid', text: 'The token is not valid.', when: 'Registration token unknown, consumed or unverified.' },
  'registration.token_expired': { ...pin, status: 410, code: 'token_expired', text: 'The token has expired.', when: 'Registration token past its TTL.' },
  'registration.email_exists': { ...pin, status: 409, code: 'email_exists', text: 'This email is enrolled already.', when: 'Self-signup with an enrolled email.' },
  'attestation.failed': { envelope: 'management', status: 403, opaque: true, section: '7.18', code: 'forbidden', text: 'attestation_failed', when: 'Any attestation failure under enforcement.' },
  // rows the device design adds
  'device.invalid_request': { ...design, opaque: false, status: 400, code: 'invalid_request', when: 'The body or target is malformed.' },
  'device.bad_proof': { ...design, status: 400, code: 'invalid_request', kind: 'bad_proof', text: 'A key proof is missing or wrong.', when: 'Enrolment proofs do not verify.' },
  'device.not_found': { ...design, status: 404, code: 'not_found', text: 'Not found.', when: 'No such object of this device or user, or a code that does not work.' },
  'device.signup_disabled': { ...design, status: 403, code: 'forbidden', kind: 'signup_disabled', text: 'Self-signup is switched off.', when: 'The tenant does not allow self-signup.' },
  'device.device_denied': { ...design, status: 403, code: 'forbidden', kind: 'device_denied', text: 'The device was denied.', when: 'The additional device was denied on an existing one.' },
  'device.web_phone_disabled': { ...design, status: 403, code: 'forbidden', kind: 'web_phone_disabled', text: 'Phones in a browser are switched off here.', when: 'A web phone starts, redeems or approves where device.web_phones is false or attestation is enforced.' },
  'device.admin_enrollment_required': { ...design, status: 403, code: 'forbidden', kind: 'admin_enrollment_required', text: 'This device needs an enrolment link.', when: 'Additional devices need an administrator, or mail alone would add the first one beside a passkey, or an administrator’s where mailed codes let nobody in.' },
  'approval.not_pending': { ...design, status: 409, code: 'approval_not_pending', text: 'The approval was decided already.', when: 'Approve or deny after a decision.' },
  'approval.expired': { ...design, status: 410, code: 'approval_expired', text: 'The approval has expired.', when: 'Approve or deny after its lifetime.' },
  'approval.user_verification_required': { ...design, status: 403, code: 'forbidden', kind: 'user_verification_required', text: 'The key gated by user verification is required.', when: 'Approve with the pop key.' },
  'approval.match_failed': { ...design, status: 403, code: 'forbidden', kind: 'match_failed', text: 'The number does not match.', when: 'Wrong number, which denies the approval.' },
  'approval.context_changed': { ...design, status: 409, code: 'conflict', kind: 'context_changed', text: 'The approval shows something else now.', when: 'context_sha256 differs.' },
});

// Every call of the device plane, once: who signs it, what it takes and answers, and the rows of the contract it may be refused with. The
// OpenAPI document and the tables of docs/device-protocol.md are made from it; a test compares it with the routes and the catalogue.
import type { RowId } from '../../contract/catalogue.ts';
import type { deviceRows } from '../../contract/device.ts';
import { base64, flag, list, maybeWord, object, oneOf, part, type Shape, time, uuid, whole, word } from './shapes.ts';

export type DeviceRow = keyof typeof deviceRows;

export interface ProtocolAnswer {
  readonly status: number;
  readonly shape?: Shape;
  /** Instead of the members, in the table of the documentation. */
  readonly text?: string;
}

export interface ProtocolCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The slot that signs. `new`: the pop key the body brings, or that of the registration. */
  readonly signedBy: 'new' | 'pop' | 'uv';
  readonly summary: string;
  readonly query?: Readonly<Record<string, Shape>>;
  readonly body?: Shape;
  /** What the documentation says beside the body. */
  readonly bodyNote?: string;
  readonly answers: readonly ProtocolAnswer[];
  /** Beyond those of every signed call. */
  readonly rows: readonly DeviceRow[];
}

/** Any signed call may be refused with these, in this order. */
export const rowsOfEveryCall: readonly RowId[] = [
  'device.upgrade_required',
  'device.signature_required',
  'device.bad_signed_headers',
  'device.clock_skew',
  'device.key_revoked',
  'device.unsupported_key_alg',
  'device.bad_signature',
  'device.replayed_request',
  'device.invalid_request',
  'management.malformed',
  'management.payload_too_large',
  'management.unsupported_media_type',
  'management.rate_limited',
  'management.server_error',
  'management.unavailable',
];

const token = { registration_token: word } as const;
const device = { device: part('Device'), keys: part('NewKeys') } as const;
const started: ProtocolAnswer = { status: 202, shape: object({ ...token, expires_at: time, pin: part('Pin') }) };
const verified = { status: oneOf('verified'), expires_at: time, attestation: part('AttestationAsked') } as const;
const self: ProtocolAnswer = { status: 200, shape: part('Self'), text: 'the device, its user and its keys' };
const rotation = object({ rotation_id: word, status: word });
const tokenRows = ['registration.token_invalid', 'registration.token_expired'] as const;
const startRows = ['device.web_phone_disabled', 'pin.cooldown_active'] as const;
const decisionRows = ['device.not_found', 'approval.not_pending', 'approval.expired'] as const;

export const protocolCalls: readonly ProtocolCall[] = [
  {
    method: 'POST',
    path: '/registration/start',
    signedBy: 'new',
    summary: 'Register this device for a person who exists, by a PIN in a mail',
    body: object({ email: word, ...device }),
    bodyNote: 'signed by its own `pop` key',
    answers: [{ ...started, text: 'the same for people who do not exist' }],
    rows: startRows,
  },
  {
    method: 'POST',
    path: '/signup/start',
    signedBy: 'new',
    summary: 'Sign up, where the tenant allows it',
    body: object({ email: word, ...device, 'given_name?': maybeWord, 'family_name?': maybeWord, 'locale?': maybeWord }),
    answers: [started],
    rows: [...startRows, 'device.signup_disabled'],
  },
  {
    method: 'POST',
    path: '/enrollment/redeem',
    signedBy: 'new',
    summary: 'Take the token of an enrolment link; may be repeated for ten minutes by the same keys',
    body: object({ enrollment_token: word, ...device }),
    answers: [
      { status: 200, shape: object({ ...token, ...verified }) },
      { status: 202, shape: object({ ...token, status: oneOf('unverified'), expires_at: time, pin: part('Pin') }) },
    ],
    rows: [...tokenRows, ...startRows],
  },
  {
    method: 'POST',
    path: '/pin/verify',
    signedBy: 'new',
    summary: 'Prove the mailbox',
    body: object({ ...token, pin: word }),
    answers: [{ status: 200, shape: object(verified) }],
    rows: [...tokenRows, 'pin.expired', 'pin.locked', 'pin.invalid', 'registration.email_exists'],
  },
  {
    method: 'POST',
    path: '/pin/resend',
    signedBy: 'new',
    summary: 'Have the PIN sent again',
    body: object(token),
    answers: [{ status: 202, shape: object({ pin: part('Pin') }) }],
    rows: [...tokenRows, 'pin.cooldown_active'],
  },
  {
    method: 'POST',
    path: '/attestation/challenge',
    signedBy: 'new',
    summary: 'A fresh challenge, for a verified registration or an enrolled device',
    body: object({ 'registration_token?': word }),
    bodyNote: 'none of it once enrolled',
    answers: [{ status: 201, shape: object({ challenge: word, expires_at: time }), text: 'once, five minutes' }],
    rows: tokenRows,
  },
  {
    method: 'POST',
    path: '/enroll',
    signedBy: 'new',
    summary: 'Prove every key; the registration becomes a device, or waits for another device',
    body: object({ ...token, proofs: list(object({ key_id: uuid, signature: base64 })), 'attestation?': part('Attestation') }),
    answers: [
      { status: 201, shape: object({ device_id: uuid, user: part('User'), keys: part('Keys'), server_time: whole }) },
      { status: 202, shape: object({ status: oneOf('pending_approval'), device_id: uuid, number: word, expires_at: time }) },
    ],
    rows: [
      ...tokenRows,
      'registration.email_exists',
      'device.bad_proof',
      'device.signup_disabled',
      'device.device_denied',
      'device.web_phone_disabled',
      'device.admin_enrollment_required',
      'attestation.failed',
    ],
  },
  { method: 'GET', path: '/self', signedBy: 'pop', summary: 'Look at this device', answers: [self], rows: [] },
  {
    method: 'PATCH',
    path: '/self',
    signedBy: 'pop',
    summary: 'Rename this device, or say what it runs now',
    body: object({ 'name?': word, 'os_version?': word, 'app_version?': word }),
    answers: [self],
    rows: [],
  },
  {
    method: 'DELETE',
    path: '/self',
    signedBy: 'pop',
    summary: 'Revoke this device',
    answers: [{ status: 204, text: 'revoked' }],
    rows: [],
  },
  {
    method: 'POST',
    path: '/devices/{id}/revoke',
    signedBy: 'uv',
    summary: 'Revoke another device of the person',
    bodyNote: 'another device of the person',
    answers: [{ status: 204 }],
    rows: ['approval.user_verification_required', 'device.not_found'],
  },
  {
    method: 'POST',
    path: '/sign-in/open',
    signedBy: 'pop',
    summary: 'Let the person in somewhere new for ten minutes, though strangers spent what they may ask',
    answers: [{ status: 200, shape: object({ expires_at: time }) }],
    rows: [],
  },
  {
    method: 'GET',
    path: '/push-token',
    signedBy: 'pop',
    summary: 'Where this device is pushed to',
    answers: [
      {
        status: 200,
        shape: object({ provider: oneOf('apns', 'fcm', 'web', 'none'), vapid_public_key: word }),
        text: 'the key a browser subscribes with',
      },
    ],
    rows: [],
  },
  {
    method: 'PUT',
    path: '/push-token',
    signedBy: 'pop',
    summary: 'Say where to push to; polling works without',
    body: object({ provider: oneOf('apns', 'fcm', 'web', 'none'), 'token?': part('PushToken') }),
    bodyNote: '`web`: the JSON of the subscription',
    answers: [{ status: 204 }],
    rows: [],
  },
  {
    method: 'GET',
    path: '/approvals',
    signedBy: 'pop',
    summary: 'What waits for the person; with `wait` the answer is held until there is something',
    query: { state: oneOf('pending'), wait: { type: 'integer', minimum: 0, maximum: 25 } },
    bodyNote: 'query `state=pending` and `wait` from 0 to 25 seconds',
    answers: [{ status: 200, shape: object({ items: list(part('Approval')) }) }],
    rows: [],
  },
  {
    method: 'POST',
    path: '/approvals/claim',
    signedBy: 'pop',
    summary: 'Take the approval of a sign-in page’s link',
    body: object({ code: word, 'scanned?': flag }),
    bodyNote: 'of a sign-in page’s link; `scanned`: the app’s own camera read it',
    answers: [{ status: 200, shape: part('Approval'), text: 'the approval, now this device’s' }],
    rows: ['device.not_found'],
  },
  {
    method: 'POST',
    path: '/approvals/{id}/approve',
    signedBy: 'uv',
    summary: 'Approve what was shown',
    body: object({ context_sha256: word, 'match?': word }),
    answers: [{ status: 200, shape: object({ id: word, state: oneOf('approved') }) }],
    rows: [
      'approval.user_verification_required',
      'device.web_phone_disabled',
      ...decisionRows,
      'approval.context_changed',
      'approval.match_failed',
    ],
  },
  {
    method: 'POST',
    path: '/approvals/{id}/deny',
    signedBy: 'pop',
    summary: 'Deny',
    body: object({ reason: oneOf('not_me', 'mistake', 'other') }),
    answers: [{ status: 200, shape: object({ id: word, state: oneOf('denied') }) }],
    rows: decisionRows,
  },
  {
    method: 'GET',
    path: '/activity',
    signedBy: 'pop',
    summary: 'The person’s decisions of 30 days, newest first',
    query: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } },
    bodyNote: 'query `limit` from 1 to 100',
    answers: [{ status: 200, shape: object({ items: list(part('Decision')) }), text: 'the person’s decisions of 30 days' }],
    rows: [],
  },
  {
    method: 'POST',
    path: '/keys/rotate/start',
    signedBy: 'pop',
    summary: 'Begin to replace keys',
    body: object({ 'key_ids?': list(uuid) }),
    answers: [{ status: 200, shape: object({ rotation_id: word, nonce: word, expires_at: time, keys: part('Keys') }) }],
    rows: ['rotation.no_keys_to_rotate'],
  },
  {
    method: 'POST',
    path: '/keys/rotate/confirm',
    signedBy: 'pop',
    summary: 'Bring the new keys, all or none; an identical repetition gets the same answer',
    body: object({
      nonce: word,
      keys: list(object({ key_id: uuid, alg: word, public_key: base64, signature: base64, 'old_signature?': base64 })),
    }),
    answers: [{ status: 200, shape: object({ rotation_id: word, keys: part('Keys'), overlap_expires_at: time }) }],
    rows: [
      'rotation.bad_nonce',
      'rotation.no_rotation_in_progress',
      'rotation.rotation_nonce_expired',
      'rotation.rotation_nonce_mismatch',
      'rotation.rotation_set_mismatch',
      'rotation.bad_new_key_bytes',
      'rotation.bad_new_key_signature',
    ],
  },
  {
    method: 'POST',
    path: '/keys/rotate/complete',
    signedBy: 'pop',
    summary: 'End the overlap: the old keys stop working',
    body: object({ rotation_id: word }),
    answers: [{ status: 200, shape: rotation, text: 'the old keys stop working' }],
    rows: ['rotation.no_rotation_in_progress'],
  },
  {
    method: 'POST',
    path: '/keys/rotate/abort',
    signedBy: 'pop',
    summary: 'Give up a rotation that was not confirmed',
    body: object({ 'rotation_id?': word }),
    answers: [{ status: 200, shape: rotation }],
    rows: ['rotation.no_rotation_in_progress'],
  },
];

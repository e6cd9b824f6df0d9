// The device SDK's front: one object per phone, made of the parts beside it. Imports nothing of the server.
import { randomUUID } from 'node:crypto';
import {
  type Attestor,
  type DeviceDescription,
  type EnrollmentOptions,
  enroll,
  type Person,
  resendPin,
  startEnrollment,
  verifyPin,
} from './enrollment.ts';
import type { KeyAlgorithm, KeyVault } from './key-vault.ts';
import { completeRotation, rotateKeys } from './rotation.ts';
import { createSignedChannel } from './signed-channel.ts';
import type { DeviceState, StateStore } from './state.ts';

export { DeviceError } from './device-error.ts';
export type { Attestor, DeviceDescription, EnrollOutcome, Person } from './enrollment.ts';
export { createSoftwareVault, type KeyAlgorithm, type KeyVault, signText, type VaultKey } from './key-vault.ts';
export { attestationText, enrollText, requestText, rotateText } from './signing.ts';
export { type DeviceState, fileStore, type KeySlot, memoryStore, type StateStore } from './state.ts';

export interface DeviceOptions {
  /** The tenant's issuer, byte for byte, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: StateStore<DeviceState>;
  readonly vault: KeyVault;
  readonly fetch?: typeof globalThis.fetch;
  /** Phone time in milliseconds since the epoch. */
  readonly now?: () => number;
  readonly algorithms?: Readonly<Record<'pop' | 'uv', KeyAlgorithm>>;
}

export interface Approval {
  readonly id: string;
  readonly type: 'oidc_login' | 'saml_login' | 'ciba' | 'device_add';
  readonly client: Readonly<Record<string, unknown>> | null;
  readonly binding_message: string | null;
  readonly scopes: readonly string[];
  readonly initiated: Readonly<Record<string, unknown>>;
  readonly match: { readonly required: boolean; readonly digits: number };
  readonly expires_at: string;
  readonly context_sha256: string;
}

export type DenyReason = 'not_me' | 'mistake' | 'other';
export type Device = ReturnType<typeof createDevice>;

/** One phone over its stored state. */
export function createDevice(options: DeviceOptions) {
  const { baseUrl, vault } = options;
  const fresh = (): DeviceState => ({ phase: 'new', deviceId: randomUUID(), slots: [], clockOffsetMs: 0 });
  const channel = createSignedChannel(
    { baseUrl, store: options.store, vault, fetch: options.fetch ?? fetch, now: options.now ?? Date.now },
    fresh,
  );
  const enrollment: EnrollmentOptions = {
    baseUrl,
    vault,
    algorithms: options.algorithms ?? { pop: 'ES256', uv: 'ES256' },
  };
  const post = (path: string, fields: object, purpose: 'pop' | 'uv' = 'pop') =>
    channel.send({ method: 'POST', path: `/v1/device${path}`, body: JSON.stringify(fields), purpose });

  return {
    state: channel.state,
    send: channel.send,
    startRegistration: (person: Person) => startEnrollment(enrollment, channel, '/v1/device/registration/start', { ...person }),
    startSignup: (person: Person) => startEnrollment(enrollment, channel, '/v1/device/signup/start', { ...person }),
    /** Takes the token of an enrolment link or QR code: `<base_url>/enroll#v=1&t=<token>`. */
    redeemEnrollment: (token: string, device: DeviceDescription) =>
      startEnrollment(enrollment, channel, '/v1/device/enrollment/redeem', { enrollment_token: token, device }),
    verifyPin: (pin: string) => verifyPin(channel, pin),
    resendPin: () => resendPin(channel),
    enroll: (attestor?: Attestor) => enroll(enrollment, channel, attestor),
    self: async () => (await channel.send({ method: 'GET', path: '/v1/device/self' })).body,
    setPushToken: (provider: 'apns' | 'fcm' | 'none', token: string) =>
      channel.send({ method: 'PUT', path: '/v1/device/push-token', body: JSON.stringify({ provider, token }) }),
    /** Pending approvals; with `waitSeconds` the server holds the answer until one appears. */
    listApprovals: async (waitSeconds?: number): Promise<readonly Approval[]> => {
      const query = waitSeconds === undefined ? 'state=pending' : `state=pending&wait=${waitSeconds}`;
      const { body } = await channel.send({ method: 'GET', path: '/v1/device/approvals', query });
      return body['items'] as readonly Approval[]; // the 200 shape of the endpoint
    },
    /**
     * Takes the code of a sign-in page: the link of its QR code, or the one the app was opened with. The approval is this
     * device's alone from then on and needs no number. Throws for a link of another tenant without sending anything.
     */
    claim: async (link: string): Promise<Approval> => {
      const { body } = await post('/approvals/claim', { code: codeOf(link, baseUrl) });
      return body as unknown as Approval; // the 200 shape of the endpoint
    },
    approve: (approval: Approval, match?: string) =>
      post(
        `/approvals/${approval.id}/approve`,
        { context_sha256: approval.context_sha256, ...(match === undefined ? {} : { match }) },
        'uv',
      ),
    deny: (approval: Approval, reason: DenyReason) => post(`/approvals/${approval.id}/deny`, { reason }),
    rotateKeys: () => rotateKeys(baseUrl, vault, channel),
    completeRotation: (rotationId: string) => completeRotation(channel, rotationId),
    revokeOtherDevice: (id: string) => post(`/devices/${id}/revoke`, {}, 'uv'),
    revokeSelf: () => channel.send({ method: 'DELETE', path: '/v1/device/self' }),
  };
}

/** The code inside the link of a sign-in page, or undefined when the text is none. */
export function parseSignInLink(text: string): { readonly baseUrl: string; readonly code: string } | undefined {
  const match = /^(https?:\/\/[^#?\s]+)\/scan#v=1&c=([A-Za-z0-9._-]+)$/.exec(text);
  return match?.[1] !== undefined && match[2] !== undefined ? { baseUrl: match[1], code: match[2] } : undefined;
}

function codeOf(link: string, baseUrl: string): string {
  const parsed = parseSignInLink(link);
  if (parsed?.baseUrl !== baseUrl) throw new Error(`expected the code of a sign-in page of ${baseUrl}, found ${link}`);
  return parsed.code;
}

/** The token inside an enrolment link, or undefined when the text is none. */
export function parseEnrollmentLink(text: string): { readonly baseUrl: string; readonly token: string } | undefined {
  const match = /^(https?:\/\/[^#?\s]+)\/enroll#v=1&t=([A-Za-z0-9_-]+)$/.exec(text);
  return match?.[1] !== undefined && match[2] !== undefined ? { baseUrl: match[1], token: match[2] } : undefined;
}

// The device SDK's front: one object per phone and tenant, made of the parts beside it. Web APIs only; imports nothing of the
// server. What changes the state runs while the store is held, so that tabs and processes take turns.
import { type Approval, claimApproval, type DenyReason, decide, listActivity, listApprovals } from './approvals.ts';
import { isRefusal } from './device-error.ts';
import {
  type Attestor,
  type DeviceDescription,
  type EnrollOutcome,
  enroll,
  learnWhetherVerified,
  type Person,
  resendPin,
  type StartPath,
  sendStart,
  startEnrollment,
  verifyPin,
} from './enrollment.ts';
import type { KeyVault } from './key-vault.ts';
import { parseSignInLink } from './links.ts';
import { callAs, dropDraft, type Phone, postCall, removeOrphans } from './phone.ts';
import { type Platform, webPlatform } from './platform.ts';
import { finishRotation, rotateKeys } from './rotation.ts';
import { type Call, createSignedChannel } from './signed-channel.ts';
import {
  type Account,
  type Draft,
  type DraftStatus,
  type Memory,
  memoryOf,
  type PhoneState,
  type StateStore,
  type UpgradeNotice,
  withAccount,
} from './state.ts';

export type { Approval, Decided, DenyReason, PastDecision } from './approvals.ts';
export { DeviceError, isRefusal, NoAnswerError } from './device-error.ts';
export type { Attestor, DeviceDescription, EnrollOutcome, Person } from './enrollment.ts';
export type { KeyPurpose, KeyVault, VaultKey } from './key-vault.ts';
export { parseEnrollmentLink, parseSignInLink } from './links.ts';
export type { Platform } from './platform.ts';
export { attestationText, enrollText, requestText, rotateText } from './signing.ts';
export { type Account, type Draft, memoryStore, type PhoneState, type StateStore } from './state.ts';

export interface DeviceOptions {
  /** The tenant's issuer, byte for byte, without a trailing slash. */
  readonly baseUrl: string;
  /** Shared by all tenants and persons of this phone. */
  readonly store: StateStore<PhoneState>;
  readonly vault: KeyVault;
  readonly attestor?: Attestor;
  readonly fetch?: typeof globalThis.fetch;
  /** Phone time in milliseconds since the epoch. */
  readonly now?: () => number;
  /** The device id of the account to act for; else the tenant's newest. */
  readonly account?: string;
  readonly pause?: (milliseconds: number) => Promise<void>;
  readonly platform?: Platform;
}

export type DeviceStatus = 'none' | DraftStatus | Account['phase'];

/** What this phone is to the tenant. A draft stands beside the account and does not touch it. */
export interface DeviceView {
  readonly status: DeviceStatus;
  readonly account: Account | undefined;
  readonly draft: Draft | undefined;
  readonly notice: UpgradeNotice | undefined;
  readonly clockOffsetMs: number;
}

export type Device = ReturnType<typeof createDevice>;

/** One phone over its stored state. */
export function createDevice(options: DeviceOptions) {
  const { baseUrl, store, vault, attestor } = options;
  const platform = options.platform ?? webPlatform;
  const send = createSignedChannel({
    baseUrl,
    vault,
    platform,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    now: options.now ?? Date.now,
    pause: options.pause ?? ((milliseconds) => new Promise((done) => setTimeout(done, milliseconds))),
  });
  const phone: Phone = { baseUrl, vault, platform, send };
  const open = memoryOf(store, false);
  let chosen = options.account;
  let swept = false;
  const transition: Transition = (work) =>
    store.exclusive(async () => {
      const held = memoryOf(store, true);
      if (!swept) await removeOrphans(phone, held);
      swept = true;
      return work(held);
    });
  const state = async (): Promise<DeviceView> => viewOf(await open.load(), baseUrl, chosen);
  const account = async (): Promise<Account> => {
    const found = (await state()).account;
    if (found === undefined) throw new Error(`expected an enrolled phone of ${baseUrl}, found none`);
    if (found.phase === 'revoked') throw new Error('this device is revoked: enrol again');
    return found;
  };
  const finishEnrollment = async (memory: Memory): Promise<EnrollOutcome> => {
    const outcome = await enroll(phone, memory, attestor);
    if (outcome.status === 'enrolled') chosen = outcome.deviceId;
    return outcome;
  };
  return {
    state,
    ...enrolmentOf(phone, transition, finishEnrollment),
    ...approvalsOf(phone, open, account),
    ...ownDeviceOf(phone, open, transition, account),
    /** Finishes what a process left that died: a start, a PIN, an enrolment, a rotation, keys nobody uses. */
    resume: async (): Promise<DeviceView> => {
      await transition(async (memory) => {
        await resumeDraft(phone, memory, finishEnrollment);
        const current = viewOf(await memory.load(), baseUrl, chosen).account;
        if (current?.phase === 'enrolled') await finishRotation(phone, memory, current);
      });
      return state();
    },
  };
}

type Transition = <Result>(work: (memory: Memory) => Promise<Result>) => Promise<Result>;

function enrolmentOf(phone: Phone, transition: Transition, finishEnrollment: (memory: Memory) => Promise<EnrollOutcome>) {
  const start = (path: StartPath, fields: Readonly<Record<string, unknown>>) =>
    transition((memory) => startEnrollment(phone, memory, path, fields));
  return {
    startRegistration: (person: Person) => start('/registration/start', { ...person }),
    startSignup: (person: Person) => start('/signup/start', { ...person }),
    /** Takes the token of an enrolment link or QR code: `<base_url>/enroll#v=1&t=<token>`. */
    redeemEnrollment: (token: string, device: DeviceDescription) => start('/enrollment/redeem', { enrollment_token: token, device }),
    verifyPin: (pin: string) => transition((memory) => verifyPin(phone, memory, pin)),
    resendPin: () => transition((memory) => resendPin(phone, memory)),
    /** Proves the keys. While another device decides, calling it again asks how it went: every 3 s is enough. */
    enroll: () => transition(finishEnrollment),
    /** Gives up an enrolment on its way. */
    cancelEnrollment: () => transition((memory) => dropDraft(phone, memory)),
  };
}

function approvalsOf(phone: Phone, memory: Memory, account: () => Promise<Account>) {
  return {
    /** Pending approvals; with `waitSeconds` the server holds the answer until one appears. */
    listApprovals: async (waitSeconds?: number, signal?: AbortSignal) =>
      listApprovals(phone, memory, await account(), { seconds: waitSeconds, signal }),
    /**
     * Takes the code of a sign-in page: the link of its QR code, or the one the app was opened with. The approval is this
     * device's alone from then on. Say `scanned` only of what the app's own camera read: then no number is asked for, while
     * a link may have been sent by somebody else. Throws for a link of another tenant without sending anything.
     */
    claim: async (link: string, { scanned = false }: { readonly scanned?: boolean } = {}) => {
      const parsed = parseSignInLink(link);
      if (parsed?.baseUrl !== phone.baseUrl) throw new Error(`expected the code of a sign-in page of ${phone.baseUrl}, found ${link}`);
      return claimApproval(phone, memory, await account(), { code: parsed.code, scanned });
    },
    approve: async (approval: Approval, match?: string) => decide(phone, memory, await account(), { approval, match }),
    deny: async (approval: Approval, reason: DenyReason) => decide(phone, memory, await account(), { approval, deny: reason }),
    /** What the person decided in the last 30 days, on any device. */
    activity: async (limit = 20) => listActivity(phone, memory, await account(), limit),
  };
}

function ownDeviceOf(phone: Phone, open: Memory, transition: Transition, account: () => Promise<Account>) {
  const call = async (made: Call) => callAs(phone, open, await account(), made);
  return {
    send: call,
    self: async () => (await call({ method: 'GET', path: '/v1/device/self' })).body,
    rename: (name: string) => call({ method: 'PATCH', path: '/v1/device/self', body: JSON.stringify({ name }) }),
    setPushToken: (provider: 'apns' | 'fcm' | 'web' | 'none', token: string) =>
      call({ method: 'PUT', path: '/v1/device/push-token', body: JSON.stringify({ provider, token }) }),
    /** Lets the person in somewhere new for ten minutes, though strangers spent what they may ask. Gives until when. */
    letInSomewhereNew: async () => String((await call(postCall('/sign-in/open', {}))).body['expires_at']),
    /** The key a browser subscribes to pushes with (RFC 8292), base64url. */
    pushKey: async () => String((await call({ method: 'GET', path: '/v1/device/push-token' })).body['vapid_public_key']),
    rotateKeys: () => transition(async (memory) => rotateKeys(phone, memory, await account())),
    completeRotation: (rotationId: string) => call(postCall('/keys/rotate/complete', { rotation_id: rotationId })),
    revokeOtherDevice: async (id: string): Promise<void> => {
      await call(postCall(`/devices/${id}/revoke`, {}, { purpose: 'uv' })).catch((error: unknown) => {
        if (!isRefusal(error, 'not_found') || !error.repeated) throw error;
      });
    },
    /** Revokes this device and forgets its keys; a device the server has revoked already is forgotten as well. */
    revokeSelf: () =>
      transition(async (memory) => {
        const { rotation: _ended, ...current } = await account();
        await callAs(phone, memory, current, { method: 'DELETE', path: '/v1/device/self' }).catch((error: unknown) => {
          if (!isRefusal(error, 'device_key_revoked')) throw error;
        });
        await memory.update((state) => withAccount(state, { ...current, phase: 'revoked', slots: [] }));
        await removeOrphans(phone, memory);
      }),
    /** Forgets the revoked accounts of this tenant. */
    forget: () =>
      transition((memory) =>
        memory.update((state) => ({
          ...state,
          accounts: state.accounts.filter((other) => other.baseUrl !== phone.baseUrl || other.phase !== 'revoked'),
        })),
      ),
  };
}

/** Every account of a phone, oldest first. */
export async function listAccounts(store: StateStore<PhoneState>): Promise<readonly Account[]> {
  return (await memoryOf(store, false).load()).accounts;
}

async function resumeDraft(phone: Phone, memory: Memory, finishEnrollment: (memory: Memory) => Promise<unknown>): Promise<void> {
  const { draft } = await memory.load();
  if (draft?.baseUrl !== phone.baseUrl) return;
  if (draft.status === 'starting') await sendStart(phone, memory, draft);
  if (draft.status === 'verifying') await learnWhetherVerified(phone, memory, draft);
  if (draft.status === 'enrolling' || draft.status === 'pending_approval') await finishEnrollment(memory);
}

function viewOf(state: PhoneState, baseUrl: string, chosen: string | undefined): DeviceView {
  const own = state.accounts.filter((candidate) => candidate.baseUrl === baseUrl);
  const newest = own.findLast((candidate) => candidate.phase === 'enrolled') ?? own.at(-1);
  const account = chosen === undefined ? newest : own.find((candidate) => candidate.deviceId === chosen);
  const draft = state.draft?.baseUrl === baseUrl ? state.draft : undefined;
  const server = state.servers[baseUrl];
  return {
    status: draft?.status ?? account?.phase ?? 'none',
    account,
    draft,
    notice: server?.notice,
    clockOffsetMs: server?.clockOffsetMs ?? 0,
  };
}

// What a phone remembers between starts. Private keys are not in here: they live in the KeyVault.
import type { KeyPurpose } from './key-vault.ts';

export interface KeySlot {
  readonly keyId: string;
  readonly purpose: KeyPurpose;
  readonly alg: string;
  readonly handle: string;
  readonly publicKey: string;
}

export type DraftStatus = 'starting' | 'unverified' | 'verifying' | 'verified' | 'enrolling' | 'pending_approval';

/** An enrolment on its way. It becomes an account or goes; accounts never feel it. */
export interface Draft {
  readonly baseUrl: string;
  readonly status: DraftStatus;
  readonly deviceId: string;
  readonly slots: readonly KeySlot[];
  /** The call it began with, exactly, so that a repetition is the same. */
  readonly start: { readonly path: string; readonly body: string };
  readonly token?: string;
  readonly expiresAt?: string;
  readonly challenge?: string;
  /** The body of the enrolment, exactly. */
  readonly enrollBody?: string;
  /** Shown while another device decides. */
  readonly number?: string;
}

/** A rotation whose confirmation may or may not have arrived: the exact body is kept, so a retry is identical. */
export interface PendingRotation {
  readonly rotationId: string;
  readonly body: string;
  readonly newSlots: readonly KeySlot[];
}

/** One enrolment of one person at one tenant. */
export interface Account {
  readonly baseUrl: string;
  readonly deviceId: string;
  readonly phase: 'enrolled' | 'revoked';
  readonly slots: readonly KeySlot[];
  /** The person as the server described them. */
  readonly user: unknown;
  readonly rotation?: PendingRotation;
}

/** The server wants a newer protocol: calls fail for a minute, then one is tried. An SDK of another version does not mind. */
export interface UpgradeNotice {
  readonly minSupported: number;
  readonly current: number;
  readonly sdkVersion: string;
  /** Phone time in milliseconds. */
  readonly at: number;
}

export interface ServerMemory {
  /** Server time minus phone time, in milliseconds. */
  readonly clockOffsetMs: number;
  readonly notice?: UpgradeNotice;
}

export interface PhoneState {
  readonly accounts: readonly Account[];
  readonly draft?: Draft;
  /** By base_url. */
  readonly servers: Readonly<Record<string, ServerMemory>>;
}

/** Keeps one value. `save` is atomic; `exclusive` runs one work at a time among all who share the store. */
export interface StateStore<Value> {
  readonly load: () => Promise<Value | undefined>;
  readonly save: (value: Value) => Promise<void>;
  readonly exclusive: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** A store that forgets when the process ends. */
export function memoryStore<Value>(): StateStore<Value> {
  let kept: Value | undefined;
  return {
    load: async () => kept,
    save: async (value) => {
      kept = value;
    },
    exclusive: createMutex(),
  };
}

/** Runs works one after another, whatever becomes of them. */
export function createMutex(): StateStore<unknown>['exclusive'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** The state as one reads and changes it; inside a transition the lock is held already. */
export interface Memory {
  readonly load: () => Promise<PhoneState>;
  readonly update: (change: (state: PhoneState) => PhoneState) => Promise<void>;
}

const empty: PhoneState = { accounts: [], servers: {} };

export function memoryOf(store: StateStore<PhoneState>, held: boolean): Memory {
  const load = async () => (await store.load()) ?? empty;
  const write = async (change: (state: PhoneState) => PhoneState): Promise<void> => store.save(change(await load()));
  return { load, update: (change) => (held ? write(change) : store.exclusive(() => write(change))) };
}

export function withDraft(state: PhoneState, draft: Draft | undefined): PhoneState {
  const { draft: _replaced, ...rest } = state;
  return draft === undefined ? rest : { ...rest, draft };
}

export function withAccount(state: PhoneState, account: Account): PhoneState {
  const others = state.accounts.filter((other) => other.deviceId !== account.deviceId);
  return { ...state, accounts: [...others, account] };
}

export function withServer(state: PhoneState, baseUrl: string, server: ServerMemory): PhoneState {
  return { ...state, servers: { ...state.servers, [baseUrl]: server } };
}

/** Every key the state refers to; others in the vault are left over from a process that died. */
export function handlesOf(state: PhoneState): ReadonlySet<string> {
  const slots = [
    ...(state.draft?.slots ?? []),
    ...state.accounts.flatMap((account) => [...account.slots, ...(account.rotation?.newSlots ?? [])]),
  ];
  return new Set(slots.map((slot) => slot.handle));
}

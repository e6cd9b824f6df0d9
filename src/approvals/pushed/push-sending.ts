// Sends one push to one device: with the tenant's account, else the operator's, to the vendor the device named; notes on the device
// what became of it, forgets a dead token, remembers credentials that were refused. Called by the queue and by a test push.
import { generateKeyPairSync } from 'node:crypto';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { pushTokenPurpose, vapidPurpose } from '../../crypto/sealed-columns.ts';
import type { TenantId } from '../../domain/ids.ts';
import { languageFor } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Log } from '../../platform/log.ts';
import { parseApnsAccount } from '../../platform/push/apns.ts';
import { parseFcmAccount } from '../../platform/push/fcm.ts';
import { type PushNotice, type PushOutcome, type PushResult, pushTimeoutMs } from '../../platform/push/push.ts';
import type { PushWays } from '../../platform/push/senders.ts';
import type { VapidAccount } from '../../platform/push/web.ts';
import type { Device } from '../../storage/device/devices.ts';
import {
  claimVapidKey,
  findVapidKey,
  type PushTarget,
  pushTargetOf,
  recordPush,
  setPushRefusal,
} from '../../storage/device/push-targets.ts';
import type { Database } from '../../storage/engine/database.ts';
import { findUser } from '../../storage/people/users.ts';
import { pushTexts } from '../../texts/push-texts.ts';
import { openPushAccount } from '../../tokens/secret-settings.ts';

export interface PushParts {
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly push: PushWays;
  readonly log: Log;
  /** Counts for the console. */
  readonly activity: { readonly countPush: (tenant: TenantId, provider: string, outcome: string) => void };
}

/** What a push is about; the rest is the same for everybody. */
export type PushSubject = Omit<PushNotice, 'sentence'>;

export interface PushAttempt {
  readonly outcome: PushOutcome | 'unsent';
  readonly reason?: string;
}

/** Sends to a device, once, and gives up when the signal says so; undefined: it has no push token. */
export async function sendPush(
  parts: PushParts,
  tenant: Tenant,
  device: Device,
  subject: PushSubject,
  signal = AbortSignal.timeout(pushTimeoutMs),
): Promise<PushAttempt | undefined> {
  const { database, encryption, log } = parts;
  const target = device.state === 'active' ? pushTargetOf(device) : undefined;
  if (target === undefined) return undefined;
  const user = await database.read(tenant.id, (queries) => findUser(queries, tenant.id, device.user_id));
  const notice = { ...subject, sentence: pushTexts[languageFor(user)][subject.type] };
  const attempt = await attemptPush(parts, tenant, {
    provider: target.provider,
    token: encryption.decrypt(target.tokenEncrypted, pushTokenPurpose(tenant.id, device.id)).toString(),
    notice,
    signal,
  }).catch((error: unknown): PushAttempt => {
    log.warn({ err: error, provider: target.provider }, 'a push could not be made');
    return { outcome: 'failed', reason: 'fault' };
  });
  if (attempt.outcome !== 'sent') log.info({ tenant: tenant.slug, provider: target.provider, ...attempt }, 'a push was not taken');
  parts.activity.countPush(tenant.id, target.provider, attempt.outcome);
  await record(database, tenant.id, { device, target, attempt });
  return attempt;
}

interface Sending {
  readonly provider: PushTarget['provider'];
  readonly token: string;
  readonly notice: PushNotice;
  readonly signal: AbortSignal;
}

async function attemptPush(parts: PushParts, tenant: Tenant, { provider, token, notice, signal }: Sending): Promise<PushAttempt> {
  const { senders } = parts.push;
  const send = (): Promise<PushResult> | undefined => {
    if (provider === 'apns') return withAccount(apnsAccountOf(parts, tenant), (account) => senders.apns(account, token, notice, signal));
    return withAccount(fcmAccountOf(parts, tenant), (account) => senders.fcm(account, token, notice, signal));
  };
  const sent = provider === 'web' ? senders.web(await vapidAccountOf(parts, tenant), token, notice, signal) : send();
  return sent ?? { outcome: 'unsent', reason: 'no_credentials' };
}

const withAccount = <Account>(account: Account | undefined, send: (account: Account) => Promise<PushResult>) =>
  account === undefined ? undefined : send(account);

/** The public key that a browser subscribes with; made at the first question. */
export async function vapidPublicKey(parts: Pick<PushParts, 'database' | 'encryption'>, tenant: TenantId): Promise<string> {
  return (await loadVapidKey(parts, tenant)).public_key;
}

async function vapidAccountOf(parts: PushParts, { id, baseUrl }: Tenant): Promise<VapidAccount> {
  const key = await loadVapidKey(parts, id);
  return {
    share: id,
    subject: baseUrl.startsWith('https:') ? baseUrl : 'mailto:gatehouse@localhost',
    publicKey: key.public_key,
    privateKey: parts.encryption.decrypt(key.private_key_encrypted, vapidPurpose(id)).toString(),
  };
}

async function loadVapidKey({ database, encryption }: Pick<PushParts, 'database' | 'encryption'>, tenant: TenantId) {
  const known = await database.read(tenant, (queries) => findVapidKey(queries, tenant));
  if (known !== undefined) return known;
  const { x = '', y = '', d = '' } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  const made = { publicKey: point.toString('base64url'), privateKeyEncrypted: encryption.encrypt(d, vapidPurpose(tenant)) };
  return database.write(tenant, (queries) => claimVapidKey(queries, tenant, made));
}

/** Accounts by what is stored of them, so that a connection and a vendor's token outlive changes of other settings. */
const accounts = new Map<string, object>();
const accountsMax = 1000;

function accountOf<Account extends object>(stored: Readonly<Record<string, unknown>> | null, open: () => Account): Account | undefined {
  if (stored === null) return undefined;
  const key = JSON.stringify(stored); // its encrypted key is of one tenant and one vendor
  const known = accounts.get(key) as Account | undefined; // put there below, under the same key
  if (known !== undefined) return known;
  const account = open();
  for (const oldest of accounts.size >= accountsMax ? [...accounts.keys()].slice(0, 1) : []) accounts.delete(oldest);
  accounts.set(key, account);
  return account;
}

const apnsAccountOf = ({ encryption, push }: PushParts, { id, settings }: Tenant) =>
  accountOf(settings.push.apns, () => parseApnsAccount(openPushAccount(encryption, id, 'apns', settings.push.apns) ?? {})) ??
  push.operator.apns;

const fcmAccountOf = ({ encryption, push }: PushParts, { id, settings }: Tenant) =>
  accountOf(settings.push.fcm, () => parseFcmAccount(openPushAccount(encryption, id, 'fcm', settings.push.fcm) ?? {})) ?? push.operator.fcm;

async function record(
  database: Database,
  tenant: TenantId,
  { device, target, attempt: { outcome, reason } }: { readonly device: Device; readonly target: PushTarget; readonly attempt: PushAttempt },
): Promise<void> {
  await database.write(tenant, async (queries) => {
    await recordPush(queries, tenant, device.id, target, { outcome, reason: reason ?? null, isGone: outcome === 'gone' });
    if (outcome === 'sent') await setPushRefusal(queries, tenant, target.provider, undefined);
    if (outcome === 'refused') await setPushRefusal(queries, tenant, target.provider, reason ?? 'unknown');
  });
}

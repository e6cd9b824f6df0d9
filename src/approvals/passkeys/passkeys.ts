// Passkeys in a sign-in: the options a browser gets and the examination of its response. Whoever has no passkey, and whoever
// nobody knows, gets a list of the same shape: as many credential ids, made from a key of the tenant. Decides nothing: the
// caller consumes the challenge and resolves the approval in one transaction.
import { createHmac } from 'node:crypto';
import { passkeysPerUserMax } from '../../contract/limits.ts';
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { equalText, hashSecret } from '../../crypto/secret-hash.ts';
import { type Assertion, type PasskeyFault, type PasskeyParty, type StoredCredential, verifyAssertion } from '../../crypto/webauthn.ts';
import type { PasskeyId, UserId } from '../../domain/ids.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import { randomSecret } from '../../platform/random.ts';
import type { ConfigCache } from '../../storage/engine/config/config-cache.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import {
  consumePasskeyChallenge,
  findPasskeyByCredential,
  findPasskeyChallenge,
  listPasskeysOfUser,
  recordPasskeyUse,
  replacePasskeyChallenge,
} from '../../storage/sign-in/passkeys.ts';
import { loadTenantKey } from '../../tokens/tenant-secret.ts';
import { nobody } from '../asker.ts';

export const passkeyChallengeLifetimeMs = 300_000;

export type PasskeyOptions = Readonly<Record<string, unknown>>;

/** The relying party of a tenant: credentials belong to the host of its base_url, ceremonies to its exact origin. */
export function passkeyPartyOf(tenant: Tenant): PasskeyParty {
  const { hostname, origin } = new URL(tenant.baseUrl);
  return { id: hostname, origin };
}

/** The key decoys are made with; load it before a transaction, so that the transaction waits for nothing else. */
export const loadDecoyKey = (deps: { readonly cache: ConfigCache; readonly encryption: KeyEncryption }, tenant: Tenant): Promise<Buffer> =>
  loadTenantKey(deps.cache, deps.encryption, tenant.id, 'gatehouse passkey decoys v1');

/** Stores a challenge for a sign-in and gives the PublicKeyCredentialRequestOptionsJSON (WebAuthn 5.1.10) to answer it by. */
export async function startPasskeySignIn(
  queries: Queries,
  tenant: Tenant,
  decoyKey: Buffer,
  login: { readonly subject: string; readonly userId: UserId | undefined; readonly subjectKey: string },
): Promise<PasskeyOptions> {
  const challenge = randomSecret();
  const passkeys = await listPasskeysOfUser(queries, tenant.id, login.userId ?? nobody);
  await replacePasskeyChallenge(queries, tenant.id, login.subject, hashSecret(challenge), passkeyChallengeLifetimeMs);
  const own = passkeys.map((passkey) => passkey.credential_id);
  return {
    challenge,
    timeout: passkeyChallengeLifetimeMs,
    rpId: passkeyPartyOf(tenant).id,
    allowCredentials: allowList(decoyKey, login.subjectKey, own).map((id) => ({ id, type: 'public-key' })),
    userVerification: 'required',
  };
}

/** Lengths of credential ids as the common authenticators make them. */
const decoyLengths = [16, 20, 32, 16, 20, 32, 48, 64] as const;

/** Always passkeysPerUserMax ids in an order that tells nothing; the same for the same subject until its passkeys change. */
function allowList(key: Buffer, subjectKey: string, own: readonly string[]): readonly string[] {
  const mac = (text: string): Buffer => createHmac('sha512', key).update(text).digest();
  const decoy = (index: number): string => {
    const bytes = mac(`decoy\0${index}\0${subjectKey}`);
    const length = decoyLengths[mac(`length\0${index}\0${subjectKey}`)[0]! % decoyLengths.length]!;
    return bytes.subarray(0, length).toString('base64url');
  };
  const listed = own.slice(-passkeysPerUserMax);
  const decoys = Array.from({ length: passkeysPerUserMax - listed.length }, (_, index) => decoy(index));
  return [...listed, ...decoys]
    .map((id) => ({ id, place: mac(`place\0${id}`).toString('hex') }))
    .sort((left, right) => (left.place < right.place ? -1 : 1))
    .map(({ id }) => id);
}

/** What a right response is redeemed with. */
interface ExaminedPasskey {
  readonly passkeyId: PasskeyId;
  readonly userId: UserId;
  readonly subject: string;
  readonly challengeHash: string;
  readonly counter: number;
  readonly backedUp: boolean;
}

/** A P-256 key nobody has the other half of: a response of nobody costs what a response of somebody does. */
const nobodysCredential: StoredCredential = {
  credentialId: 'AAAAAAAAAAAAAAAAAAAAAA',
  publicKey: 'pQECAyYgASFYIPgfe3XF-qldLQR27GXjMIQLJ7T8JKbMrvY5zB0-BsU7IlggUrZc5WVnSd9Ll2QtIFe2yJU99UZsCv65JyzeNDlBQtY',
  counter: 0,
};

/**
 * Checks a response against the live challenge of the sign-in and the passkey it names. `unknown`: not a passkey of this
 * user; the other reasons say which check failed. `ok` only says the response is right: redeemPasskey uses it up.
 */
export async function examinePasskey(
  database: Database,
  tenant: Tenant,
  login: { readonly subject: string; readonly userId: UserId | undefined },
  assertion: Assertion,
): Promise<Outcome<{ readonly passkey: ExaminedPasskey }, PasskeyFault | 'unknown' | 'user_handle' | 'no_challenge'>> {
  const { challengeHash, found } = await database.read(tenant.id, async (queries) => ({
    challengeHash: await findPasskeyChallenge(queries, tenant.id, login.subject),
    found: await findPasskeyByCredential(queries, tenant.id, assertion.credentialId),
  }));
  const own = found !== undefined && found.user_id === login.userId ? found : undefined;
  const credential =
    own === undefined ? nobodysCredential : { credentialId: own.credential_id, publicKey: own.public_key, counter: own.counter };
  const isChallenge = (challenge: string): boolean => equalText(hashSecret(challenge), challengeHash ?? '');
  const verdict = await verifyAssertion(passkeyPartyOf(tenant), credential, assertion, isChallenge);
  if (challengeHash === undefined) return fail('no_challenge');
  if (own === undefined) return fail('unknown');
  if (!verdict.ok) return verdict;
  if (assertion.userHandle !== undefined && assertion.userHandle !== userHandleOf(own.user_id)) return fail('user_handle');
  const { counter, backedUp } = verdict;
  return {
    ok: true,
    passkey: { passkeyId: own.id, userId: own.user_id, subject: login.subject, challengeHash, counter, backedUp },
  };
}

/** What authenticators remember a user by (WebAuthn 5.4.3): the id, which says nothing about the person. */
export const userHandleOf = (user: UserId): string => Buffer.from(user).toString('base64url');

/**
 * Uses up a right response in the transaction of its effect. `used`: another request was first, or the challenge has ended;
 * `refused`: the passkey was revoked, its counter moved on, or the user may not sign in.
 */
export async function redeemPasskey(
  queries: Queries,
  tenant: Tenant,
  passkey: ExaminedPasskey,
): Promise<Outcome<object, 'used' | 'refused'>> {
  if (!(await consumePasskeyChallenge(queries, tenant.id, passkey.subject, passkey.challengeHash))) return fail('used');
  const { passkeyId: id, userId, counter, backedUp } = passkey;
  return (await recordPasskeyUse(queries, tenant.id, { id, userId, counter, backedUp })) ? { ok: true } : fail('refused');
}

// Adding a passkey to a user, and taking one away: options, verified response, audit record and the mail that tells the person.
// Called by the account page and the management API, which decide who may.
import { passkeysPerUserMax } from '../../contract/limits.ts';
import { equalText, hashSecret } from '../../crypto/secret-hash.ts';
import { type Attestation, type PasskeyFault, passkeyAlgorithms, verifyAttestation } from '../../crypto/webauthn.ts';
import type { PasskeyId, UserId } from '../../domain/ids.ts';
import type { Language } from '../../domain/language.ts';
import { fail, type Outcome } from '../../domain/outcome.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Letter } from '../../mails/letter.ts';
import type { PasskeyChange } from '../../mails/passkey-mail.ts';
import { mails } from '../../mails/registry.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import type { Database, Queries } from '../../storage/engine/database.ts';
import { insertPasskey } from '../../storage/people/user-passkeys.ts';
import { insertAuditEvent } from '../../storage/records/audit-events.ts';
import {
  consumePasskeyChallenge,
  deletePasskey,
  findPasskeyChallenge,
  listPasskeysOfUser,
  replacePasskeyChallenge,
} from '../../storage/sign-in/passkeys.ts';
import type { MailDeps } from '../mailed/mail-delivery.ts';
import { mailUser } from '../mailed/user-mail.ts';
import { type PasskeyOptions, passkeyChallengeLifetimeMs, passkeyPartyOf, userHandleOf } from './passkeys.ts';

export interface PasskeyDeps extends MailDeps {
  readonly database: Database;
}

/** Who registers: `subject` binds the challenge to one session of the account page. */
export interface Registrant {
  readonly subject: string;
  readonly userId: UserId;
}

/** Who acts, for the audit record. */
export interface PasskeyActor {
  readonly actor: string;
  readonly requestId?: string | undefined;
  /** Accept-Language, when it is the person: for the mail to one who has no language of their own. */
  readonly asked?: string | undefined;
}

/** Stores a challenge and gives the PublicKeyCredentialCreationOptionsJSON (WebAuthn 5.1.9) to answer it by. */
export async function startPasskeyRegistration(
  queries: Queries,
  tenant: Tenant,
  registrant: Registrant,
  names: { readonly name: string; readonly displayName: string },
): Promise<PasskeyOptions> {
  const challenge = randomSecret();
  await replacePasskeyChallenge(queries, tenant.id, registrant.subject, hashSecret(challenge), passkeyChallengeLifetimeMs);
  const passkeys = await listPasskeysOfUser(queries, tenant.id, registrant.userId);
  return {
    challenge,
    rp: { id: passkeyPartyOf(tenant).id, name: tenant.name },
    user: { id: userHandleOf(registrant.userId), ...names },
    pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout: passkeyChallengeLifetimeMs,
    excludeCredentials: passkeys.map((passkey) => ({
      id: passkey.credential_id,
      type: 'public-key',
      transports: JSON.parse(passkey.transports) as unknown,
    })),
    authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'required' },
    attestation: 'none',
  };
}

type RegistrationFault = PasskeyFault | 'no_challenge' | 'used' | 'inactive' | 'too_many' | 'taken';

/**
 * Verifies a response (WebAuthn 7.1) and adds the passkey, once per challenge; writes the audit record and the mail.
 * `mayAdd` is asked again in that transaction, because what it rests on may have changed since the options were given.
 */
export async function addPasskey(
  deps: PasskeyDeps,
  tenant: Tenant,
  registrant: Registrant & { mayAdd(queries: Queries): Promise<boolean> },
  response: { readonly attestation: Attestation; readonly name: string },
  by: PasskeyActor,
): Promise<Outcome<{ readonly id: PasskeyId }, RegistrationFault | 'not_allowed'>> {
  const { subject, userId } = registrant;
  const challengeHash = await deps.database.read(tenant.id, (queries) => findPasskeyChallenge(queries, tenant.id, subject));
  if (challengeHash === undefined) return fail('no_challenge');
  const isChallenge = (challenge: string): boolean => equalText(hashSecret(challenge), challengeHash);
  const verdict = await verifyAttestation(passkeyPartyOf(tenant), response.attestation, isChallenge);
  if (!verdict.ok) return verdict;
  const { credential } = verdict;
  const id = uuidV7(deps.clock.nowMs()) as PasskeyId; // made here
  const row = {
    id,
    user_id: userId,
    credential_id: credential.credentialId,
    public_key: credential.publicKey,
    counter: credential.counter,
    transports: JSON.stringify(credential.transports),
    backup_eligible: Number(credential.backupEligible),
    backed_up: Number(credential.backedUp),
    aaguid: credential.aaguid,
    name: response.name,
  };
  return deps.database.write(tenant.id, async (queries) => {
    if (!(await consumePasskeyChallenge(queries, tenant.id, subject, challengeHash))) return fail('used');
    if (!(await registrant.mayAdd(queries))) return fail('not_allowed');
    const inserted = await insertPasskey(queries, tenant.id, row, passkeysPerUserMax);
    if (!inserted.ok) return inserted;
    await tell(queries, deps, tenant, by, { change: 'added', id, userId, name: response.name });
    return { ok: true, id };
  });
}

/** Revokes a passkey of a user for good, with its audit record and mail. False when the user has none of that id. */
export async function revokePasskey(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  passkey: { readonly userId: UserId; readonly id: string },
  by: PasskeyActor,
): Promise<boolean> {
  const deleted = await deletePasskey(queries, tenant.id, passkey.userId, passkey.id);
  if (deleted === undefined) return false;
  await tell(queries, deps, tenant, by, { change: 'revoked', id: deleted.id, userId: deleted.user_id, name: deleted.name });
  return true;
}

async function tell(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  by: PasskeyActor,
  passkey: { readonly change: PasskeyChange; readonly id: PasskeyId; readonly userId: UserId; readonly name: string },
): Promise<void> {
  await insertAuditEvent(queries, tenant.id, deps.clock.nowMs(), {
    type: `passkey.${passkey.change}`,
    actor: by.actor,
    requestId: by.requestId,
    target: `passkey:${passkey.id}`,
    data: { user: passkey.userId },
  });
  const mail = (to: string, language: Language): Letter =>
    mails.passkey.make(passkey.change, { passkeyName: passkey.name, tenantName: tenant.name, language }, to);
  await mailUser(queries, deps, tenant, { userId: passkey.userId, asked: by.asked }, mail);
}

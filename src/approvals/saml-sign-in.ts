// What a finished or cancelled sign-in does to the SAML session it was for. The SSO endpoint seals the session's id into
// the login transaction; `POST /login/{tx}/finish` and `/cancel` call finishSamlSignIn in their transaction and send the
// browser to the post-back it gives. The id itself is stored nowhere, only its hash.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { samlSessionPurpose } from '../crypto/sealed-columns.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Queries } from '../storage/engine/database.ts';
import { readySamlSession, type SamlSubject } from '../storage/saml/saml-sessions.ts';

/** The session id as a login transaction may hold it. */
export function sealSamlSession(encryption: KeyEncryption, tenant: Tenant, sessionId: string): string {
  return encryption.encrypt(sessionId, samlSessionPurpose(tenant.id));
}

/**
 * pending -> ready with the subject, or without one when the sign-in was refused (contract 3).
 * @returns the absolute post-back address; undefined when the session was finished before or has expired.
 */
export async function finishSamlSignIn(
  queries: Queries,
  encryption: KeyEncryption,
  tenant: Tenant,
  sealed: string,
  subject: SamlSubject,
): Promise<string | undefined> {
  const sessionId = encryption.decrypt(sealed, samlSessionPurpose(tenant.id)).toString();
  const isFirst = await readySamlSession(queries, tenant.id, sessionId, subject);
  return isFirst ? `${tenant.baseUrl}/v1/idp/saml/postback?session=${sessionId}` : undefined;
}

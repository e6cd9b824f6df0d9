// Security event tokens (RFC 8417, profiled by SSF 1.0, 10.1): the claims are kept while a token waits, and signed whenever it is sent, so
// that it verifies by the keys of that day; jti and iat stay.
import { signJwt } from '../crypto/signing/jwt.ts';
import type { SsfStream } from '../domain/extending/ssf-stream.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { uuidV7 } from '../platform/random.ts';
import type { NewSsfEvent } from '../storage/records/ssf-events.ts';
import { type KeySupply, ringWith } from '../tokens/signing-key-supply.ts';

/** The one the CAEP Interoperability Profile allows. */
const alg = 'RS256';

/** RFC 9493. */
export type SubjectId =
  | { readonly format: 'iss_sub'; readonly iss: string; readonly sub: string }
  | { readonly format: 'email'; readonly email: string }
  | { readonly format: 'opaque'; readonly id: string };

interface SecurityEventFacts {
  /** URI of the event. */
  readonly type: string;
  readonly subject: SubjectId;
  /** The members of the event. */
  readonly event: Readonly<Record<string, unknown>>;
  /** The request that brought it about; absent, the token is the only one of its matter. */
  readonly txn?: string | undefined;
  /** Of the audit record, in the feed. */
  readonly seq?: number;
}

/** A token for the receiver of a stream, issued at `nowMs`. */
export function tokenOf(tenant: Tenant, { clientId }: SsfStream, facts: SecurityEventFacts, nowMs: number): NewSsfEvent {
  const { type, subject, event, txn, seq = 0 } = facts;
  const id = uuidV7(nowMs);
  const claims = {
    iss: tenant.baseUrl,
    jti: id,
    iat: Math.floor(nowMs / 1000),
    aud: clientId,
    txn: txn ?? id,
    sub_id: subject,
    events: { [type]: event },
  };
  return { id, type, seq, claims: JSON.stringify(claims) };
}

/** Signs the claims of a token that waits. */
export async function signToken(supply: KeySupply, { id, slug }: Tenant, claims: string): Promise<string> {
  const key = (await ringWith(supply, id, [alg])).signing(alg);
  if (key === undefined) throw new Error(`tenant ${slug} has no current ${alg} key`);
  return signJwt(key, 'secevent+jwt', JSON.parse(claims) as Readonly<Record<string, unknown>>); // written by tokenOf
}

// Clients as the endpoints see them: one cached look-up per tenant and id, ids that name nobody remembered too.
// Whether a client is enabled is the caller's question.
import type { Client } from '../domain/client.ts';
import type { TenantId } from '../domain/ids.ts';
import { findClient } from '../storage/clients.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Database } from '../storage/database.ts';

/** RFC 6749 appendix A.1 (VSCHAR), within the length of any id of ours. What does not match names no client and no cache entry. */
const clientIdSyntax = /^[\x20-\x7e]{1,128}$/;

/** The registered client, or undefined. Reads the database only for an id this process has not seen since the last change. */
export async function findCachedClient(cache: ConfigCache, tenant: TenantId, clientId: string): Promise<Client | undefined> {
  const known = peekClient(cache, tenant, clientId);
  if (known !== undefined) return known.value;
  return cache.get(tenant, `client:${clientId}`, (queries) => findClient(queries, tenant, clientId));
}

/** What findCachedClient would give, if it is known without waiting. */
export function peekClient(cache: ConfigCache, tenant: TenantId, clientId: string): { readonly value: Client | undefined } | undefined {
  if (!clientIdSyntax.test(clientId)) return { value: undefined };
  return cache.peek<Client | undefined>(tenant, `client:${clientId}`);
}

/**
 * Looks a client up for an attempt that may fail: gives the client and a `settle` to await before refusing, which reads the
 * database when the look-up did not, so that a refusal costs the same for known, unknown, cached and new ids.
 */
export async function findClientEvenly(
  database: Database,
  cache: ConfigCache,
  tenant: TenantId,
  clientId: string,
): Promise<{ readonly client: Client | undefined; readonly settle: () => Promise<void> }> {
  const known = peekClient(cache, tenant, clientId);
  const settle = async (): Promise<void> => {
    if (known !== undefined)
      await database.read(tenant, (queries) => findClient(queries, tenant, clientIdSyntax.test(clientId) ? clientId : ''));
  };
  return { client: known === undefined ? await findCachedClient(cache, tenant, clientId) : known.value, settle };
}

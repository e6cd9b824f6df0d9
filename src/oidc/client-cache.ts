// The look-up of a client by an attempt that may fail, made to cost the same for known, unknown, cached and new ids.
// Called by client authentication; whether a client is enabled is the caller's question.
import type { Client } from '../domain/client.ts';
import type { TenantId } from '../domain/ids.ts';
import { findCachedClient, peekClient, touchClient } from '../storage/clients.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Database } from '../storage/database.ts';

export interface EvenLookup {
  readonly client: Client | undefined;
  /** To await before refusing: reads the database when the look-up did not. */
  readonly settle: () => Promise<void>;
}

/** Finds a client without waiting when it is cached, known or unknown. */
export async function findClientEvenly(database: Database, cache: ConfigCache, tenant: TenantId, clientId: string): Promise<EvenLookup> {
  const known = peekClient(cache, tenant, clientId);
  if (known === undefined) return { client: await findCachedClient(cache, tenant, clientId), settle: async () => undefined };
  return {
    client: known.value,
    // One column: reading a whole client out of its row would tell it from a row that is not there.
    settle: async () => void (await database.read(tenant, (queries) => touchClient(queries, tenant, clientId))),
  };
}

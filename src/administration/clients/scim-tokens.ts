// Making a bearer token for SCIM, of a tenant or of one of its organisations, whoever does it.
import { scimTokensMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Directory } from '../../domain/organizations/directory.ts';
import { scimTokenPrefix } from '../../domain/people/scim-token.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { insertScimToken, listScimTokens, type ScimToken } from '../../storage/registry/scim-tokens.ts';
import { lockTenantSettings } from '../../storage/registry/tenants.ts';
import { type Administration, type By, recordAct } from '../administration.ts';

const dayMs = 24 * 3600 * 1000;

interface WantedToken {
  readonly name: string;
  /** Null: without end. */
  readonly days: number | null;
}

/** Makes one, which is shown once; `full` where there are as many as there may be. */
export async function makeScimToken(
  queries: Queries,
  store: Pick<Administration, 'clock' | 'database'>,
  directory: Directory,
  { name, days }: WantedToken,
  by: By,
): Promise<{ readonly row: ScimToken; readonly token: string } | 'full'> {
  const { tenant, organization } = directory;
  await lockTenantSettings(queries, store.database.dialect, tenant); // whoever makes one more waits for others who do
  if ((await listScimTokens(queries, directory)).length >= scimTokensMax) return 'full';
  const token = `${scimTokenPrefix}${randomSecret()}`;
  const row = await insertScimToken(queries, tenant, {
    id: uuidV7(store.clock.nowMs()),
    name,
    token_hash: hashSecret(token),
    created_by: by.actor,
    organization_id: organization ?? null,
    lifetimeMs: days === null ? undefined : days * dayMs,
  });
  const data = { name, days: days ?? 0, ...(organization !== undefined && { organization }) };
  await recordAct(queries, store, tenant, by, { type: 'scim_token.created', target: `scim_token:${row.id}`, data });
  return { row, token };
}

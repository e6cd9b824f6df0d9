// OIDC signing keys: rotation with a next key that is always published before it signs, and retired keys kept for as long as
// a token they signed may live.
import { generateSigningKey } from '../crypto/key-ring.ts';
import type { SigningAlg } from '../domain/client/client.ts';
import type { TenantId } from '../domain/ids.ts';
import { mergeSettings, type Settings } from '../domain/tenant/settings.ts';
import type { Job } from '../platform/jobs.ts';
import { bumpConfigEpoch } from '../storage/engine/config/config-changes.ts';
import type { Queries } from '../storage/engine/database.ts';
import {
  deleteRetiredSigningKeys,
  insertMissingSigningKey,
  listSigningKeys,
  promoteSigningKey,
  type StoredSigningKey,
} from '../storage/registry/signing-keys.ts';
import { findTenantById, listTenants } from '../storage/registry/tenants.ts';
import { generateKeyPairs } from '../tokens/key-rings.ts';
import { type Administration, type By, recordAct } from './administration.ts';

/** Makes a current and a next key of an algorithm the tenant has none of; does nothing when it has. */
export async function requireSigningKeys(administration: Administration, tenant: TenantId, alg: SigningAlg): Promise<void> {
  const { database, cache, encryption } = administration;
  const keys = await database.read(tenant, (queries) => keysOf(queries, tenant, alg));
  if (keys.current !== undefined && keys.next !== undefined) return;
  const pairs = await generateKeyPairs(tenant, [alg], encryption);
  await cache.write(tenant, async (queries) => {
    for (const { current, next } of pairs) {
      await insertMissingSigningKey(queries, tenant, { ...current, certificate: null });
      await insertMissingSigningKey(queries, tenant, { ...next, certificate: null });
    }
  });
}

/** Makes the next key current and a new next one. Gives the new current key; undefined when another rotation came first. */
export async function rotateSigningKey(
  administration: Administration,
  tenant: TenantId,
  alg: SigningAlg,
  by: By,
): Promise<StoredSigningKey | undefined> {
  const { database, cache, encryption } = administration;
  await requireSigningKeys(administration, tenant, alg);
  const before = await database.read(tenant, (queries) => keysOf(queries, tenant, alg));
  if (before.current === undefined || before.next === undefined) return undefined;
  const step = { from: before.current.kid, to: before.next.kid };
  const fresh = { ...(await generateSigningKey(tenant, alg, 'next', encryption)), certificate: null };
  return cache.write(tenant, async (queries) => {
    if (!(await promoteSigningKey(queries, tenant, { ...step, fresh }))) return undefined;
    const data = { use: 'oidc', alg, retired: step.from, next: fresh.kid };
    await recordAct(queries, administration, tenant, by, { type: 'signing_key.rotated', target: `signing_key:${step.to}`, data });
    await purgeRetired(queries, tenant);
    return (await keysOf(queries, tenant, alg)).current;
  });
}

const retiredKeysEveryMs = 600_000;
const tenantsPerPage = 200;

/** The background job `retired-keys`: deletes retired keys once no token they signed can be alive, also where nobody rotates again. */
export function createRetiredKeyJob({ database, cache, clock }: Pick<Administration, 'database' | 'cache' | 'clock'>): Job {
  return {
    name: 'retired-keys',
    everyMs: retiredKeysEveryMs,
    run: async (signal) => {
      for (let afterSlug = ''; !signal.aborted; ) {
        const tenants = await database.systemRead((queries) => listTenants(queries, { afterSlug, limit: tenantsPerPage }));
        const ids = tenants.filter(({ moving }) => moving === null).map(({ tenant_id: tenant }) => tenant);
        const keys = await database.readEach(ids, listSigningKeys);
        for (const [index, tenant] of ids.entries()) {
          if (signal.aborted) return;
          if (!keys[index]!.some((key) => key.use === 'oidc' && key.state === 'retired')) continue;
          const gone = await database.write(tenant, async (queries) => {
            const kids = await purgeRetired(queries, tenant);
            if (kids.length > 0) await bumpConfigEpoch(queries, tenant);
            for (const kid of kids)
              await recordAct(
                queries,
                { clock },
                tenant,
                { actor: 'system' },
                { type: 'signing_key.deleted', target: `signing_key:${kid}` },
              );
            return kids;
          });
          if (gone.length > 0) cache.forget(tenant);
        }
        const last = tenants.at(-1);
        if (last === undefined) return;
        afterSlug = last.slug;
      }
    },
  };
}

/** Deletes the tenant's retired keys whose last token has expired. */
async function purgeRetired(queries: Queries, tenant: TenantId): Promise<readonly string[]> {
  const row = await findTenantById(queries, tenant);
  if (row === undefined) return [];
  const resources = await queries.selectFrom('resources').select('access_token_lifetime_seconds').where('tenant_id', '=', tenant).execute();
  const lifetimes = resources.map((resource) => resource.access_token_lifetime_seconds ?? 0);
  return deleteRetiredSigningKeys(queries, tenant, longestTokenSeconds(mergeSettings(JSON.parse(row.settings)), lifetimes));
}

/** Refresh tokens count too: what was signed with them (an ID token, as a logout hint) is shown for as long. */
function longestTokenSeconds(settings: Settings, resourceLifetimes: readonly number[]): number {
  return Math.max(
    settings.access_token_lifetime_seconds,
    settings.id_token_lifetime_seconds,
    settings.refresh_token_absolute_seconds,
    ...resourceLifetimes,
  );
}

async function keysOf(
  queries: Queries,
  tenant: TenantId,
  alg: SigningAlg,
): Promise<{ readonly current: StoredSigningKey | undefined; readonly next: StoredSigningKey | undefined }> {
  const keys = (await listSigningKeys(queries, tenant)).filter((key) => key.use === 'oidc' && key.alg === alg);
  return { current: keys.find((key) => key.state === 'current'), next: keys.find((key) => key.state === 'next') };
}

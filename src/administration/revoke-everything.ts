// After a restore: nothing that was issued before or after the backup works any more. Grants are revoked, everything that is
// still to be redeemed or approved is deleted, and OIDC signing keys are made anew, since a token that was revoked after the
// backup is known here as alive, and one without a grant is known by its signature alone.
import { sql } from 'kysely';
import type { SigningAlg } from '../domain/client/client.ts';
import type { TenantId } from '../domain/ids.ts';
import { databaseNowMs } from '../storage/engine/instance.ts';
import { listSigningKeys } from '../storage/registry/signing-keys.ts';
import { listTenants } from '../storage/registry/tenants.ts';
import type { Schema } from '../storage/schema.ts';
import { generateKeyPairs, insertKeyPairs } from '../tokens/key-rings.ts';
import { type Administration, type By, recordAct } from './administration.ts';

/** Rows that somebody could still redeem, poll for, approve or answer with; first those that refer to others. */
const redeemable: readonly (keyof Schema)[] = [
  'refresh_tokens',
  'authorization_codes',
  'pushed_requests',
  'ciba_deliveries',
  'ciba_requests',
  'device_authorizations',
  'initial_access_tokens',
  'client_registrations',
  'scim_tokens',
  'sso_sessions',
  'external_logins',
  'login_transactions',
  'saml_sessions',
  'approvals',
  'pins',
  'recovery_codes',
  'device_rotations',
  'device_registrations',
  'enrollment_tokens',
  'setup_tokens',
  'invitations',
  'organization_invitations',
  'organization_setup_links',
];

/** Ends everything issued in every tenant; gives how many grants were alive. */
export async function revokeEverything(administration: Administration, by: By): Promise<number> {
  let ended = 0;
  for (let afterSlug = ''; ; ) {
    const tenants = await administration.database.systemRead((queries) => listTenants(queries, { afterSlug, limit: 200 }));
    for (const { tenant_id: tenant } of tenants) ended += await revokeInTenant(administration, tenant, by);
    const last = tenants.at(-1);
    if (last === undefined) return ended;
    afterSlug = last.slug;
  }
}

async function revokeInTenant(administration: Administration, tenant: TenantId, by: By): Promise<number> {
  const { database, cache, encryption } = administration;
  const keys = (await database.read(tenant, (queries) => listSigningKeys(queries, tenant))).filter(({ use }) => use === 'oidc');
  const algs = [...new Set(keys.map(({ alg }) => alg as SigningAlg))]; // read from the table
  const pairs = await generateKeyPairs(tenant, algs, encryption);
  return cache.write(tenant, async (queries) => {
    const grants = await queries
      .updateTable('grants')
      .set({ revoked_at: databaseNowMs, revoked_reason: 'restored' })
      .where('tenant_id', '=', tenant)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    for (const table of redeemable) await sql`DELETE FROM ${sql.table(table)} WHERE tenant_id = ${tenant}`.execute(queries);
    await sql`DELETE FROM signing_keys WHERE tenant_id = ${tenant} AND use = 'oidc'`.execute(queries);
    await insertKeyPairs(queries, tenant, pairs);
    const ended = Number(grants.numUpdatedRows);
    await recordAct(queries, administration, tenant, by, {
      type: 'tenant.everything_revoked',
      target: `tenant:${tenant}`,
      data: { ended },
    });
    return ended;
  });
}

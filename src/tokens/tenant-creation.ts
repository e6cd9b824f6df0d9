// Creating a tenant with everything it needs to work: its secret, its keys, and the admin client of its Management API.
// Called by the system API, the command line and the first start.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { capabilities } from '../domain/capabilities.ts';
import { adminClientAuthMethod, type Client, plainClient } from '../domain/client.ts';
import type { ClientId, TenantId } from '../domain/ids.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { randomSecret, takeRandom, uuidV7 } from '../platform/random.ts';
import { insertAuditEvent } from '../storage/audit-events.ts';
import { insertClient } from '../storage/clients.ts';
import type { Database } from '../storage/database.ts';
import { bumpConfigEpoch } from '../storage/instance.ts';
import { tenantFromRow } from '../storage/tenant-directory.ts';
import { findTenantById, insertTenant } from '../storage/tenants.ts';
import { generateKeyPairs, initialAlgs, insertKeyPairs } from './key-rings.ts';

export interface NewTenantInput {
  readonly slug: string;
  readonly name: string;
  readonly domain?: string | undefined;
  /** Differences from the default settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly actor: string;
  readonly requestId?: string;
}

export interface CreatedTenant {
  readonly tenant: Tenant;
  readonly adminClient: { readonly clientId: ClientId; readonly clientSecret: string };
}

/** Creates the tenant in one transaction; `taken` when slug or domain exist. The secret is shown only here. */
export async function createTenant(
  database: Database,
  encryption: KeyEncryption,
  clock: Clock,
  publicUrl: string,
  input: NewTenantInput,
): Promise<Outcome<CreatedTenant, 'taken'>> {
  const id = uuidV7(clock.nowMs()) as TenantId; // made here
  const pairs = await generateKeyPairs(id, initialAlgs, encryption);
  const secretEncrypted = encryption.encrypt(takeRandom(32), `tenant-secret:${id}`);
  const clientSecret = randomSecret();
  const clientId = randomClientId();
  // One transaction: a tenant exists whole or not at all, however the process ends.
  const row = await database.write(id, async (queries) => {
    const inserted = await insertTenant(queries, {
      tenant_id: id,
      slug: input.slug,
      name: input.name,
      domain: input.domain ?? null,
      settings: JSON.stringify(input.settings ?? {}),
      secret_encrypted: secretEncrypted,
    });
    if (!inserted) return undefined;
    await insertKeyPairs(queries, id, pairs);
    await insertClient(queries, id, adminClient(clientId, clientSecret, clock.nowMs()));
    await insertAuditEvent(queries, id, clock.nowMs(), {
      type: 'tenant.created',
      actor: input.actor,
      target: `tenant:${id}`,
      requestId: input.requestId,
    });
    await bumpConfigEpoch(queries, id);
    return findTenantById(queries, id);
  });
  if (row === undefined) return fail('taken');
  return { ok: true, tenant: tenantFromRow(row, publicUrl), adminClient: { clientId, clientSecret } };
}

/** Client ids are ours: 128 random bits. */
export const randomClientId = (): ClientId => takeRandom(16).toString('base64url') as ClientId;

function adminClient(clientId: ClientId, secret: string, nowMs: number): Client {
  return {
    ...plainClient(clientId, 'Management', nowMs),
    tokenEndpointAuthMethod: adminClientAuthMethod,
    secretHash: hashSecret(secret),
    grantTypes: ['client_credentials'],
    scopes: capabilities,
  };
}

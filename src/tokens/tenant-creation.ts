// Creating a tenant with everything it needs to work: its secret, its keys, and the admin client of its Management API.
// Called by the system API, the command line and the first start.
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import { tenantSecretPurpose } from '../crypto/sealed-columns.ts';
import { hashSecret } from '../crypto/secret-hash.ts';
import { adminClientAuthMethod, type Client, plainClient } from '../domain/client/client.ts';
import { overlay } from '../domain/field.ts';
import type { ClientId, TenantId } from '../domain/ids.ts';
import { machineGrantType } from '../domain/oidc/grant-types.ts';
import { fail, type Outcome } from '../domain/outcome.ts';
import { capabilities } from '../domain/people/capabilities.ts';
import { isPublicHost, type Tenant, tenantFields } from '../domain/tenant/tenant.ts';
import type { Clock } from '../platform/clock.ts';
import { randomId, randomSecret, takeRandom, uuidV7 } from '../platform/random.ts';
import { bumpConfigEpoch } from '../storage/engine/config/config-changes.ts';
import type { Database } from '../storage/engine/database.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { insertClient } from '../storage/registry/clients/clients.ts';
import { type Deployment, tenantFromRow } from '../storage/registry/tenant-directory.ts';
import { findTenantById, insertTenant } from '../storage/registry/tenants.ts';
import { generateKeyPairs, initialAlgs, insertKeyPairs } from './key-rings.ts';

interface NewTenantInput {
  readonly slug: string;
  readonly name: string;
  /** Found right by the table of fields. */
  readonly domain?: string | null | undefined;
  /** Differences from the default settings. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly actor: string;
  readonly requestId?: string;
}

interface CreatedTenant {
  readonly tenant: Tenant;
  readonly adminClient: { readonly clientId: ClientId; readonly clientSecret: string };
}

/** Creates the tenant in one transaction; `taken` when slug or domain exist, `own` when the domain is the deployment's. The secret is shown only here. */
export async function createTenant(
  deps: Deployment & { readonly database: Database; readonly encryption: KeyEncryption; readonly clock: Clock },
  input: NewTenantInput,
): Promise<Outcome<CreatedTenant, 'taken' | 'own'>> {
  const { database, encryption, clock } = deps;
  if (input.domain && isPublicHost(input.domain, deps.publicUrl)) return fail('own');
  const id = uuidV7(clock.nowMs()) as TenantId; // made here
  const pairs = await generateKeyPairs(id, initialAlgs, encryption);
  const secretEncrypted = encryption.encrypt(takeRandom(32), tenantSecretPurpose(id));
  const clientSecret = randomSecret();
  const clientId = randomClientId();
  // One transaction: a tenant exists whole or not at all, however the process ends.
  const row = await database.write(id, async (queries) => {
    const values = overlay(tenantFields, { slug: input.slug, name: input.name, domain: input.domain });
    const own = { settings: JSON.stringify(input.settings ?? {}), secret_encrypted: secretEncrypted };
    const inserted = await insertTenant(queries, id, values, own);
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
  return { ok: true, tenant: tenantFromRow(row, deps), adminClient: { clientId, clientSecret } };
}

/** Client ids are ours: 128 random bits. */
export const randomClientId = (): ClientId => randomId() as ClientId;

function adminClient(clientId: ClientId, secret: string, nowMs: number): Client {
  return {
    ...plainClient(clientId, 'Management', nowMs),
    tokenEndpointAuthMethod: adminClientAuthMethod,
    secretHash: hashSecret(secret),
    grantTypes: [machineGrantType],
    scopes: capabilities,
  };
}

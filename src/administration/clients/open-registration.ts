// Registration without a token (RFC 7591; design 18, part 2), where a tenant has a resource that is open: a stranger's client, which may
// ask people for open resources and nothing else. Beside the configuration: strangers empty no memory by it.
import type { Client, ClientChange } from '../../domain/client/client.ts';
import { registrationOf } from '../../domain/client/client.ts';
import { openClientsPerTenantMax, openIdPrefix, strangerAmong } from '../../domain/client/stranger.ts';
import { strangerOf } from '../../domain/client/stranger-metadata.ts';
import type { ClientId, TenantId } from '../../domain/ids.ts';
import { fail } from '../../domain/outcome.ts';
import { insertStranger } from '../../storage/registry/clients/clients.ts';
import { listOpenResources } from '../../storage/registry/clients/resources.ts';
import { randomClientId } from '../../tokens/tenant-creation.ts';
import { type Administration, recordAct } from '../administration.ts';
import { type ClientWithSecret, type Refused, secretsFor } from './clients.ts';

/** Registers a client without a token; `full` where there are as many as a tenant has. A secret is shown now and cannot be read again. */
export async function registerOpenClient(
  administration: Administration,
  tenant: TenantId,
  change: ClientChange,
  requestId: string,
): Promise<({ readonly ok: true } & ClientWithSecret) | Refused | { readonly ok: false; readonly reason: 'full' }> {
  const clientId = `${openIdPrefix}${randomClientId()}` as ClientId; // made here
  const read = registrationOf(change, undefined, clientId);
  if (!read.ok) return { ok: false, reason: 'invalid', fault: read.fault };
  const nowMs = administration.clock.nowMs();
  const bare = strangerOf('open', read.registration, nowMs);
  const { secrets, secret } = secretsFor(administration, tenant, bare);
  const actor = `client:${clientId}`;
  const client: Client = { ...bare, ...secrets, createdBy: actor, secretBy: { actor, atMs: nowMs } };
  const open = await listOpenResources(administration.cache, tenant);
  return administration.database.write(tenant, async (queries) => {
    if (!(await insertStranger(queries, tenant, client, openClientsPerTenantMax))) return fail('full');
    const act = { type: 'client.created', target: `client:${clientId}`, data: { name: client.name } } as const;
    await recordAct(queries, administration, tenant, { actor, requestId }, act);
    return { ok: true, client: strangerAmong(client, open) ?? client, secret };
  });
}

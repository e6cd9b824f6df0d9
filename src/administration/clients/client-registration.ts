// Clients that register themselves: the tokens an administrator gives out, a registration with one, and its change by the client.
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { ClientChange } from '../../domain/client/client.ts';
import type { RegistrationPolicy } from '../../domain/client/registration-policy.ts';
import type { TenantId } from '../../domain/ids.ts';
import { fail } from '../../domain/outcome.ts';
import { randomSecret, uuidV7 } from '../../platform/random.ts';
import {
  deleteInitialAccessToken,
  type InitialAccessToken,
  insertClientRegistration,
  insertInitialAccessToken,
  useInitialAccessToken,
} from '../../storage/registry/clients/client-registrations.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { type ClientWithSecret, prepareClient, type Refused, storeClient } from './clients.ts';

export interface WantedToken {
  readonly count: number;
  readonly expiresInSeconds: number;
  readonly policy: RegistrationPolicy;
}

/** Makes an initial access token; its text is shown now and cannot be read again. */
export async function createInitialAccessToken(
  administration: Administration,
  tenant: TenantId,
  wanted: WantedToken,
  by: By,
): Promise<{ readonly made: InitialAccessToken; readonly token: string }> {
  const token = randomSecret();
  const id = uuidV7(administration.clock.nowMs());
  const made = await administration.database.write(tenant, async (queries) => {
    const stored = await insertInitialAccessToken(queries, tenant, { ...wanted, id, tokenHash: hashSecret(token), createdBy: by.actor });
    const { count, policy } = wanted;
    const data = { count, hosts: policy.hosts, grant_types: policy.grantTypes, scopes: policy.scopes };
    await recordAct(queries, administration, tenant, by, {
      type: 'initial_access_token.created',
      target: `initial_access_token:${id}`,
      data,
    });
    return stored;
  });
  return { made, token };
}

/** Takes a token back; clients that registered with it stay. False when there is none. */
export async function removeInitialAccessToken(administration: Administration, tenant: TenantId, id: string, by: By): Promise<boolean> {
  return administration.database.write(tenant, async (queries) => {
    if (!(await deleteInitialAccessToken(queries, tenant, id))) return false;
    await recordAct(queries, administration, tenant, by, { type: 'initial_access_token.deleted', target: `initial_access_token:${id}` });
    return true;
  });
}

interface RegisteredClient extends ClientWithSecret {
  /** What the client manages itself with: shown now, it cannot be read again. */
  readonly registrationToken: string;
}

/** Registers a client with one use of a token (`spent`: none was left), which is taken only together with the registration. */
export async function registerClient(
  administration: Administration,
  tenant: TenantId,
  initial: InitialAccessToken,
  change: ClientChange,
  requestId: string,
): Promise<({ readonly ok: true } & RegisteredClient) | Refused | { readonly ok: false; readonly reason: 'spent' }> {
  const prepared = await prepareClient(administration, tenant, change);
  if (!prepared.ok) return prepared;
  const registrationToken = randomSecret();
  const by = { actor: `initial_access_token:${initial.id}`, requestId };
  return administration.cache.write(tenant, async (queries) => {
    if (!(await useInitialAccessToken(queries, tenant, initial.id))) return fail('spent');
    const client = await storeClient(queries, administration, tenant, prepared.client, by);
    const { clientId } = client;
    await insertClientRegistration(queries, tenant, { clientId, tokenHash: hashSecret(registrationToken), policy: initial.policy });
    return { ok: true, client, secret: prepared.secret, registrationToken };
  });
}

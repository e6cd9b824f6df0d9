// `/service-providers/{id}/signing-keys`: the keys that sign for one provider alone, and their rotation. They come into being when
// `signing_key` is `own` and somebody looks; they sign from their first rotation on.
import Type from 'typebox';
import type { TenantId } from '../../domain/ids.ts';
import type { ServiceProvider } from '../../domain/saml/service-provider.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findServiceProvider } from '../../storage/registry/service-providers.ts';
import { listOwnKeys } from '../../storage/registry/signing-keys.ts';
import { findMetadataRead } from '../../storage/saml/metadata-reads.ts';
import { requireOwnKeys, rotateOwnKeys } from '../../tokens/own-saml-keys.ts';
import { type Call, conflict, type Endpoint, endpoint, type Json, type ManagementDeps, notFound } from '../endpoint.ts';
import { closed, listAnswer } from '../schemas.ts';
import { keyAnswer, keyToJson, rotatedKey } from '../tenant/signing-keys.ts';

const path = '/service-providers/:id/signing-keys';
const rotateBody = closed({
  force: Type.Optional(Type.Boolean({ description: 'sign with the next key before the provider had 30 days to read it' })),
});

export const providerKeyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path,
    capability: 'signing-keys:read',
    summary: "List a service provider's own keys; none while it has always had the tenant's",
    answer: listAnswer(keyAnswer),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const provider = await loadProvider(services, tenant.id, params['id']!);
      await requireOwnKeys(services, tenant, provider);
      return services.database.read(tenant.id, async (queries) => ({ items: await ownKeysToJson(queries, tenant.id, provider) }));
    },
  }),
  endpoint({
    method: 'POST',
    path,
    capability: 'signing-keys:write',
    summary: "Rotate a service provider's own keys; the first rotation takes over from the tenant's key",
    body: rotateBody,
    answer: keyAnswer,
    status: 201,
    handle: rotate,
  }),
];

async function rotate(call: Call<undefined, Type.Static<typeof rotateBody>>): Promise<Json> {
  const { services, tenant, params, body, actor, requestId } = call;
  const provider = await loadProvider(services, tenant.id, params['id']!);
  if (provider.signingKey !== 'own') throw conflict('signing_key', 'The key of the tenant signs for it. Set "signing_key": "own" first.');
  const rotation = await rotateOwnKeys(services, tenant, provider, { actor, requestId, force: body.force ?? false });
  return rotatedKey(services, tenant.id, rotation);
}

async function loadProvider({ database }: Pick<ManagementDeps, 'database'>, tenant: TenantId, id: string): Promise<ServiceProvider> {
  const provider = await database.read(tenant, (queries) => findServiceProvider(queries, tenant, id));
  if (provider === undefined) throw notFound('unknown_service_provider');
  return provider;
}

async function ownKeysToJson(queries: Queries, tenant: TenantId, { id, name }: ServiceProvider): Promise<readonly Json[]> {
  const keys = await listOwnKeys(queries, tenant, id);
  const readAtMs = (await findMetadataRead(queries, tenant, id)) ?? 0;
  return keys.map((key) => keyToJson(key, key.state === 'next' && readAtMs < key.created_at ? [{ id, name }] : []));
}

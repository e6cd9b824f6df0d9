// `/signing-keys`: what a tenant signs with, and rotation. The next key is published before it signs; retired ones verify on.
import Type from 'typebox';
import { rotateSigningKey } from '../../administration/signing-keys.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findSigningKey, listSigningKeys, type StoredSigningKey } from '../../storage/registry/signing-keys.ts';
import { listStaleProviders, type StaleProvider } from '../../storage/saml/metadata-reads.ts';
import { rotateSamlKeys, type SamlRotation, samlKeysOf } from '../../tokens/saml-keys.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, type ManagementDeps } from '../endpoint.ts';
import { closed, dateTime, listAnswer, nullable, oneOf } from '../schemas.ts';

/** A key as the API shows it. */
export const keyAnswer = Type.Object({
  kid: Type.String(),
  use: oneOf(['oidc', 'saml']),
  alg: Type.String(),
  state: oneOf(['next', 'current', 'retired']),
  public_jwk: Type.Object({}),
  certificate: nullable(Type.String()),
  created_at: dateTime,
  activated_at: nullable(dateTime),
  retired_at: nullable(dateTime),
  rotatable_at: nullable(dateTime),
  stale: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }), {
    description: 'service providers that have not fetched their metadata address since this next key appeared; at most 100',
  }),
});
const rotateBody = closed({
  use: oneOf(['oidc', 'saml']),
  alg: Type.Optional(oneOf(['ES256', 'RS256', 'EdDSA'])),
  force: Type.Optional(Type.Boolean({ description: 'saml: sign with the next key before providers had 30 days to read it' })),
});

const staleProvidersMax = 100;

export const signingKeyEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/signing-keys',
    capability: 'signing-keys:read',
    summary: 'List keys: next, current and retired',
    answer: listAnswer(keyAnswer),
    status: 200,
    handle: async ({ services, tenant }) => {
      await samlKeysOf(services, tenant); // made on first use: looking at them is one
      return services.database.read(tenant.id, async (queries) => {
        const items = [];
        for (const key of await listSigningKeys(queries, tenant.id)) items.push(keyToJson(key, await readersOf(queries, tenant.id, key)));
        return { items };
      });
    },
  }),
  endpoint({
    method: 'POST',
    path: '/signing-keys',
    capability: 'signing-keys:write',
    summary: 'Rotate: the next key becomes current, a new next one is published; answers the new current key',
    body: rotateBody,
    answer: keyAnswer,
    status: 201,
    handle: rotate,
  }),
];

async function rotate({ services, tenant, body, actor, requestId }: Call<undefined, Type.Static<typeof rotateBody>>): Promise<Json> {
  const by = { actor, requestId };
  if (body.use === 'saml') {
    if (body.alg !== undefined && body.alg !== 'RS256') throw invalidField('alg', 'This field must be RS256 for saml.');
    const rotation = await rotateSamlKeys(services, tenant, { ...by, force: body.force ?? false });
    return rotatedKey(services, tenant.id, rotation);
  }
  if (body.force !== undefined) throw invalidField('force', 'This field is for saml: OIDC clients read keys when they meet a new one.');
  const current = await rotateSigningKey(services, tenant.id, body.alg ?? tenant.settings.access_token_alg, by);
  if (current === undefined) throw anotherCameFirst();
  return keyToJson(current);
}

/** The key that a rotation made current. @throws management.conflict when it did not */
export async function rotatedKey({ database }: Pick<ManagementDeps, 'database'>, tenant: TenantId, rotation: SamlRotation): Promise<Json> {
  if (!rotation.ok) throw rotation.reason === 'next_key_too_young' ? nextKeyTooYoung(rotation.signsFromMs) : anotherCameFirst();
  const current = await database.read(tenant, (queries) => findSigningKey(queries, tenant, rotation.kid));
  if (current === undefined) throw anotherCameFirst();
  return keyToJson(current);
}

const anotherCameFirst = (): Error => conflict('use', 'Another rotation came first.');

function nextKeyTooYoung(signsFromMs: number): Error {
  const day = isoTime(signsFromMs).slice(0, 10);
  return conflict(
    'next_key_too_young',
    `The next certificate may sign from ${day}, when service providers had 30 days to read it. Send "force": true to sign with it now.`,
  );
}

/** Who has not read a next SAML key yet. */
async function readersOf(queries: Queries, tenant: TenantId, key: StoredSigningKey): Promise<readonly StaleProvider[]> {
  if (key.use !== 'saml' || key.state !== 'next') return [];
  return listStaleProviders(queries, tenant, key.created_at, staleProvidersMax);
}

/** Public parts only. */
export function keyToJson(key: StoredSigningKey, stale: readonly StaleProvider[] = []): Json {
  const time = (epochMs: number | null): string | null => (epochMs === null ? null : isoTime(epochMs));
  return {
    kid: key.kid,
    use: key.use === 'oidc' ? key.use : 'saml',
    alg: key.alg,
    state: key.state,
    public_jwk: JSON.parse(key.public_jwk),
    certificate: key.certificate,
    created_at: isoTime(key.created_at),
    activated_at: time(key.activated_at),
    retired_at: time(key.retired_at),
    rotatable_at: key.use !== 'oidc' && key.state === 'next' ? isoTime(key.signs_from ?? key.created_at) : null,
    stale,
  };
}

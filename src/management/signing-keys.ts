// `/signing-keys`: what a tenant signs with, and rotation. The next key is published before it signs; retired ones verify on.
import Type from 'typebox';
import { rotateSigningKey } from '../administration/signing-keys.ts';
import { listSigningKeys, type SigningKeyTable } from '../storage/signing-keys.ts';
import { rotateSamlKeys, samlKeysOf } from '../tokens/saml-keys.ts';
import { type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json } from './endpoint.ts';
import { closed, dateTime, listAnswer, nullable, oneOf } from './schemas.ts';

const keyAnswer = Type.Object({
  kid: Type.String(),
  use: oneOf(['oidc', 'saml']),
  alg: Type.String(),
  state: oneOf(['next', 'current', 'retired']),
  public_jwk: Type.Object({}),
  certificate: nullable(Type.String()),
  created_at: dateTime,
  activated_at: nullable(dateTime),
  retired_at: nullable(dateTime),
});
const rotateBody = closed({ use: oneOf(['oidc', 'saml']), alg: Type.Optional(oneOf(['ES256', 'RS256', 'EdDSA'])) });

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
      const keys = await services.database.read(tenant.id, (queries) => listSigningKeys(queries, tenant.id));
      return { items: keys.map(keyToJson) };
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
    const kid = await rotateSamlKeys(services, tenant, by);
    const keys = await services.database.read(tenant.id, (queries) => listSigningKeys(queries, tenant.id));
    const current = keys.find((key) => key.kid === kid);
    if (current === undefined) throw conflict('use', 'Another rotation came first.');
    return keyToJson(current);
  }
  const current = await rotateSigningKey(services, tenant.id, body.alg ?? tenant.settings.access_token_alg, by);
  if (current === undefined) throw conflict('use', 'Another rotation came first.');
  return keyToJson(current);
}

/** Public parts only. */
function keyToJson(key: SigningKeyTable): Json {
  const time = (epochMs: number | null): string | null => (epochMs === null ? null : isoTime(epochMs));
  return {
    kid: key.kid,
    use: key.use,
    alg: key.alg,
    state: key.state,
    public_jwk: JSON.parse(key.public_jwk),
    certificate: key.certificate,
    created_at: isoTime(key.created_at),
    activated_at: time(key.activated_at),
    retired_at: time(key.retired_at),
  };
}

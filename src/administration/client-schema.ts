// The shape of a client's registered values, for the Management API and for documents of export and import alike. What they
// mean together is checked by client-fields.ts.
import Type from 'typebox';
import { jwksKeysMax, scopeNameCharsMax, scopesPerListMax, urisPerListMax, urlCharsMax } from '../contract/limits.ts';
import { clientGrantTypes } from './client-fields.ts';
import { nullable, oneOf } from './schema-pieces.ts';

const uri = Type.String({ minLength: 1, maxLength: urlCharsMax });
const uris = Type.Array(uri, { maxItems: urisPerListMax });
const scopes = Type.Array(Type.String({ minLength: 1, maxLength: scopeNameCharsMax }), { maxItems: scopesPerListMax });
const jwks = Type.Object({ keys: Type.Array(Type.Object({}), { minItems: 1, maxItems: jwksKeysMax }) });

export const clientSchema = {
  jwks: nullable(jwks),
  jwks_uri: nullable(uri),
  redirect_uris: uris,
  post_logout_redirect_uris: uris,
  grant_types: Type.Array(oneOf(clientGrantTypes)),
  scopes,
  resources: uris,
  require_pkce: Type.Boolean(),
  require_par: Type.Boolean(),
  require_consent: Type.Boolean(),
  authorize_error_delivery: oneOf(['direct', 'redirect']),
  id_token_signed_response_alg: oneOf(['ES256', 'RS256', 'EdDSA']),
  backchannel_token_delivery_mode: nullable(oneOf(['poll', 'ping', 'push'])),
  backchannel_client_notification_endpoint: nullable(uri),
  backchannel_logout_uri: nullable(uri),
  access_policy: oneOf(['everyone', 'assigned']),
  refresh_reuse_leeway_seconds: Type.Integer({ minimum: 0, maximum: 3600 }),
  logo_uri: nullable(uri),
  enabled: Type.Boolean(),
};

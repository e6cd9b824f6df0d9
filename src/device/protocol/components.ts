// The payloads that several calls of the device plane share, by the names the document and the protocol's description give them.
import { pushTokenCharsMax } from '../../contract/limits.ts';
import { androidFormat, appleFormat, playFormat } from '../../domain/device/attestation-formats.ts';
import { about, base64, flag, list, maybeWord, object, oneOf, part, type Shape, time, uuid, whole, word } from './shapes.ts';

const algs = oneOf('ES256', 'EdDSA', 'RS256', 'WebAuthn-ES256', 'WebAuthn-RS256');
const purpose = oneOf('pop', 'uv');
const initiated = object({ at: time, ip: maybeWord, user_agent: maybeWord });

export const components: Readonly<Record<string, Shape>> = {
  Device: object({
    platform: oneOf('ios', 'android', 'web', 'other'),
    name: word,
    'model?': maybeWord,
    'os_version?': maybeWord,
    'app_version?': maybeWord,
  }),
  NewKeys: {
    ...list(object({ key_id: uuid, purpose, alg: algs, public_key: about(base64, 'SPKI DER, canonical') })),
    minItems: 1,
    maxItems: 2,
  },
  Keys: list(
    object({ key_id: uuid, purpose, alg: algs, 'created_at?': time, 'rotated_at?': { type: ['string', 'null'], format: 'date-time' } }),
  ),
  Pin: object({ length: whole, ttl_seconds: whole, resend_after_seconds: whole }),
  AttestationAsked: object({ challenge: word, formats: list(word), required: flag }),
  Attestation: {
    type: 'object',
    oneOf: [
      object({ format: oneOf(appleFormat), key_id: base64, attestation_object: base64 }),
      object({ format: oneOf(androidFormat), keys: list(object({ key_id: uuid, x5c: list(base64) })) }),
      object({ format: oneOf(playFormat), token: word }),
    ],
  },
  User: object({
    id: word,
    user_name: maybeWord,
    display_name: maybeWord,
    given_name: maybeWord,
    family_name: maybeWord,
    email: maybeWord,
  }),
  Self: object({
    device_id: uuid,
    platform: word,
    name: word,
    model: maybeWord,
    os_version: maybeWord,
    app_version: maybeWord,
    push_provider: oneOf('apns', 'fcm', 'web', 'none'),
    created_at: time,
    user: part('User'),
    keys: part('Keys'),
    server_time: about(whole, 'Unix milliseconds'),
  }),
  Requester: {
    type: ['object', 'null'],
    properties: { client_id: word, entity_id: maybeWord, name: maybeWord, logo_uri: maybeWord },
    description: 'An application or a service provider; null when a device asks to be added.',
  },
  Approval: object({
    id: word,
    type: oneOf('oidc_login', 'saml_login', 'ciba', 'device_add'),
    client: part('Requester'),
    binding_message: maybeWord,
    scopes: list(word),
    initiated,
    match: object({ required: flag, digits: whole }),
    expires_at: time,
    'device?': object({ id: uuid, platform: maybeWord, name: maybeWord, model: maybeWord }),
    context_sha256: about(word, 'Binds the approval to what was shown.'),
  }),
  Decision: object({
    at: time,
    type: word,
    client: part('Requester'),
    initiated: { anyOf: [initiated, { type: 'null' }] },
    state: oneOf('approved', 'denied'),
    by_this_device: flag,
  }),
  PushToken: { type: 'string', minLength: 1, maxLength: pushTokenCharsMax },
  Refusal: object({ error: word, message: word, 'kind?': word }),
};

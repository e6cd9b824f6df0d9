// The shape and bounds of tenant settings (design 02), for whoever writes them: the Management API and imported documents.
import Type, { type TSchema } from 'typebox';
import { brandingEntriesMax, countMax, lifetimeSecondsMax, listedNamesMax, textCharsMax } from '../contract/limits.ts';
import { defaultSettings } from '../domain/settings.ts';
import { closed, nullable, oneOf } from './schema-pieces.ts';

const seconds = Type.Integer({ minimum: 1, maximum: lifetimeSecondsMax });
const count = Type.Integer({ minimum: 1, maximum: countMax });
const text = Type.String({ minLength: 1, maxLength: textCharsMax });
const texts = Type.Array(text, { maxItems: listedNamesMax });
const alg = oneOf(['ES256', 'RS256', 'EdDSA']);
export const rateLimitFields = { limit: count, period_seconds: seconds };

const pin = {
  length: Type.Integer({ minimum: 4, maximum: 10 }),
  attempts_max: count,
  lifetime_seconds: seconds,
  resend_cooldown_seconds: seconds,
  sends_per_hour_max: count,
  failures_per_day_max: count,
};
const device = {
  clock_skew_seconds: Type.Integer({ minimum: 0, maximum: 3600 }),
  protocol_version_current: count,
  protocol_version_min: count,
  allowed_algs: Type.Array(oneOf(['ES256', 'EdDSA', 'RS256']), { minItems: 1, uniqueItems: true }),
  rotation_nonce_lifetime_seconds: seconds,
  rotation_overlap_seconds: seconds,
  additional_device: oneOf(['existing_device', 'admin', 'email_pin']),
};
const attestation = {
  mode: oneOf(['off', 'monitor', 'enforce']),
  apple: partial({ app_ids: texts, environments: Type.Array(oneOf(['production', 'development']), { uniqueItems: true }) }),
  android: partial({
    packages: texts,
    signing_digests: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: listedNamesMax }),
  }),
  play_integrity: nullable(closed({ decryption_key: text, verification_key: text })),
};
const fields = {
  access_token_lifetime_seconds: seconds,
  id_token_lifetime_seconds: seconds,
  authorization_code_lifetime_seconds: seconds,
  par_lifetime_seconds: seconds,
  refresh_token_idle_seconds: seconds,
  refresh_token_absolute_seconds: seconds,
  access_token_alg: alg,
  ciba_lifetime_seconds: seconds,
  ciba_interval_seconds: seconds,
  login_lifetime_seconds: seconds,
  saml_session_lifetime_seconds: seconds,
  pin: partial(pin),
  registration_token_lifetime_seconds: seconds,
  verified_token_lifetime_seconds: seconds,
  enrollment_token_lifetime_seconds: seconds,
  device: partial(device),
  attestation: partial(attestation),
  signup_enabled: Type.Boolean(),
  login_methods: Type.Array(oneOf(['phone', 'passkey', 'email_pin']), { minItems: 1, uniqueItems: true }),
  sso_session: Type.Boolean(),
  scim: partial({ infer_primary: Type.Boolean() }),
  branding: Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: textCharsMax }), { maxProperties: brandingEntriesMax }),
  rate_limits: partial(Object.fromEntries(Object.keys(defaultSettings.rate_limits).map((limit) => [limit, partialLimit()]))),
};
/** A change of settings: any of them, object by object. */
export const settingsChange = partial(fields);

function partial(properties: Readonly<Record<string, TSchema>>) {
  return Type.Partial(closed(properties), { additionalProperties: false });
}

/** A limit may be changed in one of its two numbers while it is on. */
function partialLimit(): TSchema {
  return nullable(partial(rateLimitFields));
}

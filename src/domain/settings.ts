// Tenant settings: shape, defaults and bounds (design 02). Stored as the difference from the defaults, merged on load.

export interface RateLimitSetting {
  readonly limit: number;
  readonly period_seconds: number;
}

export const defaultSettings = {
  access_token_lifetime_seconds: 900,
  id_token_lifetime_seconds: 900,
  authorization_code_lifetime_seconds: 60,
  par_lifetime_seconds: 60,
  refresh_token_idle_seconds: 1_209_600,
  refresh_token_absolute_seconds: 7_776_000,
  access_token_alg: 'ES256' as 'ES256' | 'RS256' | 'EdDSA',
  ciba_lifetime_seconds: 300,
  ciba_interval_seconds: 5,
  login_lifetime_seconds: 300,
  saml_session_lifetime_seconds: 600,
  pin: { length: 6, attempts_max: 5, lifetime_seconds: 600, resend_cooldown_seconds: 60, sends_per_hour_max: 5, failures_per_day_max: 20 },
  registration_token_lifetime_seconds: 900,
  verified_token_lifetime_seconds: 600,
  enrollment_token_lifetime_seconds: 86_400,
  device: {
    clock_skew_seconds: 300,
    protocol_version_current: 1,
    protocol_version_min: 1,
    allowed_algs: ['ES256', 'EdDSA', 'RS256'] as readonly string[],
    rotation_nonce_lifetime_seconds: 600,
    rotation_overlap_seconds: 86_400,
    additional_device: 'existing_device' as 'existing_device' | 'admin' | 'email_pin',
  },
  attestation: {
    mode: 'off' as 'off' | 'monitor' | 'enforce',
    apple: { app_ids: [] as readonly string[], environments: ['production'] as readonly string[] },
    android: { packages: [] as readonly string[], signing_digests: [] as readonly string[] },
    play_integrity: null as Readonly<Record<string, unknown>> | null,
  },
  signup_enabled: false,
  login_methods: ['phone', 'passkey'] as readonly string[],
  sso_session: false,
  scim: { infer_primary: false },
  branding: {} as Readonly<Record<string, string>>,
  rate_limits: {
    client_auth_failures_per_ip: { limit: 60, period_seconds: 60 } as RateLimitSetting | null,
    login_starts_per_ip: { limit: 60, period_seconds: 60 } as RateLimitSetting | null,
    pin_attempts_per_ip: { limit: 30, period_seconds: 60 } as RateLimitSetting | null,
    device_requests_per_ip: { limit: 120, period_seconds: 60 } as RateLimitSetting | null,
    device_requests_per_device: { limit: 60, period_seconds: 60 } as RateLimitSetting | null,
    registration_starts_per_ip: { limit: 10, period_seconds: 3600 } as RateLimitSetting | null,
    registration_starts_per_email: { limit: 5, period_seconds: 3600 } as RateLimitSetting | null,
    ciba_starts_per_client: { limit: 120, period_seconds: 60 } as RateLimitSetting | null,
    approvals_per_user: { limit: 10, period_seconds: 3600 } as RateLimitSetting | null,
    approvals_pending_per_user: { limit: 3, period_seconds: 300 } as RateLimitSetting | null,
    token_requests_per_client: null as RateLimitSetting | null,
    userinfo_requests_per_ip: null as RateLimitSetting | null,
    scim_requests_per_client: null as RateLimitSetting | null,
    management_requests_per_client: null as RateLimitSetting | null,
  },
} as const;

type Widen<T> = T extends number
  ? number
  : T extends boolean
    ? boolean
    : T extends readonly unknown[]
      ? T
      : T extends object
        ? { readonly [K in keyof T]: Widen<T[K]> }
        : T;
export type Settings = Widen<typeof defaultSettings>;
export type RateLimitName = keyof Settings['rate_limits'];

type Json = Readonly<Record<string, unknown>>;
const isPlainObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Overlays stored differences on the defaults, object by object; lists and null replace. */
export function mergeSettings(stored: Json): Settings {
  return merge(defaultSettings, stored) as unknown as Settings; // stored values were validated when they were written
}

/** Merges `change` into `base` key by key (the PATCH rule of design 02): null never deletes a key. */
export function merge(base: Json, change: Json): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined;
    merged[key] = isPlainObject(before) && isPlainObject(value) ? merge(before, value) : value;
  }
  return merged;
}

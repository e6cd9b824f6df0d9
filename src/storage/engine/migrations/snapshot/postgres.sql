-- The schema as the migrations leave it, for a new database. Written by `npm run migration`; do not edit.
CREATE TABLE instance (
  key text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  CONSTRAINT instance_pkey PRIMARY KEY (key)
);

CREATE TABLE config_epochs (
  tenant_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  changed_at bigint NOT NULL,
  sequence bigint NOT NULL DEFAULT 0,
  CONSTRAINT config_epochs_pkey PRIMARY KEY (tenant_id)
);

CREATE TABLE tenants (
  tenant_id text COLLATE "C" NOT NULL,
  slug text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  domain text COLLATE "C",
  enabled bigint NOT NULL DEFAULT 1,
  settings text COLLATE "C" NOT NULL DEFAULT '{}'::text,
  secret_encrypted text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  moving text COLLATE "C",
  has_webhooks bigint NOT NULL DEFAULT 0,
  has_streams bigint NOT NULL DEFAULT 0,
  has_connectors bigint NOT NULL DEFAULT 0,
  pending_domain text COLLATE "C",
  pending_verified_at bigint,
  directories_due_at bigint,
  CONSTRAINT tenants_pkey PRIMARY KEY (tenant_id),
  CONSTRAINT tenants_slug_key UNIQUE (slug),
  CONSTRAINT tenants_domain_key UNIQUE (domain)
);

CREATE TABLE signing_keys (
  tenant_id text COLLATE "C" NOT NULL,
  kid text COLLATE "C" NOT NULL,
  use text COLLATE "C" NOT NULL,
  alg text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  private_key_encrypted text COLLATE "C" NOT NULL,
  public_jwk text COLLATE "C" NOT NULL,
  certificate text COLLATE "C",
  created_at bigint NOT NULL,
  activated_at bigint,
  retired_at bigint,
  signs_from bigint,
  CONSTRAINT signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'current'::text, 'retired'::text]))),
  CONSTRAINT signing_keys_pkey PRIMARY KEY (tenant_id, kid)
);

CREATE TABLE clients (
  tenant_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  token_endpoint_auth_method text COLLATE "C" NOT NULL,
  secret_hash text COLLATE "C",
  secret_encrypted text COLLATE "C",
  jwks text COLLATE "C",
  jwks_uri text COLLATE "C",
  redirect_uris text COLLATE "C" NOT NULL,
  post_logout_redirect_uris text COLLATE "C" NOT NULL,
  grant_types text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  resources text COLLATE "C" NOT NULL,
  require_pkce bigint NOT NULL,
  require_par bigint NOT NULL,
  require_consent bigint NOT NULL,
  authorize_error_delivery text COLLATE "C" NOT NULL,
  id_token_signed_response_alg text COLLATE "C" NOT NULL,
  backchannel_token_delivery_mode text COLLATE "C",
  backchannel_client_notification_endpoint text COLLATE "C",
  access_policy text COLLATE "C" NOT NULL,
  refresh_reuse_leeway_seconds bigint NOT NULL,
  logo_uri text COLLATE "C",
  enabled bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  backchannel_logout_uri text COLLATE "C",
  profile text COLLATE "C",
  dpop_bound_access_tokens bigint NOT NULL DEFAULT 0,
  require_signed_request_object bigint NOT NULL DEFAULT 0,
  tls_client_auth_subject_dn text COLLATE "C",
  tls_client_auth_san_dns text COLLATE "C",
  tls_client_auth_san_uri text COLLATE "C",
  tls_client_auth_san_ip text COLLATE "C",
  tls_client_auth_san_email text COLLATE "C",
  tls_client_certificate_bound_access_tokens bigint NOT NULL DEFAULT 0,
  mappings text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  created_by text COLLATE "C",
  secret_by text COLLATE "C",
  secret_at bigint,
  origin text COLLATE "C",
  expires_at bigint,
  serves text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  exchange text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  workloads text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  cross_app_access text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  CONSTRAINT clients_type_check CHECK ((type = ANY (ARRAY['confidential'::text, 'public'::text]))),
  CONSTRAINT clients_access_policy_check CHECK ((access_policy = ANY (ARRAY['everyone'::text, 'assigned'::text]))),
  CONSTRAINT clients_authorize_error_delivery_check CHECK ((authorize_error_delivery = ANY (ARRAY['direct'::text, 'redirect'::text]))),
  CONSTRAINT clients_pkey PRIMARY KEY (tenant_id, client_id)
);

CREATE TABLE resources (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  identifier text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  access_token_lifetime_seconds bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  clients text COLLATE "C" NOT NULL DEFAULT 'listed'::text,
  refresh bigint NOT NULL DEFAULT 1,
  unknown_access_policy text COLLATE "C" NOT NULL DEFAULT 'everyone'::text,
  documentation_uri text COLLATE "C",
  CONSTRAINT resources_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT resources_tenant_id_identifier_key UNIQUE (tenant_id, identifier)
);

CREATE TABLE users (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_name text COLLATE "C",
  user_name_key text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  external_id text COLLATE "C",
  display_name text COLLATE "C",
  given_name text COLLATE "C",
  family_name text COLLATE "C",
  middle_name text COLLATE "C",
  honorific_prefix text COLLATE "C",
  honorific_suffix text COLLATE "C",
  name_formatted text COLLATE "C",
  nick_name text COLLATE "C",
  profile_url text COLLATE "C",
  title text COLLATE "C",
  user_type text COLLATE "C",
  preferred_language text COLLATE "C",
  locale text COLLATE "C",
  timezone text COLLATE "C",
  origin text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL DEFAULT 'user'::text,
  version bigint NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  employee_number text COLLATE "C",
  cost_center text COLLATE "C",
  organization text COLLATE "C",
  division text COLLATE "C",
  department text COLLATE "C",
  manager_value text COLLATE "C",
  manager_display_name text COLLATE "C",
  name_formatted_key text COLLATE "C",
  family_name_key text COLLATE "C",
  given_name_key text COLLATE "C",
  middle_name_key text COLLATE "C",
  honorific_prefix_key text COLLATE "C",
  honorific_suffix_key text COLLATE "C",
  display_name_key text COLLATE "C",
  nick_name_key text COLLATE "C",
  title_key text COLLATE "C",
  user_type_key text COLLATE "C",
  preferred_language_key text COLLATE "C",
  locale_key text COLLATE "C",
  timezone_key text COLLATE "C",
  employee_number_key text COLLATE "C",
  cost_center_key text COLLATE "C",
  organization_key text COLLATE "C",
  division_key text COLLATE "C",
  department_key text COLLATE "C",
  manager_display_name_key text COLLATE "C",
  user_name_reversed text COLLATE "C",
  family_name_reversed text COLLATE "C",
  given_name_reversed text COLLATE "C",
  display_name_reversed text COLLATE "C",
  external_id_reversed text COLLATE "C",
  custom text COLLATE "C",
  CONSTRAINT users_state_check CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'deleted'::text]))),
  CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['user'::text, 'admin'::text]))),
  CONSTRAINT users_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT users_tenant_id_user_name_key_key UNIQUE (tenant_id, user_name_key)
);

CREATE TABLE user_emails (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  value text COLLATE "C" NOT NULL,
  value_key text COLLATE "C" NOT NULL,
  type text COLLATE "C",
  display text COLLATE "C",
  is_primary bigint NOT NULL DEFAULT 0,
  type_key text COLLATE "C",
  display_key text COLLATE "C",
  value_reversed text COLLATE "C",
  CONSTRAINT user_emails_pkey PRIMARY KEY (tenant_id, user_id, "position"),
  CONSTRAINT user_emails_tenant_id_value_key_key UNIQUE (tenant_id, value_key)
);

CREATE TABLE groups (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  display_name text COLLATE "C" NOT NULL,
  display_name_key text COLLATE "C" NOT NULL,
  origin text COLLATE "C" NOT NULL,
  external_id text COLLATE "C",
  version bigint NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  display_name_reversed text COLLATE "C",
  external_id_reversed text COLLATE "C",
  CONSTRAINT groups_origin_check CHECK ((origin = ANY (ARRAY['console'::text, 'scim'::text]))),
  CONSTRAINT groups_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT groups_tenant_id_display_name_key_key UNIQUE (tenant_id, display_name_key)
);

CREATE TABLE group_members (
  tenant_id text COLLATE "C" NOT NULL,
  group_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  user_created_at bigint NOT NULL DEFAULT 0,
  CONSTRAINT group_members_pkey PRIMARY KEY (tenant_id, group_id, user_id)
);

CREATE TABLE access_assignments (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  target_kind text COLLATE "C" NOT NULL,
  target_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  group_id text COLLATE "C",
  created_at bigint NOT NULL,
  CONSTRAINT access_assignments_check CHECK (((user_id IS NULL) <> (group_id IS NULL))),
  CONSTRAINT access_assignments_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT access_assignments_tenant_id_target_kind_target_id_user_id_key UNIQUE (tenant_id, target_kind, target_id, user_id),
  CONSTRAINT access_assignments_tenant_id_target_kind_target_id_group_id_key UNIQUE (tenant_id, target_kind, target_id, group_id),
  CONSTRAINT access_assignments_target_kind_check CHECK ((target_kind = ANY (ARRAY['client'::text, 'service_provider'::text, 'resource'::text])))
);

CREATE TABLE grants (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  resource text COLLATE "C",
  auth_time bigint NOT NULL,
  acr text COLLATE "C",
  amr text COLLATE "C" NOT NULL,
  nonce text COLLATE "C",
  max_age bigint,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  revoked_reason text COLLATE "C",
  dpop_jkt text COLLATE "C",
  sso_session_id text COLLATE "C",
  authorized_at bigint,
  claims text COLLATE "C",
  certificate_thumbprint text COLLATE "C",
  hook_claims text COLLATE "C",
  external_identity_id text COLLATE "C",
  organization_id text COLLATE "C",
  CONSTRAINT grants_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE authorization_codes (
  tenant_id text COLLATE "C" NOT NULL,
  code_hash text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  redirect_uri text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  resource text COLLATE "C",
  nonce text COLLATE "C",
  code_challenge text COLLATE "C",
  max_age bigint,
  auth_time bigint NOT NULL,
  acr text COLLATE "C",
  amr text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  dpop_jkt text COLLATE "C",
  sso_session_id text COLLATE "C",
  authorized_at bigint,
  claims text COLLATE "C",
  certificate_thumbprint text COLLATE "C",
  hook_claims text COLLATE "C",
  external_identity_id text COLLATE "C",
  organization_id text COLLATE "C",
  CONSTRAINT authorization_codes_pkey PRIMARY KEY (tenant_id, code_hash)
);

CREATE TABLE refresh_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  generation bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  successor_encrypted text COLLATE "C",
  CONSTRAINT refresh_tokens_pkey PRIMARY KEY (tenant_id, token_hash),
  CONSTRAINT refresh_tokens_tenant_id_grant_id_generation_key UNIQUE (tenant_id, grant_id, generation)
);

CREATE TABLE revoked_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  jti text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT revoked_tokens_pkey PRIMARY KEY (tenant_id, jti)
);

CREATE TABLE audit_events (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  request_id text COLLATE "C",
  actor text COLLATE "C",
  target text COLLATE "C",
  row_id text COLLATE "C",
  reason text COLLATE "C",
  received text COLLATE "C",
  expected text COLLATE "C",
  data text COLLATE "C",
  user_id text COLLATE "C",
  seq bigint,
  CONSTRAINT audit_events_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE approvals (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  user_id text COLLATE "C",
  subject_key text COLLATE "C" NOT NULL,
  client_id text COLLATE "C",
  service_provider_id text COLLATE "C",
  new_device_id text COLLATE "C",
  scope text COLLATE "C",
  binding_message text COLLATE "C",
  number text COLLATE "C",
  on_devices bigint NOT NULL DEFAULT 0,
  initiated_ip text COLLATE "C",
  initiated_user_agent text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  decided_at bigint,
  method text COLLATE "C",
  acr text COLLATE "C",
  amr text COLLATE "C",
  decided_by text COLLATE "C",
  deny_reason text COLLATE "C",
  claimed_by text COLLATE "C",
  transaction_id text COLLATE "C",
  claimed_as text COLLATE "C",
  asked_by text COLLATE "C",
  CONSTRAINT approvals_kind_check CHECK ((kind = ANY (ARRAY['oidc_login'::text, 'saml_login'::text, 'ciba'::text, 'device_add'::text]))),
  CONSTRAINT approvals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'expired'::text]))),
  CONSTRAINT approvals_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE login_transactions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  binding_hash text COLLATE "C" NOT NULL,
  step text COLLATE "C" NOT NULL DEFAULT 'identify'::text,
  client_id text COLLATE "C",
  service_provider_id text COLLATE "C",
  display_name text COLLATE "C",
  redirect_uri text COLLATE "C",
  scope text COLLATE "C",
  resource text COLLATE "C",
  request_state text COLLATE "C",
  nonce text COLLATE "C",
  code_challenge text COLLATE "C",
  dpop_jkt text COLLATE "C",
  max_age bigint,
  acr_values text COLLATE "C",
  prompt text COLLATE "C",
  login_hint text COLLATE "C",
  ui_locales text COLLATE "C",
  saml_session_sealed text COLLATE "C",
  identifier text COLLATE "C",
  user_id text COLLATE "C",
  subject_key text COLLATE "C",
  mail_key text COLLATE "C",
  methods text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  approval_id text COLLATE "C",
  initiated_ip text COLLATE "C",
  initiated_user_agent text COLLATE "C",
  lifetime_seconds bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  finished_at bigint,
  outcome text COLLATE "C",
  id_token_hint_user text COLLATE "C",
  sso_session_id text COLLATE "C",
  sso_declined bigint NOT NULL DEFAULT 0,
  keeps_session bigint NOT NULL DEFAULT 1,
  external_identity text COLLATE "C",
  response_mode text COLLATE "C",
  claims text COLLATE "C",
  essential_acr text COLLATE "C",
  provider_id text COLLATE "C",
  document_client_id text COLLATE "C",
  organization_id text COLLATE "C",
  chosen_organization_id text COLLATE "C",
  CONSTRAINT login_transactions_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text]))),
  CONSTRAINT login_transactions_step_check CHECK ((step = ANY (ARRAY['identify'::text, 'choose'::text, 'waiting'::text, 'pin'::text, 'passkey'::text]))),
  CONSTRAINT login_transactions_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE pins (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C" NOT NULL,
  mail_key text COLLATE "C" NOT NULL,
  pin_hmac text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  attempts_max bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  replaced_at bigint,
  used_at bigint,
  digits bigint NOT NULL DEFAULT 6,
  CONSTRAINT pins_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE pin_mailboxes (
  tenant_id text COLLATE "C" NOT NULL,
  mail_key text COLLATE "C" NOT NULL,
  last_sent_at bigint,
  sends bigint NOT NULL DEFAULT 0,
  sends_since bigint NOT NULL DEFAULT 0,
  failures bigint NOT NULL DEFAULT 0,
  failures_since bigint NOT NULL DEFAULT 0,
  expires_at bigint NOT NULL,
  CONSTRAINT pin_mailboxes_pkey PRIMARY KEY (tenant_id, mail_key)
);

CREATE TABLE consents (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  scope_set text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  resource text COLLATE "C",
  CONSTRAINT consents_pkey PRIMARY KEY (tenant_id, user_id, client_id, scope_set)
);

CREATE TABLE outbox_messages (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  recipient text COLLATE "C" NOT NULL,
  recipient_key text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  html text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'waiting'::text,
  attempts bigint NOT NULL DEFAULT 0,
  next_attempt_at bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  lane text COLLATE "C" NOT NULL DEFAULT ''::text,
  message_encrypted text COLLATE "C",
  waits bigint NOT NULL DEFAULT 0,
  CONSTRAINT outbox_messages_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'kept'::text, 'discarded'::text]))),
  CONSTRAINT outbox_messages_pkey PRIMARY KEY (id)
);

CREATE TABLE pushed_requests (
  tenant_id text COLLATE "C" NOT NULL,
  reference_hash text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  parameters text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  transaction_id text COLLATE "C",
  CONSTRAINT pushed_requests_pkey PRIMARY KEY (tenant_id, reference_hash)
);

CREATE TABLE dpop_proofs (
  tenant_id text COLLATE "C" NOT NULL,
  proof_hash text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT dpop_proofs_pkey PRIMARY KEY (tenant_id, proof_hash)
);

CREATE TABLE device_identifiers (
  id text COLLATE "C" NOT NULL,
  claimed_at bigint NOT NULL,
  CONSTRAINT device_identifiers_pkey PRIMARY KEY (id)
);

CREATE TABLE devices (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  platform text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  model text COLLATE "C",
  os_version text COLLATE "C",
  app_version text COLLATE "C",
  push_provider text COLLATE "C" NOT NULL DEFAULT 'none'::text,
  push_token_encrypted text COLLATE "C",
  attestation_format text COLLATE "C",
  attestation_app_id text COLLATE "C",
  attestation_public_key text COLLATE "C",
  attestation_counter bigint,
  created_at bigint NOT NULL,
  revoked_at bigint,
  last_seen_at bigint,
  key_protection text COLLATE "C",
  web_push_encrypted text COLLATE "C",
  web_push_vendor text COLLATE "C",
  push_tried_at bigint,
  push_outcome text COLLATE "C",
  push_reason text COLLATE "C",
  CONSTRAINT devices_state_check CHECK ((state = ANY (ARRAY['active'::text, 'revoked'::text]))),
  CONSTRAINT devices_push_provider_check CHECK ((push_provider = ANY (ARRAY['apns'::text, 'fcm'::text, 'none'::text]))),
  CONSTRAINT devices_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE device_keys (
  tenant_id text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  purpose text COLLATE "C" NOT NULL,
  alg text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  previous_alg text COLLATE "C",
  previous_public_key text COLLATE "C",
  previous_until bigint,
  created_at bigint NOT NULL,
  rotated_at bigint,
  revoked_at bigint,
  CONSTRAINT device_keys_purpose_check CHECK ((purpose = ANY (ARRAY['pop'::text, 'uv'::text]))),
  CONSTRAINT device_keys_pkey PRIMARY KEY (tenant_id, device_id, key_id)
);

CREATE TABLE device_key_fingerprints (
  tenant_id text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT device_key_fingerprints_pkey PRIMARY KEY (tenant_id, fingerprint)
);

CREATE TABLE device_registrations (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  email text COLLATE "C",
  email_key text COLLATE "C",
  user_id text COLLATE "C",
  given_name text COLLATE "C",
  family_name text COLLATE "C",
  locale text COLLATE "C",
  device_id text COLLATE "C" NOT NULL,
  device text COLLATE "C" NOT NULL,
  keys text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  attestation_failures bigint NOT NULL DEFAULT 0,
  challenge text COLLATE "C",
  approval_id text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  purge_at bigint NOT NULL,
  CONSTRAINT device_registrations_kind_check CHECK ((kind = ANY (ARRAY['registration'::text, 'signup'::text, 'enrollment'::text]))),
  CONSTRAINT device_registrations_state_check CHECK ((state = ANY (ARRAY['unverified'::text, 'verified'::text, 'pending_approval'::text, 'consumed'::text]))),
  CONSTRAINT device_registrations_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT device_registrations_tenant_id_token_hash_key UNIQUE (tenant_id, token_hash)
);

CREATE TABLE attestation_challenges (
  tenant_id text COLLATE "C" NOT NULL,
  challenge text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  CONSTRAINT attestation_challenges_pkey PRIMARY KEY (tenant_id, challenge)
);

CREATE TABLE enrollment_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  require_pin bigint NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  registration_id text COLLATE "C",
  CONSTRAINT enrollment_tokens_pkey PRIMARY KEY (tenant_id, token_hash)
);

CREATE TABLE device_requests (
  tenant_id text COLLATE "C" NOT NULL,
  digest text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT device_requests_pkey PRIMARY KEY (tenant_id, digest)
);

CREATE TABLE device_rotations (
  tenant_id text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  nonce text COLLATE "C" NOT NULL,
  key_ids text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  confirm_sha256 text COLLATE "C",
  answer text COLLATE "C",
  started_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT device_rotations_state_check CHECK ((state = ANY (ARRAY['open'::text, 'confirmed'::text, 'ended'::text]))),
  CONSTRAINT device_rotations_pkey PRIMARY KEY (tenant_id, device_id)
);

CREATE TABLE setup_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  roles text COLLATE "C",
  CONSTRAINT setup_tokens_pkey PRIMARY KEY (tenant_id, token_hash)
);

CREATE TABLE service_providers (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  entity_id_hash text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  acs text COLLATE "C" NOT NULL,
  signing_keys text COLLATE "C" NOT NULL,
  encryption_key text COLLATE "C",
  require_signed_requests bigint NOT NULL,
  signing text COLLATE "C" NOT NULL,
  encrypt_assertions bigint NOT NULL,
  encryption text COLLATE "C" NOT NULL,
  name_id_formats text COLLATE "C" NOT NULL,
  idp_initiated_allowed bigint NOT NULL,
  relay_states text COLLATE "C" NOT NULL,
  attribute_map text COLLATE "C" NOT NULL,
  access_policy text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  name_id_sources text COLLATE "C" NOT NULL DEFAULT '{}'::text,
  signing_key text COLLATE "C" NOT NULL DEFAULT 'tenant'::text,
  metadata_url text COLLATE "C",
  metadata_certificate text COLLATE "C",
  mappings text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  organization text COLLATE "C",
  CONSTRAINT service_providers_signing_check CHECK ((signing = ANY (ARRAY['both'::text, 'assertion'::text, 'response'::text]))),
  CONSTRAINT service_providers_access_policy_check CHECK ((access_policy = ANY (ARRAY['everyone'::text, 'assigned'::text]))),
  CONSTRAINT service_providers_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT service_providers_tenant_id_entity_id_hash_key UNIQUE (tenant_id, entity_id_hash)
);

CREATE TABLE saml_sessions (
  tenant_id text COLLATE "C" NOT NULL,
  session_hash text COLLATE "C" NOT NULL,
  service_provider_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  binding_hash text COLLATE "C" NOT NULL,
  acs_url text COLLATE "C" NOT NULL,
  in_response_to text COLLATE "C",
  idp_initiated bigint NOT NULL,
  relay_state text COLLATE "C",
  name_id_format text COLLATE "C" NOT NULL,
  authn_context_class text COLLATE "C" NOT NULL,
  user_id text COLLATE "C",
  auth_time bigint,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  delivered_at bigint,
  method text COLLATE "C",
  sso_session_id text COLLATE "C",
  organization_id text COLLATE "C",
  CONSTRAINT saml_sessions_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'ready'::text, 'delivered'::text]))),
  CONSTRAINT saml_sessions_pkey PRIMARY KEY (tenant_id, session_hash)
);

CREATE TABLE saml_request_ids (
  tenant_id text COLLATE "C" NOT NULL,
  request_hash text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT saml_request_ids_pkey PRIMARY KEY (tenant_id, request_hash)
);

CREATE TABLE user_values (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  attribute text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  value text COLLATE "C",
  value_key text COLLATE "C",
  display text COLLATE "C",
  display_key text COLLATE "C",
  type text COLLATE "C",
  type_key text COLLATE "C",
  is_primary bigint NOT NULL DEFAULT 0,
  CONSTRAINT user_values_pkey PRIMARY KEY (tenant_id, user_id, attribute, "position")
);

CREATE TABLE user_addresses (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  formatted text COLLATE "C",
  formatted_key text COLLATE "C",
  street_address text COLLATE "C",
  street_address_key text COLLATE "C",
  locality text COLLATE "C",
  locality_key text COLLATE "C",
  region text COLLATE "C",
  region_key text COLLATE "C",
  postal_code text COLLATE "C",
  postal_code_key text COLLATE "C",
  country text COLLATE "C",
  country_key text COLLATE "C",
  type text COLLATE "C",
  type_key text COLLATE "C",
  is_primary bigint NOT NULL DEFAULT 0,
  CONSTRAINT user_addresses_pkey PRIMARY KEY (tenant_id, user_id, "position")
);

CREATE TABLE directory_counts (
  tenant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  shard bigint NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT directory_counts_pkey PRIMARY KEY (tenant_id, kind, shard)
);

CREATE TABLE push_messages (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  next_attempt_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  lane text COLLATE "C" NOT NULL DEFAULT ''::text,
  CONSTRAINT push_messages_provider_check CHECK ((provider = ANY (ARRAY['apns'::text, 'fcm'::text]))),
  CONSTRAINT push_messages_pkey PRIMARY KEY (id)
);

CREATE TABLE client_assertions (
  tenant_id text COLLATE "C" NOT NULL,
  jti_hash text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT client_assertions_pkey PRIMARY KEY (tenant_id, jti_hash)
);

CREATE TABLE ciba_requests (
  tenant_id text COLLATE "C" NOT NULL,
  auth_req_id_hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  approval_id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  resource text COLLATE "C",
  delivery_mode text COLLATE "C" NOT NULL,
  notification_encrypted text COLLATE "C",
  payload_encrypted text COLLATE "C",
  interval_seconds bigint NOT NULL,
  last_polled_at bigint,
  polled_early bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  grant_id text COLLATE "C",
  mail_token_hash text COLLATE "C",
  hook_claims text COLLATE "C",
  organization_id text COLLATE "C",
  CONSTRAINT ciba_requests_delivery_mode_check CHECK ((delivery_mode = ANY (ARRAY['poll'::text, 'ping'::text, 'push'::text]))),
  CONSTRAINT ciba_requests_pkey PRIMARY KEY (tenant_id, auth_req_id_hash),
  CONSTRAINT ciba_requests_tenant_id_id_key UNIQUE (tenant_id, id),
  CONSTRAINT ciba_requests_tenant_id_approval_id_key UNIQUE (tenant_id, approval_id),
  CONSTRAINT ciba_requests_tenant_id_mail_token_hash_key UNIQUE (tenant_id, mail_token_hash)
);

CREATE TABLE ciba_deliveries (
  tenant_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  lane text COLLATE "C" NOT NULL DEFAULT ''::text,
  CONSTRAINT ciba_deliveries_pkey PRIMARY KEY (tenant_id, request_id)
);

CREATE TABLE logout_notices (
  tenant_id text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  lane text COLLATE "C" NOT NULL DEFAULT ''::text,
  CONSTRAINT logout_notices_pkey PRIMARY KEY (tenant_id, grant_id)
);

CREATE TABLE passkeys (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  counter bigint NOT NULL,
  transports text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  backup_eligible bigint NOT NULL,
  backed_up bigint NOT NULL,
  aaguid text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  last_used_at bigint,
  CONSTRAINT passkeys_backup_eligible_check CHECK ((backup_eligible = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
  CONSTRAINT passkeys_backed_up_check CHECK ((backed_up = ANY (ARRAY[(0)::bigint, (1)::bigint]))),
  CONSTRAINT passkeys_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT passkeys_tenant_id_credential_id_key UNIQUE (tenant_id, credential_id)
);

CREATE TABLE passkey_challenges (
  tenant_id text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  challenge_hash text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  CONSTRAINT passkey_challenges_pkey PRIMARY KEY (tenant_id, subject)
);

CREATE TABLE activity_counts (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  hour_at bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT activity_counts_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE saml_metadata_reads (
  tenant_id text COLLATE "C" NOT NULL,
  service_provider_id text COLLATE "C" NOT NULL,
  read_at bigint NOT NULL,
  CONSTRAINT saml_metadata_reads_pkey PRIMARY KEY (tenant_id, service_provider_id)
);

CREATE TABLE sso_sessions (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  browser_hash text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  auth_time bigint NOT NULL,
  acr text COLLATE "C",
  method text COLLATE "C" NOT NULL,
  amr text COLLATE "C" NOT NULL,
  device_id text COLLATE "C",
  passkey_id text COLLATE "C",
  user_agent text COLLATE "C",
  ip text COLLATE "C",
  created_at bigint NOT NULL,
  used_at bigint NOT NULL,
  idle_seconds bigint NOT NULL,
  expires_at bigint NOT NULL,
  absolute_at bigint NOT NULL,
  ended_at bigint,
  external_identity_id text COLLATE "C",
  external_session_id text COLLATE "C",
  CONSTRAINT sso_sessions_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE custom_attributes (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  list bigint NOT NULL,
  "unique" bigint NOT NULL,
  label text COLLATE "C",
  edit text COLLATE "C" NOT NULL,
  allowed_values text COLLATE "C" NOT NULL,
  claim text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  CONSTRAINT custom_attributes_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE user_custom_values (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  attribute text COLLATE "C" NOT NULL,
  value_key text COLLATE "C" NOT NULL,
  unique_key text COLLATE "C",
  CONSTRAINT user_custom_values_pkey PRIMARY KEY (tenant_id, user_id, attribute, value_key)
);

CREATE TABLE saml_metadata_refreshes (
  tenant_id text COLLATE "C" NOT NULL,
  service_provider_id text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  every_ms bigint NOT NULL,
  etag text COLLATE "C",
  tried_at bigint,
  refreshed_at bigint,
  failure text COLLATE "C",
  acs text COLLATE "C",
  report text COLLATE "C",
  CONSTRAINT saml_metadata_refreshes_pkey PRIMARY KEY (tenant_id, service_provider_id)
);

CREATE TABLE identity_providers (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  issuer text COLLATE "C",
  client_id text COLLATE "C",
  client_secret text COLLATE "C",
  scopes text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  tenants text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  trust_email bigint NOT NULL DEFAULT 0,
  create_users bigint NOT NULL DEFAULT 0,
  attribute_map text COLLATE "C" NOT NULL DEFAULT '{}'::text,
  acr_map text COLLATE "C" NOT NULL DEFAULT '{}'::text,
  enabled bigint NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  metadata text COLLATE "C",
  response_mode text COLLATE "C" NOT NULL DEFAULT 'query'::text,
  domains text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  mappings text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  domain_proof_salt text COLLATE "C",
  cross_app bigint NOT NULL DEFAULT 0,
  CONSTRAINT identity_providers_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT identity_providers_tenant_id_alias_key UNIQUE (tenant_id, alias)
);

CREATE TABLE external_logins (
  tenant_id text COLLATE "C" NOT NULL,
  state_hash text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  transaction_id text COLLATE "C" NOT NULL,
  sealed text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  answer text COLLATE "C",
  answer_hash text COLLATE "C",
  CONSTRAINT external_logins_pkey PRIMARY KEY (tenant_id, state_hash)
);

CREATE TABLE external_identities (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  identity_hash text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  email text COLLATE "C",
  created_at bigint NOT NULL,
  used_at bigint,
  CONSTRAINT external_identities_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT external_identities_tenant_id_identity_hash_key UNIQUE (tenant_id, identity_hash)
);

CREATE TABLE invitations (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  mailed_to text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  revoked_at bigint,
  visit_hash text COLLATE "C",
  visit_expires_at bigint,
  enrollment_encrypted text COLLATE "C",
  recovery_reason text COLLATE "C",
  stop_hash text COLLATE "C",
  stopped_at bigint,
  CONSTRAINT invitations_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE event_feeds (
  tenant_id text COLLATE "C" NOT NULL,
  last_seq bigint NOT NULL DEFAULT 0,
  CONSTRAINT event_feeds_pkey PRIMARY KEY (tenant_id)
);

CREATE TABLE held_deliveries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  delivery text COLLATE "C" NOT NULL,
  CONSTRAINT held_deliveries_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE recovery_codes (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  code_hmac text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  used_at bigint,
  CONSTRAINT recovery_codes_pkey PRIMARY KEY (tenant_id, user_id, code_hmac)
);

CREATE TABLE device_authorizations (
  tenant_id text COLLATE "C" NOT NULL,
  device_code_hash text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_code text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  scope text COLLATE "C" NOT NULL,
  resource text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  user_id text COLLATE "C",
  auth_time bigint,
  acr text COLLATE "C",
  amr text COLLATE "C",
  decided_at bigint,
  initiated_ip text COLLATE "C",
  initiated_user_agent text COLLATE "C",
  interval_seconds bigint NOT NULL,
  last_polled_at bigint,
  polled_early bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  grant_id text COLLATE "C",
  CONSTRAINT device_authorizations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text]))),
  CONSTRAINT device_authorizations_pkey PRIMARY KEY (tenant_id, device_code_hash),
  CONSTRAINT device_authorizations_tenant_id_user_code_key UNIQUE (tenant_id, user_code)
);

CREATE TABLE initial_access_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  count bigint NOT NULL,
  used bigint NOT NULL DEFAULT 0,
  hosts text COLLATE "C" NOT NULL,
  grant_types text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  created_by text COLLATE "C",
  CONSTRAINT initial_access_tokens_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT initial_access_tokens_tenant_id_token_hash_key UNIQUE (tenant_id, token_hash)
);

CREATE TABLE client_registrations (
  tenant_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  hosts text COLLATE "C" NOT NULL,
  grant_types text COLLATE "C" NOT NULL,
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT client_registrations_pkey PRIMARY KEY (tenant_id, client_id)
);

CREATE TABLE provider_domains (
  tenant_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  proven_at bigint NOT NULL,
  CONSTRAINT provider_domains_pkey PRIMARY KEY (tenant_id, domain)
);

CREATE TABLE vapid_keys (
  tenant_id text COLLATE "C" NOT NULL,
  public_key text COLLATE "C" NOT NULL,
  private_key_encrypted text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT vapid_keys_pkey PRIMARY KEY (tenant_id)
);

CREATE TABLE push_refusals (
  tenant_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  refused_at bigint NOT NULL,
  CONSTRAINT push_refusals_pkey PRIMARY KEY (tenant_id, provider)
);

CREATE TABLE webhooks (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  types text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  enabled bigint NOT NULL DEFAULT 1,
  secret text COLLATE "C",
  previous_secret text COLLATE "C",
  previous_until bigint,
  failing_since bigint,
  disabled_reason text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT webhooks_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhooks_tenant_id_url_key UNIQUE (tenant_id, url)
);

CREATE TABLE webhook_positions (
  tenant_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  CONSTRAINT webhook_positions_pkey PRIMARY KEY (tenant_id, webhook_id)
);

CREATE TABLE webhook_deliveries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  body text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  status bigint,
  reason text COLLATE "C",
  answer text COLLATE "C",
  duration_ms bigint,
  attempted_at bigint,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT webhook_deliveries_tenant_id_webhook_id_event_id_key UNIQUE (tenant_id, webhook_id, event_id)
);

CREATE TABLE webhook_queue (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  lane text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_queue_pkey PRIMARY KEY (tenant, id)
);

CREATE TABLE mapping_tables (
  tenant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  rules text COLLATE "C" NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT mapping_tables_pkey PRIMARY KEY (tenant_id, kind)
);

CREATE TABLE hooks (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  point text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  on_failure text COLLATE "C" NOT NULL,
  deadline_ms bigint NOT NULL,
  clients text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  enabled bigint NOT NULL DEFAULT 1,
  secret_encrypted text COLLATE "C" NOT NULL,
  previous_secret_encrypted text COLLATE "C",
  previous_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT hooks_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT hooks_tenant_id_point_key UNIQUE (tenant_id, point)
);

CREATE TABLE sent_forms (
  tenant_id text COLLATE "C" NOT NULL,
  form_hash text COLLATE "C" NOT NULL,
  location text COLLATE "C",
  expires_at bigint NOT NULL,
  CONSTRAINT sent_forms_pkey PRIMARY KEY (tenant_id, form_hash)
);

CREATE TABLE roles (
  tenant_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  capabilities text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT roles_pkey PRIMARY KEY (tenant_id, name)
);

CREATE TABLE user_roles (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  custom_role text COLLATE "C",
  created_at bigint NOT NULL,
  CONSTRAINT user_roles_pkey PRIMARY KEY (tenant_id, user_id, role)
);

CREATE TABLE images (
  tenant_id text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  width bigint NOT NULL,
  height bigint NOT NULL,
  size_bytes bigint NOT NULL,
  content text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT images_pkey PRIMARY KEY (tenant_id, sha256)
);

CREATE TABLE customizations (
  tenant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  draft text COLLATE "C",
  published text COLLATE "C",
  previous text COLLATE "C",
  updated_at bigint NOT NULL,
  CONSTRAINT customizations_pkey PRIMARY KEY (tenant_id, kind, name)
);

CREATE TABLE ssf_streams (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  url text COLLATE "C",
  authorization_encrypted text COLLATE "C",
  events_requested text COLLATE "C",
  description text COLLATE "C",
  status text COLLATE "C" NOT NULL DEFAULT 'enabled'::text,
  status_reason text COLLATE "C",
  status_at bigint NOT NULL,
  "position" bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT ssf_streams_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT ssf_streams_tenant_id_client_id_key UNIQUE (tenant_id, client_id)
);

CREATE TABLE ssf_events (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  claims text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT ssf_events_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE ssf_queue (
  tenant text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  CONSTRAINT ssf_queue_pkey PRIMARY KEY (tenant, id)
);

CREATE TABLE email_changes (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  before text COLLATE "C",
  after text COLLATE "C",
  created_at bigint NOT NULL,
  CONSTRAINT email_changes_pkey PRIMARY KEY (tenant_id, user_id, version)
);

CREATE TABLE connectors (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL DEFAULT 1,
  base_url text COLLATE "C" NOT NULL,
  auth text COLLATE "C" NOT NULL,
  secret text COLLATE "C",
  users text COLLATE "C" NOT NULL DEFAULT 'all'::text,
  groups text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  mappings text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  match text COLLATE "C" NOT NULL DEFAULT 'userName'::text,
  deprovision text COLLATE "C" NOT NULL DEFAULT 'deactivate'::text,
  rate bigint NOT NULL DEFAULT 10,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT connectors_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT connectors_tenant_id_name_key UNIQUE (tenant_id, name)
);

CREATE TABLE connector_states (
  tenant_id text COLLATE "C" NOT NULL,
  connector_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  sync_after text COLLATE "C",
  not_before bigint,
  quarantined_at bigint,
  quarantine_reason text COLLATE "C",
  probe_at bigint,
  approval_since bigint,
  approved_at bigint NOT NULL DEFAULT 0,
  window_total bigint NOT NULL DEFAULT 0,
  window_failed bigint NOT NULL DEFAULT 0,
  reconcile_at bigint NOT NULL,
  reconciled_at bigint,
  CONSTRAINT connector_states_pkey PRIMARY KEY (tenant_id, connector_id)
);

CREATE TABLE connector_links (
  tenant_id text COLLATE "C" NOT NULL,
  connector_id text COLLATE "C" NOT NULL,
  local_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  remote_id text COLLATE "C",
  hash text COLLATE "C",
  sent_paths text COLLATE "C",
  state text COLLATE "C" NOT NULL,
  mark bigint NOT NULL DEFAULT 0,
  due_at bigint,
  claimed_until bigint NOT NULL DEFAULT 0,
  attempts bigint NOT NULL DEFAULT 0,
  leaving bigint NOT NULL DEFAULT 0,
  left_at bigint,
  creates bigint NOT NULL DEFAULT 0,
  reason text COLLATE "C",
  request text COLLATE "C",
  answer text COLLATE "C",
  seen_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT connector_links_pkey PRIMARY KEY (tenant_id, connector_id, local_id)
);

CREATE TABLE connector_members (
  tenant_id text COLLATE "C" NOT NULL,
  connector_id text COLLATE "C" NOT NULL,
  group_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  CONSTRAINT connector_members_pkey PRIMARY KEY (tenant_id, connector_id, group_id, user_id)
);

CREATE TABLE last_sign_ins (
  tenant_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  CONSTRAINT last_sign_ins_pkey PRIMARY KEY (tenant_id, kind, id)
);

CREATE TABLE operator_entries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  secret_hash text COLLATE "C" NOT NULL,
  is_open bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  entered_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT operator_entries_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE ssf_removed_subjects (
  tenant_id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT ssf_removed_subjects_pkey PRIMARY KEY (tenant_id, stream_id, user_id)
);

CREATE TABLE ssf_deliveries (
  tenant_id text COLLATE "C" NOT NULL,
  stream_id text COLLATE "C" NOT NULL,
  delivered_at bigint NOT NULL,
  CONSTRAINT ssf_deliveries_pkey PRIMARY KEY (tenant_id, stream_id)
);

CREATE TABLE identity_provider_groups (
  tenant_id text COLLATE "C" NOT NULL,
  group_id text COLLATE "C" NOT NULL,
  provider_id text COLLATE "C" NOT NULL,
  CONSTRAINT identity_provider_groups_pkey PRIMARY KEY (tenant_id, group_id)
);

CREATE TABLE pin_failures (
  tenant_id text COLLATE "C" NOT NULL,
  mail_key text COLLATE "C" NOT NULL,
  of_day bigint NOT NULL,
  day_since bigint NOT NULL,
  of_year bigint NOT NULL,
  year_since bigint NOT NULL,
  in_row bigint NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT pin_failures_pkey PRIMARY KEY (tenant_id, mail_key)
);

CREATE TABLE sign_in_openings (
  tenant_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT sign_in_openings_pkey PRIMARY KEY (tenant_id, user_id)
);

CREATE TABLE client_documents (
  tenant_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  document text COLLATE "C" NOT NULL,
  fetched_at bigint NOT NULL,
  fresh_until bigint NOT NULL,
  used_at bigint NOT NULL,
  CONSTRAINT client_documents_pkey PRIMARY KEY (tenant_id, client_id)
);

CREATE TABLE sign_in_tries (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  typed text COLLATE "C",
  typed_key text COLLATE "C",
  subject_check text COLLATE "C",
  application text COLLATE "C" NOT NULL,
  ip text COLLATE "C",
  address_block text COLLATE "C" NOT NULL,
  user_agent text COLLATE "C",
  type text COLLATE "C" NOT NULL,
  failed_check text COLLATE "C",
  request_id text COLLATE "C",
  started_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  organization_id text COLLATE "C",
  CONSTRAINT sign_in_tries_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE sign_in_lines (
  tenant_id text COLLATE "C" NOT NULL,
  try_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  at bigint NOT NULL,
  type text COLLATE "C" NOT NULL,
  failed_check text COLLATE "C",
  detail text COLLATE "C",
  request_id text COLLATE "C",
  CONSTRAINT sign_in_lines_pkey PRIMARY KEY (tenant_id, try_id, "position")
);

CREATE TABLE workload_issuers (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  issuer text COLLATE "C" NOT NULL,
  keys text COLLATE "C" NOT NULL,
  audiences text COLLATE "C" NOT NULL,
  lifetime_seconds_max bigint NOT NULL,
  enabled bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT workload_issuers_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT workload_issuers_tenant_id_issuer_key UNIQUE (tenant_id, issuer)
);

CREATE TABLE client_workloads (
  tenant_id text COLLATE "C" NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  issuer_hash text COLLATE "C" NOT NULL,
  subject_hash text COLLATE "C" NOT NULL,
  CONSTRAINT client_workloads_pkey PRIMARY KEY (tenant_id, client_id, issuer_hash, subject_hash)
);

CREATE TABLE console_tasks (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  made_by text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  options text COLLATE "C" NOT NULL,
  expires_at bigint NOT NULL,
  CONSTRAINT console_tasks_pkey PRIMARY KEY (tenant_id, id)
);

CREATE TABLE console_task_items (
  tenant_id text COLLATE "C" NOT NULL,
  task_id text COLLATE "C" NOT NULL,
  "position" bigint NOT NULL,
  item text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  told text COLLATE "C",
  taken_at bigint NOT NULL DEFAULT 0,
  CONSTRAINT console_task_items_pkey PRIMARY KEY (tenant_id, task_id, "position")
);

CREATE TABLE scim_tokens (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint,
  last_used_at bigint,
  organization_id text COLLATE "C",
  CONSTRAINT scim_tokens_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT scim_tokens_tenant_id_token_hash_key UNIQUE (tenant_id, token_hash)
);

CREATE TABLE directories (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL DEFAULT 1,
  kind text COLLATE "C" NOT NULL,
  url text COLLATE "C" NOT NULL,
  starttls bigint NOT NULL DEFAULT 0,
  ca text COLLATE "C",
  bind_dn text COLLATE "C" NOT NULL,
  bind_password text COLLATE "C",
  base_dn text COLLATE "C" NOT NULL,
  user_filter text COLLATE "C",
  id_attribute text COLLATE "C",
  groups text COLLATE "C" NOT NULL DEFAULT 'none'::text,
  group_base_dn text COLLATE "C",
  group_filter text COLLATE "C",
  mappings text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  match text COLLATE "C" NOT NULL DEFAULT 'none'::text,
  deprovision text COLLATE "C" NOT NULL DEFAULT 'suspend'::text,
  every_minutes bigint NOT NULL DEFAULT 15,
  full_every_hours bigint NOT NULL DEFAULT 24,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT directories_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT directories_tenant_id_name_key UNIQUE (tenant_id, name)
);

CREATE TABLE directory_states (
  tenant_id text COLLATE "C" NOT NULL,
  directory_id text COLLATE "C" NOT NULL,
  change_mark text COLLATE "C",
  change_server text COLLATE "C",
  next_at bigint,
  asked_at bigint,
  asked_full bigint NOT NULL DEFAULT 0,
  full_at bigint,
  run bigint NOT NULL DEFAULT 0,
  run_began_at bigint,
  run_full bigint NOT NULL DEFAULT 0,
  held_since bigint,
  approved_at bigint NOT NULL DEFAULT 0,
  last_run text COLLATE "C",
  failure text COLLATE "C",
  failure_detail text COLLATE "C",
  failed_at bigint,
  failures bigint NOT NULL DEFAULT 0,
  CONSTRAINT directory_states_pkey PRIMARY KEY (tenant_id, directory_id)
);

CREATE TABLE directory_links (
  tenant_id text COLLATE "C" NOT NULL,
  directory_id text COLLATE "C" NOT NULL,
  remote_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  local_id text COLLATE "C",
  dn text COLLATE "C" NOT NULL,
  dn_hash text COLLATE "C" NOT NULL,
  hash text COLLATE "C",
  run bigint NOT NULL DEFAULT 0,
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  leaving bigint NOT NULL DEFAULT 0,
  left_at bigint,
  creates bigint NOT NULL DEFAULT 0,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT directory_links_pkey PRIMARY KEY (tenant_id, directory_id, remote_id)
);

CREATE TABLE organization_roles (
  tenant_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  scopes text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  manage bigint NOT NULL DEFAULT 0,
  CONSTRAINT organization_roles_pkey PRIMARY KEY (tenant_id, name)
);

CREATE TABLE organizations (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  display_name text COLLATE "C",
  metadata text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL,
  members bigint NOT NULL,
  search_key text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  "join" text COLLATE "C" NOT NULL DEFAULT '["invitation"]'::text,
  default_roles text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  domains text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  identity_providers text COLLATE "C" NOT NULL DEFAULT '[]'::text,
  sign_in text COLLATE "C" NOT NULL DEFAULT 'any'::text,
  acr_min text COLLATE "C",
  branding text COLLATE "C" NOT NULL DEFAULT '{}'::text,
  CONSTRAINT organizations_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT organizations_tenant_id_name_key UNIQUE (tenant_id, name)
);

CREATE TABLE organization_members (
  tenant_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  roles text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  made_by_scim bigint NOT NULL DEFAULT 0,
  suspended bigint NOT NULL DEFAULT 0,
  CONSTRAINT organization_members_pkey PRIMARY KEY (tenant_id, organization_id, user_id)
);

CREATE TABLE organization_domains (
  tenant_id text COLLATE "C" NOT NULL,
  domain text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  proven_at bigint NOT NULL,
  CONSTRAINT organization_domains_pkey PRIMARY KEY (tenant_id, domain)
);

CREATE TABLE organization_providers (
  tenant_id text COLLATE "C" NOT NULL,
  alias text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  tested_at bigint,
  CONSTRAINT organization_providers_pkey PRIMARY KEY (tenant_id, alias)
);

CREATE TABLE organization_assignments (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  target_kind text COLLATE "C" NOT NULL,
  target_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  CONSTRAINT organization_assignments_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT organization_assignments_tenant_id_target_kind_target_id_or_key UNIQUE (tenant_id, target_kind, target_id, organization_id)
);

CREATE TABLE organization_invitations (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  email text COLLATE "C" NOT NULL,
  email_key text COLLATE "C" NOT NULL,
  roles text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  mailed bigint NOT NULL,
  invited_by text COLLATE "C",
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  revoked_at bigint,
  CONSTRAINT organization_invitations_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT organization_invitations_tenant_id_token_hash_key UNIQUE (tenant_id, token_hash)
);

CREATE TABLE organization_setup_links (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  used_at bigint,
  revoked_at bigint,
  visit_hash text COLLATE "C",
  CONSTRAINT organization_setup_links_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT organization_setup_links_tenant_id_token_hash_key UNIQUE (tenant_id, token_hash),
  CONSTRAINT organization_setup_links_tenant_id_visit_hash_key UNIQUE (tenant_id, visit_hash)
);

CREATE TABLE organization_groups (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  display_name text COLLATE "C" NOT NULL,
  display_name_key text COLLATE "C" NOT NULL,
  display_name_reversed text COLLATE "C",
  external_id text COLLATE "C",
  external_id_reversed text COLLATE "C",
  version bigint NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  CONSTRAINT organization_groups_pkey PRIMARY KEY (tenant_id, id),
  CONSTRAINT organization_groups_tenant_id_organization_id_display_name__key UNIQUE (tenant_id, organization_id, display_name_key)
);

CREATE TABLE organization_group_members (
  tenant_id text COLLATE "C" NOT NULL,
  group_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  user_created_at bigint NOT NULL,
  CONSTRAINT organization_group_members_pkey PRIMARY KEY (tenant_id, group_id, user_id)
);

CREATE TABLE first_steps (
  tenant_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  code_hash text COLLATE "C",
  expires_at bigint,
  proven_at bigint NOT NULL DEFAULT 0,
  CONSTRAINT first_steps_pkey PRIMARY KEY (tenant_id, id)
);

ALTER TABLE user_emails ADD CONSTRAINT user_emails_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE group_members ADD CONSTRAINT group_members_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE group_members ADD CONSTRAINT group_members_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE access_assignments ADD CONSTRAINT access_assignments_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE access_assignments ADD CONSTRAINT access_assignments_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE grants ADD CONSTRAINT grants_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE grants ADD CONSTRAINT grants_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE authorization_codes ADD CONSTRAINT authorization_codes_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE authorization_codes ADD CONSTRAINT authorization_codes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE refresh_tokens ADD CONSTRAINT refresh_tokens_tenant_id_grant_id_fkey FOREIGN KEY (tenant_id, grant_id) REFERENCES grants(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE approvals ADD CONSTRAINT approvals_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE login_transactions ADD CONSTRAINT login_transactions_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE login_transactions ADD CONSTRAINT login_transactions_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE consents ADD CONSTRAINT consents_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE consents ADD CONSTRAINT consents_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE pushed_requests ADD CONSTRAINT pushed_requests_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE devices ADD CONSTRAINT devices_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE device_keys ADD CONSTRAINT device_keys_tenant_id_device_id_fkey FOREIGN KEY (tenant_id, device_id) REFERENCES devices(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE enrollment_tokens ADD CONSTRAINT enrollment_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE device_rotations ADD CONSTRAINT device_rotations_tenant_id_device_id_fkey FOREIGN KEY (tenant_id, device_id) REFERENCES devices(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE setup_tokens ADD CONSTRAINT setup_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE user_values ADD CONSTRAINT user_values_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE user_addresses ADD CONSTRAINT user_addresses_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ciba_requests ADD CONSTRAINT ciba_requests_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE ciba_requests ADD CONSTRAINT ciba_requests_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE passkeys ADD CONSTRAINT passkeys_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE saml_metadata_reads ADD CONSTRAINT saml_metadata_reads_tenant_id_service_provider_id_fkey FOREIGN KEY (tenant_id, service_provider_id) REFERENCES service_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE sso_sessions ADD CONSTRAINT sso_sessions_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE user_custom_values ADD CONSTRAINT user_custom_values_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE saml_metadata_refreshes ADD CONSTRAINT saml_metadata_refreshes_tenant_id_service_provider_id_fkey FOREIGN KEY (tenant_id, service_provider_id) REFERENCES service_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE external_logins ADD CONSTRAINT external_logins_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE external_identities ADD CONSTRAINT external_identities_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE external_identities ADD CONSTRAINT external_identities_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE invitations ADD CONSTRAINT invitations_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE recovery_codes ADD CONSTRAINT recovery_codes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE device_authorizations ADD CONSTRAINT device_authorizations_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE device_authorizations ADD CONSTRAINT device_authorizations_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE client_registrations ADD CONSTRAINT client_registrations_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE provider_domains ADD CONSTRAINT provider_domains_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE webhook_positions ADD CONSTRAINT webhook_positions_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE webhook_queue ADD CONSTRAINT webhook_queue_tenant_id_fkey FOREIGN KEY (tenant, id) REFERENCES webhook_deliveries(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE user_roles ADD CONSTRAINT user_roles_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE user_roles ADD CONSTRAINT user_roles_tenant_id_custom_role_fkey FOREIGN KEY (tenant_id, custom_role) REFERENCES roles(tenant_id, name) ON DELETE CASCADE;

ALTER TABLE ssf_streams ADD CONSTRAINT ssf_streams_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE ssf_events ADD CONSTRAINT ssf_events_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ssf_queue ADD CONSTRAINT ssf_queue_tenant_id_fkey FOREIGN KEY (tenant, id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE email_changes ADD CONSTRAINT email_changes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE connector_states ADD CONSTRAINT connector_states_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE connector_links ADD CONSTRAINT connector_links_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE connector_members ADD CONSTRAINT connector_members_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ssf_removed_subjects ADD CONSTRAINT ssf_removed_subjects_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ssf_removed_subjects ADD CONSTRAINT ssf_removed_subjects_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE ssf_deliveries ADD CONSTRAINT ssf_deliveries_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE identity_provider_groups ADD CONSTRAINT identity_provider_groups_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE identity_provider_groups ADD CONSTRAINT identity_provider_groups_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE sign_in_openings ADD CONSTRAINT sign_in_openings_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE sign_in_lines ADD CONSTRAINT sign_in_lines_tenant_id_try_id_fkey FOREIGN KEY (tenant_id, try_id) REFERENCES sign_in_tries(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE client_workloads ADD CONSTRAINT client_workloads_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE;

ALTER TABLE console_task_items ADD CONSTRAINT console_task_items_tenant_id_task_id_fkey FOREIGN KEY (tenant_id, task_id) REFERENCES console_tasks(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE directory_states ADD CONSTRAINT directory_states_tenant_id_directory_id_fkey FOREIGN KEY (tenant_id, directory_id) REFERENCES directories(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE directory_links ADD CONSTRAINT directory_links_tenant_id_directory_id_fkey FOREIGN KEY (tenant_id, directory_id) REFERENCES directories(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_members ADD CONSTRAINT organization_members_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_members ADD CONSTRAINT organization_members_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_domains ADD CONSTRAINT organization_domains_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_providers ADD CONSTRAINT organization_providers_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_assignments ADD CONSTRAINT organization_assignments_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_invitations ADD CONSTRAINT organization_invitations_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_setup_links ADD CONSTRAINT organization_setup_links_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_groups ADD CONSTRAINT organization_groups_tenant_id_organization_id_fkey FOREIGN KEY (tenant_id, organization_id) REFERENCES organizations(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_group_members ADD CONSTRAINT organization_group_members_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES organization_groups(tenant_id, id) ON DELETE CASCADE;

ALTER TABLE organization_group_members ADD CONSTRAINT organization_group_members_tenant_id_organization_id_user__fkey FOREIGN KEY (tenant_id, organization_id, user_id) REFERENCES organization_members(tenant_id, organization_id, user_id) ON DELETE CASCADE;

CREATE INDEX config_epochs_by_changed_at ON public.config_epochs USING btree (changed_at);

CREATE INDEX group_members_by_user_id ON public.group_members USING btree (tenant_id, user_id);

CREATE INDEX grants_by_user_id ON public.grants USING btree (tenant_id, user_id);

CREATE INDEX grants_by_client_id ON public.grants USING btree (tenant_id, client_id);

CREATE INDEX grants_by_expires_at ON public.grants USING btree (tenant_id, expires_at);

CREATE INDEX authorization_codes_by_expires_at ON public.authorization_codes USING btree (tenant_id, expires_at);

CREATE INDEX authorization_codes_by_client_id ON public.authorization_codes USING btree (tenant_id, client_id);

CREATE INDEX authorization_codes_by_user_id ON public.authorization_codes USING btree (tenant_id, user_id);

CREATE INDEX refresh_tokens_by_expires_at ON public.refresh_tokens USING btree (tenant_id, expires_at);

CREATE INDEX revoked_tokens_by_expires_at ON public.revoked_tokens USING btree (tenant_id, expires_at);

CREATE INDEX audit_events_by_request_id ON public.audit_events USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL);

CREATE INDEX audit_events_by_type_id ON public.audit_events USING btree (tenant_id, type, id);

CREATE INDEX audit_events_by_created_at ON public.audit_events USING btree (tenant_id, created_at);

CREATE INDEX approvals_by_user_id_expires_at ON public.approvals USING btree (tenant_id, user_id, expires_at);

CREATE INDEX approvals_by_subject_key_created_at ON public.approvals USING btree (tenant_id, subject_key, created_at);

CREATE INDEX approvals_by_expires_at ON public.approvals USING btree (tenant_id, expires_at);

CREATE INDEX login_transactions_by_expires_at ON public.login_transactions USING btree (tenant_id, expires_at);

CREATE INDEX login_transactions_by_client_id ON public.login_transactions USING btree (tenant_id, client_id);

CREATE INDEX login_transactions_by_user_id ON public.login_transactions USING btree (tenant_id, user_id);

CREATE INDEX pins_by_purpose_subject_id ON public.pins USING btree (tenant_id, purpose, subject_id);

CREATE INDEX pins_by_expires_at ON public.pins USING btree (tenant_id, expires_at);

CREATE INDEX pin_mailboxes_by_expires_at ON public.pin_mailboxes USING btree (tenant_id, expires_at);

CREATE INDEX consents_by_client_id ON public.consents USING btree (tenant_id, client_id);

CREATE INDEX outbox_messages_by_recipient_key_id ON public.outbox_messages USING btree (recipient_key, id);

CREATE INDEX outbox_messages_by_next_attempt_at ON public.outbox_messages USING btree (next_attempt_at) WHERE (state = 'waiting'::text);

CREATE INDEX outbox_messages_by_expires_at ON public.outbox_messages USING btree (expires_at);

CREATE INDEX pushed_requests_by_expires_at ON public.pushed_requests USING btree (tenant_id, expires_at);

CREATE INDEX pushed_requests_by_client_id ON public.pushed_requests USING btree (tenant_id, client_id);

CREATE INDEX dpop_proofs_by_expires_at ON public.dpop_proofs USING btree (tenant_id, expires_at);

CREATE INDEX devices_by_user_id ON public.devices USING btree (tenant_id, user_id);

CREATE INDEX device_registrations_by_device_id ON public.device_registrations USING btree (tenant_id, device_id);

CREATE INDEX device_registrations_by_purge_at ON public.device_registrations USING btree (tenant_id, purge_at);

CREATE INDEX attestation_challenges_by_device_id_created_at ON public.attestation_challenges USING btree (tenant_id, device_id, created_at);

CREATE INDEX attestation_challenges_by_expires_at ON public.attestation_challenges USING btree (tenant_id, expires_at);

CREATE INDEX enrollment_tokens_by_expires_at ON public.enrollment_tokens USING btree (tenant_id, expires_at);

CREATE INDEX enrollment_tokens_by_user_id ON public.enrollment_tokens USING btree (tenant_id, user_id);

CREATE INDEX device_requests_by_expires_at ON public.device_requests USING btree (tenant_id, expires_at);

CREATE UNIQUE INDEX signing_keys_by_alg_state ON public.signing_keys USING btree (tenant_id, alg, state) WHERE ((use = 'oidc'::text) AND (state <> 'retired'::text));

CREATE INDEX setup_tokens_by_expires_at ON public.setup_tokens USING btree (tenant_id, expires_at);

CREATE INDEX saml_sessions_by_expires_at ON public.saml_sessions USING btree (tenant_id, expires_at);

CREATE INDEX saml_request_ids_by_expires_at ON public.saml_request_ids USING btree (tenant_id, expires_at);

CREATE UNIQUE INDEX signing_keys_by_use_alg_state ON public.signing_keys USING btree (tenant_id, use, alg, state) WHERE ((use = 'saml'::text) AND (state <> 'retired'::text));

CREATE INDEX users_by_user_name_key_created_at_id_state ON public.users USING btree (tenant_id, user_name_key, created_at, id, state) WHERE (user_name_key IS NOT NULL);

CREATE INDEX users_by_name_formatted_key_created_at_id_state ON public.users USING btree (tenant_id, name_formatted_key, created_at, id, state) WHERE (name_formatted_key IS NOT NULL);

CREATE INDEX users_by_family_name_key_created_at_id_state ON public.users USING btree (tenant_id, family_name_key, created_at, id, state) WHERE (family_name_key IS NOT NULL);

CREATE INDEX users_by_given_name_key_created_at_id_state ON public.users USING btree (tenant_id, given_name_key, created_at, id, state) WHERE (given_name_key IS NOT NULL);

CREATE INDEX users_by_middle_name_key_created_at_id_state ON public.users USING btree (tenant_id, middle_name_key, created_at, id, state) WHERE (middle_name_key IS NOT NULL);

CREATE INDEX users_by_honorific_prefix_key_created_at_id_state ON public.users USING btree (tenant_id, honorific_prefix_key, created_at, id, state) WHERE (honorific_prefix_key IS NOT NULL);

CREATE INDEX users_by_honorific_suffix_key_created_at_id_state ON public.users USING btree (tenant_id, honorific_suffix_key, created_at, id, state) WHERE (honorific_suffix_key IS NOT NULL);

CREATE INDEX users_by_display_name_key_created_at_id_state ON public.users USING btree (tenant_id, display_name_key, created_at, id, state) WHERE (display_name_key IS NOT NULL);

CREATE INDEX users_by_nick_name_key_created_at_id_state ON public.users USING btree (tenant_id, nick_name_key, created_at, id, state) WHERE (nick_name_key IS NOT NULL);

CREATE INDEX users_by_title_key_created_at_id_state ON public.users USING btree (tenant_id, title_key, created_at, id, state) WHERE (title_key IS NOT NULL);

CREATE INDEX users_by_user_type_key_created_at_id_state ON public.users USING btree (tenant_id, user_type_key, created_at, id, state) WHERE (user_type_key IS NOT NULL);

CREATE INDEX users_by_preferred_language_key_created_at_id_state ON public.users USING btree (tenant_id, preferred_language_key, created_at, id, state) WHERE (preferred_language_key IS NOT NULL);

CREATE INDEX users_by_locale_key_created_at_id_state ON public.users USING btree (tenant_id, locale_key, created_at, id, state) WHERE (locale_key IS NOT NULL);

CREATE INDEX users_by_timezone_key_created_at_id_state ON public.users USING btree (tenant_id, timezone_key, created_at, id, state) WHERE (timezone_key IS NOT NULL);

CREATE INDEX users_by_employee_number_key_created_at_id_state ON public.users USING btree (tenant_id, employee_number_key, created_at, id, state) WHERE (employee_number_key IS NOT NULL);

CREATE INDEX users_by_cost_center_key_created_at_id_state ON public.users USING btree (tenant_id, cost_center_key, created_at, id, state) WHERE (cost_center_key IS NOT NULL);

CREATE INDEX users_by_organization_key_created_at_id_state ON public.users USING btree (tenant_id, organization_key, created_at, id, state) WHERE (organization_key IS NOT NULL);

CREATE INDEX users_by_division_key_created_at_id_state ON public.users USING btree (tenant_id, division_key, created_at, id, state) WHERE (division_key IS NOT NULL);

CREATE INDEX users_by_department_key_created_at_id_state ON public.users USING btree (tenant_id, department_key, created_at, id, state) WHERE (department_key IS NOT NULL);

CREATE INDEX users_by_manager_display_name_key_created_at_id_state ON public.users USING btree (tenant_id, manager_display_name_key, created_at, id, state) WHERE (manager_display_name_key IS NOT NULL);

CREATE INDEX users_by_user_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, user_name_reversed, created_at, id, state) WHERE (user_name_reversed IS NOT NULL);

CREATE INDEX users_by_family_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, family_name_reversed, created_at, id, state) WHERE (family_name_reversed IS NOT NULL);

CREATE INDEX users_by_given_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, given_name_reversed, created_at, id, state) WHERE (given_name_reversed IS NOT NULL);

CREATE INDEX users_by_display_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, display_name_reversed, created_at, id, state) WHERE (display_name_reversed IS NOT NULL);

CREATE INDEX users_by_external_id_reversed_created_at_id_state ON public.users USING btree (tenant_id, external_id_reversed, created_at, id, state) WHERE (external_id_reversed IS NOT NULL);

CREATE INDEX users_by_external_id_created_at_id_state ON public.users USING btree (tenant_id, external_id, created_at, id, state) WHERE (external_id IS NOT NULL);

CREATE INDEX users_by_profile_url_created_at_id_state ON public.users USING btree (tenant_id, profile_url, created_at, id, state) WHERE (profile_url IS NOT NULL);

CREATE INDEX users_by_manager_value_created_at_id_state ON public.users USING btree (tenant_id, manager_value, created_at, id, state) WHERE (manager_value IS NOT NULL);

CREATE INDEX users_without_display_name_key ON public.users USING btree (tenant_id, created_at, id, state, display_name_key) WHERE ((display_name_key IS NULL) AND (state <> 'deleted'::text));

CREATE INDEX users_without_family_name_key ON public.users USING btree (tenant_id, created_at, id, state, family_name_key) WHERE ((family_name_key IS NULL) AND (state <> 'deleted'::text));

CREATE INDEX users_by_created_at_id_state ON public.users USING btree (tenant_id, created_at, id, state) WHERE (state <> 'deleted'::text);

CREATE INDEX users_by_updated_at_id_state ON public.users USING btree (tenant_id, updated_at, id, state) WHERE (state <> 'deleted'::text);

CREATE INDEX user_emails_by_value_reversed ON public.user_emails USING btree (tenant_id, value_reversed);

CREATE INDEX groups_by_display_name_reversed ON public.groups USING btree (tenant_id, display_name_reversed) WHERE (display_name_reversed IS NOT NULL);

CREATE INDEX groups_by_external_id ON public.groups USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL);

CREATE INDEX groups_by_external_id_reversed ON public.groups USING btree (tenant_id, external_id_reversed) WHERE (external_id_reversed IS NOT NULL);

CREATE INDEX groups_by_created_at_id_origin ON public.groups USING btree (tenant_id, created_at, id, origin) WHERE (origin = 'scim'::text);

CREATE INDEX user_values_by_attribute_value_key ON public.user_values USING btree (tenant_id, attribute, value_key) WHERE (value_key IS NOT NULL);

CREATE INDEX push_messages_by_next_attempt_at ON public.push_messages USING btree (next_attempt_at);

CREATE INDEX push_messages_by_expires_at ON public.push_messages USING btree (expires_at);

CREATE INDEX client_assertions_by_expires_at ON public.client_assertions USING btree (tenant_id, expires_at);

CREATE INDEX ciba_requests_by_expires_at ON public.ciba_requests USING btree (tenant_id, expires_at);

CREATE INDEX ciba_requests_by_client_id ON public.ciba_requests USING btree (tenant_id, client_id);

CREATE INDEX ciba_requests_by_user_id ON public.ciba_requests USING btree (tenant_id, user_id);

CREATE INDEX ciba_deliveries_by_due_at ON public.ciba_deliveries USING btree (due_at);

CREATE INDEX ciba_deliveries_by_request_id ON public.ciba_deliveries USING btree (request_id);

CREATE INDEX logout_notices_by_due_at ON public.logout_notices USING btree (due_at);

CREATE INDEX logout_notices_by_grant_id ON public.logout_notices USING btree (grant_id);

CREATE INDEX passkeys_by_user_id ON public.passkeys USING btree (tenant_id, user_id);

CREATE INDEX passkey_challenges_by_expires_at ON public.passkey_challenges USING btree (tenant_id, expires_at);

CREATE INDEX audit_events_by_user_id_id ON public.audit_events USING btree (tenant_id, user_id, id) WHERE (user_id IS NOT NULL);

CREATE INDEX activity_counts_by_hour_at ON public.activity_counts USING btree (tenant_id, hour_at);

CREATE INDEX access_assignments_by_user_id ON public.access_assignments USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX access_assignments_by_group_id ON public.access_assignments USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL);

CREATE INDEX setup_tokens_by_user_id ON public.setup_tokens USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX config_epochs_by_sequence ON public.config_epochs USING btree (sequence);

CREATE INDEX group_members_by_group_id_user_created_at_user_id ON public.group_members USING btree (tenant_id, group_id, user_created_at, user_id);

CREATE INDEX user_emails_primary ON public.user_emails USING btree (tenant_id, value_key, user_id) WHERE (is_primary = 1);

CREATE INDEX sso_sessions_by_browser_hash ON public.sso_sessions USING btree (tenant_id, browser_hash);

CREATE INDEX sso_sessions_by_user_id ON public.sso_sessions USING btree (tenant_id, user_id);

CREATE INDEX sso_sessions_by_expires_at ON public.sso_sessions USING btree (tenant_id, expires_at);

CREATE INDEX authorization_codes_by_sso_session_id ON public.authorization_codes USING btree (tenant_id, sso_session_id) WHERE (sso_session_id IS NOT NULL);

CREATE INDEX grants_by_sso_session_id ON public.grants USING btree (tenant_id, sso_session_id) WHERE (sso_session_id IS NOT NULL);

CREATE UNIQUE INDEX custom_attributes_by_name ON public.custom_attributes USING btree (tenant_id, name) WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX custom_attributes_by_claim ON public.custom_attributes USING btree (tenant_id, claim) WHERE (deleted_at IS NULL);

CREATE INDEX user_custom_values_by_attribute_value_key_user_id ON public.user_custom_values USING btree (tenant_id, attribute, value_key, user_id);

CREATE UNIQUE INDEX user_custom_values_by_attribute_unique_key ON public.user_custom_values USING btree (tenant_id, attribute, unique_key) WHERE (unique_key IS NOT NULL);

CREATE UNIQUE INDEX signing_keys_by_use_state ON public.signing_keys USING btree (tenant_id, use, state) WHERE ((use > 'saml:'::text) AND (use < 'saml;'::text) AND (state <> 'retired'::text));

CREATE INDEX saml_metadata_refreshes_by_due_at ON public.saml_metadata_refreshes USING btree (tenant_id, due_at);

CREATE INDEX signing_keys_by_use ON public.signing_keys USING btree (tenant_id, use);

CREATE INDEX pushed_requests_by_client_id_expires_at ON public.pushed_requests USING btree (tenant_id, client_id, expires_at) WHERE (used_at IS NULL);

CREATE INDEX audit_events_refusals ON public.audit_events USING btree (tenant_id, id) WHERE (type = ANY (ARRAY['refusal'::text, 'refusal_summary'::text]));

CREATE INDEX external_logins_by_expires_at ON public.external_logins USING btree (tenant_id, expires_at);

CREATE INDEX external_logins_by_provider_id ON public.external_logins USING btree (tenant_id, provider_id);

CREATE INDEX external_identities_by_user_id ON public.external_identities USING btree (tenant_id, user_id);

CREATE INDEX external_identities_by_provider_id ON public.external_identities USING btree (tenant_id, provider_id);

CREATE INDEX sso_sessions_by_external_identity_id ON public.sso_sessions USING btree (tenant_id, external_identity_id) WHERE (external_identity_id IS NOT NULL);

CREATE INDEX sso_sessions_by_external_session_id ON public.sso_sessions USING btree (tenant_id, external_session_id) WHERE (external_session_id IS NOT NULL);

CREATE INDEX invitations_by_token_hash ON public.invitations USING btree (tenant_id, token_hash);

CREATE INDEX invitations_by_visit_hash ON public.invitations USING btree (tenant_id, visit_hash) WHERE (visit_hash IS NOT NULL);

CREATE INDEX invitations_by_user_id ON public.invitations USING btree (tenant_id, user_id);

CREATE INDEX invitations_by_expires_at ON public.invitations USING btree (tenant_id, expires_at);

CREATE INDEX ciba_deliveries_by_lane_due_at ON public.ciba_deliveries USING btree (lane, due_at);

CREATE INDEX logout_notices_by_lane_due_at ON public.logout_notices USING btree (lane, due_at);

CREATE INDEX push_messages_by_lane_next_attempt_at ON public.push_messages USING btree (lane, next_attempt_at);

CREATE INDEX audit_events_unnumbered ON public.audit_events USING btree (tenant_id, id) WHERE (seq IS NULL);

CREATE UNIQUE INDEX audit_events_by_seq ON public.audit_events USING btree (tenant_id, seq) WHERE (seq IS NOT NULL);

CREATE INDEX invitations_by_stop_hash ON public.invitations USING btree (tenant_id, stop_hash) WHERE (stop_hash IS NOT NULL);

CREATE INDEX device_registrations_by_user_id ON public.device_registrations USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX device_authorizations_by_expires_at ON public.device_authorizations USING btree (tenant_id, expires_at);

CREATE INDEX device_authorizations_by_client_id ON public.device_authorizations USING btree (tenant_id, client_id);

CREATE INDEX device_authorizations_by_user_id ON public.device_authorizations USING btree (tenant_id, user_id);

CREATE INDEX initial_access_tokens_by_expires_at ON public.initial_access_tokens USING btree (tenant_id, expires_at);

CREATE INDEX provider_domains_by_provider_id ON public.provider_domains USING btree (tenant_id, provider_id);

CREATE INDEX devices_web_phones ON public.devices USING btree (tenant_id) WHERE ((platform = 'web'::text) AND (state = 'active'::text));

CREATE INDEX webhook_deliveries_by_webhook_id_id ON public.webhook_deliveries USING btree (tenant_id, webhook_id, id);

CREATE INDEX webhook_deliveries_by_webhook_id_state_id ON public.webhook_deliveries USING btree (tenant_id, webhook_id, state, id);

CREATE INDEX webhook_deliveries_by_expires_at ON public.webhook_deliveries USING btree (tenant_id, expires_at);

CREATE INDEX webhook_queue_by_lane_due_at ON public.webhook_queue USING btree (lane, due_at);

CREATE INDEX users_administrators ON public.users USING btree (tenant_id, id) WHERE (role = 'admin'::text);

CREATE INDEX sent_forms_by_expires_at ON public.sent_forms USING btree (tenant_id, expires_at);

CREATE INDEX users_shown_by_user_name ON public.users USING btree (tenant_id, user_name_key, created_at, id) WHERE (display_name_key IS NULL);

CREATE INDEX user_roles_by_role_user_id ON public.user_roles USING btree (tenant_id, role, user_id);

CREATE INDEX user_roles_by_custom_role ON public.user_roles USING btree (tenant_id, custom_role);

CREATE INDEX ssf_events_by_stream_id_created_at_seq ON public.ssf_events USING btree (tenant_id, stream_id, created_at, seq);

CREATE INDEX ssf_queue_by_id_due_at ON public.ssf_queue USING btree (id, due_at);

CREATE INDEX email_changes_by_created_at ON public.email_changes USING btree (tenant_id, created_at);

CREATE INDEX connector_links_by_connector_id_kind_due_at ON public.connector_links USING btree (tenant_id, connector_id, kind, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX connector_links_by_connector_id_state_local_id ON public.connector_links USING btree (tenant_id, connector_id, state, local_id);

CREATE INDEX connector_links_by_connector_id_remote_id ON public.connector_links USING btree (tenant_id, connector_id, remote_id);

CREATE INDEX connector_members_by_connector_id_user_id ON public.connector_members USING btree (tenant_id, connector_id, user_id);

CREATE INDEX outbox_messages_by_lane_next_attempt_at ON public.outbox_messages USING btree (lane, next_attempt_at);

CREATE INDEX tenants_by_pending_domain ON public.tenants USING btree (pending_domain) WHERE (pending_domain IS NOT NULL);

CREATE INDEX operator_entries_by_expires_at ON public.operator_entries USING btree (tenant_id, expires_at);

CREATE INDEX ssf_removed_subjects_by_user_id ON public.ssf_removed_subjects USING btree (tenant_id, user_id);

CREATE INDEX identity_provider_groups_by_provider_id ON public.identity_provider_groups USING btree (tenant_id, provider_id);

CREATE INDEX pin_failures_by_expires_at ON public.pin_failures USING btree (tenant_id, expires_at);

CREATE INDEX sign_in_openings_by_expires_at ON public.sign_in_openings USING btree (tenant_id, expires_at);

CREATE INDEX outbox_messages_that_wait ON public.outbox_messages USING btree (next_attempt_at) WHERE ((state = 'waiting'::text) OR (waits = 1));

CREATE INDEX clients_by_secret_by_client_id ON public.clients USING btree (tenant_id, secret_by, client_id) WHERE (secret_by IS NOT NULL);

CREATE INDEX initial_access_tokens_by_created_by_id ON public.initial_access_tokens USING btree (tenant_id, created_by, id) WHERE (created_by IS NOT NULL);

CREATE INDEX resources_by_clients_identifier ON public.resources USING btree (tenant_id, clients, identifier);

CREATE INDEX client_documents_by_used_at ON public.client_documents USING btree (tenant_id, used_at);

CREATE INDEX clients_by_origin_expires_at ON public.clients USING btree (tenant_id, origin, expires_at) WHERE (origin IS NOT NULL);

CREATE INDEX clients_by_expires_at ON public.clients USING btree (tenant_id, expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX sign_in_tries_by_started_at_id ON public.sign_in_tries USING btree (tenant_id, started_at, id);

CREATE INDEX sign_in_tries_by_user_id_started_at_id ON public.sign_in_tries USING btree (tenant_id, user_id, started_at, id);

CREATE INDEX sign_in_tries_by_application_started_at_id ON public.sign_in_tries USING btree (tenant_id, application, started_at, id);

CREATE INDEX sign_in_tries_by_expires_at ON public.sign_in_tries USING btree (tenant_id, expires_at);

CREATE INDEX sign_in_lines_by_request_id ON public.sign_in_lines USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL);

CREATE INDEX client_workloads_by_issuer_hash_subject_hash_client_id ON public.client_workloads USING btree (tenant_id, issuer_hash, subject_hash, client_id);

CREATE INDEX console_tasks_by_expires_at ON public.console_tasks USING btree (tenant_id, expires_at);

CREATE INDEX console_task_items_by_task_id_state_position ON public.console_task_items USING btree (tenant_id, task_id, state, "position");

CREATE INDEX scim_tokens_by_expires_at ON public.scim_tokens USING btree (tenant_id, expires_at);

CREATE INDEX directory_states_by_next_at ON public.directory_states USING btree (tenant_id, next_at) WHERE (next_at IS NOT NULL);

CREATE INDEX directory_links_by_directory_id_state_remote_id ON public.directory_links USING btree (tenant_id, directory_id, state, remote_id);

CREATE INDEX directory_links_by_directory_id_dn_hash ON public.directory_links USING btree (tenant_id, directory_id, dn_hash);

CREATE INDEX directory_links_by_directory_id_leaving_remote_id ON public.directory_links USING btree (tenant_id, directory_id, leaving, remote_id) WHERE (leaving > 0);

CREATE UNIQUE INDEX directory_links_by_local_id ON public.directory_links USING btree (tenant_id, local_id) WHERE (local_id IS NOT NULL);

CREATE INDEX tenants_by_directories_due_at ON public.tenants USING btree (directories_due_at) WHERE (directories_due_at IS NOT NULL);

CREATE INDEX sign_in_tries_by_address_block_user_id_started_at_id ON public.sign_in_tries USING btree (tenant_id, address_block, user_id, started_at, id);

CREATE INDEX organization_members_by_user_id_organization_id ON public.organization_members USING btree (tenant_id, user_id, organization_id);

CREATE INDEX organization_domains_by_organization_id ON public.organization_domains USING btree (tenant_id, organization_id);

CREATE INDEX organization_providers_by_organization_id ON public.organization_providers USING btree (tenant_id, organization_id);

CREATE INDEX organization_assignments_by_organization_id ON public.organization_assignments USING btree (tenant_id, organization_id);

CREATE INDEX organization_invitations_by_organization_id_id ON public.organization_invitations USING btree (tenant_id, organization_id, id);

CREATE INDEX organization_invitations_by_organization_id_email_key ON public.organization_invitations USING btree (tenant_id, organization_id, email_key);

CREATE INDEX organization_invitations_by_expires_at ON public.organization_invitations USING btree (tenant_id, expires_at);

CREATE INDEX sign_in_tries_by_organization_id_started_at ON public.sign_in_tries USING btree (tenant_id, organization_id, started_at) WHERE (organization_id IS NOT NULL);

CREATE INDEX organization_setup_links_by_organization_id_id ON public.organization_setup_links USING btree (tenant_id, organization_id, id);

CREATE INDEX organization_setup_links_by_expires_at ON public.organization_setup_links USING btree (tenant_id, expires_at);

CREATE INDEX organization_groups_by_organization_id_created_at_id ON public.organization_groups USING btree (tenant_id, organization_id, created_at, id);

CREATE INDEX organization_group_members_by_organization_id_user_id_group_id ON public.organization_group_members USING btree (tenant_id, organization_id, user_id, group_id);

CREATE INDEX scim_tokens_by_organization_id_id ON public.scim_tokens USING btree (tenant_id, organization_id, id);

CREATE INDEX scim_tokens_by_created_by_id ON public.scim_tokens USING btree (tenant_id, created_by, id);

CREATE INDEX service_providers_by_organization ON public.service_providers USING btree (tenant_id, organization) WHERE (organization IS NOT NULL);

CREATE INDEX first_steps_by_expires_at ON public.first_steps USING btree (tenant_id, expires_at);

CREATE INDEX saml_sessions_by_sso_session_id ON public.saml_sessions USING btree (tenant_id, sso_session_id) WHERE (sso_session_id IS NOT NULL);

CREATE INDEX saml_sessions_by_user_id ON public.saml_sessions USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL);

CREATE OR REPLACE FUNCTION public.users_counted_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'users', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, 1 AS step FROM new_rows changed WHERE changed.state <> 'deleted') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.users_counted_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'users', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, -1 AS step FROM old_rows changed WHERE changed.state <> 'deleted') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.users_counted_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'users', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, 1 AS step FROM new_rows changed WHERE changed.state <> 'deleted' UNION ALL SELECT tenant_id, -1 AS step FROM old_rows changed WHERE changed.state <> 'deleted') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.groups_counted_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'groups', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, 1 AS step FROM new_rows changed WHERE changed.origin = 'scim') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.groups_counted_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'groups', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, -1 AS step FROM old_rows changed WHERE changed.origin = 'scim') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.groups_counted_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, 'groups', pg_backend_pid() % 16, sum(step) FROM (SELECT tenant_id, 1 AS step FROM new_rows changed WHERE changed.origin = 'scim' UNION ALL SELECT tenant_id, -1 AS step FROM old_rows changed WHERE changed.origin = 'scim') steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $function$;

CREATE OR REPLACE FUNCTION public.config_epochs_sequence()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
    BEGIN NEW.sequence := pg_current_xact_id()::text::bigint; RETURN NEW; END $function$;

CREATE OR REPLACE FUNCTION public.group_members_counted_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'members:' || group_id, pg_backend_pid() % 16, 1 * count(*) FROM changed GROUP BY tenant_id, group_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION public.group_members_counted_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'members:' || group_id, pg_backend_pid() % 16, -1 * count(*) FROM changed GROUP BY tenant_id, group_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION public.groups_forget_count()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN DELETE FROM directory_counts counts USING changed
      WHERE counts.tenant_id = changed.tenant_id AND counts.kind = 'members:' || changed.id; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION public.gatehouse_enter(entered text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(718293646, hashtext(entered));
      IF EXISTS (SELECT FROM tenants WHERE tenant_id = entered AND moving IS NOT NULL) THEN
        RAISE EXCEPTION 'the tenant is closed' USING ERRCODE = 'GH001';
      END IF;
    END $function$;

CREATE OR REPLACE FUNCTION public.organization_members_counted_insert()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'memberships', pg_backend_pid() % 16, 1 * count(*) FROM changed GROUP BY tenant_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n; RETURN NULL; END $function$;

CREATE OR REPLACE FUNCTION public.organization_members_counted_delete()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$ BEGIN INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
        SELECT tenant_id, 'memberships', pg_backend_pid() % 16, -1 * count(*) FROM changed GROUP BY tenant_id
        ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n; RETURN NULL; END $function$;

CREATE TRIGGER users_counted_insert AFTER INSERT ON public.users REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION users_counted_insert();

CREATE TRIGGER users_counted_delete AFTER DELETE ON public.users REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION users_counted_delete();

CREATE TRIGGER users_counted_update AFTER UPDATE ON public.users REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION users_counted_update();

CREATE TRIGGER groups_counted_insert AFTER INSERT ON public.groups REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION groups_counted_insert();

CREATE TRIGGER groups_counted_delete AFTER DELETE ON public.groups REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION groups_counted_delete();

CREATE TRIGGER groups_counted_update AFTER UPDATE ON public.groups REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION groups_counted_update();

CREATE TRIGGER config_epochs_sequence BEFORE INSERT OR UPDATE ON public.config_epochs FOR EACH ROW EXECUTE FUNCTION config_epochs_sequence();

CREATE TRIGGER group_members_counted_insert AFTER INSERT ON public.group_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION group_members_counted_insert();

CREATE TRIGGER group_members_counted_delete AFTER DELETE ON public.group_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION group_members_counted_delete();

CREATE TRIGGER groups_forget_count AFTER DELETE ON public.groups REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION groups_forget_count();

CREATE TRIGGER organization_members_counted_insert AFTER INSERT ON public.organization_members REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION organization_members_counted_insert();

CREATE TRIGGER organization_members_counted_delete AFTER DELETE ON public.organization_members REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION organization_members_counted_delete();

DO $$ BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  CREATE INDEX users_user_name_key_trigrams ON public.users USING gin (user_name_key gin_trgm_ops);
  CREATE INDEX users_display_name_key_trigrams ON public.users USING gin (display_name_key gin_trgm_ops);
  CREATE INDEX users_given_name_key_trigrams ON public.users USING gin (given_name_key gin_trgm_ops);
  CREATE INDEX users_family_name_key_trigrams ON public.users USING gin (family_name_key gin_trgm_ops);
  CREATE INDEX user_emails_value_key_trigrams ON public.user_emails USING gin (value_key gin_trgm_ops);
EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
  RAISE NOTICE 'pg_trgm cannot be created here; SCIM co filters will scan';
END $$;

INSERT INTO schema_migrations (number, name, applied_at) VALUES
  (1, 'foundation', gatehouse_now_ms()),
  (2, 'signin', gatehouse_now_ms()),
  (3, 'oidc', gatehouse_now_ms()),
  (4, 'devices', gatehouse_now_ms()),
  (5, 'management', gatehouse_now_ms()),
  (6, 'saml', gatehouse_now_ms()),
  (8, 'provisioning', gatehouse_now_ms()),
  (9, 'push', gatehouse_now_ms()),
  (40, 'oidc-clients', gatehouse_now_ms()),
  (50, 'passkeys', gatehouse_now_ms()),
  (51, 'account', gatehouse_now_ms()),
  (53, 'activity', gatehouse_now_ms()),
  (54, 'approval-claims', gatehouse_now_ms()),
  (60, 'lookups', gatehouse_now_ms());

INSERT INTO schema_steps (number, name, applied_at) VALUES
  (90, 'config-sequence', gatehouse_now_ms()),
  (91, 'config-sequence-index', gatehouse_now_ms()),
  (100, 'repeatable-redemption', gatehouse_now_ms()),
  (101, 'web-phones', gatehouse_now_ms()),
  (110, 'saml-sign-in-method', gatehouse_now_ms()),
  (111, 'saml-key-readers', gatehouse_now_ms()),
  (121, 'directory-order', gatehouse_now_ms()),
  (122, 'sharp-s-users', gatehouse_now_ms()),
  (123, 'sharp-s-user-emails', gatehouse_now_ms()),
  (124, 'sharp-s-groups', gatehouse_now_ms()),
  (125, 'sharp-s-user-values', gatehouse_now_ms()),
  (126, 'sharp-s-user-addresses', gatehouse_now_ms()),
  (130, 'sso-sessions', gatehouse_now_ms()),
  (131, 'pushed-request-login', gatehouse_now_ms()),
  (132, 'codes-of-session', gatehouse_now_ms()),
  (133, 'grants-of-session', gatehouse_now_ms()),
  (140, 'custom-attributes', gatehouse_now_ms()),
  (150, 'name-id-sources', gatehouse_now_ms()),
  (151, 'own-saml-keys', gatehouse_now_ms()),
  (152, 'own-saml-keys-once', gatehouse_now_ms()),
  (153, 'metadata-refreshes', gatehouse_now_ms()),
  (154, 'signing-keys-by-use', gatehouse_now_ms()),
  (175, 'waiting-pushed-requests', gatehouse_now_ms()),
  (176, 'refusals-in-order', gatehouse_now_ms()),
  (180, 'identity-providers', gatehouse_now_ms()),
  (181, 'sessions-of-identity', gatehouse_now_ms()),
  (182, 'sessions-of-provider-session', gatehouse_now_ms()),
  (190, 'kept-login-methods', gatehouse_now_ms()),
  (191, 'invitations', gatehouse_now_ms()),
  (200, 'delivery-lanes', gatehouse_now_ms()),
  (201, 'ciba-deliveries-by-lane', gatehouse_now_ms()),
  (202, 'logout-notices-by-lane', gatehouse_now_ms()),
  (203, 'push-messages-by-lane', gatehouse_now_ms()),
  (204, 'event-feed', gatehouse_now_ms()),
  (205, 'unnumbered-events', gatehouse_now_ms()),
  (206, 'numbered-events', gatehouse_now_ms()),
  (210, 'tenant-moves', gatehouse_now_ms()),
  (220, 'recovery', gatehouse_now_ms()),
  (221, 'recoveries-to-stop', gatehouse_now_ms()),
  (222, 'recover-capability', gatehouse_now_ms()),
  (223, 'registrations-of-user', gatehouse_now_ms()),
  (230, 'sender-constrained-clients', gatehouse_now_ms()),
  (231, 'device-authorizations', gatehouse_now_ms()),
  (232, 'client-registrations', gatehouse_now_ms()),
  (240, 'response-mode', gatehouse_now_ms()),
  (241, 'requested-claims', gatehouse_now_ms()),
  (242, 'signed-requests', gatehouse_now_ms()),
  (243, 'client-certificates', gatehouse_now_ms()),
  (250, 'upstream-saml', gatehouse_now_ms()),
  (251, 'provider-domains', gatehouse_now_ms()),
  (260, 'push-results', gatehouse_now_ms()),
  (270, 'same-browser', gatehouse_now_ms()),
  (271, 'web-phones-in-force', gatehouse_now_ms()),
  (280, 'webhooks', gatehouse_now_ms()),
  (281, 'webhook-capabilities', gatehouse_now_ms()),
  (282, 'administrators', gatehouse_now_ms()),
  (290, 'mappings', gatehouse_now_ms()),
  (300, 'hooks', gatehouse_now_ms()),
  (310, 'sent-forms', gatehouse_now_ms()),
  (311, 'users-by-user-name-alone', gatehouse_now_ms()),
  (320, 'roles', gatehouse_now_ms()),
  (321, 'owners', gatehouse_now_ms()),
  (322, 'role-capabilities', gatehouse_now_ms()),
  (330, 'appearance', gatehouse_now_ms()),
  (331, 'appearance-capabilities', gatehouse_now_ms()),
  (340, 'ssf', gatehouse_now_ms()),
  (341, 'ssf-capabilities', gatehouse_now_ms()),
  (350, 'connectors', gatehouse_now_ms()),
  (351, 'connector-capabilities', gatehouse_now_ms()),
  (360, 'inbound-mappings', gatehouse_now_ms()),
  (390, 'mail-lanes', gatehouse_now_ms()),
  (391, 'mails-by-lane', gatehouse_now_ms()),
  (392, 'pending-domains', gatehouse_now_ms()),
  (393, 'tenants-by-pending-domain', gatehouse_now_ms()),
  (400, 'last-sign-ins', gatehouse_now_ms()),
  (401, 'operator-entries', gatehouse_now_ms()),
  (420, 'ssf-subjects', gatehouse_now_ms()),
  (430, 'provider-groups', gatehouse_now_ms()),
  (500, 'sign-in-capabilities', gatehouse_now_ms()),
  (510, 'budgets', gatehouse_now_ms()),
  (511, 'sign-in-openings', gatehouse_now_ms()),
  (520, 'sealed-mails', gatehouse_now_ms()),
  (521, 'mails-that-wait', gatehouse_now_ms()),
  (522, 'makers', gatehouse_now_ms()),
  (523, 'clients-by-secret-maker', gatehouse_now_ms()),
  (524, 'initial-access-tokens-by-maker', gatehouse_now_ms()),
  (530, 'open-resources', gatehouse_now_ms()),
  (531, 'resources-by-clients', gatehouse_now_ms()),
  (532, 'strangers', gatehouse_now_ms()),
  (533, 'clients-by-origin', gatehouse_now_ms()),
  (534, 'clients-by-end', gatehouse_now_ms()),
  (550, 'kept-audiences', gatehouse_now_ms()),
  (551, 'token-exchange', gatehouse_now_ms()),
  (552, 'sign-in-tries', gatehouse_now_ms()),
  (560, 'domain-proof-salts', gatehouse_now_ms()),
  (561, 'workloads', gatehouse_now_ms()),
  (562, 'providers-of-grants', gatehouse_now_ms()),
  (563, 'console-tasks', gatehouse_now_ms()),
  (564, 'scim-tokens', gatehouse_now_ms()),
  (565, 'directories', gatehouse_now_ms()),
  (566, 'tenants-by-due-directory', gatehouse_now_ms()),
  (570, 'cross-app-access', gatehouse_now_ms()),
  (571, 'cross-app-providers', gatehouse_now_ms()),
  (576, 'tries-of-address', gatehouse_now_ms()),
  (577, 'tries-of-address-before', gatehouse_now_ms()),
  (580, 'organizations', gatehouse_now_ms()),
  (581, 'organization-capabilities', gatehouse_now_ms()),
  (582, 'organizations-of-grants', gatehouse_now_ms()),
  (583, 'organization-sign-in', gatehouse_now_ms()),
  (584, 'organization-assignments', gatehouse_now_ms()),
  (590, 'managers-of-organizations', gatehouse_now_ms()),
  (591, 'organization-invitations', gatehouse_now_ms()),
  (592, 'organizations-of-tries', gatehouse_now_ms()),
  (593, 'tries-by-organization', gatehouse_now_ms()),
  (594, 'organization-setup-links', gatehouse_now_ms()),
  (597, 'organization-scim', gatehouse_now_ms()),
  (598, 'scim-tokens-by-organization', gatehouse_now_ms()),
  (599, 'scim-tokens-by-maker', gatehouse_now_ms()),
  (600, 'organizations-of-service-providers', gatehouse_now_ms()),
  (601, 'service-providers-by-organization', gatehouse_now_ms()),
  (607, 'memberships-counted', gatehouse_now_ms()),
  (612, 'first-steps', gatehouse_now_ms()),
  (613, 'saml-sessions-by-session', gatehouse_now_ms()),
  (614, 'saml-sessions-by-user', gatehouse_now_ms());

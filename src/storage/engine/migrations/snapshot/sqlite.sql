-- The schema as the migrations leave it, for a new database. Written by `npm run migration`; do not edit.
CREATE TABLE "instance" ("key" TEXT NOT NULL, "value" TEXT NOT NULL, PRIMARY KEY ("key")) STRICT, WITHOUT ROWID;

CREATE TABLE "config_epochs" ("tenant_id" TEXT NOT NULL, "version" INTEGER NOT NULL, "changed_at" INTEGER NOT NULL, "sequence" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id")) STRICT, WITHOUT ROWID;

CREATE INDEX "config_epochs_by_changed_at" ON "config_epochs" ("changed_at");

CREATE TABLE "tenants" ("tenant_id" TEXT NOT NULL, "slug" TEXT NOT NULL, "name" TEXT NOT NULL, "domain" TEXT, "enabled" INTEGER NOT NULL DEFAULT 1, "settings" TEXT NOT NULL DEFAULT '{}', "secret_encrypted" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "moving" TEXT, "has_webhooks" INTEGER NOT NULL DEFAULT 0, "has_streams" INTEGER NOT NULL DEFAULT 0, "has_connectors" INTEGER NOT NULL DEFAULT 0, "pending_domain" TEXT, "pending_verified_at" INTEGER, "directories_due_at" INTEGER, PRIMARY KEY ("tenant_id"), UNIQUE ("slug"), UNIQUE ("domain")) STRICT, WITHOUT ROWID;

CREATE TABLE "signing_keys" ("tenant_id" TEXT NOT NULL, "kid" TEXT NOT NULL, "use" TEXT NOT NULL, "alg" TEXT NOT NULL, "state" TEXT NOT NULL, "private_key_encrypted" TEXT NOT NULL, "public_jwk" TEXT NOT NULL, "certificate" TEXT, "created_at" INTEGER NOT NULL, "activated_at" INTEGER, "retired_at" INTEGER, "signs_from" INTEGER, PRIMARY KEY ("tenant_id", "kid"), CHECK (state IN ('next', 'current', 'retired'))) STRICT, WITHOUT ROWID;

CREATE TABLE "clients" ("tenant_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL, "token_endpoint_auth_method" TEXT NOT NULL, "secret_hash" TEXT, "secret_encrypted" TEXT, "jwks" TEXT, "jwks_uri" TEXT, "redirect_uris" TEXT NOT NULL, "post_logout_redirect_uris" TEXT NOT NULL, "grant_types" TEXT NOT NULL, "scopes" TEXT NOT NULL, "resources" TEXT NOT NULL, "require_pkce" INTEGER NOT NULL, "require_par" INTEGER NOT NULL, "require_consent" INTEGER NOT NULL, "authorize_error_delivery" TEXT NOT NULL, "id_token_signed_response_alg" TEXT NOT NULL, "backchannel_token_delivery_mode" TEXT, "backchannel_client_notification_endpoint" TEXT, "access_policy" TEXT NOT NULL, "refresh_reuse_leeway_seconds" INTEGER NOT NULL, "logo_uri" TEXT, "enabled" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "backchannel_logout_uri" TEXT, "profile" TEXT, "dpop_bound_access_tokens" INTEGER NOT NULL DEFAULT 0, "require_signed_request_object" INTEGER NOT NULL DEFAULT 0, "tls_client_auth_subject_dn" TEXT, "tls_client_auth_san_dns" TEXT, "tls_client_auth_san_uri" TEXT, "tls_client_auth_san_ip" TEXT, "tls_client_auth_san_email" TEXT, "tls_client_certificate_bound_access_tokens" INTEGER NOT NULL DEFAULT 0, "mappings" TEXT NOT NULL DEFAULT '[]', "created_by" TEXT, "secret_by" TEXT, "secret_at" INTEGER, "origin" TEXT, "expires_at" INTEGER, "serves" TEXT NOT NULL DEFAULT '[]', "exchange" TEXT NOT NULL DEFAULT '[]', "workloads" TEXT NOT NULL DEFAULT '[]', "cross_app_access" TEXT NOT NULL DEFAULT '[]', PRIMARY KEY ("tenant_id", "client_id"), CHECK (type IN ('confidential', 'public')), CHECK (access_policy IN ('everyone', 'assigned')), CHECK (authorize_error_delivery IN ('direct', 'redirect'))) STRICT, WITHOUT ROWID;

CREATE TABLE "resources" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "identifier" TEXT NOT NULL, "name" TEXT NOT NULL, "scopes" TEXT NOT NULL, "access_token_lifetime_seconds" INTEGER, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "clients" TEXT NOT NULL DEFAULT 'listed', "refresh" INTEGER NOT NULL DEFAULT 1, "unknown_access_policy" TEXT NOT NULL DEFAULT 'everyone', "documentation_uri" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "identifier")) STRICT, WITHOUT ROWID;

CREATE TABLE "users" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_name" TEXT, "user_name_key" TEXT, "state" TEXT NOT NULL, "external_id" TEXT, "display_name" TEXT, "given_name" TEXT, "family_name" TEXT, "middle_name" TEXT, "honorific_prefix" TEXT, "honorific_suffix" TEXT, "name_formatted" TEXT, "nick_name" TEXT, "profile_url" TEXT, "title" TEXT, "user_type" TEXT, "preferred_language" TEXT, "locale" TEXT, "timezone" TEXT, "origin" TEXT NOT NULL, "role" TEXT NOT NULL DEFAULT 'user', "version" INTEGER NOT NULL DEFAULT 1, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "employee_number" TEXT, "cost_center" TEXT, "organization" TEXT, "division" TEXT, "department" TEXT, "manager_value" TEXT, "manager_display_name" TEXT, "name_formatted_key" TEXT, "family_name_key" TEXT, "given_name_key" TEXT, "middle_name_key" TEXT, "honorific_prefix_key" TEXT, "honorific_suffix_key" TEXT, "display_name_key" TEXT, "nick_name_key" TEXT, "title_key" TEXT, "user_type_key" TEXT, "preferred_language_key" TEXT, "locale_key" TEXT, "timezone_key" TEXT, "employee_number_key" TEXT, "cost_center_key" TEXT, "organization_key" TEXT, "division_key" TEXT, "department_key" TEXT, "manager_display_name_key" TEXT, "user_name_reversed" TEXT, "family_name_reversed" TEXT, "given_name_reversed" TEXT, "display_name_reversed" TEXT, "external_id_reversed" TEXT, "custom" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "user_name_key"), CHECK (state IN ('active', 'suspended', 'deleted')), CHECK (role IN ('user', 'admin'))) STRICT, WITHOUT ROWID;

CREATE TABLE "user_emails" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "position" INTEGER NOT NULL, "value" TEXT NOT NULL, "value_key" TEXT NOT NULL, "type" TEXT, "display" TEXT, "is_primary" INTEGER NOT NULL DEFAULT 0, "type_key" TEXT, "display_key" TEXT, "value_reversed" TEXT, PRIMARY KEY ("tenant_id", "user_id", "position"), UNIQUE ("tenant_id", "value_key"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "groups" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "display_name" TEXT NOT NULL, "display_name_key" TEXT NOT NULL, "origin" TEXT NOT NULL, "external_id" TEXT, "version" INTEGER NOT NULL DEFAULT 1, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "display_name_reversed" TEXT, "external_id_reversed" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "display_name_key"), CHECK (origin IN ('console', 'scim'))) STRICT, WITHOUT ROWID;

CREATE TABLE "group_members" ("tenant_id" TEXT NOT NULL, "group_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "user_created_at" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "group_id", "user_id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "group_id") REFERENCES "groups" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "group_members_by_user_id" ON "group_members" ("tenant_id", "user_id");

CREATE TABLE "grants" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "scope" TEXT NOT NULL, "resource" TEXT, "auth_time" INTEGER NOT NULL, "acr" TEXT, "amr" TEXT NOT NULL, "nonce" TEXT, "max_age" INTEGER, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "revoked_at" INTEGER, "revoked_reason" TEXT, "dpop_jkt" TEXT, "sso_session_id" TEXT, "authorized_at" INTEGER, "claims" TEXT, "certificate_thumbprint" TEXT, "hook_claims" TEXT, "external_identity_id" TEXT, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "grants_by_user_id" ON "grants" ("tenant_id", "user_id");

CREATE INDEX "grants_by_client_id" ON "grants" ("tenant_id", "client_id");

CREATE INDEX "grants_by_expires_at" ON "grants" ("tenant_id", "expires_at");

CREATE TABLE "authorization_codes" ("tenant_id" TEXT NOT NULL, "code_hash" TEXT NOT NULL, "grant_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "redirect_uri" TEXT NOT NULL, "scope" TEXT NOT NULL, "resource" TEXT, "nonce" TEXT, "code_challenge" TEXT, "max_age" INTEGER, "auth_time" INTEGER NOT NULL, "acr" TEXT, "amr" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "dpop_jkt" TEXT, "sso_session_id" TEXT, "authorized_at" INTEGER, "claims" TEXT, "certificate_thumbprint" TEXT, "hook_claims" TEXT, "external_identity_id" TEXT, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "code_hash"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "authorization_codes_by_expires_at" ON "authorization_codes" ("tenant_id", "expires_at");

CREATE INDEX "authorization_codes_by_client_id" ON "authorization_codes" ("tenant_id", "client_id");

CREATE INDEX "authorization_codes_by_user_id" ON "authorization_codes" ("tenant_id", "user_id");

CREATE TABLE "refresh_tokens" ("tenant_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "grant_id" TEXT NOT NULL, "generation" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "successor_encrypted" TEXT, PRIMARY KEY ("tenant_id", "token_hash"), UNIQUE ("tenant_id", "grant_id", "generation"), FOREIGN KEY ("tenant_id", "grant_id") REFERENCES "grants" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "refresh_tokens_by_expires_at" ON "refresh_tokens" ("tenant_id", "expires_at");

CREATE TABLE "revoked_tokens" ("tenant_id" TEXT NOT NULL, "jti" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "jti")) STRICT, WITHOUT ROWID;

CREATE INDEX "revoked_tokens_by_expires_at" ON "revoked_tokens" ("tenant_id", "expires_at");

CREATE TABLE "audit_events" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "type" TEXT NOT NULL, "request_id" TEXT, "actor" TEXT, "target" TEXT, "row_id" TEXT, "reason" TEXT, "received" TEXT, "expected" TEXT, "data" TEXT, "user_id" TEXT, "seq" INTEGER, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "audit_events_by_request_id" ON "audit_events" ("tenant_id", "request_id") WHERE request_id IS NOT NULL;

CREATE INDEX "audit_events_by_type_id" ON "audit_events" ("tenant_id", "type", "id");

CREATE INDEX "audit_events_by_created_at" ON "audit_events" ("tenant_id", "created_at");

CREATE TABLE "approvals" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "kind" TEXT NOT NULL, "state" TEXT NOT NULL DEFAULT 'pending', "user_id" TEXT, "subject_key" TEXT NOT NULL, "client_id" TEXT, "service_provider_id" TEXT, "new_device_id" TEXT, "scope" TEXT, "binding_message" TEXT, "number" TEXT, "on_devices" INTEGER NOT NULL DEFAULT 0, "initiated_ip" TEXT, "initiated_user_agent" TEXT, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "decided_at" INTEGER, "method" TEXT, "acr" TEXT, "amr" TEXT, "decided_by" TEXT, "deny_reason" TEXT, "claimed_by" TEXT, "transaction_id" TEXT, "claimed_as" TEXT, "asked_by" TEXT, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (kind IN ('oidc_login', 'saml_login', 'ciba', 'device_add')), CHECK (state IN ('pending', 'approved', 'denied', 'expired'))) STRICT, WITHOUT ROWID;

CREATE INDEX "approvals_by_user_id_expires_at" ON "approvals" ("tenant_id", "user_id", "expires_at");

CREATE INDEX "approvals_by_subject_key_created_at" ON "approvals" ("tenant_id", "subject_key", "created_at");

CREATE INDEX "approvals_by_expires_at" ON "approvals" ("tenant_id", "expires_at");

CREATE TABLE "login_transactions" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "kind" TEXT NOT NULL, "binding_hash" TEXT NOT NULL, "step" TEXT NOT NULL DEFAULT 'identify', "client_id" TEXT, "service_provider_id" TEXT, "display_name" TEXT, "redirect_uri" TEXT, "scope" TEXT, "resource" TEXT, "request_state" TEXT, "nonce" TEXT, "code_challenge" TEXT, "dpop_jkt" TEXT, "max_age" INTEGER, "acr_values" TEXT, "prompt" TEXT, "login_hint" TEXT, "ui_locales" TEXT, "saml_session_sealed" TEXT, "identifier" TEXT, "user_id" TEXT, "subject_key" TEXT, "mail_key" TEXT, "methods" TEXT NOT NULL DEFAULT '[]', "approval_id" TEXT, "initiated_ip" TEXT, "initiated_user_agent" TEXT, "lifetime_seconds" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "finished_at" INTEGER, "outcome" TEXT, "id_token_hint_user" TEXT, "sso_session_id" TEXT, "sso_declined" INTEGER NOT NULL DEFAULT 0, "keeps_session" INTEGER NOT NULL DEFAULT 1, "external_identity" TEXT, "response_mode" TEXT, "claims" TEXT, "essential_acr" TEXT, "provider_id" TEXT, "document_client_id" TEXT, "organization_id" TEXT, "chosen_organization_id" TEXT, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (kind IN ('oidc', 'saml')), CHECK (step IN ('identify', 'choose', 'waiting', 'pin', 'passkey'))) STRICT, WITHOUT ROWID;

CREATE INDEX "login_transactions_by_expires_at" ON "login_transactions" ("tenant_id", "expires_at");

CREATE INDEX "login_transactions_by_client_id" ON "login_transactions" ("tenant_id", "client_id");

CREATE INDEX "login_transactions_by_user_id" ON "login_transactions" ("tenant_id", "user_id");

CREATE TABLE "pins" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "purpose" TEXT NOT NULL, "subject_id" TEXT NOT NULL, "mail_key" TEXT NOT NULL, "pin_hmac" TEXT NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "attempts_max" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "replaced_at" INTEGER, "used_at" INTEGER, "digits" INTEGER NOT NULL DEFAULT 6, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "pins_by_purpose_subject_id" ON "pins" ("tenant_id", "purpose", "subject_id");

CREATE INDEX "pins_by_expires_at" ON "pins" ("tenant_id", "expires_at");

CREATE TABLE "pin_mailboxes" ("tenant_id" TEXT NOT NULL, "mail_key" TEXT NOT NULL, "last_sent_at" INTEGER, "sends" INTEGER NOT NULL DEFAULT 0, "sends_since" INTEGER NOT NULL DEFAULT 0, "failures" INTEGER NOT NULL DEFAULT 0, "failures_since" INTEGER NOT NULL DEFAULT 0, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "mail_key")) STRICT, WITHOUT ROWID;

CREATE INDEX "pin_mailboxes_by_expires_at" ON "pin_mailboxes" ("tenant_id", "expires_at");

CREATE TABLE "consents" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "scope_set" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "resource" TEXT, PRIMARY KEY ("tenant_id", "user_id", "client_id", "scope_set"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "consents_by_client_id" ON "consents" ("tenant_id", "client_id");

CREATE TABLE "outbox_messages" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "recipient" TEXT NOT NULL, "recipient_key" TEXT NOT NULL, "subject" TEXT NOT NULL, "text" TEXT NOT NULL, "html" TEXT NOT NULL, "state" TEXT NOT NULL DEFAULT 'waiting', "attempts" INTEGER NOT NULL DEFAULT 0, "next_attempt_at" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "lane" TEXT NOT NULL DEFAULT '', "message_encrypted" TEXT, "waits" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("id"), CHECK (state IN ('waiting', 'kept', 'discarded'))) STRICT, WITHOUT ROWID;

CREATE INDEX "outbox_messages_by_recipient_key_id" ON "outbox_messages" ("recipient_key", "id");

CREATE INDEX "outbox_messages_by_next_attempt_at" ON "outbox_messages" ("next_attempt_at") WHERE state = 'waiting';

CREATE INDEX "outbox_messages_by_expires_at" ON "outbox_messages" ("expires_at");

CREATE TABLE "pushed_requests" ("tenant_id" TEXT NOT NULL, "reference_hash" TEXT NOT NULL, "client_id" TEXT NOT NULL, "parameters" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "transaction_id" TEXT, PRIMARY KEY ("tenant_id", "reference_hash"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "pushed_requests_by_expires_at" ON "pushed_requests" ("tenant_id", "expires_at");

CREATE INDEX "pushed_requests_by_client_id" ON "pushed_requests" ("tenant_id", "client_id");

CREATE TABLE "dpop_proofs" ("tenant_id" TEXT NOT NULL, "proof_hash" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "proof_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "dpop_proofs_by_expires_at" ON "dpop_proofs" ("tenant_id", "expires_at");

CREATE TABLE "device_identifiers" ("id" TEXT NOT NULL, "claimed_at" INTEGER NOT NULL, PRIMARY KEY ("id")) STRICT, WITHOUT ROWID;

CREATE TABLE "devices" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "state" TEXT NOT NULL, "platform" TEXT NOT NULL, "name" TEXT NOT NULL, "model" TEXT, "os_version" TEXT, "app_version" TEXT, "push_provider" TEXT NOT NULL DEFAULT 'none', "push_token_encrypted" TEXT, "attestation_format" TEXT, "attestation_app_id" TEXT, "attestation_public_key" TEXT, "attestation_counter" INTEGER, "created_at" INTEGER NOT NULL, "revoked_at" INTEGER, "last_seen_at" INTEGER, "key_protection" TEXT, "web_push_encrypted" TEXT, "web_push_vendor" TEXT, "push_tried_at" INTEGER, "push_outcome" TEXT, "push_reason" TEXT, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (state IN ('active', 'revoked')), CHECK (push_provider IN ('apns', 'fcm', 'none'))) STRICT, WITHOUT ROWID;

CREATE INDEX "devices_by_user_id" ON "devices" ("tenant_id", "user_id");

CREATE TABLE "device_keys" ("tenant_id" TEXT NOT NULL, "device_id" TEXT NOT NULL, "key_id" TEXT NOT NULL, "purpose" TEXT NOT NULL, "alg" TEXT NOT NULL, "public_key" TEXT NOT NULL, "previous_alg" TEXT, "previous_public_key" TEXT, "previous_until" INTEGER, "created_at" INTEGER NOT NULL, "rotated_at" INTEGER, "revoked_at" INTEGER, PRIMARY KEY ("tenant_id", "device_id", "key_id"), FOREIGN KEY ("tenant_id", "device_id") REFERENCES "devices" ("tenant_id", "id") ON DELETE CASCADE, CHECK (purpose IN ('pop', 'uv'))) STRICT, WITHOUT ROWID;

CREATE TABLE "device_key_fingerprints" ("tenant_id" TEXT NOT NULL, "fingerprint" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "fingerprint")) STRICT, WITHOUT ROWID;

CREATE TABLE "device_registrations" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "kind" TEXT NOT NULL, "email" TEXT, "email_key" TEXT, "user_id" TEXT, "given_name" TEXT, "family_name" TEXT, "locale" TEXT, "device_id" TEXT NOT NULL, "device" TEXT NOT NULL, "keys" TEXT NOT NULL, "state" TEXT NOT NULL, "attestation_failures" INTEGER NOT NULL DEFAULT 0, "challenge" TEXT, "approval_id" TEXT, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "purge_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "token_hash"), CHECK (kind IN ('registration', 'signup', 'enrollment')), CHECK (state IN ('unverified', 'verified', 'pending_approval', 'consumed'))) STRICT, WITHOUT ROWID;

CREATE INDEX "device_registrations_by_device_id" ON "device_registrations" ("tenant_id", "device_id");

CREATE INDEX "device_registrations_by_purge_at" ON "device_registrations" ("tenant_id", "purge_at");

CREATE TABLE "attestation_challenges" ("tenant_id" TEXT NOT NULL, "challenge" TEXT NOT NULL, "device_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, PRIMARY KEY ("tenant_id", "challenge")) STRICT, WITHOUT ROWID;

CREATE INDEX "attestation_challenges_by_device_id_created_at" ON "attestation_challenges" ("tenant_id", "device_id", "created_at");

CREATE INDEX "attestation_challenges_by_expires_at" ON "attestation_challenges" ("tenant_id", "expires_at");

CREATE TABLE "enrollment_tokens" ("tenant_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "require_pin" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "registration_id" TEXT, PRIMARY KEY ("tenant_id", "token_hash"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "enrollment_tokens_by_expires_at" ON "enrollment_tokens" ("tenant_id", "expires_at");

CREATE INDEX "enrollment_tokens_by_user_id" ON "enrollment_tokens" ("tenant_id", "user_id");

CREATE TABLE "device_requests" ("tenant_id" TEXT NOT NULL, "digest" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "digest")) STRICT, WITHOUT ROWID;

CREATE INDEX "device_requests_by_expires_at" ON "device_requests" ("tenant_id", "expires_at");

CREATE TABLE "device_rotations" ("tenant_id" TEXT NOT NULL, "device_id" TEXT NOT NULL, "id" TEXT NOT NULL, "nonce" TEXT NOT NULL, "key_ids" TEXT NOT NULL, "state" TEXT NOT NULL, "confirm_sha256" TEXT, "answer" TEXT, "started_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "device_id"), FOREIGN KEY ("tenant_id", "device_id") REFERENCES "devices" ("tenant_id", "id") ON DELETE CASCADE, CHECK (state IN ('open', 'confirmed', 'ended'))) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX "signing_keys_by_alg_state" ON "signing_keys" ("tenant_id", "alg", "state") WHERE use = 'oidc' AND state <> 'retired';

CREATE TABLE "setup_tokens" ("tenant_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "user_id" TEXT, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "roles" TEXT, PRIMARY KEY ("tenant_id", "token_hash"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "setup_tokens_by_expires_at" ON "setup_tokens" ("tenant_id", "expires_at");

CREATE TABLE "service_providers" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "entity_id" TEXT NOT NULL, "entity_id_hash" TEXT NOT NULL, "name" TEXT NOT NULL, "acs" TEXT NOT NULL, "signing_keys" TEXT NOT NULL, "encryption_key" TEXT, "require_signed_requests" INTEGER NOT NULL, "signing" TEXT NOT NULL, "encrypt_assertions" INTEGER NOT NULL, "encryption" TEXT NOT NULL, "name_id_formats" TEXT NOT NULL, "idp_initiated_allowed" INTEGER NOT NULL, "relay_states" TEXT NOT NULL, "attribute_map" TEXT NOT NULL, "access_policy" TEXT NOT NULL, "enabled" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "name_id_sources" TEXT NOT NULL DEFAULT '{}', "signing_key" TEXT NOT NULL DEFAULT 'tenant', "metadata_url" TEXT, "metadata_certificate" TEXT, "mappings" TEXT NOT NULL DEFAULT '[]', "organization" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "entity_id_hash"), CHECK (signing IN ('both', 'assertion', 'response')), CHECK (access_policy IN ('everyone', 'assigned'))) STRICT, WITHOUT ROWID;

CREATE TABLE "saml_sessions" ("tenant_id" TEXT NOT NULL, "session_hash" TEXT NOT NULL, "service_provider_id" TEXT NOT NULL, "state" TEXT NOT NULL, "binding_hash" TEXT NOT NULL, "acs_url" TEXT NOT NULL, "in_response_to" TEXT, "idp_initiated" INTEGER NOT NULL, "relay_state" TEXT, "name_id_format" TEXT NOT NULL, "authn_context_class" TEXT NOT NULL, "user_id" TEXT, "auth_time" INTEGER, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "delivered_at" INTEGER, "method" TEXT, "sso_session_id" TEXT, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "session_hash"), CHECK (state IN ('pending', 'ready', 'delivered'))) STRICT, WITHOUT ROWID;

CREATE INDEX "saml_sessions_by_expires_at" ON "saml_sessions" ("tenant_id", "expires_at");

CREATE TABLE "saml_request_ids" ("tenant_id" TEXT NOT NULL, "request_hash" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "request_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "saml_request_ids_by_expires_at" ON "saml_request_ids" ("tenant_id", "expires_at");

CREATE UNIQUE INDEX "signing_keys_by_use_alg_state" ON "signing_keys" ("tenant_id", "use", "alg", "state") WHERE use = 'saml' AND state <> 'retired';

CREATE INDEX "users_by_user_name_key_created_at_id_state" ON "users" ("tenant_id", "user_name_key", "created_at", "id", "state") WHERE user_name_key IS NOT NULL;

CREATE INDEX "users_by_name_formatted_key_created_at_id_state" ON "users" ("tenant_id", "name_formatted_key", "created_at", "id", "state") WHERE name_formatted_key IS NOT NULL;

CREATE INDEX "users_by_family_name_key_created_at_id_state" ON "users" ("tenant_id", "family_name_key", "created_at", "id", "state") WHERE family_name_key IS NOT NULL;

CREATE INDEX "users_by_given_name_key_created_at_id_state" ON "users" ("tenant_id", "given_name_key", "created_at", "id", "state") WHERE given_name_key IS NOT NULL;

CREATE INDEX "users_by_middle_name_key_created_at_id_state" ON "users" ("tenant_id", "middle_name_key", "created_at", "id", "state") WHERE middle_name_key IS NOT NULL;

CREATE INDEX "users_by_honorific_prefix_key_created_at_id_state" ON "users" ("tenant_id", "honorific_prefix_key", "created_at", "id", "state") WHERE honorific_prefix_key IS NOT NULL;

CREATE INDEX "users_by_honorific_suffix_key_created_at_id_state" ON "users" ("tenant_id", "honorific_suffix_key", "created_at", "id", "state") WHERE honorific_suffix_key IS NOT NULL;

CREATE INDEX "users_by_display_name_key_created_at_id_state" ON "users" ("tenant_id", "display_name_key", "created_at", "id", "state") WHERE display_name_key IS NOT NULL;

CREATE INDEX "users_by_nick_name_key_created_at_id_state" ON "users" ("tenant_id", "nick_name_key", "created_at", "id", "state") WHERE nick_name_key IS NOT NULL;

CREATE INDEX "users_by_title_key_created_at_id_state" ON "users" ("tenant_id", "title_key", "created_at", "id", "state") WHERE title_key IS NOT NULL;

CREATE INDEX "users_by_user_type_key_created_at_id_state" ON "users" ("tenant_id", "user_type_key", "created_at", "id", "state") WHERE user_type_key IS NOT NULL;

CREATE INDEX "users_by_preferred_language_key_created_at_id_state" ON "users" ("tenant_id", "preferred_language_key", "created_at", "id", "state") WHERE preferred_language_key IS NOT NULL;

CREATE INDEX "users_by_locale_key_created_at_id_state" ON "users" ("tenant_id", "locale_key", "created_at", "id", "state") WHERE locale_key IS NOT NULL;

CREATE INDEX "users_by_timezone_key_created_at_id_state" ON "users" ("tenant_id", "timezone_key", "created_at", "id", "state") WHERE timezone_key IS NOT NULL;

CREATE INDEX "users_by_employee_number_key_created_at_id_state" ON "users" ("tenant_id", "employee_number_key", "created_at", "id", "state") WHERE employee_number_key IS NOT NULL;

CREATE INDEX "users_by_cost_center_key_created_at_id_state" ON "users" ("tenant_id", "cost_center_key", "created_at", "id", "state") WHERE cost_center_key IS NOT NULL;

CREATE INDEX "users_by_organization_key_created_at_id_state" ON "users" ("tenant_id", "organization_key", "created_at", "id", "state") WHERE organization_key IS NOT NULL;

CREATE INDEX "users_by_division_key_created_at_id_state" ON "users" ("tenant_id", "division_key", "created_at", "id", "state") WHERE division_key IS NOT NULL;

CREATE INDEX "users_by_department_key_created_at_id_state" ON "users" ("tenant_id", "department_key", "created_at", "id", "state") WHERE department_key IS NOT NULL;

CREATE INDEX "users_by_manager_display_name_key_created_at_id_state" ON "users" ("tenant_id", "manager_display_name_key", "created_at", "id", "state") WHERE manager_display_name_key IS NOT NULL;

CREATE INDEX "users_by_user_name_reversed_created_at_id_state" ON "users" ("tenant_id", "user_name_reversed", "created_at", "id", "state") WHERE user_name_reversed IS NOT NULL;

CREATE INDEX "users_by_family_name_reversed_created_at_id_state" ON "users" ("tenant_id", "family_name_reversed", "created_at", "id", "state") WHERE family_name_reversed IS NOT NULL;

CREATE INDEX "users_by_given_name_reversed_created_at_id_state" ON "users" ("tenant_id", "given_name_reversed", "created_at", "id", "state") WHERE given_name_reversed IS NOT NULL;

CREATE INDEX "users_by_display_name_reversed_created_at_id_state" ON "users" ("tenant_id", "display_name_reversed", "created_at", "id", "state") WHERE display_name_reversed IS NOT NULL;

CREATE INDEX "users_by_external_id_reversed_created_at_id_state" ON "users" ("tenant_id", "external_id_reversed", "created_at", "id", "state") WHERE external_id_reversed IS NOT NULL;

CREATE INDEX "users_by_external_id_created_at_id_state" ON "users" ("tenant_id", "external_id", "created_at", "id", "state") WHERE external_id IS NOT NULL;

CREATE INDEX "users_by_profile_url_created_at_id_state" ON "users" ("tenant_id", "profile_url", "created_at", "id", "state") WHERE profile_url IS NOT NULL;

CREATE INDEX "users_by_manager_value_created_at_id_state" ON "users" ("tenant_id", "manager_value", "created_at", "id", "state") WHERE manager_value IS NOT NULL;

CREATE INDEX "users_without_display_name_key" ON "users" ("tenant_id", "created_at", "id", "state", "display_name_key") WHERE display_name_key IS NULL AND state <> 'deleted';

CREATE INDEX "users_without_family_name_key" ON "users" ("tenant_id", "created_at", "id", "state", "family_name_key") WHERE family_name_key IS NULL AND state <> 'deleted';

CREATE INDEX "users_by_created_at_id_state" ON "users" ("tenant_id", "created_at", "id", "state") WHERE state <> 'deleted';

CREATE INDEX "users_by_updated_at_id_state" ON "users" ("tenant_id", "updated_at", "id", "state") WHERE state <> 'deleted';

CREATE INDEX "user_emails_by_value_reversed" ON "user_emails" ("tenant_id", "value_reversed");

CREATE INDEX "groups_by_display_name_reversed" ON "groups" ("tenant_id", "display_name_reversed") WHERE display_name_reversed IS NOT NULL;

CREATE INDEX "groups_by_external_id" ON "groups" ("tenant_id", "external_id") WHERE external_id IS NOT NULL;

CREATE INDEX "groups_by_external_id_reversed" ON "groups" ("tenant_id", "external_id_reversed") WHERE external_id_reversed IS NOT NULL;

CREATE INDEX "groups_by_created_at_id_origin" ON "groups" ("tenant_id", "created_at", "id", "origin") WHERE origin = 'scim';

CREATE TABLE "user_values" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "attribute" TEXT NOT NULL, "position" INTEGER NOT NULL, "value" TEXT, "value_key" TEXT, "display" TEXT, "display_key" TEXT, "type" TEXT, "type_key" TEXT, "is_primary" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "user_id", "attribute", "position"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "user_values_by_attribute_value_key" ON "user_values" ("tenant_id", "attribute", "value_key") WHERE value_key IS NOT NULL;

CREATE TABLE "user_addresses" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "position" INTEGER NOT NULL, "formatted" TEXT, "formatted_key" TEXT, "street_address" TEXT, "street_address_key" TEXT, "locality" TEXT, "locality_key" TEXT, "region" TEXT, "region_key" TEXT, "postal_code" TEXT, "postal_code_key" TEXT, "country" TEXT, "country_key" TEXT, "type" TEXT, "type_key" TEXT, "is_primary" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "user_id", "position"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "directory_counts" ("tenant_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "shard" INTEGER NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "kind", "shard")) STRICT, WITHOUT ROWID;

CREATE TRIGGER users_counted_insert AFTER INSERT ON users WHEN NEW.state <> 'deleted' BEGIN INSERT INTO directory_counts VALUES (NEW.tenant_id, 'users', 0, 1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TRIGGER users_counted_delete AFTER DELETE ON users WHEN OLD.state <> 'deleted' BEGIN INSERT INTO directory_counts VALUES (OLD.tenant_id, 'users', 0, -1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TRIGGER users_counted_leave AFTER UPDATE OF state ON users WHEN (OLD.state <> 'deleted') AND NOT (NEW.state <> 'deleted') BEGIN INSERT INTO directory_counts VALUES (OLD.tenant_id, 'users', 0, -1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TRIGGER users_counted_enter AFTER UPDATE OF state ON users WHEN (NEW.state <> 'deleted') AND NOT (OLD.state <> 'deleted') BEGIN INSERT INTO directory_counts VALUES (NEW.tenant_id, 'users', 0, 1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TRIGGER groups_counted_insert AFTER INSERT ON groups WHEN NEW.origin = 'scim' BEGIN INSERT INTO directory_counts VALUES (NEW.tenant_id, 'groups', 0, 1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TRIGGER groups_counted_delete AFTER DELETE ON groups WHEN OLD.origin = 'scim' BEGIN INSERT INTO directory_counts VALUES (OLD.tenant_id, 'groups', 0, -1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TRIGGER groups_counted_leave AFTER UPDATE OF origin ON groups WHEN (OLD.origin = 'scim') AND NOT (NEW.origin = 'scim') BEGIN INSERT INTO directory_counts VALUES (OLD.tenant_id, 'groups', 0, -1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TRIGGER groups_counted_enter AFTER UPDATE OF origin ON groups WHEN (NEW.origin = 'scim') AND NOT (OLD.origin = 'scim') BEGIN INSERT INTO directory_counts VALUES (NEW.tenant_id, 'groups', 0, 1) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TABLE user_search_rows (seq INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, UNIQUE (tenant_id, user_id)) STRICT;

CREATE VIRTUAL TABLE user_trigrams USING fts5(user_name_key, display_name_key, given_name_key, family_name_key, tokenize='trigram case_sensitive 1', content='', contentless_delete=1);

CREATE TABLE email_search_rows (seq INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, position INTEGER NOT NULL, UNIQUE (tenant_id, user_id, position)) STRICT;

CREATE VIRTUAL TABLE email_trigrams USING fts5(value_key, tokenize='trigram case_sensitive 1', content='', contentless_delete=1);

CREATE TRIGGER users_searched_insert AFTER INSERT ON users BEGIN
    INSERT INTO user_search_rows (tenant_id, user_id) VALUES (NEW.tenant_id, NEW.id); INSERT INTO user_trigrams (rowid, user_name_key, display_name_key, given_name_key, family_name_key) VALUES ((SELECT seq FROM user_search_rows WHERE tenant_id = NEW.tenant_id AND user_id = NEW.id), NEW.user_name_key, NEW.display_name_key, NEW.given_name_key, NEW.family_name_key); END;

CREATE TRIGGER users_searched_update AFTER UPDATE OF user_name_key, display_name_key, given_name_key, family_name_key ON users WHEN OLD.user_name_key IS NOT NEW.user_name_key OR OLD.display_name_key IS NOT NEW.display_name_key OR OLD.given_name_key IS NOT NEW.given_name_key OR OLD.family_name_key IS NOT NEW.family_name_key BEGIN DELETE FROM user_trigrams WHERE rowid = (SELECT seq FROM user_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.id); INSERT INTO user_trigrams (rowid, user_name_key, display_name_key, given_name_key, family_name_key) VALUES ((SELECT seq FROM user_search_rows WHERE tenant_id = NEW.tenant_id AND user_id = NEW.id), NEW.user_name_key, NEW.display_name_key, NEW.given_name_key, NEW.family_name_key); END;

CREATE TRIGGER users_searched_delete AFTER DELETE ON users BEGIN DELETE FROM user_trigrams WHERE rowid = (SELECT seq FROM user_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.id);
    DELETE FROM user_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.id; END;

CREATE TRIGGER user_emails_searched_insert AFTER INSERT ON user_emails BEGIN INSERT INTO email_search_rows (tenant_id, user_id, position) VALUES (NEW.tenant_id, NEW.user_id, NEW.position);
    INSERT INTO email_trigrams (rowid, value_key) VALUES ((SELECT seq FROM email_search_rows WHERE tenant_id = NEW.tenant_id AND user_id = NEW.user_id AND position = NEW.position), NEW.value_key); END;

CREATE TRIGGER user_emails_searched_update AFTER UPDATE OF value_key, position ON user_emails BEGIN DELETE FROM email_trigrams WHERE rowid = (SELECT seq FROM email_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.user_id AND position = OLD.position);
    DELETE FROM email_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.user_id AND position = OLD.position; INSERT INTO email_search_rows (tenant_id, user_id, position) VALUES (NEW.tenant_id, NEW.user_id, NEW.position);
    INSERT INTO email_trigrams (rowid, value_key) VALUES ((SELECT seq FROM email_search_rows WHERE tenant_id = NEW.tenant_id AND user_id = NEW.user_id AND position = NEW.position), NEW.value_key); END;

CREATE TRIGGER user_emails_searched_delete AFTER DELETE ON user_emails BEGIN DELETE FROM email_trigrams WHERE rowid = (SELECT seq FROM email_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.user_id AND position = OLD.position);
    DELETE FROM email_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.user_id AND position = OLD.position; END;

CREATE TABLE "push_messages" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "device_id" TEXT NOT NULL, "provider" TEXT NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "next_attempt_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "lane" TEXT NOT NULL DEFAULT '', PRIMARY KEY ("id"), CHECK (provider IN ('apns', 'fcm'))) STRICT, WITHOUT ROWID;

CREATE INDEX "push_messages_by_next_attempt_at" ON "push_messages" ("next_attempt_at");

CREATE INDEX "push_messages_by_expires_at" ON "push_messages" ("expires_at");

CREATE TABLE "client_assertions" ("tenant_id" TEXT NOT NULL, "jti_hash" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "jti_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "client_assertions_by_expires_at" ON "client_assertions" ("tenant_id", "expires_at");

CREATE TABLE "ciba_requests" ("tenant_id" TEXT NOT NULL, "auth_req_id_hash" TEXT NOT NULL, "id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "approval_id" TEXT NOT NULL, "scope" TEXT NOT NULL, "resource" TEXT, "delivery_mode" TEXT NOT NULL, "notification_encrypted" TEXT, "payload_encrypted" TEXT, "interval_seconds" INTEGER NOT NULL, "last_polled_at" INTEGER, "polled_early" INTEGER NOT NULL DEFAULT 0, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "grant_id" TEXT, "mail_token_hash" TEXT, "hook_claims" TEXT, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "auth_req_id_hash"), UNIQUE ("tenant_id", "id"), UNIQUE ("tenant_id", "approval_id"), UNIQUE ("tenant_id", "mail_token_hash"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (delivery_mode IN ('poll', 'ping', 'push'))) STRICT, WITHOUT ROWID;

CREATE INDEX "ciba_requests_by_expires_at" ON "ciba_requests" ("tenant_id", "expires_at");

CREATE INDEX "ciba_requests_by_client_id" ON "ciba_requests" ("tenant_id", "client_id");

CREATE INDEX "ciba_requests_by_user_id" ON "ciba_requests" ("tenant_id", "user_id");

CREATE TABLE "ciba_deliveries" ("tenant_id" TEXT NOT NULL, "request_id" TEXT NOT NULL, "due_at" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "lane" TEXT NOT NULL DEFAULT '', PRIMARY KEY ("tenant_id", "request_id")) STRICT, WITHOUT ROWID;

CREATE INDEX "ciba_deliveries_by_due_at" ON "ciba_deliveries" ("due_at");

CREATE INDEX "ciba_deliveries_by_request_id" ON "ciba_deliveries" ("request_id");

CREATE TABLE "logout_notices" ("tenant_id" TEXT NOT NULL, "grant_id" TEXT NOT NULL, "due_at" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "lane" TEXT NOT NULL DEFAULT '', PRIMARY KEY ("tenant_id", "grant_id")) STRICT, WITHOUT ROWID;

CREATE INDEX "logout_notices_by_due_at" ON "logout_notices" ("due_at");

CREATE INDEX "logout_notices_by_grant_id" ON "logout_notices" ("grant_id");

CREATE TABLE "passkeys" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "credential_id" TEXT NOT NULL, "public_key" TEXT NOT NULL, "counter" INTEGER NOT NULL, "transports" TEXT NOT NULL DEFAULT '[]', "backup_eligible" INTEGER NOT NULL, "backed_up" INTEGER NOT NULL, "aaguid" TEXT NOT NULL, "name" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "last_used_at" INTEGER, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "credential_id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (backup_eligible IN (0, 1)), CHECK (backed_up IN (0, 1))) STRICT, WITHOUT ROWID;

CREATE INDEX "passkeys_by_user_id" ON "passkeys" ("tenant_id", "user_id");

CREATE TABLE "passkey_challenges" ("tenant_id" TEXT NOT NULL, "subject" TEXT NOT NULL, "challenge_hash" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, PRIMARY KEY ("tenant_id", "subject")) STRICT, WITHOUT ROWID;

CREATE INDEX "passkey_challenges_by_expires_at" ON "passkey_challenges" ("tenant_id", "expires_at");

CREATE INDEX "audit_events_by_user_id_id" ON "audit_events" ("tenant_id", "user_id", "id") WHERE user_id IS NOT NULL;

CREATE TABLE "activity_counts" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "hour_at" INTEGER NOT NULL, "name" TEXT NOT NULL, "n" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "activity_counts_by_hour_at" ON "activity_counts" ("tenant_id", "hour_at");

CREATE INDEX "setup_tokens_by_user_id" ON "setup_tokens" ("tenant_id", "user_id") WHERE user_id IS NOT NULL;

CREATE TRIGGER config_epochs_sequence_insert AFTER INSERT ON config_epochs
        BEGIN UPDATE config_epochs SET sequence = (SELECT max(sequence) + 1 FROM config_epochs) WHERE tenant_id = NEW.tenant_id; END;

CREATE TRIGGER config_epochs_sequence_update AFTER UPDATE OF version ON config_epochs
        BEGIN UPDATE config_epochs SET sequence = (SELECT max(sequence) + 1 FROM config_epochs) WHERE tenant_id = NEW.tenant_id; END;

CREATE INDEX "config_epochs_by_sequence" ON "config_epochs" ("sequence");

CREATE TABLE "saml_metadata_reads" ("tenant_id" TEXT NOT NULL, "service_provider_id" TEXT NOT NULL, "read_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "service_provider_id"), FOREIGN KEY ("tenant_id", "service_provider_id") REFERENCES "service_providers" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "group_members_by_group_id_user_created_at_user_id" ON "group_members" ("tenant_id", "group_id", "user_created_at", "user_id");

CREATE INDEX "user_emails_primary" ON "user_emails" ("tenant_id", "value_key", "user_id") WHERE is_primary = 1;

CREATE TRIGGER group_members_counted_insert AFTER INSERT ON group_members BEGIN
        INSERT INTO directory_counts VALUES (NEW.tenant_id, 'members:' || NEW.group_id, 0, 1)
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TRIGGER group_members_counted_delete AFTER DELETE ON group_members BEGIN
        INSERT INTO directory_counts VALUES (OLD.tenant_id, 'members:' || OLD.group_id, 0, -1)
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TRIGGER groups_forget_count AFTER DELETE ON groups BEGIN
      DELETE FROM directory_counts WHERE tenant_id = OLD.tenant_id AND kind = 'members:' || OLD.id; END;

CREATE TABLE "sso_sessions" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "browser_hash" TEXT NOT NULL, "user_id" TEXT NOT NULL, "auth_time" INTEGER NOT NULL, "acr" TEXT, "method" TEXT NOT NULL, "amr" TEXT NOT NULL, "device_id" TEXT, "passkey_id" TEXT, "user_agent" TEXT, "ip" TEXT, "created_at" INTEGER NOT NULL, "used_at" INTEGER NOT NULL, "idle_seconds" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "absolute_at" INTEGER NOT NULL, "ended_at" INTEGER, "external_identity_id" TEXT, "external_session_id" TEXT, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "sso_sessions_by_browser_hash" ON "sso_sessions" ("tenant_id", "browser_hash");

CREATE INDEX "sso_sessions_by_user_id" ON "sso_sessions" ("tenant_id", "user_id");

CREATE INDEX "sso_sessions_by_expires_at" ON "sso_sessions" ("tenant_id", "expires_at");

CREATE INDEX "authorization_codes_by_sso_session_id" ON "authorization_codes" ("tenant_id", "sso_session_id") WHERE sso_session_id IS NOT NULL;

CREATE INDEX "grants_by_sso_session_id" ON "grants" ("tenant_id", "sso_session_id") WHERE sso_session_id IS NOT NULL;

CREATE TABLE "custom_attributes" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL, "list" INTEGER NOT NULL, "unique" INTEGER NOT NULL, "label" TEXT, "edit" TEXT NOT NULL, "allowed_values" TEXT NOT NULL, "claim" TEXT, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "deleted_at" INTEGER, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX "custom_attributes_by_name" ON "custom_attributes" ("tenant_id", "name") WHERE deleted_at IS NULL;

CREATE UNIQUE INDEX "custom_attributes_by_claim" ON "custom_attributes" ("tenant_id", "claim") WHERE deleted_at IS NULL;

CREATE TABLE "user_custom_values" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "attribute" TEXT NOT NULL, "value_key" TEXT NOT NULL, "unique_key" TEXT, PRIMARY KEY ("tenant_id", "user_id", "attribute", "value_key"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "user_custom_values_by_attribute_value_key_user_id" ON "user_custom_values" ("tenant_id", "attribute", "value_key", "user_id");

CREATE UNIQUE INDEX "user_custom_values_by_attribute_unique_key" ON "user_custom_values" ("tenant_id", "attribute", "unique_key") WHERE unique_key IS NOT NULL;

CREATE UNIQUE INDEX "signing_keys_by_use_state" ON "signing_keys" ("tenant_id", "use", "state") WHERE use > 'saml:' AND use < 'saml;' AND state <> 'retired';

CREATE TABLE "saml_metadata_refreshes" ("tenant_id" TEXT NOT NULL, "service_provider_id" TEXT NOT NULL, "source" TEXT NOT NULL, "due_at" INTEGER NOT NULL, "every_ms" INTEGER NOT NULL, "etag" TEXT, "tried_at" INTEGER, "refreshed_at" INTEGER, "failure" TEXT, "acs" TEXT, "report" TEXT, PRIMARY KEY ("tenant_id", "service_provider_id"), FOREIGN KEY ("tenant_id", "service_provider_id") REFERENCES "service_providers" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "saml_metadata_refreshes_by_due_at" ON "saml_metadata_refreshes" ("tenant_id", "due_at");

CREATE INDEX "signing_keys_by_use" ON "signing_keys" ("tenant_id", "use");

CREATE INDEX "pushed_requests_by_client_id_expires_at" ON "pushed_requests" ("tenant_id", "client_id", "expires_at") WHERE used_at IS NULL;

CREATE INDEX "audit_events_refusals" ON "audit_events" ("tenant_id", "id") WHERE type IN ('refusal', 'refusal_summary');

CREATE TABLE "identity_providers" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "alias" TEXT NOT NULL, "kind" TEXT NOT NULL, "name" TEXT NOT NULL, "issuer" TEXT, "client_id" TEXT, "client_secret" TEXT, "scopes" TEXT NOT NULL DEFAULT '[]', "tenants" TEXT NOT NULL DEFAULT '[]', "trust_email" INTEGER NOT NULL DEFAULT 0, "create_users" INTEGER NOT NULL DEFAULT 0, "attribute_map" TEXT NOT NULL DEFAULT '{}', "acr_map" TEXT NOT NULL DEFAULT '{}', "enabled" INTEGER NOT NULL DEFAULT 1, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "metadata" TEXT, "response_mode" TEXT NOT NULL DEFAULT 'query', "domains" TEXT NOT NULL DEFAULT '[]', "mappings" TEXT NOT NULL DEFAULT '[]', "domain_proof_salt" TEXT, "cross_app" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "alias")) STRICT, WITHOUT ROWID;

CREATE TABLE "external_logins" ("tenant_id" TEXT NOT NULL, "state_hash" TEXT NOT NULL, "provider_id" TEXT NOT NULL, "transaction_id" TEXT NOT NULL, "sealed" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "answer" TEXT, "answer_hash" TEXT, PRIMARY KEY ("tenant_id", "state_hash"), FOREIGN KEY ("tenant_id", "provider_id") REFERENCES "identity_providers" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "external_logins_by_expires_at" ON "external_logins" ("tenant_id", "expires_at");

CREATE INDEX "external_logins_by_provider_id" ON "external_logins" ("tenant_id", "provider_id");

CREATE TABLE "external_identities" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "provider_id" TEXT NOT NULL, "issuer" TEXT NOT NULL, "subject" TEXT NOT NULL, "identity_hash" TEXT NOT NULL, "user_id" TEXT NOT NULL, "email" TEXT, "created_at" INTEGER NOT NULL, "used_at" INTEGER, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "identity_hash"), FOREIGN KEY ("tenant_id", "provider_id") REFERENCES "identity_providers" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "external_identities_by_user_id" ON "external_identities" ("tenant_id", "user_id");

CREATE INDEX "external_identities_by_provider_id" ON "external_identities" ("tenant_id", "provider_id");

CREATE INDEX "sso_sessions_by_external_identity_id" ON "sso_sessions" ("tenant_id", "external_identity_id") WHERE external_identity_id IS NOT NULL;

CREATE INDEX "sso_sessions_by_external_session_id" ON "sso_sessions" ("tenant_id", "external_session_id") WHERE external_session_id IS NOT NULL;

CREATE TABLE "invitations" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "mailed_to" TEXT, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "revoked_at" INTEGER, "visit_hash" TEXT, "visit_expires_at" INTEGER, "enrollment_encrypted" TEXT, "recovery_reason" TEXT, "stop_hash" TEXT, "stopped_at" INTEGER, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "invitations_by_token_hash" ON "invitations" ("tenant_id", "token_hash");

CREATE INDEX "invitations_by_visit_hash" ON "invitations" ("tenant_id", "visit_hash") WHERE visit_hash IS NOT NULL;

CREATE INDEX "invitations_by_user_id" ON "invitations" ("tenant_id", "user_id");

CREATE INDEX "invitations_by_expires_at" ON "invitations" ("tenant_id", "expires_at");

CREATE INDEX "ciba_deliveries_by_lane_due_at" ON "ciba_deliveries" ("lane", "due_at");

CREATE INDEX "logout_notices_by_lane_due_at" ON "logout_notices" ("lane", "due_at");

CREATE INDEX "push_messages_by_lane_next_attempt_at" ON "push_messages" ("lane", "next_attempt_at");

CREATE TABLE "event_feeds" ("tenant_id" TEXT NOT NULL, "last_seq" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id")) STRICT, WITHOUT ROWID;

CREATE INDEX "audit_events_unnumbered" ON "audit_events" ("tenant_id", "id") WHERE seq IS NULL;

CREATE UNIQUE INDEX "audit_events_by_seq" ON "audit_events" ("tenant_id", "seq") WHERE seq IS NOT NULL;

CREATE TABLE "held_deliveries" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "queue" TEXT NOT NULL, "delivery" TEXT NOT NULL, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE TABLE "recovery_codes" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "code_hmac" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "used_at" INTEGER, PRIMARY KEY ("tenant_id", "user_id", "code_hmac"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "invitations_by_stop_hash" ON "invitations" ("tenant_id", "stop_hash") WHERE stop_hash IS NOT NULL;

CREATE INDEX "device_registrations_by_user_id" ON "device_registrations" ("tenant_id", "user_id") WHERE user_id IS NOT NULL;

CREATE TABLE "device_authorizations" ("tenant_id" TEXT NOT NULL, "device_code_hash" TEXT NOT NULL, "id" TEXT NOT NULL, "user_code" TEXT NOT NULL, "client_id" TEXT NOT NULL, "scope" TEXT NOT NULL, "resource" TEXT, "state" TEXT NOT NULL DEFAULT 'pending', "user_id" TEXT, "auth_time" INTEGER, "acr" TEXT, "amr" TEXT, "decided_at" INTEGER, "initiated_ip" TEXT, "initiated_user_agent" TEXT, "interval_seconds" INTEGER NOT NULL, "last_polled_at" INTEGER, "polled_early" INTEGER NOT NULL DEFAULT 0, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "grant_id" TEXT, PRIMARY KEY ("tenant_id", "device_code_hash"), UNIQUE ("tenant_id", "user_code"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, CHECK (state IN ('pending', 'approved', 'denied'))) STRICT, WITHOUT ROWID;

CREATE INDEX "device_authorizations_by_expires_at" ON "device_authorizations" ("tenant_id", "expires_at");

CREATE INDEX "device_authorizations_by_client_id" ON "device_authorizations" ("tenant_id", "client_id");

CREATE INDEX "device_authorizations_by_user_id" ON "device_authorizations" ("tenant_id", "user_id");

CREATE TABLE "initial_access_tokens" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "count" INTEGER NOT NULL, "used" INTEGER NOT NULL DEFAULT 0, "hosts" TEXT NOT NULL, "grant_types" TEXT NOT NULL, "scopes" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "created_by" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "token_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "initial_access_tokens_by_expires_at" ON "initial_access_tokens" ("tenant_id", "expires_at");

CREATE TABLE "client_registrations" ("tenant_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "hosts" TEXT NOT NULL, "grant_types" TEXT NOT NULL, "scopes" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "client_id"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "provider_domains" ("tenant_id" TEXT NOT NULL, "domain" TEXT NOT NULL, "provider_id" TEXT NOT NULL, "proven_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "domain"), FOREIGN KEY ("tenant_id", "provider_id") REFERENCES "identity_providers" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "provider_domains_by_provider_id" ON "provider_domains" ("tenant_id", "provider_id");

CREATE TABLE "vapid_keys" ("tenant_id" TEXT NOT NULL, "public_key" TEXT NOT NULL, "private_key_encrypted" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id")) STRICT, WITHOUT ROWID;

CREATE TABLE "push_refusals" ("tenant_id" TEXT NOT NULL, "provider" TEXT NOT NULL, "reason" TEXT NOT NULL, "refused_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "provider")) STRICT, WITHOUT ROWID;

CREATE INDEX "devices_web_phones" ON "devices" ("tenant_id") WHERE platform = 'web' AND state = 'active';

CREATE TABLE "webhooks" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "url" TEXT NOT NULL, "types" TEXT NOT NULL DEFAULT '[]', "enabled" INTEGER NOT NULL DEFAULT 1, "secret" TEXT, "previous_secret" TEXT, "previous_until" INTEGER, "failing_since" INTEGER, "disabled_reason" TEXT, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "url")) STRICT, WITHOUT ROWID;

CREATE TABLE "webhook_positions" ("tenant_id" TEXT NOT NULL, "webhook_id" TEXT NOT NULL, "position" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "webhook_id"), FOREIGN KEY ("tenant_id", "webhook_id") REFERENCES "webhooks" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "webhook_deliveries" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "webhook_id" TEXT NOT NULL, "event_id" TEXT NOT NULL, "seq" INTEGER NOT NULL, "type" TEXT NOT NULL, "body" TEXT NOT NULL, "state" TEXT NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, "status" INTEGER, "reason" TEXT, "answer" TEXT, "duration_ms" INTEGER, "attempted_at" INTEGER, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "webhook_id", "event_id"), FOREIGN KEY ("tenant_id", "webhook_id") REFERENCES "webhooks" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "webhook_deliveries_by_webhook_id_id" ON "webhook_deliveries" ("tenant_id", "webhook_id", "id");

CREATE INDEX "webhook_deliveries_by_webhook_id_state_id" ON "webhook_deliveries" ("tenant_id", "webhook_id", "state", "id");

CREATE INDEX "webhook_deliveries_by_expires_at" ON "webhook_deliveries" ("tenant_id", "expires_at");

CREATE TABLE "webhook_queue" ("tenant" TEXT NOT NULL, "id" TEXT NOT NULL, "lane" TEXT NOT NULL, "due_at" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant", "id"), FOREIGN KEY ("tenant", "id") REFERENCES "webhook_deliveries" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "webhook_queue_by_lane_due_at" ON "webhook_queue" ("lane", "due_at");

CREATE INDEX "users_administrators" ON "users" ("tenant_id", "id") WHERE role = 'admin';

CREATE TABLE "mapping_tables" ("tenant_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "rules" TEXT NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "kind")) STRICT, WITHOUT ROWID;

CREATE TABLE "hooks" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "point" TEXT NOT NULL, "url" TEXT NOT NULL, "on_failure" TEXT NOT NULL, "deadline_ms" INTEGER NOT NULL, "clients" TEXT NOT NULL DEFAULT '[]', "enabled" INTEGER NOT NULL DEFAULT 1, "secret_encrypted" TEXT NOT NULL, "previous_secret_encrypted" TEXT, "previous_until" INTEGER, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "point")) STRICT, WITHOUT ROWID;

CREATE TABLE "sent_forms" ("tenant_id" TEXT NOT NULL, "form_hash" TEXT NOT NULL, "location" TEXT, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "form_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "sent_forms_by_expires_at" ON "sent_forms" ("tenant_id", "expires_at");

CREATE INDEX "users_shown_by_user_name" ON "users" ("tenant_id", "user_name_key", "created_at", "id") WHERE display_name_key IS NULL;

CREATE TABLE "roles" ("tenant_id" TEXT NOT NULL, "name" TEXT NOT NULL, "description" TEXT, "capabilities" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "user_roles" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "role" TEXT NOT NULL, "custom_role" TEXT, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "user_id", "role"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "custom_role") REFERENCES "roles" ("tenant_id", "name") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "user_roles_by_role_user_id" ON "user_roles" ("tenant_id", "role", "user_id");

CREATE INDEX "user_roles_by_custom_role" ON "user_roles" ("tenant_id", "custom_role");

CREATE TABLE "images" ("tenant_id" TEXT NOT NULL, "sha256" TEXT NOT NULL, "type" TEXT NOT NULL, "width" INTEGER NOT NULL, "height" INTEGER NOT NULL, "size_bytes" INTEGER NOT NULL, "content" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "sha256")) STRICT, WITHOUT ROWID;

CREATE TABLE "customizations" ("tenant_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "name" TEXT NOT NULL, "draft" TEXT, "published" TEXT, "previous" TEXT, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "kind", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "ssf_streams" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "method" TEXT NOT NULL, "url" TEXT, "authorization_encrypted" TEXT, "events_requested" TEXT, "description" TEXT, "status" TEXT NOT NULL DEFAULT 'enabled', "status_reason" TEXT, "status_at" INTEGER NOT NULL, "position" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "client_id"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "ssf_events" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "stream_id" TEXT NOT NULL, "type" TEXT NOT NULL, "seq" INTEGER NOT NULL, "claims" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), FOREIGN KEY ("tenant_id", "stream_id") REFERENCES "ssf_streams" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "ssf_events_by_stream_id_created_at_seq" ON "ssf_events" ("tenant_id", "stream_id", "created_at", "seq");

CREATE TABLE "ssf_queue" ("tenant" TEXT NOT NULL, "id" TEXT NOT NULL, "due_at" INTEGER NOT NULL, "attempts" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant", "id"), FOREIGN KEY ("tenant", "id") REFERENCES "ssf_streams" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "ssf_queue_by_id_due_at" ON "ssf_queue" ("id", "due_at");

CREATE TABLE "email_changes" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "version" INTEGER NOT NULL, "before" TEXT, "after" TEXT, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "user_id", "version"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "email_changes_by_created_at" ON "email_changes" ("tenant_id", "created_at");

CREATE TABLE "connectors" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "enabled" INTEGER NOT NULL DEFAULT 1, "base_url" TEXT NOT NULL, "auth" TEXT NOT NULL, "secret" TEXT, "users" TEXT NOT NULL DEFAULT 'all', "groups" TEXT NOT NULL DEFAULT '[]', "mappings" TEXT NOT NULL DEFAULT '[]', "match" TEXT NOT NULL DEFAULT 'userName', "deprovision" TEXT NOT NULL DEFAULT 'deactivate', "rate" INTEGER NOT NULL DEFAULT 10, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "connector_states" ("tenant_id" TEXT NOT NULL, "connector_id" TEXT NOT NULL, "position" INTEGER NOT NULL, "sync_after" TEXT, "not_before" INTEGER, "quarantined_at" INTEGER, "quarantine_reason" TEXT, "probe_at" INTEGER, "approval_since" INTEGER, "approved_at" INTEGER NOT NULL DEFAULT 0, "window_total" INTEGER NOT NULL DEFAULT 0, "window_failed" INTEGER NOT NULL DEFAULT 0, "reconcile_at" INTEGER NOT NULL, "reconciled_at" INTEGER, PRIMARY KEY ("tenant_id", "connector_id"), FOREIGN KEY ("tenant_id", "connector_id") REFERENCES "connectors" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "connector_links" ("tenant_id" TEXT NOT NULL, "connector_id" TEXT NOT NULL, "local_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "remote_id" TEXT, "hash" TEXT, "sent_paths" TEXT, "state" TEXT NOT NULL, "mark" INTEGER NOT NULL DEFAULT 0, "due_at" INTEGER, "claimed_until" INTEGER NOT NULL DEFAULT 0, "attempts" INTEGER NOT NULL DEFAULT 0, "leaving" INTEGER NOT NULL DEFAULT 0, "left_at" INTEGER, "creates" INTEGER NOT NULL DEFAULT 0, "reason" TEXT, "request" TEXT, "answer" TEXT, "seen_at" INTEGER, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "connector_id", "local_id"), FOREIGN KEY ("tenant_id", "connector_id") REFERENCES "connectors" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "connector_links_by_connector_id_kind_due_at" ON "connector_links" ("tenant_id", "connector_id", "kind", "due_at") WHERE due_at IS NOT NULL;

CREATE INDEX "connector_links_by_connector_id_state_local_id" ON "connector_links" ("tenant_id", "connector_id", "state", "local_id");

CREATE INDEX "connector_links_by_connector_id_remote_id" ON "connector_links" ("tenant_id", "connector_id", "remote_id");

CREATE TABLE "connector_members" ("tenant_id" TEXT NOT NULL, "connector_id" TEXT NOT NULL, "group_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, PRIMARY KEY ("tenant_id", "connector_id", "group_id", "user_id"), FOREIGN KEY ("tenant_id", "connector_id") REFERENCES "connectors" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "connector_members_by_connector_id_user_id" ON "connector_members" ("tenant_id", "connector_id", "user_id");

CREATE INDEX "outbox_messages_by_lane_next_attempt_at" ON "outbox_messages" ("lane", "next_attempt_at");

CREATE INDEX "tenants_by_pending_domain" ON "tenants" ("pending_domain") WHERE pending_domain IS NOT NULL;

CREATE TABLE "last_sign_ins" ("tenant_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "id" TEXT NOT NULL, "at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "kind", "id")) STRICT, WITHOUT ROWID;

CREATE TABLE "operator_entries" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "secret_hash" TEXT NOT NULL, "is_open" INTEGER NOT NULL, "user_id" TEXT NOT NULL, "grant_id" TEXT NOT NULL, "entered_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "operator_entries_by_expires_at" ON "operator_entries" ("tenant_id", "expires_at");

CREATE TABLE "ssf_removed_subjects" ("tenant_id" TEXT NOT NULL, "stream_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "stream_id", "user_id"), FOREIGN KEY ("tenant_id", "stream_id") REFERENCES "ssf_streams" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "ssf_removed_subjects_by_user_id" ON "ssf_removed_subjects" ("tenant_id", "user_id");

CREATE TABLE "ssf_deliveries" ("tenant_id" TEXT NOT NULL, "stream_id" TEXT NOT NULL, "delivered_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "stream_id"), FOREIGN KEY ("tenant_id", "stream_id") REFERENCES "ssf_streams" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE TABLE "identity_provider_groups" ("tenant_id" TEXT NOT NULL, "group_id" TEXT NOT NULL, "provider_id" TEXT NOT NULL, PRIMARY KEY ("tenant_id", "group_id"), FOREIGN KEY ("tenant_id", "group_id") REFERENCES "groups" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "provider_id") REFERENCES "identity_providers" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "identity_provider_groups_by_provider_id" ON "identity_provider_groups" ("tenant_id", "provider_id");

CREATE TABLE "pin_failures" ("tenant_id" TEXT NOT NULL, "mail_key" TEXT NOT NULL, "of_day" INTEGER NOT NULL, "day_since" INTEGER NOT NULL, "of_year" INTEGER NOT NULL, "year_since" INTEGER NOT NULL, "in_row" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "mail_key")) STRICT, WITHOUT ROWID;

CREATE INDEX "pin_failures_by_expires_at" ON "pin_failures" ("tenant_id", "expires_at");

CREATE TABLE "sign_in_openings" ("tenant_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "user_id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "sign_in_openings_by_expires_at" ON "sign_in_openings" ("tenant_id", "expires_at");

CREATE INDEX "outbox_messages_that_wait" ON "outbox_messages" ("next_attempt_at") WHERE (state = 'waiting' OR waits = 1);

CREATE INDEX "clients_by_secret_by_client_id" ON "clients" ("tenant_id", "secret_by", "client_id") WHERE secret_by IS NOT NULL;

CREATE INDEX "initial_access_tokens_by_created_by_id" ON "initial_access_tokens" ("tenant_id", "created_by", "id") WHERE created_by IS NOT NULL;

CREATE TABLE "access_assignments" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "target_kind" TEXT NOT NULL, "target_id" TEXT NOT NULL, "user_id" TEXT, "group_id" TEXT, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "target_kind", "target_id", "user_id"), UNIQUE ("tenant_id", "target_kind", "target_id", "group_id"), FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "group_id") REFERENCES "groups" ("tenant_id", "id") ON DELETE CASCADE, CHECK ((user_id IS NULL) <> (group_id IS NULL)), CHECK (target_kind IN ('client', 'service_provider', 'resource'))) STRICT, WITHOUT ROWID;

CREATE INDEX "access_assignments_by_user_id" ON "access_assignments" ("tenant_id", "user_id") WHERE user_id IS NOT NULL;

CREATE INDEX "access_assignments_by_group_id" ON "access_assignments" ("tenant_id", "group_id") WHERE group_id IS NOT NULL;

CREATE INDEX "resources_by_clients_identifier" ON "resources" ("tenant_id", "clients", "identifier");

CREATE TABLE "client_documents" ("tenant_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "document" TEXT NOT NULL, "fetched_at" INTEGER NOT NULL, "fresh_until" INTEGER NOT NULL, "used_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "client_id")) STRICT, WITHOUT ROWID;

CREATE INDEX "client_documents_by_used_at" ON "client_documents" ("tenant_id", "used_at");

CREATE INDEX "clients_by_origin_expires_at" ON "clients" ("tenant_id", "origin", "expires_at") WHERE origin IS NOT NULL;

CREATE INDEX "clients_by_expires_at" ON "clients" ("tenant_id", "expires_at") WHERE expires_at IS NOT NULL;

CREATE TABLE "sign_in_tries" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "typed" TEXT, "typed_key" TEXT, "subject_check" TEXT, "application" TEXT NOT NULL, "ip" TEXT, "address_block" TEXT NOT NULL, "user_agent" TEXT, "type" TEXT NOT NULL, "failed_check" TEXT, "request_id" TEXT, "started_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "sign_in_tries_by_started_at_id" ON "sign_in_tries" ("tenant_id", "started_at", "id");

CREATE INDEX "sign_in_tries_by_user_id_started_at_id" ON "sign_in_tries" ("tenant_id", "user_id", "started_at", "id");

CREATE INDEX "sign_in_tries_by_application_started_at_id" ON "sign_in_tries" ("tenant_id", "application", "started_at", "id");

CREATE INDEX "sign_in_tries_by_expires_at" ON "sign_in_tries" ("tenant_id", "expires_at");

CREATE TABLE "sign_in_lines" ("tenant_id" TEXT NOT NULL, "try_id" TEXT NOT NULL, "position" INTEGER NOT NULL, "at" INTEGER NOT NULL, "type" TEXT NOT NULL, "failed_check" TEXT, "detail" TEXT, "request_id" TEXT, PRIMARY KEY ("tenant_id", "try_id", "position"), FOREIGN KEY ("tenant_id", "try_id") REFERENCES "sign_in_tries" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "sign_in_lines_by_request_id" ON "sign_in_lines" ("tenant_id", "request_id") WHERE request_id IS NOT NULL;

CREATE TABLE "workload_issuers" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "issuer" TEXT NOT NULL, "keys" TEXT NOT NULL, "audiences" TEXT NOT NULL, "lifetime_seconds_max" INTEGER NOT NULL, "enabled" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "issuer")) STRICT, WITHOUT ROWID;

CREATE TABLE "client_workloads" ("tenant_id" TEXT NOT NULL, "client_id" TEXT NOT NULL, "issuer_hash" TEXT NOT NULL, "subject_hash" TEXT NOT NULL, PRIMARY KEY ("tenant_id", "client_id", "issuer_hash", "subject_hash"), FOREIGN KEY ("tenant_id", "client_id") REFERENCES "clients" ("tenant_id", "client_id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "client_workloads_by_issuer_hash_subject_hash_client_id" ON "client_workloads" ("tenant_id", "issuer_hash", "subject_hash", "client_id");

CREATE TABLE "console_tasks" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "made_by" TEXT NOT NULL, "action" TEXT NOT NULL, "options" TEXT NOT NULL, "expires_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "console_tasks_by_expires_at" ON "console_tasks" ("tenant_id", "expires_at");

CREATE TABLE "console_task_items" ("tenant_id" TEXT NOT NULL, "task_id" TEXT NOT NULL, "position" INTEGER NOT NULL, "item" TEXT NOT NULL, "state" TEXT NOT NULL, "told" TEXT, "taken_at" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "task_id", "position"), FOREIGN KEY ("tenant_id", "task_id") REFERENCES "console_tasks" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "console_task_items_by_task_id_state_position" ON "console_task_items" ("tenant_id", "task_id", "state", "position");

CREATE TABLE "scim_tokens" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "created_by" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER, "last_used_at" INTEGER, "organization_id" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "token_hash")) STRICT, WITHOUT ROWID;

CREATE INDEX "scim_tokens_by_expires_at" ON "scim_tokens" ("tenant_id", "expires_at");

CREATE TABLE "directories" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "enabled" INTEGER NOT NULL DEFAULT 1, "kind" TEXT NOT NULL, "url" TEXT NOT NULL, "starttls" INTEGER NOT NULL DEFAULT 0, "ca" TEXT, "bind_dn" TEXT NOT NULL, "bind_password" TEXT, "base_dn" TEXT NOT NULL, "user_filter" TEXT, "id_attribute" TEXT, "groups" TEXT NOT NULL DEFAULT 'none', "group_base_dn" TEXT, "group_filter" TEXT, "mappings" TEXT NOT NULL DEFAULT '[]', "match" TEXT NOT NULL DEFAULT 'none', "deprovision" TEXT NOT NULL DEFAULT 'suspend', "every_minutes" INTEGER NOT NULL DEFAULT 15, "full_every_hours" INTEGER NOT NULL DEFAULT 24, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "directory_states" ("tenant_id" TEXT NOT NULL, "directory_id" TEXT NOT NULL, "change_mark" TEXT, "change_server" TEXT, "next_at" INTEGER, "asked_at" INTEGER, "asked_full" INTEGER NOT NULL DEFAULT 0, "full_at" INTEGER, "run" INTEGER NOT NULL DEFAULT 0, "run_began_at" INTEGER, "run_full" INTEGER NOT NULL DEFAULT 0, "held_since" INTEGER, "approved_at" INTEGER NOT NULL DEFAULT 0, "last_run" TEXT, "failure" TEXT, "failure_detail" TEXT, "failed_at" INTEGER, "failures" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "directory_id"), FOREIGN KEY ("tenant_id", "directory_id") REFERENCES "directories" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "directory_states_by_next_at" ON "directory_states" ("tenant_id", "next_at") WHERE next_at IS NOT NULL;

CREATE TABLE "directory_links" ("tenant_id" TEXT NOT NULL, "directory_id" TEXT NOT NULL, "remote_id" TEXT NOT NULL, "kind" TEXT NOT NULL, "local_id" TEXT, "dn" TEXT NOT NULL, "dn_hash" TEXT NOT NULL, "hash" TEXT, "run" INTEGER NOT NULL DEFAULT 0, "state" TEXT NOT NULL, "reason" TEXT, "leaving" INTEGER NOT NULL DEFAULT 0, "left_at" INTEGER, "creates" INTEGER NOT NULL DEFAULT 0, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "directory_id", "remote_id"), FOREIGN KEY ("tenant_id", "directory_id") REFERENCES "directories" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "directory_links_by_directory_id_state_remote_id" ON "directory_links" ("tenant_id", "directory_id", "state", "remote_id");

CREATE INDEX "directory_links_by_directory_id_dn_hash" ON "directory_links" ("tenant_id", "directory_id", "dn_hash");

CREATE INDEX "directory_links_by_directory_id_leaving_remote_id" ON "directory_links" ("tenant_id", "directory_id", "leaving", "remote_id") WHERE leaving > 0;

CREATE UNIQUE INDEX "directory_links_by_local_id" ON "directory_links" ("tenant_id", "local_id") WHERE local_id IS NOT NULL;

CREATE INDEX "tenants_by_directories_due_at" ON "tenants" ("directories_due_at") WHERE directories_due_at IS NOT NULL;

CREATE INDEX "sign_in_tries_by_address_block_user_id_started_at_id" ON "sign_in_tries" ("tenant_id", "address_block", "user_id", "started_at", "id");

CREATE TABLE "organization_roles" ("tenant_id" TEXT NOT NULL, "name" TEXT NOT NULL, "description" TEXT, "scopes" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "manage" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "organizations" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "name" TEXT NOT NULL, "display_name" TEXT, "metadata" TEXT NOT NULL, "enabled" INTEGER NOT NULL, "members" INTEGER NOT NULL, "search_key" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, "join" TEXT NOT NULL DEFAULT '["invitation"]', "default_roles" TEXT NOT NULL DEFAULT '[]', "domains" TEXT NOT NULL DEFAULT '[]', "identity_providers" TEXT NOT NULL DEFAULT '[]', "sign_in" TEXT NOT NULL DEFAULT 'any', "acr_min" TEXT, "branding" TEXT NOT NULL DEFAULT '{}', PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "name")) STRICT, WITHOUT ROWID;

CREATE TABLE "organization_members" ("tenant_id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "roles" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "made_by_scim" INTEGER NOT NULL DEFAULT 0, "suspended" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "organization_id", "user_id"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "user_id") REFERENCES "users" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_members_by_user_id_organization_id" ON "organization_members" ("tenant_id", "user_id", "organization_id");

CREATE TABLE "organization_domains" ("tenant_id" TEXT NOT NULL, "domain" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "proven_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "domain"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_domains_by_organization_id" ON "organization_domains" ("tenant_id", "organization_id");

CREATE TABLE "organization_providers" ("tenant_id" TEXT NOT NULL, "alias" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "tested_at" INTEGER, PRIMARY KEY ("tenant_id", "alias"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_providers_by_organization_id" ON "organization_providers" ("tenant_id", "organization_id");

CREATE TABLE "organization_assignments" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "target_kind" TEXT NOT NULL, "target_id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "target_kind", "target_id", "organization_id"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_assignments_by_organization_id" ON "organization_assignments" ("tenant_id", "organization_id");

CREATE TABLE "organization_invitations" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "email" TEXT NOT NULL, "email_key" TEXT NOT NULL, "roles" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "mailed" INTEGER NOT NULL, "invited_by" TEXT, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "revoked_at" INTEGER, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "token_hash"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_invitations_by_organization_id_id" ON "organization_invitations" ("tenant_id", "organization_id", "id");

CREATE INDEX "organization_invitations_by_organization_id_email_key" ON "organization_invitations" ("tenant_id", "organization_id", "email_key");

CREATE INDEX "organization_invitations_by_expires_at" ON "organization_invitations" ("tenant_id", "expires_at");

CREATE INDEX "sign_in_tries_by_organization_id_started_at" ON "sign_in_tries" ("tenant_id", "organization_id", "started_at") WHERE organization_id IS NOT NULL;

CREATE TABLE "organization_setup_links" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "token_hash" TEXT NOT NULL, "created_by" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "expires_at" INTEGER NOT NULL, "used_at" INTEGER, "revoked_at" INTEGER, "visit_hash" TEXT, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "token_hash"), UNIQUE ("tenant_id", "visit_hash"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_setup_links_by_organization_id_id" ON "organization_setup_links" ("tenant_id", "organization_id", "id");

CREATE INDEX "organization_setup_links_by_expires_at" ON "organization_setup_links" ("tenant_id", "expires_at");

CREATE TABLE "organization_groups" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "display_name" TEXT NOT NULL, "display_name_key" TEXT NOT NULL, "display_name_reversed" TEXT, "external_id" TEXT, "external_id_reversed" TEXT, "version" INTEGER NOT NULL, "created_at" INTEGER NOT NULL, "updated_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "id"), UNIQUE ("tenant_id", "organization_id", "display_name_key"), FOREIGN KEY ("tenant_id", "organization_id") REFERENCES "organizations" ("tenant_id", "id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_groups_by_organization_id_created_at_id" ON "organization_groups" ("tenant_id", "organization_id", "created_at", "id");

CREATE TABLE "organization_group_members" ("tenant_id" TEXT NOT NULL, "group_id" TEXT NOT NULL, "user_id" TEXT NOT NULL, "organization_id" TEXT NOT NULL, "created_at" INTEGER NOT NULL, "user_created_at" INTEGER NOT NULL, PRIMARY KEY ("tenant_id", "group_id", "user_id"), FOREIGN KEY ("tenant_id", "group_id") REFERENCES "organization_groups" ("tenant_id", "id") ON DELETE CASCADE, FOREIGN KEY ("tenant_id", "organization_id", "user_id") REFERENCES "organization_members" ("tenant_id", "organization_id", "user_id") ON DELETE CASCADE) STRICT, WITHOUT ROWID;

CREATE INDEX "organization_group_members_by_organization_id_user_id_group_id" ON "organization_group_members" ("tenant_id", "organization_id", "user_id", "group_id");

CREATE INDEX "scim_tokens_by_organization_id_id" ON "scim_tokens" ("tenant_id", "organization_id", "id");

CREATE INDEX "scim_tokens_by_created_by_id" ON "scim_tokens" ("tenant_id", "created_by", "id");

CREATE INDEX "service_providers_by_organization" ON "service_providers" ("tenant_id", "organization") WHERE organization IS NOT NULL;

CREATE TRIGGER organization_members_counted_insert AFTER INSERT ON organization_members BEGIN
        INSERT INTO directory_counts VALUES (NEW.tenant_id, 'memberships', 0, 1)
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + 1; END;

CREATE TRIGGER organization_members_counted_delete AFTER DELETE ON organization_members BEGIN
        INSERT INTO directory_counts VALUES (OLD.tenant_id, 'memberships', 0, -1)
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + -1; END;

CREATE TABLE "first_steps" ("tenant_id" TEXT NOT NULL, "id" TEXT NOT NULL, "code_hash" TEXT, "expires_at" INTEGER, "proven_at" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("tenant_id", "id")) STRICT, WITHOUT ROWID;

CREATE INDEX "first_steps_by_expires_at" ON "first_steps" ("tenant_id", "expires_at");

CREATE INDEX "saml_sessions_by_sso_session_id" ON "saml_sessions" ("tenant_id", "sso_session_id") WHERE sso_session_id IS NOT NULL;

CREATE INDEX "saml_sessions_by_user_id" ON "saml_sessions" ("tenant_id", "user_id") WHERE user_id IS NOT NULL;

ANALYZE sqlite_schema;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
  ('access_assignments', 'access_assignments', '1000000 500000 1'),
  ('access_assignments', 'access_assignments_by_group_id', '10000 5000 10'),
  ('access_assignments', 'access_assignments_by_user_id', '10000 5000 10'),
  ('access_assignments', 'sqlite_autoindex_access_assignments_2', '1000000 500000 10 5 1'),
  ('access_assignments', 'sqlite_autoindex_access_assignments_3', '1000000 500000 10 5 1'),
  ('activity_counts', 'activity_counts', '1000000 500000 1'),
  ('activity_counts', 'activity_counts_by_hour_at', '1000000 500000 10'),
  ('approvals', 'approvals', '1000000 500000 1'),
  ('approvals', 'approvals_by_expires_at', '1000000 500000 10'),
  ('approvals', 'approvals_by_subject_key_created_at', '1000000 500000 10 5'),
  ('approvals', 'approvals_by_user_id_expires_at', '1000000 500000 10 5'),
  ('attestation_challenges', 'attestation_challenges', '1000000 500000 1'),
  ('attestation_challenges', 'attestation_challenges_by_device_id_created_at', '1000000 500000 10 5'),
  ('attestation_challenges', 'attestation_challenges_by_expires_at', '1000000 500000 10'),
  ('audit_events', 'audit_events', '1000000 500000 1'),
  ('audit_events', 'audit_events_by_created_at', '1000000 500000 10'),
  ('audit_events', 'audit_events_by_request_id', '10000 5000 10'),
  ('audit_events', 'audit_events_by_seq', '10000 5000 1'),
  ('audit_events', 'audit_events_by_type_id', '1000000 500000 125000 10'),
  ('audit_events', 'audit_events_by_user_id_id', '10000 5000 10 5'),
  ('audit_events', 'audit_events_refusals', '10000 5000 10'),
  ('audit_events', 'audit_events_unnumbered', '10000 5000 10'),
  ('authorization_codes', 'authorization_codes', '1000000 500000 1'),
  ('authorization_codes', 'authorization_codes_by_client_id', '1000000 500000 10'),
  ('authorization_codes', 'authorization_codes_by_expires_at', '1000000 500000 10'),
  ('authorization_codes', 'authorization_codes_by_sso_session_id', '10000 5000 10'),
  ('authorization_codes', 'authorization_codes_by_user_id', '1000000 500000 10'),
  ('ciba_deliveries', 'ciba_deliveries', '1000000 500000 1'),
  ('ciba_deliveries', 'ciba_deliveries_by_due_at', '1000000 10'),
  ('ciba_deliveries', 'ciba_deliveries_by_lane_due_at', '1000000 10 5'),
  ('ciba_deliveries', 'ciba_deliveries_by_request_id', '1000000 10'),
  ('ciba_requests', 'ciba_requests', '1000000 500000 1'),
  ('ciba_requests', 'ciba_requests_by_client_id', '1000000 500000 10'),
  ('ciba_requests', 'ciba_requests_by_expires_at', '1000000 500000 10'),
  ('ciba_requests', 'ciba_requests_by_user_id', '1000000 500000 10'),
  ('ciba_requests', 'sqlite_autoindex_ciba_requests_2', '1000000 500000 1'),
  ('ciba_requests', 'sqlite_autoindex_ciba_requests_3', '1000000 500000 1'),
  ('ciba_requests', 'sqlite_autoindex_ciba_requests_4', '1000000 500000 1'),
  ('client_assertions', 'client_assertions', '1000000 500000 1'),
  ('client_assertions', 'client_assertions_by_expires_at', '1000000 500000 10'),
  ('client_documents', 'client_documents', '1000000 500000 1'),
  ('client_documents', 'client_documents_by_used_at', '1000000 500000 10'),
  ('client_registrations', 'client_registrations', '1000000 500000 1'),
  ('client_workloads', 'client_workloads', '1000000 500000 10 5 1'),
  ('client_workloads', 'client_workloads_by_issuer_hash_subject_hash_client_id', '1000000 500000 10 5 2'),
  ('clients', 'clients', '1000000 500000 1'),
  ('clients', 'clients_by_expires_at', '10000 5000 10'),
  ('clients', 'clients_by_origin_expires_at', '10000 5000 10 5'),
  ('clients', 'clients_by_secret_by_client_id', '10000 5000 10 5'),
  ('config_epochs', 'config_epochs', '1000000 1'),
  ('config_epochs', 'config_epochs_by_changed_at', '1000000 10'),
  ('config_epochs', 'config_epochs_by_sequence', '1000000 10'),
  ('connector_links', 'connector_links', '1000000 500000 10 1'),
  ('connector_links', 'connector_links_by_connector_id_kind_due_at', '10000 5000 10 2 1'),
  ('connector_links', 'connector_links_by_connector_id_remote_id', '1000000 500000 10 5'),
  ('connector_links', 'connector_links_by_connector_id_state_local_id', '1000000 500000 10 2 1'),
  ('connector_members', 'connector_members', '1000000 500000 10 5 1'),
  ('connector_members', 'connector_members_by_connector_id_user_id', '1000000 500000 10 5'),
  ('connector_states', 'connector_states', '1000000 500000 1'),
  ('connectors', 'connectors', '1000000 500000 1'),
  ('connectors', 'sqlite_autoindex_connectors_2', '1000000 500000 1'),
  ('consents', 'consents', '1000000 500000 10 5 1'),
  ('consents', 'consents_by_client_id', '1000000 500000 10'),
  ('console_task_items', 'console_task_items', '1000000 500000 10 1'),
  ('console_task_items', 'console_task_items_by_task_id_state_position', '1000000 500000 10 2 1'),
  ('console_tasks', 'console_tasks', '1000000 500000 1'),
  ('console_tasks', 'console_tasks_by_expires_at', '1000000 500000 10'),
  ('custom_attributes', 'custom_attributes', '1000000 500000 1'),
  ('custom_attributes', 'custom_attributes_by_claim', '10000 5000 1'),
  ('custom_attributes', 'custom_attributes_by_name', '10000 5000 1'),
  ('customizations', 'customizations', '1000000 500000 125000 1'),
  ('device_authorizations', 'device_authorizations', '1000000 500000 1'),
  ('device_authorizations', 'device_authorizations_by_client_id', '1000000 500000 10'),
  ('device_authorizations', 'device_authorizations_by_expires_at', '1000000 500000 10'),
  ('device_authorizations', 'device_authorizations_by_user_id', '1000000 500000 10'),
  ('device_authorizations', 'sqlite_autoindex_device_authorizations_2', '1000000 500000 1'),
  ('device_identifiers', 'device_identifiers', '1000000 1'),
  ('device_key_fingerprints', 'device_key_fingerprints', '1000000 500000 1'),
  ('device_keys', 'device_keys', '1000000 500000 10 1'),
  ('device_registrations', 'device_registrations', '1000000 500000 1'),
  ('device_registrations', 'device_registrations_by_device_id', '1000000 500000 10'),
  ('device_registrations', 'device_registrations_by_purge_at', '1000000 500000 10'),
  ('device_registrations', 'device_registrations_by_user_id', '10000 5000 10'),
  ('device_registrations', 'sqlite_autoindex_device_registrations_2', '1000000 500000 1'),
  ('device_requests', 'device_requests', '1000000 500000 1'),
  ('device_requests', 'device_requests_by_expires_at', '1000000 500000 10'),
  ('device_rotations', 'device_rotations', '1000000 500000 1'),
  ('devices', 'devices', '1000000 500000 1'),
  ('devices', 'devices_by_user_id', '1000000 500000 10'),
  ('devices', 'devices_web_phones', '10000 5000'),
  ('directories', 'directories', '1000000 500000 1'),
  ('directories', 'sqlite_autoindex_directories_2', '1000000 500000 1'),
  ('directory_counts', 'directory_counts', '1000000 500000 125000 1'),
  ('directory_links', 'directory_links', '1000000 500000 10 1'),
  ('directory_links', 'directory_links_by_directory_id_dn_hash', '1000000 500000 10 5'),
  ('directory_links', 'directory_links_by_directory_id_leaving_remote_id', '10000 5000 10 5 2'),
  ('directory_links', 'directory_links_by_directory_id_state_remote_id', '1000000 500000 10 2 1'),
  ('directory_links', 'directory_links_by_local_id', '10000 5000 1'),
  ('directory_states', 'directory_states', '1000000 500000 1'),
  ('directory_states', 'directory_states_by_next_at', '10000 5000 10'),
  ('dpop_proofs', 'dpop_proofs', '1000000 500000 1'),
  ('dpop_proofs', 'dpop_proofs_by_expires_at', '1000000 500000 10'),
  ('email_changes', 'email_changes', '1000000 500000 10 1'),
  ('email_changes', 'email_changes_by_created_at', '1000000 500000 10'),
  ('email_search_rows', 'sqlite_autoindex_email_search_rows_1', '1000000 500000 10 1'),
  ('email_trigrams_config', 'email_trigrams_config', '1000000 1'),
  ('email_trigrams_idx', 'email_trigrams_idx', '1000000 10 1'),
  ('enrollment_tokens', 'enrollment_tokens', '1000000 500000 1'),
  ('enrollment_tokens', 'enrollment_tokens_by_expires_at', '1000000 500000 10'),
  ('enrollment_tokens', 'enrollment_tokens_by_user_id', '1000000 500000 10'),
  ('event_feeds', 'event_feeds', '1000000 1'),
  ('external_identities', 'external_identities', '1000000 500000 1'),
  ('external_identities', 'external_identities_by_provider_id', '1000000 500000 10'),
  ('external_identities', 'external_identities_by_user_id', '1000000 500000 10'),
  ('external_identities', 'sqlite_autoindex_external_identities_2', '1000000 500000 1'),
  ('external_logins', 'external_logins', '1000000 500000 1'),
  ('external_logins', 'external_logins_by_expires_at', '1000000 500000 10'),
  ('external_logins', 'external_logins_by_provider_id', '1000000 500000 10'),
  ('first_steps', 'first_steps', '1000000 500000 1'),
  ('first_steps', 'first_steps_by_expires_at', '1000000 500000 10'),
  ('grants', 'grants', '1000000 500000 1'),
  ('grants', 'grants_by_client_id', '1000000 500000 10'),
  ('grants', 'grants_by_expires_at', '1000000 500000 10'),
  ('grants', 'grants_by_sso_session_id', '10000 5000 10'),
  ('grants', 'grants_by_user_id', '1000000 500000 10'),
  ('group_members', 'group_members', '2000000 1000000 400 1'),
  ('group_members', 'group_members_by_group_id_user_created_at_user_id', '1000000 500000 10 5 2'),
  ('group_members', 'group_members_by_user_id', '2000000 1000000 4'),
  ('groups', 'groups', '10000 5000 1'),
  ('groups', 'groups_by_created_at_id_origin', '10000 5000 1 1 1'),
  ('groups', 'groups_by_display_name_reversed', '10000 5000 10'),
  ('groups', 'groups_by_external_id', '10000 5000 10'),
  ('groups', 'groups_by_external_id_reversed', '10000 5000 10'),
  ('groups', 'sqlite_autoindex_groups_2', '10000 5000 1'),
  ('held_deliveries', 'held_deliveries', '1000000 500000 1'),
  ('hooks', 'hooks', '1000000 500000 1'),
  ('hooks', 'sqlite_autoindex_hooks_2', '1000000 500000 1'),
  ('identity_provider_groups', 'identity_provider_groups', '1000000 500000 1'),
  ('identity_provider_groups', 'identity_provider_groups_by_provider_id', '1000000 500000 10'),
  ('identity_providers', 'identity_providers', '1000000 500000 1'),
  ('identity_providers', 'sqlite_autoindex_identity_providers_2', '1000000 500000 1'),
  ('images', 'images', '1000000 500000 1'),
  ('initial_access_tokens', 'initial_access_tokens', '1000000 500000 1'),
  ('initial_access_tokens', 'initial_access_tokens_by_created_by_id', '10000 5000 10 5'),
  ('initial_access_tokens', 'initial_access_tokens_by_expires_at', '1000000 500000 10'),
  ('initial_access_tokens', 'sqlite_autoindex_initial_access_tokens_2', '1000000 500000 1'),
  ('instance', 'instance', '1000000 1'),
  ('invitations', 'invitations', '1000000 500000 1'),
  ('invitations', 'invitations_by_expires_at', '1000000 500000 10'),
  ('invitations', 'invitations_by_stop_hash', '10000 5000 10'),
  ('invitations', 'invitations_by_token_hash', '1000000 500000 10'),
  ('invitations', 'invitations_by_user_id', '1000000 500000 10'),
  ('invitations', 'invitations_by_visit_hash', '10000 5000 10'),
  ('last_sign_ins', 'last_sign_ins', '1000000 500000 125000 1'),
  ('login_transactions', 'login_transactions', '1000000 500000 1'),
  ('login_transactions', 'login_transactions_by_client_id', '1000000 500000 10'),
  ('login_transactions', 'login_transactions_by_expires_at', '1000000 500000 10'),
  ('login_transactions', 'login_transactions_by_user_id', '1000000 500000 10'),
  ('logout_notices', 'logout_notices', '1000000 500000 1'),
  ('logout_notices', 'logout_notices_by_due_at', '1000000 10'),
  ('logout_notices', 'logout_notices_by_grant_id', '1000000 10'),
  ('logout_notices', 'logout_notices_by_lane_due_at', '1000000 10 5'),
  ('mapping_tables', 'mapping_tables', '1000000 500000 1'),
  ('operator_entries', 'operator_entries', '1000000 500000 1'),
  ('operator_entries', 'operator_entries_by_expires_at', '1000000 500000 10'),
  ('organization_assignments', 'organization_assignments', '1000000 500000 1'),
  ('organization_assignments', 'organization_assignments_by_organization_id', '1000000 500000 10'),
  ('organization_assignments', 'sqlite_autoindex_organization_assignments_2', '1000000 500000 10 5 1'),
  ('organization_domains', 'organization_domains', '1000000 500000 1'),
  ('organization_domains', 'organization_domains_by_organization_id', '1000000 500000 10'),
  ('organization_group_members', 'organization_group_members', '1000000 500000 10 1'),
  ('organization_group_members', 'organization_group_members_by_organization_id_user_id_group_id', '1000000 500000 10 5 2'),
  ('organization_groups', 'organization_groups', '1000000 500000 1'),
  ('organization_groups', 'organization_groups_by_organization_id_created_at_id', '1000000 500000 10 5 2'),
  ('organization_groups', 'sqlite_autoindex_organization_groups_2', '1000000 500000 10 1'),
  ('organization_invitations', 'organization_invitations', '1000000 500000 1'),
  ('organization_invitations', 'organization_invitations_by_expires_at', '1000000 500000 10'),
  ('organization_invitations', 'organization_invitations_by_organization_id_email_key', '1000000 500000 10 5'),
  ('organization_invitations', 'organization_invitations_by_organization_id_id', '1000000 500000 10 5'),
  ('organization_invitations', 'sqlite_autoindex_organization_invitations_2', '1000000 500000 1'),
  ('organization_members', 'organization_members', '1000000 500000 10 1'),
  ('organization_members', 'organization_members_by_user_id_organization_id', '1000000 500000 10 5'),
  ('organization_providers', 'organization_providers', '1000000 500000 1'),
  ('organization_providers', 'organization_providers_by_organization_id', '1000000 500000 10'),
  ('organization_roles', 'organization_roles', '1000000 500000 1'),
  ('organization_setup_links', 'organization_setup_links', '1000000 500000 1'),
  ('organization_setup_links', 'organization_setup_links_by_expires_at', '1000000 500000 10'),
  ('organization_setup_links', 'organization_setup_links_by_organization_id_id', '1000000 500000 10 5'),
  ('organization_setup_links', 'sqlite_autoindex_organization_setup_links_2', '1000000 500000 1'),
  ('organization_setup_links', 'sqlite_autoindex_organization_setup_links_3', '1000000 500000 1'),
  ('organizations', 'organizations', '1000000 500000 1'),
  ('organizations', 'sqlite_autoindex_organizations_2', '1000000 500000 1'),
  ('outbox_messages', 'outbox_messages', '1000000 1'),
  ('outbox_messages', 'outbox_messages_by_expires_at', '1000000 10'),
  ('outbox_messages', 'outbox_messages_by_lane_next_attempt_at', '1000000 10 5'),
  ('outbox_messages', 'outbox_messages_by_next_attempt_at', '10000 10'),
  ('outbox_messages', 'outbox_messages_by_recipient_key_id', '1000000 10 5'),
  ('outbox_messages', 'outbox_messages_that_wait', '10000 10'),
  ('passkey_challenges', 'passkey_challenges', '1000000 500000 1'),
  ('passkey_challenges', 'passkey_challenges_by_expires_at', '1000000 500000 10'),
  ('passkeys', 'passkeys', '1000000 500000 1'),
  ('passkeys', 'passkeys_by_user_id', '1000000 500000 10'),
  ('passkeys', 'sqlite_autoindex_passkeys_2', '1000000 500000 1'),
  ('pin_failures', 'pin_failures', '1000000 500000 1'),
  ('pin_failures', 'pin_failures_by_expires_at', '1000000 500000 10'),
  ('pin_mailboxes', 'pin_mailboxes', '1000000 500000 1'),
  ('pin_mailboxes', 'pin_mailboxes_by_expires_at', '1000000 500000 10'),
  ('pins', 'pins', '1000000 500000 1'),
  ('pins', 'pins_by_expires_at', '1000000 500000 10'),
  ('pins', 'pins_by_purpose_subject_id', '1000000 500000 125000 10'),
  ('provider_domains', 'provider_domains', '1000000 500000 1'),
  ('provider_domains', 'provider_domains_by_provider_id', '1000000 500000 10'),
  ('push_messages', 'push_messages', '1000000 1'),
  ('push_messages', 'push_messages_by_expires_at', '1000000 10'),
  ('push_messages', 'push_messages_by_lane_next_attempt_at', '1000000 10 5'),
  ('push_messages', 'push_messages_by_next_attempt_at', '1000000 10'),
  ('push_refusals', 'push_refusals', '1000000 500000 1'),
  ('pushed_requests', 'pushed_requests', '1000000 500000 1'),
  ('pushed_requests', 'pushed_requests_by_client_id', '1000000 500000 10'),
  ('pushed_requests', 'pushed_requests_by_client_id_expires_at', '10000 5000 10 5'),
  ('pushed_requests', 'pushed_requests_by_expires_at', '1000000 500000 10'),
  ('recovery_codes', 'recovery_codes', '1000000 500000 10 1'),
  ('refresh_tokens', 'refresh_tokens', '1000000 500000 1'),
  ('refresh_tokens', 'refresh_tokens_by_expires_at', '1000000 500000 10'),
  ('refresh_tokens', 'sqlite_autoindex_refresh_tokens_2', '1000000 500000 10 1'),
  ('resources', 'resources', '1000000 500000 1'),
  ('resources', 'resources_by_clients_identifier', '1000000 500000 10 5'),
  ('resources', 'sqlite_autoindex_resources_2', '1000000 500000 1'),
  ('revoked_tokens', 'revoked_tokens', '1000000 500000 1'),
  ('revoked_tokens', 'revoked_tokens_by_expires_at', '1000000 500000 10'),
  ('roles', 'roles', '1000000 500000 1'),
  ('saml_metadata_reads', 'saml_metadata_reads', '1000000 500000 1'),
  ('saml_metadata_refreshes', 'saml_metadata_refreshes', '1000000 500000 1'),
  ('saml_metadata_refreshes', 'saml_metadata_refreshes_by_due_at', '1000000 500000 10'),
  ('saml_request_ids', 'saml_request_ids', '1000000 500000 1'),
  ('saml_request_ids', 'saml_request_ids_by_expires_at', '1000000 500000 10'),
  ('saml_sessions', 'saml_sessions', '1000000 500000 1'),
  ('saml_sessions', 'saml_sessions_by_expires_at', '1000000 500000 10'),
  ('saml_sessions', 'saml_sessions_by_sso_session_id', '10000 5000 10'),
  ('saml_sessions', 'saml_sessions_by_user_id', '10000 5000 10'),
  ('scim_tokens', 'scim_tokens', '1000000 500000 1'),
  ('scim_tokens', 'scim_tokens_by_created_by_id', '1000000 500000 10 5'),
  ('scim_tokens', 'scim_tokens_by_expires_at', '1000000 500000 10'),
  ('scim_tokens', 'scim_tokens_by_organization_id_id', '1000000 500000 10 5'),
  ('scim_tokens', 'sqlite_autoindex_scim_tokens_2', '1000000 500000 1'),
  ('sent_forms', 'sent_forms', '1000000 500000 1'),
  ('sent_forms', 'sent_forms_by_expires_at', '1000000 500000 10'),
  ('service_providers', 'service_providers', '1000000 500000 1'),
  ('service_providers', 'service_providers_by_organization', '10000 5000 10'),
  ('service_providers', 'sqlite_autoindex_service_providers_2', '1000000 500000 1'),
  ('setup_tokens', 'setup_tokens', '1000000 500000 1'),
  ('setup_tokens', 'setup_tokens_by_expires_at', '1000000 500000 10'),
  ('setup_tokens', 'setup_tokens_by_user_id', '10000 5000 10'),
  ('sign_in_lines', 'sign_in_lines', '1000000 500000 10 1'),
  ('sign_in_lines', 'sign_in_lines_by_request_id', '10000 5000 10'),
  ('sign_in_openings', 'sign_in_openings', '1000000 500000 1'),
  ('sign_in_openings', 'sign_in_openings_by_expires_at', '1000000 500000 10'),
  ('sign_in_tries', 'sign_in_tries', '1000000 500000 1'),
  ('sign_in_tries', 'sign_in_tries_by_address_block_user_id_started_at_id', '1000000 500000 10 5 2 1'),
  ('sign_in_tries', 'sign_in_tries_by_application_started_at_id', '1000000 500000 10 5 2'),
  ('sign_in_tries', 'sign_in_tries_by_expires_at', '1000000 500000 10'),
  ('sign_in_tries', 'sign_in_tries_by_organization_id_started_at', '10000 5000 10 5'),
  ('sign_in_tries', 'sign_in_tries_by_started_at_id', '1000000 500000 10 5'),
  ('sign_in_tries', 'sign_in_tries_by_user_id_started_at_id', '1000000 500000 10 5 2'),
  ('signing_keys', 'signing_keys', '1000000 500000 1'),
  ('signing_keys', 'signing_keys_by_alg_state', '10000 5000 10 1'),
  ('signing_keys', 'signing_keys_by_use', '1000000 500000 125000'),
  ('signing_keys', 'signing_keys_by_use_alg_state', '10000 5000 1250 10 1'),
  ('signing_keys', 'signing_keys_by_use_state', '10000 5000 1250 1'),
  ('ssf_deliveries', 'ssf_deliveries', '1000000 500000 1'),
  ('ssf_events', 'ssf_events', '1000000 500000 1'),
  ('ssf_events', 'ssf_events_by_stream_id_created_at_seq', '1000000 500000 10 5 2'),
  ('ssf_queue', 'ssf_queue', '1000000 10 1'),
  ('ssf_queue', 'ssf_queue_by_id_due_at', '1000000 10 5'),
  ('ssf_removed_subjects', 'ssf_removed_subjects', '1000000 500000 10 1'),
  ('ssf_removed_subjects', 'ssf_removed_subjects_by_user_id', '1000000 500000 10'),
  ('ssf_streams', 'sqlite_autoindex_ssf_streams_2', '1000000 500000 1'),
  ('ssf_streams', 'ssf_streams', '1000000 500000 1'),
  ('sso_sessions', 'sso_sessions', '1000000 500000 1'),
  ('sso_sessions', 'sso_sessions_by_browser_hash', '1000000 500000 10'),
  ('sso_sessions', 'sso_sessions_by_expires_at', '1000000 500000 10'),
  ('sso_sessions', 'sso_sessions_by_external_identity_id', '10000 5000 10'),
  ('sso_sessions', 'sso_sessions_by_external_session_id', '10000 5000 10'),
  ('sso_sessions', 'sso_sessions_by_user_id', '1000000 500000 10'),
  ('tenants', 'sqlite_autoindex_tenants_2', '1000000 1'),
  ('tenants', 'sqlite_autoindex_tenants_3', '1000000 1'),
  ('tenants', 'tenants', '1000000 1'),
  ('tenants', 'tenants_by_directories_due_at', '10000 10'),
  ('tenants', 'tenants_by_pending_domain', '10000 10'),
  ('user_addresses', 'user_addresses', '1000000 500000 1 1'),
  ('user_custom_values', 'user_custom_values', '1000000 500000 10 2 1'),
  ('user_custom_values', 'user_custom_values_by_attribute_unique_key', '10000 5000 1250 1'),
  ('user_custom_values', 'user_custom_values_by_attribute_value_key_user_id', '1000000 500000 125000 10 5'),
  ('user_emails', 'sqlite_autoindex_user_emails_2', '1000000 500000 1'),
  ('user_emails', 'user_emails', '1000000 500000 1 1 sz=240'),
  ('user_emails', 'user_emails_by_value_reversed', '1000000 500000 1'),
  ('user_emails', 'user_emails_primary', '10000 5000 10 5'),
  ('user_roles', 'user_roles', '1000000 500000 10 1'),
  ('user_roles', 'user_roles_by_custom_role', '1000000 500000 10'),
  ('user_roles', 'user_roles_by_role_user_id', '1000000 500000 10 5'),
  ('user_search_rows', 'sqlite_autoindex_user_search_rows_1', '1000000 500000 1'),
  ('user_trigrams_config', 'user_trigrams_config', '1000000 1'),
  ('user_trigrams_idx', 'user_trigrams_idx', '1000000 10 1'),
  ('user_values', 'user_values', '1000000 500000 4 2 1'),
  ('user_values', 'user_values_by_attribute_value_key', '1000000 500000 200000 10'),
  ('users', 'sqlite_autoindex_users_2', '1000000 500000 1'),
  ('users', 'users', '1000000 500000 1 sz=700'),
  ('users', 'users_administrators', '10000 5000 10'),
  ('users', 'users_by_cost_center_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_created_at_id_state', '1000000 500000 2 1 1'),
  ('users', 'users_by_department_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_display_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_display_name_reversed_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_division_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_employee_number_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_external_id_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_external_id_reversed_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_family_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_family_name_reversed_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_given_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_given_name_reversed_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_honorific_prefix_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_honorific_suffix_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_locale_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_manager_display_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_manager_value_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_middle_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_name_formatted_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_nick_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_organization_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_preferred_language_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_profile_url_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_timezone_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_title_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_updated_at_id_state', '1000000 500000 2 1 1'),
  ('users', 'users_by_user_name_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_user_name_reversed_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_by_user_type_key_created_at_id_state', '1000000 500000 4 1 1 1 sz=140'),
  ('users', 'users_shown_by_user_name', '10000 5000 10 5 2'),
  ('users', 'users_without_display_name_key', '10000 5000 1 1 1 1'),
  ('users', 'users_without_family_name_key', '10000 5000 1 1 1 1'),
  ('vapid_keys', 'vapid_keys', '1000000 1'),
  ('webhook_deliveries', 'sqlite_autoindex_webhook_deliveries_2', '1000000 500000 10 1'),
  ('webhook_deliveries', 'webhook_deliveries', '1000000 500000 1'),
  ('webhook_deliveries', 'webhook_deliveries_by_expires_at', '1000000 500000 10'),
  ('webhook_deliveries', 'webhook_deliveries_by_webhook_id_id', '1000000 500000 10 5'),
  ('webhook_deliveries', 'webhook_deliveries_by_webhook_id_state_id', '1000000 500000 10 2 1'),
  ('webhook_positions', 'webhook_positions', '1000000 500000 1'),
  ('webhook_queue', 'webhook_queue', '1000000 10 1'),
  ('webhook_queue', 'webhook_queue_by_lane_due_at', '1000000 10 5'),
  ('webhooks', 'sqlite_autoindex_webhooks_2', '1000000 500000 1'),
  ('webhooks', 'webhooks', '1000000 500000 1'),
  ('workload_issuers', 'sqlite_autoindex_workload_issuers_2', '1000000 500000 1'),
  ('workload_issuers', 'workload_issuers', '1000000 500000 1');

ANALYZE sqlite_schema;

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

CREATE INDEX access_assignments_by_group_id ON public.access_assignments USING btree (tenant_id, group_id) WHERE (group_id IS NOT NULL)
CREATE INDEX access_assignments_by_user_id ON public.access_assignments USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL)
CREATE INDEX activity_counts_by_hour_at ON public.activity_counts USING btree (tenant_id, hour_at)
CREATE INDEX approvals_by_expires_at ON public.approvals USING btree (tenant_id, expires_at)
CREATE INDEX approvals_by_subject_key_created_at ON public.approvals USING btree (tenant_id, subject_key, created_at)
CREATE INDEX approvals_by_user_id_expires_at ON public.approvals USING btree (tenant_id, user_id, expires_at)
CREATE INDEX attestation_challenges_by_device_id_created_at ON public.attestation_challenges USING btree (tenant_id, device_id, created_at)
CREATE INDEX attestation_challenges_by_expires_at ON public.attestation_challenges USING btree (tenant_id, expires_at)
CREATE INDEX audit_events_by_created_at ON public.audit_events USING btree (tenant_id, created_at)
CREATE INDEX audit_events_by_request_id ON public.audit_events USING btree (tenant_id, request_id) WHERE (request_id IS NOT NULL)
CREATE INDEX audit_events_by_type_id ON public.audit_events USING btree (tenant_id, type, id)
CREATE INDEX audit_events_by_user_id_id ON public.audit_events USING btree (tenant_id, user_id, id) WHERE (user_id IS NOT NULL)
CREATE INDEX authorization_codes_by_client_id ON public.authorization_codes USING btree (tenant_id, client_id)
CREATE INDEX authorization_codes_by_expires_at ON public.authorization_codes USING btree (tenant_id, expires_at)
CREATE INDEX authorization_codes_by_user_id ON public.authorization_codes USING btree (tenant_id, user_id)
CREATE INDEX ciba_deliveries_by_due_at ON public.ciba_deliveries USING btree (due_at)
CREATE INDEX ciba_deliveries_by_request_id ON public.ciba_deliveries USING btree (request_id)
CREATE INDEX ciba_requests_by_client_id ON public.ciba_requests USING btree (tenant_id, client_id)
CREATE INDEX ciba_requests_by_expires_at ON public.ciba_requests USING btree (tenant_id, expires_at)
CREATE INDEX ciba_requests_by_user_id ON public.ciba_requests USING btree (tenant_id, user_id)
CREATE INDEX client_assertions_by_expires_at ON public.client_assertions USING btree (tenant_id, expires_at)
CREATE INDEX config_epochs_by_changed_at ON public.config_epochs USING btree (changed_at)
CREATE INDEX consents_by_client_id ON public.consents USING btree (tenant_id, client_id)
CREATE INDEX device_registrations_by_device_id ON public.device_registrations USING btree (tenant_id, device_id)
CREATE INDEX device_registrations_by_purge_at ON public.device_registrations USING btree (tenant_id, purge_at)
CREATE INDEX device_requests_by_expires_at ON public.device_requests USING btree (tenant_id, expires_at)
CREATE INDEX devices_by_user_id ON public.devices USING btree (tenant_id, user_id)
CREATE INDEX dpop_proofs_by_expires_at ON public.dpop_proofs USING btree (tenant_id, expires_at)
CREATE INDEX enrollment_tokens_by_expires_at ON public.enrollment_tokens USING btree (tenant_id, expires_at)
CREATE INDEX enrollment_tokens_by_user_id ON public.enrollment_tokens USING btree (tenant_id, user_id)
CREATE INDEX grants_by_client_id ON public.grants USING btree (tenant_id, client_id)
CREATE INDEX grants_by_expires_at ON public.grants USING btree (tenant_id, expires_at)
CREATE INDEX grants_by_user_id ON public.grants USING btree (tenant_id, user_id)
CREATE INDEX group_members_by_user_id ON public.group_members USING btree (tenant_id, user_id)
CREATE INDEX groups_by_created_at_id_origin ON public.groups USING btree (tenant_id, created_at, id, origin) WHERE (origin = 'scim'::text)
CREATE INDEX groups_by_display_name_reversed ON public.groups USING btree (tenant_id, display_name_reversed) WHERE (display_name_reversed IS NOT NULL)
CREATE INDEX groups_by_external_id ON public.groups USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL)
CREATE INDEX groups_by_external_id_reversed ON public.groups USING btree (tenant_id, external_id_reversed) WHERE (external_id_reversed IS NOT NULL)
CREATE INDEX login_transactions_by_client_id ON public.login_transactions USING btree (tenant_id, client_id)
CREATE INDEX login_transactions_by_expires_at ON public.login_transactions USING btree (tenant_id, expires_at)
CREATE INDEX login_transactions_by_user_id ON public.login_transactions USING btree (tenant_id, user_id)
CREATE INDEX logout_notices_by_due_at ON public.logout_notices USING btree (due_at)
CREATE INDEX logout_notices_by_grant_id ON public.logout_notices USING btree (grant_id)
CREATE INDEX outbox_messages_by_expires_at ON public.outbox_messages USING btree (expires_at)
CREATE INDEX outbox_messages_by_next_attempt_at ON public.outbox_messages USING btree (next_attempt_at) WHERE (state = 'waiting'::text)
CREATE INDEX outbox_messages_by_recipient_key_id ON public.outbox_messages USING btree (recipient_key, id)
CREATE INDEX passkey_challenges_by_expires_at ON public.passkey_challenges USING btree (tenant_id, expires_at)
CREATE INDEX passkeys_by_user_id ON public.passkeys USING btree (tenant_id, user_id)
CREATE INDEX pin_mailboxes_by_expires_at ON public.pin_mailboxes USING btree (tenant_id, expires_at)
CREATE INDEX pins_by_expires_at ON public.pins USING btree (tenant_id, expires_at)
CREATE INDEX pins_by_purpose_subject_id ON public.pins USING btree (tenant_id, purpose, subject_id)
CREATE INDEX push_messages_by_expires_at ON public.push_messages USING btree (expires_at)
CREATE INDEX push_messages_by_next_attempt_at ON public.push_messages USING btree (next_attempt_at)
CREATE INDEX pushed_requests_by_client_id ON public.pushed_requests USING btree (tenant_id, client_id)
CREATE INDEX pushed_requests_by_expires_at ON public.pushed_requests USING btree (tenant_id, expires_at)
CREATE INDEX refresh_tokens_by_expires_at ON public.refresh_tokens USING btree (tenant_id, expires_at)
CREATE INDEX revoked_tokens_by_expires_at ON public.revoked_tokens USING btree (tenant_id, expires_at)
CREATE INDEX saml_request_ids_by_expires_at ON public.saml_request_ids USING btree (tenant_id, expires_at)
CREATE INDEX saml_sessions_by_expires_at ON public.saml_sessions USING btree (tenant_id, expires_at)
CREATE INDEX setup_tokens_by_expires_at ON public.setup_tokens USING btree (tenant_id, expires_at)
CREATE INDEX setup_tokens_by_user_id ON public.setup_tokens USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL)
CREATE INDEX user_emails_by_value_reversed ON public.user_emails USING btree (tenant_id, value_reversed)
CREATE INDEX user_emails_value_key_trigrams ON public.user_emails USING gin (value_key gin_trgm_ops)
CREATE INDEX user_values_by_attribute_value_key ON public.user_values USING btree (tenant_id, attribute, value_key) WHERE (value_key IS NOT NULL)
CREATE INDEX users_by_cost_center_key_created_at_id_state ON public.users USING btree (tenant_id, cost_center_key, created_at, id, state) WHERE (cost_center_key IS NOT NULL)
CREATE INDEX users_by_created_at_id_state ON public.users USING btree (tenant_id, created_at, id, state) WHERE (state <> 'deleted'::text)
CREATE INDEX users_by_department_key_created_at_id_state ON public.users USING btree (tenant_id, department_key, created_at, id, state) WHERE (department_key IS NOT NULL)
CREATE INDEX users_by_display_name_key_created_at_id_state ON public.users USING btree (tenant_id, display_name_key, created_at, id, state) WHERE (display_name_key IS NOT NULL)
CREATE INDEX users_by_display_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, display_name_reversed, created_at, id, state) WHERE (display_name_reversed IS NOT NULL)
CREATE INDEX users_by_division_key_created_at_id_state ON public.users USING btree (tenant_id, division_key, created_at, id, state) WHERE (division_key IS NOT NULL)
CREATE INDEX users_by_employee_number_key_created_at_id_state ON public.users USING btree (tenant_id, employee_number_key, created_at, id, state) WHERE (employee_number_key IS NOT NULL)
CREATE INDEX users_by_external_id_created_at_id_state ON public.users USING btree (tenant_id, external_id, created_at, id, state) WHERE (external_id IS NOT NULL)
CREATE INDEX users_by_external_id_reversed_created_at_id_state ON public.users USING btree (tenant_id, external_id_reversed, created_at, id, state) WHERE (external_id_reversed IS NOT NULL)
CREATE INDEX users_by_family_name_key_created_at_id_state ON public.users USING btree (tenant_id, family_name_key, created_at, id, state) WHERE (family_name_key IS NOT NULL)
CREATE INDEX users_by_family_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, family_name_reversed, created_at, id, state) WHERE (family_name_reversed IS NOT NULL)
CREATE INDEX users_by_given_name_key_created_at_id_state ON public.users USING btree (tenant_id, given_name_key, created_at, id, state) WHERE (given_name_key IS NOT NULL)
CREATE INDEX users_by_given_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, given_name_reversed, created_at, id, state) WHERE (given_name_reversed IS NOT NULL)
CREATE INDEX users_by_honorific_prefix_key_created_at_id_state ON public.users USING btree (tenant_id, honorific_prefix_key, created_at, id, state) WHERE (honorific_prefix_key IS NOT NULL)
CREATE INDEX users_by_honorific_suffix_key_created_at_id_state ON public.users USING btree (tenant_id, honorific_suffix_key, created_at, id, state) WHERE (honorific_suffix_key IS NOT NULL)
CREATE INDEX users_by_locale_key_created_at_id_state ON public.users USING btree (tenant_id, locale_key, created_at, id, state) WHERE (locale_key IS NOT NULL)
CREATE INDEX users_by_manager_display_name_key_created_at_id_state ON public.users USING btree (tenant_id, manager_display_name_key, created_at, id, state) WHERE (manager_display_name_key IS NOT NULL)
CREATE INDEX users_by_manager_value_created_at_id_state ON public.users USING btree (tenant_id, manager_value, created_at, id, state) WHERE (manager_value IS NOT NULL)
CREATE INDEX users_by_middle_name_key_created_at_id_state ON public.users USING btree (tenant_id, middle_name_key, created_at, id, state) WHERE (middle_name_key IS NOT NULL)
CREATE INDEX users_by_name_formatted_key_created_at_id_state ON public.users USING btree (tenant_id, name_formatted_key, created_at, id, state) WHERE (name_formatted_key IS NOT NULL)
CREATE INDEX users_by_nick_name_key_created_at_id_state ON public.users USING btree (tenant_id, nick_name_key, created_at, id, state) WHERE (nick_name_key IS NOT NULL)
CREATE INDEX users_by_organization_key_created_at_id_state ON public.users USING btree (tenant_id, organization_key, created_at, id, state) WHERE (organization_key IS NOT NULL)
CREATE INDEX users_by_preferred_language_key_created_at_id_state ON public.users USING btree (tenant_id, preferred_language_key, created_at, id, state) WHERE (preferred_language_key IS NOT NULL)
CREATE INDEX users_by_profile_url_created_at_id_state ON public.users USING btree (tenant_id, profile_url, created_at, id, state) WHERE (profile_url IS NOT NULL)
CREATE INDEX users_by_timezone_key_created_at_id_state ON public.users USING btree (tenant_id, timezone_key, created_at, id, state) WHERE (timezone_key IS NOT NULL)
CREATE INDEX users_by_title_key_created_at_id_state ON public.users USING btree (tenant_id, title_key, created_at, id, state) WHERE (title_key IS NOT NULL)
CREATE INDEX users_by_updated_at_id_state ON public.users USING btree (tenant_id, updated_at, id, state) WHERE (state <> 'deleted'::text)
CREATE INDEX users_by_user_name_key_created_at_id_state ON public.users USING btree (tenant_id, user_name_key, created_at, id, state) WHERE (user_name_key IS NOT NULL)
CREATE INDEX users_by_user_name_reversed_created_at_id_state ON public.users USING btree (tenant_id, user_name_reversed, created_at, id, state) WHERE (user_name_reversed IS NOT NULL)
CREATE INDEX users_by_user_type_key_created_at_id_state ON public.users USING btree (tenant_id, user_type_key, created_at, id, state) WHERE (user_type_key IS NOT NULL)
CREATE INDEX users_display_name_key_trigrams ON public.users USING gin (display_name_key gin_trgm_ops)
CREATE INDEX users_family_name_key_trigrams ON public.users USING gin (family_name_key gin_trgm_ops)
CREATE INDEX users_given_name_key_trigrams ON public.users USING gin (given_name_key gin_trgm_ops)
CREATE INDEX users_user_name_key_trigrams ON public.users USING gin (user_name_key gin_trgm_ops)
CREATE INDEX users_without_display_name_key ON public.users USING btree (tenant_id, created_at, id, state, display_name_key) WHERE ((display_name_key IS NULL) AND (state <> 'deleted'::text))
CREATE INDEX users_without_family_name_key ON public.users USING btree (tenant_id, created_at, id, state, family_name_key) WHERE ((family_name_key IS NULL) AND (state <> 'deleted'::text))
CREATE UNIQUE INDEX access_assignments_pkey ON public.access_assignments USING btree (tenant_id, id)
CREATE UNIQUE INDEX access_assignments_tenant_id_target_kind_target_id_group_id_key ON public.access_assignments USING btree (tenant_id, target_kind, target_id, group_id)
CREATE UNIQUE INDEX access_assignments_tenant_id_target_kind_target_id_user_id_key ON public.access_assignments USING btree (tenant_id, target_kind, target_id, user_id)
CREATE UNIQUE INDEX activity_counts_pkey ON public.activity_counts USING btree (tenant_id, id)
CREATE UNIQUE INDEX approvals_pkey ON public.approvals USING btree (tenant_id, id)
CREATE UNIQUE INDEX attestation_challenges_pkey ON public.attestation_challenges USING btree (tenant_id, challenge)
CREATE UNIQUE INDEX audit_events_pkey ON public.audit_events USING btree (tenant_id, id)
CREATE UNIQUE INDEX authorization_codes_pkey ON public.authorization_codes USING btree (tenant_id, code_hash)
CREATE UNIQUE INDEX ciba_deliveries_pkey ON public.ciba_deliveries USING btree (tenant_id, request_id)
CREATE UNIQUE INDEX ciba_requests_pkey ON public.ciba_requests USING btree (tenant_id, auth_req_id_hash)
CREATE UNIQUE INDEX ciba_requests_tenant_id_approval_id_key ON public.ciba_requests USING btree (tenant_id, approval_id)
CREATE UNIQUE INDEX ciba_requests_tenant_id_id_key ON public.ciba_requests USING btree (tenant_id, id)
CREATE UNIQUE INDEX ciba_requests_tenant_id_mail_token_hash_key ON public.ciba_requests USING btree (tenant_id, mail_token_hash)
CREATE UNIQUE INDEX client_assertions_pkey ON public.client_assertions USING btree (tenant_id, jti_hash)
CREATE UNIQUE INDEX clients_pkey ON public.clients USING btree (tenant_id, client_id)
CREATE UNIQUE INDEX config_epochs_pkey ON public.config_epochs USING btree (tenant_id)
CREATE UNIQUE INDEX consents_pkey ON public.consents USING btree (tenant_id, user_id, client_id, scope_set)
CREATE UNIQUE INDEX device_identifiers_pkey ON public.device_identifiers USING btree (id)
CREATE UNIQUE INDEX device_key_fingerprints_pkey ON public.device_key_fingerprints USING btree (tenant_id, fingerprint)
CREATE UNIQUE INDEX device_keys_pkey ON public.device_keys USING btree (tenant_id, device_id, key_id)
CREATE UNIQUE INDEX device_registrations_pkey ON public.device_registrations USING btree (tenant_id, id)
CREATE UNIQUE INDEX device_registrations_tenant_id_token_hash_key ON public.device_registrations USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX device_requests_pkey ON public.device_requests USING btree (tenant_id, digest)
CREATE UNIQUE INDEX device_rotations_pkey ON public.device_rotations USING btree (tenant_id, device_id)
CREATE UNIQUE INDEX devices_pkey ON public.devices USING btree (tenant_id, id)
CREATE UNIQUE INDEX directory_counts_pkey ON public.directory_counts USING btree (tenant_id, kind, shard)
CREATE UNIQUE INDEX dpop_proofs_pkey ON public.dpop_proofs USING btree (tenant_id, proof_hash)
CREATE UNIQUE INDEX enrollment_tokens_pkey ON public.enrollment_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX grants_pkey ON public.grants USING btree (tenant_id, id)
CREATE UNIQUE INDEX group_members_pkey ON public.group_members USING btree (tenant_id, group_id, user_id)
CREATE UNIQUE INDEX groups_pkey ON public.groups USING btree (tenant_id, id)
CREATE UNIQUE INDEX groups_tenant_id_display_name_key_key ON public.groups USING btree (tenant_id, display_name_key)
CREATE UNIQUE INDEX instance_pkey ON public.instance USING btree (key)
CREATE UNIQUE INDEX login_transactions_pkey ON public.login_transactions USING btree (tenant_id, id)
CREATE UNIQUE INDEX logout_notices_pkey ON public.logout_notices USING btree (tenant_id, grant_id)
CREATE UNIQUE INDEX outbox_messages_pkey ON public.outbox_messages USING btree (id)
CREATE UNIQUE INDEX passkey_challenges_pkey ON public.passkey_challenges USING btree (tenant_id, subject)
CREATE UNIQUE INDEX passkeys_pkey ON public.passkeys USING btree (tenant_id, id)
CREATE UNIQUE INDEX passkeys_tenant_id_credential_id_key ON public.passkeys USING btree (tenant_id, credential_id)
CREATE UNIQUE INDEX pin_mailboxes_pkey ON public.pin_mailboxes USING btree (tenant_id, mail_key)
CREATE UNIQUE INDEX pins_pkey ON public.pins USING btree (tenant_id, id)
CREATE UNIQUE INDEX push_messages_pkey ON public.push_messages USING btree (id)
CREATE UNIQUE INDEX pushed_requests_pkey ON public.pushed_requests USING btree (tenant_id, reference_hash)
CREATE UNIQUE INDEX refresh_tokens_pkey ON public.refresh_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX refresh_tokens_tenant_id_grant_id_generation_key ON public.refresh_tokens USING btree (tenant_id, grant_id, generation)
CREATE UNIQUE INDEX resources_pkey ON public.resources USING btree (tenant_id, id)
CREATE UNIQUE INDEX resources_tenant_id_identifier_key ON public.resources USING btree (tenant_id, identifier)
CREATE UNIQUE INDEX revoked_tokens_pkey ON public.revoked_tokens USING btree (tenant_id, jti)
CREATE UNIQUE INDEX saml_request_ids_pkey ON public.saml_request_ids USING btree (tenant_id, request_hash)
CREATE UNIQUE INDEX saml_sessions_pkey ON public.saml_sessions USING btree (tenant_id, session_hash)
CREATE UNIQUE INDEX schema_migrations_pkey ON public.schema_migrations USING btree (number)
CREATE UNIQUE INDEX service_providers_pkey ON public.service_providers USING btree (tenant_id, id)
CREATE UNIQUE INDEX service_providers_tenant_id_entity_id_hash_key ON public.service_providers USING btree (tenant_id, entity_id_hash)
CREATE UNIQUE INDEX setup_tokens_pkey ON public.setup_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX signing_keys_by_alg_state ON public.signing_keys USING btree (tenant_id, alg, state) WHERE ((use = 'oidc'::text) AND (state <> 'retired'::text))
CREATE UNIQUE INDEX signing_keys_by_use_alg_state ON public.signing_keys USING btree (tenant_id, use, alg, state) WHERE ((use = 'saml'::text) AND (state <> 'retired'::text))
CREATE UNIQUE INDEX signing_keys_pkey ON public.signing_keys USING btree (tenant_id, kid)
CREATE UNIQUE INDEX tenants_domain_key ON public.tenants USING btree (domain)
CREATE UNIQUE INDEX tenants_pkey ON public.tenants USING btree (tenant_id)
CREATE UNIQUE INDEX tenants_slug_key ON public.tenants USING btree (slug)
CREATE UNIQUE INDEX user_addresses_pkey ON public.user_addresses USING btree (tenant_id, user_id, "position")
CREATE UNIQUE INDEX user_emails_pkey ON public.user_emails USING btree (tenant_id, user_id, "position")
CREATE UNIQUE INDEX user_emails_tenant_id_value_key_key ON public.user_emails USING btree (tenant_id, value_key)
CREATE UNIQUE INDEX user_values_pkey ON public.user_values USING btree (tenant_id, user_id, attribute, "position")
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (tenant_id, id)
CREATE UNIQUE INDEX users_tenant_id_user_name_key_key ON public.users USING btree (tenant_id, user_name_key)
access_assignments POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
access_assignments access_assignments_check CHECK (((user_id IS NULL) <> (group_id IS NULL)))
access_assignments access_assignments_target_kind_check CHECK ((target_kind = ANY (ARRAY['client'::text, 'service_provider'::text])))
access_assignments access_assignments_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE
access_assignments access_assignments_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
access_assignments.created_at bigint NOT NULL
access_assignments.group_id text COLLATE C
access_assignments.id text NOT NULL COLLATE C
access_assignments.target_id text NOT NULL COLLATE C
access_assignments.target_kind text NOT NULL COLLATE C
access_assignments.tenant_id text NOT NULL COLLATE C
access_assignments.user_id text COLLATE C
activity_counts POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
activity_counts.hour_at bigint NOT NULL
activity_counts.id text NOT NULL COLLATE C
activity_counts.n bigint NOT NULL
activity_counts.name text NOT NULL COLLATE C
activity_counts.tenant_id text NOT NULL COLLATE C
approvals POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
approvals approvals_kind_check CHECK ((kind = ANY (ARRAY['oidc_login'::text, 'saml_login'::text, 'ciba'::text, 'device_add'::text])))
approvals approvals_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text, 'expired'::text])))
approvals approvals_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
approvals.acr text COLLATE C
approvals.amr text COLLATE C
approvals.binding_message text COLLATE C
approvals.claimed_by text COLLATE C
approvals.client_id text COLLATE C
approvals.created_at bigint NOT NULL
approvals.decided_at bigint
approvals.decided_by text COLLATE C
approvals.deny_reason text COLLATE C
approvals.expires_at bigint NOT NULL
approvals.id text NOT NULL COLLATE C
approvals.initiated_ip text COLLATE C
approvals.initiated_user_agent text COLLATE C
approvals.kind text NOT NULL COLLATE C
approvals.method text COLLATE C
approvals.new_device_id text COLLATE C
approvals.number text COLLATE C
approvals.on_devices bigint NOT NULL DEFAULT 0
approvals.scope text COLLATE C
approvals.service_provider_id text COLLATE C
approvals.state text NOT NULL DEFAULT 'pending'::text COLLATE C
approvals.subject_key text NOT NULL COLLATE C
approvals.tenant_id text NOT NULL COLLATE C
approvals.user_id text COLLATE C
attestation_challenges POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
attestation_challenges.challenge text NOT NULL COLLATE C
attestation_challenges.created_at bigint NOT NULL
attestation_challenges.device_id text NOT NULL COLLATE C
attestation_challenges.expires_at bigint NOT NULL
attestation_challenges.tenant_id text NOT NULL COLLATE C
attestation_challenges.used_at bigint
audit_events POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
audit_events.actor text COLLATE C
audit_events.created_at bigint NOT NULL
audit_events.data text COLLATE C
audit_events.expected text COLLATE C
audit_events.id text NOT NULL COLLATE C
audit_events.reason text COLLATE C
audit_events.received text COLLATE C
audit_events.request_id text COLLATE C
audit_events.row_id text COLLATE C
audit_events.target text COLLATE C
audit_events.tenant_id text NOT NULL COLLATE C
audit_events.type text NOT NULL COLLATE C
audit_events.user_id text COLLATE C
authorization_codes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
authorization_codes authorization_codes_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
authorization_codes authorization_codes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
authorization_codes.acr text COLLATE C
authorization_codes.amr text NOT NULL COLLATE C
authorization_codes.auth_time bigint NOT NULL
authorization_codes.client_id text NOT NULL COLLATE C
authorization_codes.code_challenge text COLLATE C
authorization_codes.code_hash text NOT NULL COLLATE C
authorization_codes.created_at bigint NOT NULL
authorization_codes.dpop_jkt text COLLATE C
authorization_codes.expires_at bigint NOT NULL
authorization_codes.grant_id text NOT NULL COLLATE C
authorization_codes.max_age bigint
authorization_codes.nonce text COLLATE C
authorization_codes.redirect_uri text NOT NULL COLLATE C
authorization_codes.resource text COLLATE C
authorization_codes.scope text NOT NULL COLLATE C
authorization_codes.tenant_id text NOT NULL COLLATE C
authorization_codes.used_at bigint
authorization_codes.user_id text NOT NULL COLLATE C
ciba_deliveries.attempts bigint NOT NULL DEFAULT 0
ciba_deliveries.due_at bigint NOT NULL
ciba_deliveries.request_id text NOT NULL COLLATE C
ciba_deliveries.tenant_id text NOT NULL COLLATE C
ciba_requests POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
ciba_requests ciba_requests_delivery_mode_check CHECK ((delivery_mode = ANY (ARRAY['poll'::text, 'ping'::text, 'push'::text])))
ciba_requests ciba_requests_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
ciba_requests ciba_requests_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
ciba_requests.approval_id text NOT NULL COLLATE C
ciba_requests.auth_req_id_hash text NOT NULL COLLATE C
ciba_requests.client_id text NOT NULL COLLATE C
ciba_requests.created_at bigint NOT NULL
ciba_requests.delivery_mode text NOT NULL COLLATE C
ciba_requests.expires_at bigint NOT NULL
ciba_requests.grant_id text COLLATE C
ciba_requests.id text NOT NULL COLLATE C
ciba_requests.interval_seconds bigint NOT NULL
ciba_requests.last_polled_at bigint
ciba_requests.mail_token_hash text COLLATE C
ciba_requests.notification_encrypted text COLLATE C
ciba_requests.payload_encrypted text COLLATE C
ciba_requests.polled_early bigint NOT NULL DEFAULT 0
ciba_requests.resource text COLLATE C
ciba_requests.scope text NOT NULL COLLATE C
ciba_requests.tenant_id text NOT NULL COLLATE C
ciba_requests.used_at bigint
ciba_requests.user_id text NOT NULL COLLATE C
client_assertions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
client_assertions.expires_at bigint NOT NULL
client_assertions.jti_hash text NOT NULL COLLATE C
client_assertions.tenant_id text NOT NULL COLLATE C
clients POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
clients clients_access_policy_check CHECK ((access_policy = ANY (ARRAY['everyone'::text, 'assigned'::text])))
clients clients_authorize_error_delivery_check CHECK ((authorize_error_delivery = ANY (ARRAY['direct'::text, 'redirect'::text])))
clients clients_type_check CHECK ((type = ANY (ARRAY['confidential'::text, 'public'::text])))
clients.access_policy text NOT NULL COLLATE C
clients.authorize_error_delivery text NOT NULL COLLATE C
clients.backchannel_client_notification_endpoint text COLLATE C
clients.backchannel_logout_uri text COLLATE C
clients.backchannel_token_delivery_mode text COLLATE C
clients.client_id text NOT NULL COLLATE C
clients.created_at bigint NOT NULL
clients.enabled bigint NOT NULL
clients.grant_types text NOT NULL COLLATE C
clients.id_token_signed_response_alg text NOT NULL COLLATE C
clients.jwks text COLLATE C
clients.jwks_uri text COLLATE C
clients.logo_uri text COLLATE C
clients.name text NOT NULL COLLATE C
clients.post_logout_redirect_uris text NOT NULL COLLATE C
clients.redirect_uris text NOT NULL COLLATE C
clients.refresh_reuse_leeway_seconds bigint NOT NULL
clients.require_consent bigint NOT NULL
clients.require_par bigint NOT NULL
clients.require_pkce bigint NOT NULL
clients.resources text NOT NULL COLLATE C
clients.scopes text NOT NULL COLLATE C
clients.secret_encrypted text COLLATE C
clients.secret_hash text COLLATE C
clients.tenant_id text NOT NULL COLLATE C
clients.token_endpoint_auth_method text NOT NULL COLLATE C
clients.type text NOT NULL COLLATE C
clients.updated_at bigint NOT NULL
config_epochs.changed_at bigint NOT NULL
config_epochs.tenant_id text NOT NULL COLLATE C
config_epochs.version bigint NOT NULL
consents POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
consents consents_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
consents consents_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
consents.client_id text NOT NULL COLLATE C
consents.created_at bigint NOT NULL
consents.scope_set text NOT NULL COLLATE C
consents.tenant_id text NOT NULL COLLATE C
consents.user_id text NOT NULL COLLATE C
device_identifiers.claimed_at bigint NOT NULL
device_identifiers.id text NOT NULL COLLATE C
device_key_fingerprints POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_key_fingerprints.created_at bigint NOT NULL
device_key_fingerprints.fingerprint text NOT NULL COLLATE C
device_key_fingerprints.tenant_id text NOT NULL COLLATE C
device_keys POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_keys device_keys_purpose_check CHECK ((purpose = ANY (ARRAY['pop'::text, 'uv'::text])))
device_keys device_keys_tenant_id_device_id_fkey FOREIGN KEY (tenant_id, device_id) REFERENCES devices(tenant_id, id) ON DELETE CASCADE
device_keys.alg text NOT NULL COLLATE C
device_keys.created_at bigint NOT NULL
device_keys.device_id text NOT NULL COLLATE C
device_keys.key_id text NOT NULL COLLATE C
device_keys.previous_alg text COLLATE C
device_keys.previous_public_key text COLLATE C
device_keys.previous_until bigint
device_keys.public_key text NOT NULL COLLATE C
device_keys.purpose text NOT NULL COLLATE C
device_keys.revoked_at bigint
device_keys.rotated_at bigint
device_keys.tenant_id text NOT NULL COLLATE C
device_registrations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_registrations device_registrations_kind_check CHECK ((kind = ANY (ARRAY['registration'::text, 'signup'::text, 'enrollment'::text])))
device_registrations device_registrations_state_check CHECK ((state = ANY (ARRAY['unverified'::text, 'verified'::text, 'pending_approval'::text, 'consumed'::text])))
device_registrations.approval_id text COLLATE C
device_registrations.attestation_failures bigint NOT NULL DEFAULT 0
device_registrations.challenge text COLLATE C
device_registrations.created_at bigint NOT NULL
device_registrations.device text NOT NULL COLLATE C
device_registrations.device_id text NOT NULL COLLATE C
device_registrations.email text COLLATE C
device_registrations.email_key text COLLATE C
device_registrations.expires_at bigint NOT NULL
device_registrations.family_name text COLLATE C
device_registrations.given_name text COLLATE C
device_registrations.id text NOT NULL COLLATE C
device_registrations.keys text NOT NULL COLLATE C
device_registrations.kind text NOT NULL COLLATE C
device_registrations.locale text COLLATE C
device_registrations.purge_at bigint NOT NULL
device_registrations.state text NOT NULL COLLATE C
device_registrations.tenant_id text NOT NULL COLLATE C
device_registrations.token_hash text NOT NULL COLLATE C
device_registrations.user_id text COLLATE C
device_requests POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_requests.digest text NOT NULL COLLATE C
device_requests.expires_at bigint NOT NULL
device_requests.tenant_id text NOT NULL COLLATE C
device_rotations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_rotations device_rotations_state_check CHECK ((state = ANY (ARRAY['open'::text, 'confirmed'::text, 'ended'::text])))
device_rotations device_rotations_tenant_id_device_id_fkey FOREIGN KEY (tenant_id, device_id) REFERENCES devices(tenant_id, id) ON DELETE CASCADE
device_rotations.answer text COLLATE C
device_rotations.confirm_sha256 text COLLATE C
device_rotations.device_id text NOT NULL COLLATE C
device_rotations.expires_at bigint NOT NULL
device_rotations.id text NOT NULL COLLATE C
device_rotations.key_ids text NOT NULL COLLATE C
device_rotations.nonce text NOT NULL COLLATE C
device_rotations.started_at bigint NOT NULL
device_rotations.state text NOT NULL COLLATE C
device_rotations.tenant_id text NOT NULL COLLATE C
devices POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
devices devices_push_provider_check CHECK ((push_provider = ANY (ARRAY['apns'::text, 'fcm'::text, 'none'::text])))
devices devices_state_check CHECK ((state = ANY (ARRAY['active'::text, 'revoked'::text])))
devices devices_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
devices.app_version text COLLATE C
devices.attestation_app_id text COLLATE C
devices.attestation_counter bigint
devices.attestation_format text COLLATE C
devices.attestation_public_key text COLLATE C
devices.created_at bigint NOT NULL
devices.id text NOT NULL COLLATE C
devices.last_seen_at bigint
devices.model text COLLATE C
devices.name text NOT NULL COLLATE C
devices.os_version text COLLATE C
devices.platform text NOT NULL COLLATE C
devices.push_provider text NOT NULL DEFAULT 'none'::text COLLATE C
devices.push_token_encrypted text COLLATE C
devices.revoked_at bigint
devices.state text NOT NULL COLLATE C
devices.tenant_id text NOT NULL COLLATE C
devices.user_id text NOT NULL COLLATE C
directory_counts POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
directory_counts.kind text NOT NULL COLLATE C
directory_counts.n bigint NOT NULL
directory_counts.shard bigint NOT NULL
directory_counts.tenant_id text NOT NULL COLLATE C
dpop_proofs POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
dpop_proofs.expires_at bigint NOT NULL
dpop_proofs.proof_hash text NOT NULL COLLATE C
dpop_proofs.tenant_id text NOT NULL COLLATE C
enrollment_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
enrollment_tokens enrollment_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
enrollment_tokens.created_at bigint NOT NULL
enrollment_tokens.expires_at bigint NOT NULL
enrollment_tokens.id text NOT NULL COLLATE C
enrollment_tokens.require_pin bigint NOT NULL
enrollment_tokens.tenant_id text NOT NULL COLLATE C
enrollment_tokens.token_hash text NOT NULL COLLATE C
enrollment_tokens.used_at bigint
enrollment_tokens.user_id text NOT NULL COLLATE C
grants POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
grants grants_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
grants grants_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
grants.acr text COLLATE C
grants.amr text NOT NULL COLLATE C
grants.auth_time bigint NOT NULL
grants.client_id text NOT NULL COLLATE C
grants.created_at bigint NOT NULL
grants.dpop_jkt text COLLATE C
grants.expires_at bigint NOT NULL
grants.id text NOT NULL COLLATE C
grants.max_age bigint
grants.nonce text COLLATE C
grants.resource text COLLATE C
grants.revoked_at bigint
grants.revoked_reason text COLLATE C
grants.scope text NOT NULL COLLATE C
grants.tenant_id text NOT NULL COLLATE C
grants.user_id text NOT NULL COLLATE C
group_members POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
group_members group_members_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE
group_members group_members_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
group_members.created_at bigint NOT NULL
group_members.group_id text NOT NULL COLLATE C
group_members.tenant_id text NOT NULL COLLATE C
group_members.user_id text NOT NULL COLLATE C
groups POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
groups groups_origin_check CHECK ((origin = ANY (ARRAY['console'::text, 'scim'::text])))
groups.created_at bigint NOT NULL
groups.display_name text NOT NULL COLLATE C
groups.display_name_key text NOT NULL COLLATE C
groups.display_name_reversed text COLLATE C
groups.external_id text COLLATE C
groups.external_id_reversed text COLLATE C
groups.id text NOT NULL COLLATE C
groups.origin text NOT NULL COLLATE C
groups.tenant_id text NOT NULL COLLATE C
groups.updated_at bigint NOT NULL
groups.version bigint NOT NULL DEFAULT 1
instance.key text NOT NULL COLLATE C
instance.value text NOT NULL COLLATE C
login_transactions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
login_transactions login_transactions_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text])))
login_transactions login_transactions_step_check CHECK ((step = ANY (ARRAY['identify'::text, 'choose'::text, 'waiting'::text, 'pin'::text, 'passkey'::text])))
login_transactions login_transactions_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
login_transactions login_transactions_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
login_transactions.acr_values text COLLATE C
login_transactions.approval_id text COLLATE C
login_transactions.binding_hash text NOT NULL COLLATE C
login_transactions.client_id text COLLATE C
login_transactions.code_challenge text COLLATE C
login_transactions.created_at bigint NOT NULL
login_transactions.display_name text COLLATE C
login_transactions.dpop_jkt text COLLATE C
login_transactions.expires_at bigint NOT NULL
login_transactions.finished_at bigint
login_transactions.id text NOT NULL COLLATE C
login_transactions.identifier text COLLATE C
login_transactions.initiated_ip text COLLATE C
login_transactions.initiated_user_agent text COLLATE C
login_transactions.kind text NOT NULL COLLATE C
login_transactions.lifetime_seconds bigint NOT NULL
login_transactions.login_hint text COLLATE C
login_transactions.mail_key text COLLATE C
login_transactions.max_age bigint
login_transactions.methods text NOT NULL DEFAULT '[]'::text COLLATE C
login_transactions.nonce text COLLATE C
login_transactions.outcome text COLLATE C
login_transactions.prompt text COLLATE C
login_transactions.redirect_uri text COLLATE C
login_transactions.request_state text COLLATE C
login_transactions.resource text COLLATE C
login_transactions.saml_session_sealed text COLLATE C
login_transactions.scope text COLLATE C
login_transactions.service_provider_id text COLLATE C
login_transactions.step text NOT NULL DEFAULT 'identify'::text COLLATE C
login_transactions.subject_key text COLLATE C
login_transactions.tenant_id text NOT NULL COLLATE C
login_transactions.ui_locales text COLLATE C
login_transactions.user_id text COLLATE C
logout_notices.attempts bigint NOT NULL DEFAULT 0
logout_notices.due_at bigint NOT NULL
logout_notices.grant_id text NOT NULL COLLATE C
logout_notices.tenant_id text NOT NULL COLLATE C
outbox_messages outbox_messages_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'kept'::text, 'discarded'::text])))
outbox_messages.attempts bigint NOT NULL DEFAULT 0
outbox_messages.created_at bigint NOT NULL
outbox_messages.expires_at bigint NOT NULL
outbox_messages.html text NOT NULL COLLATE C
outbox_messages.id text NOT NULL COLLATE C
outbox_messages.next_attempt_at bigint NOT NULL
outbox_messages.recipient text NOT NULL COLLATE C
outbox_messages.recipient_key text NOT NULL COLLATE C
outbox_messages.state text NOT NULL DEFAULT 'waiting'::text COLLATE C
outbox_messages.subject text NOT NULL COLLATE C
outbox_messages.tenant_id text NOT NULL COLLATE C
outbox_messages.text text NOT NULL COLLATE C
passkey_challenges POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
passkey_challenges.challenge_hash text NOT NULL COLLATE C
passkey_challenges.expires_at bigint NOT NULL
passkey_challenges.subject text NOT NULL COLLATE C
passkey_challenges.tenant_id text NOT NULL COLLATE C
passkey_challenges.used_at bigint
passkeys POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
passkeys passkeys_backed_up_check CHECK ((backed_up = ANY (ARRAY[(0)::bigint, (1)::bigint])))
passkeys passkeys_backup_eligible_check CHECK ((backup_eligible = ANY (ARRAY[(0)::bigint, (1)::bigint])))
passkeys passkeys_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
passkeys.aaguid text NOT NULL COLLATE C
passkeys.backed_up bigint NOT NULL
passkeys.backup_eligible bigint NOT NULL
passkeys.counter bigint NOT NULL
passkeys.created_at bigint NOT NULL
passkeys.credential_id text NOT NULL COLLATE C
passkeys.id text NOT NULL COLLATE C
passkeys.last_used_at bigint
passkeys.name text NOT NULL COLLATE C
passkeys.public_key text NOT NULL COLLATE C
passkeys.tenant_id text NOT NULL COLLATE C
passkeys.transports text NOT NULL DEFAULT '[]'::text COLLATE C
passkeys.user_id text NOT NULL COLLATE C
pin_mailboxes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
pin_mailboxes.expires_at bigint NOT NULL
pin_mailboxes.failures bigint NOT NULL DEFAULT 0
pin_mailboxes.failures_since bigint NOT NULL DEFAULT 0
pin_mailboxes.last_sent_at bigint
pin_mailboxes.mail_key text NOT NULL COLLATE C
pin_mailboxes.sends bigint NOT NULL DEFAULT 0
pin_mailboxes.sends_since bigint NOT NULL DEFAULT 0
pin_mailboxes.tenant_id text NOT NULL COLLATE C
pins POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
pins.attempts bigint NOT NULL DEFAULT 0
pins.attempts_max bigint NOT NULL
pins.created_at bigint NOT NULL
pins.expires_at bigint NOT NULL
pins.id text NOT NULL COLLATE C
pins.mail_key text NOT NULL COLLATE C
pins.pin_hmac text NOT NULL COLLATE C
pins.purpose text NOT NULL COLLATE C
pins.replaced_at bigint
pins.subject_id text NOT NULL COLLATE C
pins.tenant_id text NOT NULL COLLATE C
pins.used_at bigint
push_messages push_messages_provider_check CHECK ((provider = ANY (ARRAY['apns'::text, 'fcm'::text])))
push_messages.attempts bigint NOT NULL DEFAULT 0
push_messages.device_id text NOT NULL COLLATE C
push_messages.expires_at bigint NOT NULL
push_messages.id text NOT NULL COLLATE C
push_messages.next_attempt_at bigint NOT NULL
push_messages.provider text NOT NULL COLLATE C
push_messages.tenant_id text NOT NULL COLLATE C
pushed_requests POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
pushed_requests pushed_requests_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
pushed_requests.client_id text NOT NULL COLLATE C
pushed_requests.created_at bigint NOT NULL
pushed_requests.expires_at bigint NOT NULL
pushed_requests.parameters text NOT NULL COLLATE C
pushed_requests.reference_hash text NOT NULL COLLATE C
pushed_requests.tenant_id text NOT NULL COLLATE C
pushed_requests.used_at bigint
refresh_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
refresh_tokens refresh_tokens_tenant_id_grant_id_fkey FOREIGN KEY (tenant_id, grant_id) REFERENCES grants(tenant_id, id) ON DELETE CASCADE
refresh_tokens.created_at bigint NOT NULL
refresh_tokens.expires_at bigint NOT NULL
refresh_tokens.generation bigint NOT NULL
refresh_tokens.grant_id text NOT NULL COLLATE C
refresh_tokens.successor_encrypted text COLLATE C
refresh_tokens.tenant_id text NOT NULL COLLATE C
refresh_tokens.token_hash text NOT NULL COLLATE C
refresh_tokens.used_at bigint
resources POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
resources.access_token_lifetime_seconds bigint
resources.created_at bigint NOT NULL
resources.id text NOT NULL COLLATE C
resources.identifier text NOT NULL COLLATE C
resources.name text NOT NULL COLLATE C
resources.scopes text NOT NULL COLLATE C
resources.tenant_id text NOT NULL COLLATE C
resources.updated_at bigint NOT NULL
revoked_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
revoked_tokens.expires_at bigint NOT NULL
revoked_tokens.jti text NOT NULL COLLATE C
revoked_tokens.tenant_id text NOT NULL COLLATE C
saml_request_ids POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
saml_request_ids.expires_at bigint NOT NULL
saml_request_ids.request_hash text NOT NULL COLLATE C
saml_request_ids.tenant_id text NOT NULL COLLATE C
saml_sessions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
saml_sessions saml_sessions_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'ready'::text, 'delivered'::text])))
saml_sessions.acs_url text NOT NULL COLLATE C
saml_sessions.auth_time bigint
saml_sessions.authn_context_class text NOT NULL COLLATE C
saml_sessions.binding_hash text NOT NULL COLLATE C
saml_sessions.created_at bigint NOT NULL
saml_sessions.delivered_at bigint
saml_sessions.expires_at bigint NOT NULL
saml_sessions.idp_initiated bigint NOT NULL
saml_sessions.in_response_to text COLLATE C
saml_sessions.name_id_format text NOT NULL COLLATE C
saml_sessions.relay_state text COLLATE C
saml_sessions.service_provider_id text NOT NULL COLLATE C
saml_sessions.session_hash text NOT NULL COLLATE C
saml_sessions.state text NOT NULL COLLATE C
saml_sessions.tenant_id text NOT NULL COLLATE C
saml_sessions.user_id text COLLATE C
schema_migrations.applied_at bigint NOT NULL
schema_migrations.name text NOT NULL COLLATE default
schema_migrations.number bigint NOT NULL
service_providers POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
service_providers service_providers_access_policy_check CHECK ((access_policy = ANY (ARRAY['everyone'::text, 'assigned'::text])))
service_providers service_providers_signing_check CHECK ((signing = ANY (ARRAY['both'::text, 'assertion'::text, 'response'::text])))
service_providers.access_policy text NOT NULL COLLATE C
service_providers.acs text NOT NULL COLLATE C
service_providers.attribute_map text NOT NULL COLLATE C
service_providers.created_at bigint NOT NULL
service_providers.enabled bigint NOT NULL
service_providers.encrypt_assertions bigint NOT NULL
service_providers.encryption text NOT NULL COLLATE C
service_providers.encryption_key text COLLATE C
service_providers.entity_id text NOT NULL COLLATE C
service_providers.entity_id_hash text NOT NULL COLLATE C
service_providers.id text NOT NULL COLLATE C
service_providers.idp_initiated_allowed bigint NOT NULL
service_providers.name text NOT NULL COLLATE C
service_providers.name_id_formats text NOT NULL COLLATE C
service_providers.relay_states text NOT NULL COLLATE C
service_providers.require_signed_requests bigint NOT NULL
service_providers.signing text NOT NULL COLLATE C
service_providers.signing_keys text NOT NULL COLLATE C
service_providers.tenant_id text NOT NULL COLLATE C
service_providers.updated_at bigint NOT NULL
setup_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
setup_tokens setup_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
setup_tokens.created_at bigint NOT NULL
setup_tokens.expires_at bigint NOT NULL
setup_tokens.tenant_id text NOT NULL COLLATE C
setup_tokens.token_hash text NOT NULL COLLATE C
setup_tokens.used_at bigint
setup_tokens.user_id text COLLATE C
signing_keys POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
signing_keys signing_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'current'::text, 'retired'::text])))
signing_keys.activated_at bigint
signing_keys.alg text NOT NULL COLLATE C
signing_keys.certificate text COLLATE C
signing_keys.created_at bigint NOT NULL
signing_keys.kid text NOT NULL COLLATE C
signing_keys.private_key_encrypted text NOT NULL COLLATE C
signing_keys.public_jwk text NOT NULL COLLATE C
signing_keys.retired_at bigint
signing_keys.state text NOT NULL COLLATE C
signing_keys.tenant_id text NOT NULL COLLATE C
signing_keys.use text NOT NULL COLLATE C
tenants.created_at bigint NOT NULL
tenants.domain text COLLATE C
tenants.enabled bigint NOT NULL DEFAULT 1
tenants.name text NOT NULL COLLATE C
tenants.secret_encrypted text NOT NULL COLLATE C
tenants.settings text NOT NULL DEFAULT '{}'::text COLLATE C
tenants.slug text NOT NULL COLLATE C
tenants.tenant_id text NOT NULL COLLATE C
tenants.updated_at bigint NOT NULL
user_addresses POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
user_addresses user_addresses_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
user_addresses.country text COLLATE C
user_addresses.country_key text COLLATE C
user_addresses.formatted text COLLATE C
user_addresses.formatted_key text COLLATE C
user_addresses.is_primary bigint NOT NULL DEFAULT 0
user_addresses.locality text COLLATE C
user_addresses.locality_key text COLLATE C
user_addresses.position bigint NOT NULL
user_addresses.postal_code text COLLATE C
user_addresses.postal_code_key text COLLATE C
user_addresses.region text COLLATE C
user_addresses.region_key text COLLATE C
user_addresses.street_address text COLLATE C
user_addresses.street_address_key text COLLATE C
user_addresses.tenant_id text NOT NULL COLLATE C
user_addresses.type text COLLATE C
user_addresses.type_key text COLLATE C
user_addresses.user_id text NOT NULL COLLATE C
user_emails POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
user_emails user_emails_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
user_emails.display text COLLATE C
user_emails.display_key text COLLATE C
user_emails.is_primary bigint NOT NULL DEFAULT 0
user_emails.position bigint NOT NULL
user_emails.tenant_id text NOT NULL COLLATE C
user_emails.type text COLLATE C
user_emails.type_key text COLLATE C
user_emails.user_id text NOT NULL COLLATE C
user_emails.value text NOT NULL COLLATE C
user_emails.value_key text NOT NULL COLLATE C
user_emails.value_reversed text COLLATE C
user_values POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
user_values user_values_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
user_values.attribute text NOT NULL COLLATE C
user_values.display text COLLATE C
user_values.display_key text COLLATE C
user_values.is_primary bigint NOT NULL DEFAULT 0
user_values.position bigint NOT NULL
user_values.tenant_id text NOT NULL COLLATE C
user_values.type text COLLATE C
user_values.type_key text COLLATE C
user_values.user_id text NOT NULL COLLATE C
user_values.value text COLLATE C
user_values.value_key text COLLATE C
users POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
users users_role_check CHECK ((role = ANY (ARRAY['user'::text, 'admin'::text])))
users users_state_check CHECK ((state = ANY (ARRAY['active'::text, 'suspended'::text, 'deleted'::text])))
users.cost_center text COLLATE C
users.cost_center_key text COLLATE C
users.created_at bigint NOT NULL
users.department text COLLATE C
users.department_key text COLLATE C
users.display_name text COLLATE C
users.display_name_key text COLLATE C
users.display_name_reversed text COLLATE C
users.division text COLLATE C
users.division_key text COLLATE C
users.employee_number text COLLATE C
users.employee_number_key text COLLATE C
users.external_id text COLLATE C
users.external_id_reversed text COLLATE C
users.family_name text COLLATE C
users.family_name_key text COLLATE C
users.family_name_reversed text COLLATE C
users.given_name text COLLATE C
users.given_name_key text COLLATE C
users.given_name_reversed text COLLATE C
users.honorific_prefix text COLLATE C
users.honorific_prefix_key text COLLATE C
users.honorific_suffix text COLLATE C
users.honorific_suffix_key text COLLATE C
users.id text NOT NULL COLLATE C
users.locale text COLLATE C
users.locale_key text COLLATE C
users.manager_display_name text COLLATE C
users.manager_display_name_key text COLLATE C
users.manager_value text COLLATE C
users.middle_name text COLLATE C
users.middle_name_key text COLLATE C
users.name_formatted text COLLATE C
users.name_formatted_key text COLLATE C
users.nick_name text COLLATE C
users.nick_name_key text COLLATE C
users.organization text COLLATE C
users.organization_key text COLLATE C
users.origin text NOT NULL COLLATE C
users.preferred_language text COLLATE C
users.preferred_language_key text COLLATE C
users.profile_url text COLLATE C
users.role text NOT NULL DEFAULT 'user'::text COLLATE C
users.state text NOT NULL COLLATE C
users.tenant_id text NOT NULL COLLATE C
users.timezone text COLLATE C
users.timezone_key text COLLATE C
users.title text COLLATE C
users.title_key text COLLATE C
users.updated_at bigint NOT NULL
users.user_name text COLLATE C
users.user_name_key text COLLATE C
users.user_name_reversed text COLLATE C
users.user_type text COLLATE C
users.user_type_key text COLLATE C
users.version bigint NOT NULL DEFAULT 1

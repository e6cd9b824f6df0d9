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
CREATE INDEX audit_events_refusals ON public.audit_events USING btree (tenant_id, id) WHERE (type = ANY (ARRAY['refusal'::text, 'refusal_summary'::text]))
CREATE INDEX audit_events_unnumbered ON public.audit_events USING btree (tenant_id, id) WHERE (seq IS NULL)
CREATE INDEX authorization_codes_by_client_id ON public.authorization_codes USING btree (tenant_id, client_id)
CREATE INDEX authorization_codes_by_expires_at ON public.authorization_codes USING btree (tenant_id, expires_at)
CREATE INDEX authorization_codes_by_sso_session_id ON public.authorization_codes USING btree (tenant_id, sso_session_id) WHERE (sso_session_id IS NOT NULL)
CREATE INDEX authorization_codes_by_user_id ON public.authorization_codes USING btree (tenant_id, user_id)
CREATE INDEX ciba_deliveries_by_due_at ON public.ciba_deliveries USING btree (due_at)
CREATE INDEX ciba_deliveries_by_lane_due_at ON public.ciba_deliveries USING btree (lane, due_at)
CREATE INDEX ciba_deliveries_by_request_id ON public.ciba_deliveries USING btree (request_id)
CREATE INDEX ciba_requests_by_client_id ON public.ciba_requests USING btree (tenant_id, client_id)
CREATE INDEX ciba_requests_by_expires_at ON public.ciba_requests USING btree (tenant_id, expires_at)
CREATE INDEX ciba_requests_by_user_id ON public.ciba_requests USING btree (tenant_id, user_id)
CREATE INDEX client_assertions_by_expires_at ON public.client_assertions USING btree (tenant_id, expires_at)
CREATE INDEX config_epochs_by_changed_at ON public.config_epochs USING btree (changed_at)
CREATE INDEX config_epochs_by_sequence ON public.config_epochs USING btree (sequence)
CREATE INDEX connector_links_by_connector_id_kind_due_at ON public.connector_links USING btree (tenant_id, connector_id, kind, due_at) WHERE (due_at IS NOT NULL)
CREATE INDEX connector_links_by_connector_id_remote_id ON public.connector_links USING btree (tenant_id, connector_id, remote_id)
CREATE INDEX connector_links_by_connector_id_state_local_id ON public.connector_links USING btree (tenant_id, connector_id, state, local_id)
CREATE INDEX connector_members_by_connector_id_user_id ON public.connector_members USING btree (tenant_id, connector_id, user_id)
CREATE INDEX consents_by_client_id ON public.consents USING btree (tenant_id, client_id)
CREATE INDEX device_authorizations_by_client_id ON public.device_authorizations USING btree (tenant_id, client_id)
CREATE INDEX device_authorizations_by_expires_at ON public.device_authorizations USING btree (tenant_id, expires_at)
CREATE INDEX device_authorizations_by_user_id ON public.device_authorizations USING btree (tenant_id, user_id)
CREATE INDEX device_registrations_by_device_id ON public.device_registrations USING btree (tenant_id, device_id)
CREATE INDEX device_registrations_by_purge_at ON public.device_registrations USING btree (tenant_id, purge_at)
CREATE INDEX device_registrations_by_user_id ON public.device_registrations USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL)
CREATE INDEX device_requests_by_expires_at ON public.device_requests USING btree (tenant_id, expires_at)
CREATE INDEX devices_by_user_id ON public.devices USING btree (tenant_id, user_id)
CREATE INDEX devices_web_phones ON public.devices USING btree (tenant_id) WHERE ((platform = 'web'::text) AND (state = 'active'::text))
CREATE INDEX dpop_proofs_by_expires_at ON public.dpop_proofs USING btree (tenant_id, expires_at)
CREATE INDEX email_changes_by_created_at ON public.email_changes USING btree (tenant_id, created_at)
CREATE INDEX enrollment_tokens_by_expires_at ON public.enrollment_tokens USING btree (tenant_id, expires_at)
CREATE INDEX enrollment_tokens_by_user_id ON public.enrollment_tokens USING btree (tenant_id, user_id)
CREATE INDEX external_identities_by_provider_id ON public.external_identities USING btree (tenant_id, provider_id)
CREATE INDEX external_identities_by_user_id ON public.external_identities USING btree (tenant_id, user_id)
CREATE INDEX external_logins_by_expires_at ON public.external_logins USING btree (tenant_id, expires_at)
CREATE INDEX external_logins_by_provider_id ON public.external_logins USING btree (tenant_id, provider_id)
CREATE INDEX grants_by_client_id ON public.grants USING btree (tenant_id, client_id)
CREATE INDEX grants_by_expires_at ON public.grants USING btree (tenant_id, expires_at)
CREATE INDEX grants_by_sso_session_id ON public.grants USING btree (tenant_id, sso_session_id) WHERE (sso_session_id IS NOT NULL)
CREATE INDEX grants_by_user_id ON public.grants USING btree (tenant_id, user_id)
CREATE INDEX group_members_by_group_id_user_created_at_user_id ON public.group_members USING btree (tenant_id, group_id, user_created_at, user_id)
CREATE INDEX group_members_by_user_id ON public.group_members USING btree (tenant_id, user_id)
CREATE INDEX groups_by_created_at_id_origin ON public.groups USING btree (tenant_id, created_at, id, origin) WHERE (origin = 'scim'::text)
CREATE INDEX groups_by_display_name_reversed ON public.groups USING btree (tenant_id, display_name_reversed) WHERE (display_name_reversed IS NOT NULL)
CREATE INDEX groups_by_external_id ON public.groups USING btree (tenant_id, external_id) WHERE (external_id IS NOT NULL)
CREATE INDEX groups_by_external_id_reversed ON public.groups USING btree (tenant_id, external_id_reversed) WHERE (external_id_reversed IS NOT NULL)
CREATE INDEX identity_provider_groups_by_provider_id ON public.identity_provider_groups USING btree (tenant_id, provider_id)
CREATE INDEX initial_access_tokens_by_expires_at ON public.initial_access_tokens USING btree (tenant_id, expires_at)
CREATE INDEX invitations_by_expires_at ON public.invitations USING btree (tenant_id, expires_at)
CREATE INDEX invitations_by_stop_hash ON public.invitations USING btree (tenant_id, stop_hash) WHERE (stop_hash IS NOT NULL)
CREATE INDEX invitations_by_token_hash ON public.invitations USING btree (tenant_id, token_hash)
CREATE INDEX invitations_by_user_id ON public.invitations USING btree (tenant_id, user_id)
CREATE INDEX invitations_by_visit_hash ON public.invitations USING btree (tenant_id, visit_hash) WHERE (visit_hash IS NOT NULL)
CREATE INDEX login_transactions_by_client_id ON public.login_transactions USING btree (tenant_id, client_id)
CREATE INDEX login_transactions_by_expires_at ON public.login_transactions USING btree (tenant_id, expires_at)
CREATE INDEX login_transactions_by_user_id ON public.login_transactions USING btree (tenant_id, user_id)
CREATE INDEX logout_notices_by_due_at ON public.logout_notices USING btree (due_at)
CREATE INDEX logout_notices_by_grant_id ON public.logout_notices USING btree (grant_id)
CREATE INDEX logout_notices_by_lane_due_at ON public.logout_notices USING btree (lane, due_at)
CREATE INDEX operator_entries_by_expires_at ON public.operator_entries USING btree (tenant_id, expires_at)
CREATE INDEX outbox_messages_by_expires_at ON public.outbox_messages USING btree (expires_at)
CREATE INDEX outbox_messages_by_lane_next_attempt_at ON public.outbox_messages USING btree (lane, next_attempt_at)
CREATE INDEX outbox_messages_by_next_attempt_at ON public.outbox_messages USING btree (next_attempt_at) WHERE (state = 'waiting'::text)
CREATE INDEX outbox_messages_by_recipient_key_id ON public.outbox_messages USING btree (recipient_key, id)
CREATE INDEX passkey_challenges_by_expires_at ON public.passkey_challenges USING btree (tenant_id, expires_at)
CREATE INDEX passkeys_by_user_id ON public.passkeys USING btree (tenant_id, user_id)
CREATE INDEX pin_mailboxes_by_expires_at ON public.pin_mailboxes USING btree (tenant_id, expires_at)
CREATE INDEX pins_by_expires_at ON public.pins USING btree (tenant_id, expires_at)
CREATE INDEX pins_by_purpose_subject_id ON public.pins USING btree (tenant_id, purpose, subject_id)
CREATE INDEX provider_domains_by_provider_id ON public.provider_domains USING btree (tenant_id, provider_id)
CREATE INDEX push_messages_by_expires_at ON public.push_messages USING btree (expires_at)
CREATE INDEX push_messages_by_lane_next_attempt_at ON public.push_messages USING btree (lane, next_attempt_at)
CREATE INDEX push_messages_by_next_attempt_at ON public.push_messages USING btree (next_attempt_at)
CREATE INDEX pushed_requests_by_client_id ON public.pushed_requests USING btree (tenant_id, client_id)
CREATE INDEX pushed_requests_by_client_id_expires_at ON public.pushed_requests USING btree (tenant_id, client_id, expires_at) WHERE (used_at IS NULL)
CREATE INDEX pushed_requests_by_expires_at ON public.pushed_requests USING btree (tenant_id, expires_at)
CREATE INDEX refresh_tokens_by_expires_at ON public.refresh_tokens USING btree (tenant_id, expires_at)
CREATE INDEX revoked_tokens_by_expires_at ON public.revoked_tokens USING btree (tenant_id, expires_at)
CREATE INDEX saml_metadata_refreshes_by_due_at ON public.saml_metadata_refreshes USING btree (tenant_id, due_at)
CREATE INDEX saml_request_ids_by_expires_at ON public.saml_request_ids USING btree (tenant_id, expires_at)
CREATE INDEX saml_sessions_by_expires_at ON public.saml_sessions USING btree (tenant_id, expires_at)
CREATE INDEX sent_forms_by_expires_at ON public.sent_forms USING btree (tenant_id, expires_at)
CREATE INDEX setup_tokens_by_expires_at ON public.setup_tokens USING btree (tenant_id, expires_at)
CREATE INDEX setup_tokens_by_user_id ON public.setup_tokens USING btree (tenant_id, user_id) WHERE (user_id IS NOT NULL)
CREATE INDEX signing_keys_by_use ON public.signing_keys USING btree (tenant_id, use)
CREATE INDEX ssf_events_by_stream_id_created_at_seq ON public.ssf_events USING btree (tenant_id, stream_id, created_at, seq)
CREATE INDEX ssf_queue_by_id_due_at ON public.ssf_queue USING btree (id, due_at)
CREATE INDEX ssf_removed_subjects_by_user_id ON public.ssf_removed_subjects USING btree (tenant_id, user_id)
CREATE INDEX sso_sessions_by_browser_hash ON public.sso_sessions USING btree (tenant_id, browser_hash)
CREATE INDEX sso_sessions_by_expires_at ON public.sso_sessions USING btree (tenant_id, expires_at)
CREATE INDEX sso_sessions_by_external_identity_id ON public.sso_sessions USING btree (tenant_id, external_identity_id) WHERE (external_identity_id IS NOT NULL)
CREATE INDEX sso_sessions_by_external_session_id ON public.sso_sessions USING btree (tenant_id, external_session_id) WHERE (external_session_id IS NOT NULL)
CREATE INDEX sso_sessions_by_user_id ON public.sso_sessions USING btree (tenant_id, user_id)
CREATE INDEX tenants_by_pending_domain ON public.tenants USING btree (pending_domain) WHERE (pending_domain IS NOT NULL)
CREATE INDEX user_custom_values_by_attribute_value_key_user_id ON public.user_custom_values USING btree (tenant_id, attribute, value_key, user_id)
CREATE INDEX user_emails_by_value_reversed ON public.user_emails USING btree (tenant_id, value_reversed)
CREATE INDEX user_emails_primary ON public.user_emails USING btree (tenant_id, value_key, user_id) WHERE (is_primary = 1)
CREATE INDEX user_emails_value_key_trigrams ON public.user_emails USING gin (value_key gin_trgm_ops)
CREATE INDEX user_roles_by_custom_role ON public.user_roles USING btree (tenant_id, custom_role)
CREATE INDEX user_roles_by_role_user_id ON public.user_roles USING btree (tenant_id, role, user_id)
CREATE INDEX user_values_by_attribute_value_key ON public.user_values USING btree (tenant_id, attribute, value_key) WHERE (value_key IS NOT NULL)
CREATE INDEX users_administrators ON public.users USING btree (tenant_id, id) WHERE (role = 'admin'::text)
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
CREATE INDEX users_shown_by_user_name ON public.users USING btree (tenant_id, user_name_key, created_at, id) WHERE (display_name_key IS NULL)
CREATE INDEX users_user_name_key_trigrams ON public.users USING gin (user_name_key gin_trgm_ops)
CREATE INDEX users_without_display_name_key ON public.users USING btree (tenant_id, created_at, id, state, display_name_key) WHERE ((display_name_key IS NULL) AND (state <> 'deleted'::text))
CREATE INDEX users_without_family_name_key ON public.users USING btree (tenant_id, created_at, id, state, family_name_key) WHERE ((family_name_key IS NULL) AND (state <> 'deleted'::text))
CREATE INDEX webhook_deliveries_by_expires_at ON public.webhook_deliveries USING btree (tenant_id, expires_at)
CREATE INDEX webhook_deliveries_by_webhook_id_id ON public.webhook_deliveries USING btree (tenant_id, webhook_id, id)
CREATE INDEX webhook_deliveries_by_webhook_id_state_id ON public.webhook_deliveries USING btree (tenant_id, webhook_id, state, id)
CREATE INDEX webhook_queue_by_lane_due_at ON public.webhook_queue USING btree (lane, due_at)
CREATE UNIQUE INDEX access_assignments_pkey ON public.access_assignments USING btree (tenant_id, id)
CREATE UNIQUE INDEX access_assignments_tenant_id_target_kind_target_id_group_id_key ON public.access_assignments USING btree (tenant_id, target_kind, target_id, group_id)
CREATE UNIQUE INDEX access_assignments_tenant_id_target_kind_target_id_user_id_key ON public.access_assignments USING btree (tenant_id, target_kind, target_id, user_id)
CREATE UNIQUE INDEX activity_counts_pkey ON public.activity_counts USING btree (tenant_id, id)
CREATE UNIQUE INDEX approvals_pkey ON public.approvals USING btree (tenant_id, id)
CREATE UNIQUE INDEX attestation_challenges_pkey ON public.attestation_challenges USING btree (tenant_id, challenge)
CREATE UNIQUE INDEX audit_events_by_seq ON public.audit_events USING btree (tenant_id, seq) WHERE (seq IS NOT NULL)
CREATE UNIQUE INDEX audit_events_pkey ON public.audit_events USING btree (tenant_id, id)
CREATE UNIQUE INDEX authorization_codes_pkey ON public.authorization_codes USING btree (tenant_id, code_hash)
CREATE UNIQUE INDEX ciba_deliveries_pkey ON public.ciba_deliveries USING btree (tenant_id, request_id)
CREATE UNIQUE INDEX ciba_requests_pkey ON public.ciba_requests USING btree (tenant_id, auth_req_id_hash)
CREATE UNIQUE INDEX ciba_requests_tenant_id_approval_id_key ON public.ciba_requests USING btree (tenant_id, approval_id)
CREATE UNIQUE INDEX ciba_requests_tenant_id_id_key ON public.ciba_requests USING btree (tenant_id, id)
CREATE UNIQUE INDEX ciba_requests_tenant_id_mail_token_hash_key ON public.ciba_requests USING btree (tenant_id, mail_token_hash)
CREATE UNIQUE INDEX client_assertions_pkey ON public.client_assertions USING btree (tenant_id, jti_hash)
CREATE UNIQUE INDEX client_registrations_pkey ON public.client_registrations USING btree (tenant_id, client_id)
CREATE UNIQUE INDEX clients_pkey ON public.clients USING btree (tenant_id, client_id)
CREATE UNIQUE INDEX config_epochs_pkey ON public.config_epochs USING btree (tenant_id)
CREATE UNIQUE INDEX connector_links_pkey ON public.connector_links USING btree (tenant_id, connector_id, local_id)
CREATE UNIQUE INDEX connector_members_pkey ON public.connector_members USING btree (tenant_id, connector_id, group_id, user_id)
CREATE UNIQUE INDEX connector_states_pkey ON public.connector_states USING btree (tenant_id, connector_id)
CREATE UNIQUE INDEX connectors_pkey ON public.connectors USING btree (tenant_id, id)
CREATE UNIQUE INDEX connectors_tenant_id_name_key ON public.connectors USING btree (tenant_id, name)
CREATE UNIQUE INDEX consents_pkey ON public.consents USING btree (tenant_id, user_id, client_id, scope_set)
CREATE UNIQUE INDEX custom_attributes_by_claim ON public.custom_attributes USING btree (tenant_id, claim) WHERE (deleted_at IS NULL)
CREATE UNIQUE INDEX custom_attributes_by_name ON public.custom_attributes USING btree (tenant_id, name) WHERE (deleted_at IS NULL)
CREATE UNIQUE INDEX custom_attributes_pkey ON public.custom_attributes USING btree (tenant_id, id)
CREATE UNIQUE INDEX customizations_pkey ON public.customizations USING btree (tenant_id, kind, name)
CREATE UNIQUE INDEX device_authorizations_pkey ON public.device_authorizations USING btree (tenant_id, device_code_hash)
CREATE UNIQUE INDEX device_authorizations_tenant_id_user_code_key ON public.device_authorizations USING btree (tenant_id, user_code)
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
CREATE UNIQUE INDEX email_changes_pkey ON public.email_changes USING btree (tenant_id, user_id, version)
CREATE UNIQUE INDEX enrollment_tokens_pkey ON public.enrollment_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX event_feeds_pkey ON public.event_feeds USING btree (tenant_id)
CREATE UNIQUE INDEX external_identities_pkey ON public.external_identities USING btree (tenant_id, id)
CREATE UNIQUE INDEX external_identities_tenant_id_identity_hash_key ON public.external_identities USING btree (tenant_id, identity_hash)
CREATE UNIQUE INDEX external_logins_pkey ON public.external_logins USING btree (tenant_id, state_hash)
CREATE UNIQUE INDEX grants_pkey ON public.grants USING btree (tenant_id, id)
CREATE UNIQUE INDEX group_members_pkey ON public.group_members USING btree (tenant_id, group_id, user_id)
CREATE UNIQUE INDEX groups_pkey ON public.groups USING btree (tenant_id, id)
CREATE UNIQUE INDEX groups_tenant_id_display_name_key_key ON public.groups USING btree (tenant_id, display_name_key)
CREATE UNIQUE INDEX held_deliveries_pkey ON public.held_deliveries USING btree (tenant_id, id)
CREATE UNIQUE INDEX hooks_pkey ON public.hooks USING btree (tenant_id, id)
CREATE UNIQUE INDEX hooks_tenant_id_point_key ON public.hooks USING btree (tenant_id, point)
CREATE UNIQUE INDEX identity_provider_groups_pkey ON public.identity_provider_groups USING btree (tenant_id, group_id)
CREATE UNIQUE INDEX identity_providers_pkey ON public.identity_providers USING btree (tenant_id, id)
CREATE UNIQUE INDEX identity_providers_tenant_id_alias_key ON public.identity_providers USING btree (tenant_id, alias)
CREATE UNIQUE INDEX images_pkey ON public.images USING btree (tenant_id, sha256)
CREATE UNIQUE INDEX initial_access_tokens_pkey ON public.initial_access_tokens USING btree (tenant_id, id)
CREATE UNIQUE INDEX initial_access_tokens_tenant_id_token_hash_key ON public.initial_access_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX instance_pkey ON public.instance USING btree (key)
CREATE UNIQUE INDEX invitations_pkey ON public.invitations USING btree (tenant_id, id)
CREATE UNIQUE INDEX last_sign_ins_pkey ON public.last_sign_ins USING btree (tenant_id, kind, id)
CREATE UNIQUE INDEX login_transactions_pkey ON public.login_transactions USING btree (tenant_id, id)
CREATE UNIQUE INDEX logout_notices_pkey ON public.logout_notices USING btree (tenant_id, grant_id)
CREATE UNIQUE INDEX mapping_tables_pkey ON public.mapping_tables USING btree (tenant_id, kind)
CREATE UNIQUE INDEX operator_entries_pkey ON public.operator_entries USING btree (tenant_id, id)
CREATE UNIQUE INDEX outbox_messages_pkey ON public.outbox_messages USING btree (id)
CREATE UNIQUE INDEX passkey_challenges_pkey ON public.passkey_challenges USING btree (tenant_id, subject)
CREATE UNIQUE INDEX passkeys_pkey ON public.passkeys USING btree (tenant_id, id)
CREATE UNIQUE INDEX passkeys_tenant_id_credential_id_key ON public.passkeys USING btree (tenant_id, credential_id)
CREATE UNIQUE INDEX pin_mailboxes_pkey ON public.pin_mailboxes USING btree (tenant_id, mail_key)
CREATE UNIQUE INDEX pins_pkey ON public.pins USING btree (tenant_id, id)
CREATE UNIQUE INDEX provider_domains_pkey ON public.provider_domains USING btree (tenant_id, domain)
CREATE UNIQUE INDEX push_messages_pkey ON public.push_messages USING btree (id)
CREATE UNIQUE INDEX push_refusals_pkey ON public.push_refusals USING btree (tenant_id, provider)
CREATE UNIQUE INDEX pushed_requests_pkey ON public.pushed_requests USING btree (tenant_id, reference_hash)
CREATE UNIQUE INDEX recovery_codes_pkey ON public.recovery_codes USING btree (tenant_id, user_id, code_hmac)
CREATE UNIQUE INDEX refresh_tokens_pkey ON public.refresh_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX refresh_tokens_tenant_id_grant_id_generation_key ON public.refresh_tokens USING btree (tenant_id, grant_id, generation)
CREATE UNIQUE INDEX resources_pkey ON public.resources USING btree (tenant_id, id)
CREATE UNIQUE INDEX resources_tenant_id_identifier_key ON public.resources USING btree (tenant_id, identifier)
CREATE UNIQUE INDEX revoked_tokens_pkey ON public.revoked_tokens USING btree (tenant_id, jti)
CREATE UNIQUE INDEX roles_pkey ON public.roles USING btree (tenant_id, name)
CREATE UNIQUE INDEX saml_metadata_reads_pkey ON public.saml_metadata_reads USING btree (tenant_id, service_provider_id)
CREATE UNIQUE INDEX saml_metadata_refreshes_pkey ON public.saml_metadata_refreshes USING btree (tenant_id, service_provider_id)
CREATE UNIQUE INDEX saml_request_ids_pkey ON public.saml_request_ids USING btree (tenant_id, request_hash)
CREATE UNIQUE INDEX saml_sessions_pkey ON public.saml_sessions USING btree (tenant_id, session_hash)
CREATE UNIQUE INDEX schema_migrations_pkey ON public.schema_migrations USING btree (number)
CREATE UNIQUE INDEX schema_steps_pkey ON public.schema_steps USING btree (number)
CREATE UNIQUE INDEX sent_forms_pkey ON public.sent_forms USING btree (tenant_id, form_hash)
CREATE UNIQUE INDEX service_providers_pkey ON public.service_providers USING btree (tenant_id, id)
CREATE UNIQUE INDEX service_providers_tenant_id_entity_id_hash_key ON public.service_providers USING btree (tenant_id, entity_id_hash)
CREATE UNIQUE INDEX setup_tokens_pkey ON public.setup_tokens USING btree (tenant_id, token_hash)
CREATE UNIQUE INDEX signing_keys_by_alg_state ON public.signing_keys USING btree (tenant_id, alg, state) WHERE ((use = 'oidc'::text) AND (state <> 'retired'::text))
CREATE UNIQUE INDEX signing_keys_by_use_alg_state ON public.signing_keys USING btree (tenant_id, use, alg, state) WHERE ((use = 'saml'::text) AND (state <> 'retired'::text))
CREATE UNIQUE INDEX signing_keys_by_use_state ON public.signing_keys USING btree (tenant_id, use, state) WHERE ((use > 'saml:'::text) AND (use < 'saml;'::text) AND (state <> 'retired'::text))
CREATE UNIQUE INDEX signing_keys_pkey ON public.signing_keys USING btree (tenant_id, kid)
CREATE UNIQUE INDEX ssf_deliveries_pkey ON public.ssf_deliveries USING btree (tenant_id, stream_id)
CREATE UNIQUE INDEX ssf_events_pkey ON public.ssf_events USING btree (tenant_id, id)
CREATE UNIQUE INDEX ssf_queue_pkey ON public.ssf_queue USING btree (tenant, id)
CREATE UNIQUE INDEX ssf_removed_subjects_pkey ON public.ssf_removed_subjects USING btree (tenant_id, stream_id, user_id)
CREATE UNIQUE INDEX ssf_streams_pkey ON public.ssf_streams USING btree (tenant_id, id)
CREATE UNIQUE INDEX ssf_streams_tenant_id_client_id_key ON public.ssf_streams USING btree (tenant_id, client_id)
CREATE UNIQUE INDEX sso_sessions_pkey ON public.sso_sessions USING btree (tenant_id, id)
CREATE UNIQUE INDEX tenants_domain_key ON public.tenants USING btree (domain)
CREATE UNIQUE INDEX tenants_pkey ON public.tenants USING btree (tenant_id)
CREATE UNIQUE INDEX tenants_slug_key ON public.tenants USING btree (slug)
CREATE UNIQUE INDEX user_addresses_pkey ON public.user_addresses USING btree (tenant_id, user_id, "position")
CREATE UNIQUE INDEX user_custom_values_by_attribute_unique_key ON public.user_custom_values USING btree (tenant_id, attribute, unique_key) WHERE (unique_key IS NOT NULL)
CREATE UNIQUE INDEX user_custom_values_pkey ON public.user_custom_values USING btree (tenant_id, user_id, attribute, value_key)
CREATE UNIQUE INDEX user_emails_pkey ON public.user_emails USING btree (tenant_id, user_id, "position")
CREATE UNIQUE INDEX user_emails_tenant_id_value_key_key ON public.user_emails USING btree (tenant_id, value_key)
CREATE UNIQUE INDEX user_roles_pkey ON public.user_roles USING btree (tenant_id, user_id, role)
CREATE UNIQUE INDEX user_values_pkey ON public.user_values USING btree (tenant_id, user_id, attribute, "position")
CREATE UNIQUE INDEX users_pkey ON public.users USING btree (tenant_id, id)
CREATE UNIQUE INDEX users_tenant_id_user_name_key_key ON public.users USING btree (tenant_id, user_name_key)
CREATE UNIQUE INDEX vapid_keys_pkey ON public.vapid_keys USING btree (tenant_id)
CREATE UNIQUE INDEX webhook_deliveries_pkey ON public.webhook_deliveries USING btree (tenant_id, id)
CREATE UNIQUE INDEX webhook_deliveries_tenant_id_webhook_id_event_id_key ON public.webhook_deliveries USING btree (tenant_id, webhook_id, event_id)
CREATE UNIQUE INDEX webhook_positions_pkey ON public.webhook_positions USING btree (tenant_id, webhook_id)
CREATE UNIQUE INDEX webhook_queue_pkey ON public.webhook_queue USING btree (tenant, id)
CREATE UNIQUE INDEX webhooks_pkey ON public.webhooks USING btree (tenant_id, id)
CREATE UNIQUE INDEX webhooks_tenant_id_url_key ON public.webhooks USING btree (tenant_id, url)
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
approvals.claimed_as text COLLATE C
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
approvals.transaction_id text COLLATE C
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
audit_events.seq bigint
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
authorization_codes.authorized_at bigint
authorization_codes.certificate_thumbprint text COLLATE C
authorization_codes.claims text COLLATE C
authorization_codes.client_id text NOT NULL COLLATE C
authorization_codes.code_challenge text COLLATE C
authorization_codes.code_hash text NOT NULL COLLATE C
authorization_codes.created_at bigint NOT NULL
authorization_codes.dpop_jkt text COLLATE C
authorization_codes.expires_at bigint NOT NULL
authorization_codes.grant_id text NOT NULL COLLATE C
authorization_codes.hook_claims text COLLATE C
authorization_codes.max_age bigint
authorization_codes.nonce text COLLATE C
authorization_codes.redirect_uri text NOT NULL COLLATE C
authorization_codes.resource text COLLATE C
authorization_codes.scope text NOT NULL COLLATE C
authorization_codes.sso_session_id text COLLATE C
authorization_codes.tenant_id text NOT NULL COLLATE C
authorization_codes.used_at bigint
authorization_codes.user_id text NOT NULL COLLATE C
ciba_deliveries.attempts bigint NOT NULL DEFAULT 0
ciba_deliveries.due_at bigint NOT NULL
ciba_deliveries.lane text NOT NULL DEFAULT ''::text COLLATE C
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
ciba_requests.hook_claims text COLLATE C
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
client_registrations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
client_registrations client_registrations_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
client_registrations.client_id text NOT NULL COLLATE C
client_registrations.created_at bigint NOT NULL
client_registrations.grant_types text NOT NULL COLLATE C
client_registrations.hosts text NOT NULL COLLATE C
client_registrations.scopes text NOT NULL COLLATE C
client_registrations.tenant_id text NOT NULL COLLATE C
client_registrations.token_hash text NOT NULL COLLATE C
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
clients.dpop_bound_access_tokens bigint NOT NULL DEFAULT 0
clients.enabled bigint NOT NULL
clients.grant_types text NOT NULL COLLATE C
clients.id_token_signed_response_alg text NOT NULL COLLATE C
clients.jwks text COLLATE C
clients.jwks_uri text COLLATE C
clients.logo_uri text COLLATE C
clients.mappings text NOT NULL DEFAULT '[]'::text COLLATE C
clients.name text NOT NULL COLLATE C
clients.post_logout_redirect_uris text NOT NULL COLLATE C
clients.profile text COLLATE C
clients.redirect_uris text NOT NULL COLLATE C
clients.refresh_reuse_leeway_seconds bigint NOT NULL
clients.require_consent bigint NOT NULL
clients.require_par bigint NOT NULL
clients.require_pkce bigint NOT NULL
clients.require_signed_request_object bigint NOT NULL DEFAULT 0
clients.resources text NOT NULL COLLATE C
clients.scopes text NOT NULL COLLATE C
clients.secret_encrypted text COLLATE C
clients.secret_hash text COLLATE C
clients.tenant_id text NOT NULL COLLATE C
clients.tls_client_auth_san_dns text COLLATE C
clients.tls_client_auth_san_email text COLLATE C
clients.tls_client_auth_san_ip text COLLATE C
clients.tls_client_auth_san_uri text COLLATE C
clients.tls_client_auth_subject_dn text COLLATE C
clients.tls_client_certificate_bound_access_tokens bigint NOT NULL DEFAULT 0
clients.token_endpoint_auth_method text NOT NULL COLLATE C
clients.type text NOT NULL COLLATE C
clients.updated_at bigint NOT NULL
config_epochs.changed_at bigint NOT NULL
config_epochs.sequence bigint NOT NULL DEFAULT 0
config_epochs.tenant_id text NOT NULL COLLATE C
config_epochs.version bigint NOT NULL
connector_links POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
connector_links connector_links_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE
connector_links.answer text COLLATE C
connector_links.attempts bigint NOT NULL DEFAULT 0
connector_links.claimed_until bigint NOT NULL DEFAULT 0
connector_links.connector_id text NOT NULL COLLATE C
connector_links.created_at bigint NOT NULL
connector_links.creates bigint NOT NULL DEFAULT 0
connector_links.due_at bigint
connector_links.hash text COLLATE C
connector_links.kind text NOT NULL COLLATE C
connector_links.leaving bigint NOT NULL DEFAULT 0
connector_links.left_at bigint
connector_links.local_id text NOT NULL COLLATE C
connector_links.mark bigint NOT NULL DEFAULT 0
connector_links.reason text COLLATE C
connector_links.remote_id text COLLATE C
connector_links.request text COLLATE C
connector_links.seen_at bigint
connector_links.sent_paths text COLLATE C
connector_links.state text NOT NULL COLLATE C
connector_links.tenant_id text NOT NULL COLLATE C
connector_links.updated_at bigint NOT NULL
connector_members POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
connector_members connector_members_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE
connector_members.connector_id text NOT NULL COLLATE C
connector_members.group_id text NOT NULL COLLATE C
connector_members.tenant_id text NOT NULL COLLATE C
connector_members.user_id text NOT NULL COLLATE C
connector_states POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
connector_states connector_states_tenant_id_connector_id_fkey FOREIGN KEY (tenant_id, connector_id) REFERENCES connectors(tenant_id, id) ON DELETE CASCADE
connector_states.approval_since bigint
connector_states.approved_at bigint NOT NULL DEFAULT 0
connector_states.connector_id text NOT NULL COLLATE C
connector_states.not_before bigint
connector_states.position bigint NOT NULL
connector_states.probe_at bigint
connector_states.quarantine_reason text COLLATE C
connector_states.quarantined_at bigint
connector_states.reconcile_at bigint NOT NULL
connector_states.reconciled_at bigint
connector_states.sync_after text COLLATE C
connector_states.tenant_id text NOT NULL COLLATE C
connector_states.window_failed bigint NOT NULL DEFAULT 0
connector_states.window_total bigint NOT NULL DEFAULT 0
connectors POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
connectors.auth text NOT NULL COLLATE C
connectors.base_url text NOT NULL COLLATE C
connectors.created_at bigint NOT NULL
connectors.deprovision text NOT NULL DEFAULT 'deactivate'::text COLLATE C
connectors.enabled bigint NOT NULL DEFAULT 1
connectors.groups text NOT NULL DEFAULT '[]'::text COLLATE C
connectors.id text NOT NULL COLLATE C
connectors.mappings text NOT NULL DEFAULT '[]'::text COLLATE C
connectors.match text NOT NULL DEFAULT 'userName'::text COLLATE C
connectors.name text NOT NULL COLLATE C
connectors.rate bigint NOT NULL DEFAULT 10
connectors.secret text COLLATE C
connectors.tenant_id text NOT NULL COLLATE C
connectors.updated_at bigint NOT NULL
connectors.users text NOT NULL DEFAULT 'all'::text COLLATE C
consents POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
consents consents_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
consents consents_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
consents.client_id text NOT NULL COLLATE C
consents.created_at bigint NOT NULL
consents.scope_set text NOT NULL COLLATE C
consents.tenant_id text NOT NULL COLLATE C
consents.user_id text NOT NULL COLLATE C
custom_attributes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
custom_attributes.allowed_values text NOT NULL COLLATE C
custom_attributes.claim text COLLATE C
custom_attributes.created_at bigint NOT NULL
custom_attributes.deleted_at bigint
custom_attributes.edit text NOT NULL COLLATE C
custom_attributes.id text NOT NULL COLLATE C
custom_attributes.label text COLLATE C
custom_attributes.list bigint NOT NULL
custom_attributes.name text NOT NULL COLLATE C
custom_attributes.tenant_id text NOT NULL COLLATE C
custom_attributes.type text NOT NULL COLLATE C
custom_attributes.unique bigint NOT NULL
custom_attributes.updated_at bigint NOT NULL
customizations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
customizations.draft text COLLATE C
customizations.kind text NOT NULL COLLATE C
customizations.name text NOT NULL COLLATE C
customizations.previous text COLLATE C
customizations.published text COLLATE C
customizations.tenant_id text NOT NULL COLLATE C
customizations.updated_at bigint NOT NULL
device_authorizations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
device_authorizations device_authorizations_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'approved'::text, 'denied'::text])))
device_authorizations device_authorizations_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
device_authorizations device_authorizations_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
device_authorizations.acr text COLLATE C
device_authorizations.amr text COLLATE C
device_authorizations.auth_time bigint
device_authorizations.client_id text NOT NULL COLLATE C
device_authorizations.created_at bigint NOT NULL
device_authorizations.decided_at bigint
device_authorizations.device_code_hash text NOT NULL COLLATE C
device_authorizations.expires_at bigint NOT NULL
device_authorizations.grant_id text COLLATE C
device_authorizations.id text NOT NULL COLLATE C
device_authorizations.initiated_ip text COLLATE C
device_authorizations.initiated_user_agent text COLLATE C
device_authorizations.interval_seconds bigint NOT NULL
device_authorizations.last_polled_at bigint
device_authorizations.polled_early bigint NOT NULL DEFAULT 0
device_authorizations.resource text COLLATE C
device_authorizations.scope text NOT NULL COLLATE C
device_authorizations.state text NOT NULL DEFAULT 'pending'::text COLLATE C
device_authorizations.tenant_id text NOT NULL COLLATE C
device_authorizations.used_at bigint
device_authorizations.user_code text NOT NULL COLLATE C
device_authorizations.user_id text COLLATE C
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
devices.key_protection text COLLATE C
devices.last_seen_at bigint
devices.model text COLLATE C
devices.name text NOT NULL COLLATE C
devices.os_version text COLLATE C
devices.platform text NOT NULL COLLATE C
devices.push_outcome text COLLATE C
devices.push_provider text NOT NULL DEFAULT 'none'::text COLLATE C
devices.push_reason text COLLATE C
devices.push_token_encrypted text COLLATE C
devices.push_tried_at bigint
devices.revoked_at bigint
devices.state text NOT NULL COLLATE C
devices.tenant_id text NOT NULL COLLATE C
devices.user_id text NOT NULL COLLATE C
devices.web_push_encrypted text COLLATE C
devices.web_push_vendor text COLLATE C
directory_counts POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
directory_counts.kind text NOT NULL COLLATE C
directory_counts.n bigint NOT NULL
directory_counts.shard bigint NOT NULL
directory_counts.tenant_id text NOT NULL COLLATE C
dpop_proofs POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
dpop_proofs.expires_at bigint NOT NULL
dpop_proofs.proof_hash text NOT NULL COLLATE C
dpop_proofs.tenant_id text NOT NULL COLLATE C
email_changes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
email_changes email_changes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
email_changes.after text COLLATE C
email_changes.before text COLLATE C
email_changes.created_at bigint NOT NULL
email_changes.tenant_id text NOT NULL COLLATE C
email_changes.user_id text NOT NULL COLLATE C
email_changes.version bigint NOT NULL
enrollment_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
enrollment_tokens enrollment_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
enrollment_tokens.created_at bigint NOT NULL
enrollment_tokens.expires_at bigint NOT NULL
enrollment_tokens.id text NOT NULL COLLATE C
enrollment_tokens.registration_id text COLLATE C
enrollment_tokens.require_pin bigint NOT NULL
enrollment_tokens.tenant_id text NOT NULL COLLATE C
enrollment_tokens.token_hash text NOT NULL COLLATE C
enrollment_tokens.used_at bigint
enrollment_tokens.user_id text NOT NULL COLLATE C
event_feeds POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
event_feeds.last_seq bigint NOT NULL DEFAULT 0
event_feeds.tenant_id text NOT NULL COLLATE C
external_identities POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
external_identities external_identities_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE
external_identities external_identities_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
external_identities.created_at bigint NOT NULL
external_identities.email text COLLATE C
external_identities.id text NOT NULL COLLATE C
external_identities.identity_hash text NOT NULL COLLATE C
external_identities.issuer text NOT NULL COLLATE C
external_identities.provider_id text NOT NULL COLLATE C
external_identities.subject text NOT NULL COLLATE C
external_identities.tenant_id text NOT NULL COLLATE C
external_identities.used_at bigint
external_identities.user_id text NOT NULL COLLATE C
external_logins POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
external_logins external_logins_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE
external_logins.answer text COLLATE C
external_logins.answer_hash text COLLATE C
external_logins.created_at bigint NOT NULL
external_logins.expires_at bigint NOT NULL
external_logins.provider_id text NOT NULL COLLATE C
external_logins.sealed text NOT NULL COLLATE C
external_logins.state_hash text NOT NULL COLLATE C
external_logins.tenant_id text NOT NULL COLLATE C
external_logins.transaction_id text NOT NULL COLLATE C
external_logins.used_at bigint
grants POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
grants grants_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
grants grants_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
grants.acr text COLLATE C
grants.amr text NOT NULL COLLATE C
grants.auth_time bigint NOT NULL
grants.authorized_at bigint
grants.certificate_thumbprint text COLLATE C
grants.claims text COLLATE C
grants.client_id text NOT NULL COLLATE C
grants.created_at bigint NOT NULL
grants.dpop_jkt text COLLATE C
grants.expires_at bigint NOT NULL
grants.hook_claims text COLLATE C
grants.id text NOT NULL COLLATE C
grants.max_age bigint
grants.nonce text COLLATE C
grants.resource text COLLATE C
grants.revoked_at bigint
grants.revoked_reason text COLLATE C
grants.scope text NOT NULL COLLATE C
grants.sso_session_id text COLLATE C
grants.tenant_id text NOT NULL COLLATE C
grants.user_id text NOT NULL COLLATE C
group_members POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
group_members group_members_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE
group_members group_members_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
group_members.created_at bigint NOT NULL
group_members.group_id text NOT NULL COLLATE C
group_members.tenant_id text NOT NULL COLLATE C
group_members.user_created_at bigint NOT NULL DEFAULT 0
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
held_deliveries POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
held_deliveries.delivery text NOT NULL COLLATE C
held_deliveries.id text NOT NULL COLLATE C
held_deliveries.queue text NOT NULL COLLATE C
held_deliveries.tenant_id text NOT NULL COLLATE C
hooks POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
hooks.clients text NOT NULL DEFAULT '[]'::text COLLATE C
hooks.created_at bigint NOT NULL
hooks.deadline_ms bigint NOT NULL
hooks.enabled bigint NOT NULL DEFAULT 1
hooks.id text NOT NULL COLLATE C
hooks.on_failure text NOT NULL COLLATE C
hooks.point text NOT NULL COLLATE C
hooks.previous_secret_encrypted text COLLATE C
hooks.previous_until bigint
hooks.secret_encrypted text NOT NULL COLLATE C
hooks.tenant_id text NOT NULL COLLATE C
hooks.updated_at bigint NOT NULL
hooks.url text NOT NULL COLLATE C
identity_provider_groups POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
identity_provider_groups identity_provider_groups_tenant_id_group_id_fkey FOREIGN KEY (tenant_id, group_id) REFERENCES groups(tenant_id, id) ON DELETE CASCADE
identity_provider_groups identity_provider_groups_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE
identity_provider_groups.group_id text NOT NULL COLLATE C
identity_provider_groups.provider_id text NOT NULL COLLATE C
identity_provider_groups.tenant_id text NOT NULL COLLATE C
identity_providers POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
identity_providers.acr_map text NOT NULL DEFAULT '{}'::text COLLATE C
identity_providers.alias text NOT NULL COLLATE C
identity_providers.attribute_map text NOT NULL DEFAULT '{}'::text COLLATE C
identity_providers.client_id text COLLATE C
identity_providers.client_secret text COLLATE C
identity_providers.create_users bigint NOT NULL DEFAULT 0
identity_providers.created_at bigint NOT NULL
identity_providers.domains text NOT NULL DEFAULT '[]'::text COLLATE C
identity_providers.enabled bigint NOT NULL DEFAULT 1
identity_providers.id text NOT NULL COLLATE C
identity_providers.issuer text COLLATE C
identity_providers.kind text NOT NULL COLLATE C
identity_providers.mappings text NOT NULL DEFAULT '[]'::text COLLATE C
identity_providers.metadata text COLLATE C
identity_providers.name text NOT NULL COLLATE C
identity_providers.response_mode text NOT NULL DEFAULT 'query'::text COLLATE C
identity_providers.scopes text NOT NULL DEFAULT '[]'::text COLLATE C
identity_providers.tenant_id text NOT NULL COLLATE C
identity_providers.tenants text NOT NULL DEFAULT '[]'::text COLLATE C
identity_providers.trust_email bigint NOT NULL DEFAULT 0
identity_providers.updated_at bigint NOT NULL
images POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
images.content text NOT NULL COLLATE C
images.created_at bigint NOT NULL
images.height bigint NOT NULL
images.sha256 text NOT NULL COLLATE C
images.size_bytes bigint NOT NULL
images.tenant_id text NOT NULL COLLATE C
images.type text NOT NULL COLLATE C
images.width bigint NOT NULL
initial_access_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
initial_access_tokens.count bigint NOT NULL
initial_access_tokens.created_at bigint NOT NULL
initial_access_tokens.expires_at bigint NOT NULL
initial_access_tokens.grant_types text NOT NULL COLLATE C
initial_access_tokens.hosts text NOT NULL COLLATE C
initial_access_tokens.id text NOT NULL COLLATE C
initial_access_tokens.scopes text NOT NULL COLLATE C
initial_access_tokens.tenant_id text NOT NULL COLLATE C
initial_access_tokens.token_hash text NOT NULL COLLATE C
initial_access_tokens.used bigint NOT NULL DEFAULT 0
instance.key text NOT NULL COLLATE C
instance.value text NOT NULL COLLATE C
invitations POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
invitations invitations_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
invitations.created_at bigint NOT NULL
invitations.enrollment_encrypted text COLLATE C
invitations.expires_at bigint NOT NULL
invitations.id text NOT NULL COLLATE C
invitations.mailed_to text COLLATE C
invitations.recovery_reason text COLLATE C
invitations.revoked_at bigint
invitations.stop_hash text COLLATE C
invitations.stopped_at bigint
invitations.tenant_id text NOT NULL COLLATE C
invitations.token_hash text NOT NULL COLLATE C
invitations.used_at bigint
invitations.user_id text NOT NULL COLLATE C
invitations.visit_expires_at bigint
invitations.visit_hash text COLLATE C
last_sign_ins POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
last_sign_ins.at bigint NOT NULL
last_sign_ins.id text NOT NULL COLLATE C
last_sign_ins.kind text NOT NULL COLLATE C
last_sign_ins.tenant_id text NOT NULL COLLATE C
login_transactions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
login_transactions login_transactions_kind_check CHECK ((kind = ANY (ARRAY['oidc'::text, 'saml'::text])))
login_transactions login_transactions_step_check CHECK ((step = ANY (ARRAY['identify'::text, 'choose'::text, 'waiting'::text, 'pin'::text, 'passkey'::text])))
login_transactions login_transactions_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
login_transactions login_transactions_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
login_transactions.acr_values text COLLATE C
login_transactions.approval_id text COLLATE C
login_transactions.binding_hash text NOT NULL COLLATE C
login_transactions.claims text COLLATE C
login_transactions.client_id text COLLATE C
login_transactions.code_challenge text COLLATE C
login_transactions.created_at bigint NOT NULL
login_transactions.display_name text COLLATE C
login_transactions.dpop_jkt text COLLATE C
login_transactions.essential_acr text COLLATE C
login_transactions.expires_at bigint NOT NULL
login_transactions.external_identity text COLLATE C
login_transactions.finished_at bigint
login_transactions.id text NOT NULL COLLATE C
login_transactions.id_token_hint_user text COLLATE C
login_transactions.identifier text COLLATE C
login_transactions.initiated_ip text COLLATE C
login_transactions.initiated_user_agent text COLLATE C
login_transactions.keeps_session bigint NOT NULL DEFAULT 1
login_transactions.kind text NOT NULL COLLATE C
login_transactions.lifetime_seconds bigint NOT NULL
login_transactions.login_hint text COLLATE C
login_transactions.mail_key text COLLATE C
login_transactions.max_age bigint
login_transactions.methods text NOT NULL DEFAULT '[]'::text COLLATE C
login_transactions.nonce text COLLATE C
login_transactions.outcome text COLLATE C
login_transactions.prompt text COLLATE C
login_transactions.provider_id text COLLATE C
login_transactions.redirect_uri text COLLATE C
login_transactions.request_state text COLLATE C
login_transactions.resource text COLLATE C
login_transactions.response_mode text COLLATE C
login_transactions.saml_session_sealed text COLLATE C
login_transactions.scope text COLLATE C
login_transactions.service_provider_id text COLLATE C
login_transactions.sso_declined bigint NOT NULL DEFAULT 0
login_transactions.sso_session_id text COLLATE C
login_transactions.step text NOT NULL DEFAULT 'identify'::text COLLATE C
login_transactions.subject_key text COLLATE C
login_transactions.tenant_id text NOT NULL COLLATE C
login_transactions.ui_locales text COLLATE C
login_transactions.user_id text COLLATE C
logout_notices.attempts bigint NOT NULL DEFAULT 0
logout_notices.due_at bigint NOT NULL
logout_notices.grant_id text NOT NULL COLLATE C
logout_notices.lane text NOT NULL DEFAULT ''::text COLLATE C
logout_notices.tenant_id text NOT NULL COLLATE C
mapping_tables POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
mapping_tables.kind text NOT NULL COLLATE C
mapping_tables.rules text NOT NULL COLLATE C
mapping_tables.tenant_id text NOT NULL COLLATE C
mapping_tables.updated_at bigint NOT NULL
operator_entries POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
operator_entries.created_at bigint NOT NULL
operator_entries.entered_id text NOT NULL COLLATE C
operator_entries.expires_at bigint NOT NULL
operator_entries.grant_id text NOT NULL COLLATE C
operator_entries.id text NOT NULL COLLATE C
operator_entries.is_open bigint NOT NULL
operator_entries.secret_hash text NOT NULL COLLATE C
operator_entries.tenant_id text NOT NULL COLLATE C
operator_entries.user_id text NOT NULL COLLATE C
outbox_messages outbox_messages_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'kept'::text, 'discarded'::text])))
outbox_messages.attempts bigint NOT NULL DEFAULT 0
outbox_messages.created_at bigint NOT NULL
outbox_messages.expires_at bigint NOT NULL
outbox_messages.html text NOT NULL COLLATE C
outbox_messages.id text NOT NULL COLLATE C
outbox_messages.lane text NOT NULL DEFAULT ''::text COLLATE C
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
provider_domains POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
provider_domains provider_domains_tenant_id_provider_id_fkey FOREIGN KEY (tenant_id, provider_id) REFERENCES identity_providers(tenant_id, id) ON DELETE CASCADE
provider_domains.domain text NOT NULL COLLATE C
provider_domains.proven_at bigint NOT NULL
provider_domains.provider_id text NOT NULL COLLATE C
provider_domains.tenant_id text NOT NULL COLLATE C
push_messages push_messages_provider_check CHECK ((provider = ANY (ARRAY['apns'::text, 'fcm'::text])))
push_messages.attempts bigint NOT NULL DEFAULT 0
push_messages.device_id text NOT NULL COLLATE C
push_messages.expires_at bigint NOT NULL
push_messages.id text NOT NULL COLLATE C
push_messages.lane text NOT NULL DEFAULT ''::text COLLATE C
push_messages.next_attempt_at bigint NOT NULL
push_messages.provider text NOT NULL COLLATE C
push_messages.tenant_id text NOT NULL COLLATE C
push_refusals POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
push_refusals.provider text NOT NULL COLLATE C
push_refusals.reason text NOT NULL COLLATE C
push_refusals.refused_at bigint NOT NULL
push_refusals.tenant_id text NOT NULL COLLATE C
pushed_requests POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
pushed_requests pushed_requests_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
pushed_requests.client_id text NOT NULL COLLATE C
pushed_requests.created_at bigint NOT NULL
pushed_requests.expires_at bigint NOT NULL
pushed_requests.parameters text NOT NULL COLLATE C
pushed_requests.reference_hash text NOT NULL COLLATE C
pushed_requests.tenant_id text NOT NULL COLLATE C
pushed_requests.transaction_id text COLLATE C
pushed_requests.used_at bigint
recovery_codes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
recovery_codes recovery_codes_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
recovery_codes.code_hmac text NOT NULL COLLATE C
recovery_codes.created_at bigint NOT NULL
recovery_codes.tenant_id text NOT NULL COLLATE C
recovery_codes.used_at bigint
recovery_codes.user_id text NOT NULL COLLATE C
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
roles POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
roles.capabilities text NOT NULL COLLATE C
roles.created_at bigint NOT NULL
roles.description text COLLATE C
roles.name text NOT NULL COLLATE C
roles.tenant_id text NOT NULL COLLATE C
roles.updated_at bigint NOT NULL
saml_metadata_reads POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
saml_metadata_reads saml_metadata_reads_tenant_id_service_provider_id_fkey FOREIGN KEY (tenant_id, service_provider_id) REFERENCES service_providers(tenant_id, id) ON DELETE CASCADE
saml_metadata_reads.read_at bigint NOT NULL
saml_metadata_reads.service_provider_id text NOT NULL COLLATE C
saml_metadata_reads.tenant_id text NOT NULL COLLATE C
saml_metadata_refreshes POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
saml_metadata_refreshes saml_metadata_refreshes_tenant_id_service_provider_id_fkey FOREIGN KEY (tenant_id, service_provider_id) REFERENCES service_providers(tenant_id, id) ON DELETE CASCADE
saml_metadata_refreshes.acs text COLLATE C
saml_metadata_refreshes.due_at bigint NOT NULL
saml_metadata_refreshes.etag text COLLATE C
saml_metadata_refreshes.every_ms bigint NOT NULL
saml_metadata_refreshes.failure text COLLATE C
saml_metadata_refreshes.refreshed_at bigint
saml_metadata_refreshes.report text COLLATE C
saml_metadata_refreshes.service_provider_id text NOT NULL COLLATE C
saml_metadata_refreshes.source text NOT NULL COLLATE C
saml_metadata_refreshes.tenant_id text NOT NULL COLLATE C
saml_metadata_refreshes.tried_at bigint
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
saml_sessions.method text COLLATE C
saml_sessions.name_id_format text NOT NULL COLLATE C
saml_sessions.relay_state text COLLATE C
saml_sessions.service_provider_id text NOT NULL COLLATE C
saml_sessions.session_hash text NOT NULL COLLATE C
saml_sessions.sso_session_id text COLLATE C
saml_sessions.state text NOT NULL COLLATE C
saml_sessions.tenant_id text NOT NULL COLLATE C
saml_sessions.user_id text COLLATE C
schema_migrations.applied_at bigint NOT NULL
schema_migrations.name text NOT NULL COLLATE default
schema_migrations.number bigint NOT NULL
schema_steps.applied_at bigint NOT NULL
schema_steps.name text NOT NULL COLLATE default
schema_steps.number bigint NOT NULL
sent_forms POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
sent_forms.expires_at bigint NOT NULL
sent_forms.form_hash text NOT NULL COLLATE C
sent_forms.location text COLLATE C
sent_forms.tenant_id text NOT NULL COLLATE C
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
service_providers.mappings text NOT NULL DEFAULT '[]'::text COLLATE C
service_providers.metadata_certificate text COLLATE C
service_providers.metadata_url text COLLATE C
service_providers.name text NOT NULL COLLATE C
service_providers.name_id_formats text NOT NULL COLLATE C
service_providers.name_id_sources text NOT NULL DEFAULT '{}'::text COLLATE C
service_providers.relay_states text NOT NULL COLLATE C
service_providers.require_signed_requests bigint NOT NULL
service_providers.signing text NOT NULL COLLATE C
service_providers.signing_key text NOT NULL DEFAULT 'tenant'::text COLLATE C
service_providers.signing_keys text NOT NULL COLLATE C
service_providers.tenant_id text NOT NULL COLLATE C
service_providers.updated_at bigint NOT NULL
setup_tokens POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
setup_tokens setup_tokens_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
setup_tokens.created_at bigint NOT NULL
setup_tokens.expires_at bigint NOT NULL
setup_tokens.roles text COLLATE C
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
signing_keys.signs_from bigint
signing_keys.state text NOT NULL COLLATE C
signing_keys.tenant_id text NOT NULL COLLATE C
signing_keys.use text NOT NULL COLLATE C
ssf_deliveries POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
ssf_deliveries ssf_deliveries_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE
ssf_deliveries.delivered_at bigint NOT NULL
ssf_deliveries.stream_id text NOT NULL COLLATE C
ssf_deliveries.tenant_id text NOT NULL COLLATE C
ssf_events POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
ssf_events ssf_events_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE
ssf_events.claims text NOT NULL COLLATE C
ssf_events.created_at bigint NOT NULL
ssf_events.id text NOT NULL COLLATE C
ssf_events.seq bigint NOT NULL
ssf_events.stream_id text NOT NULL COLLATE C
ssf_events.tenant_id text NOT NULL COLLATE C
ssf_events.type text NOT NULL COLLATE C
ssf_queue ssf_queue_tenant_id_fkey FOREIGN KEY (tenant, id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE
ssf_queue.attempts bigint NOT NULL DEFAULT 0
ssf_queue.due_at bigint NOT NULL
ssf_queue.id text NOT NULL COLLATE C
ssf_queue.tenant text NOT NULL COLLATE C
ssf_removed_subjects POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
ssf_removed_subjects ssf_removed_subjects_tenant_id_stream_id_fkey FOREIGN KEY (tenant_id, stream_id) REFERENCES ssf_streams(tenant_id, id) ON DELETE CASCADE
ssf_removed_subjects ssf_removed_subjects_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
ssf_removed_subjects.created_at bigint NOT NULL
ssf_removed_subjects.stream_id text NOT NULL COLLATE C
ssf_removed_subjects.tenant_id text NOT NULL COLLATE C
ssf_removed_subjects.user_id text NOT NULL COLLATE C
ssf_streams POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
ssf_streams ssf_streams_tenant_id_client_id_fkey FOREIGN KEY (tenant_id, client_id) REFERENCES clients(tenant_id, client_id) ON DELETE CASCADE
ssf_streams.authorization_encrypted text COLLATE C
ssf_streams.client_id text NOT NULL COLLATE C
ssf_streams.created_at bigint NOT NULL
ssf_streams.description text COLLATE C
ssf_streams.events_requested text COLLATE C
ssf_streams.id text NOT NULL COLLATE C
ssf_streams.method text NOT NULL COLLATE C
ssf_streams.position bigint NOT NULL
ssf_streams.status text NOT NULL DEFAULT 'enabled'::text COLLATE C
ssf_streams.status_at bigint NOT NULL
ssf_streams.status_reason text COLLATE C
ssf_streams.tenant_id text NOT NULL COLLATE C
ssf_streams.updated_at bigint NOT NULL
ssf_streams.url text COLLATE C
sso_sessions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
sso_sessions sso_sessions_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
sso_sessions.absolute_at bigint NOT NULL
sso_sessions.acr text COLLATE C
sso_sessions.amr text NOT NULL COLLATE C
sso_sessions.auth_time bigint NOT NULL
sso_sessions.browser_hash text NOT NULL COLLATE C
sso_sessions.created_at bigint NOT NULL
sso_sessions.device_id text COLLATE C
sso_sessions.ended_at bigint
sso_sessions.expires_at bigint NOT NULL
sso_sessions.external_identity_id text COLLATE C
sso_sessions.external_session_id text COLLATE C
sso_sessions.id text NOT NULL COLLATE C
sso_sessions.idle_seconds bigint NOT NULL
sso_sessions.ip text COLLATE C
sso_sessions.method text NOT NULL COLLATE C
sso_sessions.passkey_id text COLLATE C
sso_sessions.tenant_id text NOT NULL COLLATE C
sso_sessions.used_at bigint NOT NULL
sso_sessions.user_agent text COLLATE C
sso_sessions.user_id text NOT NULL COLLATE C
tenants.created_at bigint NOT NULL
tenants.domain text COLLATE C
tenants.enabled bigint NOT NULL DEFAULT 1
tenants.has_connectors bigint NOT NULL DEFAULT 0
tenants.has_streams bigint NOT NULL DEFAULT 0
tenants.has_webhooks bigint NOT NULL DEFAULT 0
tenants.moving text COLLATE C
tenants.name text NOT NULL COLLATE C
tenants.pending_domain text COLLATE C
tenants.pending_verified_at bigint
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
user_custom_values POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
user_custom_values user_custom_values_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
user_custom_values.attribute text NOT NULL COLLATE C
user_custom_values.tenant_id text NOT NULL COLLATE C
user_custom_values.unique_key text COLLATE C
user_custom_values.user_id text NOT NULL COLLATE C
user_custom_values.value_key text NOT NULL COLLATE C
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
user_roles POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
user_roles user_roles_tenant_id_custom_role_fkey FOREIGN KEY (tenant_id, custom_role) REFERENCES roles(tenant_id, name) ON DELETE CASCADE
user_roles user_roles_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, id) ON DELETE CASCADE
user_roles.created_at bigint NOT NULL
user_roles.custom_role text COLLATE C
user_roles.role text NOT NULL COLLATE C
user_roles.tenant_id text NOT NULL COLLATE C
user_roles.user_id text NOT NULL COLLATE C
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
users.custom text COLLATE C
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
vapid_keys POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
vapid_keys.created_at bigint NOT NULL
vapid_keys.private_key_encrypted text NOT NULL COLLATE C
vapid_keys.public_key text NOT NULL COLLATE C
vapid_keys.tenant_id text NOT NULL COLLATE C
webhook_deliveries POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
webhook_deliveries webhook_deliveries_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE
webhook_deliveries.answer text COLLATE C
webhook_deliveries.attempted_at bigint
webhook_deliveries.attempts bigint NOT NULL DEFAULT 0
webhook_deliveries.body text NOT NULL COLLATE C
webhook_deliveries.created_at bigint NOT NULL
webhook_deliveries.duration_ms bigint
webhook_deliveries.event_id text NOT NULL COLLATE C
webhook_deliveries.expires_at bigint NOT NULL
webhook_deliveries.id text NOT NULL COLLATE C
webhook_deliveries.reason text COLLATE C
webhook_deliveries.seq bigint NOT NULL
webhook_deliveries.state text NOT NULL COLLATE C
webhook_deliveries.status bigint
webhook_deliveries.tenant_id text NOT NULL COLLATE C
webhook_deliveries.type text NOT NULL COLLATE C
webhook_deliveries.webhook_id text NOT NULL COLLATE C
webhook_positions POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
webhook_positions webhook_positions_tenant_id_webhook_id_fkey FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks(tenant_id, id) ON DELETE CASCADE
webhook_positions.position bigint NOT NULL
webhook_positions.tenant_id text NOT NULL COLLATE C
webhook_positions.webhook_id text NOT NULL COLLATE C
webhook_queue webhook_queue_tenant_id_fkey FOREIGN KEY (tenant, id) REFERENCES webhook_deliveries(tenant_id, id) ON DELETE CASCADE
webhook_queue.attempts bigint NOT NULL DEFAULT 0
webhook_queue.due_at bigint NOT NULL
webhook_queue.id text NOT NULL COLLATE C
webhook_queue.lane text NOT NULL COLLATE C
webhook_queue.tenant text NOT NULL COLLATE C
webhooks POLICY tenant_rows ALL (tenant_id = current_setting('gatehouse.tenant'::text, true)) (tenant_id = current_setting('gatehouse.tenant'::text, true))
webhooks.created_at bigint NOT NULL
webhooks.disabled_reason text COLLATE C
webhooks.enabled bigint NOT NULL DEFAULT 1
webhooks.failing_since bigint
webhooks.id text NOT NULL COLLATE C
webhooks.previous_secret text COLLATE C
webhooks.previous_until bigint
webhooks.secret text COLLATE C
webhooks.tenant_id text NOT NULL COLLATE C
webhooks.types text NOT NULL DEFAULT '[]'::text COLLATE C
webhooks.updated_at bigint NOT NULL
webhooks.url text NOT NULL COLLATE C

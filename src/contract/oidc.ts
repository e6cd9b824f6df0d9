// Contract 7.2-7.11: the OAuth 2.0 / OpenID Connect rows, in the order of the contract's tables.
import { defineRows } from './row.ts';

const oauth = { envelope: 'oauth', status: 400, opaque: false } as const;
const opaque = { envelope: 'oauth', status: 400, opaque: true } as const;
const redirected = { envelope: 'oauth', status: 303, opaque: true, section: 'design' } as const;
const unauthorized = { envelope: 'management', status: 401, opaque: true } as const;

// biome-ignore format: a table, one row a line
export const oidcRows = defineRows({
  // 7.2 token endpoint
  'token.invalid_request': { ...oauth, code: 'invalid_request', section: 'design', when: 'A parameter is repeated or malformed.' },
  'token.unsupported_grant_type': { ...oauth, code: 'unsupported_grant_type', section: '7.2', when: '`grant_type` is missing or not a known grant.' },
  'token.unauthorized_client': { ...oauth, code: 'unauthorized_client', section: 'design', when: 'The grant is known but not allowed to this client.' },
  'token.code_invalid': {
    ...opaque, code: 'invalid_grant', section: '7.2',
    when: 'Authorization code missing, unknown, expired, used, of another client or tenant, redirect_uri differs, or the access gate fails.',
  },
  'token.pkce_failed': { ...opaque, code: 'invalid_grant', section: '7.2', when: 'Verifier missing, malformed, not matching, or sent when no challenge was stored.' },
  'token.invalid_scope': { ...oauth, code: 'invalid_scope', section: '7.2', when: 'A requested scope is not granted to the client; re-checked on refresh.' },
  'token.login_required': { ...oauth, code: 'login_required', section: '7.2', when: '`max_age` exceeded.' },
  'token.invalid_target': { ...oauth, code: 'invalid_target', section: '7.2', when: 'The audience is not the Management API identifier (client_credentials) or not within the grant.' },
  'token.refresh_invalid': {
    ...opaque, code: 'invalid_grant', section: '7.2',
    when: 'Refresh token missing, unknown, revoked, expired, of another client, or reused (which revokes the family).',
  },
  // RFC 9449 5 and 8, at the token endpoint and PAR
  'dpop.invalid_proof': { ...opaque, code: 'invalid_dpop_proof', section: 'design', when: 'The DPoP proof is malformed, wrong or used before, or missing where tokens of the client are bound to a key.' },
  'dpop.use_nonce': { ...opaque, code: 'use_dpop_nonce', section: 'design', when: 'The DPoP proof lacks a nonce of ours; the answer carries one.' },
  // 7.3 authorize
  'authorize.unauthorized': {
    ...unauthorized, code: 'unauthorized', section: '7.3', text: 'This client cannot be authorized.',
    when: 'Unknown or foreign client, or a redirect_uri that is not on the allow-list.',
  },
  'authorize.unsupported_response_type': { ...oauth, code: 'unsupported_response_type', section: '7.3', when: '`response_type` is not `code`.' },
  'authorize.invalid_request': { ...oauth, code: 'invalid_request', section: '7.3', when: '`response_type` or `redirect_uri` missing, or a malformed parameter.' },
  'authorize.pkce': { ...oauth, code: 'invalid_request', section: '7.3', when: 'PKCE required but no code_challenge, or an unsupported code_challenge_method.' },
  'authorize.invalid_target': { ...oauth, code: 'invalid_target', section: '7.3', when: 'Client not authorized for the resource audience.' },
  'authorize.invalid_request_uri': { ...opaque, code: 'invalid_request_uri', section: '7.3', when: 'PAR request_uri malformed, empty, consumed, expired, or of another client.' },
  'authorize.invalid_scope': { ...oauth, code: 'invalid_scope', section: '7.3', when: 'A requested scope is not bound to the client.' },
  // by redirect to the client (RFC 6749 4.1.2.1), never as a body
  'authorize.request_not_supported': { ...redirected, code: 'request_not_supported', when: 'A request object was sent that is not signed, or by a client without registered keys.' },
  'authorize.invalid_request_object': {
    ...redirected, code: 'invalid_request_object', when: 'The request object is not signed by the client, not for us, out of time or malformed.',
  },
  'authorize.unauthorized_client': { ...redirected, code: 'unauthorized_client', when: 'The client may not use the authorization code grant.' },
  'authorize.login_required': { ...redirected, code: 'login_required', when: '`prompt=none`: there is no session to answer from.' },
  'authorize.account_selection_required': { ...redirected, code: 'account_selection_required', when: '`prompt=none`: the browser is signed in to several accounts.' },
  'authorize.interaction_required': { ...redirected, code: 'interaction_required', when: '`prompt=none`: the session is weaker than `acr_values` ask for.' },
  'authorize.unmet_authentication_requirements': {
    ...redirected, code: 'unmet_authentication_requirements', when: '`claims` asks for an essential `acr` that no sign-in here meets.',
  },
  'authorize.consent_required': { ...redirected, code: 'consent_required', when: '`prompt=none`: the person has not consented to these scopes.' },
  'authorize.temporarily_unavailable': { ...redirected, code: 'temporarily_unavailable', when: 'The hook of the tenant does not answer, and nobody may pass unasked.' },
  // 7.4 PAR
  'par.unsupported_response_type': { ...oauth, code: 'unsupported_response_type', section: '7.4', when: '`response_type` is not `code` (missing included).' },
  'par.invalid_request': { ...oauth, code: 'invalid_request', section: '7.4', when: 'Unknown client without a credential, redirect_uri not on the allow-list, or a malformed parameter.' },
  'par.invalid_target': { ...oauth, code: 'invalid_target', section: '7.4', when: 'Client not authorized for the resource audience.' },
  'par.invalid_scope': { ...oauth, code: 'invalid_scope', section: '7.4', when: 'A requested scope is not bound to the client.' },
  'par.invalid_request_object': { ...opaque, code: 'invalid_request_object', section: 'design', when: 'The request object is not signed by the client, not for us, out of time or malformed.' },
  'par.unauthorized_client': { ...oauth, code: 'unauthorized_client', section: 'design', when: 'The client may not use the authorization code grant.' },
  'par.pkce': { ...oauth, code: 'invalid_request', section: '7.4', when: 'The PKCE gate, as on authorize.' },
  // 7.5, 7.6 introspection, revocation
  'introspect.invalid_request': { ...oauth, code: 'invalid_request', section: '7.5', when: '`token` missing.' },
  'revoke.invalid_request': { ...oauth, code: 'invalid_request', section: '7.6', when: '`token` missing.' },
  // 7.7 userinfo
  'userinfo.unauthorized': {
    ...unauthorized, opaque: false, code: 'unauthorized', section: '7.7', text: 'The access token does not open this resource.', fields: ['reason'],
    when: 'No bearer token, invalid token, wrong token_use, revoked token, or no active user.',
  },
  // 7.8 logout
  'logout.invalid_request': {
    ...opaque, code: 'invalid_request', section: '7.8',
    when: 'id_token_hint missing or invalid, client_id not its aud, unresolvable client, or post_logout_redirect_uri not on the allow-list.',
  },
  // 7.9 CIBA start
  'ciba.unauthorized_client': { ...oauth, code: 'unauthorized_client', section: '7.9', when: 'Client not registered for CIBA.' },
  'ciba.invalid_request': {
    ...oauth, code: 'invalid_request', section: '7.9',
    when: '`scope` lacks openid, not exactly one hint, binding_message over 512 characters, or client_notification_token missing for ping and push.',
  },
  'ciba.invalid_target': { ...oauth, code: 'invalid_target', section: '7.9', when: 'Client not authorized for the resource audience.' },
  'ciba.unknown_user_id': { ...opaque, code: 'unknown_user_id', section: '7.9', when: 'The hint did not resolve to an eligible user.' },
  'ciba.invalid_scope': { ...oauth, code: 'invalid_scope', section: '7.9', when: 'A requested scope is not bound to the client.' },
  // 7.10 CIBA polling
  'ciba.authorization_pending': { ...oauth, code: 'authorization_pending', section: '7.10', when: 'The user has not decided yet.' },
  'ciba.slow_down': { ...oauth, code: 'slow_down', section: '7.10', when: 'Polled faster than the interval.' },
  'ciba.expired_token': { ...oauth, code: 'expired_token', section: '7.10', when: 'auth_req_id expired.' },
  'ciba.access_denied': { ...oauth, code: 'access_denied', section: '7.10', when: 'The user denied the request.' },
  'ciba.push_must_not_poll': { ...oauth, code: 'unauthorized_client', section: '7.10', when: 'A push-delivery client polled.' },
  'ciba.auth_req_id_invalid': { ...opaque, code: 'invalid_grant', section: '7.10', when: 'auth_req_id missing, unknown, of another client, or already used.' },
  // RFC 8628: device authorization, and its polling as 7.10
  'device_grant.invalid_request': { ...oauth, code: 'invalid_request', section: 'design', when: 'A parameter of the device authorization request is repeated or malformed.' },
  'device_grant.unauthorized_client': { ...oauth, code: 'unauthorized_client', section: 'design', when: 'The client may not use the device grant.' },
  'device_grant.invalid_target': { ...oauth, code: 'invalid_target', section: 'design', when: 'Client not authorized for the resource audience.' },
  'device_grant.invalid_scope': { ...oauth, code: 'invalid_scope', section: 'design', when: 'A requested scope is not bound to the client.' },
  'device_grant.authorization_pending': { ...oauth, code: 'authorization_pending', section: 'design', when: 'Nobody has decided yet.' },
  'device_grant.slow_down': { ...oauth, code: 'slow_down', section: 'design', when: 'Polled faster than the interval.' },
  'device_grant.expired_token': { ...oauth, code: 'expired_token', section: 'design', when: 'device_code expired.' },
  'device_grant.access_denied': { ...oauth, code: 'access_denied', section: 'design', when: 'The person denied the request, or may not use the client.' },
  'device_grant.code_invalid': { ...opaque, code: 'invalid_grant', section: 'design', when: 'device_code missing, unknown, of another client, or already used; or the access gate fails.' },
  // RFC 7523: a program speaks for itself, or its platform for it
  'jwt_bearer.assertion_invalid': {
    ...opaque, code: 'invalid_grant', section: 'design',
    when: 'The assertion is no live, unused one that a client of this tenant made of itself with a key it is registered with, no live token of a workload issuer that is of exactly one enabled client, and no live, unused identity assertion of a provider with cross_app for the client that authenticated, of a person known here, active and let in by its access gate; or the client is disabled or another than the one that authenticated.',
  },
  // RFC 8693
  'exchange.invalid_request': {
    ...opaque, code: 'invalid_request', section: 'design',
    when: 'The subject or actor token is missing, no live access token of ours, or not the caller\'s to exchange; its person is suspended, or the access gate of the caller fails.',
  },
  'exchange.invalid_target': { ...oauth, code: 'invalid_target', section: 'design', when: 'The client may not exchange this token for this audience, or names several.' },
  'exchange.invalid_scope': { ...oauth, code: 'invalid_scope', section: 'design', when: 'A requested scope is neither in the token nor given for it.' },
  // RFC 7591 and 7592: clients that register themselves
  'register.invalid_redirect_uri': { ...oauth, code: 'invalid_redirect_uri', section: 'design', when: 'A redirect URI is malformed, or not of a host the initial access token allows.' },
  'register.invalid_client_metadata': { ...oauth, code: 'invalid_client_metadata', section: 'design', when: 'Any other value of the metadata is wrong or not allowed; the text names it.' },
  'register.invalid_token': { ...opaque, status: 401, code: 'invalid_token', section: 'design', header: 'www-authenticate', when: 'Initial access token missing, unknown, used up or expired; registration access token not of this client, or the client gone or disabled.' },
  // 7.11 client authentication, on /token /par /introspect /revoke /bc-authorize
  'client.invalid_client': { ...opaque, status: 401, code: 'invalid_client', section: '7.11', when: 'Any failure of client authentication.' },
});

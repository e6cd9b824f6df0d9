// The parameters an authorization request may have here: what PAR keeps of a request it takes (RFC 9126 2.1 lets a server ignore
// the others, as RFC 6749 3.1 asks). Whoever reads a new one at authorize adds its name.

export const authorizationParameters = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'audience',
  'prompt',
  'max_age',
  'acr_values',
  'login_hint',
  'id_token_hint',
  'ui_locales',
  'claims',
  'dpop_jkt',
  'organization',
] as const;

// The claims whose meaning belongs to the protocol: who issued a token, for whom, until when, what it opens. Nothing a tenant
// configures may set them: no mapping rule, no hook. Pure.

// RFC 7519 4.1, RFC 9068 2.2, OpenID Connect Core 2, 3.1.3.6 and 5.6.2, RFC 7662 2.2, RFC 7800, RFC 8417, RFC 8693 4; token_use is ours.
const names: ReadonlySet<string> = new Set(
  `iss sub aud exp iat nbf jti auth_time nonce acr amr azp sid at_hash c_hash s_hash scope client_id act may_act cnf events token_use
  active token_type username authorization_details sub_id sub_jwk _claim_names _claim_sources __proto__`.split(/\s+/),
);

/** Claims a profile adds, e.g. CIBA's `auth_req_id`. */
const profilePrefix = 'urn:openid:params:jwt:claim:';

export const isProtocolClaim = (name: string): boolean => names.has(name) || name.startsWith(profilePrefix);

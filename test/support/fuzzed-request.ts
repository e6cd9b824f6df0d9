// Random requests over every route of a server, seeded so that a failure can be repeated. Each is mostly plausible and wrong somewhere.

export interface FuzzedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

export interface FuzzGround {
  /** Paths with `:name` for parameters, as the router prints them. */
  readonly routes: readonly string[];
  readonly tokens: readonly string[];
  /** Ids and names that exist. */
  readonly known: readonly string[];
}

/** A deterministic source of numbers below 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

// biome-ignore format: lists
const nasty: readonly string[] = [
  '', ' ', '\t', "'", '"', '`', '<script>alert(1)</script>', '{{7*7}}', '../../etc/passwd', '..\\..\\', '%00', '%', '%zz', '\u0000', '\ud800', '😀', 'é', 'ﬀ', 'İ',
  '-1', '0', '1e309', '9007199254740993', '99999999999999999999999999', 'NaN', 'null', 'true', '[]', '{}', '__proto__', 'constructor', "' OR 1=1 --", '; DROP TABLE users', '*', '?', '#',
  'a'.repeat(300), 'b'.repeat(9000), 'http://127.0.0.1:1/', 'https://[::1]/', 'javascript:alert(1)', 'openid profile', 'S256', 'code', 'urn:openid:params:grant-type:ciba',
  '00000000-0000-0000-0000-000000000000', 'eyJhbGciOiJub25lIn0.e30.', 'a.b.c', '2026-01-01T00:00:00Z', '2026-13-45', 'userName eq "a"', 'emails[type eq "work"', '(((((((((',
  '\r\nX-Injected: 1', 'Bearer', 'Basic', 'Basic !!!', 'Basic Og==', 'W/"1"', '"*"', '<a/>', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
];
// biome-ignore format: lists
const names: readonly string[] = [
  'client_id', 'client_secret', 'grant_type', 'code', 'redirect_uri', 'code_verifier', 'code_challenge', 'code_challenge_method', 'scope', 'resource', 'state', 'nonce', 'response_type', 'request_uri',
  'refresh_token', 'token', 'token_type_hint', 'client_assertion', 'client_assertion_type', 'auth_req_id', 'login_hint', 'id_token_hint', 'post_logout_redirect_uri', 'max_age', 'prompt', 'binding_message',
  'SAMLRequest', 'RelayState', 'sp', 'session', 'SigAlg', 'Signature', 'kid', 'filter', 'attributes', 'excludedAttributes', 'startIndex', 'count', 'sortBy', 'sortOrder', 'cursor', 'limit', 'type', 'actor',
  'userName', 'emails', 'displayName', 'members', 'schemas', 'Operations', 'active', 'name', 'slug', 'user_name', 'identifier', 'scopes', 'redirect_uris', 'enabled', 'state', 'email', 'pin', 'registration_token',
  'entity_id', 'acs', 'domain', 'use', 'alg', 'access_policy', 'csrf', 'method',
];
const methods = ['GET', 'GET', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const;
const types = [
  'application/json',
  'application/json',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded',
  'application/scim+json',
  'text/plain',
  'multipart/form-data',
  '',
];

export function fuzzRequest(random: () => number, ground: FuzzGround): FuzzedRequest {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const value = (): string => (random() < 0.35 && ground.known.length > 0 ? pick(ground.known) : pick(nasty));
  const json = (depth: number): unknown => {
    const kind = random();
    if (depth > 4 || kind < 0.45) return value();
    if (kind < 0.6) return pick([null, true, false, 0, -1, 1.5, 1e21, 2 ** 53]);
    if (kind < 0.75) return Array.from({ length: Math.floor(random() * 4) }, () => json(depth + 1));
    return Object.fromEntries(Array.from({ length: Math.floor(random() * 5) }, () => [pick(names), json(depth + 1)]));
  };
  const pairs = (encode: (text: string) => string): string =>
    Array.from(
      { length: Math.floor(random() * 7) },
      () => `${pick(names)}=${random() < 0.9 ? encode(value()) : value().replace(/[\s#]/g, '')}`,
    ).join('&');
  const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
  const method = pick(methods);
  const filled = pick(ground.routes).replace(/:[a-z_]+/gi, () => encode(value()).slice(0, 400));
  const query = random() < 0.5 ? `?${pairs(encode).replaceAll('#', '').slice(0, 12_000)}` : '';
  const type = pick(types);
  const bodyText = type.includes('json') || random() < 0.1 ? JSON.stringify(json(0)) : pairs(encode);
  const body =
    method === 'GET' || method === 'HEAD'
      ? undefined
      : random() < 0.05
        ? new Uint8Array([0xff, 0xfe, 0, 1])
        : random() < 0.1
          ? bodyText.slice(0, -1)
          : bodyText;
  const headers: Record<string, string> = { 'x-protocol-version': random() < 0.9 ? '1' : pick(['0', 'x', '']) };
  if (type !== '') headers['content-type'] = type;
  const credentials = random();
  if (credentials < 0.6) headers['authorization'] = `Bearer ${pick(ground.tokens)}`;
  else if (credentials < 0.8) headers['authorization'] = headerText(value());
  for (const name of [
    'if-match',
    'accept',
    'accept-language',
    'cookie',
    'x-device-id',
    'x-device-key-id',
    'x-timestamp',
    'x-signature',
    'dpop',
    'x-forwarded-for',
    'origin',
  ])
    if (random() < 0.12) headers[name] = headerText(value());
  return { method, path: `${random() < 0.05 ? '/t/nobody' : ''}${filled}${query}`, headers, body };
}

/** What a client library lets through in a header. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/g, '').slice(0, 2000);

/** Full paths out of Fastify's printed route tree. */
export function routesOf(tree: string): readonly string[] {
  const stack: string[] = [];
  const paths: string[] = [];
  for (const line of tree.split('\n')) {
    const match = /^((?:[│ ] {3})*)[├└]── (\S*) \(/.exec(line);
    if (match === null) continue;
    const level = match[1]!.length / 4;
    stack.length = level;
    stack.push(match[2]!);
    const path = stack.join('');
    if (path.startsWith('/')) paths.push(path);
  }
  return [...new Set(paths)];
}

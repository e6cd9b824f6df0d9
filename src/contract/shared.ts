// Rows every surface has: rate limiting (contract 7.19) and what the HTTP layer itself refuses (design 01, "One error").
// Each exists once per envelope, because the envelope belongs to the row.
import type { Envelope, Row } from './row.ts';

// biome-ignore format: a table, one row a line
const shared = {
  rate_limited: {
    code: 'rate_limited', status: 429, section: '7.19', opaque: true, text: 'Too many requests.',
    when: 'A rate limit is exceeded.', fields: ['retry_after_seconds'], header: 'retry-after',
  },
  not_found: { code: 'not_found', status: 404, section: 'design', opaque: true, text: 'Not found.', when: 'No such path, tenant or object.' },
  method_not_allowed: {
    code: 'method_not_allowed', status: 405, section: 'design', opaque: true, text: 'This path does not take this method.',
    when: 'The path exists, the method does not.', header: 'allow',
  },
  payload_too_large: { code: 'payload_too_large', status: 413, section: 'design', opaque: true, text: 'The body is too large.', when: 'The body is over the limit of the surface.' },
  unsupported_media_type: {
    code: 'unsupported_media_type', status: 415, section: 'design', opaque: true, text: 'This content type or encoding is not accepted here.',
    when: 'The content type or encoding of the body is not the one the endpoint takes.',
  },
  malformed: { code: 'invalid_request', status: 400, section: 'design', opaque: true, text: 'The request is malformed.', when: 'Bad JSON, bad percent-encoding or a body that cannot be read.' },
  server_error: { code: 'server_error', status: 500, section: 'design', opaque: true, text: 'Something went wrong on our side.', when: 'A fault of the server.' },
  unavailable: {
    code: 'temporarily_unavailable', status: 503, section: 'design', opaque: true, text: 'The service cannot answer now. Try again shortly.',
    when: 'The database is unreachable, the outcome of a commit is unknown, the server is overloaded, or the tenant is being moved to another deployment.', header: 'retry-after',
  },
} as const satisfies Record<string, Omit<Row, 'envelope'>>;

export type SharedName = keyof typeof shared;
export type SharedRowId = `${Envelope}.${SharedName}`;

const envelopes: readonly Envelope[] = ['oauth', 'management', 'scim'];
/** `internal` is the management word for a server fault; RFC 6749 has `server_error`. */
const codeIn = (envelope: Envelope, code: string): string => (envelope === 'management' && code === 'server_error' ? 'internal' : code);

export const sharedRows = Object.fromEntries([
  ...envelopes.flatMap((envelope) =>
    Object.entries(shared).map(([name, row]) => [`${envelope}.${name}`, { ...row, envelope, code: codeIn(envelope, row.code) }]),
  ),
]) as Record<SharedRowId, Row>; // the two loops above make exactly these keys

export const httpRows = {
  'http.headers_too_large': {
    code: 'headers_too_large',
    status: 431,
    envelope: 'management',
    section: 'design',
    opaque: true,
    text: 'The request headers are too large.',
    when: 'Header bytes over the limit.',
  },
  'http.bad_request_line': {
    code: 'invalid_request',
    status: 400,
    envelope: 'management',
    section: 'design',
    opaque: true,
    text: 'The request is malformed.',
    when: 'The request cannot be parsed as HTTP.',
  },
  'http.timeout': {
    code: 'request_timeout',
    status: 408,
    envelope: 'management',
    section: 'design',
    opaque: true,
    text: 'The request took too long to arrive.',
    when: 'Headers or body did not arrive in time.',
  },
} as const satisfies Record<string, Row>;

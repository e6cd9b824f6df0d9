// Takes the parameters of an SSO or post-back request from where its method puts them, within the limits, each once,
// query and body never mixed. Throws the contract row of whatever is wrong.
import type { FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { samlBodyBytesMax, samlQueryBytesMax, samlRelayStateBytesMax } from '../contract/limits.ts';
import { rawTargetOf } from '../http/tenant-name.ts';
import { parseParameters, type RawParameter } from './parameters.ts';

export type SsoParameters =
  | {
      readonly kind: 'sp_initiated';
      readonly binding: 'redirect' | 'post';
      readonly all: ReadonlyMap<string, RawParameter>;
      readonly relayState: string | undefined;
    }
  | { readonly kind: 'idp_initiated'; readonly sp: string; readonly relayState: string | undefined };

/** What an SSO request asks for. */
export function readSsoParameters(request: FastifyRequest): SsoParameters {
  const reading = parseParameters(parameterTextOf(request));
  if (!reading.ok) {
    // Doubled and encoded names are how a signature is made to cover other values than those used (design 06).
    const cause = { reason: reading.reason, received: reading.name };
    throw reading.reason === 'bad_percent_encoding' ? reject('saml.invalid_request', cause) : reject('saml.signature_invalid', cause);
  }
  const { parameters: all } = reading;
  const sp = givenValue(all, 'sp');
  const hasRequest = givenValue(all, 'SAMLRequest') !== undefined;
  if (sp !== undefined && hasRequest) throw reject('saml.invalid_request', 'request_and_sp');
  const relayState = readRelayState(all);
  if (sp !== undefined) return { kind: 'idp_initiated', sp, relayState };
  if (!hasRequest) throw reject('saml.invalid_request', 'neither_request_nor_sp');
  const binding = request.method === 'GET' ? 'redirect' : 'post';
  if (binding === 'post' && (all.has('SigAlg') || all.has('Signature'))) throw reject('saml.signature_invalid', 'query_signature_in_post');
  return { kind: 'sp_initiated', binding, all, relayState };
}

/** The session a post-back names; undefined when it is missing, malformed or given twice. */
export function readSessionId(request: FastifyRequest): string | undefined {
  const reading = parseParameters(parameterTextOf(request));
  const session = reading.ok ? reading.parameters.get('session')?.value : undefined;
  return session !== undefined && /^[A-Za-z0-9_-]{43}$/.test(session) ? session : undefined;
}

function parameterTextOf(request: FastifyRequest): string {
  const target = rawTargetOf(request.raw);
  const at = target.indexOf('?');
  const query = at < 0 ? '' : target.slice(at + 1);
  if (request.method === 'GET') {
    if (carriesBody(request)) throw reject('saml.invalid_request', 'body_with_get');
    if (Buffer.byteLength(query) > samlQueryBytesMax)
      throw reject('saml.invalid_request', { reason: 'query_too_large', expected: samlQueryBytesMax });
    return query;
  }
  if (query !== '') throw reject('saml.invalid_request', 'query_with_post');
  const body = typeof request.body === 'string' ? request.body : '';
  if (Buffer.byteLength(body) > samlBodyBytesMax)
    throw reject('saml.invalid_request', { reason: 'body_too_large', expected: samlBodyBytesMax });
  return body;
}

// An empty value is an absent one: some providers' forms always have both fields.
function givenValue(parameters: ReadonlyMap<string, RawParameter>, name: string): string | undefined {
  const value = parameters.get(name)?.value;
  return value === '' ? undefined : value;
}

function carriesBody(request: FastifyRequest): boolean {
  const length = request.headers['content-length'];
  return (length !== undefined && length !== '0') || request.headers['transfer-encoding'] !== undefined;
}

// Echoed byte for byte, so only its size and what a form cannot carry matter.
function readRelayState(parameters: ReadonlyMap<string, RawParameter>): string | undefined {
  const relayState = parameters.get('RelayState')?.value;
  if (relayState === undefined) return undefined;
  const bytes = Buffer.byteLength(relayState);
  if (bytes > samlRelayStateBytesMax)
    throw reject('saml.invalid_request', { reason: 'relay_state_too_large', received: bytes, expected: samlRelayStateBytesMax });
  if (relayState.includes('\0')) throw reject('saml.invalid_request', 'relay_state_nul');
  return relayState;
}

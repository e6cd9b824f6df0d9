// The checks of an authorization request, one table for three endpoints: rows are checks in the order they run, columns say
// which contract row refuses at authorize (7.3), PAR (7.4) and bc-authorize (7.9); no entry, no check. Client and its
// authentication come before, what is special to an endpoint after.
import type { RowId } from '../../contract/catalogue.ts';
import type { ContractError } from '../../contract/contract-error.ts';
import { hintCharsMax, identifierCharsMax, nonceCharsMax, stateCharsMax } from '../../contract/limits.ts';
import type { Client } from '../../domain/client/client.ts';
import { registeredSpelling } from '../../domain/client/resource.ts';
import { isResponseMode, responseModes } from '../../domain/oidc/authorization-response.ts';
import { codeGrantType } from '../../domain/oidc/grant-types.ts';
import type { RequestParameters } from '../parameters.ts';
import { type Fault, rejectFault } from '../row-fault.ts';
import { findUnboundScope, parseScopes, requestedAudiences } from '../scopes.ts';
import { noAuthorizationDetails } from './authorization-details.ts';
import { claimsWellFormed } from './claims-parameter.ts';
import { parseMaxAge } from './max-age.ts';
import { isRegisteredRedirectUri } from './redirect-uri.ts';

type CheckedEndpoint = 'authorize' | 'par' | 'bcAuthorize' | 'deviceAuthorization';

interface AuthorizationInput {
  readonly client: Client;
  readonly parameters: RequestParameters;
  /** True when the parameters came by PAR. */
  readonly isPushed: boolean;
  /** True when they came in a signed request object, now or at PAR. */
  readonly isSigned: boolean;
}

type Examine = (input: AuthorizationInput) => Fault | undefined;
type Line = readonly [Examine, authorize: RowId | undefined, par: RowId | undefined, bcAuthorize: RowId | undefined];

// biome-ignore format: a table, one check a line
const lines: readonly Line[] = [
  [redirectUriPresent,    'authorize.invalid_request',           'par.invalid_request',           undefined],
  [redirectUriRegistered, 'authorize.unauthorized',              'par.invalid_request',           undefined],
  [pushedWhereRequired,   'authorize.invalid_request',           undefined,                       undefined],
  [noRequestObject,       'authorize.request_not_supported',     'par.invalid_request',           'ciba.invalid_request'],
  [signedWhereRequired,   'authorize.invalid_request',           'par.invalid_request',           'ciba.invalid_request'],
  [noRequestUri,          undefined,                             'par.invalid_request',           undefined],
  [noAuthorizationDetails, 'authorize.invalid_request',          'par.invalid_request',           'ciba.invalid_request'],
  [responseTypePresent,   'authorize.invalid_request',           'par.unsupported_response_type', undefined],
  [responseTypeCode,      'authorize.unsupported_response_type', 'par.unsupported_response_type', undefined],
  [responseModeKnown,     'authorize.invalid_request',           'par.invalid_request',           undefined],
  [codeGrantAllowed,      'authorize.unauthorized_client',       'par.unauthorized_client',       undefined],
  [lengthsWithinLimits,   'authorize.invalid_request',           'par.invalid_request',           undefined],
  [promptKnown,           'authorize.invalid_request',           'par.invalid_request',           undefined],
  [maxAgeNumeric,         'authorize.invalid_request',           'par.invalid_request',           undefined],
  [claimsWellFormed,      'authorize.invalid_request',           'par.invalid_request',           undefined],
  [proofKeyWellFormed,    'authorize.invalid_request',           'par.invalid_request',           undefined],
  [resourceAllowed,       'authorize.invalid_target',            'par.invalid_target',            'ciba.invalid_target'],
  [scopesBound,           'authorize.invalid_scope',             'par.invalid_scope',             'ciba.invalid_scope'],
  [pkceGate,              'authorize.pkce',                      'par.pkce',                      undefined],
];

const columns: Readonly<Record<CheckedEndpoint, readonly (readonly [Examine, RowId])[]>> = {
  authorize: lines.flatMap(([examine, row]) => (row === undefined ? [] : [[examine, row] as const])),
  par: lines.flatMap(([examine, , row]) => (row === undefined ? [] : [[examine, row] as const])),
  bcAuthorize: lines.flatMap(([examine, , , row]) => (row === undefined ? [] : [[examine, row] as const])),
  deviceAuthorization: [
    [noAuthorizationDetails, 'device_grant.invalid_request'],
    [resourceAllowed, 'device_grant.invalid_target'],
    [scopesBound, 'device_grant.invalid_scope'],
  ],
};

/** What is wrong with the address a refusal would be sent to. */
export function findAddressFault(input: AuthorizationInput): ContractError | undefined {
  for (const [examine, row] of columns.authorize.slice(0, 2)) {
    const fault = examine(input);
    if (fault !== undefined) return rejectFault(row, fault);
  }
  return undefined;
}

/** Runs the column of an endpoint; gives the error of the first check that fails. */
export function findAuthorizationFault(endpoint: CheckedEndpoint, input: AuthorizationInput): ContractError | undefined {
  for (const [examine, row] of columns[endpoint]) {
    const fault = examine(input);
    if (fault !== undefined) return rejectFault(row, fault);
  }
  return undefined;
}

function redirectUriPresent({ parameters }: AuthorizationInput): Fault | undefined {
  return parameters.get('redirect_uri') === undefined ? { reason: 'redirect_uri_missing', text: 'redirect_uri is required.' } : undefined;
}

function redirectUriRegistered({ client, parameters }: AuthorizationInput): Fault | undefined {
  const uri = parameters.get('redirect_uri') ?? '';
  if (isRegisteredRedirectUri(client, uri)) return undefined;
  return {
    reason: 'redirect_uri_not_registered',
    received: uri,
    expected: client.redirectUris.join(' '),
    text: 'redirect_uri is not registered for this client.',
  };
}

function pushedWhereRequired({ client, isPushed }: AuthorizationInput): Fault | undefined {
  return client.requirePar && !isPushed
    ? { reason: 'pushed_request_required', text: 'This client must push its authorization requests.' }
    : undefined;
}

function signedWhereRequired({ client, isSigned }: AuthorizationInput): Fault | undefined {
  return client.requireSignedRequestObject && !isSigned
    ? { reason: 'signed_request_required', text: 'This client must sign its requests.' }
    : undefined;
}

/** Left when nobody could read it: it is not signed, or the client has no keys. */
function noRequestObject({ parameters }: AuthorizationInput): Fault | undefined {
  return parameters.has('request') ? { reason: 'request_object', text: 'Request objects are not supported.' } : undefined;
}

/** RFC 9126 2.1: a pushed request cannot refer to another. */
export function noRequestUri({ parameters }: Pick<AuthorizationInput, 'parameters'>): Fault | undefined {
  return parameters.has('request_uri') ? { reason: 'request_uri_pushed', text: 'request_uri cannot be pushed.' } : undefined;
}

function responseTypePresent({ parameters }: AuthorizationInput): Fault | undefined {
  return parameters.get('response_type') === undefined
    ? { reason: 'response_type_missing', text: 'response_type is required.' }
    : undefined;
}

function responseTypeCode({ parameters }: AuthorizationInput): Fault | undefined {
  const type = parameters.get('response_type');
  return type === 'code'
    ? undefined
    : { reason: 'response_type', received: type, expected: 'code', text: 'The only response_type is code.' };
}

function responseModeKnown({ parameters }: AuthorizationInput): Fault | undefined {
  const mode = parameters.get('response_mode') ?? 'query';
  const expected = responseModes.join(' ');
  return isResponseMode(mode)
    ? undefined
    : { reason: 'response_mode', received: mode, expected, text: 'This response_mode is not offered.' };
}

function codeGrantAllowed({ client }: AuthorizationInput): Fault | undefined {
  return client.grantTypes.includes(codeGrantType)
    ? undefined
    : {
        reason: 'grant_not_allowed',
        received: codeGrantType,
        expected: client.grantTypes.join(' '),
        text: 'This client may not use this grant.',
      };
}

const charsMax: Readonly<Record<string, number>> = {
  state: stateCharsMax,
  nonce: nonceCharsMax,
  login_hint: identifierCharsMax,
  acr_values: hintCharsMax,
  ui_locales: hintCharsMax,
};

function lengthsWithinLimits({ parameters }: AuthorizationInput): Fault | undefined {
  for (const [name, max] of Object.entries(charsMax)) {
    const length = parameters.get(name)?.length ?? 0;
    if (length > max) return { reason: 'parameter_too_long', received: `${name}: ${length}`, expected: max, text: `${name} is too long.` };
  }
  return undefined;
}

export const promptValues = ['none', 'login', 'consent', 'select_account'] as const;

function promptKnown({ parameters }: AuthorizationInput): Fault | undefined {
  const prompts = parameters.get('prompt')?.split(' ') ?? [];
  const isKnown = prompts.every((prompt) => (promptValues as readonly string[]).includes(prompt));
  const isAlone = !prompts.includes('none') || prompts.length === 1;
  return isKnown && isAlone ? undefined : { reason: 'prompt', received: prompts.join(' '), text: 'prompt is not understood.' };
}

function maxAgeNumeric({ parameters }: AuthorizationInput): Fault | undefined {
  const maxAge = parameters.get('max_age');
  return maxAge === undefined || parseMaxAge(maxAge) !== undefined
    ? undefined
    : { reason: 'max_age_malformed', received: maxAge, text: 'max_age is not a number of seconds.' };
}

/** 32 bytes, base64url: what S256 challenges and RFC 7638 thumbprints are. */
const digestSyntax = /^[A-Za-z0-9_-]{43}$/;

/** RFC 9449 10. */
function proofKeyWellFormed({ parameters }: AuthorizationInput): Fault | undefined {
  const thumbprint = parameters.get('dpop_jkt');
  return thumbprint === undefined || digestSyntax.test(thumbprint)
    ? undefined
    : { reason: 'dpop_jkt_malformed', received: thumbprint, text: 'dpop_jkt is not a key thumbprint.' };
}

function resourceAllowed({ client, parameters }: AuthorizationInput): Fault | undefined {
  const requested = requestedAudiences(parameters);
  if (requested.length === 0 || (requested.length === 1 && registeredSpelling(client.resources, requested[0]!) !== undefined))
    return undefined;
  return {
    reason: requested.length > 1 ? 'several_audiences' : 'audience_not_allowed',
    received: requested.join(' '),
    expected: client.resources.join(' '),
    text: 'The requested audience is not available to this client.',
  };
}

function scopesBound({ client, parameters }: AuthorizationInput): Fault | undefined {
  const scopes = parseScopes(parameters.get('scope'));
  if (scopes === undefined) return { reason: 'scope_malformed', received: parameters.get('scope'), text: 'scope is malformed.' };
  const unbound = findUnboundScope(client, scopes);
  return unbound === undefined
    ? undefined
    : {
        reason: 'scope_not_bound',
        received: unbound,
        expected: client.scopes.join(' '),
        text: 'A scope is not bound to this client.',
      };
}

/** RFC 7636 with S256 only; a challenge without a method means plain there and is refused. */
function pkceGate({ client, parameters }: AuthorizationInput): Fault | undefined {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (method !== undefined && method !== 'S256')
    return { reason: 'code_challenge_method', received: method, expected: 'S256', text: 'The only code_challenge_method is S256.' };
  if (challenge === undefined)
    return client.requirePkce || client.type === 'public' || parameters.has('code_challenge')
      ? { reason: 'code_challenge_missing', text: 'code_challenge is required.' }
      : undefined;
  if (method === undefined) return { reason: 'code_challenge_method', expected: 'S256', text: 'The only code_challenge_method is S256.' };
  return digestSyntax.test(challenge)
    ? undefined
    : { reason: 'code_challenge_malformed', received: challenge, text: 'code_challenge is not an S256 challenge.' };
}

// How a surface answers what went wrong: anything thrown becomes the answer of a contract row, and the refusal is recorded.
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { ContractError, reject } from '../contract/contract-error.ts';
import { type Answer, render } from '../contract/envelopes.ts';
import type { Envelope } from '../contract/row.ts';
import type { SharedName } from '../contract/shared.ts';
import type { Page } from '../pages/page.ts';
import { StorageUnavailable } from '../storage/engine/database.ts';
import { closedRetrySeconds, TenantClosed } from '../storage/engine/tenant-closed.ts';
import { addressBlock } from './client-address.ts';
import type { Parts } from './services.ts';

/** What counts and remembers refusals. */
export type RefusalDeps = Parts<'activity' | 'metrics' | 'refusals'>;
export type ErrorDeps = RefusalDeps & Parts<'log'>;

/** How one surface words its errors. */
export interface ErrorAnswers {
  readonly envelope: Envelope;
  /** The error for a request that cannot be read where the surface has its own; undefined keeps the shared one. */
  readonly malformed?: (reason: string) => ContractError;
  /** The error for a body over the limit where the surface has its own; undefined keeps the shared one. */
  readonly bodyTooLarge?: (request: FastifyRequest) => Error | undefined;
  /** Value of WWW-Authenticate for an error whose row names none, on surfaces that promise one. */
  readonly challenge?: (error: ContractError, request: FastifyRequest) => string | undefined;
  /** Gives another representation of an error answer (a page), or undefined for JSON. */
  readonly present?: (answer: Answer, request: FastifyRequest) => Page | undefined;
}

/** The error of a row that exists in every envelope. */
export function sharedError(envelope: Envelope, name: SharedName, reason: string): ContractError {
  return reject(`${envelope}.${name}`, reason);
}

/** The error for a request of a surface that cannot be read. */
export function malformedError({ envelope, malformed }: Pick<ErrorAnswers, 'envelope' | 'malformed'>, reason: string): ContractError {
  return malformed?.(reason) ?? sharedError(envelope, 'malformed', reason);
}

/** 404 for a path that no route has. */
export const unknownPath = (envelope: Envelope): ContractError => sharedError(envelope, 'not_found', 'no_such_path');

/** 503 for a tenant that moves to another deployment. */
export const tenantClosed = (envelope: Envelope): ContractError =>
  reject(`${envelope}.unavailable`, 'tenant_moving', { retryAfterSeconds: closedRetrySeconds });

/** 405 with Allow (RFC 9110 15.5.6) for a path that has these methods; HEAD comes with GET. */
export function methodNotAllowed(envelope: Envelope, methods: readonly string[]): ContractError {
  const allow = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  return reject(`${envelope}.method_not_allowed`, 'method', { allow: allow.join(', ') });
}

/** Turns anything thrown into the answer of a contract row; unknown errors become the envelope's 500 and are logged. */
function toContractError(services: ErrorDeps, answers: ErrorAnswers, error: Error, request: FastifyRequest): ContractError {
  const { envelope } = answers;
  if (error instanceof ContractError) return error;
  if (error instanceof TenantClosed) return tenantClosed(envelope);
  if (error instanceof StorageUnavailable) {
    services.log.error({ err: error, request_id: request.id }, 'the database cannot answer');
    return reject(`${envelope}.unavailable`, 'storage_unavailable', { retryAfterSeconds: error.retryAfterSeconds });
  }
  if (request.raw.destroyed && !request.raw.complete) {
    services.log.debug({ request_id: request.id, reason: error.message }, 'the client went away within its body');
    return malformedError(answers, 'body_aborted');
  }
  const { code, statusCode } = error as FastifyError;
  const framework = code === undefined ? undefined : frameworkRows[code];
  const isRefused = framework === 'malformed' || (code?.startsWith('FST_') === true && statusCode !== undefined && statusCode < 500);
  if (framework !== undefined && framework !== 'malformed') return sharedError(envelope, framework, code);
  if (isRefused) return malformedError(answers, code);
  services.log.error({ err: error, request_id: request.id, url: request.url.split('?', 1)[0] }, 'request failed');
  return sharedError(envelope, 'server_error', 'fault');
}

const frameworkRows: Readonly<Record<string, SharedName>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'malformed',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'malformed',
  FST_ERR_BAD_URL: 'malformed',
};

/** Answers with the row of whatever was thrown, as JSON or as the page the surface presents. */
export function answerError(
  services: ErrorDeps,
  definition: ErrorAnswers,
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const own = (error as FastifyError).code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? definition.bodyTooLarge?.(request) : undefined;
  const contractError = toContractError(services, definition, own ?? error, request);
  recordRefusal(services, request, contractError);
  const answer = render(contractError);
  const challenge = definition.challenge?.(contractError, request);
  if (challenge !== undefined) reply.header('www-authenticate', challenge);
  const page = definition.present?.(answer, request);
  reply.code(answer.status).headers(answer.headers);
  return page === undefined ? reply.send(JSON.stringify(answer.body)) : reply.headers(page.headers).send(page.markup);
}

/** Counts a refusal and remembers why, for `explain`: for answers that do not go through answerError. */
export function recordRefusal(services: RefusalDeps, request: FastifyRequest, error: ContractError): void {
  services.metrics?.countRefusal(error.row);
  request.refusedRow = error.row;
  if (request.tenant === null) return; // decorated as null until the tenant is known; refusals of no tenant go to the log
  services.activity.countRefusal(request.tenant.id, error.row);
  const recorded = services.refusals.record({
    tenant: request.tenant.id,
    requestId: request.id,
    error,
    actor: request.auditActor,
    method: request.method,
    path: request.url.split('?', 1)[0]!,
    ip: request.clientAddress,
    addressBlock: addressBlock(request.clientAddress),
  });
  if (recorded !== 'stored') services.metrics?.countSummarised();
}

// One request of a signed-in administrator: the session, calls in their name, and how a page or a redirect answers it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../http/services.ts';
import type { Html } from '../../platform/html.ts';
import { type ApiAnswer, type ApiCall, callApi } from '../own-app/app-api.ts';
import type { Notice } from '../own-app/app-page.ts';
import type { AppSession } from '../own-app/app-session.ts';
import { redirect } from '../own-app/app-sign-in.ts';
import { type ConsoleFrame, consolePage, consolePath } from './console-page.ts';

export interface Visit {
  readonly app: FastifyInstance;
  readonly services: Services;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: AppSession;
  /** Path below /console. */
  readonly at: string;
  readonly query: URLSearchParams;
}

/** The person's access token stopped working in the middle of a visit: sign in again. */
export class SessionEnded extends Error {}

/** A call on the tenant's API in the person's name. @throws SessionEnded for 401 */
export async function callAs(visit: Visit, call: Omit<ApiCall, 'bearer'>): Promise<ApiAnswer> {
  const answer = await callApi(visit.app, visit.request, { ...call, bearer: visit.session.accessToken });
  if (answer.status === 401) throw new SessionEnded('the access token was refused');
  return answer;
}

export const manage = (visit: Visit, method: ApiCall['method'], path: string, json?: unknown): Promise<ApiAnswer> =>
  callAs(visit, { method, path: `/v1/management${path}`, ...(json === undefined ? {} : { json }) });

export function frameOf(visit: Visit, notice?: Notice): ConsoleFrame {
  return { tenant: visit.request.tenant, person: visit.session.name, csrf: visit.session.csrf, at: visit.at, notice };
}

export function showPage(visit: Visit, title: string, content: Html, notice?: Notice): FastifyReply {
  const page = consolePage(frameOf(visit, notice), title, content);
  return visit.reply
    .code(notice?.kind === 'bad' ? 400 : 200)
    .headers(page.headers)
    .send(page.markup);
}

export const goTo = (visit: Visit, path: string): FastifyReply => redirect(visit.reply, consolePath(visit.request.tenant, path));

/** What an API refusal says, for people. */
export function refusalText({ status, body }: ApiAnswer): string {
  const field = body['kind'] === undefined ? '' : ` (${String(body['kind'])})`;
  return `${String(body['message'] ?? body['error'] ?? `The API answered ${status}.`)}${field}`;
}

/** Items of a list answer. */
export const itemsOf = ({ body }: ApiAnswer): readonly Readonly<Record<string, unknown>>[] =>
  (body['items'] ?? []) as readonly Readonly<Record<string, unknown>>[]; // every list of the API has this shape

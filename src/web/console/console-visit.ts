// One request of a signed-in administrator: the session, calls in their name, and how a page or a redirect answers it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../http/services.ts';
import { type Html, html } from '../../platform/html.ts';
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

/** A call on the Management API in the person's name; `path` as in `/users`. @throws SessionEnded for 401 */
export const manage = (visit: Visit, method: ApiCall['method'], path: string, json?: unknown): Promise<ApiAnswer> =>
  callAs(visit, { method, path: `/v1/management${path}`, ...(json === undefined ? {} : { json }) });

export function frameOf(visit: Visit, notice?: Notice): ConsoleFrame {
  return { tenant: visit.request.tenant, person: visit.session.name, csrf: visit.session.csrf, at: visit.at, notice };
}

/** A page; one that says what was wrong answers 400 unless told another status. */
export function showPage(visit: Visit, title: string, content: Html, notice?: Notice, status?: number): FastifyReply {
  const page = consolePage(frameOf(visit, notice), title, content);
  return visit.reply
    .code(status ?? (notice?.kind === 'bad' ? 400 : 200))
    .headers(page.headers)
    .send(page.markup);
}

export const goTo = (visit: Visit, path: string): FastifyReply => redirect(visit.reply, consolePath(visit.request.tenant, path));

/** The page for something the API does not show: what it refused, with the API's own status. */
export const showMissing = (visit: Visit, title: string, answer: ApiAnswer): FastifyReply =>
  showPage(visit, title, html``, { kind: 'bad', text: refusalText(answer) }, answer.status);

/** The notice after a redirect: the address says by `done` what was done. */
export function noticeOf(visit: Visit, texts: Readonly<Record<string, string>>): Notice | undefined {
  const done = visit.query.get('done') ?? '';
  return Object.hasOwn(texts, done) ? { kind: 'good', text: texts[done]! } : undefined;
}

/** Where a form of the console leads back to, with what was done. */
export const goBack = (visit: Visit, path: string, done: string): FastifyReply => goTo(visit, `${path}?done=${done}`);

/** What an API refusal says, for people. */
export function refusalText({ status, body }: ApiAnswer): string {
  const field = body['kind'] === undefined ? '' : ` (${String(body['kind'])})`;
  return `${String(body['message'] ?? body['error'] ?? `The API answered ${status}.`)}${field}`;
}

/** Items of a list answer. */
export const itemsOf = ({ body }: ApiAnswer): readonly Readonly<Record<string, unknown>>[] =>
  (body['items'] ?? []) as readonly Readonly<Record<string, unknown>>[]; // every list of the API has this shape

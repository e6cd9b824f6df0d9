// One request of a signed-in administrator: the session, calls in their name, and how a page or a redirect answers it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseJwt } from '../crypto/signing/jwt.ts';
import { type ApiAnswer, type ApiCall, callApi } from '../first-party/app-api.ts';
import type { Typed } from '../first-party/app-form.ts';
import type { Notice } from '../first-party/app-page.ts';
import { type AppSession, sessionSeconds } from '../first-party/app-session.ts';
import { redirect } from '../first-party/app-sign-in.ts';
import { type FieldFault, type FormField, faultIn } from '../first-party/form-field.ts';
import type { Parts } from '../http/services.ts';
import { type Html, html } from '../platform/html.ts';
import { consumeForm, findFormLocation, locateForm, releaseForm } from '../storage/records/sent-forms.ts';
import { type ConsoleFrame, consolePage } from './console-page.ts';
import type { Allowed } from './frame/allowed.ts';
import { keepSecret, type Secret, setFlash, takeFlash } from './frame/flash.ts';
import { consolePath } from './frame/navigation.ts';
import { plainWords, refusalWords } from './frame/plain-words.ts';
import type { TenantChoices } from './operators/tenant-switch.ts';

export interface Visit extends Allowed {
  readonly app: FastifyInstance;
  readonly services: Parts<'clock' | 'database' | 'encryption' | 'longWork'>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: AppSession;
  /** True: an operator of the deployment, who entered the tenant. */
  readonly isOperator: boolean;
  /** Tenants to choose from in the header; of operators at home. */
  readonly choices?: TenantChoices | undefined;
  /** Path below /console. */
  readonly at: string;
  readonly query: URLSearchParams;
  /** Of a post. */
  readonly form?: SentForm;
}

/** A form that was sent: its use is taken before its first change. */
interface SentForm {
  readonly hash: string;
  isTaken: boolean;
}

/** The person's access token stopped working in the middle of a visit: sign in again. */
export class SessionEnded extends Error {}

/** The form was sent before, and has acted. */
export class SentBefore extends Error {}

/** A call on the tenant's API in the person's name; the first that changes something takes the one use of the form. @throws SessionEnded for 401, SentBefore */
export async function callAs(visit: Visit, call: Omit<ApiCall, 'bearer'>): Promise<ApiAnswer> {
  const taken = call.method === 'GET' ? undefined : await takeForm(visit);
  const answer = await callApi(visit.app, visit.request, { ...call, bearer: visit.session.accessToken });
  if (taken !== undefined && answer.status >= 400) await giveBack(visit, taken);
  if (answer.status === 401) throw new SessionEnded('the access token was refused');
  return answer;
}

/** Takes the use of the form, unless an earlier call of this post has. */
export async function takeForm({ form, services, request }: Visit): Promise<SentForm | undefined> {
  if (form === undefined || form.isTaken) return undefined;
  const isFirst = await services.database.write(request.tenant.id, (queries) =>
    consumeForm(queries, request.tenant.id, form.hash, sessionSeconds),
  );
  if (!isFirst) throw new SentBefore('the form was sent before');
  form.isTaken = true;
  return form;
}

/** The first change was refused: the same form may be sent again. */
async function giveBack({ services, request }: Visit, form: SentForm): Promise<void> {
  await services.database.write(request.tenant.id, (queries) => releaseForm(queries, request.tenant.id, form.hash));
  form.isTaken = false;
}

/** A call on the Management API in the person's name; `path` as in `/users`. @throws SessionEnded for 401 */
export const manage = (visit: Visit, method: ApiCall['method'], path: string, json?: unknown): Promise<ApiAnswer> =>
  callAs(visit, { method, path: `/v1/management${path}`, ...(json === undefined ? {} : { json }) });

/** The id of whoever sits at the console. */
export const visitorOf = ({ session }: Pick<Visit, 'session'>): string => String(parseJwt(session.accessToken)?.claims['sub'] ?? '');

/** What the person may do now. @throws SessionEnded */
export async function allowedTo(visit: Visit): Promise<ReadonlySet<string>> {
  const { body } = await manage(visit, 'GET', '/me');
  return new Set((body['capabilities'] ?? []) as readonly string[]); // the API's shape
}

export function frameOf(visit: Visit, notice?: Notice): ConsoleFrame {
  return {
    tenant: visit.request.tenant,
    person: visit.session.name,
    csrf: visit.session.csrf,
    at: visit.at,
    allowed: visit.allowed,
    isOperator: visit.isOperator,
    choices: visit.choices,
    notice,
  };
}

interface ShownWith {
  readonly status?: number;
  readonly frames?: boolean;
  readonly style?: string;
  readonly script?: string | undefined;
}

/** A page, with what the post before left to say; one that says what was wrong answers 400 unless told another status. */
export function showPage(
  visit: Visit,
  title: string,
  content: Html,
  notice?: Notice,
  { status, frames, style, script }: ShownWith = {},
): FastifyReply {
  const page = consolePage({ ...frameOf(visit, notice ?? takeFlash(visit)), frames, style, script }, title, content);
  return visit.reply
    .code(status ?? (notice?.kind === 'bad' ? 400 : 200))
    .headers(page.headers)
    .send(page.markup);
}

export const goTo = (visit: Visit, path: string): FastifyReply => redirect(visit.reply, consolePath(visit.request.tenant, path));

/** The page for something the API does not show: what it refused, with the API's own status, and a way back to the list it would be in. */
export function showMissing(visit: Visit, title: string, answer: ApiAnswer): FastifyReply {
  const { tenant } = visit.request;
  const [, list = ''] = visit.at.split('/');
  const back = html`<p><a class="button quiet" id="back" href="${consolePath(tenant, list === '' ? '' : `/${list}`)}">Back</a></p>`;
  return showPage(visit, title, back, { kind: 'bad', text: refusalText(answer) }, { status: answer.status });
}

/** After a post that changed something: on to a page below /console, which says what was done, unless it shows that by itself. */
export async function finish(
  visit: Visit,
  path: string,
  text: string | undefined,
  secret?: Secret,
  kind: 'good' | 'partly' = 'good',
): Promise<FastifyReply> {
  const { form, services, request } = visit;
  if (text !== undefined) setFlash(visit, { kind, text });
  if (secret !== undefined) keepSecret(visit, path, secret);
  if (form?.isTaken === true)
    await services.database.write(request.tenant.id, (queries) => locateForm(queries, request.tenant.id, form.hash, path));
  return goTo(visit, path);
}

/** The form was sent before: on to what it did then. */
export async function goOn(visit: Visit, form: SentForm): Promise<FastifyReply> {
  const { services, request } = visit;
  const location = await services.database.read(request.tenant.id, (queries) => findFormLocation(queries, request.tenant.id, form.hash));
  setFlash(visit, { kind: 'good', text: 'This form was sent before. What it asks for was done once.' });
  return goTo(visit, location ?? '');
}

/** A form that was refused: what the page says, and the field that is wrong. */
export interface Refused {
  readonly notice: Notice;
  readonly fault?: FieldFault | undefined;
}

export const refusedField = (fault: FieldFault): Refused => ({
  notice: { kind: 'bad', text: `${fault.field.label}: ${fault.text}` },
  fault,
});

/** A form the API refused: told at the field it names, else above. */
export function refusedBy(answer: ApiAnswer, fields: readonly FormField[], typed: Typed): Refused {
  const { kind, message } = answer.body;
  const fault = typeof kind === 'string' ? faultIn(fields, kind, String(message), typed) : undefined;
  return fault === undefined
    ? { notice: { kind: 'bad', text: refusalText(answer) } }
    : refusedField({ ...fault, text: plainWords(fault.text) });
}

/** What an API refusal says, for people. */
export function refusalText({ status, body }: ApiAnswer): string {
  return refusalWords(body['kind'], String(body['message'] ?? body['error'] ?? `The API answered ${status}.`));
}

/** Items of a list answer. */
export const itemsOf = ({ body }: ApiAnswer): readonly Readonly<Record<string, unknown>>[] =>
  (body['items'] ?? []) as readonly Readonly<Record<string, unknown>>[]; // every list of the API has this shape

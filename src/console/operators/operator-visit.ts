// Operators of the deployment in the console of a tenant (decision 40): they enter it by a post in the root console, are there by a cookie of
// its own beside whatever session the browser has, and leave by a button. What they may do the Management API asks at every call.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { enterTenant, leaveTenant, type OpenEntry, openEntry } from '../../administration/operator-entries.ts';
import { reject } from '../../contract/contract-error.ts';
import type { GrantId, TenantId } from '../../domain/ids.ts';
import { rootTenantSlug, type Tenant } from '../../domain/tenant/tenant.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type AppSession, clearCookie, openNote, sealNote } from '../../first-party/app-session.ts';
import { redirect } from '../../first-party/app-sign-in.ts';
import { consoleApp } from '../../first-party/console-client.ts';
import type { Parts } from '../../http/services.ts';
import { type Html, html } from '../../platform/html.ts';
import { randomId } from '../../platform/random.ts';
import { consolePage, postButton } from '../console-page.ts';
import { frameOf, goTo, itemsOf, manage, showMissing, showPage, takeForm, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { clearNotes } from '../frame/flash.ts';
import { isOperatorTenant } from '../frame/navigation.ts';
import type { TenantChoices } from './tenant-switch.ts';

type Json = Readonly<Record<string, unknown>>;
type OperatorDeps = Parts<'clock' | 'database' | 'encryption' | 'tenants'>;

/** What the cookie holds. */
interface Entered extends OpenEntry {
  readonly csrf: string;
}

const consoleOf = ({ baseUrl }: Tenant): string => `${baseUrl}/console`;

async function rootOf({ tenants }: Parts<'tenants'>): Promise<Tenant> {
  const root = await tenants.bySlug(rootTenantSlug);
  if (root === undefined) throw new Error('expected the root tenant, found none');
  return root;
}

/** The session of an operator who is in the request's tenant; undefined for everybody else. */
export function operatorSession({ clock, encryption }: Parts<'clock' | 'encryption'>, request: FastifyRequest): AppSession | undefined {
  const entered = openNote(encryption, consoleApp, request, 'operator') as Entered | undefined; // only settle seals for this purpose
  if (entered === undefined || entered.expiresAtMs <= clock.nowMs()) return undefined;
  const { id, bearer, expiresAtMs, name, csrf } = entered;
  return { grantId: id as GrantId, accessToken: bearer, refreshToken: undefined, expiresAtMs, name, csrf }; // stands for one in forms and notes
}

/** Whether a tenant of the API can be entered from here. */
export const canEnter = ({ slug, enabled }: Json): boolean => enabled === true && slug !== rootTenantSlug;

/** The button that enters a tenant of a list; nothing where one may not. */
export const enterButton = (visit: Visit, json: Json): Html | string =>
  mayChange(visit, '/tenants') && canEnter(json)
    ? postButton(frameOf(visit), {
        path: `/tenants/${String(json['id'])}/enter`,
        label: 'Enter',
        style: 'small quiet',
        of: String(json['name']),
      })
    : '';

const choicesMax = 8;

/** What the switcher in the header offers; nothing to people who may not enter tenants. */
export async function tenantChoices(visit: Visit): Promise<TenantChoices | undefined> {
  if (!isOperatorTenant(visit.request.tenant) || !mayChange(visit, '/tenants')) return undefined;
  const answer = await manage(visit, 'GET', `/tenants?limit=${choicesMax + 2}`); // one is our own
  const others = itemsOf(answer).filter(canEnter);
  const tenants = others.slice(0, choicesMax).map(({ id, name }) => ({ id: String(id), name: String(name) }));
  return { tenants, isMore: others.length > choicesMax || answer.body['next_cursor'] !== undefined };
}

/** Enters a tenant: at once where it is served at our own address, else by a form that is posted to its own. */
export async function enter(visit: Visit, services: OperatorDeps, id: string): Promise<FastifyReply> {
  const { request, session } = visit;
  if (!isOperatorTenant(request.tenant)) throw reject('management.not_found', 'no_such_path');
  if (!mayChange(visit, '/tenants')) throw lacking(visit);
  const answer = await manage(visit, 'GET', `/tenants/${encodeURIComponent(id)}`);
  if (answer.status !== 200) return showMissing(visit, 'Tenant', answer);
  const tenant = await services.tenants.byId(answer.body['id'] as TenantId); // of the API's answer
  if (tenant === undefined || !canEnter(answer.body)) return refuse(visit, answer.body);
  await takeForm(visit);
  const entering = { root: request.tenant.id, tenant: tenant.id, grantId: session.grantId, requestId: request.id };
  const entered = await enterTenant(services, entering);
  if (!entered.ok) return goTo(visit, '/tenants');
  if (new URL(tenant.baseUrl).origin !== new URL(request.tenant.baseUrl).origin) return handOver(visit, tenant, entered.handOver);
  const opened = await openEntry(services, request.tenant.id, tenant.id, entered.handOver);
  if (opened === undefined) return goTo(visit, '/tenants');
  return settle(services, visit.reply, tenant, opened);
}

const lacking = ({ allowed }: Visit): Error =>
  reject(
    'management.forbidden',
    { reason: 'missing_capability', expected: 'tenants:write', received: [...allowed].join(' ') },
    { text: 'Only operators who may change tenants enter them.' },
  );

function refuse(visit: Visit, { slug, name }: Json): FastifyReply {
  const text = slug === rootTenantSlug ? 'This is the tenant you are in.' : `${String(name)} is disabled. Enable it first, then enter.`;
  const back = html`<p><a class="button quiet" id="back" href="/console/tenants">Tenants</a></p>`;
  return showPage(visit, String(name), back, { kind: 'bad', text }, { status: 409 });
}

/** A tenant with a domain of its own: its cookies are set there alone. The form is posted once, by whoever was given it. */
function handOver(visit: Visit, tenant: Tenant, text: string): FastifyReply {
  const { origin, host } = new URL(tenant.baseUrl);
  const page = consolePage(
    frameOf(visit),
    `Enter ${tenant.name}`,
    html`<form class="card ask" method="post" action="${consoleOf(tenant)}/enter"><input type="hidden" name="entry" value="${text}">
<p>${tenant.name} is at <b>${host}</b>. This button works once, for a minute.</p><div class="bar"><button id="go">Go to ${host}</button></div></form>`,
  );
  const policy = String(page.headers['content-security-policy']).replace("form-action 'self'", `form-action 'self' ${origin}`);
  // The other side asks where the form came from, which browsers tell under this policy alone.
  return visit.reply.headers({ ...page.headers, 'content-security-policy': policy, 'referrer-policy': 'strict-origin' }).send(page.markup);
}

/** The post at the tenant's own address: of a form of the root console, or refused. @throws login.forbidden */
export async function openHandedOver(services: OperatorDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const root = await rootOf(services);
  const expected = new URL(root.baseUrl).origin;
  const { origin } = request.headers;
  if (origin !== expected) throw reject('login.forbidden', { reason: 'foreign_origin', received: origin, expected });
  const typed: Typed = new URLSearchParams(typeof request.body === 'string' ? request.body : '');
  const opened = await openEntry(services, root.id, request.tenant.id, typed.get('entry') ?? '');
  if (opened === undefined) throw reject('login.forbidden', 'operator_entry_used');
  return settle(services, reply, request.tenant, opened);
}

function settle({ encryption, clock }: Parts<'clock' | 'encryption'>, reply: FastifyReply, tenant: Tenant, entry: OpenEntry): FastifyReply {
  const entered: Entered = { ...entry, csrf: randomId() };
  const seconds = Math.max(1, Math.floor((entry.expiresAtMs - clock.nowMs()) / 1000));
  return redirect(
    reply.header('set-cookie', sealNote({ encryption, app: consoleApp, tenant }, 'operator', entered, seconds)),
    consoleOf(tenant),
  );
}

/** Back to the root console; the entry ends. */
export async function leave(visit: Visit, services: OperatorDeps): Promise<FastifyReply> {
  const { request, reply, session } = visit;
  const root = await rootOf(services);
  await leaveTenant(services, { root: root.id, tenant: request.tenant.id, id: session.grantId, requestId: request.id });
  clearNotes(visit);
  reply.header('set-cookie', clearCookie(consoleApp, request.tenant, 'operator'));
  return redirect(reply, `${consoleOf(root)}/tenants`);
}

/** An entry that has ended: by time, with the session or the rights of who made it. */
export async function showEnded(services: OperatorDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  const page = consolePage(
    { tenant, person: undefined, csrf: '', at: '' },
    'You are no longer in this tenant',
    html`<p>Your stay in ${tenant.name} as an operator has ended: after an hour, with your session, or because you may no longer manage tenants.</p><p><a class="button" id="tenants" href="${consoleOf(await rootOf(services))}/tenants">Back to the tenants</a></p>`,
  );
  return reply
    .code(403)
    .headers(page.headers)
    .header('set-cookie', clearCookie(consoleApp, tenant, 'operator'))
    .send(page.markup);
}

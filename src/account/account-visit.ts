// One request of a person at the account page: who they are by the grant behind their session, checked at every request, and
// how a page or a redirect answers them. Everything a page does is done for `visit.user` and nobody else.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { By } from '../administration/administration.ts';
import type { Self } from '../administration/people/own-account.ts';
import type { PasskeyDeps } from '../approvals/passkeys/passkey-registration.ts';
import { accountFreshSeconds, accountSessionSeconds } from '../contract/limits.ts';
import type { GrantId, TenantId } from '../domain/ids.ts';
import { type Language, languageFor } from '../domain/language.ts';
import type { CustomAttribute } from '../domain/people/custom-attributes.ts';
import { displayNameOf } from '../domain/people/user.ts';
import { authenticationContexts, recoveryMethod } from '../domain/sign-in/login-methods.ts';
import { offersRecovery } from '../domain/sign-in/sign-in-strength.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { accountApp } from '../first-party/account-client.ts';
import { appPage, type Frame, type Notice } from '../first-party/app-page.ts';
import type { AppSession } from '../first-party/app-session.ts';
import { type AppSignInDeps, currentSession, redirect, startSignIn } from '../first-party/app-sign-in.ts';
import { appPath, appPathOf } from '../first-party/first-party-app.ts';
import type { Parts } from '../http/services.ts';
import type { Html } from '../platform/html.ts';
import type { Queries } from '../storage/engine/database.ts';
import { findGrant, holdGrant } from '../storage/oidc/grants.ts';
import type { UserRow } from '../storage/people/user-rows.ts';
import { holdActiveUser } from '../storage/people/user-writer.ts';
import { findUser } from '../storage/people/users.ts';
import { type AccountTexts, accountTextsOf } from '../texts/account/account-texts.ts';
import { rememberLanguage } from './known-language.ts';

type VisitDeps = PasskeyDeps & AppSignInDeps & Parts<'activity' | 'outbound' | 'rateLimiter'>;

interface AccountSession extends AppSession {
  /** How the person signed in (RFC 8176). */
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** When, in seconds since the epoch. */
  readonly authTimeSeconds: number;
}

export interface AccountVisit {
  readonly app: FastifyInstance;
  readonly services: VisitDeps;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly session: AccountSession;
  /** The person; their id is the only one a page may act for. */
  readonly user: UserRow;
  readonly language: Language;
  readonly words: AccountTexts;
  /** Path below /account. */
  readonly at: string;
  readonly query: URLSearchParams;
}

/** The visit of whoever is signed in; undefined: nobody is, or their session ended. */
export async function openVisit(
  app: FastifyInstance,
  services: VisitDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<AccountVisit | undefined> {
  const { tenant } = request;
  const tokens = await currentSession(app, services, accountApp, request, reply);
  if (tokens === undefined) return undefined;
  const holder = await services.database.read(tenant.id, (queries) => findHolder(queries, tenant.id, tokens.grantId));
  if (holder === undefined) return undefined;
  const { user, amr, acr, authTimeSeconds } = holder;
  if (services.clock.nowMs() / 1000 - authTimeSeconds > accountSessionSeconds) return undefined;
  request.auditActor = `user:${user.id}`;
  const language = languageOf(request, user);
  rememberLanguage(request, language);
  const url = new URL(request.url, tenant.baseUrl);
  const session = { ...tokens, amr, acr, authTimeSeconds };
  const words = accountTextsOf(language);
  return { app, services, request, reply, session, user, language, words, at: appPathOf(accountApp, url), query: url.searchParams };
}

async function findHolder(
  queries: Queries,
  tenant: TenantId,
  grantId: GrantId,
): Promise<({ readonly user: UserRow } & Pick<AccountSession, 'amr' | 'acr' | 'authTimeSeconds'>) | undefined> {
  const grant = await findGrant(queries, tenant, grantId);
  if (grant === undefined || grant.revoked_at !== null || grant.client_id !== accountApp.clientId) return undefined;
  const user = await findUser(queries, tenant, grant.user_id);
  return user?.state === 'active'
    ? { user, amr: JSON.parse(grant.amr), acr: grant.acr ?? undefined, authTimeSeconds: grant.auth_time }
    : undefined;
}

/**
 * Whether the session of a visit is still one, asked in the transaction that adds a way in: whoever ends it waits until that is written,
 * and ends that, too, as far as they end what it made (revokeGrantsOfUser, and recoveries, which hold the person first).
 */
export const holdSession = async (queries: Queries, { request, session, user }: AccountVisit): Promise<boolean> =>
  (await holdActiveUser(queries, request.tenant.id, user.id)) && (await holdGrant(queries, request.tenant.id, session.grantId));

/** The language of the person, else of the request, else English. */
export const languageOf = (request: FastifyRequest, user?: UserRow): Language => languageFor(user, request.headers['accept-language']);

/** Sends the browser to sign in and back to the page it asked for, or to `returnTo`; a post is not repeated. */
export function signInFirst(
  services: AppSignInDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  returnTo?: string,
): Promise<FastifyReply> {
  if (returnTo !== undefined) return startSignIn(services, accountApp, request, reply, { returnTo, again: true });
  const url = new URL(request.url, request.tenant.baseUrl);
  const asked = request.method === 'GET' ? `${appPathOf(accountApp, url)}${url.search}` : '';
  return startSignIn(services, accountApp, request, reply, { returnTo: asked });
}

/** Whether the person signed in lately enough to add another way of signing in. */
export const isFresh = ({ services, session }: AccountVisit): boolean =>
  services.clock.nowMs() / 1000 - session.authTimeSeconds <= accountFreshSeconds;

/** Whether the person signed in by a key of theirs: phone or passkey (RFC 8176 `hwk`, `swk`). */
export const isByKey = ({ session }: AccountVisit): boolean => session.amr.includes('hwk') || session.amr.includes('swk');

const [, recoveryAmr] = authenticationContexts[recoveryMethod].amr;
/** Whether a recovery code let them in. */
export const isByRecoveryCode = ({ session }: AccountVisit): boolean => session.amr.includes(recoveryAmr!);

/** Who does it, for audit records. */
export const byOf = ({ user, request }: AccountVisit): By => ({ actor: `user:${user.id}`, requestId: request.id });

/** The person as the one their own account is changed for. */
export const selfOf = (visit: AccountVisit): Self => ({ tenant: visit.request.tenant, userId: visit.user.id, by: byOf(visit) });

export const pathTo = ({ request }: AccountVisit, path: string): string => appPath(accountApp, request.tenant, path);

/** Answers with a page. A bad notice makes it 400, unless another status is given; `?done=` of the address says what a post before did. */
export function showPage(
  visit: AccountVisit,
  title: string,
  content: Html,
  more: { readonly notice?: Notice; readonly script?: string; readonly status?: number } = {},
): FastifyReply {
  const notice = more.notice ?? doneNotice(visit);
  const page = appPage({ ...frameOf(visit), notice, script: more.script }, title, content);
  return visit.reply
    .code(more.status ?? (more.notice?.kind === 'bad' ? 400 : 200))
    .headers(page.headers)
    .send(page.markup);
}

/** After a post: 303 to a page that says what was done. */
export const goTo = (visit: AccountVisit, path: string, done?: Done): FastifyReply =>
  redirect(visit.reply, pathTo(visit, done === undefined ? path : `${path}?done=${done}`));

/** Texts that say what was done: `doneX` in the catalogs. */
export type Done = Extract<keyof AccountTexts, `done${string}`>;

function doneNotice({ query, words }: AccountVisit): Notice | undefined {
  const done = query.get('done') ?? '';
  if (!done.startsWith('done') || !Object.hasOwn(words, done)) return undefined;
  return { kind: 'good', text: words[done as Done] }; // an own key that starts so
}

export function frameOf(visit: AccountVisit): Frame {
  const { request, session, user, language, words, at } = visit;
  return { ...frameBefore(request, language), tenant: request.tenant, person: displayNameOf(user), csrf: session.csrf, at, words };
}

/** The attributes people write themselves. */
export const ownAttributesOf = ({ customAttributes }: Tenant): readonly CustomAttribute[] =>
  customAttributes.filter(({ edit }) => edit === 'person');

/** Whether people have recovery codes here. */
export const hasRecoveryCodes = ({ settings }: Tenant): boolean => offersRecovery(settings, askedNothing);
const askedNothing = { kind: 'oidc', acr_values: null, external_identity: null };

/** Where one can go: path, name, what it is for. The overview shows all but itself. */
export const sectionsOf = (words: AccountTexts, tenant: Tenant): readonly (readonly [path: string, name: string, text: string])[] => [
  ['', words.overview, ''],
  ['/devices', words.devices, words.devicesLead],
  ['/passkeys', words.passkeys, words.passkeysLead],
  ...(hasRecoveryCodes(tenant) ? [['/recovery-codes', words.recoveryCodes, words.recoveryCodesLead] as const] : []),
  ['/sessions', words.sessions, words.sessionsLead],
  ...(tenant.organizations.exist ? [['/organizations', words.organizations, words.organizationsLead] as const] : []),
  ['/activity', words.activity, words.activityLead],
  ...(ownAttributesOf(tenant).length === 0 ? [] : [['/details', words.details, words.detailsLead] as const]),
  ['/language', words.language, words.languageLead],
];

/** The frame of a page that nobody needs to be signed in for. */
export function frameBefore(request: FastifyRequest, language: Language): Frame {
  const words = accountTextsOf(language);
  const sections = sectionsOf(words, request.tenant);
  return { own: accountApp, tenant: request.tenant, language, words, sections, person: undefined, csrf: '', at: '' };
}

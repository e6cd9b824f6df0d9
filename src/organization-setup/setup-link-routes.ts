// The pages of a set-up link. The token is in the fragment; only the post uses the link up, for the one browser
// that sent it, which goes on by a cookie until the link's time is over or it is taken back. Nobody is signed in here.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSecret } from '../crypto/secret-hash.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { accountApp } from '../first-party/account-client.ts';
import { checkForm } from '../first-party/app-form.ts';
import { appPage } from '../first-party/app-page.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import type { DefineRoutes } from '../http/lazy-surface.ts';
import { readField, refuseForeignOrigin } from '../http/page-request.ts';
import type { Services } from '../http/services.ts';
import type { Handler } from '../http/surface.ts';
import { recordRefusal, sharedError } from '../http/surface-errors.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { takeTokenScript, tokenCharsMax, tokenField } from '../pages/token-link.ts';
import { soleCookie } from '../platform/cookies.ts';
import { html } from '../platform/html.ts';
import { randomSecret } from '../platform/random.ts';
import { consumeSetupLink, findSetupVisit } from '../storage/organizations/setup-links.ts';
import { insertAuditEvent } from '../storage/records/audit-events.ts';
import { accountTextsOf } from '../texts/account/account-texts.ts';
import { setupPageCatalogs } from '../texts/organization-setup-texts.ts';
import { welcomeCatalogs } from '../texts/welcome-texts.ts';
import { pathBelow, type Setup, type TrialSteps } from './setup.ts';
import { setupRoutes } from './setup-routes.ts';

const base = '/organization-setup';

export function setupLinkRoutes(services: Services, steps: TrialSteps): DefineRoutes {
  return (route) => {
    route('', {
      GET: (request, reply) => send(reply, 200, linkPage(request, false)),
      POST: (request, reply) => open(services, request, reply),
    });
    const visitor =
      (work: (setup: Setup, params: Readonly<Record<string, string>>) => Promise<FastifyReply>): Handler =>
      async (request, reply) =>
        work(await setupOf(services, request, reply), request.params as Readonly<Record<string, string>>); // string parameters of the path
    setupRoutes(
      route,
      '/steps',
      {
        page: visitor,
        form: (work) =>
          visitor((setup, params) => {
            const typed = new URLSearchParams(typeof setup.request.body === 'string' ? setup.request.body : '');
            return work(setup, checkForm(setup.request, setup, typed), params);
          }),
      },
      steps,
    );
  };
}

const languageOf = (request: FastifyRequest): Language => negotiateLanguage(request.headers['accept-language']);
const send = (reply: FastifyReply, status: number, page: Page): FastifyReply => reply.code(status).headers(page.headers).send(page.markup);

function linkPage(request: FastifyRequest, hasFailed: boolean): Page {
  const { tenant } = request;
  const language = languageOf(request);
  const words = setupPageCatalogs[language];
  return renderPage({
    language,
    tenant,
    title: words.linkTitle(tenant.name),
    script: takeTokenScript,
    body: html`<h1>${words.linkTitle(tenant.name)}</h1>
<p class="lead">${words.linkLead}</p>
${hasFailed && html`<div class="alert" role="alert" id="alert">${words.usedLink}</div>`}
<form method="post" action="${pathBelow({ request, base })}">${tokenField(welcomeCatalogs[language].code, '')}<button id="continue" autofocus>${welcomeCatalogs[language].continue}</button></form>`,
  });
}

const isHttps = ({ baseUrl }: Tenant): boolean => baseUrl.startsWith('https:');
/** `__Host-` needs path `/`, so tenants below one host are told apart by the name. */
const cookieName = (tenant: Tenant): string => `${isHttps(tenant) ? '__Host-' : ''}gh-organization-setup-${tenant.slug}`;

/** The post of the link. */
async function open(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  refuseForeignOrigin(request);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', request.clientAddress);
  const token = readField(request, 'token', tokenCharsMax);
  const cookie = randomSecret();
  const link = await services.database.write(tenant.id, async (queries) => {
    const used = await consumeSetupLink(queries, tenant.id, { tokenHash: hashSecret(token), visitHash: hashSecret(cookie) });
    if (used === undefined) return undefined;
    await insertAuditEvent(queries, tenant.id, services.clock.nowMs(), {
      ...{ type: 'organization.setup_link_used', actor: `setup_link:${used.id}`, target: `organization:${used.organization_id}` },
      requestId: request.id,
      data: { link: used.id, ip: request.clientAddress },
    });
    return used;
  });
  if (link === undefined) {
    recordRefusal(services, request, sharedError('management', 'not_found', 'setup_link'));
    return send(reply, 404, linkPage(request, true));
  }
  const seconds = Math.max(1, Math.floor((link.expires_at - services.clock.nowMs()) / 1000));
  const secure = isHttps(tenant) ? '; Secure' : '';
  return reply
    .code(303)
    .headers({
      'set-cookie': `${cookieName(tenant)}=${cookie}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
      location: pathBelow({ request, base }, '/steps'),
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    })
    .send();
}

/** Whoever opened the link in this browser. @throws management.not_found for everybody else, and once it is over */
async function setupOf(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<Setup> {
  const { tenant } = request;
  const cookie = soleCookie(request.headers.cookie, cookieName(tenant)) ?? '';
  const link = await services.database.read(tenant.id, (queries) => findSetupVisit(queries, tenant.id, hashSecret(cookie)));
  if (cookie === '' || link === undefined) throw sharedError('management', 'not_found', 'no_setup');
  const actor = `setup_link:${link.id}`;
  request.auditActor = actor;
  const language = languageOf(request);
  const csrf = hashSecret(`csrf ${cookie}`);
  return {
    ...{ services, request, reply, language, csrf, base: `${base}/steps`, organizationId: link.organization_id },
    by: { actor, requestId: request.id },
    show: (title, content, notice, status) => {
      const frame = { own: accountApp, tenant, language, words: accountTextsOf(language), person: undefined, csrf, at: '' };
      const page = appPage({ ...frame, notice }, title, content);
      return send(reply, status ?? 200, page);
    },
  };
}

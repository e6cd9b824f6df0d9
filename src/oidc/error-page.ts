// Errors of the endpoints a browser visits, as a page for people: same status, same meaning, only when the browser asks for it.
// The endpoints that only programs call always answer JSON.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import { negotiateLanguage } from '../domain/language.ts';
import { ssoPolicyOf } from '../domain/sign-in/sso-session.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Page } from '../pages/page.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { type Html, html } from '../platform/html.ts';
import { pageTextsOf } from '../texts/pages/page-texts.ts';

const visited = /^\/v1\/idp\/oidc\/(?:authorize|logout)(?:\/browser)?(?:\?|$)/;
const logoutPath = /^\/v1\/idp\/oidc\/logout(?:\?|$)/;

export const presentError = (answer: Answer, request: FastifyRequest): Page | undefined =>
  visited.test(request.url) ? presentErrorPage(answer, request, { action: signOutButton(answer, request) }) : undefined;

/** What a person may do whose application could not sign them out: end this browser's sessions by hand (design 14, 1). */
function signOutButton({ status }: Answer, request: FastifyRequest): Html | undefined {
  const tenant = request.tenant as Tenant | null; // null until the tenant is known: the target itself may be what is refused
  if (tenant === null) return undefined;
  if (status !== 400 || !logoutPath.test(request.url) || ssoPolicyOf(tenant.settings.sso_session) === undefined) return undefined;
  const path = `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}/v1/idp/oidc/logout/browser`;
  const { signOutOfBrowser } = pageTextsOf(negotiateLanguage(request.headers['accept-language']));
  return html`<form method="post" action="${path}"><button id="sign-out">${signOutOfBrowser}</button></form>`;
}

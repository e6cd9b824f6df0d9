// {base_url}/welcome/stop: “that was not me”. A link of the mail that tells of a recovery opens it; its only form stops the recovery.
// Works without script: the token is in the address, and all it can do is stop.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { InvitationDeps } from '../approvals/invitations.ts';
import { stopRecovery } from '../approvals/recovery/recoveries.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { readField, refuseForeignOrigin, wantsJson } from '../http/page-request.ts';
import type { Parts } from '../http/services.ts';
import type { SurfaceDeps } from '../http/surface.ts';
import { recordRefusal, sharedError } from '../http/surface-errors.ts';
import { icons } from '../pages/icons.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { tokenCharsMax, tokenField } from '../pages/token-link.ts';
import { type Html, html } from '../platform/html.ts';
import { type WelcomeTexts, welcomeCatalogs } from '../texts/welcome-texts.ts';
import { pathBelow, welcomeLanguage } from './welcome-page.ts';

export type StopDeps = InvitationDeps & SurfaceDeps & Parts<'rateLimiter'>;

export function stopQuestion(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { token } = request.query as { token?: unknown }; // a parsed query string
  const known = typeof token === 'string' && token.length <= tokenCharsMax ? token : '';
  return send(reply, 200, questionPage(request, known, false));
}

export async function takeStop(services: StopDeps, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  refuseForeignOrigin(request);
  const { tenant, clientAddress } = request;
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', clientAddress);
  const token = readField(request, 'token', tokenCharsMax);
  const by = { requestId: request.id, asked: request.headers['accept-language'] };
  if (await stopRecovery(services, tenant, token, by)) {
    if (!wantsJson(request)) return send(reply, 200, stoppedPage(request));
    return reply
      .header('cache-control', 'no-store')
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ state: 'stopped' }));
  }
  const refused = sharedError('management', 'not_found', 'recovery');
  if (wantsJson(request)) throw refused;
  recordRefusal(services, request, refused);
  return send(reply, 404, questionPage(request, '', true));
}

const send = (reply: FastifyReply, status: number, page: Page): FastifyReply => reply.code(status).headers(page.headers).send(page.markup);

function questionPage(request: FastifyRequest, token: string, hasFailed: boolean): Page {
  return pageOf(
    request,
    (words) => words.stopTitle,
    (words) => html`<h1>${words.stopTitle}</h1>
<p class="lead">${words.stopText}</p>
${hasFailed && html`<div class="alert" role="alert" id="alert">${words.stopUnknown}</div>`}
<form method="post" action="${pathBelow(request.tenant, '/welcome/stop')}">
${token === '' ? tokenField(words.stopCode, '') : html`<input type="hidden" name="token" value="${token}">`}
<button id="stop">${words.stopNow}</button>
</form>`,
  );
}

const stoppedPage = (request: FastifyRequest): Page =>
  pageOf(
    request,
    (words) => words.stoppedTitle,
    (words) => html`<div class="center"><div class="badge good">${icons.check}</div>
<h1>${words.stoppedTitle}</h1>
<p class="lead">${words.stoppedText}</p></div>`,
  );

function pageOf(request: FastifyRequest, title: (words: WelcomeTexts) => string, body: (words: WelcomeTexts) => Html): Page {
  const language = welcomeLanguage(request);
  const words = welcomeCatalogs[language];
  return renderPage({ language, tenant: request.tenant, title: title(words), body: body(words) });
}

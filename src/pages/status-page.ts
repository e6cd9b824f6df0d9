// Pages that only say something: an error of the contract for a person (contract 7.3 as HTML, design 03), and signed out.
// Used by any surface through SurfaceDefinition.present or its own handler.
import type { FastifyRequest } from 'fastify';
import type { Answer } from '../contract/envelopes.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { prefersHtml } from '../platform/accept.ts';
import { type Html, html } from '../platform/html.ts';
import { type PageTexts, pageTextsOf } from '../texts/pages/page-texts.ts';
import { icons } from './icons.ts';
import { type Page, renderPage } from './page.ts';

/** The error as a page when the request's Accept ranks HTML above JSON, else undefined: for SurfaceDefinition.present. */
export function presentErrorPage(
  answer: Answer,
  request: FastifyRequest,
  options: { readonly language?: Language | undefined; readonly action?: Html | undefined } = {},
): Page | undefined {
  return prefersHtml(request.headers.accept) ? errorPage(answer, request, options.language, options.action) : undefined;
}

/** Says what happened in words of ours. The error's own text may be shown: it is what the JSON answer says too. */
function errorPage(
  answer: Answer,
  request: FastifyRequest,
  language = negotiateLanguage(request.headers['accept-language']),
  action?: Html,
): Page {
  const messages = pageTextsOf(language);
  const detail = answer.body['error_description'];
  return renderPage({
    language,
    tenant: request.tenant ?? undefined, // null until the tenant is known
    title: messages.errorTitle,
    body: html`<div class="center"><div class="badge bad">${icons.cross}</div>
<h1>${messages.errorTitle}</h1>
<p class="lead">${errorText(messages, answer.status)}</p></div>
<dl class="facts"><div><dt class="mono">error</dt><dd class="mono" id="error">${String(answer.body['error'])}</dd></div>
${typeof detail === 'string' && html`<div><dt class="mono">error_description</dt><dd class="mono">${detail}</dd></div>`}
<div><dt>${messages.requestId}</dt><dd class="mono">${request.id}</dd></div></dl>${action}`,
  });
}

function errorText(messages: PageTexts, status: number): string {
  if (status === 404) return messages.errorNotFound;
  if (status === 403) return messages.errorForbidden;
  if (status === 429) return messages.errorBusy;
  return status >= 500 ? messages.errorServer : messages.errorClient;
}

/** What RP-initiated logout shows when it has nowhere to redirect to. */
export function signedOutPage(request: FastifyRequest): Page {
  const language = negotiateLanguage(request.headers['accept-language']);
  const messages = pageTextsOf(language);
  return renderPage({
    language,
    tenant: request.tenant,
    title: messages.signedOutTitle,
    body: html`<div class="center"><div class="badge good">${icons.check}</div>
<h1 id="signed-out">${messages.signedOutTitle}</h1>
<p class="lead">${messages.signedOutText}</p></div>`,
  });
}

// The page by which a browser posts an authorization response to its client (OAuth 2.0 Form Post Response Mode): at once with
// scripts, by its button without. Nothing can be posted anywhere but to the redirect_uri's own origin.

import type { Language } from '../domain/language.ts';
import type { Destination } from '../domain/oidc/authorization-response.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { html } from '../platform/html.ts';
import { pageTextsOf } from '../texts/pages/page-texts.ts';
import { type Page, renderPage } from './page.ts';

type FormPost = Required<Destination>;

export const isFormPost = (destination: Destination): destination is FormPost => destination.fields !== undefined;

export function formPostPage(tenant: Tenant, language: Language, { location, fields }: FormPost): Page {
  const texts = pageTextsOf(language);
  const { markup, headers } = renderPage({
    language,
    tenant,
    title: texts.returningTitle,
    body: html`<form method="post" action="${location}" id="response">
<h1>${texts.returningTitle}</h1>
${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<button id="continue">${texts.continue}</button>
</form>`,
    script: "document.getElementById('response').submit()",
  });
  const policy = `${headers['content-security-policy']}; form-action ${sourceOf(location)}`;
  return { markup, headers: { ...headers, 'content-security-policy': policy } };
}

/** The origin as a policy names it; an app's own scheme has none, so it is the scheme. */
function sourceOf(location: string): string {
  const { origin, protocol } = new URL(location);
  return origin === 'null' ? protocol : origin;
}

// {base_url}/setup: where the single-use link of an administrator leads. The token is in the fragment; a small script puts it
// into the form, and without scripts it is typed or pasted. The post consumes the token, makes the administrator and leads on to
// the page of an invitation, where they add a passkey or phone. With `?for=recovery` it lets one in again and asks for nothing.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type SetUp, setUpAdministrator } from '../administration/admin-setup.ts';
import { ContractError, reject } from '../contract/contract-error.ts';
import { render } from '../contract/envelopes.ts';
import { emailCharsMax, loginBodyBytesMax, nameCharsMax } from '../contract/limits.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { enforceRateLimit } from '../http/budgets/rate-limits.ts';
import { badField, readField, readOptionalField, refuseForeignOrigin, wantsJson } from '../http/page-request.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { sharedError } from '../http/surface-errors.ts';
import { type Page, renderPage } from '../pages/page.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import { takeTokenScript, tokenCharsMax, tokenField } from '../pages/token-link.ts';
import { html } from '../platform/html.ts';
import type { Queries } from '../storage/engine/database.ts';
import { type SetupTexts, setupCatalogs } from '../texts/setup-texts.ts';
import { welcomeCatalogs } from '../texts/welcome-texts.ts';
import { isRecovery, pathBelow } from './welcome-page.ts';
import { toWays } from './welcome-surface.ts';
import { admitToVisit } from './welcome-visit.ts';

export function registerSetup(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    {
      name: 'setup',
      envelope: 'management',
      prefix: '/setup',
      bodies: { 'application/x-www-form-urlencoded': 'form', 'application/json': 'raw' },
      bodyBytesMax: loginBodyBytesMax,
      ofTenant: true,
      isPages: true,
      present: presentErrorPage,
    },
    (route) => {
      route('', {
        GET: (request, reply) => sendPage(reply, 200, formPage(request, {}, undefined)),
        POST: (request, reply) => setUp(services, request, reply),
      });
    },
  );
}

async function setUp(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { tenant } = request;
  refuseForeignOrigin(request);
  await enforceRateLimit(services.rateLimiter, tenant, 'management', 'login_starts_per_ip', request.clientAddress);
  try {
    const { done, cookie } = await redeem(services, request);
    if (cookie !== undefined) return toWays(request, reply.header('set-cookie', cookie));
    const { userId, enrollmentToken, qrUri, expiresAtMs } = done;
    const expiresAt = new Date(expiresAtMs).toISOString();
    const answer = { user_id: userId, enrollment_token: enrollmentToken, qr_uri: qrUri, expires_at: expiresAt };
    return reply.code(201).header('cache-control', 'no-store').type('application/json; charset=utf-8').send(JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof ContractError) || wantsJson(request)) throw error;
    const { status, body } = render(error);
    const alert = alertOf(setupCatalogs[languageOf(request)], status, body['kind']);
    if (alert === undefined) throw error;
    return sendPage(reply, status, formPage(request, valuesOf(request), alert));
  }
}

const languageOf = (request: FastifyRequest): Language => negotiateLanguage(request.headers['accept-language']);

/** What a refusal says to people; undefined for one the form has no words for. */
function alertOf(words: SetupTexts, status: number, kind: unknown): string | undefined {
  if (status === 404) return words.usedLink;
  if (status === 409) return words.emailTaken;
  if (status !== 400) return undefined;
  return kind === 'email' ? words.badEmail : words.badForm;
}

interface Redeemed {
  readonly done: SetUp;
  /** Of the visit, for a browser. */
  readonly cookie: string | undefined;
}

async function redeem(services: Services, request: FastifyRequest): Promise<Redeemed> {
  const token = readField(request, 'token', tokenCharsMax);
  const email = isRecovery(request) ? undefined : readField(request, 'email', emailCharsMax);
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email)) throw badField('email', 'form', 'an address such as ada@example.com');
  const displayName = readOptionalField(request, 'display_name', nameCharsMax);
  let cookie: string | undefined;
  const visit = async (queries: Queries, { userId, enrollmentToken, ...link }: SetUp): Promise<void> => {
    if (!wantsJson(request)) cookie = await admitToVisit(queries, services, request.tenant, userId, { token: enrollmentToken, ...link });
  };
  const outcome = await setUpAdministrator(services, request.tenant, { token, email, displayName }, request.id, visit);
  if (outcome.ok) return { done: outcome.setUp, cookie };
  if (outcome.reason === 'taken')
    throw reject('management.conflict', 'email_taken', { kind: 'email', text: 'The email address is in use.' });
  throw sharedError('management', 'not_found', 'setup_token');
}

function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(page.headers).send(page.markup);
}

type Values = Readonly<Record<string, string | undefined>>;

/** What was typed, so that nobody types it twice. */
function valuesOf(request: FastifyRequest): Values {
  const typed = (name: string): string | undefined => {
    try {
      return readOptionalField(request, name, nameCharsMax);
    } catch {
      return undefined; // too long to be right
    }
  };
  return { email: typed('email'), display_name: typed('display_name'), token: typed('token') };
}

function formPage(request: FastifyRequest, values: Values, alert: string | undefined): Page {
  const { tenant } = request;
  const language = languageOf(request);
  const words = setupCatalogs[language];
  const recovers = isRecovery(request);
  const title = recovers ? words.recoveryTitle : words.title;
  const asked =
    !recovers &&
    html`<p><label for="email">${words.email}</label>
<input id="email" name="email" type="email" value="${values['email'] ?? ''}" required maxlength="${emailCharsMax}" autocomplete="email" autofocus></p>
<p><label for="display-name">${words.name}</label>
<input id="display-name" name="display_name" type="text" value="${values['display_name'] ?? ''}" maxlength="${nameCharsMax}" autocomplete="name"></p>`;
  return renderPage({
    language,
    tenant,
    title,
    script: takeTokenScript,
    body: html`<h1>${title}</h1>
<p class="lead">${recovers ? welcomeCatalogs[language].recoveryLead : words.lead(tenant.name)}</p>
${alert !== undefined && html`<div class="alert" role="alert" id="alert">${alert}</div>`}
<form method="post" action="${pathBelow(tenant, recovers ? '/setup?for=recovery' : '/setup')}">
${asked}${tokenField(words.code, values['token'] ?? '')}
<button id="continue"${recovers && html` autofocus`}>${words.continue}</button>
</form>`,
  });
}

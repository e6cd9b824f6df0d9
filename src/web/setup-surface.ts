// {base_url}/setup: where the single-use link of an administrator leads. The token is in the fragment; a small script puts it
// into the form, and without scripts it is typed or pasted. The post consumes the token, makes the administrator and shows
// the enrolment link for the first phone.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type SetUp, setUpAdministrator } from '../administration/admin-setup.ts';
import { ContractError, reject } from '../contract/contract-error.ts';
import { render } from '../contract/envelopes.ts';
import { emailCharsMax, loginBodyBytesMax, nameCharsMax } from '../contract/limits.ts';
import { type Language, negotiateLanguage } from '../domain/language.ts';
import { icons } from '../http/pages/icons.ts';
import { type Page, renderPage } from '../http/pages/page.ts';
import { presentErrorPage } from '../http/pages/status-page.ts';
import { enforceRateLimit } from '../http/rate-limits.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { sharedError } from '../http/surface-errors.ts';
import { html } from '../platform/html.ts';
import { badField, readField, readOptionalField, refuseForeignOrigin, wantsJson } from './login-request.ts';
import { qrCode } from './qr-code.ts';
import { type SetupWords, setupCatalogs } from './setup-words.ts';

const tokenCharsMax = 100;

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
    const done = await redeem(services, request);
    if (!wantsJson(request)) return sendPage(reply, 200, await donePage(request, done));
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
function alertOf(words: SetupWords, status: number, kind: unknown): string | undefined {
  if (status === 404) return words.usedLink;
  if (status === 409) return words.emailTaken;
  if (status !== 400) return undefined;
  return kind === 'email' ? words.badEmail : words.badForm;
}

async function redeem(services: Services, request: FastifyRequest): Promise<SetUp> {
  const token = readField(request, 'token', tokenCharsMax);
  const email = readField(request, 'email', emailCharsMax);
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) throw badField('email', 'form', 'an address such as ada@example.com');
  const displayName = readOptionalField(request, 'display_name', nameCharsMax);
  const outcome = await setUpAdministrator(services, request.tenant, { token, email, displayName }, request.id);
  if (outcome.ok) return outcome.setUp;
  if (outcome.reason === 'taken')
    throw reject('management.conflict', 'email_taken', { kind: 'email', text: 'The email address is in use.' });
  throw sharedError('management', 'not_found', 'setup_token');
}

function sendPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  return reply.code(status).headers(page.headers).send(page.markup);
}

const script = `const field=document.getElementById('token'),take=()=>{if(location.hash.length>1){field.value=location.hash.slice(1);field.closest('div').hidden=true;history.replaceState(null,'',location.pathname)}};take();addEventListener('hashchange',take)`;

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
  const path = `${new URL(tenant.baseUrl).pathname.replace(/\/$/, '')}/setup`;
  return renderPage({
    language,
    tenant,
    title: words.title,
    script,
    body: html`<h1>${words.title}</h1>
<p class="lead">${words.lead(tenant.name)}</p>
${alert !== undefined && html`<div class="alert" role="alert" id="alert">${alert}</div>`}
<form method="post" action="${path}">
<p><label for="email">${words.email}</label>
<input id="email" name="email" type="email" value="${values['email'] ?? ''}" required maxlength="${emailCharsMax}" autocomplete="email" autofocus></p>
<p><label for="display-name">${words.name}</label>
<input id="display-name" name="display_name" type="text" value="${values['display_name'] ?? ''}" maxlength="${nameCharsMax}" autocomplete="name"></p>
<div><label for="token">${words.code}</label>
<input id="token" name="token" type="text" value="${values['token'] ?? ''}" required maxlength="${tokenCharsMax}" autocomplete="off" spellcheck="false"></div>
<button id="continue">${words.continue}</button>
</form>`,
  });
}

async function donePage(request: FastifyRequest, { qrUri }: SetUp): Promise<Page> {
  const { tenant } = request;
  const language = languageOf(request);
  const words = setupCatalogs[language];
  const base = new URL(tenant.baseUrl);
  const onThisMachine = base.protocol === 'http:'; // plain http is loopback or development
  const code = await qrCode(qrUri, words.qrLabel);
  const byMail = tenant.settings.login_methods.includes('email_pin');
  return renderPage({
    language,
    tenant,
    title: words.doneTitle,
    body: html`<div class="center"><div class="badge good">${icons.check}</div><h1>${words.doneTitle}</h1>
<p class="lead">${words.doneText}</p>
<p id="qr">${code}</p></div>
<p><a id="enroll" href="${qrUri}">${words.enrollHere}</a></p>
${onThisMachine && html`<p class="hint">${words.simulator}</p><p class="mono" id="simulator">./bin/gatehouse phone enrol --link '${qrUri}'</p>`}
<p><a class="button" id="console" href="${base.pathname.replace(/\/$/, '')}/console">${words.openConsole}</a></p>
${byMail && html`<p>${words.byMail}</p>`}`,
  });
}

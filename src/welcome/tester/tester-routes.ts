// The pages of the tester: what to ask for, and what came back: claims, tokens and the request id of each call. Open to developers on
// their own machine and to administrators who are signed in to the console. Loaded by tester-surface.ts.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { identifierCharsMax, textCharsMax } from '../../contract/limits.ts';
import { parseJwt } from '../../crypto/signing/jwt.ts';
import { ownClientPrefix } from '../../domain/client/own-clients.ts';
import type { ClientId } from '../../domain/ids.ts';
import { type ApiAnswer, callApi } from '../../first-party/app-api.ts';
import { appPage, table } from '../../first-party/app-page.ts';
import { clearCookie, openNote, sealNoteThatFits } from '../../first-party/app-session.ts';
import { currentSession, exchangeCode, redirect, startSignIn } from '../../first-party/app-sign-in.ts';
import { consoleApp } from '../../first-party/console-client.ts';
import { appPath, type FirstPartyApp } from '../../first-party/first-party-app.ts';
import { isDeveloper } from '../../http/development.ts';
import type { DefineRoutes } from '../../http/lazy-surface.ts';
import type { Services } from '../../http/services.ts';
import type { Handler } from '../../http/surface.ts';
import { type Html, html } from '../../platform/html.ts';

const testerApp: FirstPartyApp = {
  name: 'try',
  clientId: `${ownClientPrefix}try` as ClientId, // a fixed id of ours
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  resourceOf: () => undefined,
};

/** How long a result can be loaded again. */
const resultSeconds = 600;

/** Who signs in first where there is a sample tenant (first-start.ts). */
const sampleHints: Readonly<Record<string, string>> = { sample: 'ada@example.com' };

export function testerRoutes(app: FastifyInstance, services: Services): DefineRoutes {
  const guarded =
    (work: (request: FastifyRequest, reply: FastifyReply, visitor: string) => Promise<FastifyReply> | FastifyReply): Handler =>
    async (request, reply) => {
      const visitor = await visitorOf(app, services, request, reply);
      return visitor === undefined ? closedPage(request, reply) : work(request, reply, visitor);
    };
  return (route) => {
    route('', { GET: guarded(startPage) });
    route('/start', { GET: guarded((request, reply) => start(services, request, reply)) });
    route('/callback', { GET: guarded((request, reply, visitor) => end(app, services, request, reply, visitor)) });
    route('/result', { GET: guarded((request, reply, visitor) => kept(app, services, request, reply, visitor)) });
  };
}

/** A developer, or the session of somebody whose console the Management API takes; undefined for everybody else. */
async function visitorOf(
  app: FastifyInstance,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string | undefined> {
  if (isDeveloper(services, request)) return 'developer';
  const session = await currentSession(app, services, consoleApp, request, reply);
  if (session === undefined) return undefined;
  const answer = await callApi(app, request, { method: 'GET', path: '/v1/management/settings', bearer: session.accessToken });
  return answer.status === 200 ? session.grantId : undefined;
}

function show(request: FastifyRequest, reply: FastifyReply, status: number, title: string, content: Html): FastifyReply {
  const words = { skip: 'Skip to content', navigation: 'Tester', signOut: 'Sign out' };
  const { tenant } = request;
  const frame = { own: testerApp, tenant, language: 'en', words, sections: [], person: undefined, csrf: '', at: '' } as const;
  const page = appPage(frame, title, content);
  return reply.code(status).headers(page.headers).send(page.markup);
}

const closedPage = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  show(
    request,
    reply,
    403,
    'The tester is for administrators',
    html`<p>Sign in to the console as an administrator of ${request.tenant.name}, then open this page again.</p>
<p><a class="button" id="console" href="${appPath(consoleApp, request.tenant, '')}">Open the console</a></p>`,
  );

function startPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { tenant } = request;
  return show(
    request,
    reply,
    200,
    'Try a sign-in',
    html`<p>You sign in as a person of ${tenant.name} would. Then you see what an application gets: claims, tokens, and the id of each request.</p>
<form class="card" action="${appPath(testerApp, tenant, '/start')}">
<div class="field"><label for="login-hint">Email or user name</label><input id="login-hint" name="login_hint" maxlength="${identifierCharsMax}" autocomplete="off" spellcheck="false" value="${sampleHints[tenant.slug] ?? ''}" aria-describedby="hint-hint"><p class="hint" id="hint-hint">Filled in at the sign-in (login_hint). May stay empty.</p></div>
<div class="field"><label for="scope">Scopes</label><input id="scope" name="scope" maxlength="${textCharsMax}" autocomplete="off" spellcheck="false" value="openid profile email" aria-describedby="scope-hint"><p class="hint" id="scope-hint">Of: ${testerApp.scopes.join(' ')}.</p></div>
<button id="start">Sign in</button></form>`,
  );
}

function start(services: Services, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = new URL(request.url, request.tenant.baseUrl).searchParams;
  const typed = (name: string): string | undefined => query.get(name)?.trim() || undefined;
  const more = { loginHint: typed('login_hint'), scope: typed('scope') };
  return startSignIn(services, testerApp, request, reply, { returnTo: '', ...more });
}

const againLink = (request: FastifyRequest): Html =>
  html`<p><a class="button" id="again" href="${appPath(testerApp, request.tenant, '')}">Try again</a></p>`;

/** Takes the code of a callback, and leads to what came of it: a page that can be loaded again, whose address has no code in it. */
async function end(
  app: FastifyInstance,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: string,
): Promise<FastifyReply> {
  const query = new URL(request.url, request.tenant.baseUrl).searchParams;
  const exchanged = await exchangeCode(app, services, testerApp, request);
  if (!exchanged.ok && exchanged.reason === 'not_started') {
    const said = 'This sign-in was not started in this browser, or its result was shown before.';
    return show(request, reply, 400, 'Not signed in', html`<p>${said}</p>${againLink(request)}`);
  }
  const result: Result = exchanged.ok
    ? { visitor, callbackId: request.id, answer: exchanged.answer }
    : { visitor, error: query.get('error') ?? undefined, description: query.get('error_description') ?? '' };
  reply.header('set-cookie', clearCookie(testerApp, request.tenant, 'sign-in'));
  const to = { encryption: services.encryption, app: testerApp, tenant: request.tenant };
  const cookie = sealNoteThatFits(to, 'result', result, resultSeconds);
  if (cookie === undefined) return showResult(app, request, reply, result);
  return redirect(reply.header('set-cookie', cookie), appPath(testerApp, request.tenant, '/result'));
}

/** What a sign-in came to, kept in a cookie for whoever started it. */
type Result = { readonly visitor: string } & (
  | { readonly callbackId: string; readonly answer: ApiAnswer }
  | { readonly error: string | undefined; readonly description: string }
);

function kept(
  app: FastifyInstance,
  services: Services,
  request: FastifyRequest,
  reply: FastifyReply,
  visitor: string,
): Promise<FastifyReply> | FastifyReply {
  const result = openNote(services.encryption, testerApp, request, 'result') as Result | undefined; // sealed above
  if (result?.visitor === visitor) return showResult(app, request, reply, result);
  return show(
    request,
    reply,
    404,
    'No result',
    html`<p>A result is shown for ten minutes, in the browser that signed in.</p>${againLink(request)}`,
  );
}

async function showResult(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply, result: Result): Promise<FastifyReply> {
  if (!('answer' in result)) {
    const { error, description } = result;
    const rows = [
      ['error', error ?? ''],
      ['error_description', description],
    ];
    const shown = html`<p>No code came back.</p>${error !== undefined && table('The answer', ['Parameter', 'Value'], rows)}`;
    return show(request, reply, 400, 'Not signed in', html`${shown}${againLink(request)}`);
  }
  const { answer, callbackId } = result;
  if (answer.status !== 200)
    return show(
      request,
      reply,
      400,
      'The code was refused',
      html`${answerBox('Token endpoint', answer)}${explainHint(answer)}${againLink(request)}`,
    );
  const { access_token: accessToken, id_token: idToken } = answer.body as Readonly<Record<string, string>>; // a 200 of our own token endpoint
  const userInfo = await callApi(app, request, { method: 'GET', path: '/v1/idp/oidc/userinfo', bearer: accessToken! });
  return show(
    request,
    reply,
    200,
    `Signed in as ${nameIn(userInfo)}`,
    shownResult(request, { callbackId, answer, userInfo, accessToken: accessToken!, idToken }),
  );
}

const nameIn = ({ body }: ApiAnswer): string =>
  String(body['name'] ?? body['preferred_username'] ?? body['email'] ?? body['sub'] ?? 'somebody');

interface Completed {
  readonly callbackId: string;
  readonly answer: ApiAnswer;
  readonly userInfo: ApiAnswer;
  readonly accessToken: string;
  readonly idToken: string | undefined;
}

function shownResult(request: FastifyRequest, { callbackId, answer, userInfo, accessToken, idToken }: Completed): Html {
  const calls = [
    ['authorize', 'Answered with a code', callbackId],
    ['token', `${answer.status}`, answer.requestId],
    ['userinfo', `${userInfo.status}`, userInfo.requestId],
  ];
  return html`<section><h2>Claims of the ID token</h2>${idToken === undefined ? html`<p>There is none: the scope openid was not asked for.</p>` : claimsTable('Claims of the ID token', idToken)}</section>
<section><h2>Claims of the access token</h2>${claimsTable('Claims of the access token', accessToken)}</section>
<section><h2>UserInfo</h2>${objectTable('UserInfo', userInfo.body)}</section>
<section><h2>Requests</h2>${table('Requests', ['Call', 'Answer', 'Request id'], calls)}
<p class="hint">What happened in a request: <code>gatehouse explain &lt;request id&gt;</code>, or Explain in the console.</p></section>
<section><h2>Tokens</h2>${Object.entries(answer.body)
    .filter(([name]) => name.endsWith('_token'))
    .map(([name, value]) => html`<details><summary>${name}</summary><p class="mono">${String(value)}</p></details>`)}</section>
<div class="bar">${againLink(request)}${idToken !== undefined && html`<p><a class="button quiet" id="sign-out" href="${request.tenant.baseUrl}/v1/idp/oidc/logout?id_token_hint=${idToken}">Sign out</a></p>`}</div>`;
}

const claimsTable = (caption: string, token: string): Html => objectTable(caption, parseJwt(token)?.claims ?? {});

const timeClaims: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'auth_time']);

function objectTable(caption: string, object: Readonly<Record<string, unknown>>): Html {
  const shown = (name: string, value: unknown): string => {
    if (timeClaims.has(name) && typeof value === 'number') return `${value} (${new Date(value * 1000).toISOString()})`;
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  return table(
    caption,
    ['Claim', 'Value'],
    Object.entries(object).map(([name, value]) => [name, html`<span class="mono">${shown(name, value)}</span>`]),
  );
}

const answerBox = (title: string, { status, body }: ApiAnswer): Html =>
  html`<section><h2>${title}: ${status}</h2>${objectTable(title, body)}</section>`;

const explainHint = ({ requestId }: ApiAnswer): Html =>
  html`<p>Request id <code>${requestId}</code>: <code>gatehouse explain ${requestId}</code> says why.</p>`;

// The SCIM set-up wizard: the base URL, and then one of two credentials: a long-lived token for directories that want one, or a client that
// fetches its own. Each is tried as it is made, by a read of the tenant's own SCIM endpoint, and shown for ten minutes.
import type { FastifyReply } from 'fastify';
import { machineGrantType } from '../../domain/oidc/grant-types.ts';
import { callApi } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { badge } from '../console-page.ts';
import { finish, frameOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { mayChange, maySee } from '../frame/allowed.ts';
import { itemOf, secretOf } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import { makeToken, noticeFor, readWith, revokeToken, type Step, scopes, stepOf, type TokenPlace, tokenSection } from './scim-tokens.ts';

const defaultName = 'SCIM provisioning';

interface Credential {
  readonly clientId: string;
  readonly secret: string;
}

export async function scimPage(visit: Visit, shown: Shown = {}): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const { notice, steps, typed } = shown;
  const credential = credentialOf(visit);
  const path = (below: string): string => consolePath(tenant, `/scim${below}`);
  const csrf = csrfField(frameOf(visit));
  const tokens = await tokenSection(visit, ownTokens, typed);
  return showPage(
    visit,
    'Directories',
    html`${maySee(visit, '/directories') && html`<p>For directories that write here by SCIM. What speaks LDAP, such as Active Directory, OpenLDAP or FreeIPA, we read: see <a href="${consolePath(tenant, '/directories')}">LDAP directories</a>.</p>`}<ol class="steps">
<li><h2>Tell your directory where to provision</h2><p>Entra calls it the tenant URL, Okta the SCIM base URL.</p><pre id="scim-url">${tenant.baseUrl}${ownTokens.surface}</pre></li>
<li><h2>Give it a token</h2><p><b>Okta, JumpCloud, Google, OneLogin</b> and whatever wants one bearer token: it opens SCIM and nothing else, until it ends or you revoke it.</p>${tokens}</li>
<li><h2>Or an application that fetches its own</h2>${clientHelp(visit)}${credential === undefined ? makeForm(visit, csrf, path(''), typed) : madePanel(visit, credential)}
${steps !== undefined && resultList(steps)}${
  mayChange(visit, '/scim') &&
  html`<details${(steps !== undefined || credential !== undefined) && html` open`}><summary>Try an application</summary><form class="card" method="post" action="${path('/test')}">${csrf}
<div class="field"><label for="client-id">Client ID</label><input type="text" id="client-id" name="client_id" autocomplete="off" spellcheck="false" required value="${credential?.clientId ?? typed?.get('client_id') ?? ''}"></div>
<div class="field"><label for="client-secret">Client secret</label><input type="password" id="client-secret" name="client_secret" autocomplete="off" required value="${credential?.secret ?? ''}"></div>
<button id="try">Get a token and read one user</button></form></details>`
}</li>
</ol>`,
    notice,
  );
}

/** The tenant's own directory. */
const ownTokens: TokenPlace = { page: '/scim', api: '/scim-tokens', surface: '/scim/v2', show: scimPage };

export const makeScimToken = (visit: Visit, typed: Typed): Promise<FastifyReply> => makeToken(visit, ownTokens, typed);
export const revokeScimToken = (visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> =>
  revokeToken(visit, ownTokens, typed, params['token'] ?? '');

type Params = Readonly<Record<string, string>>;

interface Shown {
  readonly notice?: Notice;
  readonly steps?: readonly Step[];
  readonly typed?: Typed;
}

function makeForm(visit: Visit, csrf: Html, path: string, typed: Typed | undefined): Html | undefined {
  if (!mayChange(visit, '/scim')) return undefined;
  return html`<form class="card" method="post" action="${path}">${csrf}<div class="field"><label for="name">Name of the application</label><input type="text" id="name" name="name" required maxlength="200" value="${typed?.get('name') ?? defaultName}"></div>
<p class="hint">An application that signs in by its secret and may see and change the directory by SCIM. It is one like any other: rotate its secret or delete it under Applications.</p><div class="bar end"><button id="make">Make the application and try it</button></div></form>`;
}

function madePanel(visit: Visit, { clientId, secret }: Credential): Html {
  return html`<div class="panel"><p>Copy it now: this page shows it for ten minutes.</p><dl><dt>Client ID</dt><dd><code id="made-client-id">${clientId}</code></dd><dt>Client secret</dt><dd><code id="made-client-secret">${secret}</code></dd></dl><p><a href="${consolePath(visit.request.tenant, `/clients/${encodeURIComponent(clientId)}`)}">Open the application</a></p></div>`;
}

function clientHelp(visit: Visit): Html {
  const { tenant } = visit.request;
  return html`<p><b>Microsoft Entra</b>, and whatever speaks OAuth client credentials: choose “OAuth2 client credentials grant”, and give the token endpoint, the client ID and the client secret. It fetches a new token by itself.</p>
<dl class="card"><dt>Token endpoint</dt><dd><code>${tenant.baseUrl}/v1/idp/oidc/token</code></dd><dt>Scope</dt><dd><code class="copy">${scopes.join(' ')}</code></dd></dl>`;
}

const resultList = (steps: readonly Step[]): Html =>
  html`<ul class="results" id="results">${steps.map(({ name, ok, text }) => html`<li>${badge(ok ? 'works' : 'fails', ok ? 'good' : 'bad')} <b>${name}</b> <span>${text}</span></li>`)}</ul>`;

/** Registers the client, tries it and says what became of it. */
export async function makeScimClient(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', '/clients', {
    name: (typed.get('name') ?? '').trim(),
    type: 'confidential',
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: [machineGrantType],
    scopes,
  });
  if (answer.status !== 201) return scimPage(visit, { typed, notice: { kind: 'bad', text: refusalText(answer) } });
  const credential = { clientId: String(answer.body['client_id']), secret: String(answer.body['client_secret']) };
  const { kind, text } = noticeFor(await tryCredential(visit, credential), 'it works.');
  const items = Object.entries(credential);
  return finish(visit, '/scim', `The application was made, ${kind === 'good' ? 'and' : 'but'} ${text}`, { kind: 'scim', items });
}

/** The credential that was just made. */
function credentialOf(visit: Visit): Credential | undefined {
  const secret = secretOf(visit, 'scim');
  return secret && { clientId: itemOf(secret, 'clientId'), secret: itemOf(secret, 'secret') };
}

/** Tries a credential that was typed in. */
export async function tryScim(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const credential = { clientId: (typed.get('client_id') ?? '').trim(), secret: (typed.get('client_secret') ?? '').trim() };
  const steps = await tryCredential(visit, credential);
  return scimPage(visit, { typed, steps, notice: noticeFor(steps, 'It works.') });
}

async function tryCredential(visit: Visit, { clientId, secret }: Credential): Promise<readonly Step[]> {
  const { app, request } = visit;
  const registered = await manage(visit, 'GET', `/clients/${encodeURIComponent(clientId)}`);
  const isBasic = registered.body['token_endpoint_auth_method'] === 'client_secret_basic';
  const token = await callApi(app, request, {
    method: 'POST',
    path: '/v1/idp/oidc/token',
    form: {
      grant_type: machineGrantType,
      scope: scopes.join(' '),
      ...(isBasic ? {} : { client_id: clientId, client_secret: secret }),
    },
    ...(isBasic ? { basic: { clientId, secret } } : {}),
  });
  const first = stepOf('Token', token, 200, () => `A token for ${String(token.body['expires_in'])} seconds.`);
  if (!first.ok) return [first];
  return [first, ...(await readWith(visit, ownTokens.surface, String(token.body['access_token'])))];
}

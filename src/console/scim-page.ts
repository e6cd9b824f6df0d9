// The SCIM set-up wizard: the base URL, a client that may provision, how Entra, Okta and others get their token with it, and a
// live try: a token by client_credentials and a read of the tenant's own SCIM endpoint with it. A secret is shown for ten minutes and
// never stored; to try again after that the person types it in.
import type { FastifyReply } from 'fastify';
import { machineGrantType } from '../domain/oidc/grant-types.ts';
import { type ApiAnswer, callApi } from '../first-party/app-api.ts';
import type { Typed } from '../first-party/app-form.ts';
import { csrfField, type Notice } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { badge } from './console-page.ts';
import { finish, frameOf, manage, refusalText, showPage, type Visit } from './console-visit.ts';
import { itemOf, secretOf } from './frame/flash.ts';
import { consolePath } from './frame/navigation.ts';

const scopes = ['scim:read', 'scim:write'];
const defaultName = 'SCIM provisioning';

interface Credential {
  readonly clientId: string;
  readonly secret: string;
}

interface Step {
  readonly name: string;
  readonly ok: boolean;
  readonly text: string;
}

export function scimPage(visit: Visit, shown: Shown = {}): FastifyReply {
  const { tenant } = visit.request;
  const { notice, steps, typed } = shown;
  const credential = credentialOf(visit);
  const path = (below: string): string => consolePath(tenant, `/scim${below}`);
  const csrf = csrfField(frameOf(visit));
  return showPage(
    visit,
    'Directories',
    html`<ol class="steps">
<li><h2>Tell your directory where to provision</h2><p>Entra calls it the tenant URL, Okta the SCIM base URL.</p><pre id="scim-url">${tenant.baseUrl}/scim/v2</pre></li>
<li><h2>Make its credential</h2>${credential === undefined ? makeForm(csrf, path(''), typed) : madePanel(visit, credential)}</li>
<li><h2>Give the directory its token</h2>${tokenHelp(visit, credential)}</li>
<li><h2>Try it</h2>${steps !== undefined && resultList(steps)}<form class="card" method="post" action="${path('/test')}">${csrf}
<div class="field"><label for="client-id">Client id</label><input type="text" id="client-id" name="client_id" autocomplete="off" spellcheck="false" required value="${credential?.clientId ?? typed?.get('client_id') ?? ''}"></div>
<div class="field"><label for="client-secret">Client secret</label><input type="password" id="client-secret" name="client_secret" autocomplete="off" required value="${credential?.secret ?? ''}"></div>
<button id="try">Get a token and read one user</button></form></li>
</ol>`,
    notice,
  );
}

interface Shown {
  readonly notice?: Notice;
  readonly steps?: readonly Step[];
  readonly typed?: Typed;
}

function makeForm(csrf: Html, path: string, typed: Typed | undefined): Html {
  return html`<form class="card" method="post" action="${path}">${csrf}<div class="field"><label for="name">Name of the client</label><input type="text" id="name" name="name" required maxlength="200" value="${typed?.get('name') ?? defaultName}"></div>
<p class="hint">A confidential client with client_credentials and the scopes <code>${scopes.join(' ')}</code>. It is a client like any other: rotate its secret or delete it under Applications.</p><div class="bar end"><button id="make">Make the client and try it</button></div></form>`;
}

function madePanel(visit: Visit, { clientId, secret }: Credential): Html {
  return html`<div class="panel"><p>Copy it now: this page shows it for ten minutes.</p><dl><dt>Client id</dt><dd><code id="made-client-id">${clientId}</code></dd><dt>Client secret</dt><dd><code id="made-client-secret">${secret}</code></dd></dl><p><a href="${consolePath(visit.request.tenant, `/clients/${encodeURIComponent(clientId)}`)}">Open the client</a></p></div>`;
}

function tokenHelp(visit: Visit, credential: Credential | undefined): Html {
  const { tenant } = visit.request;
  const minutes = Math.round(tenant.settings.access_token_lifetime_seconds / 60);
  const tokenUrl = `${tenant.baseUrl}/v1/idp/oidc/token`;
  const command = `curl -s ${tokenUrl} \\
  -d grant_type=client_credentials -d scope='${scopes.join(' ')}' \\
  -d client_id='${credential?.clientId ?? '<client id>'}' -d client_secret='<client secret>'`;
  return html`<p><b>Microsoft Entra</b>, and whatever speaks OAuth client credentials: choose “OAuth2 client credentials grant”, and give the token endpoint, the client id and the client secret. It fetches a new token by itself.</p>
<dl class="card"><dt>Token endpoint</dt><dd><code>${tokenUrl}</code></dd><dt>Scope</dt><dd><code>${scopes.join(' ')}</code></dd></dl>
<p><b>Okta</b>, and whatever wants one bearer token typed in (“HTTP header”): make it with the command below. No token lives without end: it lives as long as the setting “Lifetime of access tokens” says when it is made, ${minutes} minutes now. Raise that, make the token, put it back. Disabling the client or revoking the token ends it at once.</p>
<pre>${command}</pre>`;
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
  return finish(visit, '/scim', `The client was made, ${kind === 'good' ? 'and' : 'but'} ${text}`, { kind: 'scim', items });
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

function noticeFor(steps: readonly Step[], good: string): Notice {
  const failed = steps.find((step) => !step.ok);
  return failed === undefined ? { kind: 'good', text: good } : { kind: 'bad', text: `${failed.name}: ${failed.text}` };
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
  const bearer = String(token.body['access_token']);
  const read = async (path: string): Promise<ApiAnswer> => callApi(app, request, { method: 'GET', path: `/scim/v2${path}`, bearer });
  const features = await read('/ServiceProviderConfig');
  const users = await read('/Users?count=1');
  return [
    first,
    stepOf('ServiceProviderConfig', features, 200, () => 'The directory can read what is supported.'),
    stepOf('Users', users, 200, () => `${String(users.body['totalResults'])} users can be seen.`),
  ];
}

function stepOf(name: string, answer: ApiAnswer, wanted: number, good: () => string): Step {
  if (answer.status === wanted) return { name, ok: true, text: good() };
  const { error, error_description: description, detail } = answer.body;
  const said = [error, description, detail].filter((part) => typeof part === 'string').join(': ');
  return { name, ok: false, text: `expected ${wanted}, found ${answer.status} ${said}` };
}

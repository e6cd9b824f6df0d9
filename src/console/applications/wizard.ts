// The wizard of applications: what kind it is, then its name and addresses, then a page with all that the program needs. Everything
// else has the values of its kind and is on the application's own page.
import type { FastifyReply } from 'fastify';
import { type ClientKind, clientKinds, isClientKind } from '../../domain/client/client-kinds.ts';
import { redirectUriFault } from '../../domain/client/client-uris.ts';
import { federatedMethod } from '../../domain/client/workload.ts';
import { workloadPresets } from '../../domain/client/workload-presets.ts';
import type { Json } from '../../domain/field.ts';
import { cibaGrantType, codeGrantType, jwtBearerGrantType, machineGrantType } from '../../domain/oidc/grant-types.ts';
import { capabilities, capabilityChoices } from '../../domain/people/capabilities.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type FormField, readFields, renderFields } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { finish, frameOf, manage, type Refused, refusedBy, refusedField, showMissing, showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { itemOf, secretOf, secretPanel } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import { newPage, pathOf, tabBar } from '../resource-pages.ts';
import { audiencesOf } from './audiences.ts';
import { clients } from './client-resource.ts';
import { waitingPanel } from './first-sign-in.ts';
import { grantPanels, letMissing, platformPanels } from './machine-start.ts';
import { machinePath } from './machine-wizard.ts';
import { snippetsOf } from './snippets.ts';

type Kind = keyof typeof clientKinds;

const path = '/clients/new';
const kindsOf = Object.entries(clientKinds as Readonly<Record<string, ClientKind>>).filter(([, { asks }]) => asks !== undefined);

/** The kinds to choose from, or the questions about one. */
export function wizardPage(visit: Visit): FastifyReply | Promise<FastifyReply> {
  const kind = visit.query.get('kind');
  if (kind === 'all') return newPage(visit, clients);
  return isClientKind(kind) && clientKinds[kind] !== undefined ? questionsPage(visit, kind) : kindsPage(visit);
}

function kindsPage(visit: Visit): FastifyReply {
  const href = (kind: string): string => consolePath(visit.request.tenant, `${path}?kind=${kind}`);
  return showPage(
    visit,
    'New application',
    html`<p class="muted">What is it?</p><ul class="cards">${kindsOf.map(
      ([kind, { label, about }]) =>
        html`<li class="card"><h2><a id="kind-${kind}" href="${href(kind)}">${label}</a></h2><p>${about}</p></li>`,
    )}<li class="card"><h2><a id="kind-platform" href="${consolePath(visit.request.tenant, machinePath)}">Machine without a secret</a></h2><p>A program that is known by its platform: ${Object.values(workloadPresets).map(({ label }, at) => `${at > 0 ? ', ' : ''}${label}`)}; or by a key of its own.</p></li></ul><p><a id="kind-all" href="${href('all')}">Something else: every field by hand</a></p>`,
  );
}

const addressHints: Readonly<Record<string, string>> = {
  web: 'Where people come back to after signing in, one a line: https://app.example.com/callback, or http://localhost:3000/callback to try it.',
  spa: 'Where people come back to after signing in, one a line: https://app.example.com/, or http://localhost:5173/ to try it.',
  mobile: 'Where the app is opened again, one a line: https://app.example.com/callback (claimed by the app) or com.example.app:/callback.',
};

function fieldsOf(kind: Kind): readonly FormField[] {
  const { asks }: ClientKind = clientKinds[kind];
  const isPublic = clientKinds[kind].values === clientKinds.spa.values;
  const name: FormField = { path: 'name', label: 'Name', kind: 'text', required: true, hint: 'Shown to people when they sign in.' };
  const addresses: FormField = {
    path: 'redirect_uris',
    label: 'Redirect URIs',
    kind: 'lines',
    hint: addressHints[kind] ?? '',
    isLineWrong: (line) => redirectUriFault(line, isPublic) !== undefined,
  };
  const may: FormField = {
    path: 'scopes',
    label: 'What it may do',
    kind: 'checks',
    options: capabilities,
    optionLabels: capabilityChoices,
    hint: 'Give it no more than it needs.',
  };
  return [name, ...(asks === 'addresses' ? [addresses] : asks === 'capabilities' ? [may] : [])];
}

function questionsPage(visit: Visit, kind: Kind, typed?: Typed, refused?: Refused): FastifyReply {
  const { label, about } = clientKinds[kind];
  const at = (below: string): string => consolePath(visit.request.tenant, `${path}${below}`);
  return showPage(
    visit,
    `New application: ${label}`,
    html`<p class="muted">${about} <a href="${at('')}">Another kind</a>${kind === 'machine' && html`, or one <a href="${consolePath(visit.request.tenant, machinePath)}">without a secret</a>`}</p><form class="card" method="post" action="${at(`?kind=${kind}`)}">${csrfField(frameOf(visit))}
${renderFields(fieldsOf(kind), {}, typed, refused?.fault)}<div class="bar end"><button id="save">Create</button> <a class="button quiet" href="${consolePath(visit.request.tenant, '/clients')}">Cancel</a></div></form>`,
    refused?.notice,
  );
}

export async function createGuided(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const kind = visit.query.get('kind');
  if (!isClientKind(kind)) return kindsPage(visit);
  const fields = fieldsOf(kind);
  const read = readFields(fields, typed);
  if (!read.ok) return questionsPage(visit, kind, typed, refusedField(read.fault));
  const answer = await manage(visit, 'POST', '/clients', { ...clientKinds[kind].values, ...read.json, ...audiencesOf(visit, read.json) });
  if (answer.status !== 201) return questionsPage(visit, kind, typed, refusedBy(answer, fields, typed));
  const { client_id: id, client_secret: secret, name } = answer.body;
  const kept = secret === undefined ? undefined : { kind: 'start', items: [['client_secret', String(secret)] as const] };
  return finish(visit, `${pathOf(clients, String(id))}/start`, `The application ${String(name)} was created.`, kept);
}

const guides: readonly (readonly [name: string, page: string, isFor: 'web' | 'public' | 'machine' | 'platform' | 'key'])[] = [
  ['Next.js', 'oidc-nextjs', 'web'],
  ['Express', 'oidc-express', 'web'],
  ['FastAPI', 'oidc-fastapi', 'web'],
  ['Go', 'oidc-go', 'web'],
  ['Spring', 'oidc-spring', 'web'],
  ['React', 'oidc-react', 'public'],
  ['Mobile', 'oidc-mobile', 'public'],
  ['Deploy without secrets', 'deploy-without-secrets', 'platform'],
  ['A program with a key of its own', 'machines', 'key'],
  ['Your API', 'client-credentials-api', 'machine'],
  ['SCIM from Entra', 'scim-entra', 'machine'],
  ['SCIM from Okta', 'scim-okta', 'machine'],
];

/** What the program needs: issuer, id, secret while it is shown, as a file of the environment; guides; and a sign-in to try. */
export async function startPage(visit: Visit, id: string): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', pathOf(clients, id));
  if (answer.status !== 200) return showMissing(visit, clients.singular, answer);
  const { tenant } = visit.request;
  const client = answer.body;
  const secret = secretOf(visit, 'start');
  const hasSecret = text(client['token_endpoint_auth_method']).startsWith('client_secret');
  const shownSecret = secret === undefined ? (hasSecret ? '<client secret>' : undefined) : itemOf(secret, 'client_secret');
  const env = [`ISSUER=${tenant.baseUrl}`, `CLIENT_ID=${id}`, ...(shownSecret === undefined ? [] : [`CLIENT_SECRET=${shownSecret}`])];
  return showPage(
    visit,
    clients.titleOf(client),
    html`${tabBar(visit, clients, id, '/start')}${secretPanel(secret)}<section class="panel"><h2>What the program needs</h2><dl>
<dt>Issuer</dt><dd><code class="copy" id="issuer">${tenant.baseUrl}</code></dd><dt>Client ID</dt><dd><code class="copy" id="client-id">${id}</code></dd></dl>
<h2>As .env</h2><pre id="env">${env.join('\n')}</pre>
${shownSecret === '<client secret>' && html`<p class="hint">The secret was shown when it was made. Where it is lost, make a new one under Credentials.</p>`}</section>
${grantPanels(visit, client)}${await platformPanels(visit, client)}${hasPeople(client) && maySee(visit, '/events') && (await waitingPanel(visit, id))}${nextSteps(visit, client, env)}`,
  );
}

/** Lets in what the page offers. */
export async function setOnStart(visit: Visit, id: string, typed: Typed): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', pathOf(clients, id));
  if (answer.status !== 200) return showMissing(visit, clients.singular, answer);
  return letMissing(visit, answer.body, typed) ?? startPage(visit, id);
}

const grantsOf = (client: Json): readonly string[] => client['grant_types'] as readonly string[]; // the API's shape
const hasPeople = (client: Json): boolean => grantsOf(client).some((grant) => grant === codeGrantType || grant === cibaGrantType);

function guidesFor(client: Json): (typeof guides)[number][2] {
  const [method, grants] = [client['token_endpoint_auth_method'], grantsOf(client)];
  if (client['type'] === 'public') return 'public';
  if (hasPeople(client)) return 'web';
  if (method === federatedMethod) return 'platform';
  if (grants.includes(jwtBearerGrantType)) return 'key';
  return grants.includes(machineGrantType) ? 'machine' : 'web';
}

function nextSteps(visit: Visit, client: Json, env: readonly string[]): Html {
  const grants = grantsOf(client);
  const wanted = guidesFor(client);
  const [address] = (client['redirect_uris'] ?? []) as readonly string[]; // the API's shape
  const snippets = grants.includes(codeGrantType) ? snippetsOf(wanted, env, address) : [];
  const scopes = ((client['scopes'] ?? []) as readonly string[]).join(' '); // the API's shape
  const tryIt = `${new URL(visit.request.tenant.baseUrl).pathname.replace(/\/$/, '')}/try/start?${new URLSearchParams({ scope: scopes })}`;
  return html`${grants.includes(codeGrantType) && html`<section class="panel"><h2>Try it</h2><p>Sign in with this application’s scopes, and see the claims and tokens it would get. The tester’s own address is used: none is added to the application.</p><p><a class="button" id="try" href="${tryIt}">Try a sign-in</a></p></section>`}
${snippets.length > 0 && html`<section class="panel"><h2>In your app</h2>${snippets}</section>`}
<section class="panel"><h2>Guides</h2><p>Each goes from an empty folder to the claims of a person, or an answer.</p><ul>${guides
    .filter(([, , isFor]) => isFor === wanted)
    .map(([name, page]) => html`<li><a href="/docs/how-to/${page}">${name}</a></li>`)}</ul></section>`;
}

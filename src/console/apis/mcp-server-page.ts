// How a server takes tokens for a resource: the document that leads agents here (RFC 9728), code that verifies, what of the tenant's settings
// keeps agents out, and how one tries it. Settings are changed by whoever may, through the Management API.
import type { FastifyReply } from 'fastify';
import { registrationName } from '../../domain/oidc/grant-types.ts';
import { quoted } from '../../domain/shell.ts';
import type { Settings } from '../../domain/tenant/settings.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { letButton, letGrant } from '../frame/extra-grant.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { metadataOf, type Protected, protectPython, protectTypeScript, usePython, useTypeScript } from './mcp-snippets.ts';

type Json = Readonly<Record<string, unknown>>;

const resources = consoleResource('/resources');
const tab = '/start';

/** Whether agents can type it: an http(s) URL that a document can be asked for beside (RFC 9728 3.1). */
export function isServerAddress(identifier: string): boolean {
  const url = /^https?:\/\/[^?#]*$/.test(identifier) ? URL.parse(identifier) : null;
  return url !== null && url.username === '' && url.password === '';
}

/** What keeps agents out, or gives them more than the server, and what is done about it. */
interface Need {
  readonly id: string;
  readonly isNeeded: (settings: Settings, resource: Json) => boolean;
  readonly title: string;
  readonly text: string;
  /** Where it is changed instead of here: a page below /console, and the field on it. */
  readonly at?: (resource: Json) => string;
}

const needs: readonly Need[] = [
  {
    id: 'any',
    isNeeded: (_settings, resource) => resource['clients'] !== 'any',
    title: 'Only listed applications may use it',
    text: 'Agents that nobody registered get no tokens for it. “Which programs may ask for it” would have to be any.',
    at: (resource) => `${pathOf(resources, text(resource['id']))}#field-clients`,
  },
  {
    id: 'scopes',
    isNeeded: (_settings, { scopes }) => (scopes as readonly unknown[]).length === 0, // the API's shape
    title: 'It has no scopes',
    text: 'The code accepts callers that have one of its scopes, so nobody can call it yet.',
    at: (resource) => `${pathOf(resources, text(resource['id']))}#field-scopes`,
  },
  {
    id: registrationName,
    isNeeded: ({ extra_grants: grants }, resource) => resource['clients'] === 'any' && !grants.includes(registrationName),
    title: 'Programs cannot register themselves',
    text: 'Agents that publish a document about themselves can sign in now. Older ones register themselves first, without a token, and this tenant does not allow that.',
  },
  {
    id: 'hosts',
    isNeeded: ({ client_hosts: hosts }) => hosts.only_trusted,
    title: 'Only trusted hosts may sign in',
    text: 'Agents of all other hosts are refused, and so are agents that register themselves.',
    at: () => '/settings#field-client_hosts-only_trusted',
  },
  {
    id: 'audience',
    isNeeded: ({ userinfo_with_resource: opensUserInfo }) => opensUserInfo,
    title: 'Tokens with openid open UserInfo too',
    text: 'If an agent also asks for openid, the owner of this server can read UserInfo of its callers. Turn this off, and a token is only for this server.',
    at: () => '/settings#field-userinfo_with_resource',
  },
];

export async function protectPage(visit: Visit, id: string): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', pathOf(resources, id));
  if (answer.status !== 200) return showMissing(visit, resources.singular, answer);
  const resource = answer.body;
  const identifier = text(resource['identifier']);
  const isAddress = isServerAddress(identifier);
  const scopes = (resource['scopes'] as readonly { readonly name: string }[]).map(({ name }) => name); // the API's shape
  const what = { issuer: visit.request.tenant.baseUrl, resource: identifier, scopes };
  return showPage(
    visit,
    resources.titleOf(resource),
    html`${tabBar(visit, resources, id, tab)}${isAddress ? html`${needsOf(visit, resource)}${partsOf(what)}${resource['clients'] === 'any' && trial(visit, what)}` : noAddress}`,
  );
}

const noAddress = html`<section class="panel" id="no-address"><h2>No address</h2><p>Its identifier is not the address of a server, so that nobody can ask it where its tokens come from. An API whose identifier begins with https:// has a document and code here; this one verifies tokens as <a href="/docs/how-to/client-credentials-api">your API</a> does.</p></section>`;

/** Lets in what the page offers. */
export async function setNeeded(visit: Visit, id: string, typed: Typed): Promise<FastifyReply> {
  if (typed.get('set') !== registrationName) return protectPage(visit, id);
  const path = `${pathOf(resources, id)}${tab}`;
  return letGrant(visit, registrationName, { path, done: 'Programs may register themselves, for open APIs alone.' });
}

function needsOf(visit: Visit, resource: Json): Html {
  const { tenant } = visit.request;
  const here = `${pathOf(resources, text(resource['id']))}${tab}`;
  const step = ({ id, at }: Need): Html | false => {
    const to = at?.(resource);
    if (to !== undefined)
      return (
        maySee(visit, /^\/[a-z]+/.exec(to)?.[0] ?? '') &&
        html`<p><a class="button quiet" id="go-${id}" href="${consolePath(tenant, to)}">Show the setting</a></p>`
      );
    return letButton(visit, registrationName, { path: here, label: 'Let them', id });
  };
  const missing = needs.filter(({ isNeeded }) => isNeeded(tenant.settings, resource));
  return html`${missing.map((need) => html`<section class="panel" id="needs-${need.id}"><h2>${need.title}</h2><p>${need.text}</p>${step(need)}</section>`)}`;
}

/** The document and the code. */
function partsOf(what: Protected): Html {
  const { address, document } = metadataOf(what);
  const snippet = (name: string, title: string, lines: readonly (readonly [about: string, id: string, code: string])[]): Html =>
    html`<details class="snippet" id="in-${name}"><summary>${title}</summary>${lines.map(([about, id, code]) => html`<p>${about}</p><pre id="${id}-${name}">${code}</pre>`)}</details>`;
  return html`<section class="panel"><h2>Where its tokens come from</h2><p>Your server answers 401 to a caller without a token, and links to this document (RFC 9728):</p><dl>
<dt>Address</dt><dd><code class="copy" id="metadata-address">${address}</code></dd></dl><pre id="metadata">${document}</pre></section>
<section class="panel"><h2>In your server</h2><p>This code serves the document, answers 401 with the way there, and takes tokens for this server alone. The <a href="/docs/how-to/mcp-server">guide</a> has a whole server around it.</p>${snippet(
    'typescript',
    'TypeScript',
    [
      ['Install:', 'install', 'npm install jose'],
      ['Write:', 'code', protectTypeScript],
      ['At each request, await callerOf(request, response) has who calls, or nothing where it has answered:', 'use', useTypeScript(what)],
    ],
  )}${snippet('python', 'Python', [
    ['Install:', 'install', 'pip install pyjwt cryptography'],
    ['Write:', 'code', protectPython],
    ['Put it before your ASGI application; who calls is in scope["claims"]:', 'use', usePython(what)],
  ])}</section>`;
}

/** What is typed to be an agent. */
function trial(visit: Visit, { resource }: Protected): Html {
  const hosts = consolePath(visit.request.tenant, '/client-hosts');
  return html`<section class="panel"><h2>Try it as an agent</h2><p>The running server says where its tokens come from: 401, with <code>resource_metadata</code> in <code>WWW-Authenticate</code>.</p><pre id="try-answer">curl -si ${quoted(resource)}</pre>
<p>Give an agent the address. Without one at hand, this program registers itself, opens the browser, and connects once you have signed in and allowed it:</p><pre id="try-agent">npx -p mcp-remote mcp-remote-client ${quoted(resource)}</pre>
<p>Who came in is under <a href="${hosts}">Agents by host</a>.</p></section>`;
}

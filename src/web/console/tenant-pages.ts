// Console pages about the tenant itself: overview, signing keys, settings.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../platform/html.ts';
import type { Typed } from '../own-app/app-form.ts';
import { csrfField, type Notice, table } from '../own-app/app-page.ts';
import { consolePath } from './console-page.ts';
import { frameOf, goTo, itemsOf, manage, refusalText, showPage, type Visit } from './console-visit.ts';
import { type FormField, readFields, renderField } from './form-field.ts';

type Json = Readonly<Record<string, unknown>>;
const refusalsCounted = 200;
const listSample = 200;

export async function overviewPage(visit: Visit): Promise<FastifyReply> {
  const [events, ...lists] = await Promise.all([
    manage(visit, 'GET', `/events?type=refusal&limit=${refusalsCounted}`),
    ...(['/users', '/groups', '/clients', '/service-providers'] as const).map(async (path) => ({
      path,
      answer: await manage(visit, 'GET', `${path}?limit=${listSample}`),
    })),
  ]);
  const names: Readonly<Record<string, string>> = {
    '/users': 'Users',
    '/groups': 'Groups',
    '/clients': 'Clients',
    '/service-providers': 'Service providers',
  };
  const tiles = lists.map(({ path, answer }) => {
    const more = answer.body['next_cursor'] === undefined ? '' : '+';
    return html`<a class="tile" href="${consolePath(visit.request.tenant, path)}"><b>${itemsOf(answer).length}${more}</b>${names[path]}</a>`;
  });
  const counts = [...Map.groupBy(itemsOf(events), (event) => `${String(event['row'])}: ${String(event['reason'])}`)]
    .map(([name, group]) => [name, group.length] as const)
    .toSorted((left, right) => right[1] - left[1]);
  const { tenant } = visit.request;
  return showPage(
    visit,
    'Overview',
    html`<div class="tiles">${tiles}</div>
<dl class="card"><dt>Issuer</dt><dd><code>${tenant.baseUrl}</code></dd><dt>Discovery</dt><dd><code>${tenant.baseUrl}/.well-known/openid-configuration</code></dd><dt>SAML metadata</dt><dd><code>${tenant.baseUrl}/v1/idp/saml/metadata</code></dd><dt>SCIM</dt><dd><code>${tenant.baseUrl}/scim/v2</code></dd><dt>Management API</dt><dd><code>${tenant.managementApi}</code></dd></dl>
<h2>Latest refusals by contract row and reason</h2>
${counts.length === 0 ? html`<p class="muted">Nothing was refused lately.</p>` : barChart(counts.slice(0, 12))}`,
  );
}

function barChart(counts: readonly (readonly [name: string, count: number])[]): Html {
  const most = counts[0]?.[1] ?? 1;
  return html`<ul class="chart card">${counts.map(([name, count]) => html`<li><code>${name}</code><meter min="0" max="${most}" value="${count}" aria-label="${name}">${count}</meter><span>${count}</span></li>`)}</ul>`;
}

export async function keysPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/signing-keys');
  const rows = itemsOf(answer).map((key) => [
    html`<code>${String(key['kid'])}</code>`,
    String(key['use']),
    String(key['alg']),
    String(key['state']),
    String(key['created_at'] ?? ''),
  ]);
  const rotate = (use: string, alg: string): Html =>
    html`<form method="post" action="${consolePath(visit.request.tenant, '/signing-keys')}">${csrfField(frameOf(visit))}<input type="hidden" name="use" value="${use}"><input type="hidden" name="alg" value="${alg}"><button class="quiet" id="rotate-${use}-${alg}">Rotate ${use} ${alg}</button></form>`;
  return showPage(
    visit,
    'Signing keys',
    html`<p class="muted">The next key is published before it signs, and a retired one stays published until nothing signed by it is alive.</p>
${table('Signing keys', ['Key', 'Use', 'Algorithm', 'State', 'Made'], rows)}
<div class="bar">${rotate('oidc', 'ES256')}${rotate('oidc', 'RS256')}${rotate('saml', 'RS256')}</div>`,
    notice,
  );
}

export async function rotateKey(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', '/signing-keys', { use: typed.get('use'), alg: typed.get('alg') });
  return keysPage(
    visit,
    answer.status < 300 ? { kind: 'good', text: 'The next key signs from now on.' } : { kind: 'bad', text: refusalText(answer) },
  );
}

/** Every setting as a field, from the values the API shows: numbers, switches and texts; everything else as JSON. */
function settingFields(json: Json, prefix = ''): readonly FormField[] {
  return Object.entries(json).flatMap(([name, value]): readonly FormField[] => {
    const path = `${prefix}${name}`;
    const label = path.replaceAll('_', ' ').replaceAll('.', ' · ');
    if (typeof value === 'boolean') return [{ path, label, kind: 'checkbox' }];
    if (typeof value === 'number') return [{ path, label, kind: 'integer', required: true }];
    if (typeof value === 'string') return [{ path, label, kind: 'text' }];
    if (path.startsWith('rate_limits.') || value === null || Array.isArray(value) || Object.keys(value as Json).length === 0)
      return [{ path, label, kind: 'json' }];
    return settingFields(value as Json, `${path}.`);
  });
}

export async function settingsPage(visit: Visit, typed?: Typed, notice?: Notice): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', '/settings');
  const saved: Notice | undefined =
    visit.query.get('done') === 'saved' ? { kind: 'good', text: 'Saved. Every node follows within a second.' } : undefined;
  return showPage(
    visit,
    'Settings',
    html`<form class="card" method="post" action="${consolePath(visit.request.tenant, '/settings')}">${csrfField(frameOf(visit))}
${settingFields(body).map((field) => renderField(field, body, typed))}<button id="save">Save</button></form>`,
    notice ?? saved,
  );
}

export async function changeSettings(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', '/settings');
  const read = readFields(settingFields(body), typed);
  if (!read.ok) return settingsPage(visit, typed, { kind: 'bad', text: read.text });
  const answer = await manage(visit, 'PATCH', '/settings', read.json);
  return answer.status === 200
    ? goTo(visit, '/settings?done=saved')
    : settingsPage(visit, typed, { kind: 'bad', text: refusalText(answer) });
}

// Console pages about the tenant itself: signing keys and settings.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../platform/html.ts';
import type { Typed } from '../own-app/app-form.ts';
import { csrfField, type Notice, table } from '../own-app/app-page.ts';
import { askPage, isSure } from './confirm-page.ts';
import { badge, consolePath, postButton, shownTime } from './console-page.ts';
import { frameOf, goBack, itemsOf, manage, noticeOf, refusalText, showPage, type Visit } from './console-visit.ts';
import { type FormField, readFields, renderField } from './form-field.ts';

type Json = Readonly<Record<string, unknown>>;

const stateKinds: Readonly<Record<string, 'good' | 'bad' | 'plain'>> = { active: 'good', retired: 'bad' };

export async function keysPage(visit: Visit, notice?: Notice): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/signing-keys');
  const rows = itemsOf(answer).map((key) => [
    html`<code>${String(key['kid'])}</code>`,
    String(key['use']),
    String(key['alg']),
    badge(String(key['state']), stateKinds[String(key['state'])] ?? 'plain'),
    shownTime(key['created_at']),
  ]);
  const rotate = (use: string, alg: string): Html =>
    postButton(frameOf(visit), {
      path: '/signing-keys',
      label: `Rotate ${use} ${alg}…`,
      style: 'quiet',
      id: `rotate-${use}-${alg}`,
      fields: { use, alg },
    });
  return showPage(
    visit,
    'Signing keys',
    html`<p class="muted">The next key is published before it signs, and a retired one stays published until nothing signed by it is alive.</p>
${table('Signing keys', ['Key', 'Use', 'Algorithm', 'State', 'Made'], rows)}
<div class="bar">${rotate('oidc', 'ES256')}${rotate('oidc', 'RS256')}${rotate('saml', 'RS256')}</div>`,
    notice ?? noticeOf(visit, { rotated: 'The next key signs from now on.' }),
  );
}

export async function rotateKey(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const fields = { use: typed.get('use') ?? '', alg: typed.get('alg') ?? '' };
  if (!isSure(typed))
    return askPage(visit, {
      title: `Rotate the ${fields.use} ${fields.alg} key?`,
      text:
        fields.use === 'saml'
          ? 'The next certificate signs from now on. Service providers that took the old one by hand must be given the new one.'
          : 'The next key, published already, signs from now on. Clients that read the published keys notice nothing.',
      label: 'Rotate',
      path: '/signing-keys',
      back: '/signing-keys',
      fields,
    });
  const answer = await manage(visit, 'POST', '/signing-keys', fields);
  return answer.status < 300 ? goBack(visit, '/signing-keys', 'rotated') : keysPage(visit, { kind: 'bad', text: refusalText(answer) });
}

/** Every setting as a field, from the values the API shows: numbers, switches, texts, lists of texts; the rest as JSON. */
function settingFields(json: Json, prefix = ''): readonly FormField[] {
  return Object.entries(json).flatMap(([name, value]): readonly FormField[] => {
    const path = `${prefix}${name}`;
    const label = labelOf(path.split('.').slice(-1)[0] ?? '');
    if (typeof value === 'boolean') return [{ path, label, kind: 'checkbox' }];
    if (typeof value === 'number') return [{ path, label, kind: 'integer', required: true }];
    if (typeof value === 'string') return [{ path, label, kind: 'text' }];
    if (Array.isArray(value)) return [{ path, label, kind: 'lines', hint: 'One a line.' }];
    if (path.startsWith('rate_limits.')) return [{ path, label, kind: 'limit' }];
    if (value === null || Object.keys(value as Json).length === 0) return [{ path, label, kind: 'json', hint: 'JSON; empty: none.' }];
    return settingFields(value as Json, `${path}.`);
  });
}

function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').replace(/\b(?:ciba|id|ip|par|pin|saml|scim|sso)\b/g, (word) => word.toUpperCase());
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** Settings that are objects have a part of the page of their own, with their name above. */
const groupOf = ({ path }: FormField): string => (path.includes('.') ? path.split('.').slice(0, -1).join('.') : '');

export async function settingsPage(visit: Visit, typed?: Typed, notice?: Notice): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', '/settings');
  const groups = [...Map.groupBy(settingFields(body), groupOf)];
  return showPage(
    visit,
    'Settings',
    html`<form method="post" action="${consolePath(visit.request.tenant, '/settings')}">${csrfField(frameOf(visit))}
${groups.map(
  ([group, fields]) =>
    html`<section class="card group"><h2>${group === '' ? 'General' : group.split('.').map(labelOf).join(' · ')}</h2>${group === 'rate_limits' && html`<p class="muted">Both numbers empty: the limit is off.</p>`}<div class="setting-grid">${fields.map((field) => renderField(field, body, typed))}</div></section>`,
)}<div class="bar"><button id="save">Save</button></div></form>`,
    notice ?? noticeOf(visit, { saved: 'Saved. Every node follows within a second.' }),
  );
}

export async function changeSettings(visit: Visit, typed: Typed): Promise<FastifyReply> {
  const { body } = await manage(visit, 'GET', '/settings');
  const read = readFields(settingFields(body), typed);
  if (!read.ok) return settingsPage(visit, typed, { kind: 'bad', text: read.text });
  const answer = await manage(visit, 'PATCH', '/settings', read.json);
  return answer.status === 200
    ? goBack(visit, '/settings', 'saved')
    : settingsPage(visit, typed, { kind: 'bad', text: refusalText(answer) });
}

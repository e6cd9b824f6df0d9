// The console's page about pushes: by vendor whose credentials are used, whether they were refused, and how the pushes of a week went.
import type { FastifyReply } from 'fastify';
import { table } from '../first-party/app-page.ts';
import { type Html, html } from '../platform/html.ts';
import { text } from './cells.ts';
import { badge, shownTime } from './console-page.ts';
import { manage, refusalText, showPage, type Visit } from './console-visit.ts';
import { consolePath } from './frame/navigation.ts';

interface Provider {
  readonly provider: string;
  readonly credentials: string;
  readonly refused: { readonly at: string; readonly reason: string } | null;
  readonly last_week: Readonly<Record<string, number>>;
}

const names: Readonly<Record<string, string>> = { apns: 'Apple', fcm: 'Firebase', web: 'Web Push' };
const sources: Readonly<Record<string, string>> = { tenant: 'your own', operator: 'the operator’s', none: 'none' };
const outcomes = [
  ['sent', 'Sent'],
  ['gone', 'Uninstalled'],
  ['refused', 'Refused'],
  ['rejected', 'Not taken'],
  ['failed', 'Tried again'],
  ['unsent', 'No account'],
] as const;

export async function pushPage(visit: Visit): Promise<FastifyReply> {
  const answer = await manage(visit, 'GET', '/push');
  if (answer.status !== 200) return showPage(visit, 'Push notifications', html``, { kind: 'bad', text: refusalText(answer) });
  const providers = answer.body['providers'] as readonly Provider[]; // the API's shape
  const rows = providers.map((provider) => [
    html`<span class="strong">${names[provider.provider] ?? provider.provider}</span>`,
    credentials(provider),
    ...outcomes.map(([outcome]) => text(provider.last_week[outcome] ?? 0)),
  ]);
  return showPage(
    visit,
    'Push notifications',
    html`${providers.filter(({ refused }) => refused !== null).map(refusal)}
<p class="muted">What became of the notifications of seven days. Phones that get none find what waits when their app is opened.</p>
${table('Push notifications', ['Vendor', 'Credentials', ...outcomes.map(([, label]) => label)], rows)}
<p class="muted">Credentials stand in the <a href="${consolePath(visit.request.tenant, '/settings/phones')}#push">settings</a>. A test is sent from a person’s Phones tab.</p>`,
  );
}

const credentials = ({ credentials: source, refused }: Provider): Html =>
  html`${sources[source] ?? source}${refused !== null && html` ${badge('refused', 'bad')}`}`;

const refusal = ({ provider, refused }: Provider): Html =>
  html`<p class="notice bad" id="refused-${provider}">${names[provider] ?? provider} has not taken the credentials since ${shownTime(refused?.at)}: <code>${refused?.reason}</code>.</p>`;

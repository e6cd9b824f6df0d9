// What a run of a connector would do, as a page: how many people, and the first of them. Nothing is sent.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const shownMax = 100;

const words: Readonly<Record<string, string>> = {
  bring: 'Gets an account, found there or made',
  update: 'Changed',
  deactivate: 'Account deactivated',
  delete: 'Account deleted',
  leave: 'Left as it is, from now on without us',
  unchanged: 'As it should be',
  conflict: 'In conflict',
  ignored: 'Left out',
};

export async function connectorPlanPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const resource = consoleResource('/connectors');
  const own = pathOf(resource, params['id'] ?? '');
  const connector = await manage(visit, 'GET', own);
  if (connector.status !== 200) return showMissing(visit, resource.singular, connector);
  const plan = await manage(visit, 'POST', `${own}/plan`);
  if (plan.status !== 200) return showMissing(visit, resource.titleOf(connector.body), plan);
  const { counts, differences, complete } = plan.body as { counts: Json; differences: readonly Json[]; complete: boolean }; // the API's shape
  const shown = differences.slice(0, shownMax);
  return showPage(
    visit,
    resource.titleOf(connector.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/plan')}
<section class="panel" aria-label="In numbers"><p>What a run would do with people now. Nothing was sent.</p>
<dl>${Object.entries(words).map(([name, label]) => html`<dt>${label}</dt><dd>${text(counts[name])}</dd>`)}</dl>
${!complete && html`<p class="muted">There are more people than a plan looks at.</p>`}</section>
${shown.length === 0 ? emptyState('Nothing to do', 'Everybody is there as they should be.') : table('People', ['Who', 'What'], shown.map(rowOf(visit)))}
${differences.length > shownMax && html`<p class="muted">And more: the API lists the first 1,000.</p>`}`,
  );
}

function rowOf(visit: Visit): (difference: Json) => readonly (Html | string)[] {
  return ({ user_id: id, user_name: name, action }) => [
    html`<a class="strong" href="${consolePath(visit.request.tenant, `/users/${encodeURIComponent(text(id))}`)}">${text(name ?? id)}</a>`,
    words[text(action)] ?? text(action),
  ];
}

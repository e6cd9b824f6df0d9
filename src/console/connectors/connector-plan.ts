// What a run of a connector would do, as a page. Nothing is sent.
import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { consoleResource } from '../console-resources.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { planPanel } from '../provisioning/plan-panel.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

type Params = Readonly<Record<string, string>>;

const actions: Readonly<Record<string, string>> = {
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
  const words = {
    about: 'What a run would do with people now. Nothing was sent.',
    actions,
    nothing: 'Everybody is there as they should be.',
    who: ({ user_id: id, user_name: name }: Readonly<Record<string, unknown>>) =>
      html`<a class="strong" href="${consolePath(visit.request.tenant, `/users/${encodeURIComponent(text(id))}`)}">${text(name ?? id)}</a>`,
  };
  return showPage(
    visit,
    resource.titleOf(connector.body),
    html`${tabBar(visit, resource, params['id'] ?? '', '/plan')}
${planPanel(words, plan.body)}`,
  );
}

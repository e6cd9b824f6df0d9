// The tab Activity of a person or an application: what was recorded of it lately, and the way to all of it.
import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import { consoleResource } from '../console-resources.ts';
import { itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { eventTable, namesIn } from './events-page.ts';

const shownMax = 20;

/** Resources that have the tab, and what of `/events` is about one. */
export const activities: Readonly<Record<string, (id: string) => Readonly<Record<string, string>>>> = {
  '/users': (id) => ({ user: id }),
  '/clients': (id) => ({ target: `client:${id}` }),
  '/service-providers': (id) => ({ target: `service_provider:${id}` }),
};

export async function activityPage(visit: Visit, path: string, id: string): Promise<FastifyReply> {
  const resource = consoleResource(path);
  const about = new URLSearchParams(activities[path]?.(id));
  const one = await manage(visit, 'GET', pathOf(resource, id));
  if (one.status !== 200) return showMissing(visit, resource.singular, one);
  const answer = await manage(visit, 'GET', `/events?${about}&${new URLSearchParams({ names: 'shown', limit: String(shownMax) })}`);
  const all = html`<p><a class="button quiet" id="all-events" href="${consolePath(visit.request.tenant, '/events')}?${about.toString()}">All events of it, with filters and CSV</a></p>`;
  return showPage(
    visit,
    resource.titleOf(one.body),
    html`${tabBar(visit, resource, id, '/activity')}${eventTable(visit, itemsOf(answer), namesIn(answer.body), false)}${itemsOf(answer).length > 0 && all}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

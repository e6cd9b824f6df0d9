// The tab Activity of a person, an application or an organisation: what was recorded of it lately, and the way to all of it.
import type { FastifyReply } from 'fastify';
import { html } from '../../platform/html.ts';
import { consoleResource } from '../console-resources.ts';
import { itemsOf, manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { eventTable, namesIn } from './events-page.ts';
import { tryTable } from './sign-ins-page.ts';

const shownMax = 20;
const triesShown = 8;

/** Resources that have the tab, and what of `/events` is about one. */
export const activities: Readonly<Record<string, (id: string) => Readonly<Record<string, string>>>> = {
  '/users': (id) => ({ user: id }),
  '/clients': (id) => ({ target: `client:${id}` }),
  '/service-providers': (id) => ({ target: `service_provider:${id}` }),
  '/organizations': (id) => ({ target: `organization:${id}` }),
};

/** Resources that people sign in for, and what of `/sign-ins` is for one. */
const signInsFor: typeof activities = { '/organizations': (id) => ({ organization: id }) };

export async function activityPage(visit: Visit, path: string, id: string): Promise<FastifyReply> {
  const resource = consoleResource(path);
  const about = new URLSearchParams(activities[path]?.(id));
  const one = await manage(visit, 'GET', pathOf(resource, id));
  if (one.status !== 200) return showMissing(visit, resource.singular, one);
  const answer = await manage(visit, 'GET', `/events?${about}&${new URLSearchParams({ names: 'shown', limit: String(shownMax) })}`);
  const tries =
    signInsFor[path] &&
    (await manage(
      visit,
      'GET',
      `/sign-ins?${new URLSearchParams({ ...signInsFor[path](id), names: 'shown', limit: String(triesShown) })}`,
    ));
  const all = html`<p><a class="button quiet" id="all-events" href="${consolePath(visit.request.tenant, '/events')}?${about.toString()}">All events of it, with filters and CSV</a></p>`;
  return showPage(
    visit,
    resource.titleOf(one.body),
    html`${tabBar(visit, resource, id, '/activity')}${tries && html`<h2>Sign-ins for it</h2>${tryTable(visit, itemsOf(tries), namesIn(tries.body))}<h2>Events</h2>`}${eventTable(visit, itemsOf(answer), namesIn(answer.body), false)}${itemsOf(answer).length > 0 && all}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

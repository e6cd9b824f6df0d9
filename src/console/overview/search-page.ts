// The search of the header: people, groups and applications by any part of a shown name, of what the person may see.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { emptyState } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { itemsOf, manage, showPage, type Visit } from '../console-visit.ts';
import { maySee } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import type { ConsoleResource } from '../frame/resource.ts';
import { readFound } from '../list-controls.ts';
import { pathOf } from '../resource-pages.ts';

type Json = Readonly<Record<string, unknown>>;

const shownMax = 10;
const searched = ['/users', '/clients', '/service-providers', '/groups'] as const;

export async function searchPage(visit: Visit): Promise<FastifyReply> {
  const part = (visit.query.get('q') ?? '').trim().slice(0, 200);
  if (part === '') return showPage(visit, 'Search', emptyState('Nothing to look for', 'Type any part of a name above.'));
  const parts: Html[] = [];
  for (const path of searched) {
    if (!maySee(visit, path)) continue;
    const resource = consoleResource(path);
    const found = await foundIn(visit, resource, part);
    if (found.length > 0) parts.push(hits(visit, resource, found, part));
  }
  return showPage(
    visit,
    `Search: ${part}`,
    parts.length > 0 ? html`${parts}` : emptyState('Nothing found', 'Nobody and nothing has that in a name, an email or an id.'),
  );
}

/** One more than is shown, when there are more. */
async function foundIn(visit: Visit, resource: ConsoleResource, part: string): Promise<readonly Json[]> {
  if (resource.isNamed !== true) return (await readFound(visit, resource, new URLSearchParams({ search: part }))).items;
  return itemsOf(
    await manage(visit, 'GET', `${resource.path}?${new URLSearchParams({ sort: 'name', contains: part, limit: String(shownMax + 1) })}`),
  );
}

function hits(visit: Visit, resource: ConsoleResource, found: readonly Json[], part: string): Html {
  const [head, cell] = resource.columns[0]!;
  const rows = found
    .slice(0, shownMax)
    .map((json) => [
      html`<a class="strong" href="${consolePath(visit.request.tenant, pathOf(resource, String(json[resource.idField])))}">${resource.titleOf(json)}</a>`,
      cell(json),
    ]);
  const all = `${consolePath(visit.request.tenant, resource.path)}?${new URLSearchParams({ search: part })}`;
  return html`<h2>${resource.plural}</h2>${table(resource.plural, ['Name', head], rows)}${found.length > shownMax && html`<p><a href="${all}">All ${resource.plural} found</a></p>`}`;
}

// View as: what whoever manages an organisation sees on the account page, shown to an administrator who may read all of it, as nobody. Each
// look is recorded before it is shown, and nothing is written by it: these pages take no posts.
import type { FastifyReply } from 'fastify';
import { recordAct } from '../../administration/administration.ts';
import { capabilityWords } from '../../domain/people/capabilities.ts';
import type { ViewedByManagers } from '../../first-party/manager-view.ts';
import { html } from '../../platform/html.ts';
import { manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayView, shownToManagers } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { organizations } from '../people/organization-resource.ts';
import type { Params } from './organization-tab.ts';

/** One of these pages; `below` is its path below the organisation, as on the account page. */
export async function managerViewPage(
  visit: Visit,
  params: Params,
  below: string,
  show: (viewed: ViewedByManagers) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { request, reply, query, services } = visit;
  const { tenant } = request;
  const id = params['id'] ?? '';
  const path = `/organizations/${encodeURIComponent(id)}`;
  const [organization, me] = await Promise.all([manage(visit, 'GET', path), manage(visit, 'GET', '/me')]);
  if (organization.status !== 200) return showMissing(visit, organizations.singular, organization);
  const title = organizations.titleOf(organization.body);
  const back = consolePath(tenant, path);
  if (!mayView(visit))
    return notShown(
      visit,
      title,
      back,
      `It takes somebody who may do all of this: ${shownToManagers.map((capability) => capabilityWords[capability]).join('; ')}.`,
      403,
    );
  if (organization.body['enabled'] !== true) return notShown(visit, title, back, 'While it is disabled, nobody manages it.', 409);
  const by = { actor: String(me.body['actor']), requestId: request.id };
  await services.database.write(tenant.id, (queries) =>
    recordAct(queries, services, tenant.id, by, {
      type: 'organization.viewed',
      target: `organization:${String(organization.body['id'])}`,
      data: { page: below === '' ? '/members' : below },
    }),
  );
  const banner = html`<p class="notice partly" lang="en" id="viewing">You see what a manager of ${title} sees. You are still signed in as yourself, and you can’t change anything here. <a href="${back}">Back to the console</a></p>`;
  const at = { base: consolePath(tenant, `${path}/view`), path: `/console${path}/view` };
  return show({ request, reply, organization: id, below, query, ...at, banner });
}

const notShown = (visit: Visit, title: string, back: string, text: string, status: number): FastifyReply =>
  showPage(visit, title, html`<p><a class="button quiet" id="back" href="${back}">Back</a></p>`, { kind: 'bad', text }, { status });

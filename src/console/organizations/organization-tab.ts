// A page below one organisation, with its tabs: the organisation, and what the page lists of it.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { manage, refusalText, showMissing, showPage, type Visit } from '../console-visit.ts';
import { organizations } from '../people/organization-resource.ts';
import { pathOf, tabBar } from '../resource-pages.ts';

export type Params = Readonly<Record<string, string>>;

/** Below /console and in the API. */
export const pathOfTab = (params: Params, tab: string): string => `${pathOf(organizations, params['id'] ?? '')}${tab}`;

interface Tab {
  readonly tab: string;
  /** What the API is asked for, below the organisation. */
  readonly list: string;
  readonly show: (list: ApiAnswer) => Html | Promise<Html>;
  readonly notice?: Notice | undefined;
}

export async function showTab(visit: Visit, params: Params, { tab, list, show, notice }: Tab): Promise<FastifyReply> {
  const id = params['id'] ?? '';
  const [organization, listed] = await Promise.all([
    manage(visit, 'GET', pathOf(organizations, id)),
    manage(visit, 'GET', pathOfTab(params, list)),
  ]);
  if (organization.status !== 200) return showMissing(visit, organizations.singular, organization);
  if (listed.status !== 200) return showMissing(visit, organizations.titleOf(organization.body), listed);
  return showPage(
    visit,
    organizations.titleOf(organization.body),
    html`${tabBar(visit, organizations, id, tab)}${await show(listed)}`,
    notice,
  );
}

export const refused = (answer: ApiAnswer): Notice => ({ kind: 'bad', text: refusalText(answer) });

// Who a person is at other providers: shown, and unlinked after a question, through the Management API.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { code, text } from '../cells.ts';
import { emptyState, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { frameOf, type Visit } from '../console-visit.ts';
import { pathOf } from '../resource-pages.ts';
import { end, tabPage } from './user-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const users = consoleResource('/users');
const tab = '/external-identities';

export async function linksPage(visit: Visit, params: Params): Promise<FastifyReply> {
  const own = pathOf(users, params['id'] ?? '');
  const row = (link: Json): readonly (Html | string)[] => [
    html`<span class="strong">${text(link['provider'])}</span>`,
    code(link['subject']),
    text(link['email'] ?? ''),
    shownTime(link['created_at']),
    link['last_used_at'] === null ? 'never' : shownTime(link['last_used_at']),
    postButton(frameOf(visit), {
      path: `${own}${tab}/${encodeURIComponent(text(link['id']))}/remove`,
      label: 'Unlink…',
      style: 'small danger',
      of: text(link['provider']),
    }),
  ];
  return tabPage(visit, params, tab, (links) =>
    links.length === 0
      ? emptyState('No account elsewhere', 'A link is made when the person signs in with another provider and proves their account here.')
      : table('Accounts elsewhere', ['Provider', 'Subject', 'Email there', 'Linked', 'Last used', 'Unlink'], links.map(row)),
  );
}

export async function removeLink(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const link = `/${encodeURIComponent(params['link'] ?? '')}`;
  return end(visit, typed, params, {
    tab,
    below: `${tab}${link}/remove`,
    api: `${pathOf(users, params['id'] ?? '')}${tab}${link}`,
    done: 'The account elsewhere was unlinked.',
    title: 'Unlink this account elsewhere?',
    text: 'It no longer signs this person in here, and the sessions it opened end.',
    label: 'Unlink',
  });
}

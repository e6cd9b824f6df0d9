// Who was invited and has not come: those whose link still works, and those whose link has ended; reminded or withdrawn, one by one or all.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState, shownTime } from '../console-page.ts';
import { itemsOf, manage, refusalText, showPage, type Visit } from '../console-visit.ts';
import { mayChange } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import { cursorPages, cursorQuery } from '../list-controls.ts';
import { invitedBar, tickBox } from './bulk-pages.ts';

type Json = Readonly<Record<string, unknown>>;

const path = '/users/invited';
const states = { open: 'Link works', expired: 'Link has ended' } as const;

export async function invitedPage(visit: Visit): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const state = visit.query.get('state') === 'expired' ? 'expired' : 'open';
  const answer = await manage(visit, 'GET', `/invitations?state=${state}&${cursorQuery(visit)}`);
  const items = itemsOf(answer);
  const mayAct = mayChange(visit, '/invitations');
  const row = (one: Json): readonly (Html | string)[] => {
    const id = text(one['user_id']);
    const name = text(one['display_name'] ?? one['mailed_to'] ?? id);
    return [
      html`${mayAct && tickBox(id, name)}<a class="strong" href="${consolePath(tenant, `/users/${encodeURIComponent(id)}`)}">${name}</a>`,
      text(one['mailed_to'] ?? 'handed over'),
      shownTime(one['created_at']),
      shownTime(one['expires_at']),
    ];
  };
  const choices = Object.entries(states).map(
    ([name, label]) =>
      html`<a href="${consolePath(tenant, `${path}?state=${name}`)}"${name === state && html` aria-current="page"`}>${label}</a>`,
  );
  const list =
    items.length === 0
      ? emptyState('Nobody', state === 'open' ? 'Everybody who was invited has come.' : 'No link has expired.')
      : html`${table('Invited', ['Person', 'Mailed to', 'Invited', state === 'open' ? 'Link ends' : 'Link ended'], items.map(row))}${cursorPages(visit, path, answer, ['state'])}${mayAct && invitedBar(visit, state)}`;
  return showPage(
    visit,
    'Who has not come',
    html`<nav class="choose" aria-label="Links">${choices}</nav>${list}`,
    answer.status === 200 ? undefined : { kind: 'bad', text: refusalText(answer) },
  );
}

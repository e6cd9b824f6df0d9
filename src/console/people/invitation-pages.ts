// The invitations of a person: what became of each, another one by mail or as a link to copy, and their revocation.
import type { FastifyReply } from 'fastify';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, manage, refusalText, type Visit } from '../console-visit.ts';
import { itemOf, secretOf } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import { pathOf } from '../resource-pages.ts';
import { end, tabPage } from './user-pages.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

const urlOf = (params: Params): string => `${pathOf(consoleResource('/users'), params['id'] ?? '')}/invitations`;

export async function invitationsPage(visit: Visit, params: Params, notice?: Notice): Promise<FastifyReply> {
  const row = (invitation: Json): readonly (Html | string)[] => [
    badge(text(invitation['state']), invitation['state'] === 'open' ? 'good' : 'plain'),
    invitation['mailed_to'] === null ? 'handed over' : text(invitation['mailed_to']),
    shownTime(invitation['created_at']),
    shownTime(invitation['used_at'] ?? invitation['expires_at']),
    invitation['state'] === 'open'
      ? postButton(frameOf(visit), {
          path: `${urlOf(params)}/${encodeURIComponent(text(invitation['id']))}/revoke`,
          label: 'Revoke…',
          style: 'small danger',
          of: text(invitation['mailed_to'] ?? ''),
        })
      : '',
  ];
  return tabPage(
    visit,
    params,
    '/invitations',
    (invitations, user) => html`${madePanel(visit)}${
      invitations.length === 0
        ? emptyState('No invitation yet', 'An invitation is a link by which this person adds a passkey or phone.')
        : table('Invitations', ['State', 'Mailed to', 'Made', 'Used, or ends', 'Revoke'], invitations.map(row))
    }
${user['state'] === 'active' && inviteForm(visit, params, invitations.length > 0)}`,
    notice,
  );
}

function inviteForm(visit: Visit, params: Params, again: boolean): Html {
  const { canMail } = visit.request.tenant;
  return html`<form class="card" method="post" action="${consolePath(visit.request.tenant, urlOf(params))}">${csrfField(frameOf(visit))}
<p>${again ? 'A new invitation takes the place of those before.' : 'The link works once.'} ${!canMail && 'This server cannot send mail: you get the link to copy.'}</p>
<div class="bar">${canMail && html`<button id="invite" name="by" value="mail">Invite by mail</button>`}<button id="invite-link" name="by" value="link"${canMail && html` class="quiet"`}>Make a link to copy</button></div></form>`;
}

/** Invites; the tab shows the link, where it is not mailed. */
export async function inviteUser(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const answer = await manage(visit, 'POST', urlOf(params), { mail: typed.get('by') === 'mail' });
  if (answer.status !== 201) return invitationsPage(visit, params, { kind: 'bad', text: refusalText(answer) });
  const { mailed_to: mailedTo, invitation_url: url, expires_at: until } = answer.body;
  if (mailedTo !== null) return finish(visit, urlOf(params), `The invitation was mailed to ${text(mailedTo)}.`);
  const items = [['link', text(url)] as const, ['until', text(until)] as const];
  return finish(visit, urlOf(params), 'The link was made.', { kind: 'invitation', items });
}

/** The link that was just made. */
function madePanel(visit: Visit): Html | undefined {
  const secret = secretOf(visit, 'invitation');
  return (
    secret &&
    html`<section class="panel" id="invitation" aria-label="Invitation"><h2>The link</h2>
<p>It works once, until ${shownTime(itemOf(secret, 'until'))}, and is shown here for ten minutes. Everybody who opens it can add a passkey or phone for this person, so give it only to them.</p>
<pre id="invitation-link">${itemOf(secret, 'link')}</pre></section>`
  );
}

export async function revokeInvitation(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const invitation = encodeURIComponent(text(params['invitation']));
  return end(visit, typed, params, {
    tab: '/invitations',
    below: `/invitations/${invitation}/revoke`,
    api: `${urlOf(params)}/${invitation}`,
    done: 'The invitation was revoked. Its link no longer works.',
    title: 'Revoke this invitation?',
    text: 'Its link stops working, and what it has begun ends.',
    label: 'Revoke',
  });
}

// A person who lost the phone: recovery codes left, recoveries so far, and a new one with its reason.
import type { FastifyReply } from 'fastify';
import { recoveryReasonCharsMax } from '../../contract/limits.ts';
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

const below = (params: Params, path: string): string => `${pathOf(consoleResource('/users'), params['id'] ?? '')}${path}`;

/** `reason`: as it was typed, of a form that was refused. */
export async function recoveriesPage(visit: Visit, params: Params, notice?: Notice, reason?: string): Promise<FastifyReply> {
  const codes = await manage(visit, 'GET', below(params, '/recovery-codes'));
  return tabPage(
    visit,
    params,
    '/recoveries',
    (recoveries, user) => html`${madePanel(visit)}<p id="codes">${codesText(codes.body)}</p>
${
  recoveries.length === 0
    ? emptyState('No recovery yet', 'A recovery is a link by which this person adds a new phone or passkey. Their old phones stop working.')
    : table(
        'Recoveries',
        ['State', 'Reason', 'Made', 'Used, stopped, or ends', 'Revoke'],
        recoveries.map((recovery) => row(visit, params, recovery)),
      )
}
${user['state'] === 'active' && recoverForm(visit, params, reason ?? '')}`,
    notice,
  );
}

function codesText(codes: Json): string {
  if (codes['made_at'] == null) return 'No recovery codes: this person has made none.';
  return `${text(codes['remaining'])} recovery codes left, made ${text(codes['made_at']).slice(0, 10)}.`;
}

function row(visit: Visit, params: Params, recovery: Json): readonly (Html | string)[] {
  const state = text(recovery['state']);
  return [
    badge(state, state === 'open' ? 'good' : state === 'stopped' ? 'bad' : 'plain'),
    html`${text(recovery['reason'])}<br><span class="muted">${recovery['mailed_to'] === null ? 'handed over' : `mailed to ${text(recovery['mailed_to'])}`}</span>`,
    shownTime(recovery['created_at']),
    shownTime(recovery['stopped_at'] ?? recovery['used_at'] ?? recovery['expires_at']),
    state === 'open'
      ? postButton(frameOf(visit), {
          path: below(params, `/recoveries/${encodeURIComponent(text(recovery['id']))}/revoke`),
          label: 'Revoke…',
          style: 'small danger',
          of: text(recovery['reason']),
        })
      : '',
  ];
}

function recoverForm(visit: Visit, params: Params, reason: string): Html {
  const { canMail } = visit.request.tenant;
  return html`<form class="card" method="post" action="${consolePath(visit.request.tenant, below(params, '/recoveries'))}">${csrfField(frameOf(visit))}
<p>First make sure that you are talking to the right person: everybody who opens the link can act as this person. The link works once, for 24 hours. When it is used, the old phones are revoked. Every address of the person gets a mail now. ${!canMail && 'This server cannot send mail: you get the link to copy.'}</p>
<div class="field"><label for="reason">Reason</label><input id="reason" name="reason" required maxlength="${recoveryReasonCharsMax}" value="${reason}" autocomplete="off" aria-describedby="reason-hint"><p class="hint" id="reason-hint">How you know it is them, for the audit: “Lost phone, shown passport at the desk”.</p></div>
<div class="bar">${canMail && html`<button id="recover" name="by" value="mail">Recover by mail</button>`}<button id="recover-link" name="by" value="link"${canMail && html` class="quiet"`}>Make a link to copy</button></div></form>`;
}

/** Makes a recovery; the tab shows the link, where there is one. */
export async function recoverUser(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const reason = typed.get('reason') ?? '';
  const answer = await manage(visit, 'POST', below(params, '/recoveries'), { reason, mail: typed.get('by') === 'mail' });
  if (answer.status !== 201) return recoveriesPage(visit, params, { kind: 'bad', text: refusalText(answer) }, reason);
  const { mailed_to: mailedTo, recovery_url: url, expires_at: until } = answer.body;
  const here = below(params, '/recoveries');
  if (url === null) return finish(visit, here, `The link was mailed to ${text(mailedTo)}.`);
  const items = [['link', text(url)] as const, ['until', text(until)] as const];
  return finish(visit, here, 'The link was made.', { kind: 'recovery', items });
}

/** The link that was just made. */
function madePanel(visit: Visit): Html | undefined {
  const secret = secretOf(visit, 'recovery');
  return (
    secret &&
    html`<section class="panel" id="recovery" aria-label="Recovery"><h2>The link</h2>
<p>It works once, until ${shownTime(itemOf(secret, 'until'))}, and is shown here for ten minutes. Hand it to this person and nobody else.</p>
<pre id="recovery-link">${itemOf(secret, 'link')}</pre></section>`
  );
}

export async function revokeRecovery(visit: Visit, typed: Typed, params: Params): Promise<FastifyReply> {
  const recovery = encodeURIComponent(text(params['recovery']));
  return end(visit, typed, params, {
    tab: '/recoveries',
    below: `/recoveries/${recovery}/revoke`,
    api: below(params, `/recoveries/${recovery}`),
    done: 'The recovery was revoked. Its link no longer works.',
    title: 'Revoke this recovery?',
    text: 'Its link stops working, and what it has begun ends.',
    label: 'Revoke',
  });
}

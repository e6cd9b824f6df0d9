// "Waiting for your app": what came of the sign-ins of an application until now. The console's script looks again while the page is
// open; without it a link does.
import { type Html, html } from '../../platform/html.ts';
import { explainLink } from '../activity/events-page.ts';
import { text } from '../cells.ts';
import { shownTime } from '../console-page.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';

type Json = Readonly<Record<string, unknown>>;

/** The panel of an application people sign in to. */
export async function waitingPanel(visit: Visit, clientId: string): Promise<Html> {
  const [latest] = itemsOf(
    await manage(visit, 'GET', `/events?${new URLSearchParams({ target: `client:${clientId}`, type: 'login.*', limit: '1' })}`),
  );
  const here = consolePath(visit.request.tenant, `/clients/${encodeURIComponent(clientId)}/start`);
  const said = latest === undefined ? waiting(here) : await arrived(visit, latest);
  return html`<section class="panel" id="waiting" role="status"${latest === undefined && html` data-waits="yes"`}>${said}</section>`;
}

const waiting = (here: string): Html =>
  html`<h2>Waiting for your app</h2><p>Nobody has signed in to it yet. Start it and sign in: this page then says so.</p><p><a class="button quiet" id="look-again" href="${here}">Look again</a></p>`;

async function arrived(visit: Visit, event: Json): Promise<Html> {
  const at = shownTime(event['created_at']);
  if (event['type'] === 'login.finished')
    return html`<h2>Your app works</h2><p>${await personOf(visit, text(event['actor']))} signed in, ${at}. ${explainLink(visit, event)}</p>`;
  const why = event['type'] === 'login.cancelled' ? 'The person stopped it.' : `It was refused: ${text(event['reason'])}.`;
  return html`<h2>A sign-in did not end well</h2><p>${why} ${at}. <a href="${consolePath(visit.request.tenant, '/explain')}?request_id=${encodeURIComponent(text(event['request_id']))}">Explain</a></p>`;
}

/** Their name, of what the reader may see. */
async function personOf(visit: Visit, actor: string): Promise<string> {
  const [kind, id = ''] = actor.split(':', 2);
  if (kind !== 'user') return 'A person';
  const { status, body } = await manage(visit, 'GET', `/users/${encodeURIComponent(id)}`);
  return status === 200 ? text(body['display_name'] ?? body['user_name'] ?? 'A person') : 'A person';
}

// Who signed in lately, where, and how: the panel of the overview.
import type { Json } from '../../domain/field.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { reasonNamed } from '../activity/event-words.ts';
import { named, namesIn } from '../activity/events-page.ts';
import { text } from '../cells.ts';
import { shownTime } from '../console-page.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';

const signInsShown = 8;

interface SignIns {
  readonly items: readonly Json[];
  readonly names: Readonly<Record<string, string>>;
}

/** The last sign-ins, newest first, and what the people and applications in them are called. */
export async function latestSignIns(visit: Visit): Promise<SignIns> {
  const query = new URLSearchParams({ type: 'login.finished', names: 'shown', limit: String(signInsShown) });
  const answer = await manage(visit, 'GET', `/events?${query}`);
  return { items: itemsOf(answer), names: namesIn(answer.body) };
}

export function signInsPanel(visit: Visit, { items, names }: SignIns): Html {
  const rows = items.map((event) => [
    shownTime(event['created_at']),
    named(visit, text(event['actor']), names),
    named(visit, text(event['target']), names),
    reasonNamed(text((event['data'] as Json | null)?.['method'])),
  ]);
  const all = html`<p><a class="button quiet" id="all-sign-ins" href="${consolePath(visit.request.tenant, '/events')}?type=login.*">All sign-ins</a></p>`;
  return html`<section id="sign-ins"><h2>Sign-ins of late</h2>${rows.length === 0 ? html`<p class="muted">Nobody signed in yet.</p>` : html`${table('Sign-ins of late', ['When', 'Who', 'To what', 'By'], rows)}${all}`}</section>`;
}

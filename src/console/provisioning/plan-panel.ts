// What a run of a connector or a directory would do, as a page shows it: how many people, and the first of them.
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { emptyState } from '../console-page.ts';

type Json = Readonly<Record<string, unknown>>;

const shownMax = 50;

interface PlanWords {
  readonly about: string;
  /** What people read of what a run does; the API's own words before them. */
  readonly actions: Readonly<Record<string, string>>;
  /** What is said where nothing is done. */
  readonly nothing: string;
  /** What the first column shows. */
  readonly who: (difference: Json) => Html;
}

export function planPanel({ about, actions, nothing, who }: PlanWords, plan: Json): Html {
  const { counts, differences, complete } = plan as { counts: Json; differences: readonly Json[]; complete: boolean }; // the API's shape
  const rows = differences
    .slice(0, shownMax)
    .map((difference) => [who(difference), actions[text(difference['action'])] ?? text(difference['action'])]);
  return html`<section class="panel" aria-label="In numbers"><p>${about}</p>
<dl>${Object.entries(actions).map(([name, label]) => html`<dt>${label}</dt><dd>${text(counts[name])}</dd>`)}</dl>
${!complete && html`<p class="muted">There are more people than a plan looks at.</p>`}</section>
${rows.length === 0 ? emptyState('Nothing to do', nothing) : table('People', ['Who', 'What'], rows)}
${differences.length > shownMax && html`<p class="muted">And more: the API lists the first 1,000.</p>`}`;
}

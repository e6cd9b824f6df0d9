// What a run of a directory would do, and a test of one, as pages: a button each, because another server is asked, and below it the answer.
// Nothing is written.
import type { FastifyReply } from 'fastify';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { badge, emptyState, postButton } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { frameOf, manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { planPanel } from '../provisioning/plan-panel.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { attributeName, mayDoAll } from './directory-resource.ts';
import { failureNotice } from './failure-words.ts';
import { told } from './told-text.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

/** A page that asks the directory. */
interface Asking {
  /** Below the directory, here and in the API. */
  readonly tab: '/plan' | '/test';
  readonly about: string;
  readonly label: string;
  readonly shown: (answer: Json) => Html;
}

const actions: Readonly<Record<string, string>> = {
  create: 'Made',
  adopt: 'Here already, from now on kept by the directory',
  update: 'Changed',
  activate: 'Active again',
  suspend: 'Suspended',
  delete: 'Deleted',
  leave: 'Left as they are, from now on without the directory',
  unchanged: 'As they should be',
  conflict: 'In conflict',
  skipped: 'Cannot be taken',
  ignored: 'Left out',
};

/** There may be fifty rows. */
const rowCharsShown = 100;

export const plan: Asking = {
  tab: '/plan',
  about: 'Reads the directory and says what a run would do with people now. Nothing is written. With many people it takes a while.',
  label: 'Make a plan',
  shown: (answer) =>
    planPanel(
      {
        about: 'What a run would do with people now. Nothing was written.',
        actions,
        nothing: 'Everybody is here as they should be.',
        who: ({ user_name: name, dn }) =>
          html`${text(name) !== '' && html`<span class="strong">${told(name, rowCharsShown)}</span><br>`}<code>${told(dn, rowCharsShown)}</code>`,
      },
      answer,
    ),
};

export const test: Asking = {
  tab: '/test',
  about: 'Signs in to the directory and reads ten people, also while it is paused. Nothing is written.',
  label: 'Test',
  shown: ({ failure, people }) => peopleOf(people as readonly Json[], failure === null), // the API's shape
};

function peopleOf(people: readonly Json[], isRead: boolean): Html {
  if (people.length === 0)
    return isRead ? emptyState('It has nobody', 'We can sign in. Check where people are below, and which entries are people.') : html``;
  return html`<p>${people.length === 1 ? 'One person' : `The first ${people.length} people`}, as they would be here:</p>
${table('People', ['Entry', 'State', 'Values'], people.map(rowOf))}`;
}

const rowOf = ({ dn, active, values }: Json): readonly Html[] => [
  html`<code>${told(dn)}</code>`,
  active === true ? badge('active', 'good') : badge('disabled there', 'plain'),
  valuesOf(values as Readonly<Record<string, readonly unknown[]>>), // the API's shape
];

const attributesShown = 12;
const valuesShown = 3;
const valueCharsShown = 80;

function valuesOf(values: Readonly<Record<string, readonly unknown[]>>): Html {
  const all = Object.entries(values);
  if (all.length === 0) return html`<span class="muted">none</span>`;
  const one = ([name, given]: readonly [string, readonly unknown[]]): Html =>
    html`<li><span class="muted" title="${name}">${attributeName(name)}</span> ${given.slice(0, valuesShown).map((value, at) => html`${at > 0 && ', '}${told(value, valueCharsShown)}`)}${given.length > valuesShown && ` and ${given.length - valuesShown} more`}</li>`;
  return html`<ul class="lines">${all.slice(0, attributesShown).map(one)}</ul>${all.length > attributesShown && html`<p class="muted">And ${all.length - attributesShown} more attributes.</p>`}`;
}

/** The page before somebody asks. */
export const askingPage = (visit: Visit, asking: Asking, params: Params): Promise<FastifyReply> => show(visit, asking, params, false);

/** Asks the directory, and shows what it answered. */
export const askDirectory = (visit: Visit, asking: Asking, params: Params): Promise<FastifyReply> => show(visit, asking, params, true);

async function show(visit: Visit, { tab, about, label, shown }: Asking, { id = '' }: Params, isAsked: boolean): Promise<FastifyReply> {
  const resource = consoleResource('/directories');
  const own = pathOf(resource, id);
  const directory = await manage(visit, 'GET', own);
  if (directory.status !== 200) return showMissing(visit, resource.singular, directory);
  // It changes nothing, and may be sent again: the form keeps its one use.
  const { form: _form, ...asks } = visit;
  const answer = isAsked ? await manage(asks, 'POST', `${own}${tab}`) : undefined;
  if (answer !== undefined && answer.status !== 200) return showMissing(visit, resource.titleOf(directory.body), answer);
  const ask = mayDoAll(visit, directory.body)
    ? postButton(frameOf(visit), { path: `${own}${tab}`, label, id: 'ask' })
    : html`<p>Your roles let you see this directory, but not the people in it.</p>`;
  const failure = answer?.body['failure'] as Json | null | undefined; // the API's shape
  return showPage(
    visit,
    resource.titleOf(directory.body),
    html`${tabBar(visit, resource, id, tab)}
<section class="panel" aria-label="${label}"><p>${about}</p>${ask}</section>
${failure != null && failureNotice(failure)}${answer !== undefined && html`<div id="answer">${tab === '/test' && failure === null && html`<p>${badge('works', 'good')} The directory takes our name and password.</p>`}${shown(answer.body)}</div>`}`,
  );
}

// What to do first, on the overview: a list that ticks itself by what the Management API tells, and the next step of whoever looks.
import type { Json } from '../../domain/field.ts';
import { machineGrantType } from '../../domain/oidc/grant-types.ts';
import { table } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { reasonNamed } from '../activity/event-words.ts';
import { named, namesIn } from '../activity/events-page.ts';
import { text } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import { itemsOf, manage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';

interface Step {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  /** Of the console where it begins with a slash, else of the documents. */
  readonly at: string;
  /** Capabilities it takes; whoever lacks one is not told of it. */
  readonly needs: readonly string[];
  readonly isDone: boolean;
}

/** What the steps are judged by. */
interface Facts {
  readonly directory: Readonly<Record<string, number>>;
  readonly signIns: Awaited<ReturnType<typeof latestSignIns>>;
}

const signInsRead = 50;
const signInsShown = 8;
const clientsRead = 50;
const administratorsRead = 200;

/** The last sign-ins, newest first, and what the people and applications in them are called. */
export async function latestSignIns(
  visit: Visit,
): Promise<{ readonly items: readonly Json[]; readonly names: Readonly<Record<string, string>> }> {
  const answer = await manage(
    visit,
    'GET',
    `/events?${new URLSearchParams({ type: 'login.finished', names: 'shown', limit: String(signInsRead) })}`,
  );
  return { items: itemsOf(answer), names: namesIn(answer.body) };
}

/** Who signed in lately, where, and how. */
export function signInsPanel(visit: Visit, { items, names }: Facts['signIns']): Html {
  const rows = items
    .slice(0, signInsShown)
    .map((event) => [
      shownTime(event['created_at']),
      named(visit, text(event['actor']), names),
      named(visit, text(event['target']), names),
      reasonNamed(text((event['data'] as Json | null)?.['method'])),
    ]);
  const all = html`<p><a class="button quiet" id="all-sign-ins" href="${consolePath(visit.request.tenant, '/events')}?type=login.*">All sign-ins</a></p>`;
  return html`<section id="sign-ins"><h2>Sign-ins of late</h2>${rows.length === 0 ? html`<p class="muted">Nobody signed in yet.</p>` : html`${table('Sign-ins of late', ['When', 'Who', 'To what', 'By'], rows)}${all}`}</section>`;
}

/** The list, with its next step as the page's first button; folded away when nothing is left. */
export async function stepsPanel(visit: Visit, facts: Facts): Promise<Html | undefined> {
  const steps = (await stepsOf(visit, facts)).filter(({ needs }) => needs.every((capability) => visit.allowed.has(capability)));
  const next = steps.find(({ isDone }) => !isDone);
  if (steps.length === 0) return undefined;
  const done = steps.filter(({ isDone }) => isDone).length;
  const href = ({ at }: Step): string => (at.startsWith('/docs/') ? at : consolePath(visit.request.tenant, at));
  const list = html`<ol class="todo">${steps.map(
    (step) =>
      html`<li id="step-${step.id}">${step.isDone ? badge('done', 'good') : badge('to do', 'plain')} <span>${step.isDone ? step.name : html`<a href="${href(step)}">${step.name}</a>`}<br><span class="muted">${step.about}</span></span></li>`,
  )}</ol>${sellsToCompanies(visit)}`;
  if (next === undefined)
    return html`<details class="panel" id="first-steps"><summary>First steps: all ${String(steps.length)} are done</summary>${list}</details>`;
  return html`<section class="panel" id="first-steps"><div class="bar spread"><h2>First steps: ${String(done)} of ${String(steps.length)} done</h2><a class="button" id="next-step" href="${href(next)}">Next step: ${next.name}</a></div>${list}</section>`;
}

/** A question, no step: who has people of their own alone never needs an organisation. */
const sellsToCompanies = (visit: Visit): Html | undefined =>
  visit.request.tenant.organizations.exist || !visit.allowed.has('organizations:write')
    ? undefined
    : html`<p class="muted" id="sell-to-companies">Sell to companies? <a href="${consolePath(visit.request.tenant, '/organizations')}">Make an organisation for each customer</a>: their people, their roles, their own sign-in.</p>`;

interface StepText extends Omit<Step, 'isDone'> {
  readonly id: StepId;
}

type StepId = 'mail' | 'application' | 'people' | 'branding' | 'sign-in' | 'second';

const texts: readonly StepText[] = [
  {
    ...{
      id: 'mail',
      name: 'Let the server send mail',
      about: 'For codes and invitations. Whoever runs the server sets GATEHOUSE_SMTP_URL, or the tenant has a server under Mail.',
    },
    ...{ at: '/docs/reference/configuration', needs: ['sign-in:write'] },
  },
  {
    ...{ id: 'application', name: 'Make an application', about: 'What people are to sign in to.' },
    ...{ at: '/clients/new', needs: ['clients:write'] },
  },
  {
    ...{ id: 'people', name: 'Invite people', about: 'Somebody besides the administrators.' },
    ...{ at: '/users/invite', needs: ['users:write', 'invitations:write', 'administrators:read'] },
  },
  {
    ...{ id: 'branding', name: 'Publish your branding', about: 'Logo and colours of the sign-in, drafted with a preview.' },
    ...{ at: '/branding', needs: ['branding:write', 'branding:read'] },
  },
  {
    ...{ id: 'sign-in', name: 'See a first sign-in', about: 'Of a person, to an application of yours.' },
    ...{ at: '/clients', needs: ['clients:write'] },
  },
  {
    ...{ id: 'second', name: 'Add a second administrator', about: 'So that one lost phone locks nobody out.' },
    ...{ at: '/administrators/new', needs: ['administrators:write', 'administrators:read'] },
  },
];

async function stepsOf(visit: Visit, { directory, signIns }: Facts): Promise<readonly Step[]> {
  const read = (capability: string, path: string): Promise<Json> =>
    visit.allowed.has(capability) ? manage(visit, 'GET', path).then(({ body }) => body) : Promise.resolve({});
  const [clients, administrators, branding] = await Promise.all([
    read('clients:read', `/clients?limit=${clientsRead}`),
    read('administrators:read', `/administrators?limit=${administratorsRead}`),
    read('branding:read', '/branding'),
  ]);
  const application = itemsIn(clients).find(hasPeople);
  const holders = itemsIn(administrators).length;
  const isDone: Readonly<Record<StepId, boolean>> = {
    mail: visit.request.tenant.canMail,
    application: application !== undefined || clients['next_cursor'] !== undefined || (directory['service_providers'] ?? 0) > 0,
    people: administrators['next_cursor'] !== undefined || (directory['users'] ?? 0) > holders,
    branding: branding['can_undo'] === true || Object.keys((branding['published'] ?? {}) as Json).length > 0,
    'sign-in': signIns.items.some(({ target }) => !isOwn(text(target))),
    second: holders > 1,
  };
  const start = application && `/clients/${encodeURIComponent(text(application['client_id']))}/start`;
  return texts.map((step) => ({ ...step, at: (step.id === 'sign-in' && start) || step.at, isDone: isDone[step.id] }));
}

const itemsIn = (body: Json): readonly Json[] => (body['items'] ?? []) as readonly Json[]; // every list of the API has this shape

const ownPrefix = 'gatehouse-';

/** Neither ours nor one that works by itself, as the client of the tenant's Management API. */
const hasPeople = (client: Json): boolean =>
  !text(client['client_id']).startsWith(ownPrefix) &&
  (client['grant_types'] as readonly string[]).some((grant) => grant !== machineGrantType); // the API's shape

/** Our own console, account page and tester. */
const isOwn = (target: string): boolean => target.startsWith(`client:${ownPrefix}`);

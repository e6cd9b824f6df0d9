// What to do first, on the overview: a list of what was shown to work and what was not, each with the button that tries it, and the next step
// of whoever looks. A step is done when it was seen to work, not when something was made: a mail whose code was typed in, a sign-in on record.
import { isOwnClient } from '../../domain/client/own-clients.ts';
import type { Json } from '../../domain/field.ts';
import { machineGrantType } from '../../domain/oidc/grant-types.ts';
import { type Html, html } from '../../platform/html.ts';
import {
  countAdministratorsSeen,
  findEvidence,
  noteProvenSteps,
  type ProvenStep,
  provenSteps,
  readProvenSteps,
} from '../../storage/records/first-steps.ts';
import { findArrival, type TrialParts, trialPath } from '../appearance/mail-trial.ts';
import { text } from '../cells.ts';
import { badge, shownTime } from '../console-page.ts';
import { manage, type Visit } from '../console-visit.ts';
import { consolePath } from '../frame/navigation.ts';

type StepId = 'mail' | 'application' | 'people' | 'branding' | 'sign-in' | 'second';

/** What tries a step that is not done. */
interface Way {
  readonly label: string;
  /** Below /console. */
  readonly at: string;
}

interface StepText {
  readonly id: StepId;
  readonly name: string;
  readonly about: string;
  /** Capabilities it takes; whoever lacks one is not told of it. */
  readonly needs: readonly string[];
}

interface Step extends StepText, Way {
  /** False, or since when it is known to work, or that it is so now. */
  readonly done: number | boolean;
}

const clientsRead = 50;
const administratorsRead = 2;

/** The list, with its next step as the page's first button; folded away when nothing is left. */
export async function stepsPanel(visit: Visit, own: TrialParts, directory: Readonly<Record<string, number>>): Promise<Html | undefined> {
  const steps = (await stepsOf(visit, own, directory)).filter(({ needs }) => needs.every((capability) => visit.allowed.has(capability)));
  const next = steps.find(({ done }) => done === false);
  if (steps.length === 0) return undefined;
  const done = steps.filter((step) => step.done !== false).length;
  const list = html`<ol class="todo">${steps.map((step) => item(visit, step, next))}</ol>${sellsToCompanies(visit)}`;
  if (next === undefined)
    return html`<details class="panel" id="first-steps"><summary>First steps: all ${String(steps.length)} are done</summary>${list}</details>`;
  return html`<section class="panel" id="first-steps"><div class="bar spread"><h2>First steps: ${String(done)} of ${String(steps.length)} done</h2><a class="button" id="next-step" href="${consolePath(visit.request.tenant, next.at)}">${next.label}</a></div>${list}</section>`;
}

function item({ request }: Visit, step: Step, next: Step | undefined): Html {
  const { id, name, about, done, at, label } = step;
  const href = consolePath(request.tenant, at);
  const state = done === false ? badge('to do', 'plain') : badge('done', 'good');
  const since = typeof done === 'number' && html` Seen ${shownTime(new Date(done).toISOString())}.`;
  const way =
    done === false &&
    step !== next &&
    html` <a class="button small quiet" href="${href}">${label}<span class="hidden">: ${name}</span></a>`;
  return html`<li id="step-${id}">${state} <span>${name}<br><span class="muted">${about}${since}${id === 'mail' && done !== false && html` <a href="${href}">Try again</a>`}</span></span>${way}</li>`;
}

/** A question, no step: who has people of their own alone never needs an organisation. */
const sellsToCompanies = (visit: Visit): Html | undefined =>
  visit.request.tenant.organizations.exist || !visit.allowed.has('organizations:write')
    ? undefined
    : html`<p class="muted" id="sell-to-companies">Sell to companies? <a href="${consolePath(visit.request.tenant, '/organizations')}">Make an organisation for each customer</a>: their people, their roles, their own sign-in.</p>`;

// biome-ignore format: a step a line or two
const texts: readonly StepText[] = [
  { id: 'mail', name: 'See a mail arrive', needs: ['mail:write'],
    about: 'For codes and invitations. A mail goes to your own address; done once you typed its code in.' },
  { id: 'application', name: 'Try an application', needs: ['clients:write'],
    about: 'Done once somebody signed in to it, or was refused and you can see why.' },
  { id: 'people', name: 'Invite somebody', needs: ['users:write', 'invitations:write', 'administrators:read'],
    about: 'Done once somebody who is no administrator has come and signed in.' },
  { id: 'branding', name: 'Publish your branding', needs: ['branding:write', 'branding:read'],
    about: 'Logo and colours of the sign-in, drafted with a preview.' },
  { id: 'sign-in', name: 'See a person sign in to your application', needs: ['clients:write'],
    about: 'Done once somebody who is no administrator did: our own pages do not count.' },
  { id: 'second', name: 'Add a second administrator', needs: ['administrators:write', 'administrators:read'],
    about: 'So that one lost phone locks nobody out. Done once two have signed in.' },
];

async function stepsOf(visit: Visit, own: TrialParts, directory: Readonly<Record<string, number>>): Promise<readonly Step[]> {
  const read = (capability: string, path: string): Promise<Json> =>
    visit.allowed.has(capability) ? manage(visit, 'GET', path).then(({ body }) => body) : Promise.resolve({});
  const [clients, administrators, branding, seen, arrivedAt] = await Promise.all([
    read('clients:read', `/clients?limit=${clientsRead}`),
    read('administrators:read', `/administrators?limit=${administratorsRead}`),
    read('branding:read', '/branding'),
    seenSteps(visit),
    findArrival(visit, own),
  ]);
  const application = itemsIn(clients).find(hasPeople);
  const start = application && `/clients/${encodeURIComponent(text(application['client_id']))}/start`;
  const saml = (directory['service_providers'] ?? 0) > 0;
  const tryIt: Way =
    start !== undefined
      ? { label: `Sign in to ${text(application!['name'])}`, at: start }
      : saml
        ? { label: 'Hand it to the other side', at: '/service-providers' }
        : { label: 'Make an application', at: '/clients/new' };
  const holders = itemsIn(administrators).length;
  const isInvited = (directory['users'] ?? 0) > holders;
  const states: Readonly<Record<StepId, Pick<Step, 'done'> & Way>> = {
    mail: { done: arrivedAt ?? false, label: 'Send yourself a mail', at: trialPath },
    application: { done: seen.at.get('application') ?? false, ...tryIt },
    people: {
      done: seen.at.get('people') ?? false,
      ...(isInvited ? { label: 'Who has not come', at: '/users/invited' } : { label: 'Invite people', at: '/users/invite' }),
    },
    branding: {
      done: branding['can_undo'] === true || Object.keys((branding['published'] ?? {}) as Json).length > 0,
      ...{ label: 'Draft and preview', at: '/branding' },
    },
    'sign-in': { done: seen.at.get('sign-in') ?? false, ...tryIt },
    second: {
      done: seen.administrators > 1,
      ...(holders > 1
        ? { label: 'Who has not come', at: '/administrators' }
        : { label: 'Add an administrator', at: '/administrators/new' }),
    },
  };
  return texts.map((step) => ({ ...step, ...states[step.id] }));
}

interface Seen {
  readonly at: ReadonlyMap<ProvenStep, number>;
  readonly administrators: number;
}

/** What sign-ins have shown; what they show for the first time now is kept, so that it is not looked for again. */
async function seenSteps({ services, request: { tenant } }: Visit): Promise<Seen> {
  const { database, clock } = services;
  const { at, fresh, administrators } = await database.read(tenant.id, async (queries) => {
    const known = await readProvenSteps(queries, tenant.id);
    const evidence = known.size === provenSteps.length ? new Set<ProvenStep>() : await findEvidence(queries, tenant.id);
    const unknown = [...evidence].filter((step) => !known.has(step));
    return { at: known, fresh: unknown, administrators: await countAdministratorsSeen(queries, tenant.id) };
  });
  if (fresh.length > 0) await database.write(tenant.id, (queries) => noteProvenSteps(queries, tenant.id, fresh));
  return { at: new Map([...at, ...fresh.map((step) => [step, clock.nowMs()] as const)]), administrators };
}

const itemsIn = (body: Json): readonly Json[] => (body['items'] ?? []) as readonly Json[]; // every list of the API has this shape

/** Neither ours nor one that works by itself, as the client of the tenant's Management API. */
const hasPeople = (client: Json): boolean =>
  !isOwnClient({ clientId: text(client['client_id']) }) &&
  (client['grant_types'] as readonly string[]).some((grant) => grant !== machineGrantType); // the API's shape

// A person at one glance: how they stand in words, what can be done, their ways in, where they belong, what they are signed in to, and the
// last tries. Each part is left out for whoever may not read it.
import type { FastifyReply } from 'fastify';
import { type Html, html } from '../../platform/html.ts';
import { namesIn } from '../activity/events-page.ts';
import { triesOfPerson, tryTable } from '../activity/sign-ins-page.ts';
import { text } from '../cells.ts';
import { badge, postButton, shownTime } from '../console-page.ts';
import { frameOf, itemsOf, manage, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange, maySee } from '../frame/allowed.ts';
import { secretOf, secretPanel } from '../frame/flash.ts';
import { consolePath } from '../frame/navigation.ts';
import type { ConsoleResource } from '../frame/resource.ts';
import { actionButtons, pathOf, tabBar } from '../resource-pages.ts';
import { emailsOf, originOf, personFacts } from './user-resource.ts';

type Json = Readonly<Record<string, unknown>>;
/** Undefined: not to be read by whoever looks. */
type List = readonly Json[] | undefined;

const triesShown = 5;
const applicationsShown = 8;

export async function personPage(visit: Visit, users: ConsoleResource, params: Readonly<Record<string, string>>): Promise<FastifyReply> {
  const path = pathOf(users, params['id'] ?? '');
  const answer = await manage(visit, 'GET', path);
  if (answer.status !== 200) return showMissing(visit, users.singular, answer);
  const person = answer.body;
  const id = text(person['id']);
  const [devices, passkeys, links, groups, organizations, sessions, invitations] = await Promise.all(
    (['/devices', '/passkeys', '/external-identities', '/groups', '/organizations', '/sessions', '/invitations'] as const).map((part) =>
      listOf(visit, path, part),
    ),
  );
  const roles = maySee(visit, '/administrators') ? await manage(visit, 'GET', `${path}/roles`) : undefined;
  const secrets = person['state'] === 'suspended' ? await listOf(visit, path, '/known-secrets') : undefined;
  const tries = maySee(visit, '/sign-ins') ? await triesOfPerson(visit, id, triesShown) : undefined;
  const parts = [
    panel('Ways in', waysIn(person, { devices, passkeys, links })),
    panel('Belongs to', [
      ...(groups === undefined ? [] : [['Groups', linksOf(visit, '/groups', groups, 'none')] as const]),
      ...(organizations === undefined || organizations.length === 0
        ? []
        : [['Organisations', belongingsOf(visit, organizations)] as const]),
      ...(roles?.status === 200 ? [['Roles', ((roles.body['roles'] ?? []) as readonly string[]).join(', ') || 'none'] as const] : []),
      ['From', originOf(person)],
    ]),
    panel('Signed in to', [['Applications', await applicationsOf(visit, sessions ?? [])]]),
    panel('About', [
      ['User name', text(person['user_name'])],
      ['Emails', emailsOf(person).join(', ')],
      ...personFacts.map(([name, cell]) => [name, cell(person)] as const),
      ['Id', html`<code>${id}</code>`],
    ]),
  ];
  return showPage(
    visit,
    users.titleOf(person),
    html`${tabBar(visit, users, id, '')}${secretPanel(secretOf(visit, users.path))}<section class="panel" id="card" aria-label="State"><p>${stateOf(person, invitations, tries?.status === 200 ? itemsOf(tries) : [])}${secretsLeft(visit, path, secrets ?? [])}</p>
<div class="bar">${actionsFor(visit, users, person, sessions ?? [])}</div></section><div class="split">${parts}</div>
${tries?.status === 200 && html`<h2>Last sign-ins</h2>${tryTable(visit, itemsOf(tries), namesIn(tries.body))}`}`,
  );
}

async function listOf(visit: Visit, path: string, part: string): Promise<List> {
  if (!maySee(visit, part)) return undefined;
  const answer = await manage(visit, 'GET', `${path}${part}`);
  return answer.status === 200 ? itemsOf(answer) : undefined;
}

/** How the person stands, in a sentence. */
function stateOf({ state, origin, directory, last_sign_in_at: counted }: Json, invitations: List, tries: readonly Json[]): Html {
  // Sign-ins are counted a moment later.
  const last = tries.find(({ type }) => type === 'login.finished')?.['updated_at'] ?? counted;
  const open = invitations?.find((one) => one['state'] === 'open');
  const mayReturn = origin === 'scim' && directory === undefined && ' They come from a directory, which may bring them back.';
  if (state === 'suspended') return html`${badge('suspended', 'bad')} They cannot sign in.${mayReturn}`;
  if (last === undefined && open !== undefined)
    return html`${badge('invited', 'plain')} Invited ${shownTime(open['created_at'])}, and has not come yet.`;
  if (last === undefined) return html`${badge('active', 'good')} May sign in. No sign-in is known yet.`;
  return html`${badge('active', 'good')} Last signed in ${shownTime(last)}.`;
}

/** What a person who may not sign in any more could still let others in by. */
const secretsLeft = (visit: Visit, path: string, secrets: readonly Json[]): Html | undefined =>
  secrets.length === 0
    ? undefined
    : html` <a id="known-secrets" href="${consolePath(visit.request.tenant, `${path}/known-secrets`)}">${secrets.length === 1 ? '1 secret they know' : `${secrets.length} secrets they know`}</a> ${secrets.length === 1 ? 'works' : 'work'} on until you end ${secrets.length === 1 ? 'it' : 'them'}.`;

function actionsFor(visit: Visit, users: ConsoleResource, person: Json, sessions: readonly Json[]): readonly Html[] {
  const path = pathOf(users, text(person['id']));
  const isActive = person['state'] === 'active';
  const link = (tab: string, label: string, id: string): Html =>
    html`<a class="button quiet" id="${id}" href="${consolePath(visit.request.tenant, `${path}${tab}`)}">${label}</a>`;
  const end = { path: `${path}/sessions/end`, label: 'End all sessions…', style: 'quiet', id: 'end-sessions' } as const;
  return [
    ...(isActive && mayChange(visit, '/invitations') ? [link('/invitations', 'Invite again', 'invite-again')] : []),
    ...(isActive && visit.allowed.has('users:recover') ? [link('/recoveries', 'Lost phone', 'recover')] : []),
    ...(sessions.length > 0 && mayChange(visit, users.path) ? [postButton(frameOf(visit), end)] : []),
    ...actionButtons(visit, users, '', person),
  ];
}

interface Ways {
  readonly devices: List;
  readonly passkeys: List;
  readonly links: List;
}

type Fact = readonly [name: string, value: Html | string];

function waysIn(person: Json, { devices, passkeys, links }: Ways): readonly Fact[] {
  const count = (list: readonly Json[]): string => (list.length === 0 ? 'none' : String(list.length));
  const active = devices?.filter(({ state }) => state === 'active');
  return [
    ['Mailed codes', emailsOf(person)[0] ?? 'none: no email'],
    ...(passkeys === undefined ? [] : [['Passkeys', count(passkeys)] as const]),
    ...(active === undefined
      ? []
      : [
          [
            'Phones',
            active
              .map((one) => text(one['name'] ?? one['model']))
              .filter(Boolean)
              .join(', ') || count(active),
          ] as const,
        ]),
    ...(links === undefined ? [] : [['Other providers', count(links)] as const]),
  ];
}

const panel = (title: string, facts: readonly Fact[]): Html =>
  html`<section class="panel"><h2>${title}</h2><dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl></section>`;

function linksOf(visit: Visit, path: string, items: readonly Json[], none: string): Html | string {
  if (items.length === 0) return none;
  return html`<span>${items.map(
    (one, index) =>
      html`${index > 0 && ', '}<a href="${consolePath(visit.request.tenant, `${path}/${encodeURIComponent(text(one['id']))}`)}">${text(one['display_name'])}</a>`,
  )}</span>`;
}

/** The organisations of a person, with the roles there. */
const belongingsOf = (visit: Visit, items: readonly Json[]): Html =>
  html`<span>${items.map((one, index) => {
    const roles = (one['roles'] as readonly string[]).join(', '); // the API's shape
    const at = consolePath(visit.request.tenant, `/organizations/${encodeURIComponent(text(one['id']))}/members`);
    return html`${index > 0 && '; '}<a href="${at}">${text(one['display_name'] ?? one['name'])}</a>${roles !== '' && html` (${roles})`}`;
  })}</span>`;

/** What has tokens of the person, by name. */
async function applicationsOf(visit: Visit, sessions: readonly Json[]): Promise<Html | string> {
  const ids = [...new Set(sessions.map((one) => text(one['client_id'])))];
  if (ids.length === 0) return 'nothing';
  const named = await Promise.all(
    ids.slice(0, applicationsShown).map(async (id) => {
      const answer = maySee(visit, '/clients') ? await manage(visit, 'GET', `/clients/${encodeURIComponent(id)}`) : undefined;
      return { id, display_name: answer?.status === 200 ? answer.body['name'] : id };
    }),
  );
  const more = ids.length > named.length ? ` and ${ids.length - named.length} more` : '';
  return html`${linksOf(visit, '/clients', named, '')}${more}`;
}

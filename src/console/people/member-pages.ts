// Who is in a group, and who may use a client or service provider: a list with removal, and a picker to add. Both are lists of
// people below one thing of the API, changed through it.
import type { FastifyReply } from 'fastify';
import type { ApiAnswer } from '../../first-party/app-api.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice, table } from '../../first-party/app-page.ts';
import { renderField } from '../../first-party/form-field.ts';
import { type Html, html } from '../../platform/html.ts';
import { text } from '../cells.ts';
import { askPage, isSure } from '../confirm-page.ts';
import { badge, emptyState, postButton, shownTime } from '../console-page.ts';
import { consoleResource } from '../console-resources.ts';
import { finish, frameOf, itemsOf, manage, refusalText, refusedBy, showMissing, showPage, type Visit } from '../console-visit.ts';
import { mayChange, mayPost } from '../frame/allowed.ts';
import { consolePath } from '../frame/navigation.ts';
import type { ConsoleResource } from '../frame/resource.ts';
import { cursorPages, cursorQuery } from '../list-controls.ts';
import { pathOf, tabBar } from '../resource-pages.ts';
import { rolesCell } from './organization-pages.ts';
import { linkTo, type PickedKind, pickedKind, pickerPanel } from './people-picker.ts';

type Json = Readonly<Record<string, unknown>>;
type Params = Readonly<Record<string, string>>;

/** One kind of list of people. */
export interface Membership {
  /** The thing it belongs to: its path in the API and below /console. */
  readonly of: string;
  /** The tab, and the list in the API below the thing. */
  readonly tab: string;
  readonly list: string;
  readonly kinds: readonly PickedKind[];
  readonly addLabel: string;
  readonly empty: string;
  readonly entryId: (entry: Json) => string;
  readonly whoOf: (entry: Json) => { readonly kind: PickedKind; readonly id: string };
  /** What is said above the list. */
  readonly about?: (thing: Json, visit: Visit) => Html | undefined;
  /** True where others say who is in it, and nobody is added or removed here. */
  readonly isFixed?: (thing: Json) => boolean;
  readonly removal: string;
  /** Somebody is added by a PUT of this below the list, not by a POST to it. */
  readonly put?: Json;
  /** A further column. */
  readonly more?: readonly [head: string, cell: (visit: Visit, own: string, entry: Json) => Html];
}

const policyName = 'access_policy';

const members: Membership = {
  of: '/groups',
  tab: '/members',
  list: '/members',
  kinds: ['user'],
  addLabel: 'Add a member',
  empty: 'Nobody is in this group yet.',
  entryId: (entry) => text(entry['user_id']),
  whoOf: (entry) => ({ kind: 'user', id: text(entry['user_id']) }),
  about: aboutMembers,
  isFixed: ({ origin, directory }) => origin === 'identity_provider' || directory !== undefined,
  removal: 'Access that rests on this group ends with it.',
};

function aboutMembers({ origin, identity_provider_id: provider, directory }: Json, { request }: Visit): Html | undefined {
  if (directory !== undefined)
    return html`<p class="muted">This group is of an LDAP directory, which says what it is called and who is in it: change it there.</p>`;
  if (origin === 'scim') return html`<p class="muted">This group is provisioned by SCIM: the directory may undo what you change here.</p>`;
  if (origin !== 'identity_provider') return undefined;
  const at = consolePath(request.tenant, `/identity-providers/${encodeURIComponent(text(provider))}`);
  return html`<p class="muted">This group is of an <a href="${at}">identity provider</a>: its rules say what it is called and who is in it.</p>`;
}

const organizationMembers: Membership = {
  ...{ of: '/organizations', tab: '/members', list: '/members', kinds: ['user'] },
  addLabel: 'Add a member',
  empty: 'Nobody is in this organisation yet.',
  entryId: (entry) => text(entry['user_id']),
  whoOf: (entry) => ({ kind: 'user', id: text(entry['user_id']) }),
  put: {}, // the roles of somebody who is a member already stay
  more: ['Roles', rolesCell],
  removal: 'They keep their account. Tokens they have for this organisation are not renewed.',
};

const kindOf = (entry: Json): PickedKind =>
  entry['organization_id'] != null ? 'organization' : entry['group_id'] === null ? 'user' : 'group';

const accessTo = (of: string): Membership => ({
  of,
  tab: '/access',
  list: '/assignments',
  kinds: ['user', 'group', 'organization'],
  addLabel: 'Assign a user, group or organisation',
  empty: 'Nobody is assigned yet.',
  entryId: (entry) => text(entry['id']),
  whoOf: (entry) => ({ kind: kindOf(entry), id: text(entry[`${kindOf(entry)}_id`]) }),
  about: (thing) =>
    thing['access_policy'] === 'assigned'
      ? html`<p class="muted">${badge('assigned only', 'good')} Only users assigned here, or in a group or organisation assigned here, pass.</p>`
      : html`<p class="muted">${badge('everyone', 'plain')} Everybody may use it. To admit only those listed here, set “Who may use it” to assigned.</p>`,
  removal: 'While only assigned people may use it, this person, group or organisation is refused from the next sign-in and refresh on.',
});
/** Who may use an API by programs nobody registered. */
const accessToResource: Membership = {
  ...accessTo('/resources'),
  about: (thing) =>
    thing['unknown_access_policy'] === 'assigned'
      ? html`<p class="muted">${badge('assigned only', 'good')} By programs nobody registered only users assigned here, or in a group or organisation assigned here, reach this API.</p>`
      : html`<p class="muted">${badge('everyone', 'plain')} By programs nobody registered everybody may reach it, where they may reach it at all. To admit only those listed here, set “Who may use it by programs nobody registered” to assigned.</p>`,
};
export const memberships: readonly Membership[] = [
  members,
  organizationMembers,
  accessTo('/clients'),
  accessTo('/service-providers'),
  accessToResource,
];

export async function membersPage(visit: Visit, membership: Membership, params: Params, notice?: Notice): Promise<FastifyReply> {
  const resource = consoleResource(membership.of);
  const id = params['id'] ?? '';
  const own = pathOf(resource, id);
  const [thing, list] = await Promise.all([
    manage(visit, 'GET', own),
    manage(visit, 'GET', `${own}${membership.list}?${cursorQuery(visit)}`),
  ]);
  if (thing.status !== 200) return showMissing(visit, resource.singular, thing);
  const isFixed = membership.isFixed?.(thing.body) === true;
  const picker =
    !isFixed && (await pickerPanel(visit, { path: `${own}${membership.tab}`, label: membership.addLabel, kinds: membership.kinds }));
  return showPage(
    visit,
    resource.titleOf(thing.body),
    html`${tabBar(visit, resource, id, membership.tab)}${membership.about?.(thing.body, visit)}${policyForm(visit, resource, `${own}${membership.tab}`, thing.body)}${await entryTable(visit, membership, { own, list, isFixed })}
${cursorPages(visit, `${own}${membership.tab}`, list)}${picker}`,
    notice ?? (list.status === 200 ? undefined : { kind: 'bad', text: refusalText(list) }),
  );
}

/** Who may use it, where the form of the thing has that on this tab. */
function policyForm(visit: Visit, resource: ConsoleResource, at: string, thing: Json): Html | undefined {
  const field = resource.formTabs && resource.fields.find(({ path }) => path === policyName);
  if (field === undefined || !mayChange(visit, resource.path)) return undefined;
  return html`<form class="card" id="policy" method="post" action="${consolePath(visit.request.tenant, at)}">${csrfField(frameOf(visit))}${renderField(field, thing, undefined)}<div class="bar end"><button id="save">Save</button></div></form>`;
}

async function savePolicy(visit: Visit, membership: Membership, typed: Typed, params: Params): Promise<FastifyReply> {
  const resource = consoleResource(membership.of);
  const own = pathOf(resource, params['id'] ?? '');
  const answer = await manage(visit, 'PATCH', own, { [policyName]: typed.get(policyName) });
  if (answer.status === 200) return finish(visit, `${own}${membership.tab}`, `${resource.titleOf(answer.body)} is saved.`);
  return membersPage(visit, membership, params, refusedBy(answer, resource.fields, typed).notice);
}

interface Entries {
  readonly own: string;
  readonly list: ApiAnswer;
  readonly isFixed: boolean;
}

async function entryTable(visit: Visit, membership: Membership, { own, list, isFixed }: Entries): Promise<Html> {
  const rows = await Promise.all(
    itemsOf(list).map(async (entry) => {
      const { kind, id } = membership.whoOf(entry);
      return [
        await linkTo(visit, kind, id),
        ...(membership.kinds.length > 1 ? [kind] : [text(entry['user_name'])]),
        ...(membership.more === undefined ? [] : [membership.more[1](visit, own, entry)]),
        shownTime(entry['created_at']),
        ...(isFixed || !mayPost(visit, own) ? [] : [removeButton(visit, membership, own, entry)]),
      ];
    }),
  );
  if (rows.length === 0) return emptyState(membership.empty, isFixed || !mayPost(visit, own) ? '' : 'Search below to add somebody.');
  const more = membership.more === undefined ? [] : [membership.more[0]];
  const heads = ['Name', membership.kinds.length > 1 ? 'Kind' : 'User name', ...more, 'Since'];
  return table(isFixed ? 'Members' : membership.addLabel, isFixed || !mayPost(visit, own) ? heads : [...heads, 'Remove'], rows);
}

const removeButton = (visit: Visit, membership: Membership, own: string, entry: Json): Html =>
  postButton(frameOf(visit), {
    path: `${own}${membership.tab}/${encodeURIComponent(membership.entryId(entry))}/remove`,
    label: 'Remove…',
    style: 'small danger',
    of: membership.whoOf(entry).id,
  });

export async function addMember(visit: Visit, membership: Membership, typed: Typed, params: Params): Promise<FastifyReply> {
  if (membership.list === '/assignments' && typed.has(policyName)) return savePolicy(visit, membership, typed, params);
  const own = pathOf(consoleResource(membership.of), params['id'] ?? '');
  const asked = typed.has('organization_id') ? 'organization' : typed.has('group_id') ? 'group' : 'user';
  const kind = pickedKind(asked, membership.kinds);
  const field = `${kind}_id`;
  const list = `${own}${membership.list}`;
  const picked = typed.get(field) ?? '';
  const answer =
    membership.put === undefined
      ? await manage(visit, 'POST', list, { [field]: picked })
      : await manage(visit, 'PUT', `${list}/${encodeURIComponent(picked)}`, membership.put);
  // The search stays, so that the next person is found at once.
  const query = new URLSearchParams({ find: typed.get('find') ?? '', kind });
  if (answer.status === 201) return finish(visit, `${own}${membership.tab}?${query}`, 'Added.');
  return membersPage({ ...visit, query }, membership, params, { kind: 'bad', text: refusalText(answer) });
}

export async function removeMember(visit: Visit, membership: Membership, typed: Typed, params: Params): Promise<FastifyReply> {
  const resource = consoleResource(membership.of);
  const own = pathOf(resource, params['id'] ?? '');
  const entry = encodeURIComponent(params['entry'] ?? '');
  const thing = await manage(visit, 'GET', own);
  if (thing.status !== 200) return showMissing(visit, resource.singular, thing);
  if (!isSure(typed))
    return askPage(visit, {
      title: `Remove from ${resource.titleOf(thing.body)}?`,
      text: membership.removal,
      label: 'Remove',
      path: `${own}${membership.tab}/${entry}/remove`,
      back: `${own}${membership.tab}`,
    });
  const answer = await manage(visit, 'DELETE', `${own}${membership.list}/${entry}`);
  if (answer.status === 204) return finish(visit, `${own}${membership.tab}`, `Removed from ${resource.titleOf(thing.body)}.`);
  return showMissing(visit, resource.titleOf(thing.body), answer);
}

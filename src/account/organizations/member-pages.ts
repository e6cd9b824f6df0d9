// The members of an organisation, for whoever manages it: found by a part of what is shown of them, given roles, removed. Nothing else
// about a person is shown: not their other addresses, their other organisations, or what else they do.
import type { FastifyReply } from 'fastify';
import { changeMemberRoles, removeMember } from '../../administration/people/organization-managing.ts';
import { accountListRows, emailCharsMax } from '../../contract/limits.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { findShownMember, type ShownMember } from '../../storage/organizations/shown-member.ts';
import { countMembers, listMembers } from '../../storage/people/organization-members.ts';
import { listMainEmails } from '../../storage/people/user-lists.ts';
import { organizationCatalogs } from '../../texts/account/organization-texts.ts';
import { timeOf } from '../account-time.ts';
import { type AccountVisit, goTo, selfOf } from '../account-visit.ts';
import { asManaging, loadManaged, type Managing, pathOf, roleChecks, rolesToGive, showManaged } from './managed-page.ts';
import { refusal, unknownOrganization } from './own-organizations.ts';

const shownName = ({ displayName, userName }: Pick<ShownMember, 'displayName' | 'userName'>, email: string | undefined): string =>
  displayName ?? userName ?? email ?? '–';

export async function membersPage(visit: Managing, id: string): Promise<FastifyReply> {
  const { request, query } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const search = (query.get('search') ?? '').trim().replaceAll('\0', '').slice(0, emailCharsMax);
  const searched = { search: search === '' ? undefined : search, byMainEmail: true };
  const { organization, more } = await loadManaged(visit, id, async (queries, { id: organizationId, members }) => {
    const rows = await listMembers(queries, tenant.id, organizationId, { ...searched, after: placeOf(query), limit: accountListRows + 1 });
    return {
      rows,
      total: searched.search === undefined ? members : await countMembers(queries, tenant.id, organizationId, searched),
      emails: await listMainEmails(
        queries,
        tenant.id,
        rows.map(({ userId }) => userId),
      ),
    };
  });
  const shown = more.rows.slice(0, accountListRows);
  const last = shown.at(-1);
  const next = new URLSearchParams({ ...(search !== '' && { search }), name: last?.name ?? '', after: last?.userId ?? '' });
  return showManaged(
    visit,
    organization,
    html`<form class="bar" method="get" action="${visit.hrefOf(pathOf(organization))}" role="search"><div><label for="search">${texts.searchMembers}</label><input type="search" id="search" name="search" value="${search}" maxlength="${emailCharsMax}"></div><button class="quiet" id="find">${texts.search}</button></form>
<p class="muted" id="total">${texts.membersCount(more.total)}</p>
${shown.length === 0 ? html`<p id="none">${texts.noneFound}</p>` : html`<ul class="cards" id="members">${shown.map((member) => memberCard(visit, organization, member, more.emails.get(member.userId)))}</ul>`}
${more.rows.length > accountListRows && html`<p><a class="button quiet" id="next" href="${visit.hrefOf(pathOf(organization))}?${next.toString()}">${texts.next}</a></p>`}`,
  );
}

function placeOf(query: URLSearchParams): readonly [name: string, id: string] | undefined {
  const [name, id] = [query.get('name'), query.get('after')];
  return name === null || id === null || name.includes('\0') || id.includes('\0') ? undefined : [name, id];
}

function memberCard(
  visit: Managing,
  organization: { readonly id: string },
  member: ShownMember & { readonly createdAtMs: number },
  email: string | undefined,
): Html {
  const texts = organizationCatalogs[visit.language];
  const name = shownName(member, email);
  return html`<li class="card"><h2><a href="${visit.hrefOf(pathOf(organization, `/members/${member.userId}`))}">${name}</a></h2>${email !== undefined && email !== name && html`<p class="muted">${email}</p>`}
<dl><dt>${texts.roles}</dt><dd>${member.roles.join(', ') || texts.noRoles}</dd><dt>${texts.memberSince}</dt><dd>${timeOf(visit, member.createdAtMs)}</dd></dl></li>`;
}

type Entry = { readonly id: string; readonly member: string };

export async function memberPage(
  visit: Managing,
  { id, member }: Entry,
  ticked?: readonly string[],
  notice?: Notice,
): Promise<FastifyReply> {
  const { request, session, words } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const { organization, more } = await loadManaged(visit, id, async (queries, { id: organizationId }) => {
    const found = await findShownMember(queries, tenant.id, organizationId, member);
    const emails = await listMainEmails(queries, tenant.id, found === undefined ? [] : [found.userId]);
    return { found, emails, roles: await rolesToGive(queries, visit) };
  });
  const { found } = more;
  if (found === undefined) throw unknownOrganization();
  const name = shownName(found, more.emails.get(found.userId));
  const own = pathOf(organization, `/members/${found.userId}`);
  return visit.show(
    texts.changeNamed(name),
    visit.offer(html`<p class="muted">${organization.displayName ?? organization.name}</p>
<form class="card" method="post" action="${visit.hrefOf(own)}">${csrfField(session)}${roleChecks(texts, more.roles, ticked ?? found.roles)}
${more.roles.length > 0 && html`<button id="save">${texts.saveRoles}</button>`}</form>
<details class="card"><summary>${texts.removeMember}</summary><p>${texts.removeConsequence}</p>
<form method="post" action="${visit.hrefOf(`${own}/remove`)}">${csrfField(session)}<button class="danger" id="remove">${texts.removeMember}</button></form></details>
<p><a class="button quiet" href="${visit.hrefOf(pathOf(organization))}">${words.back}</a></p>`),
    notice === undefined ? {} : { notice },
  );
}

export async function saveMember(visit: AccountVisit, typed: Typed, entry: Entry): Promise<FastifyReply> {
  const texts = organizationCatalogs[visit.language];
  const roles = typed.getAll('role');
  const saved = await changeMemberRoles(visit.services, selfOf(visit), entry.id, { user: entry.member, roles });
  if (saved.ok) return goTo(visit, pathOf(entry), 'doneRolesSaved');
  if (saved.reason === 'unknown') throw unknownOrganization();
  if (saved.reason === 'unknown_role') return memberPage(asManaging(visit), entry, roles, { kind: 'bad', text: texts.unknownRole });
  return refusal(visit, texts.lastManager, pathOf(entry));
}

export async function takeMemberAway(visit: AccountVisit, entry: Entry): Promise<FastifyReply> {
  const { services, user } = visit;
  const removed = await removeMember(services, selfOf(visit), entry.id, entry.member);
  if (removed.ok)
    return entry.member === user.id ? goTo(visit, '/organizations', 'doneLeft') : goTo(visit, pathOf(entry), 'doneMemberRemoved');
  if (removed.reason === 'unknown') throw unknownOrganization();
  return refusal(visit, organizationCatalogs[visit.language].lastManager, pathOf(entry));
}

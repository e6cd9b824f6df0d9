// The organisations a person is in: their roles there, leaving one, and the page on which they join one by an invitation sent to an
// address of theirs.
import type { FastifyReply } from 'fastify';
import { leaveOrganization } from '../../administration/people/organization-managing.ts';
import { joinOrganization } from '../../approvals/organization-invitations.ts';
import { reject } from '../../contract/contract-error.ts';
import { organizationsPerPersonMax } from '../../contract/limits.ts';
import { hashSecret } from '../../crypto/secret-hash.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { findOrganizationInvitation } from '../../storage/organizations/invitations.ts';
import { listManagingRoles } from '../../storage/organizations/managers.ts';
import { type Belonging, listOrganizationsOfUser } from '../../storage/people/organization-members.ts';
import { organizationCatalogs } from '../../texts/account/organization-texts.ts';
import { timeOf } from '../account-time.ts';
import { type AccountVisit, goTo, pathTo, selfOf, showPage } from '../account-visit.ts';

const path = '/organizations';
const tokenCharsMax = 100;

export async function organizationsPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, words } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const { own, managing } = await services.database.read(tenant.id, async (queries) => ({
    own: await listOrganizationsOfUser(queries, tenant.id, user.id),
    managing: await listManagingRoles(queries, tenant.id),
  }));
  return showPage(
    visit,
    words.organizations,
    html`<p class="muted">${words.organizationsLead}</p>
${own.length === 0 ? html`<p id="none">${texts.noOrganizations}</p>` : html`<ul class="cards">${own.map((one) => card(visit, one, managing))}</ul>`}`,
  );
}

const nameOf = ({ name, displayName }: Pick<Belonging, 'name' | 'displayName'>): string => displayName ?? name;

function card(visit: AccountVisit, one: Belonging, managing: ReadonlySet<string>): Html {
  const texts = organizationCatalogs[visit.language];
  const manages = one.isOpen && one.roles.some((role) => managing.has(role));
  const name = nameOf(one);
  return html`<li class="card"><h2>${name}</h2>${!one.isEnabled && html`<p class="muted">${texts.isDisabled}</p>`}
<dl><dt>${texts.rolesThere}</dt><dd>${one.roles.join(', ') || texts.noRoles}</dd><dt>${texts.memberSince}</dt><dd>${timeOf(visit, one.createdAtMs)}</dd></dl>
<p class="bar">${manages && html`<a class="button" aria-label="${texts.manage} ${name}" href="${pathTo(visit, `${path}/${one.id}`)}">${texts.manage}</a>`}<a class="button quiet" aria-label="${texts.leaveNamed(name)}" href="${pathTo(visit, `${path}/${one.id}/leave`)}">${texts.leave}</a></p></li>`;
}

export async function leaveQuestion(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const { words, session } = visit;
  const texts = organizationCatalogs[visit.language];
  const own = await loadOwn(visit, id);
  return showPage(
    visit,
    texts.leaveQuestion(nameOf(own)),
    html`<p>${texts.leaveConsequence}</p>
<form class="bar" method="post" action="${pathTo(visit, `${path}/${own.id}/leave`)}">${csrfField(session)}<button class="danger" id="leave">${texts.leave}</button><a class="button quiet" href="${pathTo(visit, path)}">${words.keep}</a></form>`,
  );
}

export async function leave(visit: AccountVisit, id: string): Promise<FastifyReply> {
  const left = await leaveOrganization(visit.services, selfOf(visit), id);
  if (left.ok) return goTo(visit, path, 'doneLeft');
  if (left.reason === 'unknown') throw unknownOrganization();
  return refusal(visit, organizationCatalogs[visit.language].lastManager);
}

/** 409 with what is in the way, and the way back. */
export function refusal(visit: AccountVisit, text: string, back: string = path): FastifyReply {
  const { words } = visit;
  return showPage(visit, words.organizations, html`<p><a class="button quiet" href="${pathTo(visit, back)}">${words.back}</a></p>`, {
    notice: { kind: 'bad', text },
    status: 409,
  });
}

async function loadOwn({ services, request, user }: AccountVisit, id: string): Promise<Belonging> {
  const { tenant } = request;
  const all = await services.database.read(tenant.id, (queries) => listOrganizationsOfUser(queries, tenant.id, user.id));
  const own = all.find((one) => one.id === id);
  if (own === undefined) throw unknownOrganization();
  return own;
}

/** What is said of one that is none, that one is not in, and that one does not manage. */
export const unknownOrganization = (): Error => reject('login.not_found', 'unknown_organization');

/** The page a link of an invitation leads to, for whoever has an account. */
export async function joinPage(visit: AccountVisit): Promise<FastifyReply> {
  const { services, request, user, session, query } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const token = (query.get('invitation') ?? '').slice(0, tokenCharsMax);
  const invitation = await services.database.read(tenant.id, async (queries) => {
    const found = await findOrganizationInvitation(queries, tenant.id, hashSecret(token), user.id);
    if (found === undefined) return undefined;
    const row = await queries
      .selectFrom('organizations')
      .select(['name', 'display_name'])
      .where('tenant_id', '=', tenant.id)
      .where('id', '=', found.organization_id)
      .executeTakeFirst();
    return row && { name: row.display_name ?? row.name };
  });
  if (invitation === undefined) throw unknownOrganization();
  return showPage(
    visit,
    texts.joinTitle(invitation.name),
    html`<p>${texts.joinLead(invitation.name)}</p>
<form class="bar" method="post" action="${pathTo(visit, `${path}/join`)}">${csrfField(session)}<input type="hidden" name="invitation" value="${token}"><button id="join">${texts.join}</button><a class="button quiet" href="${pathTo(visit, path)}">${texts.notNow}</a></form>`,
  );
}

export async function join(visit: AccountVisit, typed: Typed): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const texts = organizationCatalogs[visit.language];
  const token = (typed.get('invitation') ?? '').slice(0, tokenCharsMax);
  const joined = await joinOrganization(services, request.tenant, { token, userId: user.id }, request.id);
  if (joined.ok) return goTo(visit, path, 'doneJoined');
  if (joined.reason === 'unknown') throw unknownOrganization();
  return refusal(visit, joined.reason === 'person_full' ? texts.personFull(organizationsPerPersonMax) : texts.organizationFull);
}

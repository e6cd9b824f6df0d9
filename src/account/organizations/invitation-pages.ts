// Invitations into an organisation, for whoever manages it: made, sent again, withdrawn. The link goes to the address alone, and the page
// says the same whether somebody has it or not.
import type { FastifyReply } from 'fastify';
import { asManager, withdrawInvitation } from '../../administration/people/organization-managing.ts';
import { inviteToOrganization } from '../../approvals/organization-invitations.ts';
import { accountListRows, emailCharsMax } from '../../contract/limits.ts';
import type { Typed } from '../../first-party/app-form.ts';
import { csrfField, type Notice } from '../../first-party/app-page.ts';
import { type Html, html } from '../../platform/html.ts';
import {
  findWaitingInvitation,
  listOrganizationInvitations,
  type OrganizationInvitation,
} from '../../storage/organizations/invitations.ts';
import { organizationCatalogs } from '../../texts/account/organization-texts.ts';
import { timeOf } from '../account-time.ts';
import { type AccountVisit, byOf, goTo, selfOf } from '../account-visit.ts';
import { asManaging, loadManaged, type Managing, pathOf, roleChecks, rolesToGive, showManaged } from './managed-page.ts';
import { unknownOrganization } from './own-organizations.ts';

const below = '/invitations';

export async function invitationsPage(visit: Managing, id: string, typed?: Typed, notice?: Notice, status?: number): Promise<FastifyReply> {
  const { request, session, query } = visit;
  const { tenant } = request;
  const texts = organizationCatalogs[visit.language];
  const { organization, more } = await loadManaged(visit, id, async (queries, { id: organizationId }) => {
    const page = { after: query.get('before') ?? '', limit: accountListRows + 1, waiting: true };
    return {
      waiting: await listOrganizationInvitations(queries, tenant.id, organizationId, page),
      roles: await rolesToGive(queries, visit),
    };
  });
  const at = visit.hrefOf(pathOf(organization, below));
  const shown = more.waiting.slice(0, accountListRows);
  return showManaged(
    visit,
    organization,
    html`${
      tenant.canMail
        ? html`<form class="card" method="post" action="${at}">${csrfField(session)}<p class="muted">${texts.inviteLead}</p>
<div class="field"><label for="email">${texts.inviteEmail}</label><input id="email" name="email" type="email" required maxlength="${emailCharsMax}" autocomplete="off" value="${typed?.get('email') ?? ''}"></div>
${roleChecks(texts, more.roles, typed?.getAll('role') ?? [])}<button id="invite">${texts.invite}</button></form>`
        : html`<p id="no-mail">${texts.noMail}</p>`
    }
${shown.length === 0 ? html`<p class="muted" id="none">${texts.noInvitations}</p>` : html`<ul class="cards" id="invitations">${shown.map((one) => invitationCard(visit, at, one))}</ul>`}
${more.waiting.length > accountListRows && html`<p><a class="button quiet" id="next" href="${at}?before=${shown.at(-1)?.id ?? ''}">${texts.next}</a></p>`}`,
    { notice, ...(status !== undefined && { status }) },
  );
}

function invitationCard(visit: Managing, at: string, { id, email, roles, expires_at: until }: OrganizationInvitation): Html {
  const texts = organizationCatalogs[visit.language];
  const button = (what: 'again' | 'withdraw', label: string, of: string): Html =>
    html`<form method="post" action="${at}/${id}/${what}">${csrfField(visit.session)}<button class="quiet" aria-label="${of}">${label}</button></form>`;
  return html`<li class="card"><h2>${email}</h2>
<dl><dt>${texts.roles}</dt><dd>${(JSON.parse(roles) as readonly string[]).join(', ') || texts.noRoles}</dd><dt>${texts.validUntil}</dt><dd>${timeOf(visit, until)}</dd></dl>
<div class="bar">${visit.request.tenant.canMail && button('again', texts.sendAgain, texts.sendAgainTo(email))}${button('withdraw', texts.withdraw, texts.withdrawOf(email))}</div></li>`;
}

export async function invite(visit: AccountVisit, typed: Typed, id: string): Promise<FastifyReply> {
  const email = (typed.get('email') ?? '').trim();
  const texts = organizationCatalogs[visit.language];
  if (email.length < 3 || email.length > emailCharsMax || !/^[^\s@]+@[^\s@]+$/.test(email))
    return invitationsPage(asManaging(visit), id, typed, { kind: 'bad', text: texts.badEmail });
  return send(visit, id, { email, roles: typed.getAll('role') }, typed);
}

/** Another link for the same address and roles, in the place of the one before. */
export async function sendAgain(visit: AccountVisit, { id, invitation }: Entry): Promise<FastifyReply> {
  const { tenant } = visit.request;
  const { more } = await loadManaged(asManaging(visit), id, (queries, { id: organizationId }) =>
    findWaitingInvitation(queries, tenant.id, organizationId, invitation),
  );
  if (more === undefined) throw unknownOrganization();
  return send(visit, id, { email: more.email, roles: JSON.parse(more.roles) as readonly string[] }); // written by us
}

type Entry = { readonly id: string; readonly invitation: string };

async function send(
  visit: AccountVisit,
  id: string,
  { email, roles }: { readonly email: string; readonly roles: readonly string[] },
  typed?: Typed,
): Promise<FastifyReply> {
  const { services, request, user } = visit;
  const texts = organizationCatalogs[visit.language];
  const refuse = (text: string, status: number): Promise<FastifyReply> =>
    invitationsPage(asManaging(visit), id, typed, { kind: 'bad', text }, status);
  const wanted = { email, roles, byMail: true, invitedBy: user.id };
  const { actor = '', requestId } = byOf(visit);
  const made = await asManager(services, selfOf(visit), id, (queries, organization) =>
    inviteToOrganization(queries, services, request.tenant, { ...wanted, organization }, { actor, requestId }),
  );
  if (made?.ok === true) return goTo(visit, pathOf({ id }, below), 'doneInvited');
  switch (made?.reason) {
    case 'no_mail':
      return refuse(texts.noMail, 400);
    case 'unknown_role':
      return refuse(texts.unknownRole, 400);
    case 'full':
      return refuse(texts.tooManyInvitations, 409);
    case 'often':
      return refuse(texts.tooOften, 409);
    default:
      throw unknownOrganization();
  }
}

export async function withdraw(visit: AccountVisit, { id, invitation }: Entry): Promise<FastifyReply> {
  if (!(await withdrawInvitation(visit.services, selfOf(visit), id, invitation))) throw unknownOrganization();
  return goTo(visit, pathOf({ id }, below), 'doneWithdrawn');
}

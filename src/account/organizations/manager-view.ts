// What whoever manages an organisation sees on the account page, for somebody of the tenant who looks: the same pages, as nobody. They hold no
// token of a form and lead back to where they are shown, which takes no posts; what could be pressed is disabled besides.
import type { FastifyReply } from 'fastify';
import { negotiateLanguage } from '../../domain/language.ts';
import { accountApp } from '../../first-party/account-client.ts';
import { appPage, type Notice } from '../../first-party/app-page.ts';
import type { ViewedByManagers } from '../../first-party/manager-view.ts';
import type { SetupDeps } from '../../organization-setup/setup.ts';
import { setupPage } from '../../organization-setup/setup-page.ts';
import { type Html, html } from '../../platform/html.ts';
import { findSignInOrganization } from '../../storage/registry/organizations.ts';
import { accountTextsOf } from '../../texts/account/account-texts.ts';
import type { AccountVisit } from '../account-visit.ts';
import { invitationsPage } from './invitation-pages.ts';
import { type Managing, pathOf } from './managed-page.ts';
import { memberPage, membersPage } from './member-pages.ts';
import { signInsPage } from './sign-ins-page.ts';

interface Viewed extends ViewedByManagers {
  readonly services: AccountVisit['services'] & SetupDeps;
}

/** @throws login.not_found for what such a member would not find either */
export async function showManagerView(viewed: Viewed): Promise<FastifyReply> {
  const { services, request, reply, organization: id, below, query, base } = viewed;
  const { tenant } = request;
  const language = negotiateLanguage(request.headers['accept-language']);
  const words = accountTextsOf(language);
  const show: Managing['show'] = (title, content, more = {}) =>
    send(viewed, title, content, { ...(more.notice && { notice: more.notice }), status: more.status ?? 200 });
  const managing: Managing = {
    ...{ services, request, language, words, query, at: pathOf({ id }, below), session: { csrf: '' }, show },
    offer: disabled,
    find: (queries, organization) => findSignInOrganization(queries, tenant.id, organization),
    hrefOf: (path) => (path.startsWith(pathOf({ id })) ? `${base}${path.slice(pathOf({ id }).length)}` : base),
  };
  if (below === '/invitations') return invitationsPage(managing, id);
  if (below === '/sign-ins') return signInsPage(managing, id);
  if (below.startsWith('/members/')) return memberPage(managing, { id, member: below.slice('/members/'.length) });
  if (below !== '/setup') return membersPage(managing, id);
  return setupPage({
    ...{ services, request, reply, language, csrf: '', organizationId: id, base: `${viewed.path}/setup`, by: { actor: '' } },
    show: (title, content, notice, status) =>
      show(title, html`${disabled(content)}<p><a class="button quiet" href="${base}">${words.back}</a></p>`, {
        ...(notice && { notice }),
        ...(status !== undefined && { status }),
      }),
  });
}

const disabled = (content: Html): Html => html`<fieldset id="view" disabled>${content}</fieldset>`;

function send(
  { request, reply, banner }: Viewed,
  title: string,
  content: Html,
  { notice, status }: { readonly notice?: Notice; readonly status: number },
): FastifyReply {
  const language = negotiateLanguage(request.headers['accept-language']);
  const page = appPage(
    {
      ...{ own: accountApp, tenant: request.tenant, language, words: accountTextsOf(language), person: undefined, csrf: '', at: '' },
      ...{ notice, style: '#view{min-width:0}' },
    },
    title,
    html`${banner}${content}`,
  );
  return reply.code(status).headers(page.headers).send(page.markup);
}

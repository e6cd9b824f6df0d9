// Setting an organisation up on the account page, for whoever manages it: the same pages as a set-up link opens. They decide how everybody of
// the organisation signs in, so a session that was left open, or that mail alone began where there is more, opens none of them.
import type { FastifyReply } from 'fastify';
import type { Setup, SetupDeps } from '../../organization-setup/setup.ts';
import { html } from '../../platform/html.ts';
import { type AccountVisit, byOf, isFresh, pathTo, showPage, signInFirst } from '../account-visit.ts';
import { isTooWeak, proveMorePage } from '../recovery-pages.ts';
import { asManaging, loadManaged, pathOf } from './managed-page.ts';

/** @throws login.not_found for whoever does not manage it now */
export async function asSetup(
  visit: AccountVisit,
  services: SetupDeps,
  id: string,
  work: (setup: Setup) => Promise<FastifyReply>,
): Promise<FastifyReply> {
  const { request, reply, session, language, words } = visit;
  const { organization } = await loadManaged(asManaging(visit), id, async () => undefined);
  if (await isTooWeak(visit)) return proveMorePage(visit, '/devices/sign-in');
  const isReturn = visit.at.endsWith('/setup/return');
  if (!isReturn && !isFresh(visit)) return signInFirst(services, request, reply, pathOf(organization, '/setup'));
  return work({
    ...{ services, request, reply, language, csrf: session.csrf, organizationId: organization.id },
    base: `/account${pathOf(organization, '/setup')}`,
    by: byOf(visit),
    show: (title, content, notice, status) =>
      showPage(
        visit,
        title,
        html`${content}<p><a class="button quiet" href="${pathTo(visit, pathOf(organization))}">${words.back}</a></p>`,
        {
          ...(notice && { notice }),
          ...(status !== undefined && { status }),
        },
      ),
  });
}

// The routes of organisations on the account page: one's own, and those one manages.
import type { Services } from '../../http/services.ts';
import type { Handler, Route } from '../../http/surface.ts';
import type { TrialSteps } from '../../organization-setup/setup.ts';
import { setupRoutes } from '../../organization-setup/setup-routes.ts';
import type { ShowPage, TakeForm } from '../account-routes.ts';
import { invitationsPage, invite, sendAgain, withdraw } from './invitation-pages.ts';
import { asManaging } from './managed-page.ts';
import { memberPage, membersPage, saveMember, takeMemberAway } from './member-pages.ts';
import { join, joinPage, leave, leaveQuestion, organizationsPage } from './own-organizations.ts';
import { asSetup } from './setup-visit.ts';
import { signInsPage } from './sign-ins-page.ts';

interface Pages {
  readonly page: (show: ShowPage) => Handler;
  readonly form: (take: TakeForm) => Handler;
  readonly services: Services;
  readonly steps: TrialSteps;
}
type Params = Readonly<Record<string, string>>;

const entryOf = (params: Params) => ({ id: params['id'] ?? '', member: params['member'] ?? '', invitation: params['invitation'] ?? '' });

export function organizationRoutes(route: Route, { page, form, services, steps }: Pages): void {
  const at = '/organizations/:id';
  route('/organizations', { GET: page(organizationsPage) });
  route('/organizations/join', { GET: page(joinPage), POST: form(join) });
  route(at, { GET: page((visit, params) => membersPage(asManaging(visit), entryOf(params).id)) });
  route(`${at}/leave`, {
    GET: page((visit, params) => leaveQuestion(visit, entryOf(params).id)),
    POST: form((visit, _typed, params) => leave(visit, entryOf(params).id)),
  });
  route(`${at}/members/:member`, {
    GET: page((visit, params) => memberPage(asManaging(visit), entryOf(params))),
    POST: form((visit, typed, params) => saveMember(visit, typed, entryOf(params))),
  });
  route(`${at}/members/:member/remove`, { POST: form((visit, _typed, params) => takeMemberAway(visit, entryOf(params))) });
  route(`${at}/invitations`, {
    GET: page((visit, params) => invitationsPage(asManaging(visit), entryOf(params).id)),
    POST: form((visit, typed, params) => invite(visit, typed, entryOf(params).id)),
  });
  route(`${at}/invitations/:invitation/again`, { POST: form((visit, _typed, params) => sendAgain(visit, entryOf(params))) });
  route(`${at}/invitations/:invitation/withdraw`, { POST: form((visit, _typed, params) => withdraw(visit, entryOf(params))) });
  setupRoutes(
    route,
    `${at}/setup`,
    {
      page: (work) => page(async (visit, params) => asSetup(visit, services, entryOf(params).id, (setup) => work(setup, params))),
      form: (work) =>
        form(async (visit, typed, params) => asSetup(visit, services, entryOf(params).id, (setup) => work(setup, typed, params))),
    },
    steps,
  );
  route(`${at}/sign-ins`, { GET: page((visit, params) => signInsPage(asManaging(visit), entryOf(params).id)) });
}

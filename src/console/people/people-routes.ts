// Where the console has people, with what they have and what is done with many of them, and the members of groups and organisations.
import type { Route } from '../../http/surface.ts';
import { signInsOfPerson } from '../activity/sign-ins-page.ts';
import type { Form, Page } from '../frame/page-routes.ts';
import { exportOfTask, postToTask, taskPage } from '../tasks/task-routes.ts';
import { changeUserRoles, userRolesPage } from './administrator-pages.ts';
import { bulk } from './bulk-pages.ts';
import { invitationsPage, inviteUser, revokeInvitation } from './invitation-pages.ts';
import { invitePage, invitePeople } from './invite-pages.ts';
import { invitedPage } from './invited-page.ts';
import { linksPage, removeLink } from './link-pages.ts';
import { addMember, memberships, membersPage, removeMember } from './member-pages.ts';
import { changeMemberRoles, memberRolesPage } from './organization-pages.ts';
import { recoveriesPage, recoverUser, revokeRecovery } from './recovery-pages.ts';
import {
  browsersPage,
  devicesPage,
  endBrowser,
  endSession,
  enroll,
  knownSecretsPage,
  passkeysPage,
  revokeDevice,
  revokeKey,
  revokePasskey,
  sessionsPage,
  testPush,
} from './user-pages.ts';

export function routeUsers(route: Route, page: Page, form: Form): void {
  route('/users/invite', { GET: page((visit) => invitePage(visit)), POST: form(invitePeople) });
  route('/users/bulk', { POST: form(bulk) });
  route('/users/invited', { GET: page((visit) => invitedPage(visit)) });
  route('/users/tasks/:task', { GET: page(taskPage) });
  route('/users/tasks/:task/wrong', { GET: page(exportOfTask) });
  route('/users/tasks/:task/:act', { POST: form(postToTask) });
  route('/users/:id/roles', { GET: page((visit, params) => userRolesPage(visit, params)), POST: form(changeUserRoles) });
  route('/users/:id/invitations', {
    GET: page((visit, params) => invitationsPage(visit, params)),
    POST: form(inviteUser),
  });
  route('/users/:id/invitations/:invitation/revoke', { POST: form(revokeInvitation) });
  route('/users/:id/recoveries', {
    GET: page((visit, params) => recoveriesPage(visit, params)),
    POST: form(recoverUser),
  });
  route('/users/:id/recoveries/:recovery/revoke', { POST: form(revokeRecovery) });
  route('/users/:id/devices', { GET: page((visit, params) => devicesPage(visit, params)) });
  route('/users/:id/enrollments', { POST: form((visit, _typed, params) => enroll(visit, params)) });
  route('/users/:id/devices/:device/test-push', { POST: form((visit, _typed, params) => testPush(visit, params)) });
  route('/users/:id/devices/:device/revoke', { POST: form(revokeDevice) });
  route('/users/:id/devices/:device/keys/:key/revoke', { POST: form(revokeKey) });
  route('/users/:id/browser-sessions', { GET: page((visit, params) => browsersPage(visit, params)) });
  route('/users/:id/browser-sessions/:session/end', { POST: form(endBrowser) });
  route('/users/:id/sign-ins', { GET: page((visit, params) => signInsOfPerson(visit, params)) });
  route('/users/:id/known-secrets', { GET: page((visit, params) => knownSecretsPage(visit, params)) });
  route('/users/:id/passkeys', { GET: page((visit, params) => passkeysPage(visit, params)) });
  route('/users/:id/passkeys/:passkey/revoke', { POST: form(revokePasskey) });
  route('/users/:id/external-identities', { GET: page((visit, params) => linksPage(visit, params)) });
  route('/users/:id/external-identities/:link/remove', { POST: form(removeLink) });
  route('/users/:id/sessions', { GET: page((visit, params) => sessionsPage(visit, params)) });
  route('/users/:id/sessions/end', { POST: form(endSession) });
  route('/users/:id/sessions/:session/end', { POST: form(endSession) });
}

export function routeMembers(route: Route, page: Page, form: Form): void {
  for (const membership of memberships) {
    const path = `${membership.of}/:id${membership.tab}`;
    route(path, {
      GET: page((visit, params) => membersPage(visit, membership, params)),
      POST: form((visit, typed, params) => addMember(visit, membership, typed, params)),
    });
    route(`${path}/:entry/remove`, { POST: form((visit, typed, params) => removeMember(visit, membership, typed, params)) });
  }
  route('/organizations/:id/members/:entry/roles', { GET: page(memberRolesPage), POST: form(changeMemberRoles) });
}

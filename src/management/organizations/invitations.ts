// `/organizations/{id}/invitations`: somebody is asked into an organisation by their address. Whether they have an account already is told
// to nobody: the link they open tells them apart.
import Type from 'typebox';
import { organizationInvitationToJson, withdrawOrganizationInvitation } from '../../administration/organizations/links.ts';
import { inviteToOrganization } from '../../approvals/organization-invitations.ts';
import { emailCharsMax, organizationRolesMax, roleNameCharsMax } from '../../contract/limits.ts';
import { openOrganizationInvitationsMax } from '../../contract/organization-limits.ts';
import { listOrganizationInvitations } from '../../storage/organizations/invitations.ts';
import { byOf, type Call, conflict, type Endpoint, endpoint, invalidField, isoTime, notFound, requireCapabilities } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { requireMayGive } from '../people/organization-members.ts';
import { requireOrganization, unknownOrganization } from '../people/organizations.ts';
import { closed, dateTime, listAnswer, oneOf, pageQuery } from '../schemas.ts';

const described = {
  id: Type.String(),
  email: Type.String(),
  roles: Type.Array(Type.String()),
  state: Type.String({ description: 'open, used, revoked or expired' }),
  mailed: Type.Boolean(),
  created_at: dateTime,
  expires_at: dateTime,
};
const body = closed({
  email: Type.String({ minLength: 3, maxLength: emailCharsMax, pattern: '^[^\\s@]+@[^\\s@]+$' }),
  roles: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: roleNameCharsMax }), {
      maxItems: organizationRolesMax,
      description: 'Roles of a person who is not a member yet',
    }),
  ),
  mail: Type.Optional(Type.Boolean()),
});
type Wanted = Call<undefined, { readonly email: string; readonly roles?: readonly string[]; readonly mail?: boolean }>;

export const organizationInvitationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/organizations/:id/invitations',
    capability: 'organizations:write',
    summary:
      'Invite somebody into an organisation: a person with an account joins signed in, a person without one gets one by the link. It is shown once and takes the place of earlier ones to the address. Without `mail` it is mailed if the server can send mail. Needs `users:write` and `invitations:write` too, and for a role with `manage` what that takes',
    body,
    answer: Type.Object({ ...described, invitation_url: Type.String() }),
    status: 201,
    handle: (call) => create(call as Wanted), // the same shape, for both compilers of schemas
  }),
  endpoint({
    method: 'GET',
    path: '/organizations/:id/invitations',
    capability: 'organizations:read',
    summary: 'List the invitations of an organisation, newest first. Needs `invitations:read` and `users:read` too',
    query: closed({ ...pageQuery.properties, state: Type.Optional(oneOf(['open'])) }),
    answer: listAnswer(Type.Object(described)),
    status: 200,
    handle: async ({ services, tenant, params, query, scopes }) => {
      requireCapabilities(['invitations:read', 'users:read'], scopes); // it says addresses
      const page = pageOf(query);
      const rows = await services.database.read(tenant.id, async (queries) => {
        const { id } = await requireOrganization(queries, tenant.id, params['id']!);
        const wanted = { after: page.after, limit: page.limit + 1, waiting: query.state === 'open' };
        return listOrganizationInvitations(queries, tenant.id, id, wanted);
      });
      return listOf(
        page,
        rows,
        ({ id }) => id,
        (row) => organizationInvitationToJson(row, services.clock.nowMs()),
      );
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/organizations/:id/invitations/:invitation_id',
    capability: 'organizations:write',
    summary: 'Withdraw an invitation into an organisation that nobody used. Needs `invitations:write` too',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant, params, scopes } = call;
      requireCapabilities(['invitations:write'], scopes);
      await services.database.write(tenant.id, async (queries) => {
        const { id } = await requireOrganization(queries, tenant.id, params['id']!);
        const wanted = { organization: id, id: params['invitation_id']! };
        if (!(await withdrawOrganizationInvitation(queries, services, tenant, wanted, byOf(call)))) throw notFound('unknown_invitation');
      });
    },
  }),
];

async function create(call: Wanted): Promise<unknown> {
  const { services, tenant, params, body, scopes, actor, requestId } = call;
  requireCapabilities(['users:write', 'invitations:write'], scopes);
  return services.database.write(tenant.id, async (queries) => {
    const organization = await requireOrganization(queries, tenant.id, params['id']!);
    const roles = [...new Set(body.roles)].sort();
    await requireMayGive(queries, tenant.id, scopes, roles);
    const wanted = { organization, email: body.email, roles, byMail: body.mail, invitedBy: null };
    const made = await inviteToOrganization(queries, services, tenant, wanted, { actor, requestId });
    if (!made.ok)
      switch (made.reason) {
        case 'unknown':
          throw unknownOrganization();
        case 'unknown_role':
          throw invalidField('roles', `No such role of organisations: ${made.role}`);
        case 'no_mail':
          throw invalidField('mail', 'must be absent or false: this server cannot send mail');
        case 'full':
          throw conflict('email', `An organisation has at most ${openOrganizationInvitationsMax} invitations that wait.`);
        default:
          throw conflict('email', 'So many invitations were sent within a day, to this address or in all.');
      }
    const { id, url, isMailed } = made;
    const { nowMs } = services.clock;
    return {
      ...{ id, email: body.email, roles, state: 'open', mailed: isMailed },
      ...{ created_at: isoTime(nowMs()), expires_at: isoTime(made.expiresAtMs), invitation_url: url },
    };
  });
}

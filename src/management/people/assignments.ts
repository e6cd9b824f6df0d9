// `/clients/{id}/assignments`, and those of service providers and resources: who passes the access gate when the policy is `assigned`.
import Type from 'typebox';
import type { GroupId, TenantId, UserId } from '../../domain/ids.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import { uuidV7 } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findGroup } from '../../storage/people/groups.ts';
import { findLiveUser } from '../../storage/people/users.ts';
import {
  type AccessAssignment,
  type AccessTarget,
  deleteAssignment,
  insertAssignment,
  listAssignments,
} from '../../storage/registry/clients/access-assignments.ts';
import { findOrganization } from '../../storage/registry/organizations.ts';
import { audit, conflict, type Endpoint, endpoint, invalidField, isoTime, type Json, notFound } from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, pageQuery } from '../schemas.ts';

const assignmentAnswer = Type.Object({
  id: Type.String(),
  user_id: nullable(Type.String()),
  group_id: nullable(Type.String()),
  organization_id: Type.Optional(Type.String()),
  created_at: dateTime,
});
const assignmentBody = closed({
  user_id: Type.Optional(Type.String()),
  group_id: Type.Optional(Type.String()),
  organization_id: Type.Optional(Type.String({ description: 'instead: its members pass when they sign in for it, or for none' })),
});
type Who = Type.Static<typeof assignmentBody>;
const names = ['user_id', 'group_id', 'organization_id'] as const;

interface Target {
  readonly kind: AccessTarget['kind'];
  /** e.g. `/clients`. */
  readonly path: string;
  readonly read: Capability;
  readonly write: Capability;
  readonly exists: (queries: Queries, tenant: TenantId, id: string) => Promise<boolean>;
  /** Refuses a target that is our own. */
  readonly requireForeign?: (id: string) => void;
}

/** The three endpoints of the assignments of one kind of target. */
export function assignmentEndpoints(target: Target): readonly Endpoint[] {
  const { kind, path, read, write, exists, requireForeign } = target;
  const requireTarget = async (queries: Queries, tenant: TenantId, id: string): Promise<AccessTarget> => {
    if (!(await exists(queries, tenant, id))) throw notFound(`unknown_${kind}`);
    return { kind, id };
  };
  return [
    endpoint({
      method: 'GET',
      path: `${path}/:id/assignments`,
      capability: read,
      summary: 'List who is assigned',
      query: pageQuery,
      answer: listAnswer(assignmentAnswer),
      status: 200,
      handle: async ({ services, tenant, params, query }) => {
        const page = pageOf(query);
        const rows = await services.database.read(tenant.id, async (queries) => {
          const of = await requireTarget(queries, tenant.id, params['id']!);
          return listAssignments(queries, tenant.id, of, { ...page, limit: page.limit + 1 });
        });
        return listOf(page, rows, (row) => row.id, toJson);
      },
    }),
    endpoint({
      method: 'POST',
      path: `${path}/:id/assignments`,
      capability: write,
      summary: 'Assign a user, a group, or an organisation: its members pass when they sign in for it, or for none',
      body: assignmentBody,
      answer: assignmentAnswer,
      status: 201,
      handle: async (call) => {
        const { services, tenant, params, body } = call;
        const given = names.filter((name) => body[name] !== undefined);
        if (given.length !== 1) throw invalidField(given[1] ?? 'user_id', 'Expected one of user_id, group_id and organization_id.');
        return services.database.write(tenant.id, async (queries) => {
          const of = await requireTarget(queries, tenant.id, params['id']!);
          requireForeign?.(of.id);
          const who = await findWho(queries, tenant.id, body);
          const row = await insertAssignment(queries, tenant.id, of, { id: uuidV7(services.clock.nowMs()), ...who });
          if (row === undefined) throw conflict(given[0]!, 'This is assigned already.');
          await audit(call, queries, { type: `${kind}.assigned`, target: `${kind}:${of.id}`, data: { ...body, assignment: row.id } });
          return toJson(row);
        });
      },
    }),
    endpoint({
      method: 'DELETE',
      path: `${path}/:id/assignments/:assignment_id`,
      capability: write,
      summary: 'Take an assignment away',
      answer: undefined,
      status: 204,
      handle: async (call) => {
        const { services, tenant, params } = call;
        await services.database.write(tenant.id, async (queries) => {
          const of = await requireTarget(queries, tenant.id, params['id']!);
          requireForeign?.(of.id);
          const assignment = params['assignment_id']!;
          if (!(await deleteAssignment(queries, tenant.id, of, assignment))) throw notFound('unknown_assignment');
          await audit(call, queries, { type: `${kind}.unassigned`, target: `${kind}:${of.id}`, data: { assignment } });
        });
      },
    }),
  ];
}

async function findWho(
  queries: Queries,
  tenant: TenantId,
  body: Who,
): Promise<{ readonly user: UserId | null; readonly group: GroupId | null; readonly organization: string | null }> {
  if (body.user_id !== undefined) {
    const user = await findLiveUser(queries, tenant, body.user_id);
    if (user === undefined) throw invalidField('user_id', 'No such user.');
    return { user: user.id, group: null, organization: null };
  }
  if (body.organization_id !== undefined) {
    const organization = await findOrganization(queries, tenant, body.organization_id);
    if (organization === undefined) throw invalidField('organization_id', 'No such organisation.');
    return { user: null, group: null, organization: organization.id };
  }
  const group = await findGroup(queries, tenant, body.group_id ?? '');
  if (group === undefined) throw invalidField('group_id', 'No such group.');
  return { user: null, group: group.id, organization: null };
}

function toJson({
  id,
  user_id: userId,
  group_id: groupId,
  organization_id: organizationId,
  created_at: createdAt,
}: AccessAssignment): Json {
  return {
    id,
    user_id: userId,
    group_id: groupId,
    ...(organizationId === null ? {} : { organization_id: organizationId }),
    created_at: isoTime(createdAt),
  };
}

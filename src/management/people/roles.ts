// `/roles`: those every tenant has, and those it adds. The fields are in domain/people/role.ts; who holds them is in
// administrators.ts.
import Type from 'typebox';
import { changeOf, creationOf, propertiesOf } from '../../administration/schema-pieces.ts';
import { overlay, readChange, takenAt, valueFault } from '../../domain/field.ts';
import { foldKey } from '../../domain/fold.ts';
import { type Capability, capabilitiesOfTenant } from '../../domain/people/capabilities.ts';
import { type BuiltInRole, builtInRole, builtInRoles, type Role, type RoleChange, roleFields } from '../../domain/people/role.ts';
import { listMatching } from '../../storage/engine/matching-rows.ts';
import { deleteRole, findRole, insertRole, listRoles, updateRole } from '../../storage/registry/roles.ts';
import {
  audit,
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
} from '../endpoint.ts';
import { listOf, pageOf } from '../paging.ts';
import { dateTime, listAnswer, nullable, searchQuery } from '../schemas.ts';

const roleAnswer = Type.Object({
  ...propertiesOf(roleFields),
  built_in: Type.Boolean({ description: 'every tenant has it; it cannot be changed' }),
  created_at: nullable(dateTime),
  updated_at: nullable(dateTime),
});
type RoleTexts = Pick<Role, 'name' | 'description'>;
const unknownRole = (): Error => notFound('unknown_role');

export const roleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/roles',
    capability: 'administrators:write',
    summary: 'Add a role; the caller needs every capability it allows',
    body: creationOf(takenAt(roleFields, 'create')),
    answer: roleAnswer,
    status: 201,
    handle: async (call) => {
      const { services, tenant, scopes } = call;
      const given = accepted(call);
      requireCapabilities(given.capabilities ?? [], scopes);
      return services.database.write(tenant.id, async (queries) => {
        const role = await insertRole(queries, tenant.id, overlay(roleFields, given));
        if (role === undefined) throw conflict('name', 'The name is in use.');
        await audit(call, queries, { type: 'role.created', target: `role:${role.name}`, data: { capabilities: role.capabilities } });
        return toAnswer(role);
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/roles',
    capability: 'administrators:read',
    summary: 'List the roles: first those every tenant has, then its own by name; `search` is a part of a name or description',
    query: searchQuery,
    answer: listAnswer(roleAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const textsOf = ({ name, description }: RoleTexts): readonly string[] => [name, description ?? ''];
      const own = await services.database.read(tenant.id, (queries) =>
        listMatching(
          { ...page, limit: page.limit + 1, search: query.search },
          (batch) => listRoles(queries, tenant.id, batch),
          ({ name }) => name,
          textsOf,
        ),
      );
      const answer = listOf(page, own, ({ name }) => name, toAnswer);
      const isFound = (role: BuiltInRole): boolean => textsOf(role).some((text) => foldKey(text).includes(foldKey(query.search ?? '')));
      const first = page.after === '' ? builtInRoles.filter(isFound).map((role) => ofEveryTenant(tenant, role)) : [];
      return { ...answer, items: [...first, ...(answer['items'] as readonly Json[])] }; // as listOf makes it
    },
  }),
  endpoint({
    method: 'GET',
    path: '/roles/:name',
    capability: 'administrators:read',
    summary: 'Read a role',
    answer: roleAnswer,
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const name = params['name']!;
      const ours = builtInRole(name);
      if (ours !== undefined) return ofEveryTenant(tenant, ours);
      const role = await services.database.read(tenant.id, (queries) => findRole(queries, tenant.id, name));
      if (role === undefined) throw unknownRole();
      return toAnswer(role);
    },
  }),
  endpoint({
    method: 'PATCH',
    path: '/roles/:name',
    capability: 'administrators:write',
    summary: 'Change a role of the tenant for everybody who holds it; the caller needs every capability it allows, before and after',
    body: changeOf(propertiesOf(takenAt(roleFields, 'change'))),
    answer: roleAnswer,
    status: 200,
    handle: change,
  }),
  endpoint({
    method: 'DELETE',
    path: '/roles/:name',
    capability: 'administrators:write',
    summary: 'Delete a role of the tenant that nobody holds',
    answer: undefined,
    status: 204,
    handle: async (call) => {
      const { services, tenant } = call;
      await services.database.write(tenant.id, async (queries) => {
        const { name } = await changeable(call, () => findRole(queries, tenant.id, call.params['name']!));
        const done = await deleteRole(queries, tenant.id, name);
        if (done === 'unknown') throw unknownRole();
        if (done === 'held') throw conflict('name', 'Somebody holds this role: take it from them first.');
        await audit(call, queries, { type: 'role.deleted', target: `role:${name}` });
      });
    },
  }),
];

async function change(call: Call<undefined, unknown>): Promise<Json> {
  const { services, tenant, scopes } = call;
  const given = accepted(call);
  requireCapabilities(given.capabilities ?? [], scopes);
  return services.database.write(tenant.id, async (queries) => {
    // Written before it is read, so that two changes at once take turns and each asks about the one before.
    const { name } = await changeable(call, () => updateRole(queries, tenant.id, call.params['name']!, {}));
    const role = await updateRole(queries, tenant.id, name, readChange(roleFields, given));
    await audit(call, queries, {
      type: 'role.updated',
      target: `role:${name}`,
      data: { fields: Object.keys(given), capabilities: role!.capabilities },
    });
    return toAnswer(role!);
  });
}

/** A role of the tenant that the caller may touch. @throws management.not_found, management.conflict, management.forbidden */
async function changeable(
  { params, scopes }: Pick<Call<unknown, unknown>, 'params' | 'scopes'>,
  find: () => Promise<Role | undefined>,
): Promise<Role> {
  if (builtInRole(params['name']!) !== undefined) throw conflict('name', 'Every tenant has this role: it cannot be changed.');
  const role = await find();
  if (role === undefined) throw unknownRole();
  requireCapabilities(role.capabilities, scopes);
  return role;
}

/** A body whose shape was checked, with values that may stand. */
function accepted({ tenant, body }: Pick<Call<unknown, unknown>, 'tenant' | 'body'>): RoleChange {
  const given = body as RoleChange;
  const fault = valueFault(roleFields, given);
  if (fault !== undefined) throw invalidField(fault.field, `This field ${fault.text}.`);
  const known: readonly Capability[] = capabilitiesOfTenant(tenant);
  const foreign = (given.capabilities ?? []).find((capability) => !known.includes(capability));
  if (foreign !== undefined) throw invalidField('capabilities', `This field names ${foreign}, which only the root tenant has.`);
  return given;
}

const toAnswer = ({ name, description, capabilities, createdAtMs, updatedAtMs }: Role): Json => ({
  name,
  description: description ?? null,
  capabilities,
  built_in: false,
  created_at: isoTime(createdAtMs),
  updated_at: isoTime(updatedAtMs),
});

function ofEveryTenant(tenant: Call<unknown, unknown>['tenant'], { name, description, capabilities: all }: BuiltInRole): Json {
  const capabilities = capabilitiesOfTenant(tenant).filter((capability) => all.includes(capability));
  return { name, description, capabilities, built_in: true, created_at: null, updated_at: null };
}

// The roles a tenant adds, in a document: known by their names, before the people who may hold them.

import { overlay, toJson, valueFault } from '../../../domain/field.ts';
import { capabilitiesOfTenant } from '../../../domain/people/capabilities.ts';
import { type Role, type RoleValues, roleFields } from '../../../domain/people/role.ts';
import { ValueTaken } from '../../../storage/engine/unique-violation.ts';
import { deleteRole, insertRole, listRoles, listRolesByName, updateRole } from '../../../storage/registry/roles.ts';
import { recordAct } from '../../administration.ts';
import { creationOf } from '../../schema-pieces.ts';
import { compact, DeclarationFault, faultAt, type Json, type Kind, pageRows, type Stored } from '../document.ts';

export const roleKind: Kind = {
  section: 'roles',
  noun: 'role',
  schema: creationOf(roleFields),
  uniqueField: 'name',
  isConfiguration: true,
  examine: ({ tenant }, declared) => {
    const item = declared.value as Json; // checked by the schema
    const fault = valueFault(roleFields, item);
    if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, item[fault.field]);
    const values = overlay(roleFields, item);
    const known = capabilitiesOfTenant(tenant);
    const foreign = values.capabilities.findIndex((capability) => !known.includes(capability));
    if (foreign >= 0) throw faultAt(declared, ['capabilities', foreign], 'a capability of this tenant', values.capabilities[foreign]);
    return { id: undefined, title: values.name, fields: fieldsOf(values), declared };
  },
  newId: () => '', // roles go by their names
  find: async (queries, { tenant }, items) => {
    const rows = await listRolesByName(
      queries,
      tenant.id,
      items.map(({ title }) => title),
    );
    const stored = new Map(rows.map((role) => [role.name, storedOf(role)]));
    return items.map(({ title }) => ({ stored: stored.get(title) }));
  },
  remember: ({ roles }, _id, { title }) => void roles.add(title),
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { desired } of items) {
      const role = await insertRole(queries, tenant.id, overlay(roleFields, desired.fields));
      if (role === undefined) throw new ValueTaken('name');
      const data = { capabilities: role.capabilities };
      await recordAct(queries, administration, tenant.id, by, { type: 'role.created', target: `role:${role.name}`, data });
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      const role = await updateRole(queries, tenant.id, stored.title, overlay(roleFields, desired.fields));
      const data = { fields: [...changed], capabilities: role?.capabilities };
      await recordAct(queries, administration, tenant.id, by, { type: 'role.updated', target: `role:${stored.title}`, data });
    }
  },
  page: async (queries, { tenant }, after) => (await listRoles(queries, tenant.id, { after, limit: pageRows })).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { title }) => {
    if ((await deleteRole(queries, tenant.id, title)) === 'held')
      throw new DeclarationFault({ path: 'roles', expected: 'every role that somebody holds', found: `none named ${title}` });
    await recordAct(queries, administration, tenant.id, by, { type: 'role.deleted', target: `role:${title}` });
  },
  write: (_session, { fields }) => fields,
};

const fieldsOf = (values: RoleValues): Json => compact(toJson(roleFields, values));

const storedOf = (role: Role): Stored => ({ id: role.name, title: role.name, fields: fieldsOf(role) });

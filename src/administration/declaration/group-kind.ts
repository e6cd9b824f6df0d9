// Groups in a document; who is in them stands with the users.
import Type from 'typebox';
import { nameCharsMax, profileCharsMax } from '../../contract/limits.ts';
import { foldKey } from '../../domain/fold.ts';
import type { GroupId } from '../../domain/ids.ts';
import { uuidV7 } from '../../platform/random.ts';
import { insertDeclaredGroups, listGroupsByIdOrName, updateDeclaredGroup } from '../../storage/declared-groups.ts';
import { deleteGroup, type GroupTable, listGroups } from '../../storage/groups.ts';
import { recordAct } from '../administration.ts';
import { closed, nullable, oneOf } from '../schema-pieces.ts';
import { compact, type Json, type Kind, pageRows, type Stored } from './document.ts';
import { uuid } from './uuid.ts';

const schema = closed({
  id: Type.Optional(uuid),
  display_name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
  origin: Type.Optional(oneOf(['console', 'scim'])),
  external_id: Type.Optional(nullable(Type.String({ minLength: 1, maxLength: profileCharsMax }))),
});
type Item = Type.Static<typeof schema>;

export const groupKind: Kind = {
  section: 'groups',
  noun: 'group',
  schema,
  uniqueField: 'display_name',
  isConfiguration: false,
  examine: (_session, declared) => {
    const { id, ...item } = declared.value as Item; // checked by the schema
    return { id, title: item.display_name, fields: compact({ origin: 'console', ...item }), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, { tenant }, items) => {
    const rows = await listGroupsByIdOrName(queries, tenant.id, {
      ids: items.flatMap(({ id }) => id ?? []),
      names: items.map(({ title }) => title),
    });
    const byId = new Map(rows.map((row) => [String(row.id), row]));
    const byName = new Map(rows.map((row) => [row.display_name_key, row]));
    return items.map(({ id, title }) => {
      const named = byName.get(foldKey(title));
      if (id !== undefined && named !== undefined && named.id !== id) return { conflict: `display_name is in use by group ${named.id}` };
      const row = id === undefined ? named : byId.get(id);
      return { stored: row === undefined ? undefined : storedOf(row) };
    });
  },
  remember: ({ groups }, id, { title }) => void groups.set(id, id).set(foldKey(title), id),
  create: async (queries, { administration, tenant, by }, items) => {
    await insertDeclaredGroups(
      queries,
      tenant.id,
      items.map(({ id, desired }) => ({ id: id as GroupId, ...columns(desired.fields) })),
    );
    for (const { id } of items) await recordAct(queries, administration, tenant.id, by, { type: 'group.created', target: `group:${id}` });
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      await updateDeclaredGroup(queries, tenant.id, stored.id as GroupId, columns(desired.fields)); // read from the table
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'group.updated', target: `group:${stored.id}`, data });
    }
  },
  page: async (queries, { tenant }, after) => (await listGroups(queries, tenant.id, { after, limit: pageRows })).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteGroup(queries, tenant.id, id);
    await recordAct(queries, administration, tenant.id, by, { type: 'group.deleted', target: `group:${id}` });
  },
  write: (_session, { id, fields: { origin, ...fields } }) => ({ id, ...fields, ...(origin === 'console' ? {} : { origin }) }),
};

const storedOf = ({ id, display_name, origin, external_id }: GroupTable): Stored => ({
  id,
  title: display_name,
  fields: compact({ display_name, origin, external_id }),
});

function columns(fields: Json) {
  const { display_name, origin, external_id } = fields as Item; // made by examine
  return { display_name, origin: origin ?? 'console', external_id: external_id ?? null };
}

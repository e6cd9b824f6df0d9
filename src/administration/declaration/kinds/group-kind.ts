// Groups in a document; who is in them stands with the users. A group of an identity provider names it by id or alias, and nothing else
// says whose it is.
import Type from 'typebox';
import { directoryKeyBytesMax, directoryValueCharsMax } from '../../../contract/limits.ts';
import { type ChangeOf, overlay, toJson } from '../../../domain/field.ts';
import { foldKey } from '../../../domain/fold.ts';
import type { GroupId } from '../../../domain/ids.ts';
import { groupFields } from '../../../domain/people/group.ts';
import { uuidV7 } from '../../../platform/random.ts';
import { toRow } from '../../../storage/engine/rows/row-codec.ts';
import { changeGroup, deleteGroup, insertGroups } from '../../../storage/people/group-writer.ts';
import { groupFromRow, listGroups, listGroupsByIdOrName, type OwnedGroupRow } from '../../../storage/people/groups.ts';
import { recordAct } from '../../administration.ts';
import { isLongKey } from '../../people/user-fields.ts';
import { closed, creationOf, nullable } from '../../schema-pieces.ts';
import { compact, type Declared, faultAt, type Json, type Kind, pageRows, type Session, type Stored } from '../document.ts';
import { uuid } from './uuid.ts';

/** Directories give longer names than the Management API takes. */
const name = Type.String({ minLength: 1, maxLength: directoryValueCharsMax });
const schema = closed({
  id: Type.Optional(uuid),
  ...creationOf(groupFields).properties,
  display_name: name,
  external_id: Type.Optional(nullable(name)),
});

type Item = ChangeOf<typeof groupFields> & { readonly id?: string };

export const groupKind: Kind = {
  section: 'groups',
  noun: 'group',
  schema,
  uniqueField: 'display_name',
  isConfiguration: false,
  examine: (session, declared) => {
    const { id, ...item } = declared.value as Item; // checked by the schema
    if (isLongKey(item.display_name ?? ''))
      throw faultAt(declared, ['display_name'], `a text of at most ${directoryKeyBytesMax} bytes`, 'a longer one');
    const group = overlay(groupFields, { ...item, ...ownerOf(session, declared, item) });
    return { id, title: group.displayName, fields: compact(toJson(groupFields, group)), declared };
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
    await insertGroups(
      queries,
      tenant.id,
      items.map(({ id, desired }) => ({ id: id as GroupId, ...columns(desired.fields) })),
    );
    for (const { id } of items) await recordAct(queries, administration, tenant.id, by, { type: 'group.created', target: `group:${id}` });
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      await changeGroup(queries, tenant.id, stored.id, columns(desired.fields));
      const data = { fields: [...changed] };
      await recordAct(queries, administration, tenant.id, by, { type: 'group.updated', target: `group:${stored.id}`, data });
    }
  },
  page: async (queries, { tenant }, after) => (await listGroups(queries, tenant.id, { after, limit: pageRows })).map(storedOf),
  remove: async (queries, { administration, tenant, by }, { id }) => {
    await deleteGroup(queries, { tenant: tenant.id }, id);
    await recordAct(queries, administration, tenant.id, by, { type: 'group.deleted', target: `group:${id}` });
  },
  write: (_session, { id, fields: { origin, ...fields } }) => ({ id, ...fields, ...(origin === 'console' ? {} : { origin }) }),
};

function ownerOf({ identityProviders }: Session, declared: Declared, item: Item): Json {
  const { origin, identity_provider_id: named } = item;
  const isOwned = named !== undefined && named !== null;
  if (isOwned ? origin !== undefined && origin !== 'identity_provider' : origin === 'identity_provider')
    throw faultAt(declared, ['origin'], 'identity_provider beside identity_provider_id, and only there', origin);
  if (!isOwned) return {};
  const id = identityProviders.get(named);
  if (id === undefined)
    throw faultAt(declared, ['identity_provider_id'], 'the id or alias of an identity provider of this document or tenant', named);
  return { origin: 'identity_provider', identity_provider_id: id };
}

function storedOf(row: OwnedGroupRow): Stored {
  const group = groupFromRow(row);
  return { id: group.id, title: group.displayName, fields: compact(toJson(groupFields, group)) };
}

const columns = (fields: Json) => toRow(groupFields, overlay(groupFields, fields));

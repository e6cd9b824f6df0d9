// The attributes a tenant adds to its people, in a document: known by their names, before everything that may name them.
import { customAttributesPerTenantMax } from '../../../contract/limits.ts';
import { overlay, takenAt, toJson, valueFault } from '../../../domain/field.ts';
import { type CustomAttribute, customAttributeFault, customAttributeFields } from '../../../domain/people/custom-attributes.ts';
import { uuidV7 } from '../../../platform/random.ts';
import {
  deleteCustomAttribute,
  insertCustomAttribute,
  listCustomAttributes,
  updateCustomAttribute,
} from '../../../storage/registry/custom-attributes.ts';
import { recordAct } from '../../administration.ts';
import { creationOf } from '../../schema-pieces.ts';
import { compact, faultAt, type Json, type Kind, type Stored } from '../document.ts';

const fixed = Object.values(takenAt(customAttributeFields, 'create')).filter(({ about }) => about.write === 'create');

export const attributeKind: Kind = {
  section: 'custom_attributes',
  noun: 'attribute',
  schema: creationOf(customAttributeFields),
  uniqueField: 'name or claim',
  isConfiguration: true,
  examine: ({ attributes }, declared) => {
    const item = declared.value as Json; // checked by the schema
    const values = overlay(customAttributeFields, item);
    const fault = valueFault(customAttributeFields, item) ?? customAttributeFault(values);
    if (fault !== undefined) throw faultAt(declared, [fault.field], `a value that ${fault.text}`, item[fault.field]);
    if (attributes.size >= customAttributesPerTenantMax && !attributes.has(values.name))
      throw faultAt(declared, [], `at most ${customAttributesPerTenantMax} attributes in the tenant`, values.name);
    return { id: undefined, title: values.name, fields: fieldsOf(values), declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: async (queries, { tenant }, items) => {
    const stored = (await listCustomAttributes(queries, tenant.id)).map(storedOf);
    return items.map(({ title, fields }) => {
      const found = stored.find((one) => one.title === title);
      const moved = found && fixed.find(({ name }) => found.fields[name] !== fields[name]);
      if (moved !== undefined) return { conflict: `${moved.name} is fixed: it is ${found?.fields[moved.name]}` };
      return { stored: found };
    });
  },
  remember: ({ attributes }, id, { title, fields }) => void attributes.set(title, { id, ...overlay(customAttributeFields, fields) }),
  create: async (queries, { administration, tenant, by }, items) => {
    for (const { id, desired } of items) {
      await insertCustomAttribute(queries, tenant.id, { id, ...overlay(customAttributeFields, desired.fields) });
      const data = { name: desired.title, type: String(desired.fields['type']) };
      await recordAct(queries, administration, tenant.id, by, { type: 'custom_attribute.created', target: `custom_attribute:${id}`, data });
    }
  },
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { stored, desired, changed } of items) {
      await updateCustomAttribute(queries, tenant.id, stored.id, overlay(customAttributeFields, desired.fields));
      const act = { type: 'custom_attribute.updated', target: `custom_attribute:${stored.id}`, data: { fields: [...changed] } } as const;
      await recordAct(queries, administration, tenant.id, by, act);
    }
  },
  page: async (queries, { tenant }, after) => (after === '' ? (await listCustomAttributes(queries, tenant.id)).map(storedOf) : []),
  remove: async (queries, { administration, tenant, by }, { id, title }) => {
    await deleteCustomAttribute(queries, tenant.id, id);
    const act = { type: 'custom_attribute.deleted', target: `custom_attribute:${id}`, data: { name: title } } as const;
    await recordAct(queries, administration, tenant.id, by, act);
  },
  write: (_session, { fields }) => {
    const defaults = Object.values(customAttributeFields).map(
      ({ name, about }) => [name, 'default' in about ? about.default : undefined] as const,
    );
    const plain = new Set(defaults.filter(([name, value]) => name !== 'type' && fields[name] === value).map(([name]) => name));
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !plain.has(name as never)));
  },
};

const fieldsOf = (values: Omit<CustomAttribute, 'id'>): Json => compact(toJson(customAttributeFields, values));

const storedOf = (attribute: CustomAttribute): Stored => ({ id: attribute.id, title: attribute.name, fields: fieldsOf(attribute) });

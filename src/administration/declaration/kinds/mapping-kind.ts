// The tenant's own mapping rules in a document: one object, a list of rules for each kind. A kind the section does not name has none.

import type { Json } from '../../../domain/field.ts';
import { type MappingKind, type MappingRules, mappingKinds, rulesKind } from '../../../domain/mappings/rule.ts';
import { rulesFault, unknownAttributeFault } from '../../../domain/mappings/rule-faults.ts';
import { readMappings, writeMappings } from '../../../storage/registry/extending/mapping-tables.ts';
import { recordAct } from '../../administration.ts';
import { changeOf } from '../../schema-pieces.ts';
import { compact, type Declared, faultAt, type Kind, type Session, type Stored } from '../document.ts';

export const mappingKind: Kind = {
  section: 'mappings',
  noun: 'mappings',
  single: true,
  schema: changeOf(
    Object.fromEntries(mappingKinds.map((kind) => [kind, { type: 'array', items: rulesKind(kind).shape['items'] as object }])),
  ),
  uniqueField: 'mappings',
  isConfiguration: true,
  examine: (session, declared) => {
    const tables = declared.value as Json; // checked by the schema
    for (const kind of mappingKinds) {
      const fault = rulesFault(kind, tables[kind] ?? []);
      if (fault !== undefined) throw faultAt(declared, [kind], `other rules: ${fault}`, tables[kind]);
      requireAttributes(session, declared, { kind, field: kind }, (tables[kind] ?? []) as MappingRules);
    }
    return { id: session.tenant.id, title: session.tenant.slug, fields: compact(tables), declared };
  },
  newId: (session) => session.tenant.id,
  find: async (queries, session, items) => {
    const [stored] = await load(queries, session);
    return items.map(() => ({ stored }));
  },
  create: async () => undefined, // a tenant always has tables, of no rules at first
  update: async (queries, { administration, tenant, by }, items) => {
    for (const { desired, changed } of items)
      for (const kind of mappingKinds.filter((one) => changed.has(one))) {
        const rules = (desired.fields[kind] ?? []) as MappingRules;
        await writeMappings(queries, tenant.id, kind, rules);
        const act = { type: 'mappings.updated', target: `mappings:${kind}`, data: { rules: rules.length } } as const;
        await recordAct(queries, administration, tenant.id, by, act);
      }
  },
  page: (queries, session, after) => (after === '' ? load(queries, session) : Promise.resolve([])),
  remove: async () => undefined,
  write: (_session, { fields }) => (Object.keys(fields).length === 0 ? undefined : fields),
};

async function load(queries: Parameters<Kind['page']>[0], { tenant }: Session): Promise<readonly Stored[]> {
  return [{ id: tenant.id, title: tenant.slug, fields: compact({ ...(await readMappings(queries, tenant.id)) }) }];
}

/** Refuses rules that read, or write, attributes neither the tenant nor the document has. */
export function requireAttributes(
  { attributes }: Session,
  declared: Declared,
  { kind, field }: { readonly kind: MappingKind; readonly field: MappingKind | 'mappings' },
  rules: MappingRules,
): void {
  const fault = unknownAttributeFault(kind, rules, { tenant: { customAttributes: [...attributes.values()] }, field });
  if (fault?.inDocument !== undefined) throw faultAt(declared, fault.inDocument.path, fault.inDocument.expected, fault.inDocument.found);
}

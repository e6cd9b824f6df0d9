// What the tenant words itself in a document, as it is published: the sign-in's texts by language, and mails by kind and language. One
// object each; what it does not name is built in. Drafts are in no document.
import Type, { type TSchema } from 'typebox';
import { loginTextFields, loginTextsFault, readLoginTexts } from '../../../domain/appearance/login-texts.ts';
import { type MailKindName, mailKindNames } from '../../../domain/appearance/mail-kinds.ts';
import type { FieldFault, Json } from '../../../domain/field.ts';
import { type Language, languages } from '../../../domain/language.ts';
import { type MailTemplate, mailTemplateShape, templateFault } from '../../../mails/template.ts';
import { listCustomizations, writeCustomization } from '../../../storage/registry/customizations.ts';
import { recordAct } from '../../administration.ts';
import { changeOf, closed, propertiesOf } from '../../schema-pieces.ts';
import { faultAt, type Kind, type Session, type Stored } from '../document.ts';

interface Worded {
  readonly section: 'texts' | 'mails';
  readonly kind: 'texts' | 'mail';
  readonly noun: string;
  readonly schema: TSchema;
  /** What is stored under each name, checked by the schema before. */
  readonly named: (value: Json) => readonly (readonly [name: string, path: readonly string[], worded: Json])[];
  readonly fault: (name: string, worded: Json) => FieldFault | undefined;
  /** The object of a document from the names. */
  readonly nest: (fields: Json) => Json;
}

const byLanguage = (one: TSchema): TSchema => closed(Object.fromEntries(languages.map((language) => [language, Type.Optional(one)])));

export const textKind: Kind = wordedKind({
  section: 'texts',
  kind: 'texts',
  noun: 'texts',
  schema: byLanguage(changeOf(propertiesOf(loginTextFields))),
  named: (value) => Object.entries(value).map(([language, texts]) => [language, [language], { ...readLoginTexts(texts as Json) }]),
  fault: (_language, texts) => loginTextsFault(texts),
  nest: (fields) => fields,
});

export const mailKind: Kind = wordedKind({
  section: 'mails',
  kind: 'mail',
  noun: 'mails',
  schema: closed(Object.fromEntries(mailKindNames.map((kind) => [kind, Type.Optional(byLanguage(Type.Unsafe(mailTemplateShape)))]))),
  named: (value) =>
    Object.entries(value as Readonly<Record<MailKindName, Readonly<Record<Language, Json>>>>).flatMap(([kind, own]) =>
      Object.entries(own).map(([language, template]) => [`${kind}.${language}`, [kind, language], template] as const),
    ),
  fault: (name, template) => templateFault(name.split('.')[0] as MailKindName, template as unknown as MailTemplate), // checked by the schema
  nest: (fields) => {
    const nested: Record<string, Record<string, unknown>> = {};
    for (const [name, template] of Object.entries(fields)) {
      const [kind = '', language = ''] = name.split('.');
      nested[kind] = { ...nested[kind], [language]: template };
    }
    return nested;
  },
});

function wordedKind({ section, kind, noun, schema, named, fault, nest }: Worded): Kind {
  const load = async (queries: Parameters<Kind['page']>[0], { tenant }: Session): Promise<readonly Stored[]> => {
    const rows = await listCustomizations(queries, tenant.id, kind);
    const published = rows.flatMap((row) => (row.published === null ? [] : [[row.name, JSON.parse(row.published)] as const]));
    return [{ id: tenant.id, title: tenant.slug, fields: Object.fromEntries(published) }];
  };
  return {
    section,
    noun,
    single: true,
    schema,
    uniqueField: section,
    isConfiguration: true,
    examine: ({ tenant }, declared) => {
      const all = named(declared.value as Json); // checked by the schema
      for (const [name, path, worded] of all) {
        const wrong = fault(name, worded);
        if (wrong !== undefined) throw faultAt(declared, [...path, ...wrong.field.split('.')], `a text that ${wrong.text}`, worded);
      }
      return { id: tenant.id, title: tenant.slug, fields: Object.fromEntries(all.map(([name, , worded]) => [name, worded])), declared };
    },
    newId: ({ tenant }) => tenant.id,
    find: async (queries, session, items) => {
      const [stored] = await load(queries, session);
      return items.map(() => ({ stored }));
    },
    create: async () => undefined, // a tenant always has words, the built-in ones at first
    update: async (queries, { administration, tenant, by }, items) => {
      for (const { stored, desired, changed } of items)
        for (const name of changed) {
          const [before, now] = [stored.fields[name], desired.fields[name]];
          const published = now === undefined ? null : JSON.stringify(now);
          await writeCustomization(queries, tenant.id, { kind, name }, { published, previous: JSON.stringify(before ?? null) });
          const type = now === undefined ? 'customization.withdrawn' : 'customization.published';
          const target = `customization:${kind}.${name}` as const;
          await recordAct(queries, administration, tenant.id, by, { type, target, data: { kind, name } });
        }
    },
    page: (queries, session, after) => (after === '' ? load(queries, session) : Promise.resolve([])),
    remove: async () => undefined,
    write: (_session, { fields }) => (Object.keys(fields).length === 0 ? undefined : nest(fields)),
  };
}

// The smallest pieces of a TypeBox schema, and the schema of a table of fields; shared by the Management API and by the
// documents of export and import.
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { type Fields, isField, mayBeAbsent, type Table } from '../domain/field.ts';

/** An object that refuses members it does not name. */
export const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** The properties of a table of fields, each required; null where a value may be absent. */
export const propertiesOf = (table: Table): Readonly<Record<string, TSchema>> =>
  Object.fromEntries(
    Object.entries(table).map(([key, one]) => {
      if (!isField(one)) return [key, changeOf(propertiesOf(one))];
      const { label, help } = one.about;
      const described = label === '' ? {} : { description: help === undefined ? label : `${label}. ${help}` };
      const { shape } = one.kind;
      return [one.name, mayBeAbsent(one) ? { anyOf: [shape, { type: 'null' }], ...described } : { ...shape, ...described }];
    }),
  );

/** Some of a table's fields, or all of them: the body of a change. */
export const changeOf = (properties: Readonly<Record<string, TSchema>>): TObject<TProperties> =>
  Type.Partial(closed(properties), { additionalProperties: false });

/** What makes a thing: the required fields of a table, and any of the others. */
export function creationOf(table: Fields, properties = propertiesOf(table)): TObject<TProperties> {
  const required = Object.values(table).filter(({ about }) => about.required === true);
  return closed({ ...changeOf(properties).properties, ...Object.fromEntries(required.map(({ name }) => [name, properties[name]!])) });
}

// The smallest pieces of a TypeBox schema, shared by the Management API and by the documents of export and import.
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';

/** An object that refuses members it does not name. */
export const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

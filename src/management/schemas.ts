// The schema pieces that endpoints share. Loaded with the endpoints, at the first request.
import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { nameCharsMax } from '../contract/limits.ts';

/** An object that refuses members it does not name. */
export const closed = <Properties extends TProperties>(properties: Properties): TObject<Properties> =>
  Type.Object(properties, { additionalProperties: false });

export const name = Type.String({ minLength: 1, maxLength: nameCharsMax });
export const oneOf = <const Values extends readonly string[]>(values: Values) =>
  Type.Unsafe<Values[number]>({ type: 'string', enum: [...values] });
export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
export const dateTime = Type.String({ format: 'date-time' });

/** Query of every list. Bounds of `limit` are checked by paging.ts. */
export const pageQuery = closed({ limit: Type.Optional(Type.Integer()), cursor: Type.Optional(Type.String()) });
/** Query of a list that can be searched by a part, or the start, of a name. */
export const searchQuery = closed({ ...pageQuery.properties, search: Type.Optional(name) });
export const listAnswer = (item: TSchema) => Type.Object({ items: Type.Array(item), next_cursor: Type.Optional(Type.String()) });

// The schema pieces that endpoints share. Loaded with the endpoints, at the first request.
import Type, { type TSchema } from 'typebox';
import { closed, nullable, oneOf } from '../administration/schema-pieces.ts';
import { nameCharsMax } from '../contract/limits.ts';

export { closed, nullable, oneOf };

export const name = Type.String({ minLength: 1, maxLength: nameCharsMax });
export const dateTime = Type.String({ format: 'date-time' });

/** Query of every list. Bounds of `limit` are checked by paging.ts. */
export const pageQuery = closed({ limit: Type.Optional(Type.Integer()), cursor: Type.Optional(Type.String()) });
/** Query of a list that can be searched by a part, or the start, of a name. */
export const searchQuery = closed({ ...pageQuery.properties, search: Type.Optional(name) });
export const listAnswer = (item: TSchema) => Type.Object({ items: Type.Array(item), next_cursor: Type.Optional(Type.String()) });

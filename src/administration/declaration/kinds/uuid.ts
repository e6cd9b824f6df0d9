// The id of an item: a UUID in small letters, as every id of this service but a client's.
import Type from 'typebox';

export const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

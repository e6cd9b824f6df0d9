// JSON Schemas of the device plane's payloads, written as short as they are read: `name?` is a member that may be absent.

export type Shape = Readonly<Record<string, unknown>>;

export const word: Shape = { type: 'string' };
export const maybeWord: Shape = { type: ['string', 'null'] };
export const whole: Shape = { type: 'integer' };
export const flag: Shape = { type: 'boolean' };
export const time: Shape = { type: 'string', format: 'date-time' };
export const base64: Shape = { type: 'string', contentEncoding: 'base64' };
export const uuid: Shape = { type: 'string', format: 'uuid' };
export const oneOf = (...values: readonly string[]): Shape => (values.length === 1 ? { const: values[0] } : { enum: values });
export const list = (items: Shape): Shape => ({ type: 'array', items });
export const part = (name: string): Shape => ({ $ref: `#/components/schemas/${name}` });
export const about = (shape: Shape, description: string): Shape => ({ ...shape, description });

/** An object of these members; others are allowed, in both directions. */
export function object(members: Readonly<Record<string, Shape>>): Shape {
  const entries = Object.entries(members);
  const required = entries.map(([name]) => name).filter((name) => !name.endsWith('?'));
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, shape]) => [name.replace('?', ''), shape])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The payload as a person reads it: `{name, reason: "a" or "b", keys: [{key_id}], more?}`. */
export function shorthand(shape: Shape): string {
  const required = (shape['required'] ?? []) as readonly string[];
  const members = Object.entries((shape['properties'] ?? {}) as Readonly<Record<string, Shape>>);
  return `{${members.map(([name, member]) => `${name}${required.includes(name) ? '' : '?'}${noteOf(member)}`).join(', ')}}`;
}

function noteOf(shape: Shape): string {
  if (shape['const'] !== undefined) return `: "${String(shape['const'])}"`;
  if (Array.isArray(shape['enum'])) return `: ${shape['enum'].map((value) => `"${String(value)}"`).join(' or ')}`;
  if (shape['properties'] !== undefined) return `: ${shorthand(shape)}`;
  const items = shape['items'] as Shape | undefined;
  return items?.['properties'] === undefined ? '' : `: [${shorthand(items)}]`;
}

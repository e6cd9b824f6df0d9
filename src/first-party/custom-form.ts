// The attributes a tenant adds to its people as fields of a form, and what was typed as the API takes it. The console has all of
// them, the account page those that people write themselves.

import type { Json } from '../domain/field.ts';
import { type CustomAttribute, customPath, labelOf } from '../domain/people/custom-attributes.ts';
import type { FormField } from './form-field.ts';

const hints: Readonly<Record<CustomAttribute['type'], string | undefined>> = {
  string: undefined,
  number: '42 / 42.5',
  boolean: undefined,
  date: '2026-01-31 / 2026-01-31T08:00:00Z',
};

export const customForm = (attributes: readonly CustomAttribute[], tab?: string): readonly FormField[] =>
  attributes.map((attribute) => {
    const hint = hints[attribute.type];
    return {
      path: customPath(attribute),
      label: labelOf(attribute),
      ...inputOf(attribute),
      ...(hint !== undefined && { hint }),
      ...(tab !== undefined && { tab }),
    };
  });

function inputOf({ type, list, allowedValues }: CustomAttribute): Pick<FormField, 'kind' | 'options'> {
  const options = type === 'boolean' ? ['true', 'false'] : allowedValues;
  if (list) return options.length > 0 && type === 'string' ? { kind: 'checks', options } : { kind: 'lines' };
  return options.length > 0 ? { kind: 'select', options: ['', ...options] } : { kind: 'text' };
}

/** Typed texts as values; what is no number or flag stays as it was typed, and is refused with what was expected. */
export const typedCustom = (attributes: readonly CustomAttribute[], typed: Json): Json =>
  Object.fromEntries(
    attributes
      .filter(({ name }) => typed[name] !== undefined)
      .map(({ name, type }) => {
        const value = typed[name];
        return [name, Array.isArray(value) ? value.map((one) => valueOfText(type, one)) : valueOfText(type, value)];
      }),
  );

function valueOfText(type: CustomAttribute['type'], text: unknown): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return type === 'number' && typeof text === 'string' && Number.isFinite(Number(text)) ? Number(text) : text;
}

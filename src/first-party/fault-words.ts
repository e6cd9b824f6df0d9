// What a refusal of the API says at a field of a form: the API speaks of JSON, a form of what somebody typed.
import type { Field } from '../domain/field.ts';
import { timeInWords } from './time-field.ts';

interface FaultyField {
  readonly kind: string;
  readonly bounds?: { readonly minimum?: number; readonly maximum?: number };
}

/** A number of another type or beyond its bounds, and what fits no pattern: the validator's own words. */
const outOfBounds = /^This field must be (?:>=|<=|integer|number)/;
const ofNoForm = /^This field does not have the expected (?:form|type)\.$/;

export function inWords({ kind, bounds: { minimum, maximum } = {} }: FaultyField, text: string): string {
  const isNumber = kind === 'number' || kind === 'time';
  if (isNumber && (outOfBounds.test(text) || ofNoForm.test(text))) {
    if (minimum === undefined || maximum === undefined) return 'Give a whole number.';
    const [least, most] = [minimum, maximum].map((one) => (kind === 'time' ? timeInWords(one) : one.toLocaleString('en')));
    return `Give ${kind === 'time' ? 'whole seconds' : 'a whole number'}, from ${least} to ${most}.`;
  }
  if (!ofNoForm.test(text)) return text;
  return kind === 'lines' ? 'This is not written as it has to be.' : 'What is typed here is not written as it has to be.';
}

interface ItemShape {
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
}

/** Whether one line of a list is wrong by itself; undefined where neither the shape of its items nor the field's own check can say. */
export function lineCheckOf({ kind, about }: Field): ((line: string) => boolean) | undefined {
  const { items } = kind.shape as { readonly items?: ItemShape };
  const { pattern, maxLength, enum: names } = items ?? {};
  const { check } = about;
  if (check === undefined && pattern === undefined && names === undefined) return undefined;
  const form = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  return (line) =>
    form?.test(line) === false ||
    (maxLength !== undefined && [...line].length > maxLength) ||
    names?.includes(line) === false ||
    check?.([line]) !== undefined;
}

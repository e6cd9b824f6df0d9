// What each rule of a table gives a person, and why values were dropped: the same work as for an application, told step by step. Pure.
import { mappingPreviewDroppedMax } from '../../contract/limits.ts';
import { applyRule, type CompiledRule, type CompiledRules, type DropReason, type Room } from './apply.ts';
import type { MappedValue, MappingFacts } from './paths.ts';

export interface PreviewedRule {
  readonly to: string;
  readonly values: readonly MappedValue[];
  /** The first of them; a null value stands for all the rule could have given. */
  readonly dropped?: readonly { readonly value: MappedValue | null; readonly reason: DropReason }[];
}

/**
 * Every rule's own result, in the order of the table; worked out as it is taken.
 * @param placesOf where a rule says something: each place has room of its own.
 */
export function* previewRules(
  rules: CompiledRules,
  facts: MappingFacts,
  { bytesMax, bytesOf }: Room,
  placesOf: (rule: CompiledRule) => readonly string[],
): Generator<PreviewedRule> {
  const rooms = new Map<string, number>();
  for (const compiled of rules) {
    const { to } = compiled.rule;
    const places = placesOf(compiled);
    const room = compiled.isUnbounded ? Number.POSITIVE_INFINITY : Math.min(...places.map((place) => rooms.get(place) ?? bytesMax));
    const dropped: { value: MappedValue | null; reason: DropReason }[] = [];
    const given = applyRule(compiled, facts, {
      chars: room,
      lists: new Map(),
      drop: (value, reason) => {
        if (dropped.length < mappingPreviewDroppedMax || value === null) dropped.push({ value, reason });
      },
    });
    const isGiven = typeof given === 'object';
    const bytes = isGiven && !compiled.isUnbounded && given.values.length > 0 ? bytesOf(to, given) : 0;
    const fits = isGiven && bytes <= room;
    if (isGiven && !fits) dropped.push({ value: null, reason: 'too_large' });
    for (const place of fits ? places : []) rooms.set(place, (rooms.get(place) ?? bytesMax) - bytes);
    yield { to, values: fits ? given.values : [], ...(dropped.length > 0 && { dropped }) };
  }
}

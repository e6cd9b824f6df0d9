// Applies a table of mapping rules to a person (design 16, section 1): source, then only, strip, values, case, template, default, first or
// join, in this order, each value once through each step. What a rule may give is bounded, and a rule that would give more gives
// nothing. Pure.
import { indexOf, type ListIndex, type Sought, seek, soughtBy } from './list-index.ts';
import { type MappedValue, type MappingFacts, type Path, pathOf, type Source } from './paths.ts';
import { type Comparison, comparisons, type MappingRule, type MappingRules, type When } from './rule.ts';
import { pathsIn } from './rule-faults.ts';
import { placeholdersOf, readTemplate, type Template, valuePlaceholder } from './template.ts';

/** Why a rule gave less than its source has. */
export type DropReason = 'when' | Comparison | 'values' | 'template' | 'empty' | 'duplicate' | 'first' | 'too_large';
/** Called for each value that goes; null stands for all that a rule could give. */
type OnDrop = (value: MappedValue | null, reason: DropReason) => void;

export interface CompiledRule {
  readonly rule: MappingRule;
  /** What has to be read of a person for it. */
  readonly sources: readonly Source[];
  /** True for what the protocol's own table says: it is as large as it is. */
  readonly isUnbounded: boolean;
  readonly holds: (facts: MappingFacts) => boolean;
  readonly read: (facts: MappingFacts) => MappedValue | readonly MappedValue[] | undefined;
  readonly steps: readonly ((facts: MappingFacts) => Step)[];
  /** What it looks for in a list; undefined: it looks at every value. */
  readonly sought: Sought | undefined;
  /** Steps that may make two values one. */
  readonly mayRepeat: boolean;
}

/** What becomes of a value: the value, or why it goes. */
type Step = (value: MappedValue) => MappedValue | Dropped;
class Dropped {
  readonly reason: DropReason;
  constructor(reason: DropReason) {
    this.reason = reason;
  }
}

export type CompiledRules = readonly CompiledRule[];

export interface Given {
  readonly values: readonly MappedValue[];
  /** True where what is given is a list, however many values it has. */
  readonly isList: boolean;
}

/** Lays rules over a table: what they name by `to` replaces it, and null takes it away. */
export function layRules(below: CompiledRules, above: MappingRules, isUnbounded = false): CompiledRules {
  const named = new Set(above.map(({ to }) => to));
  const kept = below.filter(({ rule }) => !named.has(rule.to));
  return [
    ...kept,
    ...compileRules(
      above.filter(({ value }) => value !== null),
      isUnbounded,
    ),
  ];
}

export const compileRules = (rules: MappingRules, isUnbounded = false): CompiledRules =>
  rules.map((rule) => compileRule(rule, isUnbounded));

function compileRule(rule: MappingRule, isUnbounded: boolean): CompiledRule {
  const { from, value, when } = rule;
  const path = from === undefined ? undefined : pathOf(from);
  const parts = templateOf(rule);
  const isTemplate = from === undefined && value === undefined;
  const read: CompiledRule['read'] = path?.read ?? (isTemplate ? () => '' : () => value ?? undefined);
  return {
    rule,
    sources: sourcesOf(rule),
    isUnbounded,
    holds: when === undefined ? () => true : conditionOf(when),
    read,
    sought: soughtBy(rule),
    steps: [...comparing(rule), ...changing(rule), ...(parts === undefined ? [] : [filling(parts)])],
    mayRepeat: rule.strip !== undefined || rule.values !== undefined || rule.case !== undefined || parts !== undefined,
  };
}

/** Whether rules read in which groups people are. */
export const readGroups = (rules: MappingRules): boolean => rules.some((rule) => sourcesOf(rule).includes('groups'));

function sourcesOf(rule: MappingRule): readonly Source[] {
  const groups: readonly Source[] = rule.when?.group === undefined ? [] : ['groups'];
  return [...groups, ...pathsIn(rule).flatMap((path) => pathOf(path)?.source ?? [])];
}

function conditionOf({ path, equals, group }: When): CompiledRule['holds'] {
  if (group !== undefined) return ({ person }) => person?.groups.some(({ id, name }) => name === group || id === group) === true;
  const read = pathOf(path ?? '')?.read ?? (() => undefined);
  const wanted = equals === undefined ? undefined : String(equals);
  return (facts) => {
    const found = [read(facts) ?? []].flat();
    return wanted === undefined ? found.some((value) => value !== '') : found.some((value) => String(value) === wanted);
  };
}

type Test = (value: string, text: string) => boolean;
const tests: Readonly<Record<Exclude<Comparison, 'equals'>, Test>> = {
  prefix: (value, text) => value.startsWith(text),
  suffix: (value, text) => value.endsWith(text),
  contains: (value, text) => value.includes(text),
};

const always = (step: Step) => () => step;

function comparing({ only }: MappingRule): CompiledRule['steps'] {
  return comparisons.flatMap((name) => {
    const texts = only?.[name];
    if (texts === undefined) return [];
    const dropped = new Dropped(name);
    if (name === 'equals') {
      const wanted = new Set(texts);
      return [always((value) => (wanted.has(String(value)) ? value : dropped))];
    }
    const fits = tests[name];
    const [sole] = texts;
    if (texts.length === 1) return [always((value) => (fits(String(value), sole!) ? value : dropped))];
    return [always((value) => (texts.some((text) => fits(String(value), text)) ? value : dropped))];
  });
}

const empty = new Dropped('empty');

function changing({ strip, values, case: letters }: MappingRule): CompiledRule['steps'] {
  const steps: Step[] = [];
  if (strip !== undefined)
    steps.push((value) => {
      const text = String(value);
      const left = text.startsWith(strip) ? text.slice(strip.length) : text;
      return left === '' ? empty : left;
    });
  if (values !== undefined) steps.push(listed(values));
  if (letters === 'lower') steps.push((value) => String(value).toLowerCase());
  if (letters === 'upper') steps.push((value) => String(value).toUpperCase());
  return steps.map(always);
}

function listed(values: Readonly<Record<string, string>>): Step {
  const known = new Map(Object.entries(values));
  const others = known.get('*');
  const dropped = new Dropped('values');
  return (value) => {
    const text = String(value);
    return (text === '*' ? undefined : known.get(text)) ?? (others === '*' ? text : others) ?? dropped;
  };
}

function templateOf({ template }: MappingRule): Template | undefined {
  const read = template === undefined ? undefined : readTemplate(template);
  return read?.ok === true ? read.parts : undefined;
}

const unfilled = new Dropped('template');

/** Fills in what the facts say once, and the value each time; a placeholder without one value drops it. */
function filling(parts: Template): CompiledRule['steps'][number] {
  const paths = new Map(placeholdersOf(parts).map((name): [string, Path | undefined] => [name, pathOf(name)]));
  return (facts) => {
    const known: (string | undefined)[] = [];
    for (const part of parts) {
      if (typeof part === 'string') known.push(part);
      else if (part.path === valuePlaceholder) known.push(undefined);
      else {
        const found = paths.get(part.path)?.read(facts);
        if (found === undefined || typeof found === 'object') return () => unfilled;
        known.push(String(found));
      }
    }
    return (value) => {
      let text = '';
      for (const part of known) text += part ?? String(value);
      return text;
    };
  };
}

/** How much rules may give together, and what a rule gives takes of it. */
export interface Room {
  readonly bytesMax: number;
  readonly bytesOf: (to: string, given: Given) => number;
}

/** What all rules of one `to` give together, in the order of their rules. */
export interface Mapped extends Given {
  readonly rule: MappingRule;
}

export interface Applied {
  readonly given: readonly Mapped[];
  /** What the rules that would have given too much are called. */
  readonly spilled: readonly string[];
}

/** What a table gives. A rule that holds and has no value gives nothing, unless its `default` is an empty list. */
export function applyRules(rules: CompiledRules, facts: MappingFacts, { bytesMax, bytesOf }: Room): Applied {
  const given = new Map<string, Mapped>();
  const spilled = new Set<string>();
  const lists: Lists = new Map();
  let room = bytesMax;
  for (const compiled of rules) {
    const { rule, isUnbounded } = compiled;
    const one = applyRule(compiled, facts, { chars: isUnbounded ? Number.POSITIVE_INFINITY : room, lists });
    if (one === 'when' || (one !== 'too_large' && one.values.length === 0 && !one.isList)) continue;
    const bytes = one === 'too_large' || isUnbounded ? 0 : bytesOf(rule.to, one);
    if (one === 'too_large' || bytes > room) {
      spilled.add(rule.to);
      continue;
    }
    room -= bytes;
    const before = given.get(rule.to);
    given.set(rule.to, before === undefined ? { rule, ...one } : together(before, one));
  }
  return { given: [...given.values()], spilled: [...spilled] };
}

const together = ({ rule, values, isList }: Mapped, more: Given): Mapped => ({
  rule,
  values: [...new Set([...values, ...more.values])],
  isList: isList || more.isList,
});

/** Lists that rules have looked into, by their path. */
type Lists = Map<string, ListIndex>;

interface Applying {
  /** What a rule may give at most, in characters: the work stops there. */
  readonly chars: number;
  readonly lists: Lists;
  /** Hears of every value that goes, so that every value is looked at. */
  readonly drop?: OnDrop;
}

/** What one rule gives, or why it gives nothing at all. */
export function applyRule(compiled: CompiledRule, facts: MappingFacts, { chars, lists, drop }: Applying): Given | 'when' | 'too_large' {
  const { rule, holds, mayRepeat } = compiled;
  if (!holds(facts)) {
    drop?.(null, 'when');
    return 'when';
  }
  const { values: raw, isList } = sourceOf(compiled, facts, drop === undefined ? lists : undefined);
  const steps = compiled.steps.map((step) => step(facts));
  const values: MappedValue[] = [];
  const seen = new Set<MappedValue>();
  let room = chars;
  for (const value of raw) {
    const left = through(steps, value);
    if (left instanceof Dropped) drop?.(value, left.reason);
    else if (mayRepeat && seen.has(left)) drop?.(left, 'duplicate');
    else if (rule.first === true && values.length > 0) drop?.(left, 'first');
    else {
      if (mayRepeat) seen.add(left);
      if (typeof left === 'string') room -= left.length + (values.length > 0 ? (rule.join?.length ?? 0) : 0);
      values.push(left);
      if (room < 0) {
        drop?.(null, 'too_large');
        return 'too_large';
      }
    }
  }
  return finished(rule, values, isList);
}

/** The values a rule starts from: of a list only those it looks for, where nobody wants to hear of the others. */
function sourceOf({ rule, read, sought }: CompiledRule, facts: MappingFacts, lists: Lists | undefined): Given {
  const known = rule.from === undefined ? undefined : lists?.get(rule.from);
  if (known !== undefined && sought !== undefined) return { values: seek(known, sought), isList: true };
  const raw = read(facts);
  if (raw === undefined) return { values: [], isList: false };
  if (!Array.isArray(raw)) return { values: [raw as MappedValue], isList: false };
  if (sought === undefined || rule.from === undefined || lists === undefined) return { values: raw, isList: true };
  const index = indexOf(raw);
  lists.set(rule.from, index);
  return { values: seek(index, sought), isList: true };
}

function through(steps: readonly Step[], value: MappedValue): MappedValue | Dropped {
  let left: MappedValue | Dropped = value;
  for (const step of steps) {
    left = step(left);
    if (left instanceof Dropped) return left;
  }
  return left;
}

function finished({ default: fallback, first, join }: MappingRule, values: readonly MappedValue[], isList: boolean): Given {
  if (values.length === 0)
    return fallback === undefined ? { values, isList: false } : { values: [fallback].flat(), isList: Array.isArray(fallback) };
  if (join !== undefined) return { values: [values.map(String).join(join)], isList: false };
  return { values, isList: isList && first !== true };
}

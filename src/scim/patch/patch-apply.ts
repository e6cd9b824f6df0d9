// Runs mutations on a document, giving a new one; the old one is never touched. Member mutations are not for here:
// groups.ts runs them in SQL. The result still has to pass the checks of its resource type.

import { foldKey } from '../../domain/fold.ts';
import { type Document, draftOf, type Element, elementCovers, elementsOf, emptyElement, sameElement } from '../document.ts';
import { elementMatches } from '../filter/filter-evaluator.ts';
import { invalidValue, noTarget } from '../refuse.ts';
import type { Plural } from '../schema/schema-lookup.ts';
import type { Mutation } from './patch-mutation.ts';

export type DocumentMutation = Exclude<Mutation, { kind: 'addMembers' | 'removeMembers' | 'replaceMembers' }>;

/** The document after the mutations, in order. Throws noTarget or invalidValue. */
export function applyMutations(document: Document, mutations: readonly DocumentMutation[]): Document {
  const draft = draftOf(document);
  for (const mutation of mutations) {
    if (mutation.kind === 'assign') {
      draft[mutation.leaf.key] = mutation.value;
      continue;
    }
    const elements = applyToElements(elementsOf(draft, mutation.plural.key), mutation);
    draft[mutation.plural.key] = elements.length === 0 ? undefined : elements;
  }
  return draft;
}

function applyToElements(current: readonly Element[], mutation: Exclude<DocumentMutation, { kind: 'assign' }>): readonly Element[] {
  switch (mutation.kind) {
    case 'addElements':
      return addElements(mutation.plural, current, mutation.elements);
    case 'replaceElements':
      return mutation.elements;
    case 'removeListed':
      return current.filter((element) => !mutation.patterns.some((pattern) => elementCovers(element, pattern)));
    case 'removeMatching': {
      const kept = current.filter((element) => !elementMatches(mutation.filter, element));
      if (kept.length === current.length) throw nothingSelected(mutation.plural);
      return kept;
    }
    case 'mergeMatching':
      return mergeMatching(current, mutation);
    default:
      return mutation satisfies never;
  }
}

function addElements(plural: Plural, current: readonly Element[], added: readonly Element[]): readonly Element[] {
  onePrimaryAtMost(plural, added);
  let elements = current;
  for (const element of added) {
    if (elements.some((known) => sameElement(known, element))) continue;
    const at = elements.findIndex((known) => sameEmail(plural, known, element));
    const merged = at < 0 ? element : merge(elements[at]!, element, []);
    const rest = element['primary'] === true ? elements.map(withoutPrimary) : elements;
    elements = at < 0 ? [...rest, merged] : rest.with(at, merged);
  }
  return elements;
}

/** An address is listed once: adding it again changes the element it is in. */
function sameEmail(plural: Plural, a: Element, b: Element): boolean {
  const [left, right] = [a['value'], b['value']];
  return plural.key === 'emails' && typeof left === 'string' && typeof right === 'string' && foldKey(left) === foldKey(right);
}

function mergeMatching(current: readonly Element[], mutation: Extract<DocumentMutation, { kind: 'mergeMatching' }>): readonly Element[] {
  const selected = new Set(current.filter((element) => elementMatches(mutation.filter, element)));
  if (selected.size === 0) {
    if (mutation.seed === undefined) throw nothingSelected(mutation.plural);
    return addElements(mutation.plural, current, [mutation.seed]);
  }
  const setsPrimary = mutation.values['primary'] === true;
  if (setsPrimary && selected.size > 1) onePrimaryAtMost(mutation.plural, [mutation.values, mutation.values]);
  return current
    .map((element) =>
      selected.has(element) ? merge(element, mutation.values, mutation.cleared) : setsPrimary ? withoutPrimary(element) : element,
    )
    .filter((element) => Object.keys(element).length > 0);
}

function merge(element: Element, values: Element, cleared: readonly string[]): Element {
  const merged = Object.assign(emptyElement(), element, values);
  for (const name of cleared) delete merged[name];
  return merged;
}

function withoutPrimary(element: Element): Element {
  return element['primary'] === true ? merge(element, { primary: false }, []) : element;
}

function onePrimaryAtMost(plural: Plural, elements: readonly Element[]): void {
  if (elements.filter((element) => element['primary'] === true).length < 2) return;
  throw invalidValue(`${plural.attribute.name} has more than one primary value.`);
}

function nothingSelected(plural: Plural): Error {
  return noTarget(`The path selects no value of ${plural.attribute.name}.`);
}

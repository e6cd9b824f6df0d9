// Runs mutations on a document, giving a new one; the old one is never touched. Member mutations are not for here:
// groups.ts runs them in SQL. The result still has to pass the checks of its resource type.

import { foldKey } from '../../domain/fold.ts';
import { type Document, draftOf, type Element, elementCovers, elementsOf, emptyElement } from '../document.ts';
import { elementMatches } from '../filter/filter-evaluator.ts';
import { invalidValue, noTarget } from '../refuse.ts';
import type { Plural } from '../schema/schema-lookup.ts';
import { requireFew } from '../value-reader.ts';
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
    const elements = requireFew(mutation.plural, applyToElements(elementsOf(draft, mutation.plural.key), mutation));
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

/** Adds what is not there in the same words; of a PATCH that names many, each is looked up. */
function addElements(plural: Plural, current: readonly Element[], added: readonly Element[]): readonly Element[] {
  onePrimaryAtMost(plural, added);
  const elements = [...current];
  const known = new Set(elements.map((element) => textOf(plural, element)));
  const places = new Map(elements.map((element, at) => [addressOf(plural, element), at]));
  const put = (at: number, element: Element): void => {
    const before = elements[at];
    if (before !== undefined) known.delete(textOf(plural, before));
    known.add(textOf(plural, element));
    elements[at] = element;
  };
  for (const element of added) {
    if (known.has(textOf(plural, element))) continue;
    if (element['primary'] === true) for (const [at, one] of elements.entries()) if (one['primary'] === true) put(at, withoutPrimary(one));
    const address = addressOf(plural, element);
    const at = (address === undefined ? undefined : places.get(address)) ?? elements.length;
    put(at, at === elements.length ? element : merge(elements[at]!, element, []));
    places.set(address, at);
  }
  return elements;
}

/** What an element says; a missing `primary` is false. */
const textOf = ({ attribute }: Plural, element: Element): string =>
  JSON.stringify(attribute.subAttributes.map(({ name }) => element[name] ?? (name === 'primary' ? false : null)));

/** An address is listed once: adding it again changes the element it is in. */
function addressOf({ key }: Plural, { value }: Element): string | undefined {
  return key === 'emails' && typeof value === 'string' ? foldKey(value) : undefined;
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

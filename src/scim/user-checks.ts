// What must hold for every user SCIM writes (07-scim Writes): a userName, exactly one primary email, bounded lists.
import { userNameFault } from '../domain/people/user-name.ts';
import { type Document, draftOf, type Element, elementsOf, emptyElement, scalarOf } from './document.ts';
import { invalidValue } from './refuse.ts';
import type { TypeIndex } from './schema/schema-lookup.ts';
import { checkElements } from './value-reader.ts';

/**
 * Gives the user ready to store, or throws invalidValue. With `inferPrimary` the first email becomes primary when none is.
 * A name that was given before, by rules of its time, stays valid.
 */
export function checkedUser(userIndex: TypeIndex, document: Document, inferPrimary: boolean, before?: Document): Document {
  for (const plural of userIndex.plurals) {
    if (plural.attribute.mutability === 'readWrite') checkElements(plural, elementsOf(document, plural.key));
  }
  const userName = scalarOf(document, 'userName');
  if (typeof userName !== 'string') throw invalidValue('userName is required.');
  const fault = before !== undefined && scalarOf(before, 'userName') === userName ? undefined : userNameFault(userName);
  if (fault !== undefined) throw invalidValue(`userName ${fault}.`);
  const emails = elementsOf(document, 'emails');
  if (emails.some((email) => email['primary'] === true)) return document;
  if (!inferPrimary || emails.length === 0) throw invalidValue('A primary email is required.');
  const draft = draftOf(document);
  draft['emails'] = emails.map((email, position) => (position === 0 ? primary(email) : email));
  return draft;
}

function primary(email: Element): Element {
  return Object.assign(emptyElement(), email, { primary: true });
}

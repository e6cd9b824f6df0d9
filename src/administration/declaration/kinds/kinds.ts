// The kinds of items a document has, in the order of its sections.

import { overlay } from '../../../domain/field.ts';
import { customAttributeFields } from '../../../domain/people/custom-attributes.ts';
import { allRegistered, registered } from '../../registered.ts';
import { faultAt, type Json, type Kind, type Session, sections } from '../document.ts';
import { type Judge, sectionOf } from '../kind-section.ts';
import { assignmentKind } from './assignment-kind.ts';
import { clientKind } from './client-kind.ts';
import { groupKind } from './group-kind.ts';
import { imageKind } from './image-kind.ts';
import { mappingKind } from './mapping-kind.ts';
import { settingsKind } from './settings-kind.ts';
import { userKind } from './user-kind.ts';
import { mailKind, textKind } from './worded-kind.ts';

/** The clients and the entity IDs of service providers that a hook names. */
const applicationsOf = (fields: Json): readonly string[] => (fields['clients'] ?? []) as readonly string[]; // of the table

/** Ids of service providers stand beside their entity IDs. */
const isApplication = ({ clients, providers }: Session, id: string): boolean => clients.has(id) || (providers.get(id) ?? id) !== id;

/** Those a hook names already may have gone since. @throws DeclarationFault */
const requireApplications: Judge<(typeof registered.hook)['kind']['fields']> = (session, { declared, fields }, before) => {
  const named = applicationsOf(fields);
  const at = named.findIndex((id) => !isApplication(session, id) && before?.clients.includes(id) !== true);
  if (at >= 0)
    throw faultAt(declared, ['clients', at], 'the client_id of a client or the entity_id of a service provider of the tenant', named[at]);
};

/** Elsewhere nobody knows those that have gone. While one remains they are left out; a hook that names none would be asked about all. */
function withoutGone(session: Session, item: Json): Json {
  const clients = applicationsOf(item).filter((id) => isApplication(session, id));
  return clients.length === 0 ? item : { ...item, clients };
}

const placed: readonly Kind[] = [
  imageKind,
  settingsKind,
  textKind,
  mailKind,
  sectionOf(registered.custom_attribute, {
    remember: ({ attributes }, id, { title, fields }) => void attributes.set(title, { id, ...overlay(customAttributeFields, fields) }),
  }),
  mappingKind,
  sectionOf(registered.resource, { remember: ({ resources }, id, { title }) => void resources.set(id, id).set(title, id) }),
  clientKind,
  sectionOf(registered.role, { remember: ({ roles }, _id, { title }) => void roles.add(title) }),
  sectionOf(registered.service_provider, {
    remember: ({ providers }, id, { title }) => void providers.set(id, id).set(title, id),
  }),
  sectionOf(registered.identity_provider, {
    remember: ({ identityProviders }, id, { title }) => void identityProviders.set(id, id).set(title, id),
  }),
  sectionOf(registered.hook, { judge: requireApplications, written: withoutGone }),
  sectionOf(registered.webhook),
  sectionOf(registered.connector),
  groupKind,
  userKind,
  assignmentKind,
];

const others = allRegistered.filter(({ kind }) => !placed.some(({ section }) => section === kind.plural)).map((one) => sectionOf(one));

export const kinds: readonly Kind[] = [...placed, ...others].toSorted(
  (one, other) => sections.indexOf(one.section) - sections.indexOf(other.section),
);

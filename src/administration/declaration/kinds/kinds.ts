// The kinds of items a document has, in the order of its sections.

import { providersPerTenantMax } from '../../../contract/limits.ts';
import { organizationProvidersMax } from '../../../contract/organization-limits.ts';
import { overlay } from '../../../domain/field.ts';
import { customAttributeFields } from '../../../domain/people/custom-attributes.ts';
import { countTenantProviders } from '../../../storage/registry/identity-providers.ts';
import { listProviderOwners } from '../../../storage/registry/organization-providers.ts';
import { lockTenantSettings } from '../../../storage/registry/tenants.ts';
import { allRegistered, registered } from '../../registered.ts';
import { type Declared, faultAt, type Json, type Kind, type Made, pageRows, type Session, sections } from '../document.ts';
import { type Judge, knownOf, sectionOf } from '../kind-section.ts';
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

const aliasesOf = (fields: Json): readonly string[] => (fields['identity_providers'] ?? []) as readonly string[]; // of the table

/** Roles and providers that an organisation names newly are of the document or the tenant. @throws DeclarationFault */
const requireNamed: Judge<(typeof registered.organization)['kind']['fields']> = (session, { declared, fields }, before) => {
  const roles = (fields['default_roles'] ?? []) as readonly string[]; // of the table
  const role = roles.findIndex((one) => !knownOf(session, 'organization_roles').has(one) && before?.defaultRoles.includes(one) !== true);
  if (role >= 0)
    throw faultAt(declared, ['default_roles', role], 'the name of an organisation role of this document or tenant', roles[role]);
  const aliases = aliasesOf(fields);
  const at = aliases.findIndex((one) => !session.identityProviders.has(one) && before?.identityProviders.includes(one) !== true);
  if (at >= 0) throw faultAt(declared, ['identity_providers', at], 'the alias of a provider of this document or tenant', aliases[at]);
  for (const alias of aliases) session.customers.add(alias);
  const isNew = aliases.some((one) => before?.identityProviders.includes(one) !== true);
  if (isNew && session.customers.size > organizationProvidersMax)
    throw faultAt(
      declared,
      ['identity_providers'],
      `at most ${organizationProvidersMax} providers of organisations in the tenant`,
      aliases,
    );
};

/** Of an organisation, which are counted apart. */
const isCustomers = ({ customers }: Session, alias: string): boolean => customers.has(alias);

/** Those that came in as an organisation's and are nobody's in the end take room of the tenant: where there is none they go again. */
const withoutRoom: NonNullable<Kind['settle']> = async (queries, session, made) => {
  const { administration, tenant } = session;
  const asked = made.filter(({ title }) => isCustomers(session, title));
  if (asked.length === 0) return [];
  await lockTenantSettings(queries, administration.database.dialect, tenant.id);
  let left = (await countTenantProviders(queries, tenant.id, providersPerTenantMax + asked.length)) - providersPerTenantMax;
  const over: Made[] = [];
  for (let to = asked.length; left > 0 && to > 0; to -= pageRows) {
    const some = asked.slice(Math.max(0, to - pageRows), to);
    const aliases = some.map(({ title }) => title);
    const owners = await listProviderOwners(queries, tenant.id, aliases);
    const strays = some.filter(({ title }) => !owners.has(title)).slice(-left);
    over.push(...strays);
    left -= strays.length;
  }
  for (const { id, title } of over) await providerSection.remove(queries, session, { id, title, fields: {} });
  return over.map((one) => ({
    ...one,
    text: `no organisation names it, and there are at most ${providersPerTenantMax} others in the tenant`,
  }));
};

const providerSection: Kind = sectionOf(registered.identity_provider, {
  remember: ({ identityProviders }, id, { title }) => void identityProviders.set(id, id).set(title, id),
  isApart: isCustomers,
  settle: withoutRoom,
});

/** Elsewhere nobody knows providers that have gone. */
function withoutGoneProviders(session: Session, item: Json): Json {
  if (item['identity_providers'] === undefined) return item;
  return { ...item, identity_providers: aliasesOf(item).filter((alias) => session.identityProviders.has(alias)) };
}

/** Bound to an organisation by its name: ids are of one tenant. @throws DeclarationFault */
function readBound(session: Session, declared: Declared): Declared {
  const item = declared.value as Json; // checked by the schema
  const { organization: named } = item;
  if (named === undefined || named === null) return declared;
  const organization = knownOf(session, 'organizations').get(String(named));
  if (organization === undefined)
    throw faultAt(declared, ['organization'], 'the name of an organisation of this document or tenant', named);
  return { ...declared, value: { ...item, organization } };
}

function writeBound(session: Session, item: Json): Json {
  const { organization: id } = item;
  if (id === undefined) return item;
  const named = [...knownOf(session, 'organizations')].find(([, known]) => known === id);
  return named === undefined ? item : { ...item, organization: named[0] };
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
  providerSection,
  sectionOf(registered.organization, { judge: requireNamed, written: withoutGoneProviders }),
  sectionOf(registered.service_provider, {
    remember: ({ providers }, id, { title }) => void providers.set(id, id).set(title, id),
    read: readBound,
    written: writeBound,
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

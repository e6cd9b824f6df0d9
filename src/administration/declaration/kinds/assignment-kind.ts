// Who may use which client, service provider or resource, in a document. An assignment has no id of its own there: it is the pair.
import Type from 'typebox';
import { emailCharsMax, nameCharsMax, profileCharsMax, samlEntityIdCharsMax, urlCharsMax } from '../../../contract/limits.ts';
import { isOwnClient, ownClientPrefix } from '../../../domain/client/own-clients.ts';
import { foldKey } from '../../../domain/fold.ts';
import type { GroupId, UserId } from '../../../domain/ids.ts';
import { uuidV7 } from '../../../platform/random.ts';
import type { Queries } from '../../../storage/engine/database.ts';
import { findLiveUser, listOwners } from '../../../storage/people/users.ts';
import {
  type AccessAssignment,
  type AccessTarget,
  deleteAssignment,
  findAssignment,
  insertAssignment,
  listAssignments,
} from '../../../storage/registry/clients/access-assignments.ts';
import { clientIdSyntax } from '../../../storage/registry/clients/clients.ts';
import { recordAct } from '../../administration.ts';
import { closed } from '../../schema-pieces.ts';
import { compact, type Desired, faultAt, type Json, type Kind, type Match, pageRows, type Session, type Stored } from '../document.ts';
import { knownOf } from '../kind-section.ts';

const schema = closed({
  client: Type.Optional(Type.String({ pattern: clientIdSyntax.source })),
  service_provider: Type.Optional(Type.String({ minLength: 1, maxLength: samlEntityIdCharsMax })),
  resource: Type.Optional(Type.String({ minLength: 1, maxLength: urlCharsMax })),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: Math.max(emailCharsMax, profileCharsMax) })),
  group: Type.Optional(Type.String({ minLength: 1, maxLength: profileCharsMax })),
  organization: Type.Optional(Type.String({ minLength: 1, maxLength: nameCharsMax })),
});
type Item = Type.Static<typeof schema>;

/** What people are assigned to. */
const targets = ['client', 'service_provider', 'resource'] as const;
/** Who is assigned. */
const assigned = ['user', 'group', 'organization'] as const;

export const assignmentKind: Kind = {
  section: 'assignments',
  noun: 'assignment',
  schema,
  uniqueField: 'assignment',
  isConfiguration: false,
  examine: (session, declared) => {
    const { clients, providers, resources, groups } = session;
    const item = declared.value as Item; // checked by the schema
    if (targets.filter((name) => item[name] !== undefined).length !== 1)
      throw faultAt(declared, [], 'one of client, service_provider and resource', declared.value);
    if (assigned.filter((name) => item[name] !== undefined).length !== 1)
      throw faultAt(declared, [], 'one of user, group and organization', declared.value);
    if (item.client !== undefined && !clients.has(item.client))
      throw faultAt(declared, ['client'], 'the client_id of a client of this document or tenant', item.client);
    if (item.client !== undefined && isOwnClient({ clientId: item.client }))
      throw faultAt(declared, ['client'], `an id that does not start with ${ownClientPrefix}`, item.client);
    const provider = item.service_provider === undefined ? undefined : providers.get(item.service_provider);
    if (item.service_provider !== undefined && provider === undefined)
      throw faultAt(
        declared,
        ['service_provider'],
        'the id or entity_id of a service provider of this document or tenant',
        item.service_provider,
      );
    const resource = item.resource === undefined ? undefined : resources.get(item.resource);
    if (item.resource !== undefined && resource === undefined)
      throw faultAt(declared, ['resource'], 'the id or identifier of a resource of this document or tenant', item.resource);
    const group = item.group === undefined ? undefined : (groups.get(item.group) ?? groups.get(foldKey(item.group)));
    if (item.group !== undefined && group === undefined)
      throw faultAt(declared, ['group'], 'the id or display_name of a group of this document or tenant', item.group);
    const target = compact({ client: item.client, service_provider: provider, resource });
    const { organization, user } = item;
    if (organization !== undefined && !knownOf(session, 'organizations').has(organization))
      throw faultAt(declared, ['organization'], 'the name of an organisation of this document or tenant', organization);
    const fields = { ...target, ...compact({ user, group, organization }) };
    return { id: undefined, title: titleOf(fields), fields, declared };
  },
  newId: ({ administration }) => uuidV7(administration.clock.nowMs()),
  find: (queries, session, items) => Promise.all(items.map((item) => findOne(queries, session, item))),
  create: async (queries, session, items) => {
    const { administration, tenant, by } = session;
    for (const { id, desired } of items) {
      const target = targetOf(desired.fields);
      const user = desired.fields['user'] === undefined ? null : ((await userOf(queries, session, String(desired.fields['user']))) ?? null);
      const group = (desired.fields['group'] ?? null) as GroupId | null; // known by examine
      const organization = organizationOf(session, desired.fields);
      const added = await insertAssignment(queries, tenant.id, target, { id, user: user as UserId | null, group, organization });
      if (added === undefined) continue; // one stood twice
      const who = compact({ user_id: user ?? undefined, group_id: group ?? undefined, organization_id: organization ?? undefined });
      const data = { assignment: id, ...who };
      await recordAct(queries, administration, tenant.id, by, {
        type: `${target.kind}.assigned`,
        target: `${target.kind}:${target.id}`,
        data,
      });
    }
  },
  update: async () => undefined, // two of the same pair do not differ
  page: async (queries, session, after) => {
    const rows = await listAssignments(queries, session.tenant.id, undefined, { after, limit: pageRows });
    const isNamed = rows.some((row) => row.organization_id !== null);
    const names = new Map(isNamed ? [...knownOf(session, 'organizations')].map(([name, id]) => [id, name]) : []);
    return rows.map((row) => storedOf(row, names));
  },
  remove: async (queries, { administration, tenant, by }, { id, fields }) => {
    const target = targetOf(fields);
    await deleteAssignment(queries, tenant.id, target, id);
    const act = { type: `${target.kind}.unassigned`, target: `${target.kind}:${target.id}`, data: { assignment: id } } as const;
    await recordAct(queries, administration, tenant.id, by, act);
  },
  write: ({ clients }, { fields }) => {
    const client = fields['client'] as string | undefined; // of its row
    return client !== undefined && (isOwnClient({ clientId: client }) || !clients.has(client)) ? undefined : fields;
  },
};

async function findOne(queries: Queries, session: Session, { fields }: Desired): Promise<Match> {
  const target = targetOf(fields);
  const named = fields['user'] === undefined ? undefined : String(fields['user']);
  const user = named === undefined ? undefined : await userOf(queries, session, named);
  if (named !== undefined && user === undefined)
    return { conflict: `expected a user of this document or tenant by id, user name or email, found none of ${named}` };
  const organization = organizationOf(session, fields);
  if (organization === '') return { stored: undefined }; // the document makes it
  const who = { user: (user ?? null) as UserId | null, group: (fields['group'] ?? null) as GroupId | null, organization };
  const row = await findAssignment(queries, session.tenant.id, target, who);
  // The pair is all there is to compare: a user named by email is the same one.
  return { stored: row === undefined ? undefined : { ...storedOf(row, new Map()), fields } };
}

async function userOf(queries: Queries, { administration, tenant, newUsers }: Session, named: string): Promise<string | undefined> {
  const fresh = newUsers.get(named) ?? newUsers.get(foldKey(named));
  if (fresh !== undefined) return fresh;
  const user = await findLiveUser(queries, tenant.id, named);
  if (user !== undefined) return user.id;
  const key = foldKey(named);
  const { names, emails } = await listOwners(queries, administration.database.dialect, tenant.id, { names: [key], emails: [key] });
  return names[0]?.id ?? emails[0]?.id;
}

const titleOf = (fields: Json): string =>
  `${targets.map((name) => fields[name]).find((id) => id !== undefined)} to ${assigned.flatMap((name) => (fields[name] === undefined ? [] : [`${name} ${fields[name]}`])).join()}`;

/** The id of the organisation that is named; the empty one where the document makes it. */
const organizationOf = (session: Session, fields: Json): string | null =>
  fields['organization'] === undefined ? null : (knownOf(session, 'organizations').get(String(fields['organization'])) ?? '');

/** The one of its three fields it has. */
function targetOf(fields: Json): AccessTarget {
  const kind = targets.find((name) => fields[name] !== undefined)!; // examined
  return { kind, id: String(fields[kind]) };
}

function storedOf(row: AccessAssignment, names: ReadonlyMap<string, string>): Stored {
  const target = { [row.target_kind]: row.target_id };
  const { user_id: user, group_id: group, organization_id: id } = row;
  const organization = id === null ? undefined : (names.get(id) ?? id);
  const fields = { ...target, ...compact({ user: user ?? undefined, group: group ?? undefined, organization }) };
  return { id: row.id, title: titleOf(fields), fields };
}

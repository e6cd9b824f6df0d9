// What a directory of LDAP does, below `/directories/{id}`: sync, plan, test, approval, where it stands, and who its entries are here, which a
// person settles where somebody is here already. As connectors have it (connector-runs.ts). A plan and a test wait for another server, and so for
// no turn of the long work.
import Type from 'typebox';
import { registered } from '../../administration/registered.ts';
import { unlessTaken } from '../../administration/taken.ts';
import { reject } from '../../contract/contract-error.ts';
import { testedPeopleMax } from '../../contract/directory-limits.ts';
import { longWorkRetrySeconds, planDifferencesMax, textCharsMax } from '../../contract/limits.ts';
import {
  type DirectoryPlan,
  type DirectoryTest,
  directoryFailures,
  plannedChanges,
  plannedCounts,
  type RunFigures,
} from '../../domain/extending/directory-runs.ts';
import { directoryNeeds, type LdapDirectory } from '../../domain/extending/ldap-directory.ts';
import type { LdapDirectoryId, UserId } from '../../domain/ids.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listLinkedHolders } from '../../storage/people/directories/ldap-people.ts';
import { findGroup } from '../../storage/people/groups.ts';
import { listHoldersInGroup } from '../../storage/people/user-roles.ts';
import { findUser } from '../../storage/people/users.ts';
import {
  countDirectoryLinks,
  type DirectoryLink,
  directoryLinkStates,
  findDirectoryLink,
  freeLocal,
  listDirectoryLinks,
  listLinksOfLocal,
  type OfDirectory,
  releaseEnding,
  resolveDirectoryLink,
  settlableStates,
} from '../../storage/records/directory-links.ts';
import { approveHeld, askForRun, type DirectoryState, findDirectoryState } from '../../storage/registry/extending/ldap-directories.ts';
import {
  audit,
  type Call,
  conflict,
  type Endpoint,
  endpoint,
  invalidField,
  isoTime,
  type Json,
  notFound,
  requireCapabilities,
} from '../endpoint.ts';
import { type Besides, loadThing } from '../kind-endpoints.ts';
import { requireOverThese } from '../over-people.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';

const count = Type.Integer();
const word = nullable(Type.String());
const countsOf = (names: readonly string[]) => Type.Object(Object.fromEntries(names.map((name) => [name, count])));
const failureAnswer = nullable(Type.Object({ reason: oneOf(directoryFailures), detail: word }));
const linkAnswer = Type.Object({
  id: Type.String({ description: 'of the entry, in its directory' }),
  kind: oneOf(['user', 'group']),
  state: oneOf(directoryLinkStates),
  local_id: nullable(Type.String({ description: 'of the user or the group' })),
  dn: Type.String(),
  reason: word,
  waits_for_approval: Type.Boolean(),
  updated_at: dateTime,
});
const runStates = ['disabled', 'waiting_for_approval', 'running', 'failing', 'idle'] as const;
const figures = ['read', 'created', 'updated', 'ended', 'unchanged', 'conflicts', 'skipped', 'referrals'] as const;
const statusAnswer = Type.Object({
  state: oneOf(runStates),
  users: count,
  groups: count,
  links: countsOf(directoryLinkStates),
  waiting_for_approval: Type.Integer({ description: 'people who are to end' }),
  held_since: nullable(dateTime),
  last_run: nullable(Type.Object({ began_at: dateTime, ended_at: dateTime, full: Type.Boolean(), ...countsOf(figures).properties })),
  running_since: nullable(dateTime),
  next_run_at: nullable(Type.String({ format: 'date-time', description: 'null: it is disabled, or running' })),
  read_whole_at: nullable(Type.String({ format: 'date-time', description: 'null: the next run reads everything' })),
  failure: failureAnswer,
  failed_at: nullable(dateTime),
  failures: Type.Integer({ description: 'one after the other' }),
});
const planAnswer = Type.Object({
  counts: countsOf(plannedCounts),
  differences: Type.Array(Type.Object({ remote_id: Type.String(), dn: Type.String(), user_name: word, action: oneOf(plannedChanges) })),
  complete: Type.Boolean(),
  failure: failureAnswer,
});
const value = Type.Union([Type.String(), Type.Number(), Type.Boolean()]);
const testAnswer = Type.Object({
  failure: failureAnswer,
  people: Type.Array(
    Type.Object({
      ...{ remote_id: Type.String(), dn: Type.String(), active: Type.Boolean() },
      values: Type.Record(Type.String(), Type.Array(value), { description: 'by what they are for' }),
    }),
  ),
});

type DirectoryCall = Call<unknown, unknown>;

const whoseOf = ({ tenant, params }: DirectoryCall): OfDirectory => ({ tenant: tenant.id, directory: params['id'] as LdapDirectoryId }); // a look-up key

/** Whoever says what a directory says is each administrator who came from it. */
export const besideDirectory: Besides = { actsOn: (queries, call) => listLinkedHolders(queries, whoseOf(call)) };

const runs: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/directories/:id/sync',
    capability: 'connectors:write',
    summary: 'Read the directory now, or again behind the run under way; `full`: everything, not what has changed',
    body: closed({ full: Type.Optional(Type.Boolean()) }),
    answer: Type.Object({ started: Type.Boolean() }),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const { full = false } = call.body;
      const directory = await loadDirectory(call);
      if (!directory.enabled) throw conflict('enabled', 'The directory is not enabled.');
      await services.database.write(tenant.id, async (queries) => {
        await askForRun(queries, tenant.id, directory.id, { full });
        await audit(call, queries, { type: 'directory.sync_started', target: `directory:${directory.id}`, data: { full } });
      });
      return { started: true };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/directories/:id/plan',
    capability: 'connectors:read',
    summary: `What a run would do: counts and the first ${planDifferencesMax} differences; needs the capabilities for what the directory does too, such as users:write. Nothing is written`,
    answer: planAnswer,
    status: 200,
    handle: async (call): Promise<DirectoryPlan> => {
      const directory = await loadDoing(call);
      return requireAnswer(await call.services.directories.plan(call.tenant, directory, call.pace));
    },
  }),
  endpoint({
    method: 'POST',
    path: '/directories/:id/test',
    capability: 'connectors:read',
    summary: `Sign in there and read ${testedPeopleMax} people, also while the directory is disabled; needs the capabilities for what it does too. Nothing is written`,
    answer: testAnswer,
    status: 200,
    handle: async (call): Promise<DirectoryTest> => {
      const directory = await loadDoing(call);
      const { failure, people } = requireAnswer(await call.services.directories.test(call.tenant, directory));
      return { failure, people: people.slice(0, testedPeopleMax) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/directories/:id/approve',
    capability: 'connectors:write',
    summary: 'Let the people end that wait for approval; needs the capabilities for what the directory does too. The next run asks again',
    answer: Type.Object({ approved: count }),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const { id } = await loadDoing(call);
      // Nobody else who has power ends by this, nor who comes to have it.
      const approved = await services.database.read(tenant.id, (queries) =>
        listLinkedHolders(queries, whoseOf(call), { onlyEnding: true }),
      );
      await requireOverThese(call, approved);
      const users = await services.database.write(tenant.id, async (queries) => {
        // First, so that they are no ends since the approval, which would be asked for again.
        const count = await releaseEnding(queries, whoseOf(call), { approved });
        if (!(await approveHeld(queries, tenant.id, id))) throw conflict('approval', 'Nothing waits for approval.');
        await askForRun(queries, tenant.id, id, { full: false });
        await audit(call, queries, { type: 'directory.approved', target: `directory:${id}`, data: { users: count } });
        return count;
      });
      return { approved: users };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/directories/:id/status',
    capability: 'connectors:read',
    summary: 'Where a directory stands: what its last run did, when the next one is, what it waits for',
    answer: statusAnswer,
    status: 200,
    handle: async (call) => statusOf(call, await loadDirectory(call)),
  }),
];

const links: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/directories/:id/links',
    capability: 'connectors:read',
    summary: 'List who the entries of a directory are here, by `state`; needs the capabilities for what the directory does too',
    query: closed({ ...pageQuery.properties, state: Type.Optional(oneOf(directoryLinkStates)) }),
    answer: listAnswer(linkAnswer),
    status: 200,
    handle: async (call) => {
      const { services, tenant, query } = call;
      const page = pageOf(query);
      await loadDoing(call);
      const wanted = { after: page.after, limit: page.limit + 1, state: query.state };
      const rows = await services.database.read(tenant.id, (queries) => listDirectoryLinks(queries, whoseOf(call), wanted));
      return listOf(page, rows, (row) => row.remote_id, linkToJson);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/directories/:id/links/:link_id/resolve',
    capability: 'connectors:write',
    summary:
      'Settle a conflict: `{"action": "adopt", "local_id": "…"}`, `{"action": "create"}` or `{"action": "ignore"}`; needs the capabilities for what the directory does too',
    body: closed({
      action: oneOf(['adopt', 'create', 'ignore']),
      local_id: Type.Optional(Type.String({ minLength: 1, maxLength: textCharsMax })),
    }),
    answer: linkAnswer,
    status: 200,
    // Of a group it says who is in it.
    actsOn: async (queries, { tenant, body }) => {
      const { local_id: id } = body as { readonly local_id?: string }; // of the schema
      return id === undefined ? [] : [id, ...(await listHoldersInGroup(queries, tenant.id, id))];
    },
    handle: async (call) => resolve(call, call.body.action, call.body.local_id),
  }),
];

export const directoryRunEndpoints: readonly Endpoint[] = [...runs, ...links];

/** @throws management.unavailable when as many of the tenant's are asked as may be */
function requireAnswer<T>(answer: T | undefined): T {
  if (answer === undefined) throw reject('management.unavailable', 'directories_busy', { retryAfterSeconds: longWorkRetrySeconds });
  return answer;
}

const loadDirectory = (call: DirectoryCall): Promise<LdapDirectory> => loadThing(registered.directory, call);

/** A directory whose people the caller may change: what it reads tells of them, and what it is told changes them. */
async function loadDoing(call: DirectoryCall): Promise<LdapDirectory> {
  const directory = await loadDirectory(call);
  requireCapabilities(directoryNeeds(directory), call.scopes);
  return directory;
}

const notSettlable = (): Error => conflict('state', 'Only a link that is in conflict, skipped or ignored is resolved.');
const anotherEntry = (): Error => conflict('local_id', 'Another entry is this person or group.');

async function resolve(call: DirectoryCall, action: 'adopt' | 'create' | 'ignore', localId: string | undefined): Promise<Json> {
  const { services, tenant, params } = call;
  if ((action === 'adopt') !== (localId !== undefined))
    throw invalidField('local_id', 'This field is for the action adopt, which needs it.');
  const directory = await loadDoing(call);
  const whose = whoseOf(call);
  const id = params['link_id']!;
  const changes = {
    adopt: { state: 'pending', local_id: localId ?? null, creates: 0 },
    create: { state: 'pending', local_id: null, creates: 1 },
    ignore: { state: 'ignored', local_id: null, creates: 0 },
  } as const;
  const done = await unlessTaken('local_id', () =>
    services.database.write(tenant.id, async (queries) => {
      const before = await findDirectoryLink(queries, whose, id);
      if (before === undefined) throw notFound('unknown_link');
      if (!settlableStates.includes(before.state)) throw notSettlable();
      if (localId !== undefined) await requireFree(queries, whose, before, localId);
      const data = { link: id, action, ...(localId !== undefined && { local_id: localId }) };
      await audit(call, queries, { type: 'directory.link_resolved', target: `directory:${directory.id}`, data });
      if (directory.enabled) await askForRun(queries, tenant.id, directory.id, { full: false });
      const link = await resolveDirectoryLink(queries, whose, id, changes[action]);
      if (link !== undefined) return link;
      throw (await findDirectoryLink(queries, whose, id)) === undefined ? notFound('unknown_link') : notSettlable(); // by a run meanwhile
    }),
  );
  if (!done.ok) throw anotherEntry();
  return linkToJson(done.value);
}

/** Somebody of the kind is here, and is no other entry; one that ended gives them up. */
async function requireFree(
  queries: Queries,
  { tenant }: OfDirectory,
  { kind, remote_id: id }: DirectoryLink,
  localId: string,
): Promise<void> {
  const found = kind === 'user' ? await findUser(queries, tenant, localId as UserId) : await findGroup(queries, tenant, localId); // a look-up key
  if (found === undefined) throw notFound(`unknown_${kind}`);
  if ('identity_provider_id' in found && found.identity_provider_id !== null)
    throw conflict('local_id', 'An identity provider says who is in this group.');
  const others = (await listLinksOfLocal(queries, tenant, [localId])).filter((other) => other.remote_id !== id);
  if (others.some(({ state }) => state !== 'off')) throw anotherEntry();
  await freeLocal(queries, tenant, [localId]);
}

async function statusOf(call: DirectoryCall, directory: LdapDirectory): Promise<Json> {
  const { services, tenant } = call;
  const { state, counted } = await services.database.read(tenant.id, async (queries) => ({
    state: await findDirectoryState(queries, tenant.id, directory.id),
    counted: await countDirectoryLinks(queries, whoseOf(call)),
  }));
  if (state === undefined) throw notFound('unknown_directory');
  const isRunning = state.run_began_at !== null;
  return {
    state: doing(directory, state),
    users: counted.users,
    groups: counted.groups,
    links: counted.states,
    waiting_for_approval: state.held_since === null ? 0 : counted.held,
    held_since: timeOf(state.held_since),
    last_run: state.last_run === null ? null : (JSON.parse(state.last_run) as RunFigures), // as it was written
    running_since: timeOf(state.run_began_at),
    next_run_at: isRunning ? null : timeOf(state.next_at),
    read_whole_at: timeOf(state.full_at),
    failure: state.failure === null ? null : { reason: state.failure, detail: state.failure_detail },
    failed_at: timeOf(state.failed_at),
    failures: state.failures,
  };
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

function doing({ enabled }: LdapDirectory, state: DirectoryState): (typeof runStates)[number] {
  if (!enabled) return 'disabled';
  if (state.held_since !== null) return 'waiting_for_approval';
  return state.run_began_at !== null ? 'running' : state.failure !== null ? 'failing' : 'idle';
}

const linkToJson = (link: DirectoryLink): Json => ({
  id: link.remote_id,
  kind: link.kind,
  state: link.state,
  local_id: link.local_id,
  dn: link.dn,
  reason: link.reason,
  waits_for_approval: link.leaving === 1,
  updated_at: isoTime(link.updated_at),
});

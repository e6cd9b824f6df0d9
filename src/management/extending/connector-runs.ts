// What a connector does, below `/connectors/{id}`: sync, plan, one person, approval, resumption, where it stands, and its links, which a person
// settles where the target has several accounts for somebody.
import Type from 'typebox';
import { registered } from '../../administration/registered.ts';
import { type Plan, planConnector, plannedActions } from '../../connectors/plan.ts';
import { textCharsMax } from '../../contract/limits.ts';
import { type Connector, connectorNeeds } from '../../domain/extending/connector.ts';
import type { UserId } from '../../domain/ids.ts';
import { findUser } from '../../storage/people/users.ts';
import {
  type ConnectorLink,
  countLinks,
  findLink,
  linkStates,
  listLinks,
  listLinksTo,
  markKnown,
  releaseLeaving,
  resolvableStates,
  resolveLink,
  type Whose,
} from '../../storage/records/connector-links.ts';
import { changeConnectorState, endQuarantine, findConnectorState } from '../../storage/registry/extending/connectors.ts';
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
import { loadThing } from '../kind-endpoints.ts';
import { listOf, pageOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';

const count = Type.Integer();
const word = nullable(Type.String());
const linkAnswer = Type.Object({
  id: Type.String({ description: 'of the user or the group' }),
  kind: oneOf(['user', 'group']),
  state: oneOf(linkStates),
  remote_id: word,
  reason: word,
  request: nullable(Type.String({ description: 'the last one that failed' })),
  answer: nullable(Type.String({ description: 'its answer, the first 1024 bytes' })),
  attempts: count,
  next_attempt_at: nullable(dateTime),
  waits_for_approval: Type.Boolean(),
  updated_at: dateTime,
});
const runStates = ['disabled', 'quarantined', 'waiting_for_approval', 'throttled', 'running', 'idle'] as const;
const statusAnswer = Type.Object({
  state: oneOf(runStates),
  total: count,
  done: count,
  due: count,
  rate: count,
  seconds_left: count,
  links: Type.Object(Object.fromEntries(linkStates.map((state) => [state, count]))),
  waiting_for_approval: Type.Integer({ description: 'people whose accounts are to end' }),
  quarantine_reason: nullable(oneOf(['unauthorized', 'failing'])),
  quarantined_at: nullable(dateTime),
  resumes_at: nullable(Type.String({ format: 'date-time', description: 'the next probe, or when the target may be asked again' })),
  reconciled_at: nullable(dateTime),
  reconciles_at: dateTime,
});
const planAnswer = Type.Object({
  counts: Type.Object(Object.fromEntries([...plannedActions, 'unchanged', 'conflict', 'ignored'].map((name) => [name, count]))),
  differences: Type.Array(Type.Object({ user_id: Type.String(), user_name: word, action: oneOf(plannedActions) })),
  complete: Type.Boolean(),
});
const started = Type.Object({ started: Type.Boolean() });

type ConnectorCall = Call<unknown, unknown>;

export const connectorRunEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/connectors/:id/sync',
    capability: 'connectors:write',
    summary: 'Go through everybody; an account that is right gets no request',
    answer: started,
    status: 200,
    handle: async (call) => {
      const connector = await loadConnector(call);
      await act(call, connector, (queries) => changeConnectorState(queries, call.tenant.id, connector.id, { sync_after: '' }), {
        type: 'connector.sync_started',
        data: {},
      });
      return { started: true };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/connectors/:id/plan',
    capability: 'connectors:read',
    summary:
      'What a run would send: counts and the first 1,000 differences; needs the capabilities for what the connector sends too, such as users:read. Nothing is written and the target is not asked',
    answer: planAnswer,
    status: 200,
    isLong: true,
    handle: async (call): Promise<Plan> => {
      const connector = await loadTelling(call);
      return planConnector(call.services.database, call.tenant, connector, call.pace);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/connectors/:id/provision',
    capability: 'connectors:write',
    summary:
      'Ask the target for one person and put their account right, also while the connector is disabled; gives what was seen. Needs the capabilities for what the connector sends too',
    body: closed({ user_id: Type.String({ minLength: 1, maxLength: textCharsMax }) }),
    answer: linkAnswer,
    status: 200,
    handle: async (call) => {
      const { services, tenant, body } = call;
      const connector = await loadTelling(call);
      const user = await services.database.read(tenant.id, (queries) => findUser(queries, tenant.id, body.user_id as UserId)); // a look-up key
      if (user === undefined) throw notFound('unknown_user');
      await services.database.write(tenant.id, (queries) =>
        audit(call, queries, { type: 'connector.provisioned', target: `connector:${connector.id}`, data: { user: user.id } }),
      );
      const done = await services.connectors.provision(tenant, connector, user.id);
      if (done === undefined) throw conflict('user_id', 'The person is being provisioned, or waits to be resolved.');
      return done.link === undefined ? absentLink(user.id, services.clock.nowMs()) : linkToJson(done.link);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/connectors/:id/approve',
    capability: 'connectors:write',
    summary: 'Let the accounts end that wait for approval',
    answer: Type.Object({ approved: count }),
    status: 200,
    handle: async (call) => {
      const { services, tenant } = call;
      const connector = await loadConnector(call);
      const approved = await services.database.write(tenant.id, async (queries) => {
        const state = await findConnectorState(queries, tenant.id, connector.id);
        if (state?.approval_since == null) throw conflict('approval', 'Nothing waits for approval.');
        const users = await releaseLeaving(queries, whoseOf(call, connector));
        const change = { approval_since: null, approved_at: services.clock.nowMs() };
        await changeConnectorState(queries, tenant.id, connector.id, change);
        await audit(call, queries, { type: 'connector.approved', target: `connector:${connector.id}`, data: { users } });
        return users;
      });
      return { approved };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/connectors/:id/resume',
    capability: 'connectors:write',
    summary: 'Go on at once after a quarantine, and try again what failed',
    answer: started,
    status: 200,
    handle: async (call) => {
      const { tenant } = call;
      const connector = await loadConnector(call);
      const resume = async (queries: Parameters<typeof endQuarantine>[0]): Promise<void> => {
        await endQuarantine(queries, tenant.id, connector.id);
        await changeConnectorState(queries, tenant.id, connector.id, { not_before: null });
        await markKnown(queries, whoseOf(call, connector), { state: 'failed' });
      };
      await act(call, connector, resume, { type: 'connector.resumed', data: {} });
      return { started: true };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/connectors/:id/status',
    capability: 'connectors:read',
    summary: 'Where a connector stands: how much is done, what it waits for',
    answer: statusAnswer,
    status: 200,
    handle: async (call) => statusOf(call, await loadConnector(call)),
  }),
  endpoint({
    method: 'GET',
    path: '/connectors/:id/links',
    capability: 'connectors:read',
    summary: 'List what people and groups are at the target, by `state`; needs the capabilities for what the connector sends too',
    query: closed({ ...pageQuery.properties, state: Type.Optional(oneOf(linkStates)) }),
    answer: listAnswer(linkAnswer),
    status: 200,
    handle: async (call) => {
      const { services, tenant, query } = call;
      const page = pageOf(query);
      const connector = await loadTelling(call);
      const wanted = { after: page.after, limit: page.limit + 1, state: query.state };
      const rows = await services.database.read(tenant.id, (queries) => listLinks(queries, whoseOf(call, connector), wanted));
      return listOf(page, rows, (row) => row.local_id, linkToJson);
    },
  }),
  endpoint({
    method: 'POST',
    path: '/connectors/:id/links/:link_id/resolve',
    capability: 'connectors:write',
    summary:
      'Settle a conflict: `{"action": "adopt", "remote_id": "…"}`, `{"action": "create"}` or `{"action": "ignore"}`; needs the capabilities for what the connector sends too',
    body: closed({
      action: oneOf(['adopt', 'create', 'ignore']),
      remote_id: Type.Optional(Type.String({ minLength: 1, maxLength: textCharsMax })),
    }),
    answer: linkAnswer,
    status: 200,
    handle: async (call) => resolve(call, call.body.action, call.body.remote_id),
  }),
];

const loadConnector = (call: ConnectorCall): Promise<Connector> => loadThing(registered.connector, call);

/** A connector whose people the caller may read: what it sends, and what its target says of it, tells of them. */
async function loadTelling(call: ConnectorCall): Promise<Connector> {
  const connector = await loadConnector(call);
  requireCapabilities(connectorNeeds(connector, call.tenant), call.scopes);
  return connector;
}

const whoseOf = ({ tenant }: ConnectorCall, { id }: Connector): Whose => ({ tenant: tenant.id, connector: id });

/** Does something with its audit record. */
async function act(
  call: ConnectorCall,
  { id }: Connector,
  work: (queries: Parameters<typeof endQuarantine>[0]) => Promise<unknown>,
  event: { readonly type: 'connector.sync_started' | 'connector.resumed'; readonly data: Readonly<Record<string, never>> },
): Promise<void> {
  await call.services.database.write(call.tenant.id, async (queries) => {
    await work(queries);
    await audit(call, queries, { ...event, target: `connector:${id}` });
  });
}

async function resolve(call: ConnectorCall, action: 'adopt' | 'create' | 'ignore', remoteId: string | undefined): Promise<Json> {
  const { services, tenant, params } = call;
  if ((action === 'adopt') !== (remoteId !== undefined))
    throw invalidField('remote_id', 'This field is for the action adopt, which needs it.');
  const connector = await loadTelling(call);
  const whose = whoseOf(call, connector);
  const id = params['link_id']!;
  const changes = {
    adopt: { state: 'pending', remote_id: remoteId ?? null, creates: 0 },
    create: { state: 'pending', remote_id: null, creates: 1 },
    ignore: { state: 'ignored', remote_id: null, creates: 0 },
  } as const;
  return services.database.write(tenant.id, async (queries) => {
    const before = await findLink(queries, whose, id);
    if (before === undefined) throw notFound('unknown_link');
    if (!resolvableStates.includes(before.state))
      throw conflict('state', 'Only a link that is in conflict, failed or ignored is resolved.');
    const others = remoteId === undefined ? [] : await listLinksTo(queries, whose, before.kind, [remoteId]);
    if (others.some((other) => other.local_id !== id)) throw conflict('remote_id', 'Another person or group has this account.');
    const data = { link: id, action, ...(remoteId !== undefined && { remote_id: remoteId }) };
    await audit(call, queries, { type: 'connector.link_resolved', target: `connector:${connector.id}`, data });
    const link = await resolveLink(queries, whose, id, changes[action]);
    if (link !== undefined) return linkToJson(link);
    if ((await findLink(queries, whose, id)) === undefined) throw notFound('unknown_link');
    throw conflict('state', 'The person or group is being provisioned.');
  });
}

async function statusOf(call: ConnectorCall, connector: Connector): Promise<Json> {
  const { services, tenant } = call;
  const { state, links } = await services.database.read(tenant.id, async (queries) => ({
    state: await findConnectorState(queries, tenant.id, connector.id),
    links: await countLinks(queries, whoseOf(call, connector)),
  }));
  if (state === undefined) throw notFound('unknown_connector');
  const nowMs = services.clock.nowMs();
  const total = links.users + links.groups;
  const timeOf = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));
  const isThrottled = (state.not_before ?? 0) > nowMs;
  const isRunning = state.sync_after !== null || links.due > 0;
  const doing = isRunning ? 'running' : 'idle';
  const waiting = state.approval_since !== null ? 'waiting_for_approval' : isThrottled ? 'throttled' : doing;
  return {
    state: !connector.enabled ? 'disabled' : state.quarantined_at !== null ? 'quarantined' : waiting,
    ...{ total, done: total - links.due, due: links.due, rate: connector.rate, seconds_left: Math.ceil(links.due / connector.rate) },
    links: links.states,
    waiting_for_approval: state.approval_since === null ? 0 : links.held,
    quarantine_reason: state.quarantine_reason,
    quarantined_at: timeOf(state.quarantined_at),
    resumes_at: timeOf(state.probe_at ?? (isThrottled ? state.not_before : null)),
    reconciled_at: timeOf(state.reconciled_at),
    reconciles_at: isoTime(state.reconcile_at),
  };
}

const linkToJson = (link: ConnectorLink): Json => ({
  id: link.local_id,
  kind: link.kind,
  state: link.state,
  remote_id: link.remote_id,
  reason: link.reason,
  request: link.request,
  answer: link.answer,
  attempts: link.attempts,
  next_attempt_at: link.due_at === null ? null : isoTime(link.due_at),
  waits_for_approval: link.leaving === 1,
  updated_at: isoTime(link.updated_at),
});

/** Nobody at the target, and nobody wanted there. */
const absentLink = (id: string, nowMs: number): Json => ({
  ...{ id, kind: 'user', state: 'off', remote_id: null, reason: null, request: null, answer: null, attempts: 0 },
  ...{ next_attempt_at: null, waits_for_approval: false, updated_at: isoTime(nowMs) },
});

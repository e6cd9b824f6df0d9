// `/events`: the audit trail, newest first, and all about one request. Refusals still waiting to be written are written first,
// so that whoever asks right after a refusal sees it.
import Type from 'typebox';
import { eventToJson, explain, explainByMinute } from '../../audit/explanation.ts';
import { requestIdCharsMax, textCharsMax } from '../../contract/limits.ts';
import type { Page } from '../../storage/engine/rows/matching-rows.ts';
import { listAuditEvents, type StoredAuditEvent } from '../../storage/records/audit-events.ts';
import { listEventNames } from '../../storage/records/event-names.ts';
import { type Endpoint, endpoint, notFound } from '../endpoint.ts';
import { encodeCursor, pageOf, timeOf } from '../paging.ts';
import { closed, dateTime, listAnswer, nullable, oneOf, pageQuery } from '../schemas.ts';
import { signInAnswer } from './sign-ins.ts';

const word = nullable(Type.String());
const eventAnswer = Type.Object({
  id: Type.String(),
  created_at: dateTime,
  type: Type.String(),
  request_id: word,
  actor: word,
  target: word,
  row: word,
  reason: word,
  received: word,
  expected: word,
  data: nullable(Type.Object({})),
});
const filter = Type.Optional(Type.String({ minLength: 1, maxLength: textCharsMax }));
const time = Type.Optional(Type.String({ minLength: 1, maxLength: 40 }));

export const eventEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/events',
    capability: 'events:read',
    summary:
      'List audit records, newest first; `type` may be the beginning of some (`user.*`), `user` is who did it or whose account it is about, `from` is inclusive, `to` exclusive. With `names=shown` also what actors and targets are called, of what the caller may read',
    query: closed({
      ...pageQuery.properties,
      type: filter,
      actor: filter,
      target: filter,
      user: filter,
      row: filter,
      request_id: filter,
      from: time,
      to: time,
      names: Type.Optional(oneOf(['shown'])),
    }),
    answer: Type.Object({
      ...listAnswer(eventAnswer).properties,
      previous_cursor: Type.Optional(Type.String()),
      names: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    status: 200,
    handle: async ({ services, tenant, query, scopes }) => {
      const page = pageOf(query);
      const { type, actor, target, user, row, request_id: requestId } = query;
      const times = { fromMs: timeOf('from', query.from), toMs: timeOf('to', query.to) };
      await services.refusals.flush();
      const newerThan = page.after.startsWith(newer) ? page.after.slice(newer.length) : undefined;
      const before = newerThan === undefined ? page.after : '';
      const wanted = { type, actor, target, user, row, requestId, ...times, before, newerThan, limit: page.limit + 1 };
      return services.database.read(tenant.id, async (queries) => {
        const answer = pagesAround(page, await listAuditEvents(queries, tenant.id, wanted), newerThan !== undefined);
        if (query.names === undefined) return answer;
        const ids = answer.items.flatMap((event) => [event['actor'], event['target']]).filter((id) => typeof id === 'string');
        return { ...answer, names: Object.fromEntries(await listEventNames(queries, tenant.id, ids, scopes)) };
      });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/events/:request_id',
    capability: 'events:read',
    summary:
      'Everything recorded under a request id, with the sign-in it belongs to, or else the summaries of refusals of its minute: what `gatehouse explain` shows',
    answer: Type.Object({ request_id: Type.String(), items: Type.Array(eventAnswer), sign_in: Type.Optional(signInAnswer) }),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const requestId = params['request_id']!;
      if (requestId.length > requestIdCharsMax) throw notFound('unknown_request');
      await services.refusals.flush();
      const explanation = (await explain(services, tenant.id, requestId)) ?? (await explainByMinute(services, tenant.id, requestId));
      if (explanation === undefined) throw notFound('unknown_request');
      return explanation;
    },
  }),
];

/** Marks a cursor that leads to newer records. */
const newer = 'newer:';

/** A page of one row more than it holds, with the cursors of the pages around it. */
function pagesAround({ limit, after }: Page, rows: readonly StoredAuditEvent[], isBackward: boolean) {
  const isMore = rows.length > limit;
  const shown = isBackward && isMore ? rows.slice(1) : rows.slice(0, limit);
  const [first, last] = [shown[0], shown.at(-1)];
  return {
    items: shown.map(eventToJson),
    ...(last !== undefined && (isBackward || isMore) ? { next_cursor: encodeCursor(last.id) } : {}),
    ...(first !== undefined && (isBackward ? isMore : after !== '') ? { previous_cursor: encodeCursor(`${newer}${first.id}`) } : {}),
  };
}

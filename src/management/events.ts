// `/events`: the audit trail, newest first, and all about one request. Refusals still waiting to be written are written first,
// so that whoever asks right after a refusal sees it.
import Type from 'typebox';
import { eventToJson, explain } from '../administration/explanation.ts';
import { requestIdCharsMax, textCharsMax } from '../contract/limits.ts';
import { listAuditEvents } from '../storage/audit-events.ts';
import { type Endpoint, endpoint, invalidField, notFound } from './endpoint.ts';
import { listOf, pageOf } from './paging.ts';
import { closed, dateTime, listAnswer, nullable, pageQuery } from './schemas.ts';

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
    summary: 'List audit records, newest first; `from` is inclusive, `to` exclusive',
    query: closed({
      ...pageQuery.properties,
      type: filter,
      actor: filter,
      target: filter,
      row: filter,
      request_id: filter,
      from: time,
      to: time,
    }),
    answer: listAnswer(eventAnswer),
    status: 200,
    handle: async ({ services, tenant, query }) => {
      const page = pageOf(query);
      const { type, actor, target, row, request_id: requestId } = query;
      const times = { fromMs: timeOf('from', query.from), toMs: timeOf('to', query.to) };
      await services.refusals.flush();
      const wanted = { type, actor, target, row, requestId, ...times, before: page.after, limit: page.limit + 1 };
      const rows = await services.database.read(tenant.id, (queries) => listAuditEvents(queries, tenant.id, wanted));
      return listOf(page, rows, (event) => event.id, eventToJson);
    },
  }),
  endpoint({
    method: 'GET',
    path: '/events/:request_id',
    capability: 'events:read',
    summary: 'Everything recorded under a request id: what `gatehouse explain` shows',
    answer: Type.Object({ request_id: Type.String(), items: Type.Array(eventAnswer) }),
    status: 200,
    handle: async ({ services, tenant, params }) => {
      const requestId = params['request_id']!;
      if (requestId.length > requestIdCharsMax) throw notFound('unknown_request');
      await services.refusals.flush();
      const explanation = await explain(services, tenant.id, requestId);
      if (explanation === undefined) throw notFound('unknown_request');
      return explanation;
    },
  }),
];

/** RFC 3339 date and time, or a date. */
function timeOf(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const epochMs = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(epochMs)) throw invalidField(field, 'This parameter must be a time such as 2026-01-31T12:00:00Z.');
  return epochMs;
}

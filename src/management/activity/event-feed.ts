// `/events/feed`: the audit records of a tenant in the order of their numbers, for whoever takes each of them in. Asks may wait for the
// next one.
import { setTimeout as wait } from 'node:timers/promises';
import Type from 'typebox';
import { type FeedEvent, feedEventOf } from '../../audit/feed-event.ts';
import { feedTypesMax, feedWaitSecondsMax, feedWaitsMax } from '../../contract/limits.ts';
import { isTypeOfEvents } from '../../domain/extending/webhook.ts';
import { type FeedPage, readFeed } from '../../storage/records/event-feed.ts';
import { type Endpoint, endpoint, invalidField } from '../endpoint.ts';
import { pageOf } from '../paging.ts';
import { closed, dateTime } from '../schemas.ts';

const feedEvent = Type.Object({
  seq: Type.Integer(),
  id: Type.String(),
  type: Type.String(),
  timestamp: dateTime,
  data: Type.Object({}),
});

/** While an ask waits. */
const lookEveryMs = 500;
/** Asks of this process that wait. */
let waiting = 0;

export const eventFeedEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/events/feed',
    capability: 'events:read',
    summary:
      'Audit records in the order of `seq`, which has no holes and only grows: ask `after` the `next` of the answer before. `types` such as `user.*,refusal`; `wait` seconds for the next one. As application/x-ndjson one a line',
    query: closed({
      after: Type.Optional(Type.Integer()),
      types: Type.Optional(Type.String({ minLength: 1 })),
      wait: Type.Optional(Type.Integer()),
      limit: Type.Optional(Type.Integer()),
    }),
    answer: Type.Object({ items: Type.Array(feedEvent), next: Type.Integer() }),
    status: 200,
    inLines: (answer) => {
      const { items, next } = answer as FeedAnswer; // what is returned below
      return { lines: items, link: `<?after=${next}>; rel="next"` };
    },
    handle: async ({ services, tenant, query, isGone }): Promise<FeedAnswer> => {
      const { limit } = pageOf({ limit: query.limit });
      const waitSeconds = query.wait ?? 0;
      if (waitSeconds < 0 || waitSeconds > feedWaitSecondsMax)
        throw invalidField('wait', `This parameter must be from 0 to ${feedWaitSecondsMax}.`);
      const types = typesOf(query.types);
      await services.refusals.flush();
      const look = async (after: number): Promise<FeedPage> => {
        const page = after < 0 ? undefined : await readFeed(services.database, tenant.id, { after, types, limit });
        if (page === undefined) throw invalidField('after', 'This parameter must be a number of this feed: 0, or the `next` of an answer.');
        return page;
      };
      const { rows, next } = await waitFor(look, await look(query.after ?? 0), waitSeconds, isGone);
      return { items: rows.map(feedEventOf), next };
    },
  }),
];

interface FeedAnswer {
  readonly items: readonly FeedEvent[];
  readonly next: number;
}

function typesOf(text: string | undefined): readonly string[] {
  const types = text?.split(',') ?? [];
  if (types.length > feedTypesMax || !types.every(isTypeOfEvents))
    throw invalidField('types', `This parameter must be up to ${feedTypesMax} types such as user.created or user.*, with commas between.`);
  return types;
}

/** Looks again until something is there or the time is over; at once where too many wait already. */
async function waitFor(
  look: (after: number) => Promise<FeedPage>,
  first: FeedPage,
  waitSeconds: number,
  isGone: () => boolean,
): Promise<FeedPage> {
  if (first.rows.length > 0 || waitSeconds === 0 || waiting >= feedWaitsMax) return first;
  const endsAtMs = performance.now() + waitSeconds * 1000;
  waiting += 1;
  try {
    let page = first;
    while (page.rows.length === 0 && !isGone() && performance.now() < endsAtMs) {
      await wait(Math.min(lookEveryMs, endsAtMs - performance.now()));
      page = await look(page.next);
    }
    return page;
  } finally {
    waiting -= 1;
  }
}

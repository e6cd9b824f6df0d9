// `gatehouse events`: a tenant's audit records in the order of its feed, as lines for people or JSON lines; with --follow as they come.
import { setTimeout as wait } from 'node:timers/promises';
import type { Command } from 'commander';
import { type FeedEvent, feedEventOf } from '../audit/feed-event.ts';
import { listLimitMax } from '../contract/limits.ts';
import { isTypeOfEvents } from '../domain/extending/webhook.ts';
import { findFeedEnd, readFeed } from '../storage/records/event-feed.ts';
import { usage } from './failure.ts';
import { periodMs } from './period.ts';
import { oneLine } from './printable.ts';
import { addCommonOptions, addTenantOption, administer, loadTenant, type Options, write } from './registry/administrator.ts';

const lookEveryMs = 500;

export function eventsCommand(program: Command): void {
  const command = addTenantOption(program.command('events').description('Print the audit records of a tenant, oldest first'))
    .option('--follow', 'go on as they come, beginning now')
    .option('--after <seq>', 'begin after the record of this number; 0 is the first')
    .option('--since <time>', 'only those of the last time, e.g. 30m, 1h, 7d')
    .option('--types <list>', 'only these types, e.g. user.*,refusal');
  addCommonOptions(command).action(print);
}

async function print(options: Options): Promise<void> {
  const given = options['after'];
  if (given !== undefined && !/^\d{1,15}$/.test(String(given))) throw usage(`--after: expected the seq of an event, found ${given}`);
  const types = options['types'] === undefined ? [] : String(options['types']).split(',');
  const wrong = types.find((type) => !isTypeOfEvents(type));
  if (wrong !== undefined) throw usage(`--types: expected types such as user.created,user.*, found ${wrong}`);
  const isFollowing = options['follow'] === true;
  const sinceMs = options['since'] === undefined ? undefined : periodMs('--since', String(options['since']));
  await administer(options, async (administrator) => {
    const { database, json, clock } = administrator;
    const fromMs = sinceMs === undefined ? 0 : clock.nowMs() - sinceMs;
    const { id: tenant } = await loadTenant(administrator, options);
    let after = given === undefined ? (isFollowing ? await findFeedEnd(database, tenant) : 0) : Number(given);
    for (;;) {
      const page = await readFeed(database, tenant, { after, types, limit: listLimitMax });
      if (page === undefined) throw usage(`--after: expected a number of this feed, found ${after}, which is beyond its end`);
      for (const event of page.rows.filter(({ created_at: at }) => at >= fromMs).map(feedEventOf))
        write(json ? JSON.stringify(event) : lineOf(event));
      const isAtEnd = page.rows.length === 0 && page.next === after;
      after = page.next;
      if (isAtEnd && !isFollowing) return;
      if (isAtEnd) await wait(lookEveryMs);
    }
  });
}

/** 17  2026-01-31T12:00:00.000Z  user.created  client:a1  user:b2 */
function lineOf({ seq, timestamp, type, data }: FeedEvent): string {
  const words = [data['row'], data['actor'], data['target'], data['reason']].filter((word) => typeof word === 'string');
  return oneLine([seq, timestamp, type, ...words].join('  '));
}

// Rate limits: fixed windows counted in Redis; without it, or while it does not answer, by the supervisor of this node's workers; without
// that by this process. Losing Redis loosens limits to those of a node; it is never what protects single use.
import { type RateLimiterAbstract, RateLimiterCluster, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Log } from './log.ts';

export interface RateLimit {
  readonly limit: number;
  readonly periodSeconds: number;
}

export interface RateLimiter {
  /** Counts one event under `name` and `key`. Gives the seconds to wait when the limit is exceeded, else undefined. */
  readonly take: (name: string, key: string, limit: RateLimit) => Promise<number | undefined>;
  /** Takes back one event that was counted and does not count after all. */
  readonly giveBack: (name: string, key: string, limit: RateLimit) => Promise<void>;
  readonly close: () => Promise<void>;
}

interface RateLimiterOptions {
  readonly redisUrl: string | undefined;
  /** Processes of this node that share their limits by their supervisor; 1: this process counts for itself. */
  readonly workers: number;
  readonly log: Log;
}

/** A supervisor that takes longer than this to count is passed over for that event. */
const supervisorTimeoutMs = 250;

export async function createRateLimiter({ redisUrl, workers, log }: RateLimiterOptions): Promise<RateLimiter> {
  const redis = redisUrl === undefined ? undefined : await connectRedis(redisUrl, log);
  const counters = new Map<string, readonly RateLimiterAbstract[]>();
  /** Those that count events of one limit, best first; the last, this process's memory, never fails. */
  const countersOf = ({ limit, periodSeconds }: RateLimit): readonly RateLimiterAbstract[] => {
    const id = `gh:${limit}:${periodSeconds}`;
    let found = counters.get(id);
    if (found === undefined) {
      const options = { keyPrefix: id, points: limit, duration: periodSeconds };
      found = [
        ...(redis === undefined ? [] : [new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true })]),
        ...(workers === 1 ? [] : [new RateLimiterCluster({ ...options, timeoutMs: supervisorTimeoutMs })]),
        new RateLimiterMemory({ ...options, points: Math.ceil(limit / workers) }),
      ];
      counters.set(id, found);
    }
    return found;
  };
  /** Asks the counters of a limit in their order until one answers. */
  const ask = async (limit: RateLimit, work: (counter: RateLimiterAbstract) => Promise<unknown>): Promise<number | undefined> => {
    const own = countersOf(limit);
    for (const [index, counter] of own.entries()) {
      try {
        await work(counter);
        return undefined;
      } catch (error) {
        if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1000));
        if (index === own.length - 1) throw error;
      }
    }
    return undefined;
  };
  return {
    take: (name, key, limit) => ask(limit, (counter) => counter.consume(`${name}:${key}`)),
    giveBack: async (name, key, limit) => void (await ask(limit, (counter) => counter.reward(`${name}:${key}`))),
    close: async () => void redis?.disconnect(),
  };
}

/** A Redis that takes longer than this to count is treated as gone for that event. */
const redisTimeoutMs = 250;

async function connectRedis(url: string, log: Log): Promise<import('ioredis').Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 2000,
    commandTimeout: redisTimeoutMs,
    lazyConnect: true,
  });
  let reported = false;
  redis.on('error', (error: Error) => {
    if (!reported) log.warn({ err: error }, 'Redis does not answer; rate limits are counted in this process until it does');
    reported = true;
  });
  redis.on('ready', () => {
    reported = false;
  });
  await redis.connect().catch(() => undefined);
  return redis;
}

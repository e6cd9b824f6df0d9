// Rate limits: fixed windows counted in memory, or in Redis with memory as insurance when Redis does not answer.
// Losing Redis loosens limits to per-process ones; it is never what protects single use.
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Log } from './log.ts';

export interface RateLimit {
  readonly limit: number;
  readonly periodSeconds: number;
}

export interface RateLimiter {
  /** Counts one event under `name` and `key`. Gives the seconds to wait when the limit is exceeded, else undefined. */
  readonly take: (name: string, key: string, limit: RateLimit) => Promise<number | undefined>;
  /** True when the next take would exceed the limit; counts nothing. */
  readonly isExceeded: (name: string, key: string, limit: RateLimit) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

export async function createRateLimiter(redisUrl: string | undefined, log: Log): Promise<RateLimiter> {
  const redis = redisUrl === undefined ? undefined : await connectRedis(redisUrl, log);
  const limiters = new Map<string, RateLimiterAbstract>();
  const limiterOf = (name: string, { limit, periodSeconds }: RateLimit): RateLimiterAbstract => {
    const id = `${name}:${limit}:${periodSeconds}`;
    let limiter = limiters.get(id);
    if (limiter === undefined) {
      const options = { keyPrefix: `gh:${id}`, points: limit, duration: periodSeconds };
      const memory = new RateLimiterMemory(options);
      limiter =
        redis === undefined
          ? memory
          : new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter: memory, rejectIfRedisNotReady: true });
      limiters.set(id, limiter);
    }
    return limiter;
  };
  const secondsOf = (result: RateLimiterRes): number => Math.max(1, Math.ceil(result.msBeforeNext / 1000));
  return {
    take: async (name, key, limit) => {
      try {
        await limiterOf(name, limit).consume(key);
        return undefined;
      } catch (error) {
        if (error instanceof RateLimiterRes) return secondsOf(error);
        throw error;
      }
    },
    isExceeded: async (name, key, limit) => {
      const result = await limiterOf(name, limit).get(key);
      return result !== null && result.consumedPoints >= limit.limit ? secondsOf(result) : undefined;
    },
    close: async () => void redis?.disconnect(),
  };
}

/** A Redis that takes longer than this to count is treated as gone for that event. */
const redisPatienceMs = 250;

async function connectRedis(url: string, log: Log): Promise<import('ioredis').Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    connectTimeout: 2000,
    commandTimeout: redisPatienceMs,
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

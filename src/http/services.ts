// What the composition root hands to every surface: the parts of a running server, as types only.
import type { Config } from '../config.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Clock } from '../platform/clock.ts';
import type { Jobs } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Mail } from '../platform/mail.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Outbound } from '../platform/outbound.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';
import type { ConfigCache } from '../storage/config-cache.ts';
import type { Database } from '../storage/database.ts';
import type { TenantDirectory } from '../storage/tenant-directory.ts';
import type { KeyRings } from '../tokens/key-rings.ts';
import type { ActivityRecorder } from './activity.ts';
import type { RefusalRecorder } from './refusals.ts';

export interface Services {
  readonly config: Config;
  /** The public URL in force, known once the port is. */
  readonly publicUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly cache: ConfigCache;
  readonly tenants: TenantDirectory;
  readonly keyRings: KeyRings;
  readonly refusals: RefusalRecorder;
  readonly activity: ActivityRecorder;
  readonly rateLimiter: RateLimiter;
  readonly outbound: Outbound;
  readonly jobs: Jobs;
  readonly mail: Mail;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
}

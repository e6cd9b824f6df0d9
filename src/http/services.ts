// What the composition root hands to every surface: the parts of a running server, as types only.

import type { ActivityRecorder } from '../audit/activity.ts';
import type { RefusalRecorder } from '../audit/refusals.ts';
import type { Config } from '../config.ts';
import type { Connectors } from '../connectors/engine.ts';
import type { KeyEncryption } from '../crypto/key-encryption.ts';
import type { Directories } from '../domain/extending/directory-runs.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Clock } from '../platform/clock.ts';
import type { Jobs } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Mail } from '../platform/mail/mail.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Outbound } from '../platform/net/outbound.ts';
import type { TextRecords } from '../platform/net/text-records.ts';
import type { PushWays } from '../platform/push/senders.ts';
import type { RateLimiter } from '../platform/rate-limit.ts';
import type { LongWork } from '../platform/turns/long-work.ts';
import type { ConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import type { TenantDirectory } from '../storage/registry/tenant-directory.ts';
import type { KeyRings } from '../tokens/key-rings.ts';
import type { AdmitLookUp } from './request-tenant.ts';

export interface Services {
  readonly config: Config;
  /** The public URL in force, known once the port is. */
  readonly publicUrl: string;
  /** Whether the deployment's mail reaches somebody: there is SMTP, or a developer reads the outbox. Of a tenant: `Tenant.canMail`. */
  readonly canMail: boolean;
  /** Whether somebody tries things out: a loopback public URL, the embedded database, no SMTP. */
  readonly isDevelopment: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly cache: ConfigCache;
  readonly tenants: TenantDirectory;
  /** The limit on look-ups of unknown tenant names. */
  readonly admitLookUp: AdmitLookUp;
  readonly keyRings: KeyRings;
  readonly refusals: RefusalRecorder;
  readonly activity: ActivityRecorder;
  readonly rateLimiter: RateLimiter;
  readonly outbound: Outbound;
  readonly hooks: Hooks;
  readonly connectors: Connectors;
  readonly directories: Directories;
  readonly textRecords: TextRecords;
  readonly jobs: Jobs;
  readonly longWork: LongWork;
  readonly mail: Mail;
  readonly push: PushWays;
  /** Undefined when metrics are off. */
  readonly metrics: Metrics | undefined;
}

/** The parts a function uses. */
export type Parts<Name extends keyof Services> = Pick<Services, Name>;

// The composition root: the only file that constructs and wires. Everything below it takes what it needs as parameters.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createRetiredKeyJob } from './administration/signing-keys.ts';
import { createMailDeliveryJob } from './approvals/mail-delivery.ts';
import { createPushDeliveryJob } from './approvals/push-delivery.ts';
import { bootstrap, checkMasterKey, hasMasterKeyCheck, rememberNoticesShown, rememberPublicUrl } from './bootstrap.ts';
import { type Config, ConfigError } from './config.ts';
import { createKeyEncryption, type KeyEncryption } from './crypto/key-encryption.ts';
import { loadMasterKey } from './crypto/master-key.ts';
import { createActivityRecorder } from './http/activity.ts';
import { createAddressOf } from './http/client-address.ts';
import { type MetricsServer, startMetricsServer } from './http/metrics-server.ts';
import { createRefusalRecorder } from './http/refusals.ts';
import { createServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { createLogoutNoticeJob } from './oidc/backchannel-logout.ts';
import { createCibaDeliveryJob } from './oidc/ciba-delivery.ts';
import type { Clock } from './platform/clock.ts';
import { createJobs } from './platform/jobs.ts';
import type { Log } from './platform/log.ts';
import { createMail } from './platform/mail.ts';
import { createMetrics } from './platform/metrics.ts';
import { createOutbound } from './platform/outbound.ts';
import { createLogPush, type PushSenders } from './platform/push.ts';
import { createRateLimiter } from './platform/rate-limit.ts';
import { createConfigCache } from './storage/config-cache.ts';
import type { Database } from './storage/database.ts';
import { openSqlite } from './storage/dialects/sqlite.ts';
import { type FolderLock, lockFolder } from './storage/folder-lock.ts';
import { migrate, migrationState } from './storage/migrations/migrator.ts';
import { createPurgeJob } from './storage/purge.ts';
import { findRowSecurityFault } from './storage/row-security.ts';
import { createTenantDirectory } from './storage/tenant-directory.ts';
import { registerSurfaces } from './surfaces.ts';
import { createKeyRings } from './tokens/key-rings.ts';

export interface Environment {
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces the configured push providers. */
  readonly push?: PushSenders | undefined;
}

export interface Store {
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly close: () => Promise<void>;
}

/** Opens database and master key for a command or a server. `serving` takes the folder lock of the embedded database. */
export async function openStore(config: Config, environment: Environment, options: { readonly serving: boolean }): Promise<Store> {
  if (config.databaseUrl === undefined || config.masterKey === undefined) mkdirSync(config.dataFolder, { recursive: true, mode: 0o700 });
  let lock: FolderLock | undefined;
  if (config.databaseUrl === undefined && options.serving) lock = lockFolder(config.dataFolder);
  let database: Database | undefined;
  const close = async (): Promise<void> => {
    await database?.close();
    lock?.release();
  };
  try {
    database = await openDatabase(config, environment);
    const masterKey = loadMasterKey(config.masterKey, config.dataFolder, !(await hasMasterKeyCheck(database)));
    const encryption = createKeyEncryption(masterKey);
    await checkMasterKey(database, encryption);
    return { database, encryption, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openDatabase(config: Config, { clock }: Environment): Promise<Database> {
  if (config.databaseUrl === undefined) {
    const database = openSqlite({ file: join(config.dataFolder, 'gatehouse.db'), clock });
    await migrate(database);
    return database;
  }
  const { openPostgres } = await import('./storage/dialects/postgres.ts');
  const database = openPostgres({
    url: config.databaseUrl,
    poolMax: config.databasePoolMax,
    timeoutMs: config.databaseTimeoutMs,
    asService: true,
  });
  try {
    await assertPrepared(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Refuses to serve a PostgreSQL that is away, not migrated, or whose row-level security would not hold (R5). */
async function assertPrepared(database: Database): Promise<void> {
  const { pending, unknown } = await migrationState(database).catch((error: unknown) => {
    const advice = isAnswerOfPostgres(error) ? 'Run: gatehouse migrate' : 'Check database_url, and that PostgreSQL runs';
    throw new ConfigError(`database_url: expected a PostgreSQL prepared for Gatehouse, found: ${causeOf(error)}. ${advice}`);
  });
  if (pending.length > 0)
    throw new ConfigError(
      `database_url: expected this release's schema, found migrations ${pending.join(', ')} missing. Run: gatehouse migrate`,
    );
  if (unknown.length > 0)
    throw new ConfigError(
      `database_url: expected this release's schema, found migrations ${unknown.join(', ')} of a newer release. Run that release`,
    );
  const fault = await findRowSecurityFault(database);
  if (fault !== undefined) throw new ConfigError(`database_url: ${fault}. Run: gatehouse migrate`);
}

/** True when the server itself refused (it has an SQLSTATE), false when it could not be reached. */
function isAnswerOfPostgres(error: unknown): boolean {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return typeof (cause as { severity?: unknown }).severity === 'string';
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}

export interface Gatehouse {
  readonly app: FastifyInstance;
  readonly services: Services;
  /** Where it answers. */
  readonly publicUrl: string;
  /** Things to tell whoever started it, e.g. one-time links of a first start. */
  readonly notices: readonly string[];
  /** Where metrics are read, when they are on. */
  readonly metricsUrl: string | undefined;
  /** To be called once they were told. */
  readonly noticesShown: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Composes and starts a server; it answers when this resolves. */
export async function startGatehouse(config: Config, environment: Environment): Promise<Gatehouse> {
  const store = await openStore(config, environment, { serving: true });
  const app = createServer(createAddressOf(config.trustedProxies));
  try {
    // With port 0 the public URL is known only after listening, so the services read it through a setter used here.
    const services = await composeServices(config, environment, store);
    const notices = await bootstrap(services);
    registerSurfaces(app, services);
    await app.listen({ host: config.listenHost, port: config.listenPort });
    const metricsServer = await startMetrics(services);
    const publicUrl = config.publicUrl ?? listeningUrl(app, config.listenHost);
    services.setPublicUrl(publicUrl);
    await rememberPublicUrl(store.database, publicUrl);
    services.jobs.start();
    return {
      app,
      services,
      publicUrl,
      notices: notices(publicUrl),
      metricsUrl: metricsServer?.url,
      noticesShown: () => rememberNoticesShown(store.database),
      close: async () => {
        await app.close();
        await metricsServer?.close();
        await services.jobs.stop();
        await services.refusals.flush().catch(() => undefined);
        await services.activity.flush().catch(() => undefined);
        await services.rateLimiter.close();
        services.mail.close();
        await store.close();
      },
    };
  } catch (error) {
    await app.close();
    await store.close();
    throw error;
  }
}

async function startMetrics({ config, metrics }: Services): Promise<MetricsServer | undefined> {
  return metrics === undefined || config.metricsListen === undefined ? undefined : startMetricsServer(metrics, config.metricsListen);
}

async function composeServices(
  config: Config,
  { clock, log, push: givenPush }: Environment,
  { database, encryption }: Store,
): Promise<Services & { setPublicUrl: (url: string) => void }> {
  const state = { publicUrl: config.publicUrl ?? 'http://127.0.0.1' };
  const cache = createConfigCache(database);
  const refusals = createRefusalRecorder(database, clock, log);
  const activity = createActivityRecorder(database, clock);
  const mail = await createMail(config.smtpUrl, config.mailFrom);
  const push = givenPush ?? (await composePush(config, clock, log));
  const jobs = createJobs(
    [
      cache.pollJob,
      refusals.job,
      activity.job,
      createMailDeliveryJob(database, mail, log),
      createCibaDeliveryJob((): Services => services),
      createLogoutNoticeJob((): Services => services),
      createPurgeJob(database),
      createRetiredKeyJob({ database, cache, clock }),
      createPushDeliveryJob({ database, encryption, push, log }),
    ],
    log,
  );
  let tenants = createTenantDirectory(database, cache, state.publicUrl);
  const services = {
    config,
    clock,
    log,
    database,
    encryption,
    cache,
    refusals,
    activity,
    jobs,
    mail,
    metrics: config.metricsListen === undefined ? undefined : await createMetrics(),
    keyRings: createKeyRings(cache, encryption),
    outbound: createOutbound({ allow: config.egressAllow }),
    rateLimiter: await createRateLimiter(config.redisUrl, log),
    get publicUrl() {
      return state.publicUrl;
    },
    get tenants() {
      return tenants;
    },
    setPublicUrl: (url: string) => {
      state.publicUrl = url;
      tenants = createTenantDirectory(database, cache, url);
    },
  };
  return services;
}

/** The configured push providers; one without an account only logs. Loaded when configured, since most servers push nothing. */
async function composePush(config: Config, clock: Clock, log: Log): Promise<PushSenders> {
  const { pushApns: apns, pushFcm: fcm } = config;
  const senders = { apns: createLogPush(log, 'apns'), fcm: createLogPush(log, 'fcm') };
  if (apns !== undefined) {
    const { createApnsPush, parseApnsAccount } = await import('./platform/push-apns.ts');
    senders.apns = createApnsPush(parseApnsAccount(readFileSync(apns, 'utf8')), clock);
  }
  if (fcm !== undefined) {
    const { createFcmPush, parseFcmAccount } = await import('./platform/push-fcm.ts');
    senders.fcm = createFcmPush(parseFcmAccount(readFileSync(fcm, 'utf8')), clock);
  }
  return senders;
}

function listeningUrl(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

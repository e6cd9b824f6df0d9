// What a server is made of: opens nothing, listens nowhere. The process that answers requests and the thread that makes its
// deliveries (delivery-thread.ts) are both made of this.

import { createMetadataRefreshJob } from '../administration/saml/sp-refresh-job.ts';
import { createRetiredKeyJob } from '../administration/signing-keys.ts';
import { createMailCarrier, isLaneOfDeployment } from '../approvals/mailed/mail-delivery.ts';
import { createPushCarrier } from '../approvals/pushed/push-delivery.ts';
import { createActivityRecorder } from '../audit/activity.ts';
import { createRefusalRecorder } from '../audit/refusals.ts';
import { type Config, canMail, isDevelopment } from '../config.ts';
import { type Connectors, createConnectors } from '../connectors/engine.ts';
import type { Carriers } from '../deliveries/attempt.ts';
import { createDeliveries } from '../deliveries/engine.ts';
import { createCatchUpJob, createFeeder } from '../deliveries/feeder.ts';
import { createDirectories } from '../directories/engine.ts';
import type { OpenDirectory } from '../directories/reading.ts';
import type { TenantId } from '../domain/ids.ts';
import { createHooks } from '../hooks/hooks.ts';
import { createLookUpLimit } from '../http/request-tenant.ts';
import type { Services } from '../http/services.ts';
import { createLogoutCarrier } from '../oidc/backchannel-logout.ts';
import { createCibaCarrier } from '../oidc/ciba/ciba-delivery.ts';
import type { Clock } from '../platform/clock.ts';
import { createJobs, type Woken } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import { createMail, type Mail } from '../platform/mail/mail.ts';
import { type Counters, createMetrics, type Gauges, type Metrics } from '../platform/metrics.ts';
import { createNameResolver } from '../platform/net/name-resolver.ts';
import { createOutbound, type Outbound } from '../platform/net/outbound.ts';
import { createTextRecords, type TextRecords } from '../platform/net/text-records.ts';
import { createPushSenders, type PushOrigins, type PushWays, readOperatorAccounts } from '../platform/push/senders.ts';
import { createRateLimiter } from '../platform/rate-limit.ts';
import { tracedMail, tracedOutbound, tracedPush } from '../platform/tracing/traced.ts';
import type { Tracing } from '../platform/tracing/tracing.ts';
import { createLongWork } from '../platform/turns/long-work.ts';
import type { SupervisorLink } from '../platform/workers/worker.ts';
import { createStreamCarrier } from '../ssf/carrier.ts';
import { createStreamFeeder, type StreamFeederDeps } from '../ssf/feeder.ts';
import { listOverdue } from '../storage/deliveries.ts';
import { wakingAfterCommit } from '../storage/engine/after-commit.ts';
import { type ConfigCache, createConfigCache } from '../storage/engine/config/config-cache.ts';
import type { Database } from '../storage/engine/database.ts';
import { createStatisticsKeeper } from '../storage/engine/planner-statistics.ts';
import { tracedDatabase } from '../storage/engine/traced-database.ts';
import { createPurgeJob } from '../storage/purge.ts';
import { listTenantsWithConnectors } from '../storage/registry/extending/connectors.ts';
import { createTenantDirectory, type TenantDirectory } from '../storage/registry/tenant-directory.ts';
import { workDue } from '../storage/work-due.ts';
import { createKeyRings } from '../tokens/key-rings.ts';
import { createWebhookCarrier } from '../webhooks/carrier.ts';
import { createWebhookFeeder } from '../webhooks/feeder.ts';
import type { Store } from './open-store.ts';

export interface Surroundings {
  readonly clock: Clock;
  readonly log: Log;
  /** Stand in for the push vendors. */
  readonly pushOrigins?: PushOrigins | undefined;
  /** Above this process, when it is one of several workers. */
  readonly supervisor?: SupervisorLink | undefined;
  /** Makes what delivers instead of delivering here. */
  readonly deliverElsewhere?: ((publicUrl: () => string, counters: Counters | undefined) => Woken) | undefined;
  /** Take what is counted, instead of metrics of its own. */
  readonly counters?: Counters | undefined;
}

export type ComposedServices = Services & { readonly setPublicUrl: (url: string) => void };

/** Composes the parts of a server; nothing of it runs until its jobs are started. */
export async function composeServices(
  config: Config,
  { clock, log, pushOrigins, supervisor, deliverElsewhere, counters }: Surroundings,
  { database: plainDatabase, encryption }: Store,
  tracing: Tracing | undefined,
): Promise<ComposedServices> {
  const state = { publicUrl: config.publicUrl ?? 'http://localhost' };
  const tracedOrPlain = tracing === undefined ? plainDatabase : tracedDatabase(plainDatabase);
  const statistics = createStatisticsKeeper(tracedOrPlain);
  const database = wakingAfterCommit(tracedOrPlain, { wake: () => jobs.wake(), tell: (tenant) => tellAll([feeders, statistics], tenant) });
  const cache = createConfigCache(database, clock, { due: workDue, wake: () => jobs.wake() });
  const ways = traced(await composeWaysOut(config, clock, pushOrigins), tracing);
  const { outbound } = ways;
  const { connectors, directories } = createRunners({ outbound, clock }, (): Services => services);
  const feeders = createFeeders({ database, cache, clock, log, tenants: () => tenants }, connectors);
  const refusals = createRefusalRecorder(database, clock, log);
  const activity = createActivityRecorder(database, clock);
  const metrics = await composeMetrics(config, gaugesOf(database, cache), supervisor);
  const counting: Counters | undefined = counters ?? metrics;
  const jobs = createJobs(
    {
      own: [cache.pulseJob, refusals.job, activity.job, statistics.job, ...feeders.jobs],
      kept: [
        cache.idlePulseJob,
        createPurgeJob(database),
        createRetiredKeyJob({ database, cache, clock }),
        feeders.catchUpJob,
        createMetadataRefreshJob({ database, cache, clock, outbound, log }),
      ],
      woken:
        deliverElsewhere?.(() => state.publicUrl, counting) ??
        composeDeliveries({ database, log, mail: ways.mail, counting, directories }, (): Services => services),
    },
    log,
    () => supervisor?.wakeKeeper(),
  );
  let tenants = tenantsAt(config, database, cache, state.publicUrl);
  const services = {
    config,
    canMail: canMail(config),
    isDevelopment: isDevelopment(config),
    clock,
    log,
    database,
    encryption,
    cache,
    ...{ refusals, activity, jobs },
    longWork: createLongWork(),
    ...ways,
    ...{ connectors, directories },
    hooks: createHooks({ clock, database, encryption, outbound, counters: counting }),
    metrics,
    admitLookUp: createLookUpLimit(clock),
    keyRings: createKeyRings(cache, encryption),
    rateLimiter: await createRateLimiter({ redisUrl: config.redisUrl, workers: supervisor === undefined ? 1 : config.workers, log }),
    get publicUrl() {
      return state.publicUrl;
    },
    get tenants() {
      return tenants;
    },
    setPublicUrl: (url: string) => {
      state.publicUrl = url;
      tenants = tenantsAt(config, database, cache, url);
    },
  };
  return services;
}

/** @param services read at each run, because these are made before the services are whole */
const createRunners = (deps: { readonly outbound: Outbound; readonly clock: Clock }, services: () => Services) => ({
  connectors: createConnectors(services),
  directories: createDirectories(services, openLate(deps)),
});

/** Few nodes have a directory: what speaks LDAP is loaded with the first. */
const openLate =
  (deps: { readonly outbound: Outbound; readonly clock: Clock }): OpenDirectory =>
  async (...which) =>
    (await import('../directories/ldap/open-directory.ts')).createOpenDirectory(deps)(...which);

const tenantsAt = (config: Config, database: Database, cache: ConfigCache, publicUrl: string): TenantDirectory =>
  createTenantDirectory(database, cache, { publicUrl, canMail: canMail(config), areLimitsLifted: config.areLimitsLifted });

/** So that a burst is one request to a target. */
const connectorEveryMs = 1000;

/** Whoever reads the events of tenants. */
function createFeeders(deps: StreamFeederDeps, { begin }: Connectors) {
  const feed = (tenant: TenantId): Promise<false> => begin(tenant).then(() => false);
  const all = [
    createWebhookFeeder(deps),
    createStreamFeeder(deps),
    createFeeder(deps.log, { name: 'connector', everyMs: connectorEveryMs, listTenants: listTenantsWithConnectors, feed }),
  ];
  return {
    note: (tenant: TenantId): void => all.forEach(({ note }) => void note(tenant)),
    jobs: all.map(({ job }) => job),
    catchUpJob: createCatchUpJob(deps.database, all),
  };
}

/** What is done beside deliveries, and looked for when they are. */
const alsoWaking = (woken: Woken, { wake }: Services['directories']): Woken => ({
  ...woken,
  wake: () => {
    woken.wake();
    wake();
  },
});

interface Delivering {
  readonly database: Database;
  readonly log: Log;
  readonly mail: Mail;
  readonly counting: Counters | undefined;
  readonly directories: Services['directories'];
}

const composeDeliveries = ({ database, log, mail, counting, directories }: Delivering, services: () => Services): Woken => {
  const deliveries = createDeliveries({
    database,
    log,
    count: (kind, result) => counting?.countDelivery(kind, result),
    carriers: carriersOf(services),
    // Mails by the deployment's server are of nodes that have one.
    takes: ({ kind, lane }) => kind !== 'mail' || !isLaneOfDeployment(lane) || mail.transport === 'smtp',
  });
  return alsoWaking(deliveries, directories);
};

/** @param services read at each delivery, because carriers are made before the services are whole */
const carriersOf = (services: () => Services): Carriers => ({
  mail: createMailCarrier(services),
  ciba: createCibaCarrier(services),
  logout: createLogoutCarrier(services),
  push: createPushCarrier(services),
  webhook: createWebhookCarrier(services),
  ssf: createStreamCarrier(services),
});

const composeMetrics = async (
  { metricsListen }: Config,
  gauges: Gauges,
  supervisor: SupervisorLink | undefined,
): Promise<Metrics | undefined> => (metricsListen === undefined ? undefined : createMetrics(gauges, supervisor?.readNodeMetrics));

interface WaysOut {
  readonly mail: Mail;
  readonly push: PushWays;
  readonly outbound: Outbound;
  readonly textRecords: TextRecords;
}

async function composeWaysOut(config: Config, clock: Clock, pushOrigins: PushOrigins | undefined): Promise<WaysOut> {
  const outbound = createOutbound({ allow: config.egressAllow, resolve: createNameResolver({ servers: config.dnsServers }) });
  return {
    mail: await createMail(config.smtpUrl, config.mailFrom),
    push: { senders: createPushSenders(outbound, clock, pushOrigins), operator: readOperatorAccounts(config) },
    outbound,
    textRecords: createTextRecords(config.dnsServers),
  };
}

function traced(plain: WaysOut, tracing: Tracing | undefined): WaysOut {
  if (tracing === undefined) return plain;
  return {
    ...plain,
    mail: tracedMail(plain.mail, tracing),
    push: tracedPush(plain.push, tracing),
    outbound: tracedOutbound(plain.outbound, tracing),
  };
}

function gaugesOf(database: Database, cache: ConfigCache): Gauges {
  return {
    connections: database.connectionCounts,
    // Nobody may have asked for a while: then the age is no fault, so the configuration is asked for here.
    configurationAgeMs: async () => {
      await cache.settle().catch(() => undefined);
      return cache.ageMs();
    },
    isReadOnly: database.isReadOnly,
    deliveries: () => database.systemRead(listOverdue),
  };
}

/** Ends what was composed, once what it has in hand is done and `others` have ended too. */
export async function closeServices(services: Services, others?: Promise<void>): Promise<void> {
  await Promise.all([others, services.jobs.stop(), services.connectors.stop(), services.directories.stop()]);
  await services.refusals.flush().catch(() => undefined);
  await services.activity.flush().catch(() => undefined);
  await services.rateLimiter.close();
  services.mail.close();
}

/** Tells those who look where there is news that a tenant has some. */
const tellAll = (all: readonly { readonly note: (tenant: TenantId) => void }[], tenant: TenantId): void =>
  all.forEach(({ note }) => void note(tenant));

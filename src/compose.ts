// The composition root: the only file that constructs and wires. Everything below it takes what it needs as parameters.
import type { FastifyInstance } from 'fastify';
import { createRetiredKeyJob } from './administration/signing-keys.ts';
import { createMetadataRefreshJob } from './administration/sp-refresh-job.ts';
import { createMailCarrier } from './approvals/mail-delivery.ts';
import { createPushCarrier } from './approvals/push-delivery.ts';
import { createActivityRecorder } from './audit/activity.ts';
import { createRefusalRecorder } from './audit/refusals.ts';
import { bootstrap, findPublicUrl, type Notices, rememberNoticesShown, rememberPublicUrl } from './bootstrap.ts';
import { type Config, canMail, isDevelopment, isLoopbackHost, isWildcardHost } from './config.ts';
import { type Connectors, createConnectors } from './connectors/engine.ts';
import type { Carriers } from './deliveries/attempt.ts';
import { createDeliveries } from './deliveries/engine.ts';
import { createCatchUpJob, createFeeder } from './deliveries/feeder.ts';
import type { TenantId } from './domain/ids.ts';
import { rootTenantSlug } from './domain/tenant/tenant.ts';
import { createHooks } from './hooks/hooks.ts';
import { logAccess } from './http/access-log.ts';
import { createAddressOf, createIsTrustedPeer } from './http/client-address.ts';
import { type Loopback, listenOnLoopback } from './http/loopback.ts';
import { type MetricsServer, startMetricsServer } from './http/metrics-server.ts';
import { readClientCertificates } from './http/mtls/client-certificate.ts';
import type { MtlsServer } from './http/mtls/mtls-server.ts';
import { createLookUpLimit } from './http/request-tenant.ts';
import { traceRequests } from './http/request-tracing.ts';
import { createServer } from './http/server.ts';
import type { Services } from './http/services.ts';
import { createLogoutCarrier } from './oidc/backchannel-logout.ts';
import { createCibaCarrier } from './oidc/ciba/ciba-delivery.ts';
import { openStore, type Store } from './open-store.ts';
import type { Clock } from './platform/clock.ts';
import { createJobs, type Woken } from './platform/jobs.ts';
import type { Log } from './platform/log.ts';
import { createMail, type Mail } from './platform/mail.ts';
import { createMetrics, type Gauges, type Metrics } from './platform/metrics.ts';
import { createOutbound, type Outbound } from './platform/outbound.ts';
import { createPushSenders, type PushOrigins, type PushWays, readOperatorAccounts } from './platform/push/senders.ts';
import { createRateLimiter } from './platform/rate-limit.ts';
import { createTextRecords, type TextRecords } from './platform/text-records.ts';
import { tracedMail, tracedOutbound, tracedPush } from './platform/tracing/traced.ts';
import { createTracing, type Tracing } from './platform/tracing/tracing.ts';
import type { SupervisorLink } from './platform/workers/worker.ts';
import { createStreamCarrier } from './ssf/carrier.ts';
import { createStreamFeeder, type StreamFeederDeps } from './ssf/feeder.ts';
import { deliveriesDue, listOverdue } from './storage/deliveries.ts';
import { wakingAfterCommit } from './storage/engine/after-commit.ts';
import { type ConfigCache, createConfigCache } from './storage/engine/config-cache.ts';
import type { Database } from './storage/engine/database.ts';
import { tracedDatabase } from './storage/engine/traced-database.ts';
import { createPurgeJob } from './storage/purge.ts';
import { listTenantsWithConnectors } from './storage/registry/connectors.ts';
import { createTenantDirectory } from './storage/registry/tenant-directory.ts';
import { registerSurfaces } from './surfaces.ts';
import { createKeyRings } from './tokens/key-rings.ts';
import { createWebhookCarrier } from './webhooks/carrier.ts';
import { createWebhookFeeder } from './webhooks/feeder.ts';

export interface Environment {
  readonly clock: Clock;
  readonly log: Log;
  /** Stand in for the push vendors. */
  readonly pushOrigins?: PushOrigins | undefined;
  /** Takes the lines of the access log instead of standard error. */
  readonly accessLog?: (line: string) => void;
  /** Above this process, when it is one of several workers. */
  readonly supervisor?: SupervisorLink | undefined;
  /** False: a first start makes no sample tenant. */
  readonly withSample?: boolean | undefined;
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
  /** The port for clients with certificates, when there is one. */
  readonly mtlsPort: number | undefined;
  /** To be called once they were told. */
  readonly noticesShown: () => Promise<void>;
  /** Refuses new connections, as soon as none is on its way; those there are go on until `close`. */
  readonly stopListening: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Composes and starts a server; it answers when this resolves. */
export async function startGatehouse(config: Config, environment: Environment): Promise<Gatehouse> {
  const composed = await composeGatehouse(config, environment);
  return composed.listen();
}

/** A server that answers nobody yet but who calls it in this process. */
export interface Composed extends Pick<Gatehouse, 'app' | 'services' | 'close'> {
  /** Listens where the configuration says, once; closes when it cannot. */
  readonly listen: () => Promise<Gatehouse>;
}

/** Composes a server without listening. */
export async function composeGatehouse(config: Config, environment: Environment): Promise<Composed> {
  const tracing = config.otlpUrl === undefined ? undefined : await createTracing(config.otlpUrl);
  const store = await openStore(config, environment, { serving: true });
  const app = createServer(createAddressOf(config.trustedProxies), environment.clock);
  readClientCertificates(app, config);
  try {
    if (tracing !== undefined) traceRequests(app, tracing, createIsTrustedPeer(config.trustedProxies));
    if (config.accessLog) logAccess(app, environment.accessLog ?? writeToStandardError, environment.clock.nowMs);
    // With port 0 the public URL is known only after listening, so the services read it through a setter used there.
    const services = await composeServices(config, environment, store, tracing);
    const notices = await bootstrap(services, environment.withSample ?? true);
    registerSurfaces(app, services);
    const close = async (): Promise<void> => {
      await Promise.all([app.close(), services.jobs.stop(), services.connectors.stop()]);
      await services.refusals.flush().catch(() => undefined);
      await services.activity.flush().catch(() => undefined);
      await services.rateLimiter.close();
      services.mail.close();
      await store.close();
      await tracing?.close();
    };
    return { app, services, close, listen: () => openToOthers({ app, services, close }, environment.supervisor, notices) };
  } catch (error) {
    await app.close();
    await store.close();
    throw error;
  }
}

async function openToOthers(
  { app, services, close }: Omit<Composed, 'listen' | 'services'> & { readonly services: ComposedServices },
  supervisor: SupervisorLink | undefined,
  notices: Notices,
): Promise<Gatehouse> {
  const { config, database } = services;
  const opened: { readonly close: () => Promise<unknown> | unknown }[] = [];
  const open = async <Server extends { readonly close: () => Promise<unknown> | unknown }>(
    opening: Promise<Server | undefined>,
  ): Promise<Server | undefined> => {
    const server = await opening;
    if (server !== undefined) opened.push(server);
    return server;
  };
  const closeAll = async (): Promise<void> => void (await Promise.all([close(), ...opened.map((server) => server.close())]));
  try {
    const ports = await open(listen(app, config));
    const mtlsServer = await open(startMtls(app, config));
    const metricsServer = await open(startMetrics(services, supervisor));
    const publicUrl = config.publicUrl ?? listeningUrl(app, config.listenHost, await findPublicUrl(database));
    services.setPublicUrl(publicUrl);
    await rememberPublicUrl(database, publicUrl);
    const seeded = config.apply === undefined ? [] : await seed(services, config.apply);
    startJobs(services, supervisor);
    return {
      app,
      services,
      publicUrl,
      notices: [...notices(publicUrl), ...seeded],
      metricsUrl: metricsServer?.url,
      mtlsPort: mtlsServer?.port,
      noticesShown: () => rememberNoticesShown(database),
      stopListening: async () => {
        await app.draining.stopListening();
        void ports?.close();
        void mtlsServer?.close();
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

/** Makes the root tenant follow a document; gives what to tell. A second try finds what another node made at the same time. */
async function seed(services: Services, file: string): Promise<readonly string[]> {
  const { applyDocument, linesOfFile } = await import('./administration/declaration/apply.ts');
  const once = () => applyDocument(services, rootTenantSlug, linesOfFile(file));
  const { secrets } = await once().catch(once);
  return secrets.map(({ clientId, secret }) => `Secret of client ${clientId} (once)  ${secret}`);
}

/** Of several workers one keeps the jobs of the node: the one its supervisor names. */
function startJobs({ jobs }: Services, supervisor: SupervisorLink | undefined): void {
  jobs.start();
  if (supervisor === undefined) jobs.keep();
  supervisor?.onKeep(jobs.keep);
  supervisor?.onWake(jobs.wake);
}

/** A process of its own shows its metrics itself; those of a worker are read by its supervisor. */
async function startMetrics({ config, metrics }: Services, supervisor: SupervisorLink | undefined): Promise<MetricsServer | undefined> {
  if (metrics === undefined || config.metricsListen === undefined) return undefined;
  if (supervisor === undefined) return startMetricsServer(metrics, config.metricsListen);
  supervisor.onReadMetrics(metrics.values);
  return undefined;
}

type ComposedServices = Services & { readonly setPublicUrl: (url: string) => void };

async function composeServices(
  config: Config,
  { clock, log, pushOrigins, supervisor }: Environment,
  { database: plainDatabase, encryption }: Store,
  tracing: Tracing | undefined,
): Promise<ComposedServices> {
  const state = { publicUrl: config.publicUrl ?? 'http://localhost' };
  const tracedOrPlain = tracing === undefined ? plainDatabase : tracedDatabase(plainDatabase);
  const database = wakingAfterCommit(tracedOrPlain, { wake: () => jobs.wake(), tell: (tenant) => feeders.note(tenant) });
  const cache = createConfigCache(database, clock, { due: deliveriesDue, wake: () => jobs.wake() });
  const connectors: Connectors = createConnectors((): Services => services);
  const feeders = createFeeders({ database, cache, clock, log, tenants: () => tenants }, connectors);
  const refusals = createRefusalRecorder(database, clock, log);
  const activity = createActivityRecorder(database, clock);
  const ways = traced(await composeWaysOut(config, clock, pushOrigins), tracing);
  const { outbound } = ways;
  const jobs = createJobs(
    {
      own: [cache.pulseJob, refusals.job, activity.job, ...feeders.jobs],
      kept: [
        cache.idlePulseJob,
        createPurgeJob(database),
        createRetiredKeyJob({ database, cache, clock }),
        feeders.catchUpJob,
        createMetadataRefreshJob({ database, cache, clock, outbound, log }),
      ],
      woken: composeDeliveries(database, log, ways.mail, (): Services => services),
    },
    log,
    () => supervisor?.wakeKeeper(),
  );
  const mails = canMail(config);
  const metrics = await composeMetrics(config, gaugesOf(database, cache), supervisor);
  let tenants = createTenantDirectory(database, cache, { publicUrl: state.publicUrl, canMail: mails });
  const services = {
    config,
    canMail: mails,
    isDevelopment: isDevelopment(config),
    clock,
    log,
    database,
    encryption,
    cache,
    refusals,
    activity,
    jobs,
    ...ways,
    connectors,
    hooks: createHooks({ clock, database, encryption, outbound, metrics }),
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
      tenants = createTenantDirectory(database, cache, { publicUrl: url, canMail: mails });
    },
  };
  return services;
}

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

const composeDeliveries = (database: Database, log: Log, mail: Mail, services: () => Services): Woken =>
  createDeliveries({
    database,
    log,
    count: (kind, result) => services().metrics?.countDelivery(kind, result),
    carriers: carriersOf(services),
    // Mails by the deployment's server are of nodes that have one.
    takes: ({ kind, lane }) => kind !== 'mail' || lane !== '' || mail.transport === 'smtp',
  });

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
  const outbound = createOutbound({ allow: config.egressAllow });
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

const writeToStandardError = (line: string): void => void process.stderr.write(line);

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

/** Listens for clients with certificates, where the configuration says so. */
async function startMtls(app: FastifyInstance, { mtlsListen, mtlsTls }: Config): Promise<MtlsServer | undefined> {
  if (mtlsListen === undefined || mtlsTls === undefined) return undefined;
  const { startMtlsServer } = await import('./http/mtls/mtls-server.ts');
  return startMtlsServer(app, mtlsListen, mtlsTls);
}

/** Listens where the configuration says: `localhost` is both loopback addresses. */
async function listen(app: FastifyInstance, { listenHost: host, listenPort: port }: Config): Promise<Loopback | undefined> {
  if (host === 'localhost') return listenOnLoopback(app, port);
  await app.listen({ host, port });
  return undefined;
}

/** A server on loopback calls itself localhost, where browsers allow passkeys, unless its data knows it by an address already. */
function listeningUrl(app: FastifyInstance, host: string, stored: string | undefined): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const isKnownByAddress = stored !== undefined && new URL(stored).hostname !== 'localhost';
  if (isLoopbackHost(host) && !isKnownByAddress) return `http://localhost:${port}`;
  const shown = isWildcardHost(host) || host === 'localhost' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${port}`;
}

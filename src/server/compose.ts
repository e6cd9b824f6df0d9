// The composition root: the only file that constructs and wires. Everything below it takes what it needs as parameters.
import type { FastifyInstance } from 'fastify';
import { type Config, isLoopbackHost, isWildcardHost } from '../config.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import { createAddressOf, createIsTrustedPeer } from '../http/client-address.ts';
import { type Loopback, listenOnLoopback } from '../http/loopback.ts';
import { readClientCertificates } from '../http/mtls/client-certificate.ts';
import type { MtlsServer } from '../http/mtls/mtls-server.ts';
import { logAccess } from '../http/operations/access-log.ts';
import { type MetricsServer, startMetricsServer } from '../http/operations/metrics-server.ts';
import { traceRequests } from '../http/operations/request-tracing.ts';
import { createServer } from '../http/server.ts';
import type { Services } from '../http/services.ts';
import { installStrictTransport } from '../http/strict-transport.ts';
import { createTracing } from '../platform/tracing/tracing.ts';
import type { SupervisorLink } from '../platform/workers/worker.ts';
import { createTurnMemory } from '../storage/engine/dialects/write-turn.ts';
import { bootstrap, findPublicUrl, type Notices, rememberNoticesShown, rememberPublicUrl, tellKeylessOperators } from './bootstrap.ts';
import { type ComposedServices, closeServices, composeServices, type Surroundings } from './compose-services.ts';
import { deliveringOnThread } from './deliveries-on-thread.ts';
import { openStore } from './open-store.ts';
import { registerSurfaces } from './surfaces.ts';

export interface Environment extends Omit<Surroundings, 'deliverElsewhere' | 'counters'> {
  /** Takes the lines of the access log instead of standard error. */
  readonly accessLog?: (line: string) => void;
  /** Deliveries are made on a thread of their own, which takes nothing from the time of requests; else beside them. */
  readonly deliversOnThread?: boolean | undefined;
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
  const turnMemory = environment.deliversOnThread ? createTurnMemory() : undefined;
  const store = await openStore(config, environment, { serving: true, turnMemory });
  const app = createServer(createAddressOf(config.trustedProxies), environment.clock);
  if (config.publicUrl !== undefined) installStrictTransport(app, config.publicUrl);
  readClientCertificates(app, config);
  try {
    if (tracing !== undefined) traceRequests(app, tracing, createIsTrustedPeer(config.trustedProxies));
    if (config.accessLog) logAccess(app, environment.accessLog ?? writeToStandardError, environment.clock.nowMs);
    // With port 0 the public URL is known only after listening, so the services read it through a setter used there.
    const services = await composeServices(
      config,
      { ...environment, deliverElsewhere: turnMemory && deliveringOnThread(config, turnMemory, environment.log) },
      store,
      tracing,
    );
    const notices = await bootstrap(services, environment.withSample ?? true);
    registerSurfaces(app, services);
    const close = once(async () => {
      await closeServices(services, app.close());
      await store.close();
      await tracing?.close();
    });
    return { app, services, close, listen: () => openToOthers({ app, services, close }, environment.supervisor, notices) };
  } catch (error) {
    await app.close();
    await store.close();
    throw error;
  }
}

/** What is closed twice, or by two at once, is closed once; all of them wait for it. */
function once(close: () => Promise<void>): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= close();
    return closing;
  };
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
  const closeAll = once(async () => void (await Promise.all([close(), ...opened.map((server) => server.close())])));
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
      // Several workers would each tell it.
      notices: [...notices(publicUrl), ...seeded, ...(supervisor === undefined ? await tellKeylessOperators(services) : [])],
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
  const { applyDocument, linesOfFile } = await import('../administration/declaration/apply.ts');
  const once = () => applyDocument(services, rootTenantSlug, () => linesOfFile(file));
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

const writeToStandardError = (line: string): void => void process.stderr.write(line);

/** Listens for clients with certificates, where the configuration says so. */
async function startMtls(app: FastifyInstance, { mtlsListen, mtlsTls }: Config): Promise<MtlsServer | undefined> {
  if (mtlsListen === undefined || mtlsTls === undefined) return undefined;
  const { startMtlsServer } = await import('../http/mtls/mtls-server.ts');
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

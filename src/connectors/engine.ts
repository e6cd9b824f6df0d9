// Runs connectors: each by itself, so that one whose target is slow delays no other, by one process of all nodes at a time (a lease), begun when
// its tenant has news and now and then anyway; when that is, is deliveries/feeder.ts.
import { randomUUID } from 'node:crypto';
import type { Connector } from '../domain/extending/connector.ts';
import type { ConnectorId, TenantId } from '../domain/ids.ts';
import type { Tenant } from '../domain/tenant/tenant.ts';
import { endLease, holdLease } from '../storage/engine/lease.ts';
import { type ConnectorLink, claimLinks, findLink, markLinks } from '../storage/records/connector-links.ts';
import { listCachedConnectors } from '../storage/registry/extending/connectors.ts';
import { type ConnectorParts, factsOf, type Work } from './parts.ts';
import { type Memory, openTarget } from './target.ts';
import { takeTurn, workLink } from './turn.ts';
import { provisionUser } from './user-sync.ts';

export interface Connectors {
  /** Begins a turn of each connector of a tenant. */
  readonly begin: (tenant: TenantId) => Promise<void>;
  /** Does one person now, after a look at the target; gives their link afterwards, undefined when it is in another hand. */
  readonly provision: (
    tenant: Tenant,
    connector: Connector,
    userId: string,
  ) => Promise<{ readonly link: ConnectorLink | undefined } | undefined>;
  /** Resolves when no turn is under way. */
  readonly settled: () => Promise<void>;
  /** Begins nothing more, gives up what is under way, and resolves when nothing is. */
  readonly stop: () => Promise<void>;
}

/** What has the connectors of a server. */
export interface ConnectorCalls {
  readonly connectors: Connectors;
}

const leaseMs = 60_000;

/** @param services read at each turn, because this is made before the services are whole */
export function createConnectors(services: () => ConnectorParts): Connectors {
  const memory: Memory = new Map();
  const abort = new AbortController();
  const holder = randomUUID();
  const workOn = async (tenant: Tenant, connector: Connector): Promise<Work> => {
    const parts = services();
    const facts = await factsOf(parts.database, tenant, connector);
    return { parts, tenant, connector, ...facts, target: openTarget(parts, memory, tenant.id, connector, abort.signal) };
  };
  const turn = async (tenant: Tenant, connector: Connector): Promise<void> => {
    const { database } = services();
    const name = `connector:${connector.id}`;
    const holds = (): Promise<boolean> => database.system((queries) => holdLease(queries, name, holder, leaseMs));
    const isCurrent = async (): Promise<boolean> =>
      (await listCachedConnectors(services().cache, tenant.id)).some(
        ({ id, updatedAtMs }) => id === connector.id && updatedAtMs === connector.updatedAtMs,
      );
    if (!(await holds())) return;
    try {
      await takeTurn(await workOn(tenant, connector), async () => !abort.signal.aborted && (await isCurrent()) && (await holds()));
    } finally {
      await database.system((queries) => endLease(queries, name, holder));
    }
  };
  const { begin, settled } = createTurns(turn, abort.signal, (error, { id }) => {
    if (!abort.signal.aborted) services().log.error({ err: error, connector: id }, 'a connector stopped in its turn');
  });
  const beginAll = async (id: TenantId): Promise<void> => {
    const { tenants, cache } = services();
    const tenant = await tenants.byId(id);
    if (tenant?.enabled !== true) return;
    for (const connector of await listCachedConnectors(cache, id)) if (connector.enabled) begin(tenant, connector);
  };
  return {
    begin: beginAll,
    provision: async (tenant, connector, userId) => {
      const work = await workOn(tenant, connector);
      const { database } = work.parts;
      const [link] = await database.write(tenant.id, async (queries) => {
        await markLinks(queries, work.whose, 'user', [userId]);
        return claimLinks(queries, work.whose, { id: userId });
      });
      if (link === undefined) return undefined;
      await workLink(work, link, provisionUser);
      return { link: await database.read(tenant.id, (queries) => findLink(queries, work.whose, userId)) };
    },
    settled,
    stop: async () => {
      abort.abort();
      await settled();
    },
  };
}

interface Turns {
  readonly begin: (tenant: Tenant, connector: Connector) => void;
  readonly settled: () => Promise<void>;
}

/** Turns, one of a connector at a time. One that is asked for meanwhile comes after it, which may have read before. */
function createTurns(
  take: (tenant: Tenant, connector: Connector) => Promise<void>,
  stopped: AbortSignal,
  onError: (error: unknown, connector: Connector) => void,
): Turns {
  const running = new Map<ConnectorId, Promise<void>>();
  const askedAgain = new Map<ConnectorId, () => void>();
  const begin: Turns['begin'] = (tenant, connector) => {
    const { id } = connector;
    if (stopped.aborted) return;
    if (running.has(id)) {
      askedAgain.set(id, () => begin(tenant, connector));
      return;
    }
    const work = take(tenant, connector)
      .catch((error: unknown) => onError(error, connector))
      .finally(() => {
        running.delete(id);
        const again = askedAgain.get(id);
        askedAgain.delete(id);
        again?.();
      });
    running.set(id, work);
  };
  return {
    begin,
    settled: async () => {
      while (running.size > 0) await Promise.all(running.values());
    },
  };
}

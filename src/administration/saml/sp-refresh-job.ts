// The background job `saml-metadata`, run by one node of all: visits the tenants and reads the metadata that is due there, some at a time and
// one of each tenant before the second of any, so that slow addresses of one tenant hold nobody else up.
import type { ServiceProviderId, TenantId } from '../../domain/ids.ts';
import type { Job } from '../../platform/jobs.ts';
import type { Log } from '../../platform/log.ts';
import { randomId } from '../../platform/random.ts';
import { holdLease } from '../../storage/engine/lease.ts';
import { listDueRefreshes } from '../../storage/registry/metadata-refreshes.ts';
import { listTenants } from '../../storage/registry/tenants.ts';
import { type RefreshDeps, refreshMetadata } from './sp-refresh.ts';

const everyMs = 60_000;
const leaseMs = 3 * everyMs;
const atOnceMax = 20;
const tenantsPerPage = 200;
const order = { when: 'due', by: { actor: 'system' } } as const;

export function createMetadataRefreshJob(deps: RefreshDeps & { readonly log: Log }): Job {
  const { database, log } = deps;
  const holder = randomId();
  const refresh = async ({ tenant, id }: Due): Promise<void> =>
    refreshMetadata(deps, tenant, id, order).catch((error: unknown) => {
      log.error({ err: error, tenant, service_provider: id }, 'metadata could not be read again');
    });
  return {
    name: 'saml-metadata',
    everyMs,
    run: async (signal) => {
      for (let afterSlug = ''; !signal.aborted; ) {
        const tenants = await database.system(async (queries) =>
          (await holdLease(queries, 'saml-metadata', holder, leaseMs)) ? listTenants(queries, { afterSlug, limit: tenantsPerPage }) : [],
        );
        const ids = tenants.filter(({ enabled, moving }) => enabled === 1 && moving === null).map(({ tenant_id: tenant }) => tenant);
        const due = await database.readEach(ids, (queries, tenant) => listDueRefreshes(queries, tenant, atOnceMax));
        const waiting = roundRobin(due.map((providers, at) => providers.map((id) => ({ tenant: ids[at]!, id }))));
        const read = async (): Promise<void> => {
          for (let one = waiting.shift(); one !== undefined && !signal.aborted; one = waiting.shift()) await refresh(one);
        };
        await Promise.all(Array.from({ length: atOnceMax }, read));
        if (signal.aborted) return;
        const last = tenants.at(-1);
        if (last === undefined) return;
        afterSlug = last.slug;
      }
    },
  };
}

interface Due {
  readonly tenant: TenantId;
  readonly id: ServiceProviderId;
}

/** The first of each list, then the second of each, and so on. */
function roundRobin<T>(lists: readonly (readonly T[])[]): T[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: rounds }, (_none, round) => lists.flatMap((list) => list.slice(round, round + 1))).flat();
}

// The background job `saml-metadata`, run by one node of all: visits each tenant and reads the metadata that is due there, some at a
// time, so that slow addresses of one tenant hold nobody else up for longer than one time limit.
import type { TenantId } from '../domain/ids.ts';
import type { Job } from '../platform/jobs.ts';
import type { Log } from '../platform/log.ts';
import { randomId } from '../platform/random.ts';
import { holdLease } from '../storage/engine/lease.ts';
import { listDueRefreshes } from '../storage/registry/metadata-refreshes.ts';
import { listTenants } from '../storage/registry/tenants.ts';
import { type RefreshDeps, refreshMetadata } from './sp-refresh.ts';

const everyMs = 60_000;
const leaseMs = 3 * everyMs;
const atOnceMax = 20;
const tenantsPerPage = 200;
const order = { when: 'due', by: { actor: 'system' } } as const;

export function createMetadataRefreshJob(deps: RefreshDeps & { readonly log: Log }): Job {
  const { database, log } = deps;
  const holder = randomId();
  const refresh = async (tenant: TenantId, id: Parameters<typeof refreshMetadata>[2]): Promise<void> =>
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
        for (const [at, providers] of due.entries()) {
          if (signal.aborted) return;
          await Promise.all(providers.map((id) => refresh(ids[at]!, id)));
        }
        const last = tenants.at(-1);
        if (last === undefined) return;
        afterSlug = last.slug;
      }
    },
  };
}

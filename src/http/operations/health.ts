// GET /health (as /ready), /health/live, /ready, /started (design 02): for whatever supervises the process; GET /health/domain (design 13, 3): for a reverse
// proxy that gets certificates at the first request of a name; GET /health/group (design 20, 3): for a router in front of groups of tenants.
// They belong to no tenant.
import type { FastifyInstance } from 'fastify';
import { reject } from '../../contract/contract-error.ts';
import { parseDomain, rootTenantSlug } from '../../domain/tenant/tenant.ts';
import { StorageUnavailable } from '../../storage/engine/database.ts';
import { findTenantById, isDomainOfTenant } from '../../storage/registry/tenants.ts';
import { findTenant } from '../request-tenant.ts';
import type { Parts } from '../services.ts';
import { registerSurface, type SurfaceDeps } from '../surface.ts';
import { tenantClosed } from '../surface-errors.ts';
import { type TenantName, toldTenantName } from '../tenant-name.ts';

export function registerHealth(app: FastifyInstance, services: SurfaceDeps & Parts<'cache' | 'database'>): void {
  registerSurface(
    app,
    services,
    { name: 'health', envelope: 'management', prefix: '/health', bodies: {}, bodyBytesMax: 0, ofTenant: false, shedding: 'never' },
    (route) => {
      const alive = async (): Promise<object> => ({ status: 'ok' });
      const ready = async (): Promise<object> => {
        if (app.draining.isOn()) throw reject('management.unavailable', 'stopping', { retryAfterSeconds: 1 });
        await Promise.all([services.cache.settle(), services.database.ping()]).catch((error: unknown) => {
          services.log.warn({ err: error }, 'not ready: the database does not answer');
          const retryAfterSeconds = error instanceof StorageUnavailable ? error.retryAfterSeconds : 2;
          throw reject('management.unavailable', 'database', { retryAfterSeconds });
        });
        return { status: 'ok' };
      };
      route('', { GET: ready }); // what many ask first
      route('/live', { GET: alive });
      route('/started', { GET: alive });
      route('/ready', { GET: ready });
      route('/domain', {
        GET: async (request) => {
          const { name, domain } = request.query as Readonly<Record<string, unknown>>; // the second is what Caddy's `ask` sends
          const origin = parseDomain(String(name ?? domain ?? ''));
          if (origin === undefined || !(await isServed(services, request.clientAddress, origin)))
            throw reject('management.not_found', 'unknown_domain');
          return { status: 'ok' };
        },
      });
      route('/group', {
        GET: async (request) => {
          const { host, path } = request.query as Readonly<Record<string, unknown>>;
          const name = toldTenantName(services, textOf(host)?.toLowerCase(), textOf(path) ?? '/');
          await requireHere(services, request.clientAddress, name);
          return { status: 'ok' };
        },
      });
    },
  );
}

const textOf = (given: unknown): string | undefined => (typeof given === 'string' && given !== '' ? given : undefined);

/**
 * Answers for a tenant that this group has, and says of one that moves away that it is to be asked again. Every group has a root tenant:
 * no router needs to ask whose. A stranger learns what a request to the tenant itself says, within the same limit.
 */
async function requireHere(services: SurfaceDeps & Parts<'database'>, address: string, name: TenantName): Promise<void> {
  const tenant = await findTenant(services, name, { admit: () => services.admitLookUp(address, 'management') });
  if (tenant?.enabled !== true || tenant.slug === rootTenantSlug) throw reject('management.not_found', 'no_tenant_of_this_group');
  if (!tenant.isMoving) return;
  const row = await services.database.systemRead((queries) => findTenantById(queries, tenant.id));
  if (row?.moving === null) return; // opened a moment ago
  throw row?.moving.startsWith('to:') === true ? tenantClosed('management') : reject('management.not_found', 'tenant_not_here_yet');
}

/** Strangers ask by naming any host in a TLS handshake, so look-ups that find nothing are limited as those of tenant names are. */
async function isServed({ admitLookUp, database }: Parts<'admitLookUp' | 'database'>, address: string, origin: string): Promise<boolean> {
  const giveBack = admitLookUp(address, 'management');
  const isKnown = await database.systemRead((queries) => isDomainOfTenant(queries, origin));
  if (isKnown) giveBack();
  return isKnown;
}

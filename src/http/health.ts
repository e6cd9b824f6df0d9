// GET /health/live, /ready, /started (design 02): for whatever supervises the process. They belong to no tenant.
import type { FastifyInstance } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import type { Services } from './services.ts';
import { registerSurface } from './surface.ts';

export function registerHealth(app: FastifyInstance, services: Services): void {
  registerSurface(
    app,
    services,
    { name: 'health', envelope: 'management', prefix: '/health', bodies: {}, bodyBytesMax: 0, ofTenant: false },
    (route) => {
      const alive = async (): Promise<object> => ({ status: 'ok' });
      route('/live', { GET: alive });
      route('/started', { GET: alive });
      route('/ready', {
        GET: async () => {
          await services.database.ping().catch((error: unknown) => {
            services.log.warn({ err: error }, 'not ready: the database does not answer');
            throw reject('management.unavailable', 'database', { retryAfterSeconds: 2 });
          });
          return { status: 'ok' };
        },
      });
    },
  );
}

// {base_url}/device: the short address a device without a browser shows (RFC 8628 3.2). It leads to the account's page, where a
// person signs in first. Nothing is there while the tenant has the device grant off.
import type { FastifyInstance } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { bodyBytesMax } from '../contract/limits.ts';
import { deviceCodeGrantType } from '../domain/oidc/grant-types.ts';
import { registerSurface, type SurfaceDeps } from '../http/surface.ts';
import { presentErrorPage } from '../pages/status-page.ts';

export function registerDeviceEntry(app: FastifyInstance, services: SurfaceDeps): void {
  const definition = {
    name: 'device-entry',
    envelope: 'management',
    prefix: '/device',
    bodies: {},
    bodyBytesMax,
    ofTenant: true,
    isPages: true,
    present: presentErrorPage,
  } as const;
  registerSurface(app, services, definition, (route) => {
    route('', {
      GET: (request, reply) => {
        const { tenant } = request;
        if (!tenant.settings.extra_grants.includes(deviceCodeGrantType)) throw reject('login.not_found', 'device_grant_off');
        const code = new URL(request.url, tenant.baseUrl).searchParams.get('user_code');
        const query = code === null ? '' : `?${new URLSearchParams({ user_code: code })}`;
        return reply
          .code(303)
          .headers({ location: `${tenant.baseUrl}/account/device${query}`, 'cache-control': 'no-store' })
          .send();
      },
    });
  });
}

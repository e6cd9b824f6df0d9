// {base_url}/assets/<sha256>: the tenant's pictures. An address never shows anything else, so it is kept for a year; and whoever opens it by
// itself gets a picture in a sandbox, whatever its bytes may also look like.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { bodyBytesMax } from '../contract/limits.ts';
import type { Parts } from '../http/services.ts';
import { registerSurface, type SurfaceDeps } from '../http/surface.ts';
import { findImage } from '../storage/registry/images.ts';

export function registerAssets(app: FastifyInstance, services: SurfaceDeps & Parts<'database'>): void {
  const definition = { name: 'assets', envelope: 'management', prefix: '/assets', bodies: {}, bodyBytesMax, ofTenant: true } as const;
  registerSurface(app, services, { ...definition, shedding: 'first' }, (route) => {
    route('/:sha256', { GET: (request, reply) => send(services, request, reply) });
  });
}

async function send({ database }: Parts<'database'>, { tenant, params }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { sha256 } = params as { readonly sha256: string }; // of the path
  const image = /^[0-9a-f]{64}$/.test(sha256)
    ? await database.read(tenant.id, (queries) => findImage(queries, tenant.id, sha256))
    : undefined;
  if (image === undefined) throw reject('management.not_found', 'unknown_image');
  return reply
    .headers({
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    .type(image.type)
    .send(Buffer.from(image.content, 'base64'));
}

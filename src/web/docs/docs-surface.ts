// <public URL>/docs: the documents of this very release, rendered from the package's markdown. Only at the root tenant: they
// speak of the deployment, not of a tenant. Everything behind the first request is loaded by it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyBytesMax } from '../../contract/limits.ts';
import { rootTenantSlug } from '../../domain/tenant.ts';
import { presentErrorPage } from '../../http/pages/status-page.ts';
import type { Services } from '../../http/services.ts';
import { registerSurface } from '../../http/surface.ts';
import { sharedError } from '../../http/surface-errors.ts';

export function registerDocs(app: FastifyInstance, services: Services): void {
  const definition = {
    name: 'docs',
    envelope: 'management',
    prefix: '/docs',
    bodies: {},
    bodyBytesMax,
    ofTenant: true,
    present: presentErrorPage,
  } as const;
  registerSurface(app, services, definition, (route) => {
    route('', { GET: (request, reply) => showPage(request, reply, '') });
    route('/images/:name', { GET: showImage });
    route('/*', { GET: (request, reply) => showPage(request, reply, (request.params as { readonly '*': string })['*']) }); // Fastify's name of a wildcard
  });
}

async function showPage(request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const { library, docsPage } = await openDocs(request);
  const document = library.findPage(path);
  if (document === undefined) throw sharedError('management', 'not_found', 'no_such_document');
  const page = docsPage(document, path, library.sections);
  return reply.headers(page.headers).send(page.markup);
}

async function showImage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { library } = await openDocs(request);
  const image = library.findImage((request.params as { readonly name: string }).name); // the route has this parameter
  if (image === undefined) throw sharedError('management', 'not_found', 'no_such_image');
  const headers = { 'content-type': 'image/png', 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
  return reply.headers(headers).send(image);
}

let opened: ReturnType<typeof open> | undefined;

async function openDocs(request: FastifyRequest): ReturnType<typeof open> {
  if (request.tenant.slug !== rootTenantSlug) throw sharedError('management', 'not_found', 'docs_of_a_tenant');
  opened ??= open();
  return opened;
}

async function open() {
  const [{ openLibrary }, { docsPage }] = await Promise.all([import('./library.ts'), import('./docs-page.ts')]);
  return { library: openLibrary(), docsPage };
}

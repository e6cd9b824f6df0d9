// <public URL>/docs: the documents of this very release, rendered from the package's markdown. Only at the root tenant: they
// speak of the deployment, not of a tenant. Everything behind the first request is loaded by it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { bodyBytesMax, docsQueryCharsMax } from '../contract/limits.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import type { Services } from '../http/services.ts';
import { registerSurface } from '../http/surface.ts';
import { sharedError } from '../http/surface-errors.ts';
import { presentErrorPage } from '../pages/status-page.ts';
import type { Search } from './search.ts';

export function registerDocs(app: FastifyInstance, services: Services): void {
  const definition = {
    name: 'docs',
    envelope: 'management',
    prefix: '/docs',
    bodies: {},
    bodyBytesMax,
    ofTenant: true,
    isPages: true,
    present: presentErrorPage,
  } as const;
  registerSurface(app, services, definition, (route) => {
    route('', { GET: (request, reply) => showPage(request, reply, '') });
    route('/images/:name', { GET: showImage });
    route('/search', { GET: search });
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

async function search(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { library, find, searchPage } = await openDocs(request);
  const query = (new URL(request.url, request.tenant.baseUrl).searchParams.get('q') ?? '').trim().slice(0, docsQueryCharsMax);
  const page = searchPage(query, query === '' ? [] : find(query), library.sections);
  return reply.headers(page.headers).send(page.markup);
}

async function showImage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { library } = await openDocs(request);
  const { name } = request.params as { readonly name: string }; // the route has this parameter
  const image = library.findImage(name);
  if (image === undefined) throw sharedError('management', 'not_found', 'no_such_image');
  const headers = {
    'content-type': name.endsWith('.svg') ? 'image/svg+xml' : 'image/png',
    'cache-control': 'public, max-age=3600',
    'x-content-type-options': 'nosniff',
    // A picture opened by its own address draws and does nothing else.
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  };
  return reply.headers(headers).send(image);
}

let opened: ReturnType<typeof open> | undefined;

async function openDocs(request: FastifyRequest): ReturnType<typeof open> {
  if (request.tenant.slug !== rootTenantSlug) throw sharedError('management', 'not_found', 'docs_of_a_tenant');
  opened ??= open();
  return opened;
}

async function open() {
  const [{ openLibrary }, { docsPage, searchPage }, { makeSearch }] = await Promise.all([
    import('./library.ts'),
    import('./docs-page.ts'),
    import('./search.ts'),
  ]);
  const library = openLibrary();
  let made: Search | undefined;
  const find: Search = (query) => {
    made ??= makeSearch(library);
    return made(query);
  };
  return { library, docsPage, searchPage, find };
}

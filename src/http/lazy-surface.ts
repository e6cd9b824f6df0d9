// A surface whose routes are loaded at its first request: pages that most servers show to few cost no start time and no memory
// before. Answers unknown paths and methods as any surface does, before a body is read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createLateRoutes, type LateRoutes } from './late-routes.ts';
import type { Services } from './services.ts';
import { everyMethod, type Handler, type Handlers, type Route, registerSurface, type SurfaceDefinition } from './surface.ts';
import { methodNotAllowed, unknownPath } from './surface-errors.ts';

/** What a loaded surface does with its routes. */
export type DefineRoutes = (route: Route) => void;

export function registerLazySurface(
  app: FastifyInstance,
  services: Services,
  definition: Omit<SurfaceDefinition, 'beforeBody'>,
  load: () => Promise<DefineRoutes>,
): void {
  let loading: Promise<LateRoutes<Handlers>> | undefined;
  const found = new WeakMap<FastifyRequest, Handler>();
  const beforeBody = async (request: FastifyRequest): Promise<void> => {
    loading ??= load().then((define) => routesOf(definition.prefix, define));
    loading.catch(() => {
      loading = undefined; // the next request tries again
    });
    found.set(request, findHandler(definition, await loading, request));
  };
  registerSurface(app, services, { ...definition, beforeBody }, (route) => {
    const handler: Handler = (request, reply) => found.get(request)!(request, reply); // beforeBody ran
    // HEAD comes with GET.
    const handlers = Object.fromEntries(everyMethod.filter((method) => method !== 'HEAD').map((method) => [method, handler]));
    route('', handlers);
    route('/*', handlers);
  });
}

/** All methods of a path stand in one place, so that a method it does not have is refused and not looked for elsewhere. */
function routesOf(prefix: string, define: DefineRoutes): LateRoutes<Handlers> {
  const routes: (readonly ['GET', string, Handlers])[] = [];
  define((path, handlers) => void routes.push(['GET', `${prefix}${path}`, handlers]));
  return createLateRoutes(routes);
}

/** @throws the envelope's not_found and method_not_allowed */
function findHandler({ envelope }: SurfaceDefinition, routes: LateRoutes<Handlers>, request: FastifyRequest): Handler {
  const found = routes.find('GET', request.url.split('?', 1)[0]!);
  if (found === undefined) throw unknownPath(envelope);
  const handler = found.target[request.method === 'HEAD' ? 'GET' : (request.method as keyof Handlers)]; // absent for other methods
  if (handler === undefined) throw methodNotAllowed(envelope, Object.keys(found.target));
  request.params = found.params;
  return handler;
}

// A surface whose routes are loaded at its first request: pages that most servers show to few cost no start time and no memory
// before. Answers unknown paths and methods as any surface does, before a body is read.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { matchPath } from './path-pattern.ts';
import type { Services } from './services.ts';
import { everyMethod, type Handler, type Handlers, type Route, registerSurface, type SurfaceDefinition } from './surface.ts';
import { methodNotAllowed, sharedError } from './surface-errors.ts';

/** What a loaded surface does with its routes. */
export type DefineRoutes = (route: Route) => void;

export function registerLazySurface(
  app: FastifyInstance,
  services: Services,
  definition: Omit<SurfaceDefinition, 'beforeBody'>,
  load: () => Promise<DefineRoutes>,
): void {
  let loading: Promise<ReadonlyMap<string, Handlers>> | undefined;
  const found = new WeakMap<FastifyRequest, Handler>();
  const beforeBody = async (request: FastifyRequest): Promise<void> => {
    loading ??= load().then(routesOf);
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

/** The routes by their patterns, those with the earlier fixed segment first: `/users/new` before `/users/:id`. */
function routesOf(define: DefineRoutes): ReadonlyMap<string, Handlers> {
  const routes: [string, Handlers][] = [];
  define((path, handlers) => void routes.push([path, handlers]));
  const rank = (path: string): string => path.replace(/:[^/]+/g, '\uffff');
  return new Map(routes.sort(([a], [b]) => (rank(a) < rank(b) ? -1 : 1)));
}

/** @throws the envelope's not_found and method_not_allowed */
function findHandler({ envelope, prefix }: SurfaceDefinition, routes: ReadonlyMap<string, Handlers>, request: FastifyRequest): Handler {
  const parts = request.url.split('?', 1)[0]!.slice(prefix.length).split('/').slice(1);
  for (const [pattern, handlers] of routes) {
    const params = matchPath(pattern, parts);
    if (params === undefined) continue;
    const handler = handlers[request.method === 'HEAD' ? 'GET' : (request.method as keyof Handlers)]; // absent for other methods
    if (handler === undefined) throw methodNotAllowed(envelope, Object.keys(handlers));
    request.params = params;
    return handler;
  }
  throw sharedError(envelope, 'not_found', 'no_such_path');
}

// Routes of surfaces whose endpoints load late, such as `/users/:id/devices`: found by Fastify's own router once they are loaded.
// Called by http/lazy-surface.ts and management/dispatch.ts, which answer unknown paths and methods themselves.
import createRouter, { type HTTPMethod } from 'find-my-way';

export interface LateRoutes<Target> {
  /** What stands at a path for a method, with the path's decoded parameters, none of them empty; undefined when nothing does. */
  readonly find: (
    method: string,
    path: string,
  ) => { readonly target: Target; readonly params: Readonly<Record<string, string>> } | undefined;
}

/** Routes by method and pattern; a fixed segment goes before a parameter. */
export function createLateRoutes<Target>(routes: readonly (readonly [HTTPMethod, string, Target])[]): LateRoutes<Target> {
  const router = createRouter({ maxParamLength: Number.MAX_SAFE_INTEGER }); // the server bounds the whole target
  for (const [method, pattern, target] of routes) router.on(method, pattern, () => undefined, target);
  return {
    find: (method, path) => {
      const found = router.find(method as HTTPMethod, path); // of others it knows no route
      const params = found?.params as Readonly<Record<string, string>>; // a match has every parameter
      if (found === null || Object.values(params).includes('')) return undefined;
      return { target: found.store as Target, params }; // put in above
    },
  };
}

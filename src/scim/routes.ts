// The SCIM endpoints of a tenant and of its organisations: paths, methods, headers, statuses (RFC 7644). What they do is in the other files.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { scimBodyBytesMax } from '../contract/limits.ts';
import { inTurn } from '../http/long-work.ts';
import type { Services } from '../http/services.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { type Handler, type Handlers, type Route, registerSurface } from '../http/surface.ts';
import { sendEmpty, sendJson, sendPieces } from './answer.ts';
import { authorize, authorizeAgain, organizationParameter, type ScimCapability } from './bearer.ts';
import { runBulk } from './bulk/bulk.ts';
import { groupPieces } from './group-writer.ts';
import { createGroup, deleteGroup, patchGroup, readGroup, replaceGroup } from './groups.ts';
import { readListQuery, readParameters, readProjectionNames, readSearchBody } from './list/list-query.ts';
import { everything, type Projection, readProjection } from './list/projection.ts';
import { searchAll, searchType } from './list/search.ts';
import { isUnmodified, readPrecondition } from './precondition.ts';
import { invalidFilter, invalidSyntax, invalidValue } from './refuse.ts';
import { entityTag, locationOf, renderResource } from './render.ts';
import { type ScimContext, typesOf } from './request-context.ts';
import type { ResourceType } from './schema/attribute.ts';
import { listResourceTypes, listSchemas, readResourceType, readSchema, serviceProviderConfig } from './schema/discovery.ts';
import { groupType } from './schema/group-attributes.ts';
import { groupIndex, type TypeIndex } from './schema/schema-lookup.ts';
import { userType } from './schema/user-attributes.ts';
import type { Stored } from './user-loader.ts';
import { createUser, deleteUser, patchUser, readUser, replaceUser } from './users.ts';

/** Registers `{base_url}/scim/v2`, and the same for each organisation, which has nobody's own resource. */
export function registerScim(app: FastifyInstance, services: Services): void {
  registerDirectory(app, services, { name: 'scim', prefix: '/scim/v2', below: '', hasMe: true });
  const below = `/:${organizationParameter}`;
  registerDirectory(app, services, { name: 'scim_organizations', prefix: '/v1/scim/organizations', below, hasMe: false });
}

interface Place {
  readonly name: string;
  readonly prefix: string;
  /** Between the prefix of the surface and the paths of a directory. */
  readonly below: string;
  readonly hasMe: boolean;
}

function registerDirectory(app: FastifyInstance, services: Services, { name, prefix, below, hasMe }: Place): void {
  const tooLarge = (request: FastifyRequest): Error | undefined =>
    request.url.split('?', 1)[0]?.endsWith('/Bulk') === true
      ? reject('scim.tooLarge', 'bulk_bytes', { text: 'A bulk request has at most 1 MiB.' })
      : undefined;
  registerSurface(
    app,
    services,
    {
      name,
      envelope: 'scim',
      prefix,
      shedding: 'first',
      bodies: { 'application/scim+json': 'raw', 'application/json': 'raw' },
      bodyBytesMax: scimBodyBytesMax,
      ofTenant: true,
      bodyTooLarge: tooLarge,
    },
    (onSurface) => {
      const route: Route = (path, handlers) => onSurface(below + path, handlers);
      routeDiscovery(route, services);
      routeResources(route, services, userType);
      routeResources(route, services, groupType);
      if (hasMe) routeMe(route, services);
      route('/.search', { POST: handler(services, ['scim:read'], search(undefined)) });
      route('/Bulk', {
        POST: handler(services, ['scim:write'], async (context, request, reply) => {
          const body = jsonOf(request, { unreadable: invalidValue });
          const isGone = (): boolean => request.raw.socket.destroyed;
          const waiting = { envelope: 'scim', tenant: context.tenant.id, isGone } as const;
          const result = await inTurn(services, waiting, async (pace) =>
            runBulk(await authorizeAgain(services, request, ['scim:write']), body, pace),
          );
          return sendJson(reply, 200, result);
        }),
      });
    },
  );
}

type Operation = (context: ScimContext, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function handler(services: Services, capabilities: readonly ScimCapability[], operation: Operation): Handler {
  return async (request, reply) => operation(await authorize(services, request, capabilities), request, reply);
}

interface Reading {
  /** The refusal of what is not JSON. */
  readonly unreadable?: (text: string) => Error;
  /** NUL passes: whoever reads the values refuses it as what they are. */
  readonly withNul?: boolean;
}

/** The JSON of the body. */
function jsonOf(request: FastifyRequest, { unreadable = invalidSyntax, withNul = false }: Reading = {}): unknown {
  const { body, headers } = request;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw reject('scim.unsupported_media_type', { reason: 'content_encoding', received: encoding });
  const parsed = parseStrictJson(Buffer.isBuffer(body) ? body : Buffer.alloc(0), withNul);
  if (!parsed.ok && parsed.reason === 'nul') throw invalidValue('A value is not valid text.');
  if (!parsed.ok) throw unreadable('The body is not valid JSON.');
  return parsed.value;
}

function routeDiscovery(route: Route, services: Services): void {
  const either: readonly ScimCapability[] = ['scim:read', 'scim:write'];
  const get = (path: string, json: (types: readonly TypeIndex[], base: string, id: string) => unknown): void =>
    route(path, {
      GET: handler(services, either, async (context, request, reply) => {
        if (readParameters(request).has('filter')) throw invalidFilter('What the service is made of cannot be filtered.');
        return sendJson(reply, 200, json(typesOf(context), context.base, parameterOf(request)));
      }),
    });
  get('/Schemas', listSchemas);
  get('/Schemas/:id', readSchema);
  get('/ResourceTypes', listResourceTypes);
  get('/ResourceTypes/:id', readResourceType);
  get('/ServiceProviderConfig', (_types, base) => serviceProviderConfig(base));
}

function parameterOf(request: FastifyRequest): string {
  return (request.params as { readonly id: string }).id; // every route that asks has :id
}

function search(type: ResourceType | undefined): Operation {
  return async (context, request, reply) => {
    const query = readSearchBody(jsonOf(request, { withNul: true }));
    return sendPieces(
      reply,
      200,
      await (type === undefined ? searchAll(context, query) : searchType(context, indexOf(context, type), query)),
    );
  };
}

/** The collection of a resource type, its search, and its resources. */
function routeResources(route: Route, services: Services, type: ResourceType): void {
  const create = type === userType ? createUser : createGroup;
  const collection: Handlers = {
    GET: handler(services, ['scim:read'], async (context, request, reply) =>
      sendPieces(reply, 200, await searchType(context, indexOf(context, type), readListQuery(readParameters(request)))),
    ),
    POST: handler(services, ['scim:write'], async (context, request, reply) => {
      const index = indexOf(context, type);
      const projection = projectionOf(index, request);
      return sendResource(context, reply, 201, await create(context, jsonOf(request)), { index, projection });
    }),
  };
  const resource = resourceHandlers(services, type, (_context, request) => parameterOf(request));
  // Clients write the path of a collection in lower case and with a slash at its end, too.
  for (const endpoint of [type.endpoint, type.endpoint.toLowerCase()]) {
    route(endpoint, collection);
    route(`${endpoint}/`, collection);
    route(`${endpoint}/.search`, { POST: handler(services, ['scim:read'], search(type)) });
    route(`${endpoint}/:id`, resource);
  }
}

/** `/Me` is the user the token belongs to; a token of no user has none. */
function routeMe(route: Route, services: Services): void {
  const own = resourceHandlers(services, userType, (context) => {
    if (context.userId === undefined) throw reject('scim.resource_not_found', 'token_of_no_user');
    return context.userId;
  });
  route('/Me', own);
}

type IdOf = (context: ScimContext, request: FastifyRequest) => string;

function resourceHandlers(
  services: Services,
  type: ResourceType,
  idOf: IdOf,
): Readonly<Record<'GET' | 'PUT' | 'PATCH' | 'DELETE', Handler>> {
  const isUser = type === userType;
  const ifMatch = (request: FastifyRequest) => readPrecondition(request.headers['if-match']);
  return {
    GET: handler(services, ['scim:read'], async (context, request, reply) => {
      const index = indexOf(context, type);
      const projection = projectionOf(index, request);
      const id = idOf(context, request);
      const stored = isUser ? await readUser(context, id, projection) : await readGroup(context, id);
      const tag = entityTag(stored.document, projection);
      if (isUnmodified(readPrecondition(request.headers['if-none-match']), tag)) return sendEmpty(reply.header('etag', tag), 304);
      return sendResource(context, reply, 200, stored, { index, projection });
    }),
    PUT: handler(services, ['scim:write'], async (context, request, reply) => {
      const index = indexOf(context, type);
      const projection = projectionOf(index, request);
      const stored = await (isUser ? replaceUser : replaceGroup)(context, idOf(context, request), jsonOf(request), ifMatch(request));
      return sendResource(context, reply, 200, stored, { index, projection });
    }),
    PATCH: handler(services, ['scim:write'], async (context, request, reply) => {
      const index = indexOf(context, type);
      const projection = projectionOf(index, request);
      const stored = await (isUser ? patchUser : patchGroup)(context, idOf(context, request), jsonOf(request), ifMatch(request));
      // Groups may be large and clients send one member at a time: the resource comes back only when asked for.
      if (isUser || projection !== everything) return sendResource(context, reply, 200, stored, { index, projection });
      return sendEmpty(reply.header('etag', entityTag(stored.document, projection)), 204);
    }),
    DELETE: handler(services, ['scim:write'], async (context, request, reply) => {
      await (isUser ? deleteUser : deleteGroup)(context, idOf(context, request), ifMatch(request));
      return sendEmpty(reply, 204);
    }),
  };
}

const indexOf = ({ userIndex }: ScimContext, type: ResourceType): TypeIndex => (type === userType ? userIndex : groupIndex);

function projectionOf(index: TypeIndex, request: FastifyRequest): Projection {
  const { attributes, excludedAttributes } = readProjectionNames(readParameters(request));
  return readProjection(index, attributes, excludedAttributes);
}

function sendResource(
  context: ScimContext,
  reply: FastifyReply,
  status: number,
  { document }: Stored,
  { index, projection }: { readonly index: TypeIndex; readonly projection: Projection },
): Promise<FastifyReply> | FastifyReply {
  const base = context.base;
  const location = locationOf(index, document, base);
  reply.header('etag', entityTag(document, projection));
  if (status === 201) reply.header('location', location);
  if (index === groupIndex) return sendPieces(reply, status, groupPieces(context, document, projection));
  return sendJson(reply, status, renderResource(index, document, base, projection));
}

// The SCIM endpoints of a tenant: paths, methods, headers, statuses (RFC 7644). What they do is in the other files.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { reject } from '../contract/contract-error.ts';
import { scimBodyBytesMax } from '../contract/limits.ts';
import type { Services } from '../http/services.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { type Handler, type Route, registerSurface } from '../http/surface.ts';
import { sendEmpty, sendJson, sendPieces } from './answer.ts';
import { authorize, type ScimCapability } from './bearer.ts';
import { runBulk } from './bulk.ts';
import { listResourceTypes, listSchemas, readResourceType, readSchema, serviceProviderConfig } from './discovery.ts';
import { groupPieces } from './group-writer.ts';
import { createGroup, deleteGroup, patchGroup, readGroup, replaceGroup } from './groups.ts';
import { readListQuery, readParameters, readProjectionNames, readSearchBody } from './list-query.ts';
import { isUnmodified, readPrecondition } from './precondition.ts';
import { everything, type Projection, readProjection } from './projection.ts';
import { invalidSyntax, invalidValue } from './refuse.ts';
import { locationOf, renderResource } from './render.ts';
import { type ScimContext, scimBase } from './request-context.ts';
import { groupIndex, type TypeIndex, userIndex } from './schema-lookup.ts';
import { searchAll, searchType } from './search.ts';
import { etagOf } from './user-rows.ts';
import { createUser, deleteUser, patchUser, readUser, replaceUser, type Stored } from './users.ts';

/** Registers `{base_url}/scim/v2`. */
export function registerScim(app: FastifyInstance, services: Services): void {
  const tooLarge = (request: FastifyRequest): Error | undefined =>
    request.url.split('?', 1)[0]?.endsWith('/scim/v2/Bulk') === true
      ? reject('scim.tooLarge', 'bulk_bytes', { text: 'A bulk request has at most 1 MiB.' })
      : undefined;
  registerSurface(
    app,
    services,
    {
      name: 'scim',
      envelope: 'scim',
      prefix: '/scim/v2',
      bodies: { 'application/scim+json': 'raw', 'application/json': 'raw' },
      bodyBytesMax: scimBodyBytesMax,
      ofTenant: true,
      bodyTooLarge: tooLarge,
    },
    (route) => {
      routeDiscovery(route, services);
      routeResources(route, services, userIndex);
      routeResources(route, services, groupIndex);
      routeMe(route, services);
      route('/.search', { POST: handler(services, ['scim:read'], search(undefined)) });
      route('/Bulk', {
        POST: handler(services, ['scim:write'], async (context, request, reply) =>
          sendJson(reply, 200, await runBulk(context, jsonOf(request))),
        ),
      });
    },
  );
}

type Operation = (context: ScimContext, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

function handler(services: Services, capabilities: readonly ScimCapability[], operation: Operation): Handler {
  return async (request, reply) => operation(await authorize(services, request, capabilities), request, reply);
}

/** The JSON of the body; anything else is invalidSyntax. */
function jsonOf(request: FastifyRequest): unknown {
  const { body, headers } = request;
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw reject('scim.unsupported_media_type', { reason: 'content_encoding', received: encoding });
  const parsed = parseStrictJson(Buffer.isBuffer(body) ? body : Buffer.alloc(0));
  if (!parsed.ok && parsed.reason === 'nul') throw invalidValue('A value is not valid text.');
  if (!parsed.ok) throw invalidSyntax('The body is not valid JSON.');
  return parsed.value;
}

function routeDiscovery(route: Route, services: Services): void {
  const either: readonly ScimCapability[] = ['scim:read', 'scim:write'];
  const get = (path: string, json: (base: string, request: FastifyRequest) => unknown): void =>
    route(path, {
      GET: handler(services, either, async (context, request, reply) => sendJson(reply, 200, json(scimBase(context.tenant), request))),
    });
  get('/Schemas', (base) => listSchemas(base));
  get('/Schemas/:id', (base, request) => readSchema(base, parameterOf(request)));
  get('/ResourceTypes', (base) => listResourceTypes(base));
  get('/ResourceTypes/:id', (base, request) => readResourceType(base, parameterOf(request)));
  get('/ServiceProviderConfig', (base) => serviceProviderConfig(base));
}

function parameterOf(request: FastifyRequest): string {
  return (request.params as { readonly id: string }).id; // every route that asks has :id
}

function search(index: TypeIndex | undefined): Operation {
  return async (context, request, reply) => {
    const query = readSearchBody(jsonOf(request));
    return sendPieces(reply, 200, await (index === undefined ? searchAll(context, query) : searchType(context, index, query)));
  };
}

/** The collection of a resource type, its search, and its resources. */
function routeResources(route: Route, services: Services, index: TypeIndex): void {
  const { endpoint } = index.type;
  const create = index === userIndex ? createUser : createGroup;
  route(endpoint, {
    GET: handler(services, ['scim:read'], async (context, request, reply) =>
      sendPieces(reply, 200, await searchType(context, index, readListQuery(readParameters(request)))),
    ),
    POST: handler(services, ['scim:write'], async (context, request, reply) => {
      const projection = projectionOf(index, request);
      return sendResource(context, reply, index, 201, await create(context, jsonOf(request)), projection);
    }),
  });
  route(`${endpoint}/.search`, { POST: handler(services, ['scim:read'], search(index)) });
  route(
    `${endpoint}/:id`,
    resourceHandlers(services, index, (_context, request) => parameterOf(request)),
  );
}

/** `/Me` is the user the token belongs to; a token of no user has none. */
function routeMe(route: Route, services: Services): void {
  const own = resourceHandlers(services, userIndex, (context) => {
    if (context.userId === undefined) throw reject('scim.resource_not_found', 'token_of_no_user');
    return context.userId;
  });
  route('/Me', own);
}

type IdOf = (context: ScimContext, request: FastifyRequest) => string;

function resourceHandlers(services: Services, index: TypeIndex, idOf: IdOf): Readonly<Record<'GET' | 'PUT' | 'PATCH' | 'DELETE', Handler>> {
  const isUser = index === userIndex;
  const ifMatch = (request: FastifyRequest) => readPrecondition(request.headers['if-match']);
  return {
    GET: handler(services, ['scim:read'], async (context, request, reply) => {
      const projection = projectionOf(index, request);
      const id = idOf(context, request);
      const stored = isUser ? await readUser(context, id, projection) : await readGroup(context, id);
      if (!isUnmodified(readPrecondition(request.headers['if-none-match']), stored.version)) {
        return sendResource(context, reply, index, 200, stored, projection);
      }
      return sendEmpty(reply.header('etag', etagOf(stored.version)), 304);
    }),
    PUT: handler(services, ['scim:write'], async (context, request, reply) => {
      const projection = projectionOf(index, request);
      const stored = await (isUser ? replaceUser : replaceGroup)(context, idOf(context, request), jsonOf(request), ifMatch(request));
      return sendResource(context, reply, index, 200, stored, projection);
    }),
    PATCH: handler(services, ['scim:write'], async (context, request, reply) => {
      const projection = projectionOf(index, request);
      const stored = await (isUser ? patchUser : patchGroup)(context, idOf(context, request), jsonOf(request), ifMatch(request));
      // Groups may be large and clients send one member at a time: the resource comes back only when asked for.
      if (isUser || projection !== everything) return sendResource(context, reply, index, 200, stored, projection);
      return sendEmpty(reply.header('etag', etagOf(stored.version)), 204);
    }),
    DELETE: handler(services, ['scim:write'], async (context, request, reply) => {
      await (isUser ? deleteUser : deleteGroup)(context, idOf(context, request), ifMatch(request));
      return sendEmpty(reply, 204);
    }),
  };
}

function projectionOf(index: TypeIndex, request: FastifyRequest): Projection {
  const { attributes, excludedAttributes } = readProjectionNames(readParameters(request));
  return readProjection(index, attributes, excludedAttributes);
}

function sendResource(
  context: ScimContext,
  reply: FastifyReply,
  index: TypeIndex,
  status: number,
  { document, version }: Stored,
  projection: Projection,
): Promise<FastifyReply> | FastifyReply {
  const base = scimBase(context.tenant);
  const location = locationOf(index, document, base);
  reply.header('etag', etagOf(version));
  if (status === 201) reply.header('location', location);
  if (index === groupIndex) return sendPieces(reply, status, groupPieces(context, document, projection));
  return sendJson(reply, status, renderResource(index, document, base, projection));
}

// The OpenAPI 3.1 description of a tenant's management API, made by @fastify/swagger from the schemas that validate.
// Made once per process, at the first request for it, by a Fastify of its own that never listens.
import Fastify from 'fastify';
import type { Tenant } from '../domain/tenant/tenant.ts';
import type { Endpoint, Json } from './endpoint.ts';
import { managementEndpoints } from './endpoints.ts';

let description: Promise<Json> | undefined;

/** The document as JSON text, its server URL that of the tenant. */
export async function openApiDocument(tenant: Tenant): Promise<string> {
  description ??= describeEndpoints(managementEndpoints);
  return JSON.stringify({ ...(await description), servers: [{ url: tenant.managementApi }] });
}

/** The OpenAPI description of some endpoints; the reference in docs/api.md is written from it. */
export async function describeEndpoints(endpoints: readonly Endpoint[]): Promise<Json> {
  const { default: swagger } = await import('@fastify/swagger');
  const app = Fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Gatehouse Management API', version: '1' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
      security: [{ bearer: [] }],
    },
  });
  for (const endpoint of endpoints) {
    app.route({ method: endpoint.method, url: endpoint.path, schema: schemaOf(endpoint), handler: async () => undefined });
  }
  await app.ready();
  const document = app.swagger() as unknown as Json; // an OpenAPI document is plain JSON
  await app.close();
  return document;
}

function schemaOf(endpoint: Endpoint): Json {
  const names = [...endpoint.path.matchAll(/:([a-z_]+)/g)].map((match) => match[1]!);
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const error = { description: 'Refusal', type: 'object', required: ['error', 'message'], properties: errorProperties };
  return {
    summary: endpoint.summary,
    tags: [endpoint.path.split('/')[1]!],
    ...descriptionOf(endpoint),
    ...(names.length === 0 ? {} : { params: { type: 'object', required: names, properties } }),
    ...(endpoint.query === undefined ? {} : { querystring: endpoint.query }),
    ...(endpoint.body === undefined ? {} : { body: endpoint.body }),
    response: {
      [endpoint.status]:
        endpoint.answer === undefined ? { description: 'Done', type: 'null' } : { description: 'Done', ...endpoint.answer },
      '4XX': error,
    },
  };
}

function descriptionOf({ capability, orCapability, operatorOnly }: Endpoint): Json {
  if (operatorOnly === true)
    return { description: 'In the root tenant alone, and for its administrators as people: the operator view of the console.' };
  if (capability === undefined) return {};
  return { description: `Needs the capability \`${capability}\`${orCapability === undefined ? '' : ` or \`${orCapability}\``}.` };
}

const errorProperties = { error: { type: 'string' }, message: { type: 'string' }, kind: { type: 'string' } };

// Service providers that publish their metadata at an address: a host of the test that answers what it is told, documents by hand,
// and the calls of the Management API about them.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reachesLoopback } from './ciba.ts';
import type { databases } from './databases.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';

export const md = 'xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata"';
export const acs = (url: string, attributes = 'index="0"'): string =>
  `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${url}" ${attributes}/>`;
export const key = (pem: string, use: string, methods = ''): string =>
  `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${pem.replace(/-.*-\n|\n/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${methods}</md:KeyDescriptor>`;
export const role = (content: string, attributes = ''): string =>
  `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol" ${attributes}>${content}</md:SPSSODescriptor>`;
export const entity = (entityId: string, content: string, attributes = ''): string =>
  `<md:EntityDescriptor ${md} entityID="${entityId}" ${attributes}>${content}</md:EntityDescriptor>`;
/** What every provider is registered with. */
export const registeredAcs = 'https://sp.example/acs';
/** Metadata that says what is registered. */
export const simple = (entityId: string, attributes = ''): string => entity(entityId, role(acs(registeredAcs)), attributes);
/** A federation of one real provider and others of no role, so many in all. */
export const federation = (entityId: string, count: number): string =>
  `<md:EntitiesDescriptor ${md}>${Array.from({ length: count - 1 }, (_, at) => `<md:EntityDescriptor entityID="u:${at}"/>`).join('')}${simple(entityId)}</md:EntitiesDescriptor>`;

export interface RefreshState {
  readonly metadata_url: string | null;
  readonly next_at: string | null;
  readonly tried_at: string | null;
  readonly refreshed_at: string | null;
  readonly failure: string | null;
  readonly remarks: {
    readonly left_out: readonly { readonly item: string; readonly reason: string }[];
    readonly warnings: readonly string[];
  } | null;
  readonly waiting: readonly { readonly url: string; readonly index: number; readonly default: boolean }[];
  readonly waiting_hosts: readonly string[];
}

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export type MetadataWorld = Awaited<ReturnType<typeof openMetadataWorld>>;

/** Starts a server with a tenant, and the host of the metadata. */
export async function openMetadataWorld(
  database: (typeof databases)[number],
  makeTenant: (server: TestServer) => Promise<Managed> = createTestTenant,
) {
  const server = await startTestServer(database, { flags: reachesLoopback });
  let tenant = await makeTenant(server);
  const answers = new Map<string, Answer>();
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const host = createServer((request, response) => {
    asked.push({ path: request.url!, headers: request.headers });
    const { status = 200, headers = {}, body = '' } = answers.get(request.url!) ?? { status: 404 };
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`; // listening on TCP
  let made = 0;
  return {
    server,
    get tenant() {
      return tenant;
    },
    origin,
    answers,
    asked,
    close: async () => {
      await server.close();
      host.closeAllConnections();
      await new Promise((resolve) => host.close(resolve));
    },
    run: (): Promise<void> => server.gatehouse.services.jobs.runNow('saml-metadata'),
    passTime: async (ms: number): Promise<void> => {
      await server.clock.advance(ms);
      tenant = managedWith(await clientCredentialsToken(tenant.baseUrl, tenant.adminClientId, tenant.adminClientSecret), tenant);
    },
    eventsOf: async (type: string, id: string): Promise<readonly Json[]> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?type=${type}`);
      return items.filter((event) => event['target'] === `service_provider:${id}`);
    },
    /** A provider with an address of its own; `serve` says what is there. */
    provider: async (fields: Json = {}) => {
      made += 1;
      const entityId = `https://refreshed-${made}.example`;
      const path = `/md-${made}`;
      const registration = { entity_id: entityId, acs: [{ url: registeredAcs }], metadata_url: `${origin}${path}`, ...fields };
      const { id } = await tenant.make('POST', '/service-providers', registration);
      const at = `/service-providers/${id}`;
      return {
        id: String(id),
        entityId,
        path,
        at,
        serve: (answer: Answer | string) => void answers.set(path, typeof answer === 'string' ? { body: answer } : answer),
        refresh: (): Promise<RefreshState> => tenant.make('POST', `${at}/metadata-refresh`),
        state: (): Promise<RefreshState> => tenant.make('GET', `${at}/metadata-refresh`),
        read: (): Promise<Json> => tenant.make('GET', at),
        approve: (...hosts: string[]): Promise<Response> => tenant.call('POST', `${at}/metadata-refresh/approve`, { hosts }),
        asked: () => asked.filter((request) => request.path === path),
      };
    },
  };
}

/** How long after it was tried the next reading is, in milliseconds. */
export const timeToNext = (state: RefreshState): number => Date.parse(state.next_at ?? '') - Date.parse(state.tried_at ?? '');
export const acsOf = (json: Json): readonly string[] => (json['acs'] as readonly { readonly url: string }[]).map(({ url }) => url);

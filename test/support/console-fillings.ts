// Some of what a tenant with one of everything has: what no endpoint of the Management API makes alone, or what a tenant has few of.
import { hookKind } from '../../src/domain/extending/hook.ts';
import type { ClientId, SsfStreamId, TenantId } from '../../src/domain/ids.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { writeLinks } from '../../src/storage/records/directory-links.ts';
import { insertStream } from '../../src/storage/registry/extending/ssf-streams.ts';
import { rowsOf } from '../../src/storage/registry/kind-rows.ts';
import { directoryBody, entry, whoseOf } from './directories.ts';
import type { Json, Managed } from './management.ts';
import type { TestServer } from './server.ts';

/** The stream of security events that an application would have made. */
export async function addStream(server: TestServer, tenant: Managed, client: string, description: string): Promise<string> {
  const { cache, clock } = server.gatehouse.services;
  const id = uuidV7(clock.nowMs()) as SsfStreamId;
  const values = { method: 'poll', url: undefined, authorizationHeader: undefined, eventsRequested: undefined, description } as const;
  await cache.write(tenant.id as TenantId, (queries) =>
    insertStream(queries, tenant.id as TenantId, { ...values, id, clientId: client as ClientId }),
  );
  return id;
}

/** A directory with an entry that waits for a person, who finds its text. */
export async function addDirectory(
  server: TestServer,
  tenant: Managed,
  text: string,
  unique: string,
): Promise<{ readonly directory: string; readonly entry: string }> {
  const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/directories'); // a tenant has 10
  const made = items[0] ?? (await tenant.make<Json>('POST', '/directories', directoryBody({ name: text, enabled: false })));
  const directory = String(made['id']);
  await tenant.make('PATCH', `/directories/${directory}`, { name: text });
  const waiting = entry(unique, { dn: text, state: 'conflict', reason: text });
  await server.gatehouse.services.database.write(tenant.id as TenantId, (queries) =>
    writeLinks(queries, whoseOf(tenant, directory), 1, [waiting]),
  );
  return { directory, entry: waiting.remote_id };
}

/** A connector, which further fillings name otherwise: a tenant has 20. */
export async function addConnector(tenant: Managed, text: string): Promise<string> {
  const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/connectors');
  const target = { base_url: 'https://payroll.example', auth: { type: 'bearer', token: 'known there' }, enabled: false };
  const { id } = items[0] ?? (await tenant.make<Json>('POST', '/connectors', { name: text, ...target }));
  await tenant.make('PATCH', `/connectors/${id}`, { name: text });
  return String(id);
}

/** A hook, which names what has gone since. A point has one: further fillings change it. */
export async function addHook({ gatehouse }: TestServer, tenant: Managed, text: string): Promise<string> {
  const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/hooks');
  const { id } =
    items[0] ?? (await tenant.make<Json>('POST', '/hooks', { point: 'token', url: 'https://hooks.example', on_failure: 'continue' }));
  await gatehouse.services.cache.write(tenant.id as TenantId, (queries) =>
    rowsOf(hookKind).update(queries, tenant.id as TenantId, String(id), { clients: [text] }),
  );
  return String(id);
}

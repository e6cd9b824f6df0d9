// An administrator at the console's pages of directories of LDAP: a tenant, what its directories are and did, and others who sign in.
import assert from 'node:assert/strict';
import type { Queries } from '../../src/storage/engine/database.ts';
import type { DirectoryState } from '../../src/storage/registry/extending/ldap-directories.ts';
import { createConsoleTenant, openConsole } from './console.ts';
import type { DatabaseName } from './databases.ts';
import { directoryBody, takeRun, whoseOf } from './directories.ts';
import type { AppVisitor } from './first-party-app.ts';
import { createTestUser, type Json, type Managed } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';

export interface DirectoriesConsole {
  readonly server: TestServer;
  readonly tenant: Managed;
  readonly visitor: AppVisitor;
  /** The markup of a page that answers 200. */
  readonly show: (path: string) => Promise<string>;
  /** The directory there is, as the API shows it. */
  readonly only: () => Promise<Json>;
  readonly make: (fields?: Json) => Promise<{ readonly id: string; readonly path: string }>;
  readonly write: <T>(work: (queries: Queries) => Promise<T>) => Promise<T>;
  /** Takes the run of a directory up that is due, and does in it what is given. */
  readonly run: (id: string, work: (queries: Queries, run: DirectoryState) => Promise<unknown>) => Promise<void>;
  /** Somebody with these capabilities. */
  readonly openAs: (role: string, capabilities: readonly string[]) => Promise<AppVisitor>;
  /** Deletes every directory. */
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What ends a run beside its figures. */
export const ends = { everyMinutes: 15, mark: null, server: null } as const;

export async function openDirectoriesConsole(database: DatabaseName): Promise<DirectoriesConsole> {
  const server = await startTestServer(database);
  // Runs are what a test makes of them: the server's own turns begin none.
  Object.assign(server.gatehouse.services.directories, { begin: async () => undefined });
  const { tenant, email } = await createConsoleTenant(server);
  const { visitor } = await openConsole(server, tenant, email);
  const list = async (): Promise<readonly Json[]> => (await tenant.make<{ items: readonly Json[] }>('GET', '/directories')).items;
  const write: DirectoriesConsole['write'] = (work) => server.gatehouse.services.database.write(whoseOf(tenant, '').tenant, work);
  return {
    ...{ server, tenant, visitor, write },
    show: async (path) => {
      const response = await visitor.page(path);
      assert.equal(response.status, 200, path);
      return response.text();
    },
    only: async () => (await list())[0]!,
    make: async (fields = {}) => {
      const { id } = await tenant.make('POST', '/directories', directoryBody(fields));
      return { id: String(id), path: `/directories/${id}` };
    },
    run: async (id, work) => {
      const taken = await takeRun(server, whoseOf(tenant, id));
      assert.ok(taken !== undefined, 'a run is due');
      await write((queries) => work(queries, taken));
    },
    openAs: async (role, capabilities) => {
      const email = `${role}@x.example`;
      await tenant.make('POST', '/roles', { name: role, capabilities });
      const { id } = await createTestUser(tenant, email);
      await tenant.make('PUT', `/users/${id}/roles`, { roles: [role] });
      return (await openConsole(server, tenant, email)).visitor;
    },
    clear: async () => {
      for (const { id } of await list()) await tenant.make('DELETE', `/directories/${id}`);
    },
    close: () => server.close(),
  };
}

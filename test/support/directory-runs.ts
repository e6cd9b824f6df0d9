// Runs of directories in tests: a tenant whose directories are read when a test says so, by the server's own runner or by one with a reader that
// the test answers for.
import { createDirectories } from '../../src/directories/engine.ts';
import {
  type ChangeMark,
  DirectoryFault,
  type DirectoryReader,
  type EntryPage,
  type GroupEntry,
  type OpenDirectory,
  type PersonEntry,
  type SkippedEntry,
} from '../../src/directories/reading.ts';
import type { Directories, DirectoryFailure } from '../../src/domain/extending/directory-runs.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import type { DatabaseName } from './databases.ts';
import { directoryBody } from './directories.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import { startTestServer, type TestServer } from './server.ts';

export type Directory = Json & { readonly id: string };
export type Person = Json & {
  readonly id: string;
  readonly user_name: string;
  readonly state: string;
  readonly updated_at: string;
  readonly emails: readonly Json[];
};
type Page<Item> = { readonly items: readonly Item[] };

/** Directories are read only when a test says so: the server's own turns begin none. */
export function leaveUnread({ gatehouse: { services } }: TestServer): Directories['begin'] {
  const { begin } = services.directories;
  Object.assign(services.directories, { begin: async () => undefined });
  return begin;
}

export interface DirectoryWorld {
  readonly server: TestServer;
  readonly tenant: Managed;
  /** A tenant that knows nobody. */
  readonly fresh: () => Promise<void>;
  /** Reads what is due. */
  readonly run: () => Promise<void>;
  /** Has everything read at once. */
  readonly sync: (id: string, full?: boolean) => Promise<Json>;
  readonly make: (fields?: Json) => Promise<Directory>;
  readonly people: () => Promise<readonly Person[]>;
  readonly person: (name: string) => Promise<Person | undefined>;
  readonly statusOf: (id: string) => Promise<Json>;
  readonly lastOf: (id: string) => Promise<Json>;
  readonly linksOf: (id: string, query?: string) => Promise<readonly Json[]>;
  /** Types of the newest events about something. */
  readonly eventsOf: (target: string) => Promise<readonly string[]>;
  /** Of every event there is. */
  readonly countEvents: () => Promise<number>;
}

/** @param directories who reads them; the server's own turns begin none */
export async function directoryWorld(
  server: TestServer,
  directories: Pick<Directories, 'begin' | 'settled'>,
  body: () => Json = directoryBody,
): Promise<DirectoryWorld> {
  let tenant = await createTestTenant(server);
  const itemsAt = async <Item>(path: string): Promise<readonly Item[]> => (await tenant.make<Page<Item>>('GET', path)).items;
  const run = async (): Promise<void> => {
    await directories.begin(tenant.id as TenantId);
    await directories.settled();
  };
  const people = (): Promise<readonly Person[]> => itemsAt('/users?limit=200');
  const statusOf = (id: string): Promise<Json> => tenant.make('GET', `/directories/${id}/status`);
  const lastOf = async (id: string): Promise<Json> => (await statusOf(id))['last_run'] as Json;
  return {
    server,
    get tenant() {
      return tenant;
    },
    fresh: async () => {
      tenant = await createTestTenant(server);
    },
    run,
    sync: async (id, full = true) => {
      await tenant.make('POST', `/directories/${id}/sync`, { full });
      await run();
      return lastOf(id);
    },
    make: (fields = {}) => tenant.make('POST', '/directories', { ...body(), ...fields }),
    people,
    person: async (name) => (await people()).find(({ user_name: userName }) => userName === name),
    statusOf,
    lastOf,
    linksOf: (id, query = '') => itemsAt(`/directories/${id}/links${query}`),
    eventsOf: async (target) => (await itemsAt<{ readonly type: string }>(`/events?target=${target}`)).map(({ type }) => type),
    countEvents: () =>
      server.gatehouse.services.database.read(tenant.id as TenantId, async (queries) => {
        const { n } = await queries
          .selectFrom('audit_events')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .where('tenant_id', '=', tenant.id as TenantId)
          .executeTakeFirstOrThrow();
        return Number(n);
      }),
  };
}

/** An entry of a person as a reader gives it. */
export const personEntry = (name: string, fields: Partial<PersonEntry> = {}): PersonEntry => ({
  ...{ remoteId: `id-of-${name}`, dn: `uid=${name},dc=corp`, dnKey: `uid=${name},dc=corp`, isDisabled: false },
  attributes: { uid: [name], mail: [`${name}@corp.example`], givenname: [name], sn: ['Doe'] },
  ...fields,
});

export const groupEntry = (name: string, members: readonly string[]): GroupEntry => ({
  ...{ remoteId: `id-of-group-${name}`, dn: `cn=${name},dc=corp`, dnKey: `cn=${name},dc=corp`, name },
  members: members.map((member) => `uid=${member},dc=corp`),
});

/** What a reader answers, and how. */
export interface Answered {
  people: PersonEntry[];
  groups: GroupEntry[];
  skipped: SkippedEntry[];
  /** Of each page. */
  size: number;
  /** Thrown after so many pages of people. */
  failure: (DirectoryFailure & { readonly afterPages: number }) | undefined;
  mark: ChangeMark | undefined;
  /** Awaited before each page. */
  before: (() => Promise<void>) | undefined;
  readonly opened: string[];
}

/** A directory that a test answers for. Read by changes, its people are all that changed, and its groups none. */
export function answeredDirectory(): { readonly answered: Answered; readonly open: OpenDirectory } {
  const answered: Answered = {
    ...{ people: [], groups: [], skipped: [], size: 500, failure: undefined, mark: undefined, before: undefined, opened: [] },
  };
  const pagesOf = async function* <Entry>(entries: readonly Entry[], skipped: readonly SkippedEntry[], failing: boolean) {
    const { failure } = answered;
    for (let page = 0; ; page += 1) {
      await answered.before?.();
      if (failing && failure !== undefined && failure.afterPages === page)
        throw new DirectoryFault({ reason: failure.reason, detail: failure.detail });
      const some = entries.slice(page * answered.size, (page + 1) * answered.size);
      const given: EntryPage<Entry> = { entries: some, skipped: page === 0 ? skipped : [] };
      if (some.length > 0 || given.skipped.length > 0) yield given;
      if ((page + 1) * answered.size >= entries.length && (!failing || failure === undefined)) return;
    }
  };
  const open: OpenDirectory = async (_tenant, _directory, password): Promise<DirectoryReader> => {
    answered.opened.push(password);
    return {
      mark: () => answered.mark,
      canReadSince: () => true,
      people: () => pagesOf(answered.people, answered.skipped, true),
      groups: (since) => pagesOf(since === undefined ? answered.groups : [], [], false),
      referrals: () => 0,
      close: async () => undefined,
    };
  };
  return { answered, open };
}

/** Another node that reads what a test answers for. */
export const nodeReading = (server: TestServer, open: OpenDirectory): Directories =>
  createDirectories(() => server.gatehouse.services, open);

export const crowd = (from: number, to: number): PersonEntry[] =>
  Array.from({ length: to - from }, (_, at) => personEntry(`p${from + at}`));

/** A world whose directories a test answers for. */
export interface AnsweredWorld extends DirectoryWorld {
  readonly answered: Answered;
  /** A directory with these people, which were read. */
  readonly copied: (people: Answered['people'], fields?: Json) => Promise<Directory>;
  /** Of everybody, by name. */
  readonly states: () => Promise<readonly string[]>;
  readonly suspended: () => Promise<number>;
  /** A tenant that knows nobody, and a directory that says nothing. */
  readonly begin: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function openAnsweredWorld(database: DatabaseName): Promise<AnsweredWorld> {
  const server = await startTestServer(database);
  leaveUnread(server);
  const { answered, open } = answeredDirectory();
  const node = nodeReading(server, open);
  const world = await directoryWorld(server, node);
  const nothing = { people: [], groups: [], skipped: [], size: 500, failure: undefined, mark: undefined, before: undefined };
  return Object.assign(world, {
    answered,
    copied: async (people: Answered['people'], fields: Json = {}) => {
      answered.people = people;
      const directory = await world.make(fields);
      await world.run();
      return directory;
    },
    states: async () => (await world.people()).map(({ user_name: name, state }) => `${name}: ${state}`).toSorted(),
    suspended: async () => (await world.people()).filter(({ state }) => state === 'suspended').length,
    begin: async () => {
      await world.fresh();
      Object.assign(answered, nothing);
    },
    close: async () => {
      await node.stop();
      await server.close();
    },
  });
}

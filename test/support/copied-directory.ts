// What the trial of a directory that others wrote works with (directory-trial.ts): people and groups there, a tenant here that copies them, asked
// through the Management API alone.
import assert from 'node:assert/strict';
import type { TenantId } from '../../src/domain/ids.ts';
import type { LdapServer } from './directory-server.ts';
import { added, inName, type Values } from './ldif.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import type { TestServer } from './server.ts';

export interface Person {
  /** What it is called there; unlike that of every other entry of the whole directory. */
  readonly uid: string;
  readonly cn: string;
  readonly givenName: string;
  readonly sn: string;
  readonly mail: string;
}

export interface CopiedKind {
  readonly name: string;
  /** What a directory here is made with besides its address. */
  readonly fields: Json;
  readonly person: (person: Person) => Values;
  readonly group: (cn: string, members: readonly string[]) => Values;
  /** How somebody is disabled there, and no longer is. */
  readonly disabling?: Readonly<Record<string, { readonly off: Values; readonly on: Values }>>;
  /** True: a run that reads changes reads nothing else, as they are numbered there. */
  readonly numbersChanges?: boolean;
  /** True: it has somebody who is given few entries. */
  readonly limits?: boolean;
  /** False: it has no entries that refer to other servers. */
  readonly refers?: boolean;
}

export interface LinkJson {
  readonly id: string;
  readonly kind: 'user' | 'group';
  readonly state: string;
  readonly local_id: string | null;
  readonly dn: string;
  readonly reason: string | null;
}

export interface StatusJson {
  readonly state: string;
  readonly users: number;
  readonly groups: number;
  readonly waiting_for_approval: number;
  readonly last_run: Readonly<Record<'read' | 'created' | 'updated' | 'ended' | 'unchanged' | 'conflicts' | 'skipped', number>> & {
    readonly full: boolean;
  };
  readonly failure: { readonly reason: string; readonly detail: string | null } | null;
}

export interface CopiedDirectory {
  readonly id: string;
  /** Asks for a run and waits until it has ended. */
  readonly run: (options?: { readonly full?: boolean }) => Promise<StatusJson>;
  readonly status: () => Promise<StatusJson>;
  readonly ask: (what: 'plan' | 'test' | 'approve') => Promise<Json>;
  readonly links: () => Promise<readonly LinkJson[]>;
}

export interface UserJson {
  readonly id: string;
  readonly user_name: string;
  readonly state: string;
  readonly version: number;
  readonly name: { readonly given_name?: string; readonly family_name?: string };
  readonly emails: readonly { readonly value: string }[];
  readonly [more: string]: unknown;
}

export interface World {
  readonly server: TestServer;
  readonly tenant: Managed;
  /** Below it are the people of this test. */
  readonly base: string;
  readonly write: (ldif: string) => Promise<void>;
  /** What makes a person there, and their name; `uid` is made another for each test. */
  readonly personOf: (uid: string, fields?: Partial<Person>, below?: string) => Person & { readonly dn: string; readonly ldif: string };
  readonly groupOf: (cn: string, members: readonly string[]) => { readonly dn: string; readonly ldif: string };
  readonly copy: (fields?: Json) => Promise<CopiedDirectory>;
  readonly users: () => Promise<readonly UserJson[]>;
  /** Whoever is called so here. */
  readonly user: (userName: string) => Promise<UserJson>;
  /** User names of members, by the name of their group. */
  readonly members: () => Promise<Readonly<Record<string, readonly string[]>>>;
}

let worlds = 0;

/** A unit there, and a tenant here, of their own. */
export async function openWorld(kind: CopiedKind, server: TestServer, ldap: LdapServer): Promise<World> {
  worlds += 1;
  const unit = `unit${worlds}`;
  const base = `ou=${unit},${ldap.suffix}`;
  await ldap.write(added(base, { objectClass: 'organizationalUnit', ou: unit }));
  const tenant = await createTestTenant(server);
  const items = async <T>(path: string): Promise<readonly T[]> => (await tenant.make<{ readonly items: readonly T[] }>('GET', path)).items;
  const users = (): Promise<readonly UserJson[]> => items('/users?limit=200');
  const copy: World['copy'] = async (fields = {}) => {
    const { id } = await tenant.make<{ readonly id: string }>('POST', '/directories', {
      ...{ name: 'Corp', url: ldap.url, ca: ldap.ca, bind_dn: ldap.reader.dn, bind_password: ldap.reader.password, base_dn: base },
      ...{ ...kind.fields, ...fields },
    });
    const status = (): Promise<StatusJson> => tenant.make('GET', `/directories/${id}/status`);
    const run: CopiedDirectory['run'] = async ({ full = false } = {}) => {
      await tenant.make('POST', `/directories/${id}/sync`, { full });
      // The first may be one that was under way when it was asked.
      for (let times = 0; times < 2; times += 1) {
        await server.gatehouse.services.directories.begin(tenant.id as TenantId);
        await server.gatehouse.services.directories.settled();
      }
      return status();
    };
    const ask: CopiedDirectory['ask'] = (what) => tenant.make('POST', `/directories/${id}/${what}`);
    return { id, run, status, ask, links: () => items(`/directories/${id}/links?limit=200`) };
  };
  return {
    ...{ server, tenant, base, copy, users, write: ldap.write },
    personOf: (name, fields = {}, below = base) => {
      const uid = `${name}.${unit}`;
      const person = { uid, cn: uid, givenName: `Given ${name}`, sn: `Family ${name}`, mail: `${uid}@corp.example`, ...fields };
      const dn = `cn=${inName(person.cn)},${below}`;
      return { ...person, dn, ldif: added(dn, kind.person(person)) };
    },
    groupOf: (name, members) => {
      const dn = `cn=${inName(`${name}.${unit}`)},${base}`;
      return { dn, ldif: added(dn, kind.group(`${name}.${unit}`, members)) };
    },
    user: async (userName) => {
      const found = (await users()).find((one) => one.user_name === userName);
      assert.ok(found, `nobody is called ${userName}`);
      return found;
    },
    members: async () => {
      const groups = await items<{ readonly id: string; readonly display_name: string }>('/groups?limit=200');
      const named = await Promise.all(
        groups.map(async ({ id, display_name: name }) => {
          const members = await items<{ readonly user_name: string }>(`/groups/${id}/members?limit=200`);
          return [name.replace(`.${unit}`, ''), members.map(({ user_name: one }) => one.replace(`.${unit}`, '')).sort()] as const;
        }),
      );
      return Object.fromEntries(named);
    },
  };
}

/** A run that ended well. */
export function assertWell(status: StatusJson): StatusJson['last_run'] {
  assert.deepEqual([status.failure, status.state], [null, 'idle']);
  return status.last_run;
}

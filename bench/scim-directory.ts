// Fills a tenant with users and one large group: the same columns, keys, triggers and indexes as requests write, but over a
// connection of its own, because a million requests are not what is measured.
import { DatabaseSync } from 'node:sqlite';
import type { TenantId } from '../src/domain/ids.ts';
import { uuidV7 } from '../src/platform/random.ts';
import { emailSearchColumns, reverseText, userSearchColumns } from '../src/storage/people/user-search.ts';

const givenNames = 'Ada Ben Chloe David Elena Farid Grace Hugo Ines Jonas Karin Liam Maria Nora Oskar Paula Quentin Rosa Samir Tara'.split(
  ' ',
);
const familyNames =
  'Adams Becker Castillo Dubois Evans Fischer Garcia Hoffmann Ivanova Johansson Keller Larsen Moreau Nakamura Olsen Petrov Quinn Rossi Schneider Tanaka Ueda Vogel Weber Xu Yilmaz Zimmermann'.split(
    ' ',
  );
const usersPerTransaction = 50_000;

/** The user with this number; the same in every run. */
export function personOf(number: number): {
  readonly userName: string;
  readonly given: string;
  readonly family: string;
  readonly externalId: string;
} {
  const given = givenNames[number % givenNames.length]!;
  const family = familyNames[Math.floor(number / givenNames.length) % familyNames.length]!;
  return { userName: `${given}.${family}${number}`.toLowerCase(), given, family, externalId: `hr-${(number * 7919) % 10_000_019}` };
}

export type Values = Readonly<Record<string, string | number | null>>;

/** The columns of a user's row. */
export function userValues(tenant: TenantId, id: string, number: number, createdMs: number): Values {
  const { userName, given, family, externalId } = personOf(number);
  const columns = {
    user_name: userName,
    external_id: externalId,
    display_name: `${given} ${family}`,
    given_name: given,
    family_name: family,
    department: `Department ${number % 60}`,
    employee_number: String(number),
  };
  const fixed = {
    tenant_id: tenant,
    id,
    state: number % 20 === 0 ? 'suspended' : 'active',
    origin: 'scim',
    role: 'user',
    version: 1,
    created_at: createdMs,
    updated_at: createdMs,
  };
  const keys = userSearchColumns(columns) as Values; // every key of a present column is text
  return { ...columns, ...keys, ...fixed };
}

/** The columns of the row of a user's one address. */
export function emailValues(tenant: TenantId, id: string, number: number): Values {
  const value = `${personOf(number).userName}@corp.example`;
  const email = { value, type: 'work', display: null };
  return { ...email, ...emailSearchColumns(email), is_primary: 1, tenant_id: tenant, user_id: id, position: 0 };
}

export interface LoadOptions {
  readonly file: string;
  readonly tenant: TenantId;
  readonly users: number;
  readonly groupMembers: number;
  readonly progress: (loaded: number) => void;
}

/**
 * Fills an empty tenant with this many users and a group of the first of them; gives the group's id. No server may run.
 * Plain indexes are dropped before and built after, and the trigram tables merge once: the same database at the end, sooner.
 */
export function loadDirectory({ file, tenant, users, groupMembers, progress }: LoadOptions): string {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA synchronous=OFF; PRAGMA cache_size=-4000000; PRAGMA temp_store=MEMORY; PRAGMA threads=2');
  const rebuild = dropPlainIndexes(database);
  tuneTrigrams(database, { hashsize: 512 * 1_048_576, automerge: 0 });
  const insertUser = inserter(database, 'users', userValues(tenant, '', 1, 1));
  const insertEmail = inserter(database, 'user_emails', emailValues(tenant, '', 1));
  const startMs = Date.now() - users;
  const ids: string[] = [];
  for (let from = 0; from < users; from += usersPerTransaction) {
    database.exec('BEGIN');
    for (let number = from; number < Math.min(from + usersPerTransaction, users); number += 1) {
      const id = uuidV7(startMs + number);
      if (ids.length < groupMembers) ids.push(id);
      insertUser(userValues(tenant, id, number, startMs + number));
      insertEmail(emailValues(tenant, id, number));
    }
    database.exec('COMMIT');
    progress(Math.min(from + usersPerTransaction, users));
  }
  const group = createLargeGroup(database, tenant, ids, startMs);
  tuneTrigrams(database, { hashsize: 1_048_576, automerge: 4 }); // FTS5's own defaults
  for (const table of trigramTables) database.exec(`INSERT INTO ${table} (${table}) VALUES ('optimize')`);
  rebuild();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return group;
}

const trigramTables = ['user_trigrams', 'email_trigrams'] as const;

function tuneTrigrams(database: DatabaseSync, settings: Readonly<Record<string, number>>): void {
  for (const table of trigramTables) {
    for (const [name, value] of Object.entries(settings))
      database.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('${name}', ${value})`);
  }
}

/** Drops the indexes that are no constraint; gives the function that builds them again. */
function dropPlainIndexes(database: DatabaseSync): () => void {
  const indexes = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('users', 'user_emails')")
    .all();
  const sizes = database.prepare('SELECT tbl, idx, stat FROM sqlite_stat1').all(); // what the planner is told goes with an index
  for (const { name } of indexes) database.exec(`DROP INDEX "${name}"`);
  return () => {
    for (const { sql } of indexes) database.exec(String(sql));
    database.exec('DELETE FROM sqlite_stat1');
    const insert = inserter(database, 'sqlite_stat1', { tbl: '', idx: '', stat: '' });
    for (const row of sizes) insert(row as Values); // three text columns
  };
}

function inserter(database: DatabaseSync, table: string, example: Values): (values: Values) => void {
  const columns = Object.keys(example);
  const statement = database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
  return (values) => void statement.run(...columns.map((column) => values[column] ?? null));
}

function createLargeGroup(database: DatabaseSync, tenant: TenantId, ids: readonly string[], startMs: number): string {
  const id = uuidV7(Date.now());
  const group = groupValues(tenant, id);
  database.exec('BEGIN');
  inserter(database, 'groups', group)(group);
  const insertMember = inserter(database, 'group_members', { tenant_id: '', group_id: '', user_id: '', created_at: 0, user_created_at: 0 });
  for (const [number, user_id] of ids.entries())
    insertMember({ tenant_id: tenant, group_id: id, user_id, created_at: Date.now(), user_created_at: startMs + number });
  database.exec('COMMIT');
  return id;
}

/** The columns of the large group's row. */
export function groupValues(tenant: TenantId, id: string): Values {
  const key = 'everyone';
  const fixed = { origin: 'scim', version: 1, created_at: Date.now(), updated_at: Date.now() };
  const names = { display_name: 'Everyone', display_name_key: key, display_name_reversed: reverseText(key) };
  return { tenant_id: tenant, id, ...names, ...fixed };
}

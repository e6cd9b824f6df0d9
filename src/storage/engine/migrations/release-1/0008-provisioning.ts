// What SCIM needs beside the people tables: the rest of the User schema, folded and reversed keys with their indexes,
// maintained counts, and the trigram index for `co` (FTS5 on SQLite, pg_trgm on PostgreSQL where it may be created).
import { addColumn, createIndex, createTable, type MigrationContext } from '../table.ts';

const user = { columns: ['tenant_id', 'user_id'], table: 'users', references: ['tenant_id', 'id'] } as const;

/** Columns of `users` with a folded key that is indexed. `user_name` has its key already. */
const foldedColumns = [
  'name_formatted',
  'family_name',
  'given_name',
  'middle_name',
  'honorific_prefix',
  'honorific_suffix',
  'display_name',
  'nick_name',
  'title',
  'user_type',
  'preferred_language',
  'locale',
  'timezone',
  'employee_number',
  'cost_center',
  'organization',
  'division',
  'department',
  'manager_display_name',
] as const;
const newColumns = [
  'employee_number',
  'cost_center',
  'organization',
  'division',
  'department',
  'manager_value',
  'manager_display_name',
] as const;
const reversedColumns = ['user_name', 'family_name', 'given_name', 'display_name', 'external_id'] as const;
/** Sorted by, and not everybody has them: who has not is found in order of creation. */
const sortedColumns = ['display_name_key', 'family_name_key'] as const;
/** Indexed columns. The indexes also hold what a page is ordered and filtered by, so that no row is read to sort or count. */
const indexedColumns: readonly string[] = [
  'user_name_key',
  ...foldedColumns.map((column) => `${column}_key`),
  ...reversedColumns.map((column) => `${column}_reversed`),
  'external_id',
  'profile_url',
  'manager_value',
];

export async function provisioning(context: MigrationContext): Promise<void> {
  await extendUsers(context);
  await extendEmailsAndGroups(context);
  await createValueTables(context);
  await createCounts(context);
  if (context.dialect === 'sqlite') await describeSizes(context);
  if (context.dialect === 'sqlite') await createSqliteTrigrams(context);
  else await createPostgresTrigrams(context);
}

async function extendUsers(context: MigrationContext): Promise<void> {
  for (const column of newColumns) await addColumn(context, 'users', column, 'text?');
  for (const column of foldedColumns) await addColumn(context, 'users', `${column}_key`, 'text?');
  for (const column of reversedColumns) await addColumn(context, 'users', `${column}_reversed`, 'text?');
  for (const column of indexedColumns) {
    await createIndex(context, 'users', { columns: ['tenant_id', column, 'created_at', 'id', 'state'], where: `${column} IS NOT NULL` });
  }
  for (const column of sortedColumns) {
    const where = `${column} IS NULL AND state <> 'deleted'`;
    const columns = ['tenant_id', 'created_at', 'id', 'state', column];
    await createIndex(context, 'users', { columns, where, name: `users_without_${column}` });
  }
  await createIndex(context, 'users', { columns: ['tenant_id', 'created_at', 'id', 'state'], where: "state <> 'deleted'" });
  await createIndex(context, 'users', { columns: ['tenant_id', 'updated_at', 'id', 'state'], where: "state <> 'deleted'" });
}

async function extendEmailsAndGroups(context: MigrationContext): Promise<void> {
  for (const column of ['type_key', 'display_key', 'value_reversed']) await addColumn(context, 'user_emails', column, 'text?');
  await createIndex(context, 'user_emails', { columns: ['tenant_id', 'value_reversed'] });
  for (const column of ['display_name_reversed', 'external_id_reversed']) await addColumn(context, 'groups', column, 'text?');
  for (const column of ['display_name_reversed', 'external_id', 'external_id_reversed']) {
    await createIndex(context, 'groups', { columns: ['tenant_id', column], where: `${column} IS NOT NULL` });
  }
  await createIndex(context, 'groups', { columns: ['tenant_id', 'created_at', 'id', 'origin'], where: "origin = 'scim'" });
}

async function createValueTables(context: MigrationContext): Promise<void> {
  await createTable(context, 'user_values', {
    columns: {
      tenant_id: 'text',
      user_id: 'text',
      attribute: 'text',
      position: 'integer',
      value: 'text?',
      value_key: 'text?',
      display: 'text?',
      display_key: 'text?',
      type: 'text?',
      type_key: 'text?',
      is_primary: 'integer=0',
    },
    primaryKey: ['tenant_id', 'user_id', 'attribute', 'position'],
    indexes: [{ columns: ['tenant_id', 'attribute', 'value_key'], where: 'value_key IS NOT NULL' }],
    foreignKeys: [user],
  });
  const parts = ['formatted', 'street_address', 'locality', 'region', 'postal_code', 'country', 'type'];
  await createTable(context, 'user_addresses', {
    columns: {
      tenant_id: 'text',
      user_id: 'text',
      position: 'integer',
      ...Object.fromEntries(
        parts.flatMap(
          (part) =>
            [
              [part, 'text?'],
              [`${part}_key`, 'text?'],
            ] as const,
        ),
      ),
      is_primary: 'integer=0',
    },
    primaryKey: ['tenant_id', 'user_id', 'position'],
    foreignKeys: [user],
  });
  await createTable(context, 'directory_counts', {
    columns: { tenant_id: 'text', kind: 'text', shard: 'integer', n: 'integer' },
    primaryKey: ['tenant_id', 'kind', 'shard'],
  });
}

/** Counts of what SCIM lists, kept by triggers so that every writer keeps them. */
async function createCounts(context: MigrationContext): Promise<void> {
  const tables = [
    { table: 'users', kind: 'users', column: 'state', counted: (row: string) => `${row}.state <> 'deleted'` },
    { table: 'groups', kind: 'groups', column: 'origin', counted: (row: string) => `${row}.origin = 'scim'` },
  ];
  for (const { table, kind, column, counted } of tables) {
    if (context.dialect === 'postgres') await createPostgresCount(context, table, kind, counted);
    else await createSqliteCount(context, table, kind, column, counted);
  }
}

type Counted = (row: string) => string;

async function createSqliteCount(context: MigrationContext, table: string, kind: string, column: string, counted: Counted): Promise<void> {
  const add = (row: string, n: number): string =>
    `INSERT INTO directory_counts VALUES (${row}.tenant_id, '${kind}', 0, ${n}) ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = n + ${n};`;
  await context.execute(
    `CREATE TRIGGER ${table}_counted_insert AFTER INSERT ON ${table} WHEN ${counted('NEW')} BEGIN ${add('NEW', 1)} END`,
  );
  await context.execute(
    `CREATE TRIGGER ${table}_counted_delete AFTER DELETE ON ${table} WHEN ${counted('OLD')} BEGIN ${add('OLD', -1)} END`,
  );
  const left = `(${counted('OLD')}) AND NOT (${counted('NEW')})`;
  const entered = `(${counted('NEW')}) AND NOT (${counted('OLD')})`;
  await context.execute(
    `CREATE TRIGGER ${table}_counted_leave AFTER UPDATE OF ${column} ON ${table} WHEN ${left} BEGIN ${add('OLD', -1)} END`,
  );
  await context.execute(
    `CREATE TRIGGER ${table}_counted_enter AFTER UPDATE OF ${column} ON ${table} WHEN ${entered} BEGIN ${add('NEW', 1)} END`,
  );
}

/**
 * Once a statement, from its transition tables, so that a statement on many rows changes the count once; and one row a
 * backend (modulo 16), so that parallel writers of a tenant do not wait for each other.
 */
async function createPostgresCount(context: MigrationContext, table: string, kind: string, counted: Counted): Promise<void> {
  const rowsOf = (transition: string, sign: string): string =>
    `SELECT tenant_id, ${sign}1 AS step FROM ${transition} changed WHERE ${counted('changed')}`;
  const sources = {
    INSERT: rowsOf('new_rows', ''),
    DELETE: rowsOf('old_rows', '-'),
    UPDATE: `${rowsOf('new_rows', '')} UNION ALL ${rowsOf('old_rows', '-')}`,
  };
  const transitions = {
    INSERT: 'NEW TABLE AS new_rows',
    DELETE: 'OLD TABLE AS old_rows',
    UPDATE: 'NEW TABLE AS new_rows OLD TABLE AS old_rows',
  };
  for (const event of ['INSERT', 'DELETE', 'UPDATE'] as const) {
    const name = `${table}_counted_${event.toLowerCase()}`;
    await context.execute(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        INSERT INTO directory_counts AS counts (tenant_id, kind, shard, n)
          SELECT tenant_id, '${kind}', pg_backend_pid() % 16, sum(step) FROM (${sources[event]}) steps GROUP BY tenant_id HAVING sum(step) <> 0
          ON CONFLICT (tenant_id, kind, shard) DO UPDATE SET n = counts.n + excluded.n;
        RETURN NULL;
      END $$`);
    await context.execute(
      `CREATE TRIGGER ${name} AFTER ${event} ON ${table} REFERENCING ${transitions[event]} FOR EACH STATEMENT EXECUTE FUNCTION ${name}()`,
    );
  }
}

/**
 * Tells SQLite's planner what a directory looks like: a tenant has very many rows, a key few. Without it the planner takes
 * any index that starts with tenant_id for selective and reads the whole tenant. A later ANALYZE replaces these figures.
 */
async function describeSizes(context: MigrationContext): Promise<void> {
  const figures: readonly (readonly [table: string, index: string, figures: string])[] = [
    ['users', 'users', '1000000 500000 1 sz=700'],
    ['users', 'sqlite_autoindex_users_2', '1000000 500000 1'],
    ['users', 'users_by_created_at_id_state', '1000000 500000 2 1 1'],
    ['users', 'users_by_updated_at_id_state', '1000000 500000 2 1 1'],
    ...indexedColumns.map((column) => ['users', `users_by_${column}_created_at_id_state`, '1000000 500000 4 1 1 1 sz=140'] as const),
    ...sortedColumns.map((column) => ['users', `users_without_${column}`, '10000 5000 1 1 1 1'] as const),
    ['user_emails', 'user_emails', '1000000 500000 1 1 sz=240'],
    ['user_emails', 'sqlite_autoindex_user_emails_2', '1000000 500000 1'],
    ['user_emails', 'user_emails_by_value_reversed', '1000000 500000 1'],
    ['user_values', 'user_values', '1000000 500000 4 2 1'],
    ['user_values', 'user_values_by_attribute_value_key', '1000000 500000 200000 10'],
    ['user_addresses', 'user_addresses', '1000000 500000 1 1'],
    ['groups', 'groups', '10000 5000 1'],
    ['groups', 'sqlite_autoindex_groups_2', '10000 5000 1'],
    ['groups', 'groups_by_created_at_id_origin', '10000 5000 1 1 1'],
    ['group_members', 'group_members', '2000000 1000000 400 1'],
    ['group_members', 'group_members_by_user_id', '2000000 1000000 4'],
  ];
  await context.execute('ANALYZE sqlite_schema');
  for (const [table, index, text] of figures) {
    await context.execute(`INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('${table}', '${index}', '${text}')`);
  }
}

const trigramColumns = ['user_name_key', 'display_name_key', 'given_name_key', 'family_name_key'] as const;

/** Contentless FTS5 tables; their rowids are mapped to users and emails by two small tables. Triggers keep them. */
async function createSqliteTrigrams(context: MigrationContext): Promise<void> {
  const options = `tokenize='trigram case_sensitive 1', content='', contentless_delete=1`;
  await context.execute(
    'CREATE TABLE user_search_rows (seq INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, UNIQUE (tenant_id, user_id)) STRICT',
  );
  await context.execute(`CREATE VIRTUAL TABLE user_trigrams USING fts5(${trigramColumns.join(', ')}, ${options})`);
  await context.execute(
    'CREATE TABLE email_search_rows (seq INTEGER PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, position INTEGER NOT NULL, UNIQUE (tenant_id, user_id, position)) STRICT',
  );
  await context.execute(`CREATE VIRTUAL TABLE email_trigrams USING fts5(value_key, ${options})`);
  await createSqliteTrigramTriggers(context);
}

async function createSqliteTrigramTriggers(context: MigrationContext): Promise<void> {
  const columns = trigramColumns.join(', ');
  const userSeq = (row: string): string => `(SELECT seq FROM user_search_rows WHERE tenant_id = ${row}.tenant_id AND user_id = ${row}.id)`;
  const addUser = `INSERT INTO user_trigrams (rowid, ${columns}) VALUES (${userSeq('NEW')}, ${trigramColumns.map((column) => `NEW.${column}`).join(', ')});`;
  const dropUser = `DELETE FROM user_trigrams WHERE rowid = ${userSeq('OLD')};`;
  const changed = trigramColumns.map((column) => `OLD.${column} IS NOT NEW.${column}`).join(' OR ');
  await context.execute(`CREATE TRIGGER users_searched_insert AFTER INSERT ON users BEGIN
    INSERT INTO user_search_rows (tenant_id, user_id) VALUES (NEW.tenant_id, NEW.id); ${addUser} END`);
  await context.execute(
    `CREATE TRIGGER users_searched_update AFTER UPDATE OF ${columns} ON users WHEN ${changed} BEGIN ${dropUser} ${addUser} END`,
  );
  await context.execute(`CREATE TRIGGER users_searched_delete AFTER DELETE ON users BEGIN ${dropUser}
    DELETE FROM user_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.id; END`);
  const emailSeq = (row: string): string =>
    `(SELECT seq FROM email_search_rows WHERE tenant_id = ${row}.tenant_id AND user_id = ${row}.user_id AND position = ${row}.position)`;
  const addEmail = `INSERT INTO email_search_rows (tenant_id, user_id, position) VALUES (NEW.tenant_id, NEW.user_id, NEW.position);
    INSERT INTO email_trigrams (rowid, value_key) VALUES (${emailSeq('NEW')}, NEW.value_key);`;
  const dropEmail = `DELETE FROM email_trigrams WHERE rowid = ${emailSeq('OLD')};
    DELETE FROM email_search_rows WHERE tenant_id = OLD.tenant_id AND user_id = OLD.user_id AND position = OLD.position;`;
  await context.execute(`CREATE TRIGGER user_emails_searched_insert AFTER INSERT ON user_emails BEGIN ${addEmail} END`);
  await context.execute(
    `CREATE TRIGGER user_emails_searched_update AFTER UPDATE OF value_key, position ON user_emails BEGIN ${dropEmail} ${addEmail} END`,
  );
  await context.execute(`CREATE TRIGGER user_emails_searched_delete AFTER DELETE ON user_emails BEGIN ${dropEmail} END`);
}

/** pg_trgm is a trusted extension: the database's owner may create it. Without that right `co` still works, by scanning. */
async function createPostgresTrigrams(context: MigrationContext): Promise<void> {
  const indexes = [...trigramColumns.map((column) => ['users', column] as const), ['user_emails', 'value_key'] as const];
  const statements = indexes.map(
    ([table, column]) => `CREATE INDEX ${table}_${column}_trigrams ON ${table} USING gin (${column} gin_trgm_ops);`,
  );
  await context.execute(`DO $$ BEGIN
    CREATE EXTENSION IF NOT EXISTS pg_trgm;
    ${statements.join('\n    ')}
  EXCEPTION WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
    RAISE NOTICE 'pg_trgm cannot be created here; SCIM co filters will scan';
  END $$`);
}

// What one migration is: tables and columns, an index, or the values of a new column. The history of them is registry.ts.
import type { TenantId } from '../../../domain/ids.ts';
import type { Queries } from '../database.ts';
import type { IndexDefinition, MigrationContext } from './table.ts';

interface Numbered {
  readonly number: number;
  readonly name: string;
}

/** Tables and columns, in one transaction; an index here only with a table that is new. */
export interface TableMigration extends Numbered {
  readonly apply: (context: MigrationContext) => Promise<void>;
}

/** An index on a table that may have rows: nobody waits for it. */
export interface IndexMigration extends Numbered {
  readonly table: string;
  readonly index: IndexDefinition;
}

/** Values of a new column, a few rows a transaction: changes at most `rows` that lack theirs and gives how many. */
export interface BackfillMigration extends Numbered {
  readonly backfill: (queries: Queries, tenant: TenantId, rows: number) => Promise<number>;
}

export type Migration = TableMigration | IndexMigration | BackfillMigration;

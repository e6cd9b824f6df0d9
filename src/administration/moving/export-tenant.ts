// A whole tenant as the lines of a bundle: every row of every table that is its own, what is encrypted under this deployment's master
// key opened, because the bundle is sealed as a whole. Read while the tenant is closed, so that the pages make one state.
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { sealedColumns } from '../../crypto/sealed-columns.ts';
import type { TenantId } from '../../domain/ids.ts';
import { type MovedRows, movedTables, readMovedRows } from '../../storage/moved-tables.ts';
import type { Cells } from '../../storage/tenant-moves.ts';
import { openSettings } from '../../tokens/secret-settings.ts';
import type { Administration } from '../administration.ts';
import type { BundleHead } from './bundle.ts';

const rowsPerPage = 500;

/** The lines, without their ends. `onRow` hears the table of each row. */
export async function* writeTenant(
  administration: Pick<Administration, 'database' | 'encryption'>,
  head: BundleHead,
  onRow: (table: string) => void,
): AsyncGenerator<string> {
  yield JSON.stringify(head);
  let rows = 0;
  for (const table of movedTables) {
    let columns: readonly string[] | undefined;
    for await (const row of rowsOf(administration, head.tenant_id as TenantId, table)) {
      if (columns === undefined) {
        columns = Object.keys(row);
        yield JSON.stringify({ table: table.table, columns });
      }
      yield JSON.stringify(columns.map((column) => row[column]));
      onRow(table.table);
      rows += 1;
    }
  }
  yield JSON.stringify({ rows });
}

async function* rowsOf(
  { database, encryption }: Pick<Administration, 'database' | 'encryption'>,
  tenant: TenantId,
  table: MovedRows,
): AsyncGenerator<Cells> {
  let last: Cells | undefined;
  do {
    const after = last;
    const page = await database.read(tenant, (queries) => readMovedRows(queries, tenant, table, after, rowsPerPage));
    for (const row of page) yield openRow(encryption, tenant, table.table, row);
    last = table.key.length > 0 && page.length === rowsPerPage ? page.at(-1) : undefined;
  } while (last !== undefined);
}

function openRow(encryption: KeyEncryption, tenant: TenantId, table: string, row: Cells): Cells {
  const open: Record<string, string | number | null> = { ...row };
  for (const { column, of, purpose } of sealedColumns.filter((sealed) => sealed.table === table)) {
    const cell = row[column];
    if (typeof cell !== 'string') continue;
    open[column] = encryption.decrypt(cell, purpose(tenant, of === undefined ? '' : String(row[of]))).toString('base64');
  }
  if (table === 'held_deliveries') open['delivery'] = openDelivery(encryption, tenant, row);
  if (table === 'tenants') open['settings'] = JSON.stringify(openSettings(encryption, tenant, JSON.parse(String(row['settings']))));
  return open;
}

/** A delivery that is held has its row of a queue within it. */
const openDelivery = (encryption: KeyEncryption, tenant: TenantId, { queue, delivery }: Cells): string =>
  JSON.stringify(openRow(encryption, tenant, String(queue), JSON.parse(String(delivery)) as Cells)); // tenant-moves.ts wrote it

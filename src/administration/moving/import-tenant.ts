// A whole tenant out of a bundle. The bundle is read twice: once to its end, before anything is written, and once to build the tenant,
// which is closed until its last transaction opens it. A run that was cut off is begun anew by the next.
import type { KeyEncryption } from '../../crypto/key-encryption.ts';
import { sealedColumns } from '../../crypto/sealed-columns.ts';
import type { TenantId } from '../../domain/ids.ts';
import { baseUrlOf } from '../../domain/tenant/tenant.ts';
import { randomId } from '../../platform/random.ts';
import { claimDeviceIdentifiers } from '../../storage/device/devices.ts';
import { bumpConfigEpoch } from '../../storage/engine/config/config-changes.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { endLease, holdLease } from '../../storage/engine/lease.ts';
import { readLedger } from '../../storage/engine/migrations/ledger.ts';
import { deleteTenantRows } from '../../storage/engine/rows/tenant-rows.ts';
import { isUniqueViolation } from '../../storage/engine/unique-violation.ts';
import { movedTables } from '../../storage/moved-tables.ts';
import { deleteTenant, findTenantByDomain, findTenantById, findTenantBySlug } from '../../storage/registry/tenants.ts';
import { type Cells, insertRows, listUnfinished, movingFrom, openTenant, rememberImport, wasImported } from '../../storage/tenant-moves.ts';
import { sealSettings } from '../../tokens/secret-settings.ts';
import { type Administration, type By, recordAct } from '../administration.ts';
import { BundleFault, type BundleHead } from './bundle.ts';

export interface Bundle {
  readonly head: BundleHead;
  /** Rows by table. */
  readonly counts: ReadonlyMap<string, number>;
}

type Lines = AsyncIterable<string>;

/** Reads a bundle to its end and says what is in it. Writes nothing. @throws BundleFault when it cannot become a tenant here */
export async function inspectBundle(administration: Administration, lines: Lines): Promise<Bundle> {
  let head: BundleHead | undefined;
  const counts = new Map<string, number>();
  for await (const part of partsOf(lines)) {
    if ('head' in part) {
      head = part.head;
      await requireWelcome(administration, head);
    } else counts.set(part.table, (counts.get(part.table) ?? 0) + part.rows.length);
  }
  return { head: head!, counts }; // the first part is the head
}

/** Builds the tenant and opens it. `onRows` hears how many rows more are there. @throws BundleFault; nothing is left of the tenant then */
export async function importTenant(
  administration: Administration,
  lines: Lines,
  by: By,
  onRows: (table: string, rows: number) => void,
): Promise<void> {
  const { database } = administration;
  const { stay, end } = createTurn(randomId());
  let head: BundleHead | undefined;
  try {
    for await (const part of partsOf(lines)) {
      if ('head' in part) {
        await database.system(stay);
        head = part.head;
        await requireWelcome(administration, head);
        await removeUnfinished(administration, stay);
      } else {
        await writeRows(administration, head!, part, stay); // the first part is the head
        onRows(part.table, part.rows.length);
      }
    }
    await open(administration, head!, by, stay);
  } catch (error) {
    if (head !== undefined && !(error instanceof TurnTaken)) await removeUnfinished(administration, stay, head.tenant_id as TenantId);
    throw isUniqueViolation(error)
      ? new BundleFault('expected a free tenant id, slug and domain, found one taken meanwhile. See: gatehouse tenant list', {
          cause: error,
        })
      : error;
  } finally {
    await database.system(end);
  }
}

/** Longer than a part takes; an import that was killed is followed after it. */
const turnMs = 30_000;
const turnName = 'tenant-import';

class TurnTaken extends BundleFault {}

export interface Turn {
  /** Keeps the turn within a transaction. @throws TurnTaken */
  readonly stay: (queries: Queries) => Promise<void>;
  readonly end: (queries: Queries) => Promise<void>;
}

/** One import at a time: that of this holder. */
export function createTurn(holder: string): Turn {
  return {
    stay: async (queries) => {
      if (!(await holdLease(queries, turnName, holder, turnMs)))
        throw new TurnTaken(
          `expected no other import at the same time, found one. Wait for it; one that was killed is over after ${turnMs / 1000} seconds`,
        );
    },
    end: (queries) => endLease(queries, turnName, holder),
  };
}

/** Opens a tenant that is built. @throws BundleFault when the bundle was imported before, or given up */
export async function open(administration: Administration, head: BundleHead, by: By, stay: Turn['stay']): Promise<void> {
  const tenant = head.tenant_id as TenantId;
  await openTenant(administration.database, tenant, async (queries) => {
    await stay(queries);
    if ((await findTenantById(queries, tenant))?.moving !== movingFrom(head.id))
      throw new BundleFault(`expected tenant ${head.slug} as it was sent, found it removed by another import. Send it again`);
    if (!(await rememberImport(queries, head.id))) throw importedBefore(head);
    await recordAct(queries, administration, tenant, by, {
      type: 'tenant.imported',
      target: `tenant:${tenant}`,
      data: { bundle: head.id },
    });
  });
  administration.cache.forget(tenant);
}

/** What imports left of all tenants, or of one, that did not get to their end. Whoever takes the turn meanwhile builds anew: it ends then. */
export async function removeUnfinished({ database, cache }: Administration, stay: Turn['stay'], only?: TenantId): Promise<void> {
  const unfinished = await database.systemRead(listUnfinished);
  for (const tenant of unfinished.filter((id) => only === undefined || id === only)) {
    await deleteTenantRows(database, tenant, stay);
    await database.writeClosed(tenant, async (queries) => {
      await stay(queries);
      await deleteTenant(queries, tenant);
      await bumpConfigEpoch(queries, tenant);
    });
    cache.forget(tenant);
  }
}

async function writeRows(administration: Administration, head: BundleHead, part: Rows, stay: Turn['stay']): Promise<void> {
  await administration.database.writeClosed(head.tenant_id as TenantId, async (queries) => {
    await stay(queries);
    await insertSealed(queries, administration, head, part);
  });
}

/** Writes rows of one table as they are stored here. Call in a transaction of the closed tenant. */
export async function insertSealed(
  queries: Queries,
  { encryption }: Pick<Administration, 'encryption'>,
  head: BundleHead,
  { table, rows }: Rows,
): Promise<void> {
  await insertRows(
    queries,
    table,
    rows.map((row) => sealRow(encryption, head, table, row)),
  );
  await claimIdentifiers(queries, table, rows);
}

/** Identifiers of devices and their slots are claimed in the whole deployment; a tenant that comes back has claimed them before. */
async function claimIdentifiers(queries: Queries, table: string, rows: readonly Cells[]): Promise<void> {
  const column = table === 'devices' ? 'id' : table === 'device_keys' ? 'key_id' : undefined;
  if (column !== undefined)
    await claimDeviceIdentifiers(
      queries,
      rows.map((row) => String(row[column])),
    );
}

/** The row as it is stored here: of this tenant whatever it says, and closed. */
function sealRow(encryption: KeyEncryption, head: BundleHead, table: string, row: Cells): Cells {
  const tenant = head.tenant_id as TenantId;
  const sealed = { ...sealCells(encryption, tenant, table, row), tenant_id: tenant };
  if (table === 'held_deliveries') return { ...sealed, delivery: sealDelivery(encryption, tenant, row) };
  if (table !== 'tenants') return sealed;
  const settings = JSON.stringify(sealSettings(encryption, tenant, JSON.parse(String(row['settings']))));
  return { ...sealed, settings, slug: head.slug, domain: head.domain, moving: movingFrom(head.id) };
}

function sealCells(encryption: KeyEncryption, tenant: TenantId, table: string, row: Cells): Cells {
  const sealed: Record<string, string | number | null> = { ...row };
  for (const { column, of, purpose } of sealedColumns.filter((known) => known.table === table)) {
    const cell = row[column];
    if (typeof cell !== 'string') continue;
    sealed[column] = encryption.encrypt(Buffer.from(cell, 'base64'), purpose(tenant, of === undefined ? '' : String(row[of])));
  }
  return sealed;
}

/** A delivery that is held has its row of a queue within it. */
const sealDelivery = (encryption: KeyEncryption, tenant: TenantId, { queue, delivery }: Cells): string =>
  JSON.stringify(sealCells(encryption, tenant, String(queue), JSON.parse(String(delivery)) as Cells)); // export-tenant.ts wrote it

/** @throws BundleFault when the bundle cannot become a tenant here */
export async function requireWelcome({ database, publicUrl }: Administration, head: BundleHead): Promise<void> {
  const [ledger, known, bySlug, byDomain, isReplay] = await database.systemRead(async (queries) => [
    await readLedger(queries, database.dialect),
    await findTenantById(queries, head.tenant_id as TenantId),
    await findTenantBySlug(queries, head.slug),
    head.domain === null ? undefined : await findTenantByDomain(queries, head.domain),
    await wasImported(queries, head.id),
  ]);
  if (isReplay) throw importedBefore(head);
  const isOther = (found: { readonly tenant_id: string } | undefined): boolean => found !== undefined && found.tenant_id !== head.tenant_id;
  if (known !== undefined && known.moving?.startsWith(movingFrom('')) !== true)
    throw new BundleFault(
      `expected no tenant ${head.slug} (${head.tenant_id}) here yet, found it. It is imported once; delete it first if it is to come again`,
    );
  if (isOther(bySlug))
    throw new BundleFault(
      `expected the slug ${head.slug} to be free, found another tenant with it. Delete that one, or name this one otherwise at its source`,
    );
  if (isOther(byDomain))
    throw new BundleFault(
      `expected the domain ${head.domain} to be free, found it at tenant ${byDomain?.slug}. Take it off: it can belong to one tenant`,
    );
  const here = [...ledger.applied].sort((left, right) => left - right);
  const [missing, unknown] = [
    head.migrations.filter((number) => !ledger.applied.has(number)),
    here.filter((number) => !head.migrations.includes(number)),
  ];
  if (missing.length > 0 || unknown.length > 0)
    throw new BundleFault(
      `expected a bundle of this schema, found release ${head.release}${describe(' with migrations', missing)}${describe(' without migrations', unknown)}. Bring both deployments to one release, and export it again`,
    );
  const baseUrl = baseUrlOf(publicUrl, head.slug, head.domain);
  if (baseUrl !== head.base_url)
    throw new BundleFault(
      `expected a tenant that keeps its address ${baseUrl} here, found ${head.base_url}: tokens, passkeys and phones are bound to it. Set GATEHOUSE_PUBLIC_URL to that of its source, or give it a custom domain there`,
    );
}

const describe = (words: string, numbers: readonly number[]): string => (numbers.length === 0 ? '' : `${words} ${numbers.join(', ')}`);
const importedBefore = (head: BundleHead): BundleFault =>
  new BundleFault(
    `expected a bundle that was not imported here before, found the one of ${head.created}. What was issued since would be lost: export the tenant again`,
  );

export interface Rows {
  readonly table: string;
  readonly rows: readonly Cells[];
}

/** What one INSERT may bind, on either database. */
const valuesPerInsertMax = 10_000;

/** The first line, then the rows in parts of one table; ends only when all that were counted have come. */
export async function* partsOf<First = BundleHead>(lines: Lines): AsyncGenerator<{ readonly head: First } | Rows> {
  let table: { readonly table: string; readonly columns: readonly string[] } | undefined;
  let rows: Cells[] = [];
  let [count, counted, line] = [0, -1, 0];
  const takeRows = (): readonly Rows[] => {
    if (table === undefined || rows.length === 0) return [];
    const taken = [{ table: table.table, rows }];
    rows = [];
    return taken;
  };
  for await (const text of lines) {
    const value: unknown = JSON.parse(text);
    line += 1;
    if (line === 1)
      yield { head: value as First }; // sealed by who exports
    else if (Array.isArray(value)) {
      const { columns } = table!; // stands before its rows
      rows.push(Object.fromEntries(columns.map((column, index) => [column, value[index]])));
      count += 1;
      if ((rows.length + 1) * columns.length > valuesPerInsertMax) yield* takeRows();
    } else {
      yield* takeRows();
      const next = value as { readonly table: string; readonly columns: readonly string[] } | { readonly rows: number };
      if ('rows' in next) counted = next.rows;
      else if (movedTables.some((known) => known.table === next.table)) table = next;
      else throw new BundleFault(`expected tables of this release, found ${next.table}. Bring both deployments to one release`);
    }
  }
  if (counted !== count) throw new BundleFault(`expected ${counted} rows, found ${count}. Export the tenant again`);
}

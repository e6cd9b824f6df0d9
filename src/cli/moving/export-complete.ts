// `gatehouse export --complete`: a whole tenant, sealed to the deployment it moves to. It is closed first and stays closed, so that what
// is acknowledged is in the bundle or was refused; `gatehouse tenant reopen` is the way back.
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { recordAct } from '../../administration/administration.ts';
import { type BundleHead, sealBundle } from '../../administration/moving/bundle.ts';
import { writeTenant } from '../../administration/moving/export-tenant.ts';
import { parseImportKey } from '../../crypto/bundle-seal.ts';
import { rootTenantSlug, type Tenant } from '../../domain/tenant/tenant.ts';
import { randomId } from '../../platform/random.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { readLedger } from '../../storage/engine/migrations/ledger.ts';
import { findTenantById } from '../../storage/registry/tenants.ts';
import { closeTenant, isMovedBy, moveOf, openTenant } from '../../storage/tenant-moves.ts';
import { CommandFailure, usage } from '../failure.ts';
import { createProgress } from '../progress.ts';
import { type Administrator, administer, by, loadTenant, type Options } from '../registry/administrator.ts';

interface Recipient {
  readonly key: NonNullable<ReturnType<typeof parseImportKey>>;
  readonly text: string;
}

export async function exportComplete(options: Options, newFile: (file: string) => number): Promise<void> {
  if (options['out'] === undefined) throw usage('--complete: expected --out <file>, found none');
  const recipient = recipientOf(options['for']);
  const file = String(options['out']);
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const wasClosed = await requireMovable(administrator, tenant);
    const descriptor = newFile(file);
    const progress = createProgress(options);
    const id = randomId();
    try {
      await closeFor(administrator, tenant, id, (queries) => requireNotAskedToOpen(queries, tenant));
      const written = await writeBundle(administrator, await headOf(administrator, tenant, id), recipient, descriptor, progress.step);
      progress.end();
      await requireClosedBy(administrator, tenant, id);
      tell(administrator, tenant, file, written);
    } catch (error) {
      rmSync(file, { force: true });
      if (!wasClosed) await reopenAfter(administrator, tenant, id);
      throw error;
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Opens a tenant again whose move was given up. `check` may refuse within the transaction, by throwing. */
export async function reopen(administrator: Administrator, tenant: Tenant, check?: (queries: Queries) => Promise<void>): Promise<void> {
  await openTenant(administrator.database, tenant.id, async (queries) => {
    await check?.(queries);
    await recordAct(queries, administrator, tenant.id, by, { type: 'tenant.reopened', target: `tenant:${tenant.id}` });
  });
}

/** Opens a tenant again that is closed by this move; gives whether it was, and not opened, moved anew or deleted meanwhile. */
export async function reopenAfter(administrator: Administrator, tenant: Tenant, id: string): Promise<boolean> {
  if (!(await administrator.database.systemRead((queries) => isMovedBy(queries, tenant.id, id)))) return false;
  await reopen(administrator, tenant, async (queries) => {
    if (!(await isMovedBy(queries, tenant.id, id))) throw new CommandFailure('expected it closed by this move, found otherwise');
  });
  return true;
}

/** What was read of a tenant is one state where nobody opened it, moved it anew or deleted it meanwhile. */
async function requireClosedBy({ database }: Administrator, { id: tenant, slug }: Tenant, id: string): Promise<void> {
  if (!(await database.systemRead((queries) => isMovedBy(queries, tenant, id))))
    throw new CommandFailure(
      `expected ${slug} to stay closed by this export, found it opened, moved or deleted meanwhile. There is no bundle`,
    );
}

/** @throws CommandFailure for a tenant that another group may have open: a move asked it to, and ended before it could say what came of it */
export async function requireNotAskedToOpen(queries: Queries, { id, slug }: Tenant): Promise<void> {
  const row = await findTenantById(queries, id);
  const opener = typeof row?.moving === 'string' ? moveOf(row.moving).opener : undefined;
  if (opener !== undefined)
    throw new CommandFailure(
      `expected a tenant that is open nowhere else, found ${slug}, which a move asked ${opener} to open. Run it again, it finds out: gatehouse tenant move ${slug} --to ${opener}`,
    );
}

function recipientOf(given: unknown): Recipient {
  const text = given === undefined ? '' : String(given);
  const key = parseImportKey(text);
  if (key === undefined)
    throw usage(
      `--for: expected the import key of the deployment the tenant moves to, found ${text === '' ? 'none' : text}. Print it there with: gatehouse tenant import-key`,
    );
  return { key, text };
}

/** Gives whether it is closed already. @throws CommandFailure for one that cannot move */
export async function requireMovable({ database }: Administrator, tenant: Tenant): Promise<boolean> {
  if (tenant.slug === rootTenantSlug)
    throw new CommandFailure(
      `--tenant: expected a tenant that can move, found ${rootTenantSlug}: every deployment has its own. Name another; see: gatehouse tenant list`,
    );
  const row = await database.systemRead((queries) => findTenantById(queries, tenant.id));
  if (typeof row?.moving !== 'string') return false;
  if (moveOf(row.moving).way === 'from')
    throw new CommandFailure(
      `--tenant: expected a whole tenant, found ${tenant.slug}, whose import did not get to its end. Repeat the import first`,
    );
  return true;
}

/** Closes a tenant for a bundle. `check` may refuse within the transaction, by throwing. */
export async function closeFor(
  administrator: Administrator,
  tenant: Tenant,
  id: string,
  check?: (queries: Queries) => Promise<void>,
): Promise<void> {
  await closeTenant(administrator.database, tenant.id, id, async (queries) => {
    await check?.(queries);
    await recordAct(queries, administrator, tenant.id, by, { type: 'tenant.closed', target: `tenant:${tenant.id}`, data: { bundle: id } });
  });
}

export async function headOf(
  { database, clock }: Pick<Administrator, 'database' | 'clock'>,
  tenant: Tenant,
  id: string,
): Promise<BundleHead> {
  const ledger = await database.systemRead((queries) => readLedger(queries, database.dialect));
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8')) as { version: string };
  return {
    id,
    created: new Date(clock.nowMs()).toISOString(),
    release: version,
    migrations: [...ledger.applied].sort((left, right) => left - right),
    tenant_id: tenant.id,
    slug: tenant.slug,
    domain: tenant.domain ?? null,
    base_url: tenant.baseUrl,
  };
}

interface Written {
  readonly bytes: number;
  readonly sha256: string;
  readonly counts: ReadonlyMap<string, number>;
}

async function writeBundle(
  administrator: Administrator,
  head: BundleHead,
  recipient: Recipient,
  descriptor: number,
  step: (table: string) => void,
): Promise<Written> {
  const counts = new Map<string, number>();
  const lines = writeTenant(administrator, head, (table) => {
    counts.set(table, (counts.get(table) ?? 0) + 1);
    step(table);
  });
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const piece of sealBundle(lines, recipient)) {
    writeSync(descriptor, piece);
    digest.update(piece);
    bytes += piece.length;
  }
  fsyncSync(descriptor); // the source may be deleted for its sake
  return { bytes, sha256: digest.digest('hex'), counts };
}

function tell(administrator: Administrator, { slug, id }: Tenant, file: string, { bytes, sha256, counts }: Written): void {
  administrator.print({ file, bytes, sha256, tenant: { id, slug }, rows: Object.fromEntries(counts) }, [
    `Tenant ${slug} is in ${file}, ${bytes} bytes, SHA-256 ${sha256}.`,
    `It is closed here: it answers 503 until it is deleted, or opened again with: gatehouse tenant reopen ${slug}`,
    `Now, where it moves to: gatehouse import ${file}`,
  ]);
}

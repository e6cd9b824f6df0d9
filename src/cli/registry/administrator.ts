// What commands that administer share: the database beside a running server, the tenant they name, and how they print.

import type { Command } from 'commander';
import type { Administration, By } from '../../administration/administration.ts';
import { type Config, canMail } from '../../config.ts';
import { publicUrlKey, type Tenant } from '../../domain/tenant/tenant.ts';
import { systemClock } from '../../platform/clock.ts';
import { openStore } from '../../server/open-store.ts';
import { createConfigCache } from '../../storage/engine/config/config-cache.ts';
import { findInstanceValue } from '../../storage/engine/instance.ts';
import { LastOwner } from '../../storage/people/user-roles.ts';
import { loadTenant as loadStoredTenant } from '../../storage/registry/tenant-directory.ts';
import { findTenantBySlug, listTenants } from '../../storage/registry/tenants.ts';
import { addConfigOptions, configOf } from '../config-options.ts';
import { CommandFailure } from '../failure.ts';
import { oneLine, printable } from '../printable.ts';

export type Options = Readonly<Record<string, unknown>>;

/** Who the audit trail names for what commands do. */
export const by: By = { actor: 'operator' };

export interface Administrator extends Administration {
  readonly config: Config;
  readonly json: boolean;
  /** Prints one result: JSON, or lines for people. */
  readonly print: (json: unknown, lines: string | readonly string[]) => void;
}

/** Adds `--json` and every setting. */
export function addCommonOptions(command: Command): Command {
  return addConfigOptions(command.option('--json', 'print JSON'));
}

export function addTenantOption(command: Command): Command {
  return command.option('--tenant <slug>', 'slug of the tenant', 'main');
}

/** Runs work on the database and closes it. A running server notices changes within a second. */
export async function administer(
  options: Options,
  work: (administrator: Administrator) => Promise<void>,
  { asIs = false }: { readonly asIs?: boolean } = {},
): Promise<void> {
  const config = configOf(options);
  const store = await openStore(config, { clock: systemClock }, { serving: false, asIs });
  try {
    const { database, encryption } = store;
    const stored = await database.systemRead((queries) => findInstanceValue(queries, publicUrlKey));
    const json = options['json'] === true;
    await work({
      config,
      json,
      database,
      encryption,
      clock: systemClock,
      cache: createConfigCache(database, systemClock),
      canMail: canMail(config),
      publicUrl: config.publicUrl ?? stored ?? `http://${config.listenHost}:${config.listenPort}`,
      print: (value, lines) => write(json ? JSON.stringify(value) : typeof lines === 'string' ? lines : lines.join('\n')),
    });
  } catch (error) {
    throw error instanceof LastOwner ? new CommandFailure(error.message) : error;
  } finally {
    await store.close();
  }
}

/** The tenant a command names. @throws CommandFailure that lists those there are */
export async function loadTenant(administration: Administration, options: Options): Promise<Tenant> {
  const { database } = administration;
  const slug = String(options['tenant'] ?? 'main');
  const row = await database.systemRead((queries) => findTenantBySlug(queries, slug));
  if (row !== undefined) return loadStoredTenant(database, row, administration);
  const known = await database.systemRead((queries) => listTenants(queries, { afterSlug: '', limit: 10 }));
  const slugs = known.map((tenant) => tenant.slug).join(', ');
  throw new CommandFailure(
    slugs === ''
      ? `--tenant: expected a tenant, found none in this database. Start the server once: gatehouse serve`
      : `--tenant: expected one of ${slugs}, found ${slug}. Make it with: gatehouse tenant create ${slug}`,
  );
}

/** Rows as aligned columns. */
export function table(head: readonly string[], values: readonly (readonly string[])[]): readonly string[] {
  const rows = values.map((row) => row.map(oneLine));
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd();
  return [line(head), ...rows.map(line)];
}

export function write(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Reads all pages of a list in order. */
export async function allPages<Row>(
  pageOf: (after: string) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let page = await pageOf(''); page.length > 0; page = await pageOf(keyOf(page.at(-1)!))) rows.push(...page);
  return rows;
}

export const pageRows = 500;

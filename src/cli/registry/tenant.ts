// `gatehouse tenant create|list|disable|enable|delete|import-key|reopen|move`.
import type { Command } from 'commander';
import { changeTenant, removeTenant } from '../../administration/tenants.ts';
import { type Json, valueFault } from '../../domain/field.ts';
import { type TenantChange, tenantFields } from '../../domain/tenant/tenant.ts';
import { tenantFromRow } from '../../storage/registry/tenant-directory.ts';
import { findTenantById, listTenants } from '../../storage/registry/tenants.ts';
import { createTenant } from '../../tokens/tenant-creation.ts';
import { CommandFailure, usage } from '../failure.ts';
import { formatOption } from '../groups/group.ts';
import { addGroupOption } from '../groups/group-calls.ts';
import { addProgressOption } from '../progress.ts';
import { requireNewFile, writeSecretFile } from '../secret-file.ts';
import { addCommonOptions, administer, allPages, by, loadTenant, type Options, pageRows, table } from './administrator.ts';
import { addFieldFlags, flagOf, givenFlags } from './field-flags.ts';
import { requireShape } from './kind.ts';

export function tenantCommand(program: Command): void {
  const tenant = program.command('tenant').description('Make, list and disable tenants');
  const add = tenant.command('create <slug>').description('Make a tenant; its admin client’s secret is shown once');
  addCommonOptions(addFieldFlags(add, tenantFields))
    .option('--env <file>', 'write BASE_URL and ADMIN, the admin client as id:secret, to a new file instead of showing the secret')
    .action(create);
  addCommonOptions(tenant.command('list').description('List tenants')).action(list);
  addCommonOptions(tenant.command('disable <slug>').description('Stop serving a tenant; nothing is lost')).action((slug, options) =>
    enable(slug, options, false),
  );
  addCommonOptions(tenant.command('enable <slug>').description('Serve a disabled tenant again')).action((slug, options) =>
    enable(slug, options, true),
  );
  addCommonOptions(
    tenant
      .command('delete <slug>')
      .description('Delete a tenant with its people, clients, keys and history; only a backup brings it back')
      .option('--confirm <slug>', 'the slug again: without it nothing is deleted'),
  ).action(remove);
  addCommonOptions(
    tenant.command('import-key').description('Print the public key that encrypts the bundles of tenants that move here; you can share it'),
  ).action(printImportKey);
  addCommonOptions(
    tenant
      .command('reopen <slug>')
      .description('Serve a tenant again that export --complete closed; delete it first where it was imported')
      .option('--confirm <slug>', 'the slug again: also where a move asked another group to open it, and that group is gone for good'),
  ).action(reopenClosed);
  const move = tenant
    .command('move <slug>')
    .description('Move a tenant to another group of the same public URL and operator token; whatever fails, it is served here again')
    .requiredOption('--to <url>', 'address of the other group')
    .option('--map <file>', 'map of the router to replace, as gatehouse group map writes it; needs --format and each --group')
    .addOption(formatOption());
  addProgressOption(
    addCommonOptions(addGroupOption(move, 'with --map: a group and its address; repeated, the group for everything else first')),
  ).action(async (slug: string, options: Options) => (await import('../moving/move-tenant.ts')).moveTenant(slug, options));
}

async function printImportKey(options: Options): Promise<void> {
  const { ownImportKey } = await import('../moving/import-complete.ts');
  await administer(options, async (administrator) => {
    const { text } = ownImportKey(administrator);
    administrator.print({ import_key: text }, text);
  });
}

async function reopenClosed(slug: string, options: Options): Promise<void> {
  const { reopen, requireNotAskedToOpen } = await import('../moving/export-complete.ts');
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, { tenant: slug });
    const row = await administrator.database.systemRead((queries) => findTenantById(queries, tenant.id));
    if (row?.moving?.startsWith('to:') !== true)
      throw new CommandFailure(
        `expected a tenant that export --complete closed, found ${slug} ${row?.moving === null ? 'open' : 'whose import did not get to its end'}. See: gatehouse tenant list`,
      );
    const isConfirmed = options['confirm'] === slug;
    await reopen(administrator, tenant, async (queries) => (isConfirmed ? undefined : requireNotAskedToOpen(queries, tenant)));
    administrator.print({ id: tenant.id, slug, open: true }, `Tenant ${slug} is served again.`);
  });
}

async function create(slug: string, options: Options): Promise<void> {
  const given: TenantChange & { readonly name: string } = { name: slug, ...givenFlags(tenantFields, options), slug };
  const fault = valueFault(tenantFields, given);
  if (fault !== undefined)
    throw usage(
      `${flagOf(tenantFields, fault.field)}: expected ${fault.text.replace(/^must be /, '')}, found ${given[fault.field as keyof TenantChange]}. Try: gatehouse tenant create acme`,
    );
  await requireShape({ noun: 'tenant', fields: tenantFields }, 'create', given as Json);
  const { name, domain } = given;
  const env = options['env'] === undefined ? undefined : String(options['env']);
  if (env !== undefined) requireNewFile(env);
  await administer(options, async (administrator) => {
    const { print } = administrator;
    const created = await createTenant(administrator, { slug, name, domain, actor: by.actor });
    if (!created.ok && created.reason === 'own')
      throw new CommandFailure(`expected a domain that is not the public URL of the server, found ${domain}`);
    if (!created.ok) throw new CommandFailure(`expected a free slug and domain, found one in use: ${slug}. See: gatehouse tenant list`);
    const { tenant, adminClient } = created;
    const admin = { client_id: adminClient.clientId, client_secret: adminClient.clientSecret };
    if (env !== undefined) {
      writeSecretFile(env, { BASE_URL: tenant.baseUrl, ADMIN: `${admin.client_id}:${admin.client_secret}` });
      print({ id: tenant.id, slug, name, base_url: tenant.baseUrl, env }, [
        `Tenant ${slug} at ${tenant.baseUrl}`,
        `BASE_URL and ADMIN are in ${env}`,
      ]);
      return;
    }
    print({ id: tenant.id, slug, name, base_url: tenant.baseUrl, management_api: tenant.managementApi, admin_client: admin }, [
      `Tenant ${slug} at ${tenant.baseUrl}`,
      `Management API ${tenant.managementApi}`,
      `Admin client ${admin.client_id}, secret shown once: ${admin.client_secret}`,
    ]);
  });
}

/** Set by the completion of the shell, which must leave everything as it is: whoever presses Tab has asked for nothing yet. */
const completing = 'COMP_LINE';

async function list(options: Options): Promise<void> {
  await administer(
    options,
    async (administrator) => {
      const { database, print } = administrator;
      const rows = await allPages(
        (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
        (row) => row.slug,
      );
      const tenants = rows.map((row) => tenantFromRow(row, administrator));
      print(
        tenants.map(({ id, slug, name, enabled, isMoving, baseUrl }) => ({ id, slug, name, enabled, moving: isMoving, base_url: baseUrl })),
        table(
          ['SLUG', 'STATE', 'BASE URL', 'NAME'],
          tenants.map((tenant) => [
            tenant.slug,
            tenant.isMoving ? 'moving' : tenant.enabled ? 'enabled' : 'disabled',
            tenant.baseUrl,
            tenant.name,
          ]),
        ),
      );
    },
    { asIs: process.env[completing] !== undefined },
  );
}

async function remove(slug: string, options: Options): Promise<void> {
  const { confirm } = options;
  if (confirm !== slug)
    throw usage(
      `--confirm: expected ${slug}, found ${confirm ?? 'nothing'}. You can’t undo this. Try: gatehouse tenant delete ${slug} --confirm ${slug}`,
    );
  await administer(options, async (administrator) => {
    const { id } = await loadTenant(administrator, { tenant: slug });
    const removed = await removeTenant(administrator, id, by);
    if (!removed.ok)
      throw new CommandFailure(
        removed.reason === 'root'
          ? `expected a tenant other than ${slug}: the root tenant cannot be deleted`
          : `expected the tenant ${slug}, found it deleted meanwhile`,
      );
    administrator.print({ id, slug, deleted: true }, `Tenant ${slug} is deleted.`);
  });
}

async function enable(slug: string, options: Options, enabled: boolean): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, { tenant: slug });
    const changed = await changeTenant(administrator, tenant.id, { enabled }, by);
    if (!changed.ok && changed.reason === 'root_disabled')
      throw new CommandFailure(`expected a tenant other than ${slug}: the root tenant cannot be disabled`);
    administrator.print({ id: tenant.id, slug, enabled }, `Tenant ${slug} is ${enabled ? 'enabled' : 'disabled'}.`);
  });
}

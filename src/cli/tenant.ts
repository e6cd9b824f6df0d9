// `gatehouse tenant create|list|disable|enable`.
import type { Command } from 'commander';
import { changeTenant, parseDomain, slugPattern } from '../administration/tenants.ts';
import { tenantFromRow } from '../storage/tenant-directory.ts';
import { listTenants } from '../storage/tenants.ts';
import { createTenant } from '../tokens/tenant-creation.ts';
import { addCommonOptions, administer, allPages, by, loadTenant, type Options, pageRows, table } from './administrator.ts';
import { CommandFailure, usage } from './failure.ts';

export function tenantCommand(program: Command): void {
  const tenant = program.command('tenant').description('Make, list and disable tenants');
  addCommonOptions(
    tenant
      .command('create <slug>')
      .description('Make a tenant; its admin client’s secret is shown once')
      .option('--name <name>', 'name shown to people (the slug when absent)')
      .option('--domain <url>', 'custom domain, e.g. https://login.acme.example'),
  ).action(create);
  addCommonOptions(tenant.command('list').description('List tenants')).action(list);
  addCommonOptions(tenant.command('disable <slug>').description('Stop serving a tenant; nothing is lost')).action((slug, options) =>
    enable(slug, options, false),
  );
  addCommonOptions(tenant.command('enable <slug>').description('Serve a disabled tenant again')).action((slug, options) =>
    enable(slug, options, true),
  );
}

async function create(slug: string, options: Options): Promise<void> {
  if (!new RegExp(slugPattern).test(slug))
    throw usage(`slug: expected 1 to 63 of a-z, 0-9 and inner hyphens, found ${slug}. Try: gatehouse tenant create acme`);
  const domain = options['domain'] === undefined ? undefined : parseDomain(String(options['domain']));
  if (options['domain'] !== undefined && domain === undefined)
    throw usage(`--domain: expected an https origin such as https://login.acme.example, found ${options['domain']}`);
  await administer(options, async ({ database, encryption, clock, publicUrl, print }) => {
    const name = String(options['name'] ?? slug);
    const created = await createTenant(database, encryption, clock, publicUrl, { slug, name, domain, actor: by.actor });
    if (!created.ok) throw new CommandFailure(`expected a free slug and domain, found one in use: ${slug}. See: gatehouse tenant list`);
    const { tenant, adminClient } = created;
    const admin = { client_id: adminClient.clientId, client_secret: adminClient.clientSecret };
    print({ id: tenant.id, slug, name, base_url: tenant.baseUrl, management_api: tenant.managementApi, admin_client: admin }, [
      `Tenant ${slug} at ${tenant.baseUrl}`,
      `Management API ${tenant.managementApi}`,
      `Admin client ${admin.client_id}, secret shown once: ${admin.client_secret}`,
    ]);
  });
}

async function list(options: Options): Promise<void> {
  await administer(options, async ({ database, publicUrl, print }) => {
    const rows = await allPages(
      (afterSlug) => database.systemRead((queries) => listTenants(queries, { afterSlug, limit: pageRows })),
      (row) => row.slug,
    );
    const tenants = rows.map((row) => tenantFromRow(row, publicUrl));
    print(
      tenants.map(({ id, slug, name, enabled, baseUrl }) => ({ id, slug, name, enabled, base_url: baseUrl })),
      table(
        ['SLUG', 'STATE', 'BASE URL', 'NAME'],
        tenants.map((tenant) => [tenant.slug, tenant.enabled ? 'enabled' : 'disabled', tenant.baseUrl, tenant.name]),
      ),
    );
  });
}

async function enable(slug: string, options: Options, enabled: boolean): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, { tenant: slug });
    await changeTenant(administrator, tenant.id, { enabled }, by);
    administrator.print({ id: tenant.id, slug, enabled }, `Tenant ${slug} is ${enabled ? 'enabled' : 'disabled'}.`);
  });
}

// `gatehouse admin invite|recover`: single-use links for administrators.
import type { Command } from 'commander';
import { createSetupToken, setupLink } from '../administration/admin-setup.ts';
import { addCommonOptions, addTenantOption, administer, by, loadTenant, type Options } from './administrator.ts';
import { CommandFailure } from './failure.ts';
import { loadUser } from './user.ts';

export function adminCommand(program: Command): void {
  const admin = program.command('admin').description('Administrators');
  const add = (name: string, description: string): Command =>
    addCommonOptions(addTenantOption(admin.command(name).description(description)));
  add('invite', 'Make a single-use link that makes an administrator').action((options: Options) => link(options, undefined));
  add('recover <user>', 'Make a single-use link that lets an administrator in again, by id, email or user name').action(
    (who: string, options: Options) => link(options, who),
  );
}

async function link(options: Options, who: string | undefined): Promise<void> {
  await administer(options, async (administrator) => {
    const tenant = await loadTenant(administrator, options);
    const user = who === undefined ? undefined : await loadUser(administrator, tenant.id, who);
    if (user !== undefined && user.role !== 'admin')
      throw new CommandFailure(
        `expected an administrator of tenant ${tenant.slug}, found a user without that role: ${who}. See: gatehouse user list`,
      );
    const url = setupLink(tenant.baseUrl, await createSetupToken(administrator, tenant.id, user?.id ?? null, by));
    administrator.print({ setup_url: url }, [`Open once, within 7 days: ${url}`]);
  });
}

// `gatehouse sign-in`: signs a person in at an authorization URL by a simulated phone, for tests of applications in any language. Like
// every command it opens the database; the sign-in itself goes over HTTP as a browser's and a phone's.
import type { Command } from 'commander';
import type { PhoneState } from '../../sdk/device.ts';
import { fileStore } from '../../sdk/node.ts';
import { createEnrollment, recordEnrollment } from '../administration/people/enrollments.ts';
import { rootTenantSlug } from '../domain/tenant/tenant.ts';
import { openTestPhone, signInByPhone } from '../embedding/phone-sign-in.ts';
import { addCommonOptions, administer, by, loadTenant, type Options } from './registry/administrator.ts';
import { loadUser } from './registry/user.ts';

export function signInCommand(program: Command): void {
  const command = program
    .command('sign-in <url>')
    .description('Sign a person in at an authorization URL by a simulated phone; prints where the browser is sent')
    .requiredOption('--user <user>', 'the person: id, email or user name')
    .option('--state <file>', 'where the simulated phone keeps its state; its keys lie beside it', 'gatehouse-sign-in.json');
  addCommonOptions(command).action(signIn);
}

async function signIn(url: string, options: Options): Promise<void> {
  await administer(options, async (administrator) => {
    const slug = /\/t\/([^/]+)\//.exec(URL.parse(url)?.pathname ?? '')?.[1] ?? rootTenantSlug;
    const tenant = await loadTenant(administrator, { tenant: slug });
    const user = await loadUser(administrator, tenant.id, String(options['user']));
    const file = `${String(options['state'])}.${user.id}`;
    const enrollmentLink = (): Promise<string> =>
      administrator.database.write(tenant.id, async (queries) => {
        const enrollment = await createEnrollment(queries, administrator, tenant, user.id, false);
        await recordEnrollment(queries, administrator, tenant, by, { userId: user.id, requirePin: false });
        return enrollment.qrUri;
      });
    const stores = { store: fileStore<PhoneState>(file), keys: fileStore<Readonly<Record<string, string>>>(`${file}.keys`) };
    const phone = await openTestPhone(tenant.baseUrl, enrollmentLink, stores);
    const callbackUrl = await signInByPhone(phone, String(options['user']), url);
    administrator.print({ callback_url: callbackUrl }, callbackUrl);
  });
}

// Mail to the administrators of a tenant, each in their language: that something of theirs stopped, or waits for their word.
import { administratorsMailedMax } from '../../contract/limits.ts';
import type { Language } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Message } from '../../platform/mail/mail.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listAdministrators } from '../../storage/people/users.ts';
import type { MailDeps } from './mail-delivery.ts';
import { mailUser } from './user-mail.ts';

/** Queues it in the caller's transaction, for those of longest standing. */
export async function mailAdministrators(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  write: (to: string, language: Language) => Message,
): Promise<void> {
  for (const userId of await listAdministrators(queries, tenant.id, administratorsMailedMax))
    await mailUser(queries, deps, tenant, { userId, asked: undefined }, write);
}

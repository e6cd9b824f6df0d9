// Mail to a user about their own account: to the primary address, in their language. Whoever has no address gets none.
import type { UserId } from '../../domain/ids.ts';
import { type Language, languageFor } from '../../domain/language.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Letter } from '../../mails/letter.ts';
import type { Message } from '../../platform/mail/mail.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { listUserEmails } from '../../storage/people/user-lists.ts';
import { findUser } from '../../storage/people/users.ts';
import { type MailDeps, queueMail, queueMessage } from './mail-delivery.ts';

/**
 * Queues a mail in the caller's transaction. `write` makes it for the address in the user's language, else in that of the
 * request (`asked`, an Accept-Language) when the user made it.
 */
export async function mailUser(
  queries: Queries,
  deps: MailDeps,
  tenant: Tenant,
  { userId, asked }: { readonly userId: UserId; readonly asked: string | undefined },
  write: (to: string, language: Language) => Letter | Message,
): Promise<void> {
  const emails = await listUserEmails(queries, tenant.id, userId);
  const address = (emails.find((email) => email.is_primary === 1) ?? emails[0])?.value;
  if (address === undefined) return;
  const user = await findUser(queries, tenant.id, userId);
  const made = write(address, languageFor(user, asked));
  await ('kind' in made ? queueMail(queries, deps, tenant, made) : queueMessage(queries, deps, tenant, made));
}

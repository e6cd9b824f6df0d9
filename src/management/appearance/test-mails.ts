// Mails that somebody sends to see them. They carry a wording of one's own under the tenant's name, so whoever may not mail anybody
// otherwise sends them to people who hold a role there, and everybody only so many an hour (design 17).
import { takeTestMail } from '../../approvals/mailed/test-mails.ts';
import { reject } from '../../contract/contract-error.ts';
import type { EventData } from '../../contract/events.ts';
import { testMailsPerHourMax } from '../../contract/limits.ts';
import type { UserId } from '../../domain/ids.ts';
import type { Capability } from '../../domain/people/capabilities.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { findUserByIdentifier } from '../../storage/people/users.ts';
import { audit, type Call, invalidField } from '../endpoint.ts';

/** Whoever has one of these mails whom they like: the address of a person is theirs to write, and so is the invitation to it. */
const mailsAnybody: readonly Capability[] = ['users:write', 'invitations:write'];

/** Gives whose address it is, where it is a person's. @throws management.invalid_request (`to`), management.rate_limited */
export async function admitTestMail({ services, tenant, scopes }: Call<unknown, unknown>, to: string): Promise<UserId | undefined> {
  if (!/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(to)) throw invalidField('to', 'This field must be an email address.');
  const { taken, person } = await services.database.write(tenant.id, async (queries) => {
    const found = await findUserByIdentifier(queries, tenant.id, to);
    if (found?.role !== 'admin' && !mailsAnybody.every((capability) => scopes.includes(capability))) return { taken: undefined };
    return { taken: await takeTestMail(queries, tenant), person: found?.id };
  });
  if (taken === undefined) throw invalidField('to', 'This field must be the address of somebody who holds a role here.');
  if (taken !== 'taken')
    throw reject(
      'management.rate_limited',
      { reason: 'rate_limited', expected: `${testMailsPerHourMax} tests of mails an hour` },
      { retryAfterSeconds: taken, fields: { retry_after_seconds: taken } },
    );
  return person;
}

/** Writes that one was sent, and what became of it as far as is known. An address that is no person's is in no record. */
export const auditTestMail = (
  call: Call<unknown, unknown>,
  queries: Queries,
  person: UserId | undefined,
  data: NonNullable<EventData<'mail.tested'>>,
): Promise<void> => audit(call, queries, { type: 'mail.tested', data, ...(person !== undefined && { target: `user:${person}` }) });

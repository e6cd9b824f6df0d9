// Mails that administrators send to see them: a tenant sends only so many an hour, whatever they are of.
import { testMailsPerHourMax } from '../../contract/limits.ts';
import type { Tenant } from '../../domain/tenant/tenant.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { takeSend } from '../../storage/sign-in/pins.ts';

/** Counted beside mailboxes, none of which has such a name. */
const counter = 'tests of mails';

/** Takes one of the hour's, or gives the seconds until there is one. */
export const takeTestMail = (
  queries: Queries,
  { id, areLimitsLifted }: Pick<Tenant, 'id' | 'areLimitsLifted'>,
): Promise<'taken' | number> =>
  takeSend(queries, id, counter, {
    cooldownSeconds: 0,
    sendsPerHourMax: areLimitsLifted ? Number.MAX_SAFE_INTEGER : testMailsPerHourMax,
  });

// Ending where somebody is signed in by browser (design 14, 1), by an administrator or by the person themselves.
import type { SsoSessionId, TenantId, UserId } from '../../domain/ids.ts';
import { endSsoSessions } from '../../storage/oidc/grants.ts';
import { type Administration, type By, recordAct } from '../administration.ts';

/**
 * Ends one browser's session of a user, or all, with the codes and online grants made from it; their clients are told.
 * Gives how many ended: 0 for one that is not theirs or has ended.
 */
export async function endBrowserSessions(
  administration: Pick<Administration, 'database' | 'clock'>,
  tenant: TenantId,
  { userId, session }: { readonly userId: UserId; readonly session: string | undefined },
  by: By,
  reason: 'logout' | 'administrator',
): Promise<number> {
  return administration.database.write(tenant, async (queries) => {
    const meant = session === undefined ? { userId } : { userId, id: session as SsoSessionId }; // a look-up key
    const ended = await endSsoSessions(queries, tenant, meant, reason);
    for (const id of ended)
      await recordAct(queries, administration, tenant, by, {
        type: 'sso_session.ended',
        target: `sso_session:${id}`,
        data: { user: userId, reason },
      });
    return ended.length;
  });
}

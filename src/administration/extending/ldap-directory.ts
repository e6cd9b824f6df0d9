// What follows when a directory of LDAP is registered or changed: certificates that are new are read, and what was under way begins again.
import { X509Certificate } from 'node:crypto';
import { type LdapDirectory, readsOtherwise } from '../../domain/extending/ldap-directory.ts';
import type { KindFault } from '../../domain/kind.ts';
import type { Queries } from '../../storage/engine/database.ts';
import { keepEverybody } from '../../storage/records/directory-links.ts';
import { restartDirectory } from '../../storage/registry/extending/ldap-directories.ts';
import type { Writing } from '../kind-effects.ts';

/** What is wrong with certificates that are new. */
export function certificatesFault({ ca }: Pick<LdapDirectory, 'ca'>, before: Pick<LdapDirectory, 'ca'> | undefined): KindFault | undefined {
  if (ca === undefined || ca === before?.ca) return undefined;
  const unread = ca.split(/(?<=-----END CERTIFICATE-----)/).filter((part) => part.trim() !== '' && !isCertificate(part));
  return unread.length === 0 ? undefined : { field: 'ca', text: 'holds a certificate that cannot be read' };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false; // whatever is wrong with it
  }
}

/** The run under way ends; where something else is read, the next one begins with everything, and nobody ends by what was read before. */
export async function restartAfterChange(
  queries: Queries,
  { acting }: Writing,
  before: LdapDirectory,
  after: LdapDirectory,
): Promise<void> {
  const readsEverything = readsOtherwise(before, after);
  if (readsEverything) await keepEverybody(queries, { tenant: acting.tenant.id, directory: after.id });
  await restartDirectory(queries, acting.tenant.id, after, { readsEverything });
}

// What a newcomer meets (design 13, section 1): the tenant `sample` with a person in it, and the lines a start writes to standard
// error. Called by bootstrap.ts.
import { setupLink } from '../administration/admin-setup.ts';
import type { Administration } from '../administration/administration.ts';
import type { UserId } from '../domain/ids.ts';
import { uuidV7 } from '../platform/random.ts';
import { insertUser } from '../storage/people/user-writer.ts';
import { createTenant } from '../tokens/tenant-creation.ts';

export const sampleSlug = 'sample';
const sampleEmail = 'ada@example.com';

/** Makes the tenant `sample` and ada, who signs in by a mailed code. Does nothing when the slug is taken. */
export async function createSampleTenant(administration: Administration): Promise<void> {
  const { database, clock } = administration;
  const made = await createTenant(administration, { slug: sampleSlug, name: 'Sample', actor: 'system' });
  if (!made.ok) return;
  const { id: tenant } = made.tenant;
  await database.write(tenant, (queries) =>
    insertUser(queries, tenant, {
      id: uuidV7(clock.nowMs()) as UserId, // made here
      state: 'active',
      origin: 'console',
      profile: {
        user_name: sampleEmail,
        name_formatted: 'Ada Lovelace',
        given_name: 'Ada',
        family_name: 'Lovelace',
        display_name: 'Ada Lovelace',
      },
      lists: { emails: [{ value: sampleEmail, type: null, display: null, is_primary: 1 }] },
    }),
  );
}

/** What a start tells: secrets once, at the first; addresses to try at every start while developing. */
export function firstLines(
  url: string,
  found: {
    readonly operatorToken: string | undefined;
    readonly setupToken: string | undefined;
    readonly isTrying: boolean;
    readonly hasSample: boolean;
  },
): readonly string[] {
  const { operatorToken, setupToken, isTrying, hasSample } = found;
  const lines: readonly (readonly [label: string, value: string | undefined])[] = [
    ['Administrator (once, 7 days)', setupToken === undefined ? undefined : setupLink(url, setupToken)],
    [`Sign in as ${sampleEmail}`, hasSample ? `${url}/t/${sampleSlug}/try` : undefined],
    ['Read the mailed code', isTrying ? `${url}/dev/mail` : undefined],
    ['Console, documents', isTrying || setupToken !== undefined ? `${url}/console, /docs` : undefined],
    ['Operator token (once)', operatorToken],
  ];
  return lines.flatMap(([label, value]) => (value === undefined ? [] : [`${label.padEnd(labelWidth)}${value}`]));
}

const labelWidth = 30;

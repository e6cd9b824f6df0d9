// Maps a user's fields to the attributes one provider asked for (design 06, "Response"). Called by postback.ts. Registration lets no other
// path in than those read here.
import { compareCodePoints } from '../crypto/xml/characters.ts';
import type { AttributeField, ServiceProvider } from '../domain/service-provider.ts';
import type { UserEmailTable, UserTable } from '../storage/users.ts';

export interface SamlAttribute {
  readonly name: string;
  /** Never empty. */
  readonly values: readonly string[];
}

export interface AttributeSubject {
  readonly user: UserTable;
  readonly emails: readonly UserEmailTable[];
  /** Display names. */
  readonly groups: readonly string[];
}

type Reader = (subject: AttributeSubject) => readonly (string | null)[];
const column =
  (name: keyof UserTable & string): Reader =>
  ({ user }) => {
    const value = user[name];
    return [value === null ? null : String(value)];
  };

const readers: Readonly<Record<AttributeField, Reader>> = {
  id: column('id'),
  user_name: column('user_name'),
  external_id: column('external_id'),
  display_name: column('display_name'),
  nick_name: column('nick_name'),
  profile_url: column('profile_url'),
  title: column('title'),
  user_type: column('user_type'),
  preferred_language: column('preferred_language'),
  locale: column('locale'),
  timezone: column('timezone'),
  'name.formatted': column('name_formatted'),
  'name.given_name': column('given_name'),
  'name.family_name': column('family_name'),
  'name.middle_name': column('middle_name'),
  'name.honorific_prefix': column('honorific_prefix'),
  'name.honorific_suffix': column('honorific_suffix'),
  emails: ({ emails }) =>
    emails.toSorted((left, right) => right.is_primary - left.is_primary || left.position - right.position).map(({ value }) => value),
  groups: ({ groups }) => groups.toSorted(compareCodePoints),
};

/** The attributes of a user by a provider's map, in the map's order; a field without a value is left out. */
export function mapAttributes(map: ServiceProvider['attributeMap'], subject: AttributeSubject): readonly SamlAttribute[] {
  const attributes: SamlAttribute[] = [];
  for (const [path, name] of Object.entries(map)) {
    const values = readers[path as AttributeField](subject).filter((value) => value !== null);
    if (values.length > 0) attributes.push({ name, values });
  }
  return attributes;
}

/** The address emailAddress NameIDs use: the primary one, else none. */
export function primaryEmailOf(emails: readonly UserEmailTable[]): string | undefined {
  return emails.find((email) => email.is_primary === 1)?.value;
}

// An Auth0 bulk user export (one JSON object a line) as items of a document, a line at a time. Auth0's ids are no UUIDs: each
// becomes one that is the same at every import, and stands in external_id.
import { compact, DeclarationFault, type Json, type Section } from '../document.ts';
import { type Auth0Organizations, organizationsOfAuth0, takeMemberships } from './auth0-organizations.ts';
import { type ImportedItem, type Left, noteLeft, stableId, textOf } from './imported.ts';

/** Members that say how somebody signed in, not who it is. */
const silent: ReadonlySet<string> = new Set([
  'Id', 'user_id', 'email', 'Email', 'email_verified', 'Email Verified', 'username', 'Username', 'name', 'Name', 'given_name', 'Given Name', 'family_name', 'Family Name',
  'nickname', 'Nickname', 'picture', 'phone_number', 'phone_verified', 'blocked', 'created_at', 'updated_at', 'identities', 'last_ip', 'last_login', 'logins_count', 'locale',
]); // biome-ignore format: a list of names

/** What is read of an Auth0 tenant. */
interface Auth0 {
  readonly users: AsyncIterable<string>;
  /** Its organisations, where they were asked for. */
  readonly organizations?: AsyncIterable<string> | undefined;
  /** Those of these names that a provider of the tenant has for its alias. */
  readonly aliasesAmong: (names: readonly string[]) => Promise<ReadonlySet<string>>;
}

/** The organisations, and the users of the export with theirs. @throws DeclarationFault for a line that is no JSON object */
export async function* fromAuth0({ users, organizations, aliasesAmong }: Auth0, left: Left): AsyncGenerator<ImportedItem> {
  const known = organizations && (await organizationsOfAuth0(objectsIn('organizations', organizations), aliasesAmong, left));
  yield* known?.items ?? [];
  for await (const user of objectsIn('users', users)) yield* userOf(user, known, left);
  const others = known?.ofMember.size ?? 0;
  if (others > 0) noteLeft(left, 'members of organizations', 'not among the users', others);
}

async function* objectsIn(what: Section, lines: AsyncIterable<string>): AsyncGenerator<Json> {
  let at = 0;
  for await (const line of lines) {
    at += 1;
    if (line.trim() !== '') yield parseLine(what, line, at);
  }
}

function parseLine(what: Section, line: string, at: number): Json {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json; // just checked
  } catch {
    // told below, as a line of another kind is
  }
  throw new DeclarationFault({
    path: what,
    expected: what === 'users' ? 'one JSON object a line, as the bulk user export writes them' : 'one JSON object a line',
    found: line,
    line: at,
  });
}

function* userOf(user: Json, known: Auth0Organizations | undefined, left: Left): Generator<ImportedItem> {
  const get = (...names: readonly string[]): string | undefined =>
    names.map((name) => textOf(user[name])).find((text) => text !== undefined);
  const id = get('user_id', 'Id');
  const email = get('email', 'Email');
  const name = get('username', 'Username') ?? email;
  if (id === undefined && name === undefined) {
    noteLeft(left, 'users', 'with neither user_id, username nor email');
    return;
  }
  if (email !== undefined && (user['email_verified'] ?? user['Email Verified']) !== true)
    noteLeft(left, 'unverified emails', 'taken as they are; a first sign-in by mail proves them');
  for (const member of Object.keys(user)) if (!silent.has(member) && user[member] !== null) noteLeft(left, member, 'no field fits');
  const phone = get('phone_number');
  const picture = get('picture');
  yield {
    section: 'users',
    value: compact({
      id: id === undefined ? undefined : stableId(`auth0:${id}`),
      external_id: id,
      user_name: name,
      display_name: get('name', 'Name'),
      nick_name: get('nickname', 'Nickname'),
      locale: get('locale'),
      name: compact({ given_name: get('given_name', 'Given Name'), family_name: get('family_name', 'Family Name') }),
      emails: email === undefined ? [] : [{ value: email, primary: true }],
      phone_numbers: phone === undefined ? [] : [{ value: phone }],
      photos: picture === undefined || picture.length > 500 ? [] : [{ value: picture, type: 'photo' }],
      state: user['blocked'] === true ? 'suspended' : undefined,
      ...(known && takeMemberships(known, id)),
    }),
  };
}

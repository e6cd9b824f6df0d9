// An Auth0 bulk user export (one JSON object a line) as items of a document, a line at a time. Auth0's ids are no UUIDs: each
// becomes one that is the same at every import, and stands in external_id.
import { compact, DeclarationFault, type Json } from '../document.ts';
import { type ImportedItem, type Left, noteLeft, stableId, textOf } from './imported.ts';

/** Members that say how somebody signed in, not who it is. */
const silent: ReadonlySet<string> = new Set([
  'Id', 'user_id', 'email', 'Email', 'email_verified', 'Email Verified', 'username', 'Username', 'name', 'Name', 'given_name', 'Given Name', 'family_name', 'Family Name',
  'nickname', 'Nickname', 'picture', 'phone_number', 'phone_verified', 'blocked', 'created_at', 'updated_at', 'identities', 'last_ip', 'last_login', 'logins_count', 'locale',
]); // biome-ignore format: a list of names

/** The users of the export. @throws DeclarationFault for a line that is no JSON object */
export async function* fromAuth0(lines: AsyncIterable<string>, left: Left): AsyncGenerator<ImportedItem> {
  let at = 0;
  for await (const line of lines) {
    at += 1;
    if (line.trim() === '') continue;
    yield* userOf(parseLine(line, at), left);
  }
}

function parseLine(line: string, at: number): Json {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json; // just checked
  } catch {
    // told below, as a line of another kind is
  }
  throw new DeclarationFault({
    path: 'users',
    expected: 'one JSON object a line, as the bulk user export writes them',
    found: line,
    line: at,
  });
}

function* userOf(user: Json, left: Left): Generator<ImportedItem> {
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
    }),
  };
}

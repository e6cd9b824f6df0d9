// Somebody who signs in to an application of the tenant, or tries to: what an administrator is asked about later.
import { createHash, randomBytes } from 'node:crypto';
import type { Administrator, Json } from './administrator.ts';
import type { Walker } from './walker.ts';

/** Makes an application; gives the address by which it sends people to sign in. */
export async function makeApplication({ baseUrl, call }: Administrator, name: string, fields: Json = {}): Promise<string> {
  const redirectUri = 'https://app.example/callback';
  const { client_id: id } = await call('POST', '/clients', {
    name,
    type: 'public',
    redirect_uris: [redirectUri],
    scopes: ['openid'],
    ...fields,
  });
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: String(id),
    redirect_uri: redirectUri,
    scope: 'openid',
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
  });
  return `${baseUrl}/v1/idp/oidc/authorize?${query}`;
}

/** Makes a person of that name; gives their id and address. */
export async function makePerson({ call }: Administrator, name: string): Promise<{ readonly id: string; readonly email: string }> {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@people.example`;
  const { id } = await call('POST', '/users', { user_name: email, display_name: name, emails: [{ value: email, primary: true }] });
  return { id: String(id), email };
}

/** Says who they are and asks for a code. */
export async function askForCode({ goto, type, enter, press }: Walker, at: string, email: string): Promise<void> {
  await goto(at);
  await type(/email/i, email);
  await enter();
  await press(/^Email me a code/);
}

export async function typeCode({ type, enter }: Walker, code: string): Promise<void> {
  await type('Code', code);
  await enter();
}

// Recovery codes in the tests: a person at the account page by a passkey, and the codes they make there.
import assert from 'node:assert/strict';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { textOf } from './account.ts';
import type { TestPasskey } from './authenticator.ts';
import { type AppVisitor, openApp } from './first-party-app.ts';
import { createUser, type TestUser } from './fixtures.ts';
import type { Managed } from './management.ts';
import { givePasskey, signInByPasskey } from './passkeys.ts';
import type { TestServer } from './server.ts';

export interface Recoverable extends TestUser {
  readonly passkey: TestPasskey;
  readonly visitor: AppVisitor;
}

/** A person with a passkey, signed in with it at the account page. */
export async function byPasskey(server: TestServer, managed: Managed, tenant: Tenant): Promise<Recoverable> {
  const person = await createUser(server.gatehouse.services, tenant);
  const passkey = await givePasskey(server, tenant, person);
  const { visitor } = await openApp(server, 'account', managed, person.email, (login) => signInByPasskey(login, person.email, passkey));
  return { ...person, passkey, visitor };
}

/** The codes a page shows. */
export const codesIn = (page: string): readonly string[] =>
  [...page.matchAll(/<li>([0-9A-Z]{5}-[0-9A-Z]{5})<\/li>/g)].map((match) => match[1]!);

/** Makes codes at the account page. */
export async function makeCodes({ visitor }: { readonly visitor: AppVisitor }): Promise<readonly string[]> {
  const codes = codesIn(await textOf(await visitor.submit('/recovery-codes', {}), 200));
  assert.equal(new Set(codes).size, 10);
  return codes;
}

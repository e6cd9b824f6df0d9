// Passkeys in the tests: one that a user has, inserted through storage, and a sign-in as far as the browser's prompt.
import { userHandleOf } from '../../src/approvals/passkeys.ts';
import { passkeysPerUserMax } from '../../src/contract/limits.ts';
import type { PasskeyId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertPasskey } from '../../src/storage/passkeys.ts';
import { createPasskey, type RequestOptions, type TestPasskey } from './authenticator.ts';
import type { TestUser } from './fixtures.ts';
import type { TestLogin } from './login.ts';
import { jsonOf } from './management.ts';
import type { TestServer } from './server.ts';

/** Adds a passkey to the user as its registration would; gives what storage said, and the passkey. */
export async function insertTestPasskey(server: TestServer, tenant: Tenant, user: TestUser, counter?: number) {
  const { database, clock } = server.gatehouse.services;
  const passkey = createPasskey(new URL(tenant.baseUrl).origin, userHandleOf(user.id), counter);
  const id = uuidV7(clock.nowMs()) as PasskeyId; // made here
  const row = {
    id,
    user_id: user.id,
    credential_id: passkey.credentialId,
    public_key: passkey.publicKey,
    counter: counter ?? 0,
    transports: '["internal"]',
    backup_eligible: 0,
    backed_up: 0,
    aaguid: '00000000-0000-0000-0000-000000000000',
    name: 'Laptop',
  };
  const outcome = await database.write(tenant.id, (queries) => insertPasskey(queries, tenant.id, row, passkeysPerUserMax));
  return outcome.ok ? { ok: true as const, passkey: { ...passkey, id } } : outcome;
}

/** A passkey the user has. */
export async function givePasskey(
  server: TestServer,
  tenant: Tenant,
  user: TestUser,
  counter?: number,
): Promise<TestPasskey & { readonly id: PasskeyId }> {
  const made = await insertTestPasskey(server, tenant, user, counter);
  if (!made.ok) throw new Error(`the passkey was not added: ${made.reason}`);
  return made.passkey;
}

export const stateOf = async (login: TestLogin): Promise<unknown> => (await jsonOf(await login.get('/status'), 200))['state'];

/** Identifies and picks the passkey; gives the options the browser gets. */
export async function askForPasskey(login: TestLogin, identifier: string): Promise<RequestOptions> {
  await jsonOf(await login.post('identify', { identifier }), 200);
  const asked = await jsonOf<{ readonly state: string; readonly options: RequestOptions }>(
    await login.post('method', { method: 'passkey' }),
    200,
  );
  if (asked.state !== 'passkey') throw new Error(`expected the state passkey, found ${asked.state}`);
  return asked.options;
}

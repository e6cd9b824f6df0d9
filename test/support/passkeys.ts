// Passkeys in the tests: one that a user has, inserted through storage, and a sign-in as far as the browser's prompt.
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import { resolveApproval } from '../../src/approvals/resolve-approval.ts';
import { passkeysPerUserMax } from '../../src/contract/limits.ts';
import type { PasskeyId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { uuidV7 } from '../../src/platform/random.ts';
import { insertPasskey } from '../../src/storage/people/user-passkeys.ts';
import { findLoginTransaction } from '../../src/storage/sign-in/login-transactions.ts';
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
  type Asked = { readonly state: string; readonly options: RequestOptions };
  const identified = await jsonOf<Asked>(await login.post('identify', { identifier }), 200);
  const asked = identified.state !== 'passkey' ? await jsonOf<Asked>(await login.post('method', { method: 'passkey' }), 200) : identified;
  if (asked.state !== 'passkey') throw new Error(`expected the state passkey, found ${asked.state}`);
  return asked.options;
}

/** Signs in with the number on a phone, decided as the device plane would; gives where the browser is sent. */
export async function signInByPhone(server: TestServer, tenant: Tenant, login: TestLogin, email: string): Promise<URL> {
  const answer = await jsonOf(await login.post('identify', { identifier: email }), 200);
  if (answer['state'] !== 'waiting') await jsonOf(await login.post('method', { method: 'phone' }), 200);
  const context = { nowMs: server.clock.nowMs(), requestId: 'test' };
  const transaction = login.location.split('/').at(-1) ?? '';
  await server.gatehouse.services.database.write(tenant.id, async (queries) => {
    const row = await findLoginTransaction(queries, tenant.id, transaction);
    await resolveApproval(queries, tenant, row?.approval_id ?? '', { verdict: 'approve', method: 'phone_uv' }, context);
  });
  return finishOf(login);
}

/** Signs in with a passkey; gives where the browser is sent. */
export async function signInByPasskey(login: TestLogin, email: string, passkey: TestPasskey): Promise<URL> {
  await jsonOf(await login.post('passkey', { response: passkey.sign(await askForPasskey(login, email)) }), 200);
  return finishOf(login);
}

const finishOf = async (login: TestLogin): Promise<URL> => new URL(String((await jsonOf(await login.post('finish'), 200))['redirect_to']));

// Users, enrolment tokens and enrolled phones for tests. Users and tokens are put into the database by the functions the
// management API uses; everything a phone does goes over HTTP.
import assert from 'node:assert/strict';
import { hashSecret } from '../../src/crypto/secret-hash.ts';
import type { TenantId, UserId } from '../../src/domain/ids.ts';
import { randomSecret, uuidV7 } from '../../src/platform/random.ts';
import { insertEnrollmentToken } from '../../src/storage/device/enrollment-tokens.ts';
import { findTenantBySlug } from '../../src/storage/registry/tenants.ts';
import { sealSettings } from '../../src/tokens/secret-settings.ts';
import { createPhone, type Phone } from './phone.ts';
import { roomyRate } from './roomy-rate.ts';
import type { TestServer } from './server.ts';

export interface TestUser {
  readonly tenant: TenantId;
  readonly id: UserId;
  readonly email: string;
}

/** An active user with one email, of the root tenant unless another is named. */
export async function createUser(server: TestServer, email: string, tenantId?: string): Promise<TestUser> {
  const { database, clock } = server.gatehouse.services;
  const tenant = tenantId === undefined ? await rootTenant(server) : (tenantId as TenantId); // an id the server gave
  const id = uuidV7(clock.nowMs()) as UserId; // made here
  await database.write(tenant, async (queries) => {
    await queries
      .insertInto('users')
      .values({
        tenant_id: tenant,
        id,
        user_name: email,
        user_name_key: email,
        state: 'active',
        origin: 'console',
        created_at: 0,
        updated_at: 0,
        role: 'user',
        version: 1,
      } as never) // nullable columns left out
      .execute();
    await queries
      .insertInto('user_emails')
      .values({ tenant_id: tenant, user_id: id, position: 0, value: email, value_key: email, type: null, display: null, is_primary: 1 })
      .execute();
  });
  return { tenant, id, email };
}

/** Sets the state of a user, as management and SCIM do. */
export async function setUserState(server: TestServer, user: TestUser, state: 'active' | 'suspended' | 'deleted'): Promise<void> {
  await server.gatehouse.services.database.write(user.tenant, (queries) =>
    queries.updateTable('users').set({ state }).where('tenant_id', '=', user.tenant).where('id', '=', user.id).execute(),
  );
}

/** Changes settings of the root tenant, or of the one named. */
export async function changeSettings(server: TestServer, settings: object, tenantId?: string): Promise<void> {
  const { cache, encryption } = server.gatehouse.services;
  const tenant = tenantId === undefined ? await rootTenant(server) : (tenantId as TenantId); // an id the server gave
  await cache.write(tenant, (queries) =>
    queries
      .updateTable('tenants')
      .set({ settings: JSON.stringify(sealSettings(encryption, tenant, settings as Readonly<Record<string, unknown>>)) }) // settings are an object
      .where('tenant_id', '=', tenant)
      .execute(),
  );
}

/** Settings that switch the rate limits of the device plane off, for tests of something else. */
export const unlimited = {
  rate_limits: {
    device_requests_per_ip: roomyRate,
    device_requests_per_device: roomyRate,
    registration_starts_per_ip: roomyRate,
    registration_starts_per_email: roomyRate,
    pin_attempts_per_ip: roomyRate,
    approvals_per_user: roomyRate,
    approvals_pending_per_user: roomyRate,
  },
} as const;

export async function createEnrollmentToken(
  server: TestServer,
  user: TestUser,
  lifetimeMs = 86_400_000,
  requirePin = false,
): Promise<string> {
  const { database, clock } = server.gatehouse.services;
  const token = randomSecret();
  await database.write(user.tenant, (queries) =>
    insertEnrollmentToken(queries, user.tenant, {
      id: uuidV7(clock.nowMs()),
      hash: hashSecret(token),
      userId: user.id,
      requirePin,
      lifetimeMs,
    }),
  );
  return token;
}

export interface Redeemed {
  readonly registration_token: string;
  readonly status: string;
  readonly expires_at: string;
  readonly attestation: { readonly challenge: string; readonly formats: readonly string[]; readonly required: boolean };
}

export const testDevice = { platform: 'ios', name: 'Test phone', model: 'T1', os_version: '1', app_version: '2' };

/** A new phone whose enrolment token was redeemed, ready to enrol. */
export async function redeemedPhone(
  server: TestServer,
  user: TestUser,
  phone: Phone = createPhone(server.url, server.clock.nowMs),
  device: object = testDevice,
): Promise<{ readonly phone: Phone; readonly redeemed: Redeemed }> {
  const enrollmentToken = await createEnrollmentToken(server, user);
  const response = await phone.post('/enrollment/redeem', {
    enrollment_token: enrollmentToken,
    device,
    keys: phone.publicKeys(),
  });
  assert.equal(response.status, 200, await response.clone().text());
  return { phone, redeemed: (await response.json()) as Redeemed };
}

/** An enrolled phone of a user. */
export async function enrolledPhone(
  server: TestServer,
  user: TestUser,
  phone: Phone = createPhone(server.url, server.clock.nowMs),
  device: object = testDevice,
): Promise<Phone> {
  const { redeemed } = await redeemedPhone(server, user, phone, device);
  const proofs = phone.proofs(redeemed.attestation.challenge);
  const response = await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs });
  assert.equal(response.status, 201, await response.clone().text());
  return phone;
}

async function rootTenant(server: TestServer): Promise<TenantId> {
  const row = await server.gatehouse.services.database.system((queries) => findTenantBySlug(queries, 'main'));
  assert.ok(row);
  return row.tenant_id;
}

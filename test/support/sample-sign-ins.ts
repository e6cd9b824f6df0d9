// What the READMEs of the SDKs let their reader try against: the tenant `sample` of a first start with ada in it, enrolment links for her
// phones, and sign-ins of hers at the tester that wait for a phone.
import assert from 'node:assert/strict';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { findUserByIdentifier } from '../../src/storage/people/users.ts';
import { changeSettings, createEnrollmentToken, type TestUser, unlimited } from './enrolled-phone.ts';
import { openLogin, type TestLogin } from './login.ts';
import { type PushVendors, pushAccounts, startPushVendors } from './push-vendors.ts';
import { startTestServer, type TestServer } from './server.ts';

const email = 'ada@example.com';

export interface SampleSignIn {
  readonly login: TestLogin;
  /** What the page shows and the person types. */
  readonly number: string;
  /** `waiting`, `approved` or `denied`, as the page learns it. */
  readonly state: () => Promise<string>;
  /** Why the newest request of the tenant was denied. */
  readonly denyReason: () => Promise<string | null>;
}

export interface Sample {
  readonly server: TestServer;
  readonly vendors: PushVendors;
  readonly tenant: Tenant;
  readonly ada: TestUser;
  readonly enrollmentLink: () => Promise<string>;
  /** Begins a sign-in as ada's browser does, up to the page that waits for her phone. */
  readonly signIn: () => Promise<SampleSignIn>;
  /** The text behind the QR code of a sign-in's page. */
  readonly codeOf: (signIn: SampleSignIn) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A server as a first start makes it, whose tenant has credentials of a push vendor and no rate limits for phones. */
export async function startSample(): Promise<Sample> {
  const vendors = await startPushVendors();
  const server = await startTestServer('sqlite', { withSample: true, pushOrigins: vendors.origins });
  const { tenants, database } = server.gatehouse.services;
  const tenant = (await tenants.bySlug('sample'))!; // made by the start
  const found = await database.read(tenant.id, (queries) => findUserByIdentifier(queries, tenant.id, email));
  const ada: TestUser = { tenant: tenant.id, id: found!.id, email }; // likewise
  await changeSettings(server, { ...unlimited, push: { apns: pushAccounts().apns, fcm: pushAccounts().fcm } }, tenant.id);
  const newestApproval = () =>
    database.read(tenant.id, (queries) =>
      queries
        .selectFrom('approvals')
        .select('deny_reason')
        .where('tenant_id', '=', tenant.id)
        .orderBy('created_at', 'desc')
        .executeTakeFirstOrThrow(),
    );
  const signIn = async (): Promise<SampleSignIn> => {
    const asked = await fetch(`${tenant.baseUrl}/try/start?scope=openid+email`, { redirect: 'manual' });
    const login = openLogin(await fetch(asked.headers.get('location')!, { redirect: 'manual' }));
    assert.equal((await login.post('identify', { identifier: email })).status, 200);
    const { number } = (await (await login.post('method', { method: 'phone' })).json()) as { readonly number: string };
    assert.match(number, /^\d\d$/);
    return {
      login,
      number,
      state: async () => ((await (await login.get('/status')).json()) as { readonly state: string }).state,
      denyReason: async () => (await newestApproval()).deny_reason,
    };
  };
  return {
    server,
    vendors,
    tenant,
    ada,
    enrollmentLink: async () => `${tenant.baseUrl}/enroll#v=1&t=${await createEnrollmentToken(server, ada)}`,
    signIn,
    codeOf: async ({ login }) => ((await (await login.get('/qr')).json()) as { readonly qr_uri: string }).qr_uri,
    close: async () => {
      await server.close();
      await vendors.close();
    },
  };
}

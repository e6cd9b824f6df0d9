// An administrator at the console, without a browser: a tenant with one, and the sign-in.

import { openApp } from './first-party-app.ts';
import { createTestTenant, type Json, type Managed } from './management.ts';
import type { TestServer } from './server.ts';

/** A tenant with email PIN sign-in and a person of that role in it. */
export async function createConsoleTenant(
  server: TestServer,
  person: Json = {},
): Promise<{ readonly tenant: Managed; readonly email: string }> {
  const tenant = await createTestTenant(server, { settings: { login_methods: ['email_pin'] } });
  const email = `admin@${tenant.slug}.example`;
  await tenant.make('POST', '/users', {
    user_name: email,
    role: 'admin',
    name: { given_name: 'Ada', family_name: 'Lovelace' },
    emails: [{ value: email, primary: true }],
    ...person,
  });
  return { tenant, email };
}

/** Signs a person in to the console of the tenant. */
export const openConsole = (server: TestServer, tenant: Managed, email: string): ReturnType<typeof openApp> =>
  openApp(server, 'console', tenant, email);

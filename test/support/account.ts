// People at the account page: a tenant with one, signed in by the PIN of the mail, and phones of theirs.
import assert from 'node:assert/strict';
import type { TenantId, UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { enrolledPhone, type TestUser } from './enrolled-phone.ts';
import { type AppVisitor, openApp } from './first-party-app.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from './management.ts';
import { createPhone, type Phone } from './phone.ts';
import type { TestServer } from './server.ts';

/** A tenant in which people sign in by the PIN of the mail. */
export const createAccountTenant = (server: TestServer, settings: Json = {}): Promise<Managed> =>
  createTestTenant(server, { settings: { login_methods: ['email_pin'], ...settings } });

let people = 0;

/** A person of the tenant who is no administrator. */
export async function createPerson(tenant: Managed, fields: Json = {}): Promise<TestUser> {
  people += 1;
  const email = `person-${people}@${tenant.slug}.example`;
  const user = await createTestUser(tenant, email, { name: { given_name: 'Ada', family_name: 'Lovelace' }, ...fields });
  return { tenant: tenant.id as TenantId, id: user.id as UserId, email }; // ids the server gave
}

/** A person signed in at the account page. */
export async function openAccount(
  server: TestServer,
  tenant: Managed,
  fields: Json = {},
): Promise<{ readonly visitor: AppVisitor; readonly person: TestUser }> {
  const person = await createPerson(tenant, fields);
  const { visitor, callback } = await openApp(server, 'account', tenant, person.email);
  assert.equal(callback.status, 303);
  return { visitor, person };
}

/** An enrolled phone of a person of that tenant. */
export const phoneOf = (server: TestServer, tenant: Managed, person: TestUser): Promise<Phone> =>
  enrolledPhone(server, person, createPhone(tenant.baseUrl, server.clock.nowMs));

/** The tenant as the program has it. */
export async function domainTenant(server: TestServer, { slug }: Managed): Promise<Tenant> {
  const tenant = await server.gatehouse.services.tenants.bySlug(slug);
  assert.ok(tenant);
  return tenant;
}

export async function textOf(response: Response, status: number): Promise<string> {
  const text = await response.text();
  assert.equal(response.status, status, text.slice(0, 800));
  return text;
}

/** A page without what differs between two requests for the same: nonce, request id. */
export const withoutRequest = (page: string): string =>
  page.replaceAll(/nonce="[^"]+"/g, 'nonce=""').replaceAll(/<dd class="mono">[A-Za-z0-9_-]{22}<\/dd>/g, '<dd></dd>');

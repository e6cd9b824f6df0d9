// One person in two organisations of a tenant, who may approve orders in one of them, and their browser at us: for applications of others
// that switch between the two.
import assert from 'node:assert/strict';
import type { UserId } from '../../src/domain/ids.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { openBrowser } from './browser.ts';
import type { TestUser } from './fixtures.ts';
import { pinOf } from './mailbox.ts';
import { createTestTenant, createTestUser, type Json } from './management.ts';
import type { TestServer } from './server.ts';

export const approve = 'orders:approve';
/** What a client of it needs. */
export const ordersClient = {
  scopes: ['openid', 'profile', 'email', 'offline_access', 'organization', approve],
  resources: ['https://orders.example'],
};

export type TwoOrganizations = Awaited<ReturnType<typeof openTwoOrganizations>>;

export async function openTwoOrganizations(server: TestServer) {
  const managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'], sso_session: 'browser' } });
  const tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug)) as Tenant;
  await managed.make('POST', '/organization-roles', { name: 'approver', scopes: [approve] });
  const email = 'grace@orders.example';
  const user: TestUser = { id: (await createTestUser(managed, email, { name: { given_name: 'Grace' } })).id as UserId, email };
  const ids = new Map<string, string>();
  for (const name of ['acme', 'globex']) {
    const id = String((await managed.make('POST', '/organizations', { name }))['id']);
    ids.set(name, id);
    await managed.make('PUT', `/organizations/${id}/members/${user.id}`, { roles: name === 'acme' ? ['approver'] : [] });
  }
  return { tenant, user, ...personAt(server, tenant.baseUrl, email, (name) => ids.get(name) ?? '') };
}

/** The person's browser at us, and how often they proved who they are; `idOf` gives the ids of organisations by name. */
export function personAt(server: TestServer, baseUrl: string, email: string, idOf: (name: string) => string) {
  const browser = openBrowser();
  let typed = 0;
  /** At an address of ours that an application sent it to, up to the address that leads back; `choice` is for pages that ask. */
  const visit = async (address: URL, choice?: string): Promise<URL> => {
    const answer = await browser.send(address.href);
    const to = answer.headers.get('location') ?? '';
    if (!to.startsWith(`${baseUrl}/login/`)) return new URL(to);
    const post = async (step: string, fields: Readonly<Record<string, string>> = {}): Promise<Json> => {
      const response = await browser.send(`${to}/${step}`, { method: 'POST', body: new URLSearchParams(fields) });
      const text = await response.text();
      assert.equal(response.status, 200, `${step}: ${text}`);
      return JSON.parse(text) as Json;
    };
    let { state } = (await (await browser.send(to)).json()) as Json;
    if (state === 'identify') {
      typed += 1;
      ({ state } = await post('identify', { identifier: email }));
      if (state === 'choose') await post('method', { method: 'email_pin' });
      ({ state } = await post('pin', { pin: await pinOf(server, email) }));
    }
    assert.equal(state, choice === undefined ? 'approved' : 'organization');
    if (choice !== undefined) await post('organization', { organization: idOf(choice) });
    return new URL(String((await post('finish'))['redirect_to']));
  };
  return { visit, typed: (): number => typed };
}

/** What a token says: for which organisation, the roles there, and whether it approves orders. */
export const saidOf = ({ org_name: name, org_roles: roles, scope }: Json): readonly unknown[] => [
  name,
  roles,
  String(scope).split(' ').includes(approve),
];
export const asAcme = ['acme', ['approver'], true];
export const asGlobex = ['globex', [], false];

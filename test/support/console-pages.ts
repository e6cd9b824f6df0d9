// A tenant with one of everything the console shows, every text of it given by the caller, and the addresses of all pages and
// forms of the console with the ids in them.
import type { UserId } from '../../src/domain/ids.ts';
import { findClient } from '../../src/storage/clients.ts';
import { enrolledPhone } from './enrolled-phone.ts';
import { issueTokens } from './issued-tokens.ts';
import type { Json, Managed } from './management.ts';
import { insertTestPasskey } from './passkeys.ts';
import { createPhone } from './phone.ts';
import type { TestServer } from './server.ts';

export interface ConsoleIds {
  readonly client: string;
  readonly resource: string;
  readonly user: string;
  readonly group: string;
  readonly provider: string;
  readonly device: string;
  readonly key: string;
  readonly passkey: string;
  readonly session: string;
  readonly clientAssignment: string;
  readonly providerAssignment: string;
}

/** Makes one of everything; `text` is every name, `unique` keeps identifiers apart. */
export async function fillTenant(server: TestServer, tenant: Managed, text: string, unique = '1'): Promise<ConsoleIds> {
  const { services } = server.gatehouse;
  const id = async (path: string, body: Json, name = 'id'): Promise<string> => String((await tenant.make('POST', path, body))[name]);
  const clientBody = { name: text, type: 'confidential', token_endpoint_auth_method: 'client_secret_basic', access_policy: 'assigned' };
  const client = await id('/clients', clientBody, 'client_id');
  const resource = await id('/resources', {
    name: text,
    identifier: `https://${unique}.api.example`,
    scopes: [{ name: 'orders:read', description: text }],
  });
  const user = await id('/users', {
    user_name: `${text}${unique}`,
    display_name: text,
    title: text,
    locale: text,
    name: { given_name: text, family_name: text },
    emails: [{ value: `person${unique}@x.example`, primary: true, display: text }],
  });
  const group = await id('/groups', { display_name: `${text}${unique}` });
  const provider = await id('/service-providers', {
    name: text,
    entity_id: `https://${unique}.sp.example`,
    acs: [{ url: 'https://sp.example/acs' }],
  });
  await tenant.make('POST', `/groups/${group}/members`, { user_id: user });
  const clientAssignment = await id(`/clients/${client}/assignments`, { user_id: user });
  await tenant.make('POST', `/clients/${client}/assignments`, { group_id: group });
  const providerAssignment = await id(`/service-providers/${provider}/assignments`, { group_id: group });
  const stored = await services.tenants.bySlug(tenant.slug);
  if (stored === undefined) throw new Error('expected the tenant, found none');
  const userId = user as UserId; // the server's id
  await enrolledPhone(server, { tenant: stored.id, id: userId, email: '' }, createPhone(tenant.baseUrl, server.clock.nowMs));
  const registered = await services.database.read(stored.id, (queries) => findClient(queries, stored.id, client));
  const { grantId } = await issueTokens(services, stored, registered!, userId);
  const passkey = await insertTestPasskey(server, stored, { id: userId, email: '' });
  if (!passkey.ok) throw new Error(`expected a passkey, found ${passkey.reason}`);
  const named = { name: text };
  await services.database.write(stored.id, async (queries) => {
    await queries.updateTable('passkeys').set(named).where('tenant_id', '=', stored.id).where('id', '=', passkey.passkey.id).execute();
    await queries
      .updateTable('devices')
      .set({ ...named, model: text, os_version: text, app_version: text })
      .where('tenant_id', '=', stored.id)
      .where('user_id', '=', userId)
      .execute();
  });
  type Device = { readonly id: string; readonly keys: readonly { readonly key_id: string }[] };
  const { items } = await tenant.make<{ items: readonly Device[] }>('GET', `/users/${user}/devices`);
  return {
    client,
    resource,
    user,
    group,
    provider,
    device: items[0]!.id,
    key: items[0]!.keys[0]!.key_id,
    passkey: passkey.passkey.id,
    session: grantId,
    clientAssignment,
    providerAssignment,
  };
}

export const plainPages: readonly string[] = [
  '',
  '?days=1',
  '?days=30',
  '/clients',
  '/clients/new',
  '/resources',
  '/resources/new',
  '/users',
  '/users/new',
  '/groups',
  '/groups/new',
  '/service-providers',
  '/service-providers/new',
  '/service-providers/import',
  '/scim',
  '/signing-keys',
  '/settings',
  '/events',
  '/explain',
  '/users?search=nobody-of-that-name',
];

/** Pages of one thing. */
export const pagesOf = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}`,
  `/clients/${ids.client}/access`,
  `/resources/${ids.resource}`,
  `/users/${ids.user}`,
  `/users/${ids.user}/devices`,
  `/users/${ids.user}/passkeys`,
  `/users/${ids.user}/sessions`,
  `/groups/${ids.group}`,
  `/groups/${ids.group}/members`,
  `/service-providers/${ids.provider}`,
  `/service-providers/${ids.provider}/access`,
];

/** Forms that ask before they act, by the ids of what they act on. */
export const askingForms = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}/secret`,
  `/clients/${ids.client}/delete`,
  `/clients/${ids.client}/access/${ids.clientAssignment}/remove`,
  `/resources/${ids.resource}/delete`,
  `/users/${ids.user}/suspend`,
  `/users/${ids.user}/delete`,
  `/users/${ids.user}/devices/${ids.device}/revoke`,
  `/users/${ids.user}/devices/${ids.device}/keys/${ids.key}/revoke`,
  `/users/${ids.user}/passkeys/${ids.passkey}/revoke`,
  `/users/${ids.user}/sessions/${ids.session}/end`,
  `/users/${ids.user}/sessions/end`,
  `/groups/${ids.group}/delete`,
  `/groups/${ids.group}/members/${ids.user}/remove`,
  `/service-providers/${ids.provider}/delete`,
  `/service-providers/${ids.provider}/access/${ids.providerAssignment}/remove`,
];

/** The other forms below ids. */
export const actingForms = (ids: ConsoleIds): readonly string[] => [
  `/clients/${ids.client}`,
  `/clients/${ids.client}/access`,
  `/resources/${ids.resource}`,
  `/users/${ids.user}`,
  `/users/${ids.user}/activate`,
  `/users/${ids.user}/enrollments`,
  `/groups/${ids.group}`,
  `/groups/${ids.group}/members`,
  `/service-providers/${ids.provider}`,
  `/service-providers/${ids.provider}/access`,
];

// Fills a fresh server with a bit of everything, over its HTTP APIs, as its administrators, directories and people would.
import type { GoldenSecrets } from '../../test/support/golden.ts';
import { goldenIssuer } from '../../test/support/golden.ts';
import { createCaller, type Json } from './caller.ts';
import { adaEmail, enrolPhones, graceEmail, provisionPeople, signIn } from './people.ts';
import { changeSettings, managementCallOf, registerClients, registerProviders } from './registrations.ts';

export const goldenTenant = 'golden';

/** Fills the server at `origin`; gives what is needed to use it, and the user who may be given a passkey. */
export async function fillServer(
  origin: string,
  operatorToken: string,
): Promise<Omit<GoldenSecrets, 'recordedAtMs' | 'masterKey'> & { readonly tenantId: string; readonly userId: string }> {
  const caller = createCaller(origin);
  const system = (method: string, path: string, body?: Json): Promise<Json> =>
    caller.make(method, `/v1/system${path}`, operatorToken, body);
  const created = await system('POST', '/tenants', { slug: goldenTenant, name: 'Golden' });
  const other = await system('POST', '/tenants', { slug: 'other', name: 'Other', domain: 'https://other.golden.example' });
  await system('PATCH', `/tenants/${other['id']}`, { enabled: false });
  await system('POST', `/tenants/${created['id']}/invitations`, {});
  const base = `${goldenIssuer}/t/${goldenTenant}`;
  const admin = created['admin_client'] as { readonly client_id: string; readonly client_secret: string };
  const tokenOf = async (form: Readonly<Record<string, string>>): Promise<string> =>
    String((await caller.form(`${base}/v1/idp/oidc/token`, { grant_type: 'client_credentials', ...form }))['access_token']);
  const first = await tokenOf(admin);
  const manage = managementCallOf(caller, base, first);
  await changeSettings(manage);
  const { basic, browser, worker } = await registerClients(manage);
  const provider = await registerProviders(manage, caller, base, first);
  const people = await provisionPeople(caller, manage, base, first);
  await manage('POST', `/clients/${basic.clientId}/assignments`, { user_id: people.ada });
  await manage('POST', `/clients/${basic.clientId}/assignments`, { group_id: people.team });
  await manage('POST', `/service-providers/${provider}/assignments`, { group_id: people.team });
  const phone = await enrolPhones(caller, manage, base, people.grace);
  await manage('POST', '/signing-keys', { use: 'oidc', alg: 'ES256' });
  await manage('POST', '/signing-keys', { use: 'oidc', alg: 'RS256' });
  await manage('POST', '/signing-keys', { use: 'saml' });
  await tokenOf({ client_id: worker.clientId, client_secret: worker.clientSecret ?? '' });
  const atDesk = await signIn(caller, base, operatorToken, basic, adaEmail);
  const inBrowser = await signIn(caller, base, operatorToken, browser, graceEmail);
  await caller.send(`${base}/v1/idp/oidc/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...admin, client_secret: 'wrong', grant_type: 'client_credentials' }),
  });
  return {
    operatorToken,
    managementToken: await tokenOf(admin),
    personToken: atDesk.accessToken,
    tenant: goldenTenant,
    refresh: [atDesk.refresh, inBrowser.refresh],
    phone,
    tenantId: String(created['id']),
    userId: people.ada,
  };
}

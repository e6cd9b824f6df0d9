// A directory that provisions people and a team over SCIM, as Entra or Okta would.
import { type BenchTenant, call, managementToken } from '../bench/tenant.ts';
import { say } from './transcript.ts';

export interface SyncedPerson {
  readonly id: string;
  readonly email: string;
}

/** Creates two users and a group, renames one of them and looks her up by filter. */
export async function syncDirectory(tenant: BenchTenant): Promise<{ readonly ada: SyncedPerson; readonly grace: SyncedPerson }> {
  const token = await managementToken(tenant);
  const scim = (path: string, method: string, body?: unknown): Promise<unknown> =>
    call(`${tenant.baseUrl}/scim/v2${path}`, token, method, body);
  const add = async (givenName: string, familyName: string): Promise<SyncedPerson> => {
    const email = `${givenName.toLowerCase()}@acme.example`;
    const user = (await scim('/Users', 'POST', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: email,
      name: { givenName, familyName },
      emails: [{ value: email, type: 'work', primary: true }],
    })) as { id: string };
    say(`POST /Users -> ${user.id} ${email}`);
    return { id: user.id, email };
  };
  const [ada, grace] = [await add('Ada', 'Byron'), await add('Grace', 'Hopper')];
  const group = (await scim('/Groups', 'POST', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
    displayName: 'Engineers',
    members: [{ value: ada.id }, { value: grace.id }],
  })) as { id: string };
  say(`POST /Groups -> ${group.id} Engineers with two members`);
  await scim(`/Users/${ada.id}`, 'PATCH', {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'replace', path: 'name.familyName', value: 'Lovelace' }],
  });
  const found = (await scim(`/Users?filter=${encodeURIComponent('name.familyName eq "Lovelace"')}`, 'GET')) as { totalResults: number };
  say(`PATCH her family name, then filter name.familyName eq "Lovelace" -> ${found.totalResults} result`);
  return { ada, grace };
}

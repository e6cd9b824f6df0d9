// What SCIM writes mean elsewhere, on both databases: a suspended or deleted user's phone is refused at once, and what
// belongs to another tenant is as unknown to SCIM as what never was.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { UserId } from '../../src/domain/ids.ts';
import { listDevicesOfUser } from '../../src/storage/device/devices.ts';
import { changeSettings, enrolledPhone, unlimited } from '../support/enrolled-phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { type Json, patchBody, rootTenant, type ScimCaller, scimPlaces, startScim, userBody } from '../support/scim.ts';
import { operatorToken } from '../support/server.ts';

for (const { database, directory } of scimPlaces) {
  describe(`SCIM effects of ${directory} (${database})`, () => {
    let scim: ScimCaller;
    before(async () => {
      scim = await startScim(database, {}, directory);
      await changeSettings(scim.server, unlimited);
    });
    after(() => scim.close());

    it('7.14 device_key_revoked: active false suspends the phone, active true gives it back, DELETE revokes it for good', async () => {
      const tenant = (await rootTenant(scim.server)).id;
      const { id } = await scim.newUser('phoned');
      const phone = await enrolledPhone(scim.server, { tenant, id: id as UserId, email: 'phoned@example.com' });
      const ask = (): Promise<Response> => phone.get('/self');
      const setActive = (active: boolean): Promise<unknown> =>
        scim.call('PATCH', `/Users/${id}`, patchBody({ op: 'replace', path: 'active', value: active }));
      assert.equal((await ask()).status, 200);
      await setActive(false);
      await assertRefusal(await ask(), 'device.key_revoked');
      await setActive(true);
      assert.equal((await ask()).status, 200);
      await scim.call('DELETE', `/Users/${id}`);
      await assertRefusal(await ask(), 'device.key_revoked');
      const devices = await scim.server.gatehouse.services.database.read(tenant, (queries) =>
        listDevicesOfUser(queries, tenant, id as UserId),
      );
      assert.deepEqual(
        devices.map((device) => device.state),
        ['revoked'],
      );
    });

    it('another tenant: its users and groups are unknown, its names are free here, its tokens are refused', async () => {
      const { url } = scim.server;
      const headers = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' };
      const created = await fetch(`${url}/v1/system/tenants`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ slug: 'other', name: 'Other' }),
      });
      assert.equal(created.status, 201);
      const { base_url: baseUrl, admin_client: admin } = (await created.json()) as {
        base_url: string;
        admin_client: { client_id: string; client_secret: string };
      };
      const form = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: admin.client_id,
        client_secret: admin.client_secret,
      });
      const { access_token: token } = (await (await fetch(`${baseUrl}/v1/idp/oidc/token`, { method: 'POST', body: form })).json()) as {
        access_token: string;
      };
      const foreign = async (method: string, path: string, body?: unknown): Promise<Response> =>
        fetch(`${baseUrl}/scim/v2${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
      const user = await scim.newUser('shared');
      const group = await scim.newGroup('Shared', [user.id]);
      const bodies: string[] = [];
      for (const id of [user.id, group.id, 'nothing']) {
        for (const type of ['Users', 'Groups']) {
          for (const [method, body] of [
            ['GET', undefined],
            ['PUT', { ...userBody('x'), displayName: 'x' }],
            ['PATCH', patchBody()],
            ['DELETE', undefined],
          ] as const) {
            bodies.push(await assertRefusal(await foreign(method, `/${type}/${id}`, body), 'scim.resource_not_found'));
          }
        }
      }
      assert.equal(new Set(bodies).size, 1);
      const total = async (path: string): Promise<unknown> => ((await (await foreign('GET', path)).json()) as Json)['totalResults'];
      assert.deepEqual(
        [await total('/Users'), await total('/Groups'), await total(`/Users?filter=${encodeURIComponent('userName co "shared"')}`)],
        [0, 0, 0],
      );
      const member = await foreign('POST', '/Groups', { displayName: 'Thief', members: [{ value: user.id }] });
      await assertRefusal(member, 'scim.invalidValue', { text: 'A member does not exist.' });
      assert.equal((await foreign('POST', '/Users', userBody('shared'))).status, 201);
      const wrongTenant = await fetch(`${url}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
      await assertRefusal(wrongTenant, 'scim.unauthorized', { text: 'The access token is signed with an unknown key.' });
    });
  });
}

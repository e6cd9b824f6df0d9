// A CIBA request and a device code that end while the hook is asked what their tokens say: the client hears that they have expired, not that
// somebody used them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RowId } from '../../src/contract/catalogue.ts';
import { deviceCodeSeconds } from '../../src/contract/limits.ts';
import { createAccountTenant, openAccount, textOf } from '../support/account.ts';
import { cibaGrantType, decide, reachesLoopback } from '../support/ciba.ts';
import { databases } from '../support/databases.ts';
import { type HookReceiver, silent, startHookReceiver } from '../support/hook-receiver.ts';
import { createTestClient, type Json, jsonOf, type Managed } from '../support/management.ts';
import { type Form, formBody } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

for (const database of databases)
  describe(`what ends while its tokens wait for a hook (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    let receiver: HookReceiver;
    let client: Json;
    before(async () => {
      server = await startTestServer(database, { flags: reachesLoopback });
      managed = await createAccountTenant(server, { extra_grants: [deviceGrant] });
      receiver = await startHookReceiver();
      client = await createTestClient(managed, {
        ...{ token_endpoint_auth_method: 'client_secret_post', redirect_uris: [] },
        ...{ grant_types: [deviceGrant, cibaGrantType], backchannel_token_delivery_mode: 'poll' },
      });
      const clients = [client['client_id']];
      await managed.make('POST', '/hooks', { point: 'token', url: receiver.url, on_failure: 'refuse', deadline_ms: 3000, clients });
    });
    after(async () => {
      await server.close();
      await receiver.close();
    });
    const post = (endpoint: string, form: Form): Promise<Response> =>
      fetch(`${managed.baseUrl}/v1/idp/oidc/${endpoint}`, {
        method: 'POST',
        body: formBody({ client_id: String(client['client_id']), client_secret: String(client['client_secret']), ...form }),
      });
    /** Polls; so many seconds pass before the hook answers. */
    const pollLate = async (form: Form, seconds: number, row: RowId, text: string): Promise<void> => {
      const before = receiver.calls.length;
      receiver.reply = async () => {
        await server.clock.advance(seconds * 1000);
        return silent;
      };
      await assertRefusal(await post('token', form), row, { text });
      assert.equal(receiver.calls.length, before + 1);
    };

    it('ciba.expired_token: an approved request', async () => {
      const { person } = await openAccount(server, managed);
      const asked = { scope: 'openid', login_hint: person.email, requested_expiry: '60' };
      const { auth_req_id: id } = await jsonOf(await post('bc-authorize', asked), 200);
      const tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
      await decide(server, tenant, person, 'approve');
      await pollLate({ grant_type: cibaGrantType, auth_req_id: String(id) }, 61, 'ciba.expired_token', 'auth_req_id has expired.');
    });

    it('device_grant.expired_token: an approved device', async () => {
      const { visitor } = await openAccount(server, managed);
      const { device_code: code, user_code } = await jsonOf(await post('device-authorization', { scope: 'openid' }), 200);
      await textOf(await visitor.submit('/device/decision', { user_code: String(user_code), decision: 'allow' }), 200);
      const poll = { grant_type: deviceGrant, device_code: String(code) };
      await pollLate(poll, deviceCodeSeconds + 1, 'device_grant.expired_token', 'device_code has expired.');
    });
  });

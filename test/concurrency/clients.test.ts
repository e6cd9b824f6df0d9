// Races on a client, with real parallel requests on both databases: what several administrators change at once is all kept.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { documentFreshSecondsMin } from '../../src/domain/client/stranger.ts';
import { allow, authorize, loopbackUri, openTenant, personOf, startDocumentServer, toConsent } from '../support/agents.ts';
import { cibaGrantType } from '../support/ciba.ts';
import { openCrossApp } from '../support/cross-app.ts';
import { databases, overtaken } from '../support/databases.ts';
import { createTestClient, createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { challenge, type Form, formBody } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases) {
  describe(`races on a client (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server);
    });
    after(() => server.close());

    it('changes of different fields at once are all kept', async () => {
      const { client_id: id } = await createTestClient(managed);
      const before = await managed.make('GET', `/clients/${id}`);
      const changes: readonly Json[] = [
        { name: 'Another' },
        { redirect_uris: ['https://one.example/callback'] },
        { post_logout_redirect_uris: ['https://one.example/bye'] },
        { require_consent: true },
        { require_par: true },
        { logo_uri: 'https://one.example/logo.png' },
        { access_policy: 'assigned' },
        { refresh_reuse_leeway_seconds: 7 },
        { backchannel_logout_uri: 'https://one.example/logout' },
        { authorize_error_delivery: 'redirect' },
      ];
      for (let turn = 0; turn < 5; turn += 1) {
        const names = changes.flatMap((change) => Object.keys(change));
        await managed.make('PATCH', `/clients/${id}`, Object.fromEntries(names.map((name) => [name, before[name]])));
        await Promise.all(changes.map((one) => managed.make('PATCH', `/clients/${id}`, one)));
        const client = await managed.make('GET', `/clients/${id}`);
        for (const change of changes)
          for (const [name, value] of Object.entries(change)) assert.deepEqual(client[name], value, `${name} in turn ${turn}`);
      }
    });
  });
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** Deletes a client before the next write of its tenant, which is of a request: jobs write no more. */
async function deleteBeforeWrite({ gatehouse }: TestServer, managed: Managed, id: string): Promise<void> {
  const { database, jobs, tenants } = gatehouse.services;
  await jobs.stop();
  const { write } = database;
  const overtakenWrite: typeof write = async (tenant, work) => {
    if (tenant === (await tenants.bySlug(managed.slug))?.id) {
      Object.assign(database, { write });
      await managed.make('DELETE', `/clients/${id}`);
    }
    return write(tenant, work);
  };
  Object.assign(database, { write: overtakenWrite });
}

for (const database of databases)
  describe(`a client that is deleted while its request is answered (${database})`, () => {
    let server: TestServer;
    let managed: Managed;
    before(async () => {
      server = await startTestServer(database);
      managed = await createTestTenant(server, { settings: { login_methods: ['email_pin'], extra_grants: [deviceGrant] } });
    });
    after(() => server.close());
    const redirectUri = 'https://client.example/callback';
    const authorization = {
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    };

    /** Asks as a client that goes before the next write of the tenant: its request has authenticated it by then. */
    const askAsDeleted = async (path: string, form: Form, fields: Json = {}): Promise<Response> => {
      const { client_id: id, client_secret: secret } = await createTestClient(managed, { redirect_uris: [redirectUri], ...fields });
      await deleteBeforeWrite(server, managed, id);
      const url = `${managed.baseUrl}/v1/idp/oidc/${path}`;
      if (path === 'authorize') return fetch(`${url}?${formBody({ ...form, client_id: id })}`, { redirect: 'manual' });
      if (fields['type'] === 'public') return fetch(url, { method: 'POST', body: formBody({ ...form, client_id: id }) });
      const headers = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
      return fetch(url, { method: 'POST', body: formBody(form), headers });
    };

    it('hears at authorize, PAR, for a device and by CIBA what an unknown client hears', async () => {
      await assertRefusal(await askAsDeleted('authorize', authorization), 'authorize.unauthorized');
      const pushed = await askAsDeleted('par', authorization);
      await assertRefusal(pushed, 'client.invalid_client');
      assert.equal(pushed.headers.get('www-authenticate'), 'Basic realm="gatehouse"');
      const open = { type: 'public', token_endpoint_auth_method: 'none' };
      await assertRefusal(await askAsDeleted('par', authorization, open), 'par.invalid_request', { text: 'The client is unknown.' });
      const device = await askAsDeleted('device-authorization', { scope: 'openid' }, { grant_types: [deviceGrant] });
      await assertRefusal(device, 'client.invalid_client');
      await createTestUser(managed, 'asked@example.com');
      const ciba = { grant_types: [cibaGrantType], backchannel_token_delivery_mode: 'poll' };
      await assertRefusal(
        await askAsDeleted('bc-authorize', { scope: 'openid', login_hint: 'asked@example.com' }, ciba),
        'client.invalid_client',
      );
    });

    it('client.invalid_client: where a token of an identity assertion makes a grant', async () => {
      const world = await openCrossApp(database);
      try {
        const assertion = await world.sign();
        await deleteBeforeWrite(world.server, world.managed, world.agent.clientId);
        await assertRefusal(await world.post(assertion), 'client.invalid_client');
      } finally {
        await world.close();
      }
    });
  });

if (databases.includes('postgres'))
  describe('a client by its document that is changed there and here at once', () => {
    it('stays blocked, whatever its document says from then on', async () => {
      const server = await startTestServer('postgres', { flags: { egress_allow: '127.0.0.0/8' } });
      const documents = await startDocumentServer(server);
      try {
        const managed = await openTenant(server);
        const document = { client_name: 'Agent', redirect_uris: [loopbackUri], token_endpoint_auth_method: 'none' };
        const id = documents.publish('/agent.json', document);
        const { email } = await personOf(server, managed);
        await allow((await toConsent(server, await authorize(managed, { client_id: id }), email)).login);
        documents.publish('/agent.json', { ...document, client_name: 'Another' });
        await server.clock.advance((documentFreshSecondsMin + 1) * 1000);
        await overtaken(
          server.database,
          (session) => session.query(`UPDATE clients SET enabled = 0, access_policy = 'assigned' WHERE client_id = $1`, [id]),
          () => authorize(managed, { client_id: id }),
        );
        const client = await managed.make('GET', `/clients/${encodeURIComponent(id)}`);
        assert.deepEqual([client['name'], client['enabled'], client['access_policy']], ['Another', false, 'assigned']);
      } finally {
        await documents.close();
        await server.close();
      }
    });
  });

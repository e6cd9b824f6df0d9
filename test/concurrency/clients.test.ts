// Races on a client, with real parallel requests on both databases: what several administrators change at once is all kept.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { documentFreshSecondsMin } from '../../src/domain/client/stranger.ts';
import { allow, authorize, loopbackUri, openTenant, personOf, startDocumentServer, toConsent } from '../support/agents.ts';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { createTestClient, createTestTenant, type Json, type Managed } from '../support/management.ts';
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
        await onServer(server.database.databaseUrl!, async (session) => {
          await session.query('BEGIN');
          await session.query(`UPDATE clients SET enabled = 0, access_policy = 'assigned' WHERE client_id = $1`, [id]);
          const answer = authorize(managed, { client_id: id });
          await someoneWaitsFor(session);
          await session.query('COMMIT');
          await answer;
        });
        const client = await managed.make('GET', `/clients/${encodeURIComponent(id)}`);
        assert.deepEqual([client['name'], client['enabled'], client['access_policy']], ['Another', false, 'assigned']);
      } finally {
        await documents.close();
        await server.close();
      }
    });
  });

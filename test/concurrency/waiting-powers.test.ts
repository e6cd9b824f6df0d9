// Long work waits for its turn: whoever loses meanwhile what let them in does nothing with it when the turn comes.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TenantId } from '../../src/domain/ids.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import { databases } from '../support/databases.ts';
import { createTestTenant, createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { personWith } from '../support/roles.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

for (const database of databases)
  describe(`powers that end before the turn comes, ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      await createTestUser(tenant, 'stays@x.example', { admin_roles: ['owner'] });
    });
    after(() => server.close());

    /** What a request is answered that waits for its turn while something ends. */
    const waiting = async (ask: () => Promise<Response>, end: () => Promise<unknown>): Promise<Response> => {
      const { longWork } = server.gatehouse.services;
      const { take } = longWork;
      const [turn, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const before = take(
        tenant.id as TenantId, // an id the server gave
        () => false,
        () => turn.promise,
      );
      Object.assign(longWork, {
        take: (...args: Parameters<typeof take>) => {
          const taking = take(...args);
          asked.resolve();
          return taking;
        },
      });
      const answer = ask();
      await asked.promise;
      Object.assign(longWork, { take });
      await end().finally(turn.resolve);
      await before;
      return answer;
    };

    const works: readonly (readonly [string, string, Json])[] = [
      ['/document', 'administrators:write', { document: { gatehouse: 1, roles: [{ name: 'kept', capabilities: ['settings:write'] }] } }],
      [
        '/invitations',
        'invitations:write',
        { people: [{ emails: [{ value: 'kept@x.example' }], admin_roles: ['owner'] }], invite: 'link' },
      ],
    ];
    const ends = [
      ['is suspended', (id: string) => tenant.make('POST', `/users/${id}/suspend`), 'management.unauthorized'],
      ['has a lesser role', (id: string) => tenant.make('PUT', `/users/${id}/roles`, { roles: ['auditor'] }), 'management.forbidden'],
    ] as const;
    let people = 0;
    for (const [path, capability, body] of works)
      for (const [what, end, row] of ends)
        it(`POST ${path} of whoever ${what} meanwhile is ${row}`, async () => {
          people += 1;
          const { id } = await createTestUser(tenant, `leaving${people}@x.example`, { admin_roles: ['owner'] });
          const person = await personWith(server, tenant, id, capabilities);
          const answer = await waiting(
            () => person.call('POST', path, body),
            () => end(id),
          );
          const text = `The token lacks the capability ${capability}.`;
          await assertRefusal(answer, row, row === 'management.forbidden' ? { text } : {});
          assert.equal((await tenant.call('GET', '/roles/kept')).status, 404);
          assert.deepEqual((await tenant.make<{ readonly items: readonly Json[] }>('GET', '/users?search=kept@')).items, []);
        });

    it('a bulk request of SCIM whose token is revoked meanwhile is scim.unauthorized, and makes nobody', async () => {
      const token = await tenant.make<{ readonly id: string; readonly token: string }>('POST', '/scim-tokens', {
        name: 'Directory',
        expires_in_days: 30,
      });
      const data = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: 'kept' };
      const bulk = {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
        Operations: [{ method: 'POST', path: '/Users', bulkId: 'a', data }],
      };
      const answer = await waiting(
        () =>
          fetch(`${tenant.baseUrl}/scim/v2/Bulk`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token.token}`, 'content-type': 'application/scim+json' },
            body: JSON.stringify(bulk),
          }),
        () => tenant.make('DELETE', `/scim-tokens/${token.id}`),
      );
      await assertRefusal(answer, 'scim.unauthorized', { text: 'The access token has been revoked.' });
      assert.deepEqual((await tenant.make<{ readonly items: readonly Json[] }>('GET', '/users?search=kept')).items, []);
    });
  });

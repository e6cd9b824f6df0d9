// Newcomers from other providers, while somebody else is given what they bring: the answer is the one they would get a moment later, and
// nothing is left of the first try. Each order is made certain by a transaction beside the server that has a row they need.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type pg from 'pg';
import { databases, onServer, someoneWaitsFor } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { createUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';

if (databases.includes('postgres'))
  describe('newcomers from other providers, and others meanwhile', async () => {
    const world = await openExternalWorld('postgres');
    const { server, tenant, upstream, register, begin, post, jsonOf, visit, finish, links } = world;
    await register({ create_users: true });
    after(async () => {
      await upstream.close();
      await server.close();
    });
    /** Asks while a transaction beside the server has done something that is not committed before the request waits for it. */
    const overtaken = async (meanwhile: (session: pg.Client) => Promise<unknown>, ask: () => Promise<Response>): Promise<Response> => {
      let answer: Promise<Response> | undefined;
      await onServer(server.database.databaseUrl!, async (session) => {
        await session.query('BEGIN');
        await meanwhile(session);
        answer = ask();
        await someoneWaitsFor(session);
        await session.query('COMMIT');
      });
      return answer!;
    };

    it('who proves an address by its PIN, which somebody is given meanwhile, is taken for the owner who proved it', async () => {
      const { id } = await createUser(server.gatehouse.services, tenant);
      const claims = { sub: 'proven', email: 'proven@acme.example', email_verified: false };
      const at = await begin();
      assert.equal((await jsonOf(await visit(at, claims)))['state'], 'pin');
      const pin = await pinOf(server, claims.email);
      const answer = await overtaken(
        (session) => session.query('UPDATE user_emails SET value = $1, value_key = $1 WHERE user_id = $2', [claims.email, id]),
        () => post(at.browser, `${at.login}/pin`, { pin }),
      );
      assert.deepEqual(await jsonOf(answer), { state: 'approved' });
      assert.equal((await finish(at))['sub'], id);
      assert.deepEqual(await links(), [{ subject: 'proven', user_id: id }]);
    });
  });

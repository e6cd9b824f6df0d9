// One of three nodes behind nginx dies by SIGKILL while refresh tokens rotate: what it had in hand is lost with it and nothing else. What was
// acknowledged stays, no family has two live tokens, and everybody is served on.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { databases, onServer } from '../support/databases.ts';
import { createClient, createOtherTenant, createUser } from '../support/fixtures.ts';
import { nginx } from '../support/nginx.ts';
import { exchange, issueCode, refresh, type Tokens, tokensOf } from '../support/oidc.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer } from '../support/server.ts';
import { startThreeNodes } from '../support/three-nodes.ts';

const familiesCount = 8;
const rotationsBefore = 100;
const rotationsAfter = 200;

const liveTokens = `SELECT count(*)::int AS n FROM refresh_tokens t JOIN grants g ON g.tenant_id = t.tenant_id AND g.id = t.grant_id
  WHERE t.used_at IS NULL AND g.revoked_at IS NULL GROUP BY g.id`;

if (databases.includes('postgres') && nginx !== undefined)
  describe('a node killed', () => {
    it('loses what it had in hand, at most, and nothing that was acknowledged', { timeout: 120_000 }, async () => {
      const one = await startTestServer('postgres');
      const { services } = one.gatehouse;
      const tenant = await createOtherTenant(services, 'dying');
      const client = await createClient(services, tenant);
      const nodes = await startThreeNodes(one);
      const through = nodes.through(tenant);
      let rotations = 0;
      let goal = rotationsBefore;
      let reached = Promise.withResolvers<void>();
      let lost = 0;
      let going = true;
      /** Rotates until told to stop; a token that nobody was using when the node died is never refused. */
      const rotate = async (first: string): Promise<void> => {
        let token = first;
        let isUncertain = false;
        while (going) {
          const response = await refresh(through, client, token);
          if (response.status === 200) {
            token = ((await response.json()) as Tokens).refresh_token!;
            isUncertain = false;
            rotations += 1;
            if (rotations >= goal) reached.resolve();
          } else if (response.status === 400) {
            await response.body?.cancel();
            assert.ok(isUncertain, 'an acknowledged newest token was refused');
            return; // its rotation was committed in the moment of the kill, and this second use ended the family
          } else if (response.status === 503) {
            await assertRefusal(response, 'oauth.unavailable'); // a busy machine, or a commit nobody can tell of
            isUncertain = true;
          } else {
            assert.equal(response.status, 502, await response.text());
            isUncertain = true;
            lost += 1;
          }
        }
      };
      try {
        const firsts: string[] = [];
        for (let made = 0; made < familiesCount; made += 1) {
          const code = await issueCode(one, tenant, client, await createUser(services, tenant));
          firsts.push((await tokensOf(await exchange(through, client, code))).refresh_token!);
        }
        const families = firsts.map(rotate);
        const all = Promise.all(families);
        await Promise.race([reached.promise, all]); // a family that fails must not be waited for
        goal = rotations + rotationsAfter;
        reached = Promise.withResolvers<void>();
        await nodes.end(1, 'SIGKILL');
        await Promise.race([reached.promise, all]);
        going = false;
        await all;
        assert.ok(rotations >= goal, 'everybody is served on');
        assert.ok(lost <= familiesCount, `${lost} lost`);
        await onServer(one.database.databaseUrl!, async (connection) => {
          const { rows } = await connection.query(liveTokens);
          for (const { n } of rows) assert.equal(n, 1, 'two live tokens in a family');
          assert.ok(rows.length >= familiesCount - lost);
        });
      } finally {
        going = false;
        await nodes.stop();
        await one.close();
      }
    });
  });

// Newcomers from other providers or by an invitation, while somebody else is given what they bring: the answer is the one they would get a moment later, and
// nothing is left of the first try. Each order is made certain by a transaction beside the server that has a row they need.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import type { IdentityProviderId } from '../../src/domain/ids.ts';
import { databases, overtaken } from '../support/databases.ts';
import { insertLink, openExternalWorld } from '../support/external.ts';
import { createUser } from '../support/fixtures.ts';
import { pinOf } from '../support/mailbox.ts';
import type { Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';

if (databases.includes('postgres'))
  describe('newcomers, and others meanwhile', async () => {
    const world = await openExternalWorld('postgres');
    const { server, managed, tenant, upstream, register, begin, post, leave, jsonOf, visit, finish, links } = world;
    const provider = await register({ create_users: true });
    after(async () => {
      await upstream.close();
      await server.close();
    });

    it('who proves an address by its PIN, which somebody is given meanwhile, is taken for the owner who proved it', async () => {
      const { id } = await createUser(server.gatehouse.services, tenant);
      const claims = { sub: 'proven', email: 'proven@acme.example', email_verified: false };
      const at = await begin();
      assert.equal((await jsonOf(await visit(at, claims)))['state'], 'pin');
      const pin = await pinOf(server, claims.email);
      const answer = await overtaken(
        server.database,
        (session) => session.query('UPDATE user_emails SET value = $1, value_key = $1 WHERE user_id = $2', [claims.email, id]),
        () => post(at.browser, `${at.login}/pin`, { pin }),
      );
      assert.deepEqual(await jsonOf(answer), { state: 'approved' });
      assert.equal((await finish(at))['sub'], id);
      assert.deepEqual(await links(), [{ subject: 'proven', user_id: id }]);
    });

    const nobodyHas = async (email: string): Promise<void> => {
      const { items } = await managed.make<{ readonly items: readonly Json[] }>('GET', `/users?search=${encodeURIComponent(email)}`);
      assert.deepEqual(items, []);
    };

    it('an identity that somebody links to their account meanwhile signs in to that one, and no other is made', async () => {
      const { id } = await createUser(server.gatehouse.services, tenant);
      const claims = { sub: 'linked', email: 'linked@acme.example', email_verified: true };
      const key = { providerId: provider.id as IdentityProviderId, issuer: upstream.issuer, subject: claims.sub };
      const at = await begin();
      const callback = upstream.signIn(await leave(at), claims).href;
      const answer = await overtaken(
        server.database,
        (session) => insertLink(session, tenant, key, id),
        () => at.browser.send(callback),
      );
      assert.deepEqual(await jsonOf(answer), { state: 'approved' });
      assert.equal((await finish(at))['sub'], id);
      await nobodyHas(claims.email);
    });

    it('who comes from a provider that is disabled meanwhile is refused, and no account is left', async () => {
      const claims = { sub: 'late', email: 'late@acme.example', email_verified: true };
      const at = await begin();
      const callback = upstream.signIn(await leave(at), claims).href;
      const answer = await overtaken(
        server.database,
        async (session) => {
          await session.query('UPDATE identity_providers SET enabled = 0 WHERE id = $1', [provider.id]);
          await session.query('LOCK TABLE users IN SHARE MODE');
        },
        () => at.browser.send(callback),
      );
      await assertRefusal(answer, 'login.external_refused');
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', '/events?type=external_login.failed&limit=1');
      assert.equal(items[0]!['reason'], 'provider_gone');
      await nobodyHas(claims.email);
    });

    for (const [taken, column] of [
      ['address', 'emails'],
      ['user name', 'user_name'],
    ] as const)
      it(`who opens an invitation into an organisation, whose ${taken} somebody is given meanwhile`, async () => {
        const { id } = await createUser(server.gatehouse.services, tenant);
        const email = `invited-${column}@acme.example`;
        const { id: organization } = await managed.make<{ readonly id: string }>('POST', '/organizations', {
          name: `org-${column.replace('_', '-')}`,
        });
        const invitations = `/organizations/${organization}/invitations`;
        const { invitation_url: url } = await managed.make<{ readonly invitation_url: string }>('POST', invitations, {
          email,
          mail: false,
        });
        const token = url.split('#')[1]!;
        const rename = {
          emails: 'user_emails SET value = $1, value_key = $1 WHERE user_id',
          user_name: 'users SET user_name = $1, user_name_key = $1 WHERE id',
        };
        const answer = await overtaken(
          server.database,
          (session) => session.query(`UPDATE ${rename[column]} = $2`, [email, id]),
          () =>
            fetch(`${tenant.baseUrl}/welcome`, {
              method: 'POST',
              redirect: 'manual',
              headers: { accept: 'text/html' },
              body: new URLSearchParams({ token }),
            }),
        );
        const { pathname } = new URL(tenant.baseUrl);
        const there = column === 'emails' ? `/account/organizations/join?invitation=${token}` : '/welcome/add';
        assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${pathname}${there}`]);
      });
  });

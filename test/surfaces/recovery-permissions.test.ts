// Who may recover whom (design 14, 3): the capability, nobody over somebody who holds more, nobody themselves; what the API refuses; the
// console's page; and clients of before.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { recoveryReasonCharsMax } from '../../src/contract/limits.ts';
import { capabilities } from '../../src/domain/people/capabilities.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { addRecoverCapability } from '../../src/storage/engine/migrations/release-2/0200/0222-recover-capability.ts';
import { textOf } from '../support/account.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { createUser, type TestUser } from '../support/fixtures.ts';
import { clientCredentialsToken, createTestTenant, type Json, type Managed, managedWith } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const reason = 'Lost phone, shown passport';

for (const database of databases)
  describe(`who may recover whom on ${database}`, () => {
    let server: TestServer;
    let made: Awaited<ReturnType<typeof createTestTenant>>;
    let managed: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      made = await createTestTenant(server);
      managed = made;
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
    });
    after(() => server.close());

    const newPerson = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant);
    const listed = async (person: { readonly id: string }): Promise<readonly Json[]> =>
      (await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${person.id}/recoveries`)).items;

    it('management.forbidden: without users:recover, and over somebody who holds what the caller lacks', async () => {
      const person = await newPerson();
      const administrator = await managed.make<{ readonly id: string }>('POST', '/users', { user_name: 'chief', role: 'admin' });
      const clientWith = async (scopes: readonly string[]): Promise<Managed> => {
        const client = await managed.make<{ client_id: string; client_secret: string }>('POST', '/clients', {
          name: 'Help desk',
          type: 'confidential',
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['client_credentials'],
          scopes,
        });
        return managedWith(await clientCredentialsToken(made.baseUrl, client.client_id, client.client_secret), made);
      };
      const without = await clientWith(capabilities.filter((capability) => capability !== 'users:recover'));
      const body = { reason, mail: false };
      const refusal = (capability: string) => ({ text: `The token lacks the capability ${capability}.` });
      await assertRefusal(
        await without.call('POST', `/users/${person.id}/recoveries`, body),
        'management.forbidden',
        refusal('users:recover'),
      );
      await assertRefusal(
        await without.call('DELETE', `/users/${person.id}/recoveries/x`),
        'management.forbidden',
        refusal('users:recover'),
      );
      const desk = await clientWith(['users:recover']);
      assert.equal((await desk.call('POST', `/users/${person.id}/recoveries`, body)).status, 201);
      await assertRefusal(
        await desk.call('POST', `/users/${administrator.id}/recoveries`, body),
        'management.forbidden',
        refusal(capabilities[0]!),
      );
      assert.deepEqual(await listed(administrator), []);
      const enroller = await clientWith(['devices:write', 'invitations:write']);
      for (const way of ['invitations', 'enrollments']) {
        const refused = await enroller.call('POST', `/users/${administrator.id}/${way}`, {});
        await assertRefusal(refused, 'management.forbidden', refusal(capabilities[0]!));
        assert.equal((await enroller.call('POST', `/users/${person.id}/${way}`, {})).status, 201);
      }
      assert.equal((await managed.call('POST', `/users/${administrator.id}/recoveries`, body)).status, 201);
    });

    it('the API refuses: nobody, the suspended, no address to mail to, no reason and one that is too long', async () => {
      const body = { reason };
      await assertRefusal(await managed.call('POST', '/users/nobody/recoveries', body), 'management.not_found');
      await assertRefusal(await managed.call('GET', '/users/nobody/recoveries'), 'management.not_found');
      const person = await newPerson();
      const path = `/users/${person.id}/recoveries`;
      await assertRefusal(await managed.call('DELETE', `${path}/unknown`), 'management.not_found');
      const invitation = await managed.make('POST', `/users/${person.id}/invitations`, { mail: false });
      await assertRefusal(await managed.call('DELETE', `${path}/${String(invitation['id'])}`), 'management.not_found');
      assert.equal((await managed.call('POST', path, { reason: 'x'.repeat(recoveryReasonCharsMax), mail: false })).status, 201);
      for (const wrong of [{}, { reason: '' }, { reason: '  ' }, { reason: 'x'.repeat(recoveryReasonCharsMax + 1) }]) {
        const refused = await managed.call('POST', path, wrong);
        assert.deepEqual([refused.status, ((await refused.json()) as Json)['kind']], [400, 'reason'], JSON.stringify(wrong));
      }
      const { items } = await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${person.id}/invitations`);
      assert.deepEqual(
        items.map(({ state }) => state),
        ['revoked'],
      );
      const [own] = await listed(person);
      await assertRefusal(await managed.call('DELETE', `/users/${person.id}/invitations/${String(own?.['id'])}`), 'management.not_found');
      const { id } = await managed.make<{ readonly id: string }>('POST', '/users', { user_name: 'without-mail' });
      await assertRefusal(await managed.call('POST', `/users/${id}/recoveries`, { reason, mail: true }), 'management.invalid_request', {
        kind: 'mail',
        text: 'must be absent or false: the user has no email, or this server cannot send mail',
      });
      assert.match(String((await managed.make('POST', `/users/${id}/recoveries`, { reason }))['recovery_url']), /\/welcome\?for=recovery#/);
      await managed.make('POST', `/users/${person.id}/suspend`);
      await assertRefusal(await managed.call('POST', path, body), 'management.conflict', { kind: 'state', text: 'The user is suspended.' });
    });

    it('the console recovers with a reason, shows a link for ten minutes on its page alone, revokes; nobody recovers themselves', async () => {
      const own = await createConsoleTenant(server);
      const { visitor } = await openConsole(server, own.tenant, own.email);
      const { id } = await own.tenant.make<{ readonly id: string }>('POST', '/users', {
        user_name: 'eve',
        emails: [{ value: 'eve@console.example', primary: true }],
      });
      const path = `/users/${id}/recoveries`;
      assert.match(await textOf(await visitor.page(path), 200), /No recovery codes[\s\S]*No recovery yet[\s\S]*Recover by mail/);
      const refused = await textOf(await visitor.submit(path, { by: 'link', reason: ' ' }), 400);
      assert.match(refused, /role="alert"/);
      const mailed = await visitor.act(path, { by: 'mail', reason: xssCorpus[0]! });
      assert.match(mailed, /was mailed to eve@console\.example/);
      assert.ok(!mailed.includes('recovery-link'));
      assertEscaped(mailed, xssCorpus[0]!);
      const text = await visitor.act(path, { by: 'link', reason });
      const [, link] = /id="recovery-link">([^<]+)</.exec(text)!;
      assert.ok((await textOf(await visitor.page(path), 200)).includes(link!), 'for ten minutes');
      assert.ok(!(await textOf(await visitor.page(`/users/${id}`), 200)).includes(link!));
      const { items } = await own.tenant.make<{ readonly items: readonly Json[] }>('GET', path);
      assert.deepEqual(
        items.map(({ state }) => state),
        ['open', 'revoked'],
      );
      const revoke = `${path}/${String(items[0]!['id'])}/revoke`;
      assert.match(await textOf(await visitor.submit(revoke, {}), 200), /Revoke this recovery\?/);
      assert.equal((await visitor.submit(revoke, { sure: 'yes' })).status, 303);
      const people = await own.tenant.make<{ readonly items: readonly { readonly id: string }[] }>('GET', `/users?search=${own.email}`);
      const self = await textOf(await visitor.submit(`/users/${people.items[0]!.id}/recoveries`, { by: 'link', reason }), 400);
      assert.match(self, /Nobody recovers themselves/);
    });

    it('a client that had every capability before has users:recover after the migration, and no other', async () => {
      const before = capabilities.filter((capability) => capability !== 'users:recover');
      const scopesOf = async (scopes: readonly string[]): Promise<() => Promise<unknown>> => {
        const client = await managed.make<{ client_id: string }>('POST', '/clients', {
          ...{ name: 'Old', type: 'confidential', grant_types: ['client_credentials'], scopes },
        });
        const { database: store } = server.gatehouse.services;
        return async () =>
          (
            await store.read(tenant.id, (queries) =>
              queries
                .selectFrom('clients')
                .select('scopes')
                .where('client_id', '=', client.client_id as never) // its id
                .executeTakeFirstOrThrow(),
            )
          ).scopes;
      };
      const whole = await scopesOf(before);
      const less = await scopesOf(before.slice(1));
      const run = (rows: number): Promise<number> =>
        server.gatehouse.services.database.write(tenant.id, (queries) => addRecoverCapability(queries, tenant.id, rows));
      while ((await run(1)) > 0);
      assert.deepEqual(JSON.parse(String(await whole())), [...before, 'users:recover']);
      assert.deepEqual(JSON.parse(String(await less())), before.slice(1));
    });
  });

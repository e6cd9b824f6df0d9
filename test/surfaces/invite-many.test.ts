// Many people invited by one call (design 23, part 2): each judged and told by itself, by the power of whoever invites; rehearsed before;
// and who has not come yet.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { invitedAtOnceMax } from '../../src/contract/limits.ts';
import { databases } from '../support/databases.ts';
import { mailsTo } from '../support/mailbox.ts';
import {
  clientCredentialsToken,
  createTestClient,
  createTestTenant,
  createTestUser,
  type Json,
  type Managed,
  managedWith,
} from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

interface Outcome {
  readonly state: string;
  readonly is_new: boolean;
  readonly user_id: string | null;
  readonly invitation_url: string | null;
  readonly fault: { readonly kind: string | null; readonly message: string } | null;
}

const of = (email: string, more: Json = {}): Json => ({ emails: [{ value: email, primary: true }], ...more });

for (const database of databases)
  describe(`many invitations on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    before(async () => {
      server = await startTestServer(database);
      tenant = await createTestTenant(server);
      await tenant.make('POST', '/groups', { display_name: 'Crew' });
      await tenant.make('POST', '/custom-attributes', { name: 'badge', unique: true });
    });
    after(() => server.close());

    const send = async (people: readonly Json[], more: Json = {}, by = tenant): Promise<readonly Outcome[]> =>
      (await by.make<{ readonly items: readonly Outcome[] }>('POST', '/invitations', { people, ...more })).items;
    const told = ({ state, fault }: Outcome): readonly unknown[] => [state, fault?.kind ?? null];
    const find = async (email: string): Promise<readonly Json[]> =>
      (await tenant.make<{ readonly items: readonly Json[] }>('GET', `/users?search=${encodeURIComponent(email)}`)).items;
    const withScopes = async (...capabilities: readonly string[]): Promise<Managed> => {
      const client = await createTestClient(tenant, {
        redirect_uris: [],
        grant_types: ['client_credentials'],
        token_endpoint_auth_method: 'client_secret_post',
        scopes: capabilities,
      });
      return managedWith(await clientCredentialsToken(tenant.baseUrl, client.client_id, client.client_secret), tenant);
    };

    it('makes whoever is not here, with attributes and groups, and mails each a link', async () => {
      const people = [
        of('ada@many.example', { name: { given_name: 'Ada' }, custom: { badge: 'A1' }, groups: ['crew'] }),
        of('bob@many.example', { user_name: 'bob' }),
      ];
      const items = await send(people, { invite: 'mail' });
      assert.deepEqual(items.map(told), [
        ['invited', null],
        ['invited', null],
      ]);
      assert.deepEqual(
        items.map(({ is_new, invitation_url }) => [is_new, invitation_url]),
        [
          [true, null],
          [true, null],
        ],
      );
      const [ada] = await find('ada@many.example');
      assert.deepEqual([ada?.['name'], ada?.['custom'], ada?.['user_name']], [{ given_name: 'Ada' }, { badge: 'A1' }, 'ada@many.example']);
      const groups = await tenant.make<{ readonly items: readonly Json[] }>('GET', `/users/${items[0]!.user_id}/groups`);
      assert.deepEqual(
        groups.items.map((group) => group['display_name']),
        ['Crew'],
      );
      assert.equal((await find('bob'))[0]?.['user_name'], 'bob');
      assert.equal((await mailsTo(server, 'ada@many.example')).length, 1);
    });

    it('one that is wrong keeps no other back, and is told by its field; a rehearsal says the same and does nothing', async () => {
      await send([of('here@many.example', { custom: { badge: 'B1' } })], { invite: 'none' });
      const { id } = await createTestUser(tenant, 'gone@many.example');
      await tenant.make('POST', `/users/${id}/suspend`);
      const people = [
        of('nobody'),
        of('eve@many.example', { groups: ['Nowhere'] }),
        of('eve@many.example', { admin_roles: ['nothing-of-the-kind'] }),
        of('eve@many.example', { custom: { unknown: 'x' } }),
        of('eve@many.example', { custom: { badge: 'B1' } }),
        of('eve@many.example', { user_name: 'here@many.example' }),
        of('eve@many.example', { surplus: 1 }),
        of('eve@many.example', { title: 7 }),
        { title: 'no email' },
        of('gone@many.example'),
        of('here@many.example', { admin_roles: ['auditor'] }),
        of('here@many.example'),
        of('eve@many.example'),
      ];
      const expected = [
        ['refused', 'emails'],
        ['refused', 'groups'],
        ['refused', 'admin_roles'],
        ['refused', 'custom.unknown'],
        ['refused', 'custom.badge'],
        ['refused', 'user_name'],
        ['refused', 'surplus'],
        ['refused', 'title'],
        ['refused', 'emails'],
        ['refused', 'state'],
        ['refused', 'admin_roles'],
      ];
      const rehearsed = await send(people, { dry_run: true });
      assert.deepEqual(rehearsed.map(told), [...expected, ['ready', null], ['ready', null]]);
      assert.deepEqual(
        rehearsed.slice(-2).map(({ is_new }) => is_new),
        [false, true],
      );
      assert.equal((await find('eve@many.example')).length, 0);
      assert.equal((await mailsTo(server, 'eve@many.example')).length, 0);
      const done = await send(people, { invite: 'link' });
      assert.deepEqual(done.map(told), [...expected, ['invited', null], ['invited', null]]);
      for (const one of done.slice(-2)) assert.match(one.invitation_url ?? '', /\/welcome#[A-Za-z0-9_-]{43}$/);
      assert.equal((await find('eve@many.example')).length, 1);
    });

    it('at the same moment each is made once', async () => {
      const all = await Promise.all([1, 2, 3].map(() => send([of('once@many.example')], { invite: 'none' })));
      assert.equal(all.flat().filter(({ is_new, state }) => is_new && state === 'added').length, 1);
      assert.equal((await find('once@many.example')).length, 1);
    });

    it('takes users:read and users:write, for groups and roles what they take; nobody gives or invites more than they hold', async () => {
      const some = await withScopes('invitations:write', 'users:read');
      await assertRefusal(await refusalOf(some, [of('x@many.example')]), 'management.forbidden', {
        text: 'The token lacks the capability users:write.',
      });
      const people = await withScopes('invitations:write', 'users:read', 'users:write');
      await assertRefusal(await refusalOf(people, [of('x@many.example', { groups: ['Crew'] })]), 'management.forbidden', {
        text: 'The token lacks the capability groups:write.',
      });
      await assertRefusal(await refusalOf(people, [of('x@many.example', { admin_roles: ['auditor'] })]), 'management.forbidden', {
        text: 'The token lacks the capability administrators:write.',
      });
      const giver = await withScopes('invitations:write', 'users:read', 'users:write', 'administrators:write');
      const [given] = await send([of('x@many.example', { admin_roles: ['owner'] })], { dry_run: true }, giver);
      assert.deepEqual(told(given!), ['refused', 'admin_roles']);
      await createTestUser(tenant, 'boss@many.example', { admin_roles: ['admin'] });
      const [boss] = await send([of('boss@many.example')], { invite: 'link' }, people);
      assert.equal(boss?.state, 'refused');
      assert.equal(boss?.invitation_url, null);
    });
    const refusalOf = (by: Managed, people: readonly Json[]): Promise<Response> => by.call('POST', '/invitations', { people });

    it('so many in one call and no more; nothing else in it', async () => {
      const many = (count: number): readonly Json[] => Array.from({ length: count }, (_one, index) => of(`n${index}@bulk.example`));
      assert.equal((await send(many(invitedAtOnceMax), { dry_run: true })).length, invitedAtOnceMax);
      for (const body of [
        { people: many(invitedAtOnceMax + 1) },
        { people: [] },
        {},
        { people: ['x'] },
        { people: [of('a@b.example', { title: 'a\u0001b' })] },
        { people: null },
        { people: [of('a@b.example')], invite: 'pigeon' },
        { people: [of('a@b.example')], surplus: 1 },
      ])
        assert.equal((await tenant.call('POST', '/invitations', body)).status, 400, JSON.stringify(body).slice(0, 80));
    });

    it('who has not come is listed, newest first, page after page; names for whoever may read them', async () => {
      const other = await createTestTenant(server);
      const people = ['one', 'two', 'three'].map((name) => of(`${name}@late.example`, { display_name: name }));
      await send(people, { invite: 'mail' }, other);
      const list = (query: string, by = other): Promise<{ readonly items: readonly Json[]; readonly next_cursor?: string }> =>
        by.make('GET', `/invitations${query}`);
      const first = await list('?state=open&limit=2');
      assert.deepEqual(
        first.items.map((one) => [one['display_name'], one['mailed_to'], one['state']]),
        [
          ['three', 'three@late.example', 'open'],
          ['two', 'two@late.example', 'open'],
        ],
      );
      const second = await list(`?state=open&limit=2&cursor=${first.next_cursor}`);
      assert.deepEqual(
        second.items.map((one) => one['display_name']),
        ['one'],
      );
      assert.equal(second.next_cursor, undefined);
      const [three] = first.items;
      await other.make('DELETE', `/users/${three!['user_id']}/invitations/${three!['id']}`);
      assert.deepEqual(
        (await list('?state=revoked')).items.map((one) => one['display_name']),
        ['three'],
      );
      assert.deepEqual((await list('?state=used')).items, []);
      assert.equal((await list('')).items.length, 3);
      await server.clock.advance(8 * 24 * 3600 * 1000);
      assert.equal((await list('?state=expired')).items.length, 2);
      assert.equal((await list('?state=open')).items.length, 0);
      assert.equal((await other.call('GET', '/invitations?state=asleep')).status, 400);
    });
  });

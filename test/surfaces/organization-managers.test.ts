// Organisations on the account page (design 19): one's own, and those one manages. Whoever manages one is nobody in every other, and nobody
// takes the last of them away but whoever runs the tenant.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { accountListRows, organizationsPerPersonMax } from '../../src/contract/limits.ts';
import { organizationInvitationsPerAddressMax } from '../../src/contract/organization-limits.ts';
import { createAccountTenant, createPerson, openAccount, textOf, withoutRequest } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { databases } from '../support/databases.ts';
import type { TestUser } from '../support/enrolled-phone.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { createClient, createUser, type TestUser as FixtureUser } from '../support/fixtures.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, type Managed } from '../support/management.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { openSsoWorld } from '../support/sso.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

interface Manager {
  readonly visitor: AppVisitor;
  readonly person: TestUser;
}

for (const database of databases)
  describe(`managers of organisations on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    const fresh = (): number => {
      made += 1;
      return made;
    };
    const organization = async (fields: Json = {}): Promise<string> =>
      String((await tenant.make('POST', '/organizations', { name: `org-${fresh()}`, ...fields }))['id']);
    const put = (id: string, person: { readonly id: string }, roles: readonly string[] = []) =>
      tenant.make('PUT', `/organizations/${id}/members/${person.id}`, { roles });
    const manager = async (id: string, fields: Json = {}): Promise<Manager> => {
      const opened = await openAccount(server, tenant, fields);
      await put(id, opened.person, ['manager']);
      return opened;
    };
    const membersOf = async (id: string): Promise<ReadonlyMap<unknown, unknown>> => {
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${id}/members?limit=200`);
      return new Map(items.map((one) => [one['user_id'], one['roles']]));
    };
    const remove = ({ visitor }: Manager, id: string, person: { readonly id: string }): Promise<Response> =>
      visitor.submit(`/organizations/${id}/members/${person.id}/remove`, {});
    const give = ({ visitor }: Manager, id: string, person: { readonly id: string }, role: string): Promise<Response> =>
      visitor.submit(`/organizations/${id}/members/${person.id}`, role === '' ? {} : { role });

    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server, { rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate } });
      await tenant.make('POST', '/organization-roles', { name: 'manager', description: 'Runs it', manage: true });
      await tenant.make('POST', '/organization-roles', { name: 'approver' });
    });
    after(() => server.close());

    it('a tenant without organisations says nothing of them', async () => {
      const other = await createAccountTenant(server);
      const { visitor } = await openAccount(server, other);
      assert.ok(!(await textOf(await visitor.page(''), 200)).includes('organizations'));
      assert.equal((await visitor.page(`/organizations/${randomUUID()}`)).status, 404);
    });

    it('one sees one’s own with the roles there, and leaves', async () => {
      const [acme, globex] = [await organization({ display_name: 'Acme' }), await organization({ display_name: 'Globex' })];
      const { visitor, person } = await openAccount(server, tenant);
      assert.match(await textOf(await visitor.page('/organizations'), 200), /id="none"/);
      await put(acme, person, ['approver']);
      const shown = await textOf(await visitor.page('/organizations'), 200);
      assert.match(shown, /Acme[\s\S]*approver/);
      assert.ok(!shown.includes('Globex') && !shown.includes(`/organizations/${acme}"`));
      assert.match(await textOf(await visitor.page(`/organizations/${acme}/leave`), 200), /Leave Acme\?/);
      assert.equal((await visitor.page(`/organizations/${globex}/leave`)).status, 404);
      assert.equal((await visitor.submit(`/organizations/${globex}/leave`, {})).status, 404);
      assert.equal((await visitor.submit(`/organizations/${acme}/leave`, {})).status, 303);
      assert.deepEqual([...(await membersOf(acme)).keys()], []);
    });

    it('whoever manages one lists members by name, finds them by what is shown, gives roles and removes', async () => {
      const id = await organization({ display_name: 'Acme' });
      const boss = await manager(id, { display_name: 'Zoe' });
      const emails = [
        { value: `main-${fresh()}@acme.example`, primary: true },
        { value: `private-${made}@globex.example`, primary: false },
      ];
      const bob = await createPerson(tenant, { display_name: 'Bob', emails });
      await put(id, bob);
      const find = async (search: string): Promise<string> =>
        textOf(await boss.visitor.page(`/organizations/${id}?search=${encodeURIComponent(search)}`), 200);
      const all = await textOf(await boss.visitor.page(`/organizations/${id}`), 200);
      assert.ok(all.indexOf('Bob') < all.lastIndexOf('Zoe') && all.includes('2 in all') && !all.includes('globex.example'));
      for (const search of ['BO', 'main-', '@acme']) assert.match(await find(search), /Bob/, search);
      for (const search of ['globex', 'private', '%', 'nobody']) assert.match(await find(search), /id="none"/, search);
      const page = await textOf(await boss.visitor.page(`/organizations/${id}/members/${bob.id}`), 200);
      assert.match(page, /approver[\s\S]*Runs it[\s\S]*manages the organisation/);
      assert.ok(!page.includes('globex.example'));
      assert.equal((await give(boss, id, bob, 'approver')).status, 303);
      assert.deepEqual((await membersOf(id)).get(bob.id), ['approver']);
      assert.equal((await give(boss, id, bob, 'owner')).status, 400);
      assert.equal((await give(boss, id, bob, '')).status, 303);
      assert.deepEqual((await membersOf(id)).get(bob.id), []);
      assert.equal((await remove(boss, id, bob)).status, 303);
      assert.equal((await remove(boss, id, bob)).status, 404);
      assert.equal((await give(boss, id, bob, 'approver')).status, 404);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${id}&limit=3`);
      assert.deepEqual(
        items.map(({ type, actor }) => [type, actor]),
        ['organization.member_removed', 'organization.member_changed', 'organization.member_changed'].map((type) => [
          type,
          `user:${boss.person.id}`,
        ]),
      );
    });

    it('a long list goes page by page', async () => {
      const id = await organization();
      const boss = await manager(id);
      for (let at = 0; at < accountListRows; at += 1) await put(id, await createPerson(tenant, { display_name: `Same name` }));
      const first = await textOf(await boss.visitor.page(`/organizations/${id}`), 200);
      const next = /id="next" href="[^"]*(\/organizations\/[^"]+)"/.exec(first)?.[1]?.replaceAll('&amp;', '&').replaceAll('&#38;', '&');
      assert.ok(next);
      const second = await textOf(await boss.visitor.page(next), 200);
      const idsIn = (text: string): readonly string[] => [...text.matchAll(/\/members\/([0-9a-f-]{36})"/g)].map(([, one]) => one!);
      assert.equal(new Set([...idsIn(first), ...idsIn(second)]).size, accountListRows + 1);
      assert.ok(Buffer.byteLength(first) < 60_000);
    });

    it('the last who manages stays: they cannot leave, be removed or lose the role by a member, but by the tenant', async () => {
      const id = await organization();
      const boss = await manager(id);
      await put(id, await createPerson(tenant));
      for (const answer of [
        await boss.visitor.submit(`/organizations/${id}/leave`, {}),
        await remove(boss, id, boss.person),
        await give(boss, id, boss.person, 'approver'),
      ])
        assert.match(await textOf(answer, 409), /Nobody would manage the organisation any more/);
      assert.deepEqual((await membersOf(id)).get(boss.person.id), ['manager']);
      // A suspended one manages nothing.
      const second = await manager(id);
      await tenant.make('PATCH', `/users/${second.person.id}`, { state: 'suspended' });
      assert.equal((await remove(boss, id, boss.person)).status, 409);
      await tenant.make('PATCH', `/users/${second.person.id}`, { state: 'active' });
      assert.equal((await remove(boss, id, boss.person)).status, 303);
      assert.equal((await tenant.call('DELETE', `/organizations/${id}/members/${second.person.id}`)).status, 204);
    });

    it('two who remove each other, take the role from each other or leave at once: exactly one stays', async () => {
      const acts: readonly ((one: Manager, id: string, other: Manager) => Promise<Response>)[] = [
        (one, id, other) => remove(one, id, other.person),
        (one, id, other) => give(one, id, other.person, 'approver'),
        ({ visitor }, id) => visitor.submit(`/organizations/${id}/leave`, {}),
      ];
      for (const act of acts)
        for (let round = 0; round < 4; round += 1) {
          const id = await organization();
          const [one, other] = [await manager(id), await manager(id)];
          const answers = await Promise.all([act(one, id, other), act(other, id, one)]);
          const statuses = answers.map(({ status }) => status).toSorted();
          assert.equal(statuses[0], 303);
          assert.ok(statuses[1] === 404 || statuses[1] === 409, String(statuses[1]));
          const managing = [...(await membersOf(id)).values()].filter((roles) => (roles as readonly string[]).includes('manager'));
          assert.equal(managing.length, 1);
        }
    });

    it('every id of another organisation is unknown, byte for byte, as is everything for whoever manages nothing', async () => {
      const [acme, globex, closed] = [await organization(), await organization(), await organization()];
      const boss = await manager(acme);
      const theirs = await manager(globex);
      const member = await createPerson(tenant);
      await put(globex, member);
      await put(closed, boss.person, ['manager']);
      await tenant.make('PATCH', `/organizations/${closed}`, { enabled: false });
      const invitation = await tenant.make('POST', `/organizations/${globex}/invitations`, { email: `i-${fresh()}@x.example` });
      const other = await createTestTenant(server);
      const foreign = String((await other.make('POST', '/organizations', { name: 'foreign' }))['id']);
      const plain = await openAccount(server, tenant);
      await put(acme, plain.person, ['approver']);
      const below = [
        '',
        '/invitations',
        '/sign-ins',
        `/members/${member.id}`,
        `/members/${boss.person.id}`,
        `/members/${randomUUID()}`,
        '/members/x',
      ];
      const forms = [
        '/invitations',
        `/invitations/${String(invitation['id'])}/again`,
        `/invitations/${String(invitation['id'])}/withdraw`,
        `/members/${member.id}`,
        `/members/${member.id}/remove`,
        `/members/${theirs.person.id}/remove`,
      ];
      const unknown = withoutRequest(await textOf(await boss.visitor.page(`/organizations/${randomUUID()}`), 404));
      const sameAsUnknown = async (answer: Response, at: string): Promise<void> =>
        assert.equal(withoutRequest(await textOf(answer, 404)), unknown, at);
      for (const id of [globex, foreign, closed, randomUUID(), 'x', encodeURIComponent('ä')]) {
        for (const path of below) await sameAsUnknown(await boss.visitor.page(`/organizations/${id}${path}`), `${id}${path}`);
        for (const path of forms) {
          const fields = { email: 'a@x.example', role: 'manager' };
          await sameAsUnknown(await boss.visitor.submit(`/organizations/${id}${path}`, fields), `${id}${path}`);
        }
      }
      // Of one's own organisation: what is of another one.
      for (const path of forms.slice(1))
        await sameAsUnknown(await boss.visitor.submit(`/organizations/${acme}${path}`, { role: 'manager' }), path);
      await sameAsUnknown(await boss.visitor.page(`/organizations/${acme}/members/${member.id}`), 'member');
      for (const path of below.slice(0, 4)) assert.equal((await plain.visitor.page(`/organizations/${acme}${path}`)).status, 404);
      assert.equal((await give({ ...plain }, acme, plain.person, 'manager')).status, 404);
      assert.equal((await plain.visitor.submit(`/organizations/${acme}/invitations`, { email: 'a@x.example' })).status, 404);
      assert.deepEqual((await membersOf(globex)).get(theirs.person.id), ['manager']);
      assert.equal((await membersOf(globex)).size, 2);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${globex}/invitations`);
      assert.deepEqual(
        items.map(({ state }) => state),
        ['open'],
      );
    });

    it('whoever manages one invites by mail alone, again, and withdraws; the page is the same whether somebody has the address', async () => {
      const id = await organization({ display_name: 'Acme' });
      const boss = await manager(id);
      const known = await createPerson(tenant);
      const at = `/organizations/${id}/invitations`;
      const shownFor = async (email: string): Promise<string> => {
        const answer = await boss.visitor.submit(at, { email, role: 'approver' });
        assert.equal(answer.status, 303, await answer.text());
        const page = await textOf(await boss.visitor.page(at), 200);
        assert.ok(page.includes(email));
        const cards = page.slice(page.indexOf('id="invitations"'));
        const id = /invitations\/([0-9a-f-]{36})\/withdraw/.exec(cards)?.[1];
        assert.equal((await boss.visitor.submit(`${at}/${id}/withdraw`, {})).status, 303);
        return withoutRequest(page)
          .replaceAll(email, '')
          .replaceAll(/value="[^"]*"|<time[^>]*>[^<]*<\/time>|[0-9a-f-]{36}/g, '');
      };
      assert.equal(await shownFor(known.email), await shownFor(`nobody-${fresh()}@x.example`));
      for (const email of ['', 'x', 'a b@x.example', `${'x'.repeat(320)}@x.example`])
        assert.match(await textOf(await boss.visitor.submit(at, { email }), 400), /id="notice"/);
      assert.equal((await boss.visitor.submit(at, { email: 'a@x.example', role: 'gone' })).status, 400);
      const email = `again-${fresh()}@x.example`;
      assert.equal((await boss.visitor.submit(at, { email, role: 'manager' })).status, 303);
      const waiting = /invitations\/([0-9a-f-]{36})\/again/.exec(await textOf(await boss.visitor.page(at), 200))?.[1];
      assert.equal((await boss.visitor.submit(`${at}/${waiting}/again`, {})).status, 303);
      const mails = await mailsTo(server, email);
      const tokens = mails.map(({ text }) => /\/welcome#(\S+)/.exec(text)?.[1] ?? '');
      assert.equal(new Set(tokens).size, 2);
      assert.ok(!(await textOf(await boss.visitor.page(at), 200)).includes(tokens[0]!));
      const open = (token: string): Promise<Response> =>
        fetch(`${tenant.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });
      assert.equal((await open(tokens[1]!)).status, 404);
      // Whoever does not manage it any more has invited nobody.
      await put(id, boss.person, ['approver']);
      assert.equal((await open(tokens[0]!)).status, 404);
      await put(id, boss.person, ['manager']);
      assert.equal((await open(tokens[0]!)).status, 303);
      assert.deepEqual([...(await membersOf(id)).values()].filter((roles) => String(roles) === 'manager').length, 2);
    });

    it('one too many within a day is refused, and the one before still opens', async () => {
      const id = await organization();
      const boss = await manager(id);
      const at = `/organizations/${id}/invitations`;
      const email = `often-${fresh()}@x.example`;
      for (let sent = 0; sent < organizationInvitationsPerAddressMax; sent += 1)
        assert.equal((await boss.visitor.submit(at, { email })).status, 303);
      const waiting = /invitations\/([0-9a-f-]{36})\/again/.exec(await textOf(await boss.visitor.page(at), 200))?.[1];
      assert.equal((await boss.visitor.submit(`${at}/${waiting}/again`, {})).status, 409);
      assert.ok((await textOf(await boss.visitor.page(at), 200)).includes(`${waiting}/withdraw`));
      const [last] = await mailsTo(server, email);
      const body = new URLSearchParams({ token: /\/welcome#(\S+)/.exec(last?.text ?? '')?.[1] ?? '' });
      assert.equal((await fetch(`${tenant.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', body })).status, 303);
    });

    it(`whoever is in ${organizationsPerPersonMax} joins no further one, and the invitation stays`, async () => {
      const { visitor, person } = await openAccount(server, tenant);
      const ids: string[] = [];
      for (let at = 0; at < organizationsPerPersonMax; at += 1) {
        ids.push(await organization());
        await put(ids.at(-1)!, person);
      }
      const id = await organization();
      const made = await tenant.make('POST', `/organizations/${id}/invitations`, { email: person.email, mail: false });
      const fields = { invitation: String(made['invitation_url']).split('#')[1]! };
      assert.match(await textOf(await visitor.submit('/organizations/join', fields), 409), /as many as one may be in/);
      assert.equal((await tenant.call('DELETE', `/organizations/${ids[0]}/members/${person.id}`)).status, 204);
      assert.equal((await visitor.submit('/organizations/join', fields)).status, 303);
      assert.ok(Buffer.byteLength(await textOf(await visitor.page('/organizations'), 200)) < 150_000);
    });

    it('names of organisations, roles, people and addresses are text', async () => {
      for (const text of xssCorpus) {
        const id = await organization({ display_name: text.slice(0, 200) });
        const boss = await manager(id, { display_name: text.slice(0, 200) });
        for (const path of [
          '/organizations',
          `/organizations/${id}`,
          `/organizations/${id}/members/${boss.person.id}`,
          `/organizations/${id}/leave`,
        ])
          assertEscaped(await textOf(await boss.visitor.page(path), 200), text.slice(0, 200));
        assertEscaped(await textOf(await boss.visitor.page(`/organizations/${id}?search=${encodeURIComponent(text)}`), 200), text);
      }
    });

    it('every language has its pages', async () => {
      const id = await organization();
      const boss = await manager(id);
      for (const [language, word] of [
        ['de', 'Mitglieder'],
        ['fr', 'Membres'],
        ['ja', 'メンバー'],
      ] as const) {
        await tenant.make('PATCH', `/users/${boss.person.id}`, { preferred_language: language });
        assert.ok((await textOf(await boss.visitor.page(`/organizations/${id}`), 200)).includes(word));
      }
    });
  });

for (const database of databases)
  describe(`sign-ins that managers see on ${database}`, async () => {
    const world = await openSsoWorld(database);
    const { server, tenant, authorize, signInAt, asksToSignIn } = world;
    after(() => server.close());

    it('those of members for this organisation, and no others', async () => {
      const { services } = server.gatehouse;
      const managed = await world.manager();
      await managed.make('POST', '/organization-roles', { name: 'manager', manage: true });
      const [acme, globex] = [
        String((await managed.make('POST', '/organizations', { name: 'acme' }))['id']),
        String((await managed.make('POST', '/organizations', { name: 'globex' }))['id']),
      ];
      const client = await createClient(services, tenant, { scopes: ['openid', 'organization'] });
      const [ada, bob, boss] = [await createUser(services, tenant), await createUser(services, tenant), await createUser(services, tenant)];
      const put = (id: string, user: { readonly id: string }, roles: readonly string[] = []) =>
        managed.make('PUT', `/organizations/${id}/members/${user.id}`, { roles });
      await put(acme, boss, ['manager']);
      await put(acme, ada);
      await put(globex, bob);
      const signIn = async (user: FixtureUser, changes: Record<string, string>): Promise<void> => {
        const browser = openBrowser();
        await signInAt(browser, asksToSignIn(await authorize(browser, { scope: 'openid', ...changes }, client)), user);
      };
      await signIn(ada, { organization: acme });
      await signIn(ada, { scope: 'openid organization' });
      await signIn(ada, {});
      await signIn(bob, { organization: globex });
      await signIn(bob, { organization: acme }); // refused: no member
      const { visitor } = await openApp(server, 'account', managed, boss.email);
      const rowsOf = async (id: string): Promise<number> =>
        ((await textOf(await visitor.page(`/organizations/${id}/sign-ins`), 200)).match(/<li><span><strong>/g) ?? []).length;
      assert.equal(await rowsOf(acme), 2);
      await put(globex, boss, ['manager']);
      assert.equal(await rowsOf(globex), 1);
      await put(acme, bob);
      const page = await textOf(await visitor.page(`/organizations/${acme}/sign-ins`), 200);
      assert.match(page, /Was refused at/);
      await managed.call('DELETE', `/organizations/${acme}/members/${ada.id}`);
      assert.equal(await rowsOf(acme), 1);
    });
  });

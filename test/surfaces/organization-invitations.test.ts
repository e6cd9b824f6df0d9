// Invitations into organisations (design 19): made by the Management API and by whoever manages one, to an address of which nobody learns
// whether somebody has it; used once, by whoever the address is of.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  openOrganizationInvitationsMax,
  organizationInvitationsPerAddressMax,
  organizationInvitationsPerDayMax,
} from '../../src/contract/organization-limits.ts';
import type { TenantId } from '../../src/domain/ids.ts';
import { createAccountTenant, openAccount, textOf, withoutRequest } from '../support/account.ts';
import { databases } from '../support/databases.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { machineWith } from '../support/roles.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';

for (const database of databases)
  describe(`invitations into organisations on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let made = 0;
    const fresh = (): number => {
      made += 1;
      return made;
    };
    const organization = async (fields: Json = {}, of = tenant): Promise<string> =>
      String((await of.make('POST', '/organizations', { name: `org-${fresh()}`, ...fields }))['id']);
    const address = (): string => `new-${fresh()}@x.example`;
    const invite = (id: string, body: Json, of = tenant): Promise<Response> => of.call('POST', `/organizations/${id}/invitations`, body);
    const invited = async (id: string, body: Json): Promise<Json> => jsonOf(await invite(id, { mail: false, ...body }), 201);
    const tokenOf = ({ invitation_url: url }: Json): string => String(url).split('#')[1]!;
    const open = (token: string, headers: Readonly<Record<string, string>> = { accept: html }, of = tenant): Promise<Response> =>
      fetch(`${of.baseUrl}/welcome`, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ token }) });
    const membersOf = async (id: string): Promise<readonly Json[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${id}/members`)).items;
    const listed = async (id: string, query = ''): Promise<readonly Json[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', `/organizations/${id}/invitations${query}`)).items;
    const join = (visitor: AppVisitor, token: string): Promise<Response> => visitor.submit('/organizations/join', { invitation: token });
    const joinPath = (token: string): string => `/organizations/join?invitation=${token}`;
    const typesOf = async (id: string): Promise<readonly unknown[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', `/events?target=organization:${id}`)).items.map(({ type }) => type).reverse();

    before(async () => {
      server = await startTestServer(database);
      tenant = await createAccountTenant(server, { rate_limits: { login_starts_per_ip: roomyRate, pin_attempts_per_ip: roomyRate } });
      await tenant.make('POST', '/organization-roles', { name: 'approver' });
      await tenant.make('POST', '/organization-roles', { name: 'manager', manage: true });
    });
    after(() => server.close());

    it('whoever has no account gets one by the link, and is a member with the roles; the link works once', async () => {
      const [id, email] = [await organization({ display_name: 'Acme Ltd' }), address()];
      const answer = await jsonOf(await invite(id, { email, roles: ['approver', 'approver'] }), 201);
      assert.deepEqual([answer['email'], answer['roles'], answer['state'], answer['mailed']], [email, ['approver'], 'open', true]);
      const [mail] = await mailsTo(server, email);
      assert.match(String(mail?.subject), /^Join Acme Ltd at /);
      assert.ok(mail?.text.includes(String(answer['invitation_url'])));
      assert.ok(!JSON.stringify(await listed(id)).includes(tokenOf(answer)));
      for (const path of ['/welcome', `/welcome?token=${tokenOf(answer)}`])
        await fetch(`${tenant.baseUrl}${path}`, { headers: { accept: html } });
      const begun = await open(tokenOf(answer));
      assert.deepEqual([begun.status, begun.headers.get('location')], [303, `${new URL(tenant.baseUrl).pathname}/welcome/add`]);
      const [member] = await membersOf(id);
      assert.deepEqual([member?.['user_name'], member?.['roles']], [email, ['approver']]);
      const again = await open(tokenOf(answer), { accept: 'application/json' });
      const never = await open('x'.repeat(43), { accept: 'application/json' });
      assert.deepEqual([again.status, await again.text()], [404, await never.text()]);
      assert.equal((await listed(id))[0]?.['state'], 'used');
      assert.deepEqual(await listed(id, '?state=open'), []);
      assert.deepEqual(await typesOf(id), ['organization.created', 'organization.invitation_created', 'organization.member_added']);
      const { visitor } = await openApp(server, 'account', tenant, email);
      assert.match(await textOf(await visitor.page('/organizations'), 200), /Acme Ltd/);
    });

    it('whoever has an account signs in as the person of the address and presses Join; nobody else sees the invitation', async () => {
      const id = await organization({ display_name: 'Globex' });
      const { visitor, person } = await openAccount(server, tenant);
      const { visitor: stranger } = await openAccount(server, tenant);
      const token = tokenOf(await invited(id, { email: person.email.toUpperCase(), roles: ['approver'] }));
      const led = await open(token);
      assert.deepEqual(
        [led.status, led.headers.get('location')],
        [303, `${new URL(tenant.baseUrl).pathname}/account/organizations/join?invitation=${token}`],
      );
      const unknown = withoutRequest(await textOf(await stranger.page(joinPath('x'.repeat(43))), 404));
      assert.equal(withoutRequest(await textOf(await stranger.page(joinPath(token)), 404)), unknown);
      assert.equal(withoutRequest(await textOf(await join(stranger, token), 404)), unknown);
      assert.match(await textOf(await visitor.page(joinPath(token)), 200), /Join Globex\?/);
      assert.deepEqual(await membersOf(id), []);
      const joined = await join(visitor, token);
      assert.deepEqual([joined.status, joined.headers.get('location')?.endsWith('/account/organizations?done=doneJoined')], [303, true]);
      const [member] = await membersOf(id);
      assert.deepEqual([member?.['user_id'], member?.['roles']], [person.id, ['approver']]);
      assert.equal(
        withoutRequest(await textOf(await join(visitor, token), 404)),
        withoutRequest(await textOf(await join(visitor, 'x'), 404)),
      );
    });

    it('a link that many open at once makes one account and one member, and many who join at once are one member', async () => {
      const [id, email] = [await organization(), address()];
      const token = tokenOf(await invited(id, { email }));
      const answers = await Promise.all(Array.from({ length: 8 }, () => open(token)));
      const ways = answers.filter((answer) => answer.headers.get('location')?.endsWith('/welcome/add') === true);
      assert.equal(ways.length, 1);
      assert.equal((await membersOf(id)).length, 1);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', `/users?search=${email}`);
      assert.equal(items.length, 1);
      const { visitor, person } = await openAccount(server, tenant);
      const second = tokenOf(await invited(id, { email: person.email }));
      const joins = await Promise.all(Array.from({ length: 8 }, () => join(visitor, second)));
      assert.deepEqual(joins.map(({ status }) => status).toSorted(), [303, ...Array.from({ length: 7 }, () => 404)]);
      assert.equal((await membersOf(id)).length, 2);
    });

    it('a newer one of the address takes its place; one is withdrawn, ends in time, and with its organisation', async () => {
      const [id, email] = [await organization(), address()];
      const first = await invited(id, { email });
      const second = await invited(id, { email: email.toUpperCase() });
      assert.equal((await open(tokenOf(first))).status, 404);
      assert.deepEqual(
        (await listed(id)).map(({ state }) => state),
        ['open', 'revoked'],
      );
      const at = `/organizations/${id}/invitations`;
      for (const unknown of [randomUUID(), 'x', String(first['id'])])
        assert.equal((await tenant.call('DELETE', `${at}/${unknown}`)).status, 404, unknown);
      const elsewhere = await organization();
      assert.equal((await tenant.call('DELETE', `/organizations/${elsewhere}/invitations/${String(second['id'])}`)).status, 404);
      assert.equal((await tenant.call('DELETE', `${at}/${String(second['id'])}`)).status, 204);
      assert.equal((await open(tokenOf(second))).status, 404);
      const third = await invited(id, { email });
      await tenant.make('PATCH', `/organizations/${id}`, { enabled: false });
      assert.equal((await open(tokenOf(third))).status, 404);
      await tenant.make('PATCH', `/organizations/${id}`, { enabled: true });
      await server.clock.advance(7 * 24 * 3600 * 1000 + 1000);
      assert.equal((await open(tokenOf(third))).status, 404);
      assert.equal((await listed(id))[0]?.['state'], 'expired');
    });

    it('whoever left does not come again by an older one; a role that is gone is not given; a member stays as they are', async () => {
      const id = await organization();
      const { visitor, person } = await openAccount(server, tenant);
      await tenant.make('PUT', `/organizations/${id}/members/${person.id}`, { roles: ['approver'] });
      const asMember = tokenOf(await invited(id, { email: person.email, roles: ['manager'] }));
      assert.equal((await join(visitor, asMember)).status, 303);
      assert.deepEqual((await membersOf(id))[0]?.['roles'], ['approver']);
      const older = tokenOf(await invited(id, { email: person.email }));
      assert.equal((await tenant.call('DELETE', `/organizations/${id}/members/${person.id}`)).status, 204);
      assert.equal((await join(visitor, older)).status, 404);
      await tenant.make('POST', '/organization-roles', { name: 'passing' });
      const passing = tokenOf(await invited(id, { email: person.email, roles: ['passing', 'approver'] }));
      assert.equal((await tenant.call('DELETE', '/organization-roles/passing')).status, 204);
      assert.equal((await join(visitor, passing)).status, 303);
      assert.deepEqual((await membersOf(id))[0]?.['roles'], ['approver']);
    });

    it('what is no invitation is refused at its field; ids of other tenants are unknown', async () => {
      const id = await organization();
      const wrong: readonly (readonly [Json, string])[] = [
        [{}, 'email'],
        [{ email: 'x' }, 'email'],
        [{ email: null }, 'email'],
        [{ email: 1 }, 'email'],
        [{ email: `${'x'.repeat(320)}@x.example` }, 'email'],
        [{ email: 'a b@x.example' }, 'email'],
        [{ email: 'a@x.example', roles: ['nobody'] }, 'roles'],
        [{ email: 'a@x.example', roles: 'approver' }, 'roles'],
        [{ email: 'a@x.example', roles: null }, 'roles'],
        [{ email: 'a@x.example', roles: Array.from({ length: 51 }, (_, at) => `r${at}`) }, 'roles'],
        [{ email: 'a@x.example', mail: 'no' }, 'mail'],
        [{ email: 'a@x.example', surprise: 1 }, 'surprise'],
      ];
      for (const [body, field] of wrong) assert.equal((await jsonOf(await invite(id, body), 400))['kind'], field, JSON.stringify(body));
      const other = await createTestTenant(server);
      const foreign = await organization({}, other);
      const unknown = await jsonOf(await invite(randomUUID(), { email: 'a@x.example' }), 404);
      for (const named of [foreign, 'x']) {
        assert.deepEqual(await jsonOf(await invite(named, { email: 'a@x.example' }), 404), unknown);
        assert.deepEqual(await jsonOf(await tenant.call('GET', `/organizations/${named}/invitations`), 404), unknown);
        assert.deepEqual(await jsonOf(await tenant.call('DELETE', `/organizations/${named}/invitations/x`), 404), unknown);
      }
      const token = tokenOf(await jsonOf(await invite(foreign, { email: 'a@x.example', mail: false }, other), 201));
      assert.equal((await open(token)).status, 404);
      assert.equal((await open(token, { accept: html }, other)).status, 303);
    });

    it('what each capability allows: it makes accounts, tells addresses, and gives what managers may do', async () => {
      const id = await organization();
      const may = async (capabilities: readonly string[]): Promise<readonly number[]> => {
        const machine = await machineWith(tenant, capabilities);
        const at = `/organizations/${id}/invitations`;
        return [
          (await machine.call('POST', at, { email: address() })).status,
          (await machine.call('POST', at, { email: address(), roles: ['manager'] })).status,
          (await machine.call('GET', at)).status,
          (await machine.call('DELETE', `${at}/x`)).status,
        ];
      };
      assert.deepEqual(await may(['organizations:write', 'users:write', 'invitations:write']), [201, 403, 403, 404]);
      assert.deepEqual(await may(['organizations:write', 'users:write']), [403, 403, 403, 403]);
      assert.deepEqual(await may(['organizations:write', 'invitations:write']), [403, 403, 403, 404]);
      assert.deepEqual(await may(['organizations:read', 'invitations:read', 'users:read']), [403, 403, 200, 403]);
      assert.deepEqual(await may(['organizations:read', 'invitations:read']), [403, 403, 403, 403]);
    });

    it('openOrganizationInvitationsMax, organizationInvitationsPerDayMax and organizationInvitationsPerAddressMax', async () => {
      const [id, email] = [await organization(), address()];
      for (let at = 0; at < organizationInvitationsPerAddressMax; at += 1) await invited(id, { email });
      assert.equal((await jsonOf(await invite(id, { email }), 409))['kind'], 'email');
      const { services } = server.gatehouse;
      const fill = (of: string, count: number, age: number) =>
        services.database.write(tenant.id as TenantId, async (queries) => {
          const row = await queries
            .selectFrom('organization_invitations')
            .selectAll()
            .where('tenant_id', '=', tenant.id as TenantId)
            .where('organization_id', '=', id)
            .where('revoked_at', 'is', null)
            .executeTakeFirstOrThrow();
          const rows = Array.from({ length: count }, () => {
            const key = randomUUID();
            return { ...row, id: key, token_hash: key, email_key: key, organization_id: of, created_at: row.created_at - age };
          });
          for (let from = 0; from < rows.length; from += 500)
            await queries
              .insertInto('organization_invitations')
              .values(rows.slice(from, from + 500))
              .execute();
        });
      const day = 24 * 3600 * 1000;
      const [waiting, sent] = [await organization(), await organization()];
      await fill(waiting, openOrganizationInvitationsMax - 1, day);
      await fill(sent, organizationInvitationsPerDayMax - 1, 0);
      for (const full of [waiting, sent]) {
        const answers = await Promise.all([1, 2, 3].map(() => invite(full, { email: address() })));
        assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409, 409]);
      }
    });
  });

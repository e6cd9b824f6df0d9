// Operators enter a tenant by a one-time POST in the root console (design 13, section 2; decision 40): a banner says so, what they do is
// recorded with who they are, and it ends with the button, the hour, the session or the capability. Nobody else gets in.
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { manageRootTenant } from '../support/root-tenant.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
type Fields = Readonly<Record<string, string>>;
const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';

for (const database of databases) {
  describe(`operators in tenants on ${database}`, () => {
    let server: TestServer;
    let root: Managed;
    let acme: Managed;
    let adminEmail: string;
    before(async () => {
      server = await startTestServer(database);
      root = await manageRootTenant(server);
      await root.make('PATCH', '/settings', { login_methods: ['email_pin'] });
      ({ tenant: acme, email: adminEmail } = await createConsoleTenant(server));
    });
    after(() => server.close());

    let people = 0;
    /** An operator at the root console, with these roles. */
    const operator = async (roles: readonly string[] = ['owner']): Promise<{ readonly id: string; readonly visitor: AppVisitor }> => {
      people += 1;
      const email = `olga${people}@main.example`;
      const { id } = await createTestUser(root, email, { display_name: `Olga ${people}`, admin_roles: roles });
      return { id, visitor: (await openConsole(server, root, email)).visitor };
    };
    const enterPath = (tenant: Pick<Managed, 'id'> = acme): string => `/tenants/${tenant.id}/enter`;
    /** The browser of an operator at a tenant's console, from the address below. */
    const at = (visitor: AppVisitor, path: string, tenant: Managed = acme): Promise<Response> =>
      fetch(`${tenant.baseUrl}/console${path}`, { redirect: 'manual', headers: { accept: html, cookie: visitor.cookie() } }).then(
        visitor.keep,
      );
    const csrfOf = (page: string): string => /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    const post = (visitor: AppVisitor, path: string, fields: Readonly<Record<string, string>>, origin = new URL(acme.baseUrl).origin) =>
      fetch(`${acme.baseUrl}/console${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { accept: html, cookie: visitor.cookie(), origin },
        body: new URLSearchParams(fields),
      }).then(visitor.keep);
    const enter = async (visitor: AppVisitor): Promise<string> => {
      const answer = await visitor.submit(enterPath(), {});
      assert.equal(answer.status, 303, noticeOf(await answer.clone().text()));
      assert.equal(answer.headers.get('location'), `${acme.baseUrl}/console`);
      const page = await at(visitor, '');
      assert.equal(page.status, 200);
      return page.text();
    };
    const eventsOf = async (tenant: Managed, type: string): Promise<readonly Json[]> =>
      (await tenant.make<{ items: readonly Json[] }>('GET', `/events?type=${type}`)).items;

    it('is offered in the header and the list, leads to the console of the tenant with a banner, and back', async () => {
      const { id, visitor } = await operator();
      const home = await (await visitor.page('')).text();
      assert.match(home, new RegExp(`<details class="switch">[\\s\\S]*action="/console/tenants/${acme.id}/enter"`));
      assert.match(
        await (await visitor.page('/tenants')).text(),
        new RegExp(`data-label="Enter"><form method="post" action="/console${enterPath()}`),
      );
      assert.match(await (await visitor.page(`/tenants/${acme.id}`)).text(), /id="act-enter"/);
      const page = await enter(visitor);
      assert.match(page, /class="operator"[\s\S]*You are in <b>[^<]+<\/b> as an operator, Olga 1\./);
      assert.doesNotMatch(page, /class="switch"|Tenants<\/a>/);
      assert.ok((await (await at(visitor, '/users')).text()).includes(adminEmail));
      const [entered] = await eventsOf(acme, 'operator.entered');
      assert.deepEqual([entered?.['actor'], entered?.['target']], [`operator:user:${id}`, `tenant:${acme.id}`]);
      const [left] = [await post(visitor, '/sign-out', { csrf: csrfOf(page) })];
      assert.deepEqual([left.status, left.headers.get('location')], [303, `${root.baseUrl}/console/tenants`]);
      assert.equal((await visitor.page('/tenants')).status, 200, 'at home the session goes on');
      assert.match((await at(visitor, '')).headers.get('location') ?? '', /\/authorize\?/);
      assert.equal((await eventsOf(acme, 'operator.left'))[0]?.['actor'], `operator:user:${id}`);
      assert.deepEqual(
        (await eventsOf(root, 'operator.*')).map(({ type, actor, target }) => [type, actor, target]),
        [
          ['operator.left', `user:${id}`, `tenant:${acme.id}`],
          ['operator.entered', `user:${id}`, `tenant:${acme.id}`],
        ],
      );
    });

    it('what is changed there is recorded with who it was, and told so on the events page', async () => {
      const { id, visitor } = await operator();
      const page = await enter(visitor);
      const made = await post(visitor, '/groups', { csrf: csrfOf(page), display_name: 'By the operator' });
      assert.equal(made.status, 303);
      const [event] = await eventsOf(acme, 'group.created');
      assert.equal(event?.['actor'], `operator:user:${id}`);
      assert.match(await (await at(visitor, '/events?type=group.created')).text(), /The operator/);
    });

    it('a form of theirs acts once, and only with its token and from our own pages', async () => {
      const { visitor } = await operator();
      const page = await enter(visitor);
      const form = { csrf: csrfOf(page), display_name: 'Once' };
      for (const _time of [1, 2]) assert.equal((await post(visitor, '/groups', form)).status, 303);
      const { items } = await acme.make<{ items: readonly Json[] }>('GET', '/groups?search=Once');
      assert.equal(items.length, 1);
      await assertPageRefused(await post(visitor, '/groups', { ...form, csrf: 'wrong.1' }));
      await assertPageRefused(await post(visitor, '/groups', { ...form, csrf: csrfOf(page) }, 'https://evil.example'));
      await assertPageRefused(await post(visitor, '/groups', { ...form, csrf: `${visitor.csrf}.1` }), 'the token of the session at home');
    });

    const assertPageRefused = async (response: Response, what = ''): Promise<void> => assert.equal(response.status, 403, what);

    it('entering is a post with the token of the session, from our own pages, once', async () => {
      const { visitor } = await operator();
      assert.equal((await visitor.page(enterPath())).status, 405);
      for (const changes of [{ csrf: 'wrong' }, { csrf: '' }, { origin: 'https://evil.example' }, { origin: 'null' }])
        await assertPageRefused(await visitor.submit(enterPath(), {}, changes));
      assert.match((await at(visitor, '')).headers.get('location') ?? '', /\/authorize\?/);
      const before = (await eventsOf(acme, 'operator.entered')).length;
      for (const _time of [1, 2]) assert.equal((await visitor.submit(enterPath(), {}, { id: 'one-form' })).status, 303);
      assert.equal((await eventsOf(acme, 'operator.entered')).length, before + 1);
    });

    it('an administrator of the tenant, of another one, and whoever is signed in to nothing: no', async () => {
      const { visitor: admin } = await openConsole(server, acme, adminEmail);
      const { tenant: other, email } = await createConsoleTenant(server);
      const { visitor: stranger } = await openConsole(server, other, email);
      for (const visitor of [admin, stranger])
        for (const tenant of [acme, other, root]) assert.equal((await visitor.submit(enterPath(tenant), {})).status, 404);
      const none = await fetch(`${root.baseUrl}/console${enterPath()}`, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(),
      });
      assert.match(none.headers.get('location') ?? '', /\/authorize\?/);
      assert.doesNotMatch(await (await stranger.page('')).text(), /class="switch"/);
    });

    it('an administrator of the root tenant without the capability: neither button nor way', async () => {
      for (const roles of [['support'], ['auditor']]) {
        const { visitor } = await operator(roles);
        assert.doesNotMatch(await (await visitor.page('')).text(), /class="switch"/);
        assert.doesNotMatch(await (await visitor.page('/tenants')).text(), /\/enter"/);
        await assertPageRefused(await visitor.submit(enterPath(), {}));
      }
    });

    it('in the tenant they may do what their own roles allow at home, and no more', async () => {
      await root.make('POST', '/roles', {
        name: 'reader-of-tenants',
        capabilities: ['tenants:read', 'tenants:write', 'users:read', 'events:read'],
      });
      const { visitor } = await operator(['reader-of-tenants']);
      const page = await enter(visitor);
      assert.equal((await at(visitor, '/users')).status, 200);
      assert.match(await (await at(visitor, '/groups')).text(), /lacks the capability “See groups”/);
      const refused = await post(visitor, '/users', { csrf: csrfOf(page), user_name: 'planted', email_list: '', role: 'admin' });
      assert.equal(refused.status, 400);
      assert.match(noticeOf(await refused.text()), /lacks the capability “Change people”/);
      await root.make('POST', '/roles', {
        name: 'tenants-and-people',
        capabilities: ['tenants:read', 'tenants:write', 'users:read', 'users:write', 'events:read'],
      });
      const { visitor: writer } = await operator(['tenants-and-people']);
      const there = await enter(writer);
      const { items } = await acme.make<{ items: readonly Json[] }>('GET', `/users?search=${adminEmail}`);
      const suspended = await post(writer, `/users/${items[0]?.['id']}/suspend`, { csrf: csrfOf(there), sure: 'yes' });
      assert.equal(suspended.status, 400, 'the person holds what they lack');
    });

    const ended = async (visitor: AppVisitor): Promise<void> => {
      const page = await at(visitor, '/users');
      assert.equal(page.status, 403);
      assert.match(await page.text(), /You are no longer in this tenant/);
    };

    it('ends at once: with the role, the suspension, the sign-out at home, or when the sessions are ended', async () => {
      const ends: readonly ((id: string, visitor: AppVisitor) => Promise<unknown>)[] = [
        (id) => root.make('PUT', `/users/${id}/roles`, { roles: ['auditor'] }),
        (id) => root.make('PUT', `/users/${id}/roles`, { roles: [] }),
        (id) => root.make('POST', `/users/${id}/suspend`, {}),
        (id) => root.make('DELETE', `/users/${id}`),
        (id) => root.make('DELETE', `/users/${id}/sessions`),
        (_id, visitor) => visitor.submit('/sign-out', {}),
      ];
      await operator(); // an owner remains
      for (const end of ends) {
        const { id, visitor } = await operator();
        await enter(visitor);
        const cookie = visitor.cookie();
        await end(id, visitor);
        await ended({ ...visitor, cookie: () => cookie });
      }
    });

    it('opens one tenant alone, and no other surface', async () => {
      const { tenant: other } = await createConsoleTenant(server);
      const { visitor } = await operator();
      await enter(visitor);
      const renamed = visitor.cookie().replaceAll(`-${acme.slug}=`, `-${other.slug}=`);
      const page = await at({ ...visitor, cookie: () => renamed }, '', other);
      assert.match(page.headers.get('location') ?? '', /\/authorize\?/);
      const bearer = await bearerOf(visitor);
      for (const tenant of [other, root])
        await assertRefusal(await callWith(tenant, bearer, '/v1/management/users'), 'management.unauthorized');
      assert.equal((await callWith(acme, bearer, '/v1/management/users')).status, 200);
      assert.equal((await callWith(acme, bearer, '/scim/v2/Users')).status, 401);
      assert.equal((await callWith(acme, bearer, '/v1/idp/oidc/userinfo')).status, 401);
      assert.equal((await callWith(root, bearer, '/v1/management/tenants')).status, 401);
      for (const forged of [bearer.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), 'operator.x.y', 'operator.'])
        await assertRefusal(await callWith(acme, forged, '/v1/management/users'), 'management.unauthorized');
    });

    /** What the calls of that browser carry: only the server can open its cookie. */
    const bearerOf = async (visitor: AppVisitor): Promise<string> => {
      const stored = await server.gatehouse.services.tenants.bySlug(acme.slug);
      const sealed =
        visitor
          .cookie()
          .split('; ')
          .find((pair) => pair.startsWith(`gh-console-operator-${acme.slug}=`))
          ?.split('=')[1] ?? '';
      const opened = server.gatehouse.services.encryption.open(sealed, `console-operator:${stored!.id}`);
      return String((JSON.parse(opened) as Json)['bearer']);
    };
    const callWith = (tenant: Managed, bearer: string, path: string): Promise<Response> =>
      fetch(`${tenant.baseUrl}${path}`, { headers: { authorization: `Bearer ${bearer}` } });

    it('the root tenant, a disabled and an unknown one are not entered; disabled while one is in, it is closed', async () => {
      const { visitor } = await operator();
      const own = await visitor.submit(enterPath(root), {});
      assert.equal(own.status, 409);
      assert.match(noticeOf(await own.text()), /the tenant you are in/);
      assert.equal((await visitor.submit('/tenants/nobody/enter', {})).status, 404);
      await enter(visitor);
      await root.make('GET', '/me');
      await visitor.act(`/tenants/${acme.id}/disable`, { sure: 'yes' });
      assert.equal((await at(visitor, '/users')).status, 404);
      const disabled = await visitor.submit(enterPath(), {});
      assert.equal(disabled.status, 409);
      assert.match(noticeOf(await disabled.text()), /is disabled/);
      assert.equal((await visitor.submit(`/tenants/${acme.id}/enable`, {})).status, 303);
    });

    it('beside a session of their own in that tenant: it is there again after leaving', async () => {
      await server.clock.advance(60_000); // another code is mailed a minute later
      const { visitor: admin } = await openConsole(server, acme, adminEmail);
      const { visitor } = await operator();
      const page = await enter(visitor);
      const both = { ...visitor, cookie: () => `${visitor.cookie()}; ${admin.cookie()}` };
      assert.match(await (await at(both, '')).text(), /class="operator"/);
      await post(visitor, '/sign-out', { csrf: csrfOf(page) });
      assert.doesNotMatch(await (await at(both, '')).text(), /class="operator"/);
    });

    it('a tenant with a domain of its own: by a form that is posted there once, within a minute, from our page alone', async () => {
      const host = `login.${database}.example`;
      const { tenant: own } = await createConsoleTenant(server);
      const { visitor } = await operator();
      assert.equal((await visitor.submit(`/tenants/${own.id}`, { name: 'Harbour', domain: host })).status, 303);
      const { port } = new URL(server.url);
      const send = (fields: Fields | undefined, more: Fields, path = '/console/enter') =>
        new Promise<{ readonly status: number; readonly headers: Json; readonly text: string }>((resolve, reject) => {
          const body = fields === undefined ? undefined : new URLSearchParams(fields).toString();
          const form = body !== undefined && {
            'content-type': 'application/x-www-form-urlencoded',
            'content-length': Buffer.byteLength(body),
          };
          const headers = { host, accept: html, ...form, ...more };
          const sent = httpRequest({ host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', headers }, (response) => {
            let text = '';
            response.on('data', (chunk: Buffer) => (text += chunk.toString()));
            response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers as Json, text }));
          });
          sent.on('error', reject);
          sent.end(body);
        });
      const home = new URL(root.baseUrl).origin;
      const ask = async (): Promise<string> => {
        const page = await visitor.submit(enterPath(own), {});
        assert.equal(page.status, 200);
        assert.match(page.headers.get('content-security-policy') ?? '', new RegExp(`form-action 'self' https://${host}`));
        assert.equal(page.headers.get('referrer-policy'), 'strict-origin');
        const text = await page.text();
        assert.ok(text.includes(`action="https://${host}/console/enter"`));
        return /name="entry" value="([^"]+)"/.exec(text)?.[1] ?? '';
      };
      const entry = await ask();
      for (const headers of [{}, { origin: 'null' }, { origin: 'https://evil.example' }, { origin: `https://${host}` }])
        assert.equal((await send({ entry }, headers)).status, 403, JSON.stringify(headers));
      const asked = await send(undefined, { authorization: `Bearer ${entry}` }, '/v1/management/users');
      assert.equal(asked.status, 401, 'what is handed over is worth nothing to the API');
      const opened = await send({ entry }, { origin: home });
      assert.deepEqual([opened.status, opened.headers['location']], [303, `https://${host}/console`]);
      const [cookie = ''] = (opened.headers['set-cookie'] as readonly string[]).map((line) => line.split(';', 1)[0]!);
      assert.match(cookie, new RegExp(`^__Host-gh-console-operator-${own.slug}=`));
      assert.match((await send(undefined, { cookie }, '/console')).text, /You are in <b>Harbour<\/b> as an operator/);
      assert.equal((await send({ entry }, { origin: home })).status, 403, 'a second time');
      const late = await ask();
      await server.clock.advance(61_000);
      assert.equal((await send({ entry: late }, { origin: home })).status, 403, 'too late');
      const elsewhere = await ask();
      assert.equal((await post(visitor, '/enter', { entry: elsewhere }, home)).status, 403, 'at another tenant');
      await assertRefusal(await callWith(acme, elsewhere, '/v1/management/users'), 'management.unauthorized');
    });

    it('ends after an hour, and a cookie kept by somebody is worth nothing after leaving', async () => {
      const { visitor } = await operator();
      const page = await enter(visitor);
      const cookie = visitor.cookie();
      await post(visitor, '/sign-out', { csrf: csrfOf(page) });
      await ended({ ...visitor, cookie: () => cookie });
      const { visitor: late } = await operator();
      await enter(late);
      await server.clock.advance(3_590_000);
      assert.equal((await at(late, '/users')).status, 200);
      await server.clock.advance(10_000);
      assert.match((await at(late, '/users')).headers.get('location') ?? '', /\/authorize\?/);
    });
  });
}

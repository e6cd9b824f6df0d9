// The overview's first steps, which are done when they were seen to work, its sign-ins of late, and the page that invites people (design 13,
// section 2).
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { invitedAtOnceMax, linksAtOnceMax } from '../../src/contract/limits.ts';
import { insertAuditEvent } from '../../src/storage/records/audit-events.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { type AppVisitor, openApp } from '../support/first-party-app.ts';
import { openLogin, signInByPin, type TestLogin } from '../support/login.ts';
import { arrivalCodeOf, mailsTo } from '../support/mailbox.ts';
import type { Json, Managed } from '../support/management.ts';
import { challenge } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const noticeOf = (page: string): string => /id="notice">([^<]*)</.exec(page)?.[1] ?? '';

for (const database of databases) {
  describe(`console first steps on ${database}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(database);
    });
    after(() => server.close());

    const open = async (person: Json = {}): Promise<{ tenant: Managed; email: string; visitor: AppVisitor }> => {
      const made = await createConsoleTenant(server, person);
      const { visitor } = await openConsole(server, made.tenant, made.email);
      return { ...made, visitor };
    };
    const show = async (visitor: AppVisitor, path: string): Promise<string> => {
      const response = await visitor.page(path);
      const text = await response.text();
      assert.equal(response.status, 200, noticeOf(text));
      assert.ok(Buffer.byteLength(text) < 60_000, `${path}: ${Buffer.byteLength(text)} bytes`);
      return text;
    };
    /** Steps that are done, and where the next one leads. */
    const steps = async (visitor: AppVisitor): Promise<{ readonly done: readonly string[]; readonly next: string | undefined }> => {
      const page = await show(visitor, '');
      const all = [...page.matchAll(/<li id="step-([\w-]+)"><span class="badge (good|plain)">/g)];
      const next = /id="next-step" href="[^"]*?(\/console[^"]*|\/docs[^"]*)"/.exec(page)?.[1];
      return { done: all.filter(([, , badge]) => badge === 'good').map(([, id]) => id!), next };
    };
    const signedIn = async (tenant: Managed, target: string): Promise<void> => {
      const { services } = server.gatehouse;
      const { id } = (await services.tenants.bySlug(tenant.slug))!;
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users?limit=1');
      const event = { type: 'login.finished', actor: `user:${String(items[0]!['id'])}`, target, data: { method: 'passkey' } } as const;
      await services.database.write(id, (queries) => insertAuditEvent(queries, id, server.clock.nowMs(), event));
    };

    const redirect = 'https://shop.example/cb';
    const make = async (tenant: Managed): Promise<string> =>
      String(
        (await tenant.make('POST', '/clients', { name: 'Shop', type: 'public', scopes: ['openid'], redirect_uris: [redirect] }))[
          'client_id'
        ],
      );
    const person = async (tenant: Managed, name: string, fields: Json = {}): Promise<Json & { readonly email: string }> => {
      const email = `${name}@${tenant.slug}.example`;
      return {
        ...(await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], ...fields })),
        email,
      };
    };
    /** At the sign-in page of an application. */
    const begin = async (tenant: Managed, client: string): Promise<TestLogin> => {
      await server.clock.advance(61_000); // a mailbox may be written to again
      const query = {
        response_type: 'code',
        client_id: client,
        redirect_uri: redirect,
        scope: 'openid',
        state: 's',
        code_challenge: challenge,
      };
      const at = `${tenant.baseUrl}/v1/idp/oidc/authorize?${new URLSearchParams({ ...query, code_challenge_method: 'S256' })}`;
      return openLogin(await fetch(at, { redirect: 'manual' }));
    };

    it('a step is done when it was seen to work, not when something was made; the next one is the first button', async () => {
      const { tenant, visitor, email } = await open({ role: 'user', admin_roles: ['owner'] });
      assert.match(await show(visitor, ''), /Sell to companies\?[\s\S]*\/console\/organizations"/);
      // The tenant's own Management client, the console's sign-in, and a server that would send mail count for nothing.
      assert.deepEqual(await steps(visitor), { done: [], next: '/console/mail/arrival' });
      await visitor.act('/mail/arrival', {});
      const code = await arrivalCodeOf(server, email);
      assert.equal((await steps(visitor)).next, '/console/mail/arrival', 'sent is not arrived');
      assert.equal(noticeOf(await visitor.act('/mail/arrival/code', { code })), 'Mails arrive.');
      assert.deepEqual(await steps(visitor), { done: ['mail'], next: '/console/clients/new' });
      await tenant.make('POST', '/clients', { name: 'Robot', grant_types: ['client_credentials'] });
      assert.equal((await steps(visitor)).next, '/console/clients/new');
      const shop = await make(tenant);
      assert.deepEqual(await steps(visitor), { done: ['mail'], next: `/console/clients/${shop}/start` }, 'made is not tried');
      await begin(tenant, shop);
      assert.deepEqual((await steps(visitor)).done, ['mail'], 'begun is not tried');
      await signInByPin(server, await begin(tenant, shop), email);
      assert.deepEqual(await steps(visitor), { done: ['mail', 'application'], next: '/console/users/invite' });
      const grace = await person(tenant, 'grace');
      assert.deepEqual(await steps(visitor), { done: ['mail', 'application'], next: '/console/users/invited' }, 'invited is not come');
      await openApp(server, 'account', tenant, grace.email);
      assert.deepEqual(await steps(visitor), { done: ['mail', 'application', 'people'], next: '/console/branding' });
      await tenant.make('PUT', '/branding/draft', { accent: '#0a5d3c' });
      assert.equal((await steps(visitor)).next, '/console/branding');
      await tenant.make('POST', '/branding/publish');
      assert.equal((await steps(visitor)).next, `/console/clients/${shop}/start`, 'neither administrators nor our own pages count');
      await signInByPin(server, await begin(tenant, shop), grace.email);
      assert.equal((await steps(visitor)).next, '/console/administrators/new');
      const second = await person(tenant, 'mary', { admin_roles: ['auditor'] });
      assert.equal((await steps(visitor)).next, '/console/administrators', 'given a role is not come');
      await openConsole(server, tenant, second.email);
      const page = await show(visitor, '');
      assert.match(page, /<details class="panel" id="first-steps"><summary>First steps: all 6 are done<\/summary>/);
      assert.doesNotMatch(page, /id="next-step"/);
      // What was seen once stays seen: tries are kept for a month, and the person may go.
      await tenant.make('DELETE', `/users/${String(grace['id'])}`);
      await server.clock.advance(31 * 86_400_000);
      const { visitor: later } = await openConsole(server, tenant, email);
      assert.match(await show(later, ''), /First steps: all 6 are done/);
    });

    it('a sign-in that was refused with its reason is a try of the application; who comes no more does not count as second', async () => {
      const { tenant, visitor, email } = await open({ role: 'user', admin_roles: ['owner'] });
      const shop = await make(tenant);
      const gone = await person(tenant, 'gone', { admin_roles: ['auditor'] });
      await openConsole(server, tenant, gone.email);
      assert.deepEqual((await steps(visitor)).done, ['second']);
      await tenant.make('POST', `/users/${String(gone['id'])}/suspend`);
      assert.deepEqual((await steps(visitor)).done, []);
      const login = await begin(tenant, shop);
      await login.post('identify', { identifier: email });
      await login.post('method', { method: 'email_pin' });
      await login.post('pin', { pin: '000000' });
      assert.deepEqual((await steps(visitor)).done, ['application']);
    });

    it('a SAML application that nobody came to leads to what its other side needs; whoever may change nothing sees no steps', async () => {
      const { tenant, visitor } = await open();
      await tenant.make('POST', '/service-providers', {
        name: 'Wiki',
        entity_id: 'https://wiki.example',
        acs: [{ url: 'https://wiki.example/acs' }],
      });
      assert.deepEqual((await steps(visitor)).done, []);
      assert.match(
        await show(visitor, ''),
        /id="step-application">[\s\S]*?href="[^"]*\/console\/service-providers">Hand it to the other side/,
      );
      const { email } = await person(tenant, 'auditor', { admin_roles: ['auditor'] });
      const { visitor: auditor } = await openConsole(server, tenant, email);
      const page = await show(auditor, '');
      assert.doesNotMatch(page, /first-steps/);
      assert.match(page, /id="sign-ins"/);
      assert.doesNotMatch(await show(auditor, '/users'), /id="primary"|id="new"/);
    });

    it('sign-ins of late: who, to what and how, the newest first, as links where there is a page', async () => {
      const { tenant, visitor } = await open();
      const { client_id: id } = await tenant.make('POST', '/clients', { name: 'Shop <b>', redirect_uris: ['https://shop.example/cb'] });
      for (let time = 0; time < 9; time += 1) await signedIn(tenant, `client:${String(id)}`);
      const page = await show(visitor, '');
      const panel = page.slice(page.indexOf('id="sign-ins"'));
      const rows = [...panel.slice(0, panel.indexOf('</section>')).matchAll(/<tr><td[\s\S]*?<\/tr>/g)].map(([row]) => row);
      assert.equal(rows.length, 8);
      assert.match(rows[0]!, new RegExp(`href="[^"]*/console/users/[^"]+">admin@${tenant.slug}\\.example</a>`));
      assert.match(rows[0]!, new RegExp(`href="[^"]*/console/clients/${String(id)}">Shop &#60;b&#62;</a>`));
      assert.match(rows[0]!, /passkey/);
    });

    it('People: inviting is the primary action, making by hand the second', async () => {
      const { visitor } = await open();
      const page = await show(visitor, '/users');
      assert.match(page, /class="button quiet" id="new" href="[^"]*\/console\/users\/new">New person</);
      assert.match(page, /class="button" id="primary" href="[^"]*\/console\/users\/invite">Invite people</);
    });

    it('invited by mail: new people are made, known ones are invited again, each once', async () => {
      const { tenant, visitor } = await open();
      const domain = `${tenant.slug}.mail.example`;
      await tenant.make('POST', '/users', { user_name: 'known', emails: [{ value: `known@${domain}`, primary: true }] });
      const emails = `new@${domain}\r\n\r\n  Known@${domain}\nnew@${domain}`;
      const page = await visitor.act('/users/invite', { emails, by: 'mail' });
      assert.equal(noticeOf(page), '2 people were invited by mail.');
      for (const name of ['new', 'known']) assert.equal((await mailsTo(server, `${name}@${domain}`)).length, 1, name);
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/users');
      assert.equal(items.length, 3);
      const again = await visitor.act('/users/invite', { emails: `new@${domain}`, by: 'mail' });
      assert.equal(noticeOf(again), `new@${domain} was invited by mail.`);
    });

    it('invited by link: the links are on the page for ten minutes, and work', async () => {
      const { tenant, visitor } = await open();
      const page = await visitor.act('/users/invite', { emails: 'one@link.example\ntwo@link.example', by: 'link' });
      assert.equal(noticeOf(page), '2 people were invited.');
      const links = [...page.matchAll(/<dt>([^<]+)<\/dt><dd><code class="copy"[^>]*>([^<]+)</g)].map(
        ([, who, link]) => [who, link!] as const,
      );
      assert.deepEqual(
        links.map(([who]) => who),
        ['one@link.example', 'two@link.example'],
      );
      const [welcome, token] = links[0]![1].split('#') as [string, string];
      const used = await fetch(welcome, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });
      assert.equal(used.status, 303);
      assert.ok(welcome.startsWith(tenant.baseUrl));
      assert.match(await show(visitor, '/users/invite'), /two@link\.example/);
      await server.clock.advance(600_000);
      assert.doesNotMatch(await show(visitor, '/users/invite'), /two@link\.example/);
    });

    it('what cannot be invited is told; with nobody invited the form keeps what was typed', async () => {
      const { tenant, visitor } = await open();
      const none = await visitor.submit('/users/invite', { emails: 'no address', by: 'mail' });
      const text = await none.text();
      assert.equal(none.status, 400);
      assert.match(noticeOf(text), /^Email addresses: no address: /);
      assert.match(text, /<textarea name="emails"[^>]* aria-invalid="true"[^>]*>\nno address<\/textarea>/);
      assert.equal((await visitor.submit('/users/invite', { emails: ' ', by: 'mail' })).status, 400);
      const { id } = await tenant.make('POST', '/users', { user_name: 'gone', emails: [{ value: 'gone@x.example', primary: true }] });
      await tenant.make('POST', `/users/${String(id)}/suspend`);
      const some = await visitor.act('/users/invite', { emails: 'gone@x.example\nhere@x.example', by: 'mail' });
      assert.match(noticeOf(some), /^1 person was invited by mail\. Not invited: gone@x\.example: The user is suspended\./);
    });

    it('so many at once and no more: invitedAtOnceMax by mail, linksAtOnceMax as links', async () => {
      const { tenant, visitor } = await open();
      const of = (count: number, name: string): string =>
        Array.from({ length: count }, (_none, at) => `${name}${at}@many.example`).join('\n');
      const people = async (): Promise<number> => (await tenant.make<{ items: readonly Json[] }>('GET', '/users?limit=200')).items.length;
      for (const [by, most] of [
        ['mail', invitedAtOnceMax],
        ['link', linksAtOnceMax],
      ] as const) {
        const before = await people();
        const refused = await visitor.submit('/users/invite', { emails: of(most + 1, by), by });
        assert.equal(refused.status, 400);
        assert.match(noticeOf(await refused.text()), new RegExp(`^Email addresses: ${most} at most at once`));
        assert.equal(await people(), before);
        assert.equal((await visitor.submit('/users/invite', { emails: of(most, by), by })).status, 303);
        assert.equal(await people(), before + most);
      }
      const shown = await show(visitor, '/users/invite');
      assert.equal(shown.match(/@many\.example<\/dt>/g)?.length, linksAtOnceMax);
    });

    it('a support role without invitations to give is refused and offered nothing', async () => {
      const { tenant } = await open();
      await tenant.make('POST', '/roles', { name: 'clerk', capabilities: ['users:read', 'users:write', 'events:read'] });
      const email = `clerk@${tenant.slug}.example`;
      await tenant.make('POST', '/users', { user_name: email, emails: [{ value: email, primary: true }], admin_roles: ['clerk'] });
      const { visitor } = await openConsole(server, tenant, email);
      const page = await show(visitor, '/users');
      assert.doesNotMatch(page, /id="primary"/);
      assert.match(page, /id="new"/);
      const refused = await visitor.submit('/users/invite', { emails: email, by: 'mail' });
      assert.equal(refused.status, 400);
      assert.equal((await mailsTo(server, email)).filter(({ text }) => text.includes('/welcome#')).length, 0);
    });
  });
}

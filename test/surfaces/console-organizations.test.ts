// The pages of one organisation in the console (design 19): invitations, set-up links, provider, domains, sign-in and activity; and that who may
// not do a thing is not offered it.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { textOf } from '../support/account.ts';
import { openBrowser } from '../support/browser.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import type { AppVisitor } from '../support/first-party-app.ts';
import { loginAt, signInByPin } from '../support/login.ts';
import { createTestUser, type Json, type Managed } from '../support/management.ts';
import { challenge, redirectUri } from '../support/oidc.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

for (const database of databases)
  describe(`organisations in the console on ${database}`, () => {
    let server: TestServer;
    let tenant: Managed;
    let owner: AppVisitor;
    let made = 0;
    before(async () => {
      server = await startTestServer(database);
      const created = await createConsoleTenant(server, { role: 'user', admin_roles: ['owner'] });
      tenant = created.tenant;
      owner = (await openConsole(server, tenant, created.email)).visitor;
      await tenant.make('POST', '/organization-roles', { name: 'approver', description: 'Approves orders' });
    });
    after(() => server.close());

    const organization = async (fields: Json = {}): Promise<string> => {
      made += 1;
      return String((await tenant.make('POST', '/organizations', { name: `acme-${made}`, display_name: `Acme ${made}`, ...fields }))['id']);
    };
    const listOf = async (path: string): Promise<readonly Json[]> => (await tenant.make<{ items: readonly Json[] }>('GET', path)).items;
    const show = async (path: string, visitor = owner, status = 200): Promise<string> => textOf(await visitor.page(path), status);
    const signIn = async (capabilities: readonly string[]): Promise<AppVisitor> => {
      made += 1;
      const name = `role-${made}`;
      await tenant.make('POST', '/roles', { name, description: 'Some of it', capabilities });
      await createTestUser(tenant, `${name}@x.example`, { admin_roles: [name] });
      return (await openConsole(server, tenant, `${name}@x.example`)).visitor;
    };
    const confirm = async (path: string): Promise<string> => {
      assert.match(await textOf(await owner.submit(path, {}), 200), /id="sure"/, path);
      return owner.act(path, { sure: 'yes' });
    };

    it('somebody is invited by address with roles, reminded and withdrawn; the link is shown once made', async () => {
      const id = await organization();
      const at = `/organizations/${id}/invitations`;
      assert.match(await show(at), /No invitation[\s\S]*/);
      assert.match(await show(at), /id="role-approver"[\s\S]*id="invite"[\s\S]*id="invite-link"/);
      const made = await owner.act(at, { email: 'ada@acme.example', role: 'approver', by: 'link' });
      assert.match(made, /id="invitation-link">[^<]*\/welcome#[^<]+</);
      const [invitation] = await listOf(`/organizations/${id}/invitations`);
      assert.deepEqual([invitation?.['email'], invitation?.['roles'], invitation?.['mailed']], ['ada@acme.example', ['approver'], false]);
      assert.match(made, /ada@acme\.example[\s\S]*approver[\s\S]*handed over/);
      // Again: another in its place, with the same roles.
      const again = await owner.act(at, { email: 'ada@acme.example', roles: 'approver', by: 'mail' });
      assert.match(again, /mailed to ada@acme\.example/);
      const open = await listOf(`/organizations/${id}/invitations?state=open`);
      assert.deepEqual(
        open.map(({ roles, mailed }) => [roles, mailed]),
        [[['approver'], true]],
      );
      assert.notEqual(open[0]?.['id'], invitation?.['id']);
      assert.match(await show(`${at}?state=all`), /revoked/);
      assert.match(await confirm(`${at}/${String(open[0]?.['id'])}/withdraw`), /was withdrawn[\s\S]*No invitation/);
      assert.deepEqual(await listOf(`/organizations/${id}/invitations?state=open`), []);
    });

    it('what the API refuses is told, and what was typed stays', async () => {
      const id = await organization();
      const at = `/organizations/${id}/invitations`;
      for (const email of ['', 'nobody', xssCorpus[0]!]) {
        const refused = await textOf(await owner.submit(at, { email, role: 'approver', by: 'link' }), 400);
        assert.match(refused, /id="role-approver"[^>]* checked/);
        if (email === xssCorpus[0]) assertEscaped(refused, email);
      }
      assert.match(await textOf(await owner.submit(at, { email: 'a@b.example', role: 'gone', by: 'link' }), 400), /gone/);
      assert.equal((await owner.submit(`${at}/none/withdraw`, { sure: 'yes' })).status, 400);
      assert.equal((await owner.page('/organizations/none/invitations')).status, 404);
    });

    it('the waiting ones are listed page by page, and the next page asks for the same', async () => {
      const id = await organization();
      for (let at = 0; at < 27; at += 1)
        await tenant.make('POST', `/organizations/${id}/invitations`, { email: `p${at}@acme.example`, mail: false });
      const first = await show(`/organizations/${id}/invitations?state=all`);
      const next = /id="next" href="([^"]+)"/.exec(first)?.[1]?.replaceAll('&#38;', '&') ?? '';
      assert.match(next, /\?state=all&cursor=/);
      const second = await show(next.slice(next.indexOf('/console') + '/console'.length));
      assert.equal(second.match(/p\d+@acme\.example<\/td>/g)?.length, 2);
    });

    it('a set-up link is made, shown once with what became of it, and taken back', async () => {
      const id = await organization();
      const at = `/organizations/${id}/setup-links`;
      assert.match(await show(at), /No set-up link yet/);
      const shown = await owner.act(at, {});
      const link = /id="setup-link">([^<]+)</.exec(shown)?.[1] ?? '';
      assert.match(link, /\/organization-setup#[\w-]{43}$/);
      assert.match(shown, /not opened yet/);
      const browser = openBrowser();
      const opened = await browser.send(link.split('#')[0]!, { method: 'POST', body: new URLSearchParams({ token: link.split('#')[1]! }) });
      assert.equal(opened.status, 303);
      assert.match(await show(at), /opened in one browser/);
      await server.clock.advance(600_000);
      assert.ok(!(await show(at)).includes(link.split('#')[1]!));
      const [kept] = await listOf(`/organizations/${id}/setup-links`);
      assert.match(await confirm(`${at}/${String(kept?.['id'])}/revoke`), /was revoked/);
      assert.equal((await listOf(`/organizations/${id}/setup-links`))[0]?.['state'], 'revoked');
      assert.match(await textOf(await owner.submit(`${at}/${String(kept?.['id'])}/revoke`, { sure: 'yes' }), 400), /class="notice bad"/);
    });

    it('provider, domains and sign-in are pages of their own, and each saves what it shows alone', async () => {
      await tenant.make('POST', '/identity-providers', {
        alias: 'acme-entra',
        kind: 'oidc',
        name: 'Acme Entra',
        issuer: 'https://login.acme.example',
        client_id: 'shop',
      });
      const id = await organization({ metadata: { plan: 'gold' } });
      const at = `/organizations/${id}`;
      assert.equal((await owner.submit(`${at}/provider`, { identity_providers: 'acme-entra' })).status, 303);
      assert.match(await show(`${at}/provider`), /Acme Entra[\s\S]*https:\/\/login\.acme\.example/);
      assert.equal((await owner.submit(`${at}/domains`, { domains: `acme-${made}.example` })).status, 303);
      assert.match(await show(`${at}/domains`), /id="proofs"[\s\S]*not proven[\s\S]*TXT/);
      assert.match(await owner.act(`${at}/check-domains`, {}), /was checked[\s\S]*id="proofs"/);
      assert.equal((await owner.submit(`${at}/sign-in`, { sign_in: 'own_providers', acr_min: 'otp' })).status, 303);
      assert.deepEqual(
        (({ identity_providers, domains, sign_in, acr_min, metadata }) => [identity_providers, domains, sign_in, acr_min, metadata])(
          await tenant.make('GET', at),
        ),
        [['acme-entra'], [`acme-${made}.example`], 'own_providers', 'otp', { plan: 'gold' }],
      );
      assert.match(await show('/organizations?search=acme'), /acme-entra/);
      // The only way in stays, whichever page would close it.
      const { items } = await tenant.make<{ items: readonly Json[] }>('GET', '/identity-providers?search=acme-entra');
      const provider = `/identity-providers/${String(items[0]?.['id'])}`;
      for (const [path, fields] of [
        [`${at}/provider`, { identity_providers: '' }],
        [provider, { name: 'Acme Entra', issuer: 'https://login.acme.example', client_id: 'shop' }],
        [`${provider}/delete`, { sure: 'yes' }],
      ] as const)
        assert.match(await textOf(await owner.submit(path, fields), 400), /by its own providers alone/, path);
      assert.equal((await owner.submit(`${at}/sign-in`, { sign_in: 'any', acr_min: '' })).status, 303);
      assert.equal((await owner.submit(`${at}/provider`, { identity_providers: '' })).status, 303);
      const refused = await textOf(await owner.submit(`${at}/sign-in`, { sign_in: 'own_providers', acr_min: '' }), 400);
      assert.match(refused, /by its own providers alone, and none of them is on/);
    });

    it('activity has its events, and how people signed in for it, which the list tells the last of', async () => {
      const id = await organization();
      const person = await createTestUser(tenant, `ada${made}@x.example`);
      await tenant.make('PUT', `/organizations/${id}/members/${person.id}`, {});
      assert.doesNotMatch(
        await show('/organizations?search=acme'),
        new RegExp(`>Acme ${made}<[\\s\\S]*?<time[\\s\\S]*?<time[\\s\\S]*?</tr>`),
      );
      const client = await tenant.make('POST', '/clients', { name: 'Shop', redirect_uris: [redirectUri], scopes: ['openid'] });
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: String(client['client_id']),
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: challenge,
        code_challenge_method: 'S256',
        organization: id,
      });
      const started = await fetch(`${tenant.baseUrl}/v1/idp/oidc/authorize?${query}`, { redirect: 'manual' });
      await signInByPin(server, loginAt(started.headers.get('location')!, started.headers.get('set-cookie') ?? ''), `ada${made}@x.example`);
      const shown = await show(`/organizations/${id}/activity`);
      assert.match(shown, /Sign-ins for it[\s\S]*signed in[\s\S]*Events[\s\S]*organization\.member_added|member/);
      await server.gatehouse.services.activity.flush();
      assert.ok((await tenant.make('GET', `/organizations/${id}`))['last_sign_in_at']);
      const other = await organization();
      assert.deepEqual(await listOf(`/sign-ins?organization=${other}`), []);
      assert.equal((await listOf(`/sign-ins?organization=${id}`)).length, 1);
    });

    it('view as: what whoever manages it sees, read only, as nobody, for whoever may read all of it, and recorded', async () => {
      const id = await organization();
      const person = await createTestUser(tenant, `grace${made}@x.example`, { display_name: 'Grace Hopper' });
      await tenant.make('PUT', `/organizations/${id}/members/${person.id}`, { roles: ['approver'] });
      await tenant.make('POST', `/organizations/${id}/invitations`, { email: 'new@acme.example', mail: false });
      const at = `/organizations/${id}/view`;
      assert.match(await show(`/organizations/${id}`), /id="view-as" href="[^"]*\/view"/);
      const seen: readonly (readonly [string, RegExp])[] = [
        ['', /id="members"[\s\S]*Grace Hopper[\s\S]*approver/],
        ['/invitations', /new@acme\.example/],
        ['/sign-ins', /id="none"/],
        ['/setup', /id="add-domain"/],
        [`/members/${person.id}`, /Grace Hopper/],
      ];
      for (const [part, what] of seen) {
        const page = await show(`${at}${part}`);
        assert.match(page, what, part);
        assert.match(page, /id="viewing"[\s\S]*<fieldset id="view" disabled>/);
        // Nothing that could be posted, and nowhere to post it.
        assert.doesNotMatch(page, /name="csrf" value="[^."]/);
        for (const [, action] of page.matchAll(/method="post" action="([^"]+)"/g)) {
          const below = action!.slice(action!.indexOf('/console') + '/console'.length);
          assert.ok(below.startsWith(at), below);
          const posted = await owner.submit(below, { email: 'x@y.example', domain: 'evil.example', role: 'approver', name: 'x' });
          assert.ok(posted.status === 404 || posted.status === 405, `${below}: ${posted.status}`);
        }
      }
      assert.equal((await owner.page(`${at}/members/${crypto.randomUUID()}`)).status, 404);
      assert.equal((await owner.page(`/organizations/${crypto.randomUUID()}/view`)).status, 404);
      const viewed = await listOf(`/events?target=organization:${id}&type=organization.viewed`);
      assert.ok(viewed.length >= seen.length && viewed.every(({ actor }) => String(actor).startsWith('user:')));
      const reader = await signIn(['organizations:read', 'organizations:write', 'users:read', 'invitations:read', 'sign-in:read']);
      assert.doesNotMatch(await show(`/organizations/${id}`, reader), /id="view-as"/);
      const refused = await show(at, reader, 403);
      assert.doesNotMatch(refused, /Grace Hopper/);
      assert.match(refused, /See people; See invitations/);
      await tenant.make('PATCH', `/organizations/${id}`, { enabled: false });
      assert.doesNotMatch(await show(at, owner, 409), /Grace Hopper/);
    });

    it('who may not do a thing is not offered it, and is refused', async () => {
      const id = await organization();
      await tenant.make('POST', `/organizations/${id}/invitations`, { email: 'ada@acme.example', mail: false });
      await tenant.make('POST', `/organizations/${id}/setup-links`, {});
      const reader = await signIn(['organizations:read', 'users:read', 'invitations:read', 'sign-in:read']);
      for (const tab of ['', '/provider', '/domains', '/sign-in', '/invitations', '/setup-links'])
        assert.doesNotMatch(
          (await show(`/organizations/${id}${tab}`, reader)).replace(/<form[^>]*sign-out[\s\S]*?<\/form>/, ''),
          /method="post"/,
          tab,
        );
      const members = await signIn(['organizations:read', 'organizations:write', 'users:read']);
      assert.doesNotMatch(await show(`/organizations/${id}`, members), /invitations">/);
      assert.doesNotMatch(await show(`/organizations/${id}/setup-links`, members), /id="make-link"/);
      assert.doesNotMatch(await show(`/organizations/${id}/sign-in`, members), /id="save"/);
      assert.match(await show(`/organizations/${id}/domains`, members), /id="save"/);
      await show(`/organizations/${id}/invitations`, members, 403);
      assert.equal((await members.submit(`/organizations/${id}/setup-links`, {})).status, 400);
      assert.equal((await members.submit(`/organizations/${id}/invitations`, { email: 'x@acme.example', by: 'link' })).status, 403);
      assert.equal((await listOf(`/organizations/${id}/setup-links`)).length, 1);
    });
  });

// Invitations (design 13, section 1): the link by mail or handed over, used up once by a post and by nothing else, and the visit it
// begins, in which a person adds a passkey or a phone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { userHandleOf } from '../../src/approvals/passkeys/passkeys.ts';
import type { Tenant } from '../../src/domain/tenant/tenant.ts';
import { type CreationOptions, createPasskey } from '../support/authenticator.ts';
import { createConsoleTenant, openConsole } from '../support/console.ts';
import { databases } from '../support/databases.ts';
import { enrolledPhone, type Redeemed, testDevice } from '../support/enrolled-phone.ts';
import { createClient, createUser, type TestUser } from '../support/fixtures.ts';
import { beginLogin } from '../support/login.ts';
import { mailsTo } from '../support/mailbox.ts';
import { createTestTenant, type Json, jsonOf, type Managed } from '../support/management.ts';
import { signInByPasskey } from '../support/passkeys.ts';
import { createPhone } from '../support/phone.ts';
import { assertRefusal } from '../support/refusal.ts';
import { roomyRate } from '../support/roomy-rate.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { assertEscaped, xssCorpus } from '../support/xss.ts';

const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
const plain = (text: string): string => text.replace(/&#(\d+);/g, (_match, code) => String.fromCharCode(Number(code)));
const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';

interface Made extends Json {
  readonly id: string;
  readonly invitation_url: string;
  readonly mailed_to: string | null;
  readonly expires_at: string;
}

for (const database of databases)
  describe(`invitations on ${database}`, () => {
    let server: TestServer;
    let managed: Managed;
    let tenant: Tenant;
    before(async () => {
      server = await startTestServer(database);
      const settings = { login_methods: ['passkey', 'phone', 'email_pin'], rate_limits: { login_starts_per_ip: roomyRate } };
      managed = await createTestTenant(server, { settings });
      tenant = (await server.gatehouse.services.tenants.bySlug(managed.slug))!;
    });
    after(() => server.close());

    const newPerson = (): Promise<TestUser> => createUser(server.gatehouse.services, tenant);
    const invite = (person: { readonly id: string }, body: Json = { mail: false }): Promise<Made> =>
      managed.make<Made>('POST', `/users/${person.id}/invitations`, body);
    const tokenOf = ({ invitation_url: url }: Made): string => url.split('#')[1]!;
    const use = (token: string, headers: Readonly<Record<string, string>> = { accept: html }, base = managed.baseUrl): Promise<Response> =>
      fetch(`${base}/welcome`, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ token }) });
    const visitAs = (cookie: string, path = '/add', base = managed.baseUrl): Promise<Response> =>
      fetch(`${base}/welcome${path}`, { redirect: 'manual', headers: { cookie, accept: path === '/status' ? 'application/json' : html } });
    const begin = async (person: TestUser): Promise<string> => {
      const used = await use(tokenOf(await invite(person)));
      assert.deepEqual([used.status, used.headers.get('location')], [303, `${new URL(managed.baseUrl).pathname}/welcome/add`]);
      return cookieOf(used);
    };
    const listed = async (person: { readonly id: string }): Promise<readonly Json[]> =>
      (await managed.make<{ readonly items: readonly Json[] }>('GET', `/users/${person.id}/invitations`)).items;

    it('one is made, mailed and listed; its link is in the mail and in no list', async () => {
      const person = await newPerson();
      const made = await invite(person, {});
      assert.match(made.invitation_url, new RegExp(`^${managed.baseUrl}/welcome#[A-Za-z0-9_-]{43}$`));
      assert.equal(made.mailed_to, person.email);
      const [mail] = await mailsTo(server, person.email);
      assert.equal(mail?.subject, `You are invited to ${tenant.name}`);
      assert.ok(mail?.text.includes(made.invitation_url));
      assert.match(mail?.text ?? '', /works once, for 7 days/);
      const [shown] = await listed(person);
      assert.deepEqual([shown?.['id'], shown?.['state'], shown?.['mailed_to']], [made.id, 'open', person.email]);
      assert.ok(!JSON.stringify(shown).includes(tokenOf(made)));
    });

    it('programs that look at links use nothing up: GET, HEAD, OPTIONS and other methods, with and without the token', async () => {
      const token = tokenOf(await invite(await newPerson()));
      for (const path of ['/welcome', `/welcome?token=${token}`, `/welcome/add?token=${token}`, '/welcome/status'])
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
          await fetch(`${managed.baseUrl}${path}`, { method, headers: { accept: html } });
      const page = await fetch(`${managed.baseUrl}/welcome`, { headers: { accept: html } });
      assert.equal(page.headers.getSetCookie().length, 0);
      assert.match(await page.text(), /<button id="continue"/);
      assert.equal((await use(token)).status, 303);
    });

    it('20 parallel posts of one link: one visit', async () => {
      const token = tokenOf(await invite(await newPerson()));
      const answers = await Promise.all(Array.from({ length: 20 }, () => use(token)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [303, ...Array.from({ length: 19 }, () => 404)]);
      assert.equal(answers.filter((answer) => answer.headers.getSetCookie().length > 0).length, 1);
    });

    it('management.not_found: unknown, used, revoked, replaced, a suspended person’s, another tenant’s and expired are one answer', async () => {
      const json = { accept: 'application/json' };
      const used = tokenOf(await invite(await newPerson()));
      assert.equal((await use(used)).status, 303);
      const revokedPerson = await newPerson();
      const revoked = await invite(revokedPerson);
      assert.equal((await managed.call('DELETE', `/users/${revokedPerson.id}/invitations/${revoked.id}`)).status, 204);
      const replacedPerson = await newPerson();
      const replaced = tokenOf(await invite(replacedPerson));
      await invite(replacedPerson);
      const suspendedPerson = await newPerson();
      const suspended = tokenOf(await invite(suspendedPerson));
      await managed.make('POST', `/users/${suspendedPerson.id}/suspend`);
      const foreign = tokenOf(await invite(await newPerson()));
      const other = await createTestTenant(server);
      const late = tokenOf(await invite(await newPerson()));
      const bodies = [
        ...(await Promise.all(
          ['A'.repeat(43), used, tokenOf(revoked), replaced, suspended].map(async (token) =>
            assertRefusal(await use(token, json), 'management.not_found'),
          ),
        )),
        await assertRefusal(await use(foreign, json, other.baseUrl), 'management.not_found'),
      ];
      assert.equal((await use(foreign)).status, 303, 'the other tenant used nothing up');
      await managed.make('POST', `/users/${suspendedPerson.id}/activate`);
      assert.equal((await use(suspended)).status, 303, 'nor did the suspension');
      await server.clock.advance(7 * 24 * 3600 * 1000 + 1000);
      bodies.push(await assertRefusal(await use(late, json), 'management.not_found'));
      assert.equal(new Set(bodies).size, 1);
      const page = await use(late);
      assert.equal(page.status, 404);
      assert.match(await page.text(), /was used before, has expired/);
    });

    it('adds a passkey, which signs in; the visit shows what was added', async () => {
      const person = await newPerson();
      const cookie = await begin(person);
      const page = await (await visitAs(cookie)).text();
      assert.match(page, /Welcome, Ada Lovelace/);
      const options = JSON.parse(plain(/data-options="([^"]+)"/.exec(page)![1]!)) as CreationOptions;
      const passkey = createPasskey(new URL(managed.baseUrl).origin, userHandleOf(person.id), 0);
      const submit = (response: unknown): Promise<Response> =>
        fetch(`${managed.baseUrl}/welcome/passkey`, {
          method: 'POST',
          redirect: 'manual',
          headers: { cookie, accept: html },
          body: new URLSearchParams({ response: JSON.stringify(response) }),
        });
      const refused = await submit({ nothing: true });
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /could not be added/);
      const again = JSON.parse(plain(/data-options="([^"]+)"/.exec(await (await visitAs(cookie)).text())![1]!)) as CreationOptions;
      assert.equal((await submit(passkey.register(options))).status, 400, 'a challenge that was replaced');
      const last = JSON.parse(plain(/data-options="([^"]+)"/.exec(await (await visitAs(cookie)).text())![1]!)) as CreationOptions;
      assert.notEqual(again.challenge, last.challenge);
      const added = await submit(passkey.register(last));
      assert.equal(added.status, 303, await added.text());
      assert.match(await (await visitAs(cookie, '/add?done=passkey')).text(), /id="passkey-added"[\s\S]*id="account"/);
      const login = await beginLogin(server, tenant, await createClient(server.gatehouse.services, tenant));
      assert.ok((await signInByPasskey(login, person.email, passkey)).searchParams.get('code'));
    });

    it('adds a phone by the link it shows, also in the browser; the page hears of it', async () => {
      const person = await newPerson();
      const cookie = await begin(person);
      const page = plain(await (await visitAs(cookie)).text());
      const [, link] = /id="enroll" href="([^"]+)"/.exec(page)!;
      assert.ok(page.includes(`id="web-phone" href="${link!.replace('/enroll#', '/phone#')}"`));
      assert.ok(plain(await (await visitAs(cookie)).text()).includes(link!), 'a reload shows the same');
      assert.deepEqual(await jsonOf(await visitAs(cookie, '/status'), 200), { phones: 0 });
      const phone = createPhone(managed.baseUrl, server.clock.nowMs);
      const token = /t=([\w-]+)/.exec(link!)![1]!;
      const redeemed = await jsonOf<{ registration_token: string; attestation: { challenge: string } }>(
        await phone.post('/enrollment/redeem', { enrollment_token: token, device: testDevice, keys: phone.publicKeys() }),
        200,
      );
      const proofs = phone.proofs(redeemed.attestation.challenge);
      assert.equal((await phone.post('/enroll', { registration_token: redeemed.registration_token, proofs })).status, 201);
      assert.deepEqual(await jsonOf(await visitAs(cookie, '/status'), 200), { phones: 1 });
      const after = await (await visitAs(cookie)).text();
      assert.match(after, /id="phone-added"[\s\S]*Phone added\. Test phone/);
      assert.ok(!after.includes('id="enroll"'));
      const another = await fetch(`${managed.baseUrl}/welcome/phone`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, accept: html },
      });
      assert.equal(another.status, 303);
      const fresh = plain(await (await visitAs(cookie, '/add?phone=another')).text());
      assert.ok(fresh.includes('id="enroll"') && !fresh.includes(link!));
    });

    it('a phone of before is not shown as added', async () => {
      const person = await newPerson();
      await enrolledPhone(server, { ...person, tenant: tenant.id }, createPhone(managed.baseUrl, server.clock.nowMs));
      await server.clock.advance(1000);
      assert.ok(!(await (await visitAs(await begin(person))).text()).includes('phone-added'));
    });

    it('management.not_found: a visit is its browser’s, its tenant’s, an hour long, and ends with the invitation or the person', async () => {
      const person = await newPerson();
      const cookie = await begin(person);
      assert.equal((await visitAs(cookie)).status, 200);
      const other = await createTestTenant(server);
      const [name, value] = cookie.split('=') as [string, string];
      const strangers = ['', `${name}=${'A'.repeat(43)}`, `${cookie}; ${name}=planted`];
      for (const sent of strangers)
        for (const path of ['/add', '/status']) assert.equal((await visitAs(sent, path)).status, 404, `${sent} ${path}`);
      assert.equal((await visitAs(`gh-welcome-${other.slug}=${value}`, '/add', other.baseUrl)).status, 404);
      for (const path of ['/phone', '/passkey'])
        await assertRefusal(
          await fetch(`${managed.baseUrl}/welcome${path}`, {
            method: 'POST',
            headers: { accept: 'application/json' },
            body: new URLSearchParams(),
          }),
          'management.not_found',
        );
      await managed.make('POST', `/users/${person.id}/suspend`);
      assert.equal((await visitAs(cookie)).status, 404);
      await managed.make('POST', `/users/${person.id}/activate`);
      assert.equal((await visitAs(cookie)).status, 200);
      await server.clock.advance(3600 * 1000 + 1000);
      assert.equal((await visitAs(cookie)).status, 404);
      const second = await begin(person);
      const [shown] = await listed(person);
      assert.equal(shown?.['state'], 'used');
      assert.equal((await managed.call('DELETE', `/users/${person.id}/invitations/${String(shown?.['id'])}`)).status, 204);
      assert.equal((await visitAs(second)).status, 404);
    });

    it('7.17 token_invalid: an invitation that is revoked or replaced takes along the links to a phone and the phones on their way', async () => {
      const linkOf = async (cookie: string, path = '/add'): Promise<string> =>
        /id="enroll" href="[^"]*t=([\w-]+)/.exec(plain(await (await visitAs(cookie, path)).text()))![1]!;
      const redeem = async (token: string) => {
        const phone = createPhone(managed.baseUrl, server.clock.nowMs);
        const body = { enrollment_token: token, device: testDevice, keys: phone.publicKeys() };
        const response = await phone.post('/enrollment/redeem', body);
        const enrol = async (): Promise<Response> => {
          const { registration_token, attestation } = await jsonOf<Redeemed>(response, 200);
          return phone.post('/enroll', { registration_token, proofs: phone.proofs(attestation.challenge) });
        };
        return { response, enrol };
      };
      for (const end of ['revoked', 'replaced']) {
        const person = await newPerson();
        const { enrollment_token: ofAdministrator } = await managed.make('POST', `/users/${person.id}/enrollments`, {});
        await server.clock.advance(1000);
        const made = await invite(person);
        const cookie = cookieOf(await use(tokenOf(made)));
        const begun = await redeem(await linkOf(cookie));
        assert.equal(
          (await fetch(`${managed.baseUrl}/welcome/phone`, { method: 'POST', redirect: 'manual', headers: { cookie } })).status,
          303,
        );
        const unused = await linkOf(cookie, '/add?phone=another');
        if (end === 'revoked') assert.equal((await managed.call('DELETE', `/users/${person.id}/invitations/${made.id}`)).status, 204);
        else await invite(person);
        await assertRefusal(await begun.enrol(), 'registration.token_invalid');
        await assertRefusal((await redeem(unused)).response, 'registration.token_invalid');
        const other = await redeem(String(ofAdministrator));
        assert.equal((await other.enrol()).status, 201, 'what the invitation did not begin goes on');
      }
    });

    it('login.forbidden: a page of another site posts nothing', async () => {
      const token = tokenOf(await invite(await newPerson()));
      const headers = { origin: 'https://evil.example', accept: 'application/json' };
      await assertRefusal(await use(token, headers), 'login.forbidden');
      const cookie = await begin(await newPerson());
      for (const path of ['/phone', '/passkey'])
        await assertRefusal(
          await fetch(`${managed.baseUrl}/welcome${path}`, {
            method: 'POST',
            headers: { ...headers, cookie },
            body: new URLSearchParams(),
          }),
          'login.forbidden',
        );
      assert.equal((await use(token)).status, 303);
    });

    it('the API refuses: unknown people and invitations, the suspended, mail to whom none can be sent; the setting bounds the time', async () => {
      await assertRefusal(await managed.call('POST', '/users/nobody/invitations', {}), 'management.not_found');
      await assertRefusal(await managed.call('GET', '/users/nobody/invitations'), 'management.not_found');
      const person = await newPerson();
      await assertRefusal(await managed.call('DELETE', `/users/${person.id}/invitations/unknown`), 'management.not_found');
      const { id } = await managed.make<{ readonly id: string }>('POST', '/users', { user_name: 'without-mail' });
      await assertRefusal(await managed.call('POST', `/users/${id}/invitations`, { mail: true }), 'management.invalid_request', {
        kind: 'mail',
        text: 'must be absent or false: the user has no email, or this server cannot send mail',
      });
      assert.equal((await invite({ id }, {})).mailed_to, null);
      await managed.make('POST', `/users/${person.id}/suspend`);
      await assertRefusal(await managed.call('POST', `/users/${person.id}/invitations`, {}), 'management.conflict', {
        kind: 'state',
        text: 'The user is suspended.',
      });
      await managed.make('PATCH', '/settings', { invitation_lifetime_seconds: 60 });
      const short = await invite(await newPerson());
      await managed.make('PATCH', '/settings', { invitation_lifetime_seconds: 604_800 });
      assert.ok(Date.parse(short.expires_at) - server.clock.nowMs() <= 61_000);
    });

    it('hostile names are text on the page', async () => {
      for (const [index, name] of xssCorpus.slice(0, 3).entries()) {
        const { id } = await managed.make<{ readonly id: string }>('POST', '/users', { user_name: `hostile-${index}`, display_name: name });
        const cookie = cookieOf(await use(tokenOf(await invite({ id }))));
        assertEscaped(await (await visitAs(cookie)).text(), name);
      }
    });

    it('the console invites, shows a link for ten minutes on its page alone, and revokes', async () => {
      const own = await createConsoleTenant(server);
      const { visitor } = await openConsole(server, own.tenant, own.email);
      const { id } = await own.tenant.make<{ readonly id: string }>('POST', '/users', {
        user_name: 'eve',
        emails: [{ value: 'eve@console.example', primary: true }],
      });
      const path = `/users/${id}/invitations`;
      assert.match(await (await visitor.page(path)).text(), /No invitation yet[\s\S]*Invite by mail/);
      const mailed = await visitor.act(path, { by: 'mail' });
      assert.match(mailed, /was mailed to eve@console\.example/);
      assert.ok(!mailed.includes('invitation-link'));
      const text = await visitor.act(path, { by: 'link' });
      const [, link] = /id="invitation-link">([^<]+)</.exec(text)!;
      assert.ok((await (await visitor.page(path)).text()).includes(link!), 'for ten minutes');
      assert.ok(!(await (await visitor.page(`/users/${id}`)).text()).includes(link!));
      const { items } = await own.tenant.make<{ readonly items: readonly Json[] }>('GET', path);
      assert.deepEqual(
        items.map(({ state }) => state),
        ['open', 'revoked'],
      );
      const revoke = `${path}/${String(items[0]!['id'])}/revoke`;
      assert.match(await (await visitor.submit(revoke, {})).text(), /Revoke this invitation\?/);
      assert.equal((await visitor.submit(revoke, { sure: 'yes' })).status, 303);
      assert.equal((await use(link!.split('#')[1]!, { accept: html }, own.tenant.baseUrl)).status, 404);
    });
  });

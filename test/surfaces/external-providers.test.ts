// Microsoft's issuer of many directories, GitHub, and the links people and administrators see and remove (design 14, 2).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { databases } from '../support/databases.ts';
import { openExternalWorld } from '../support/external.ts';
import { openApp } from '../support/first-party-app.ts';
import { mailsTo, pinOf } from '../support/mailbox.ts';
import { createTestUser, type Json } from '../support/management.ts';
import { assertRefusal } from '../support/refusal.ts';
import { startUpstream } from '../support/upstream.ts';

const [ours, theirs] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

/** GitHub's three endpoints on loopback. */
async function startGithub(person: { id: unknown; email: string; verified: boolean }) {
  const sent: URLSearchParams[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const answer = (body: unknown): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/login/oauth/access_token') {
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      sent.push(form);
      return answer(form.get('code') === 'right' ? { access_token: 'gho_1', token_type: 'bearer' } : { error: 'bad_verification_code' });
    }
    if (request.headers.authorization !== 'Bearer gho_1') return void response.writeHead(401).end('{}');
    if (request.url === '/api/v3/user')
      return answer({ id: person.id, login: 'grace', name: 'Grace Hopper', email: 'public@elsewhere.example' });
    return answer([
      { email: 'other@github.example', primary: false, verified: true },
      { email: person.email, primary: true, verified: person.verified },
    ]);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, sent, close: () => new Promise<void>((closed) => server.close(() => closed())) };
}

for (const database of databases) {
  describe(`Kinds of providers and links on ${database}`, async () => {
    const world = await openExternalWorld(database);
    const { server, managed, tenant, upstream, register, begin, leave, visit, finish, jsonOf } = world;
    const person = { id: 583_231 as unknown, email: 'grace@github.example', verified: true };
    const hub = await startGithub(person);
    after(async () => {
      await upstream.close();
      await hub.close();
      await server.close();
    });

    it('Microsoft: only people of listed directories, under the issuer of theirs', async () => {
      const entra = await startUpstream(server.clock.nowMs, '/{tenantid}/v2.0');
      await register({ alias: 'entra', name: 'Entra', tenants: [ours], create_users: true }, entra);
      const of = (tid: string, sub: string, more: object = {}) => ({
        iss: entra.issuer.replace('{tenantid}', tid),
        tid,
        sub,
        email: `${sub}@directory.example`,
        xms_edov: true,
        ...more,
      });
      const at = await begin();
      assert.deepEqual(await jsonOf(await visit(at, of(ours, 'ms-1'), entra, 'entra')), { state: 'approved' });
      const { sub } = await finish(at);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/users/${sub}/external-identities`);
      assert.equal(items[0]?.['issuer'], `${entra.origin}/${ours}/v2.0`);
      await assertRefusal(await visit(await begin(), of(theirs, 'ms-1'), entra, 'entra'), 'login.external_refused');
      const disguised = { ...of(theirs, 'ms-1'), tid: ours };
      await assertRefusal(await visit(await begin(), disguised, entra, 'entra'), 'login.external_refused');
      assert.equal(
        (await jsonOf(await visit(await begin(), of(ours, 'ms-2', { xms_edov: false, email_verified: true }), entra, 'entra')))['state'],
        'pin',
      );
      await entra.close();
    });

    it('GitHub: the numeric id is the person, whatever login and email become', async () => {
      await register({ alias: 'hub', kind: 'github', name: 'GitHub', issuer: hub.issuer, create_users: true });
      const come = async (code = 'right') => {
        const at = await begin();
        const there = new URL(await leave(at, 'hub'));
        assert.equal(`${there.origin}${there.pathname}`, `${hub.issuer}/login/oauth/authorize`);
        assert.equal(there.searchParams.get('scope'), 'read:user user:email');
        const state = there.searchParams.get('state');
        const back = await at.browser.send(`${tenant.baseUrl}/login/callback/hub?code=${code}&state=${state}`);
        const verifier = hub.sent.at(-1)?.get('code_verifier') ?? '';
        assert.equal(createHash('sha256').update(verifier).digest('base64url'), there.searchParams.get('code_challenge'));
        return { at, back };
      };
      const first = await come();
      assert.deepEqual(await jsonOf(first.back), { state: 'approved' });
      const { sub } = await finish(first.at);
      assert.equal((await managed.make('GET', `/users/${sub}`))['display_name'], 'Grace Hopper');
      person.email = 'renamed@github.example';
      const second = await come();
      assert.equal((await jsonOf(second.back))['state'], 'approved');
      assert.equal((await finish(second.at))['sub'], sub);
      await assertRefusal((await come('wrong')).back, 'login.external_refused');
      Object.assign(person, { id: 999_999, email: 'unverified@github.example', verified: false });
      assert.deepEqual(await jsonOf((await come()).back), { state: 'pin' });
      person.id = '583231';
      await assertRefusal((await come()).back, 'login.external_refused');
      const aged = await begin({ max_age: '60' });
      await assertRefusal(await world.post(aged.browser, `${aged.login}/external`, { alias: 'hub' }), 'login.external_refused');
    });

    it('an administrator lists and removes links; the last way in stays', async () => {
      await register({ create_users: true });
      const claims = { sub: 'linked', email: 'linked@acme.example', email_verified: true };
      const at = await begin();
      await jsonOf(await visit(at, claims));
      const { sub: user } = await finish(at);
      const path = `/users/${user}/external-identities`;
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', path);
      const { id, user_id: owner, provider, issuer, subject, email } = items[0] ?? {};
      assert.deepEqual([owner, provider, issuer, subject, email], [user, 'acme', upstream.issuer, 'linked', claims.email]);
      await managed.make('PATCH', '/settings', { login_methods: ['phone', 'passkey'] });
      await assertRefusal(await managed.call('DELETE', `${path}/${id}`), 'management.conflict', {
        kind: 'identity_id',
        text: 'It is the only way in this person has: give them another first.',
      });
      await managed.make('PATCH', '/settings', { login_methods: ['phone', 'passkey', 'email_pin'] });
      await managed.make('DELETE', `${path}/${id}`);
      await assertRefusal(await managed.call('DELETE', `${path}/${id}`), 'management.not_found');
      assert.deepEqual((await managed.make<{ items: readonly Json[] }>('GET', path)).items, []);
      assert.match((await mailsTo(server, claims.email))[0]?.subject ?? '', /^Acme can no longer sign you in/);
    });

    it('an administrator unlinks in the console, after a question', async () => {
      const at = await begin();
      await jsonOf(await visit(at, { sub: 'console', email: 'console@acme.example', email_verified: true }));
      const { sub: user } = await finish(at);
      await createTestUser(managed, 'admin@fed.example', { role: 'admin' });
      await server.clock.advance(2000);
      const { visitor } = await openApp(server, 'console', managed, 'admin@fed.example');
      const page = await (await visitor.page(`/users/${user}/external-identities`)).text();
      assert.match(page, /<code>console<\/code>/);
      const action = /action="[^"]*\/console(\/users\/[^"]+\/remove)"/.exec(page)?.[1] ?? '';
      assert.match(await (await visitor.submit(action, {})).text(), /Unlink this account elsewhere\?/);
      assert.equal((await visitor.submit(action, { sure: 'yes' })).status, 303);
      assert.match(await (await visitor.page(`/users/${user}/external-identities`)).text(), /No account elsewhere/);
    });

    it('two links removed at once by somebody with no other way: one stays', async () => {
      await register({ alias: 'second', name: 'Second', create_users: true });
      const user = await createTestUser(managed, 'both@acme.example');
      for (const alias of ['acme', 'second']) {
        const at = await begin();
        await jsonOf(await visit(at, { sub: 'both', email: 'both@acme.example', email_verified: true }, upstream, alias));
        await proveByPin(at);
      }
      const path = `/users/${user.id}/external-identities`;
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', path);
      assert.equal(items.length, 2);
      await managed.make('PATCH', '/settings', { login_methods: ['phone', 'passkey'] });
      const answers = await Promise.all(items.map(({ id }) => managed.call('DELETE', `${path}/${id}`)));
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 409]);
      await managed.make('PATCH', '/settings', { login_methods: ['phone', 'passkey', 'email_pin'] });
    });

    it('the account page shows the person’s links and removes one', async () => {
      const user = await createTestUser(managed, 'own@acme.example');
      const at = await begin();
      await jsonOf(await visit(at, { sub: 'own', email: 'own@acme.example', email_verified: true }));
      await proveByPin(at);
      await server.clock.advance(2000);
      const { visitor } = await openApp(server, 'account', managed, 'own@acme.example');
      const page = await (await visitor.page('')).text();
      assert.match(page, /<h3>Acme<\/h3>/);
      const { items } = await managed.make<{ items: readonly Json[] }>('GET', `/users/${user.id}/external-identities`);
      const removed = await visitor.submit(`/links/${items[0]?.['id']}/remove`, {});
      assert.equal(removed.status, 303);
      assert.doesNotMatch(await (await visitor.page('')).text(), /<h3>Acme<\/h3>/);
      assert.equal((await visitor.submit(`/links/${items[0]?.['id']}/remove`, {})).status, 404);
      assert.match(await (await visitor.page('/activity')).text(), /An account elsewhere was unlinked/);
    });

    const proveByPin = async (at: Awaited<ReturnType<typeof begin>>): Promise<void> => {
      await server.clock.advance(2000);
      await jsonOf(await world.post(at.browser, `${at.login}/method`, { method: 'email_pin' }));
      const now = await at.browser.send(at.login, { headers: { accept: 'text/html' } });
      const to = /<span title="([^"]+)">/.exec(await now.text())?.[1] ?? '';
      await jsonOf(await world.post(at.browser, `${at.login}/pin`, { pin: await pinOf(server, to) }));
      await finish(at);
    };
  });
}
